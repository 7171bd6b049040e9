"""Addition modulo p (Nanda et al. 2023, "Progress measures for grokking via mechanistic
interpretability"): a b = asks for (a + b) mod p. Truth: `operands`, where both summands stand.

    headlab train --task 'command:python3 examples/tasks/modular.py' --out runs/modular
"""
import json
import random
import sys

P = int(sys.argv[1]) if len(sys.argv) > 1 else 31

print(json.dumps({"header": {
    "description": f"addition modulo {P}",
    "vocabulary": [str(n) for n in range(P)] + ["="],
    "length": 3,
    "relations": [{"name": "operands", "description": "the two summands", "positional": True}],
    "targets": ["sum"],
    "recommended": "layers=1 heads=4 d_model=64 d_ff=256 steps=3000 lr=3e-3 schedule=cosine",
    "accuracy": 0.99}}), flush=True)

for line in sys.stdin:
    ask = json.loads(line)
    draw = random.Random(f"{ask['seed']} {ask['split']}")
    for _ in range(ask["count"]):
        a, b = draw.randrange(P), draw.randrange(P)
        print(json.dumps({"tokens": [a, b, "="], "targets": [None, None, (a + b) % P],
                          "truth": {"operands": {"2": [0, 1]}}}))
    sys.stdout.flush()
