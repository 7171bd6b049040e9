"""Addition modulo p (Nanda et al. 2023, "Progress measures for grokking via mechanistic
interpretability"): a b = asks for (a + b) mod p. Truth: `operands`, where both summands stand.
A hash of the pair decides whether it is for training (7 of 10) or held out, so that accuracy on
held-out pairs measures generalization.

    headlab train --task 'command:python3 examples/tasks/modular.py' --out runs/modular
"""
import hashlib
import json
import random
import sys

P = int(sys.argv[1]) if len(sys.argv) > 1 else 31


def split_of(a, b):
    """train, validation or test, by a hash of the pair"""
    share = hashlib.sha256(f"{a} {b}".encode()).digest()[0] % 10
    return "train" if share < 7 else "validation" if share < 9 else "test"


pairs = {"train": [], "validation": [], "test": []}
for a in range(P):
    for b in range(P):
        pairs[split_of(a, b)].append((a, b))

print(json.dumps({"header": {
    "description": f"addition modulo {P}",
    "vocabulary": [str(n) for n in range(P)] + ["="],
    "length": 3,
    "relations": [{"name": "operands", "description": "the two summands", "positional": True}],
    "targets": ["sum"],
    "recommended": "layers=1 heads=4 d_model=64 d_ff=256 steps=6000 lr=3e-3 schedule=cosine "
                   "decay=1",
    "accuracy": 0.99}}), flush=True)

for line in sys.stdin:
    ask = json.loads(line)
    draw = random.Random(f"{ask['seed']} {ask['split']}")
    for _ in range(ask["count"]):
        a, b = draw.choice(pairs[ask["split"]])
        print(json.dumps({"tokens": [a, b, "="], "targets": [None, None, (a + b) % P],
                          "truth": {"operands": {"2": [0, 1]}}}))
    sys.stdout.flush()
