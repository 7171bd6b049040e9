#!/usr/bin/env python3
"""Reads what headlab writes, with NumPy alone: the weights and losses of a run, a curve, a sweep.

    read_runs.py runs/full [sweeps/knee]
"""
import json, os, sys
import numpy


def tensors(path):
    """A safetensors file as a dict of arrays: the length of a JSON header, the header, the bytes."""
    data = open(path, "rb").read()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
    return {name: numpy.frombuffer(data[start:], types[t["dtype"]], offset=t["data_offsets"][0],
                                   count=int(numpy.prod(t["shape"]))).reshape(t["shape"])
            for name, t in header.items() if name != "__metadata__"}


run = sys.argv[1]
for name, weight in tensors(f"{run}/model.safetensors").items():
    print(name, weight.shape, f"norm {numpy.linalg.norm(weight):.3f}")
for line in open(f"{run}/metrics.jsonl"):
    print("step {step}: loss {loss:.4f}, accuracy {accuracy:.4f}".format(**json.loads(line)))
if os.path.exists(f"{run}/curve.json"):
    for method in json.load(open(f"{run}/curve.json"))["methods"]:
        print(method["method"], [point["loss"] for point in method["points"]])
for sweep in sys.argv[2:]:
    for group in json.load(open(f"{sweep}/sweep.json"))["groups"]:
        print(group["name"], group["loss"]["mean"])
