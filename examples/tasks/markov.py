"""Markov chains in context (Edelman et al. 2024, "The evolution of statistical induction heads"):
every sequence has a chain of its own, and each token asks for the next. Truth: `after_same`, what
followed the same token before: the counts that the best bigram guess needs.

    headlab train --task 'command:python3 examples/tasks/markov.py' --out runs/markov
    python3 examples/tasks/markov.py losses    # of the best guesses by counts in the context
"""
import json
import math
import random
import sys

K, LENGTH = 3, 64

def chain(draw):
    rows = [[draw.expovariate(1) for _ in range(K)] for _ in range(K)]  # uniform over simplices
    tokens = [draw.randrange(K)]
    while len(tokens) <= LENGTH:
        tokens += draw.choices(range(K), rows[tokens[-1]])
    return tokens

def loss(x, t, bigram):  # counts begin with 1
    past = [b for a, b in zip(x, x[1:t + 1]) if a == x[t] or not bigram]
    return -math.log((past.count(x[t + 1]) + 1) / (len(past) + K))

if sys.argv[1:] == ["losses"]:
    some = [chain(random.Random(seed)) for seed in range(500)]
    for name in ("unigram", "bigram"):
        losses = [loss(x, t, name == "bigram") for x in some for t in range(LENGTH)]
        print(f"{name} {sum(losses) / len(losses):.4f}")
    sys.exit()

print(json.dumps({"header": {
    "description": f"chains of {K} symbols", "vocabulary": [str(n) for n in range(K)],
    "length": LENGTH, "targets": ["next"], "needed_heads": 2,
    "relations": [{"name": "after_same", "description": "what followed the same token before"}],
    "recommended": "layers=2 heads=1 d_model=32 d_ff=0 steps=2000 lr=3e-3"}}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    draw = random.Random(f"{ask['seed']} {ask['split']}")
    for x in [chain(draw) for _ in range(ask["count"])]:
        keys = {str(t): [s + 1 for s in range(t) if x[s] == x[t]] for t in range(LENGTH)}
        truth = {"after_same": {t: seen for t, seen in keys.items() if seen}}
        print(json.dumps({"tokens": x[:-1], "targets": x[1:], "truth": truth}))
    sys.stdout.flush()
