"""Names are given digits, "b = 3 f = 7 f b", and asked for. Truth: `definition`, where the digit
of a name stands; `name`, where the name of a digit stands.

    python3 examples/tasks/definitions.py > datasets/definitions.jsonl
"""
import json
import random

draw = random.Random(1)
NAMES, DIGITS = "abcdefgh", "12345678"

print(json.dumps({"header": {
    "description": "names are given digits, and asked for",
    "vocabulary": list(NAMES + DIGITS) + ["="],
    "relations": [{"name": "definition", "description": "the digit that the name was given"},
                  {"name": "name", "description": "the name that is given this digit"}],
    "targets": ["digit"], "needed_heads": 2,
    "recommended": "layers=2 heads=2 d_ff=0 steps=1500 lr=3e-3"}}))
for _ in range(1200):
    n = draw.randint(2, 4)
    names, digits = draw.sample(NAMES, n), draw.choices(DIGITS, k=n)
    tokens = [token for pair in zip(names, digits) for token in (pair[0], "=", pair[1])]
    asked = draw.sample(range(n), n)
    definition = {str(3 * n + i): [3 * k + 2] for i, k in enumerate(asked)}
    print(json.dumps({"tokens": tokens + [names[k] for k in asked],
                      "targets": [None] * 3 * n + [digits[k] for k in asked],
                      "truth": {"definition": definition,
                                "name": {str(3 * k + 2): [3 * k] for k in range(n)}}},
                     separators=(",", ":")))
