#!/usr/bin/env python3
# Fails if headlab has become slow: shares of the multiply-add peak that the same run measures.
#
#     cmake --build build --target yardstick && tests/tools/code/floors.py build/yardstick
#
# The linear maps of `char` must reach .35 on one thread, steps of `toy` and `char` .22, in the best of
# up to eight runs: a busy machine lets several fail, a loss of two times all of them, for best runs
# show .48 to .68 and .41 to .46 (2 processors of an Intel Cascade Lake that others share; the peak
# itself differs by a sixth between runs). Quiet machines: tests/tools/yardstick/README.md.
import json
import os
import subprocess
import sys

RUNS = 8


def bench(program, *arguments):
    command = [program, *arguments, "--json"]
    spin_briefly = {**os.environ, "GOMP_SPINCOUNT": "1000"}
    done = subprocess.run(command, check=True, capture_output=True, env=spin_briefly)
    return json.loads(done.stdout)


def products(program):
    """The share of each op that is one product: (op, pass) -> fraction."""
    return {
        f"{row['op']} {row['pass']}": row["fraction_of_peak"]
        for row in bench(program, "ops", "--config", "char", "--steps", "20", "--threads", "1")["rows"]
        if row["op"] in {"linear", "feed_forward"}
    }


def step(program, config):
    """The share of the best step of some; the bench states that of the median."""
    result = bench(program, "step", "--config", config, "--steps", "30")
    return {config: result["fraction_of_peak"] * result["median_ms"] / result["min_ms"]}


def holds(name, floor, measure):
    best = {}
    for _ in range(RUNS):
        for what, share in measure().items():
            best[what] = max(share, best.get(what, 0))
        if min(best.values()) >= floor:
            break
    for what, share in best.items():
        print(f"{name} {what}: {share:.3f} of the peak (at least {floor})")
    return min(best.values()) >= floor


def main():
    program = sys.argv[1]
    held = [
        holds("product", 0.35, lambda: products(program)),
        holds("step", 0.22, lambda: step(program, "toy")),
        holds("step", 0.22, lambda: step(program, "char")),
    ]
    sys.exit(0 if all(held) else "too slow: see above")


main()
