"""Palindromes: is a word the same from both ends? Half of the words are, the others differ at one
place. Each letter of the second half is asked whether it equals the one as far from the other end.
Truth: `mirror`, that letter.

    python3 examples/tasks/palindromes.py 20000 > palindromes.jsonl
    headlab train --task file:train=palindromes.jsonl --out runs/palindromes
"""
import json
import random
import sys

LETTERS, HALF = "abcdef", 3
draw = random.Random(0)

print(json.dumps({"header": {
    "description": f"words of {2 * HALF} letters",
    "vocabulary": list(LETTERS) + ["yes", "no"],
    "relations": [{"name": "mirror", "description": "the letter as far from the other end",
                   "positional": True}],
    "targets": ["equal"],
    "recommended": "layers=1 heads=4 d_model=64 d_ff=128 steps=1000 lr=2e-3",
    "accuracy": 0.99}}))
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20000):
    half = draw.choices(LETTERS, k=HALF)
    word = half + half[::-1]
    if draw.random() < 0.5:
        place = draw.randrange(2 * HALF)
        word[place] = draw.choice([letter for letter in LETTERS if letter != word[place]])
    mirror = {t: 2 * HALF - 1 - t for t in range(HALF, 2 * HALF)}
    said = ["yes" if word[t] == word[key] else "no" for t, key in mirror.items()]
    print(json.dumps({"tokens": word, "targets": [None] * HALF + said,
                      "truth": {"mirror": {str(t): [key] for t, key in mirror.items()}}}))
