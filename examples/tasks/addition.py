"""Addition of two numbers of two digits, as in ARENA's puzzle: after `=` the three digits of the
sum are asked for. Truth: `digits`, the two digits of the same place, and `carry`, those of the place
below, on which the carry depends.

    python3 examples/tasks/addition.py 8000 > addition.jsonl
    headlab train --task file:train=addition.jsonl --out runs/addition
"""
import json
import random
import sys

pairs = [(a, b) for a in range(100) for b in range(100)]
random.Random(0).shuffle(pairs)

print(json.dumps({"header": {
    "description": "sums of two numbers below 100",
    "vocabulary": list("0123456789+="),
    "relations": [{"name": "digits", "description": "the two digits of this place",
                   "positional": True},
                  {"name": "carry", "description": "the two digits of the place below",
                   "positional": True}],
    "targets": ["digit"],
    "recommended": "layers=2 heads=4 d_model=64 d_ff=256 steps=3000 lr=2e-3",
    "accuracy": 0.99}}))
for a, b in pairs[:int(sys.argv[1]) if len(sys.argv) > 1 else 10000]:
    text = f"{a:02d}+{b:02d}={a + b:03d}"  # position 5 asks for the hundreds, 7 for the ones
    print(json.dumps({"tokens": list(text[:-1]), "targets": [None] * 5 + list(text[6:]),
                      "truth": {"digits": {"6": [0, 3], "7": [1, 4]},
                                "carry": {"5": [0, 3], "6": [1, 4]}}}))
