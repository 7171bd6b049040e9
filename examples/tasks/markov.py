"""Markov chains in context (Edelman et al. 2024, "The evolution of statistical induction heads"):
every sequence has a chain of its own, and each token asks for the next. Truth: `after_same`, what
followed the same token before. With `losses` it tells those of guesses by counts in the context.

    headlab train --task 'command:python3 examples/tasks/markov.py losses' --out runs/markov
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

print(json.dumps({"header": {"description": f"chains of {K} symbols", "length": LENGTH,
    "vocabulary": [str(n) for n in range(K)], "targets": ["next"], "needed_heads": 2,
    "relations": [{"name": "after_same", "description": "what followed the same token before"}],
    "recommended": "layers=2 heads=1 d_model=32 d_ff=0 steps=2000 lr=3e-3"}}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    draw = random.Random(f"{ask['seed']} {ask['split']}")
    chains = [chain(draw) for _ in range(ask["count"])]
    for x in chains:
        keys = {t: [s + 1 for s in range(t) if x[s] == x[t]] for t in range(LENGTH)}
        truth = {"after_same": {t: seen for t, seen in keys.items() if seen}}
        print(json.dumps({"tokens": x[:-1], "targets": x[1:], "truth": truth}), flush=True)
    for name in ("unigram", "bigram") if "losses" in sys.argv and ask["count"] > 100 else ():
        all = [loss(x, t, name == "bigram") for x in chains for t in range(LENGTH)]
        print(f"{name} {sum(all) / len(all):.4f} on {ask['split']}", file=sys.stderr, flush=True)
