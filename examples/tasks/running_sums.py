"""Running sums, as in ARENA's puzzle: at every position, is the sum of the numbers so far above, at
or below zero? Truth: `all`, every number so far.

    python3 examples/tasks/running_sums.py 20000 > running_sums.jsonl
    headlab train --task file:train=running_sums.jsonl --out runs/running_sums
"""
import itertools
import json
import random
import sys

LENGTH, LARGEST = 12, 3
draw = random.Random(0)

print(json.dumps({"header": {
    "description": f"signs of running sums of {LENGTH} numbers",
    "vocabulary": [str(n) for n in range(-LARGEST, LARGEST + 1)] + ["below", "zero", "above"],
    "relations": [{"name": "all", "description": "all numbers so far", "positional": True}],
    "targets": ["sign"],
    "recommended": "layers=1 heads=2 d_model=64 d_ff=128 steps=1500 lr=2e-3",
    "accuracy": 0.95}}))
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20000):
    numbers = draw.choices(range(-LARGEST, LARGEST + 1), k=LENGTH)
    signs = [(total > 0) - (total < 0) for total in itertools.accumulate(numbers)]
    print(json.dumps({"tokens": [str(n) for n in numbers],
                      "targets": [["below", "zero", "above"][sign + 1] for sign in signs],
                      "truth": {"all": {str(t): list(range(t + 1)) for t in range(LENGTH)}}}))
