#!/usr/bin/env python3
"""From a task to a figure: how many heads does `relations` need, and which heads can go?

    python3 examples/study_in_python.py [--small]

Needs NumPy. Trains in study/ (about two minutes; --small: seconds, and no conclusion follows) and
writes study/curve.svg, the loss as heads are removed.
"""
import os
import sys

import headlab
import numpy

small = "--small" in sys.argv
seeds = 2 if small else 6
size = {"steps": 20, "eval_examples": 32} if small else {}
os.makedirs("study", exist_ok=True)

# How many heads? One run for each number of heads and seed, and a test over seeds.
headlab.sweep("relations", out="study/heads", heads=[2, 4, 8], seeds=seeds, **size)
for row in headlab.rows(headlab.compare("study/heads", reference="study/heads/heads=4")):
    print(f"{row['arm']}: {row['ratio']:.3g} times the loss of 4 heads, {row['verdict']}")

# Which heads? The cost of each head of one run, then the four that stay.
run = headlab.Run("study/heads/heads=8,seed=0")
cost = {f"{row['layer']}.{row['head']}": row["change"] for row in headlab.rows(run.ablate())}
print("cost of ablating a head, in nats:", {head: round(change, 3) for head, change in cost.items()})
run.curve(methods="greedy", svg="study/curve.svg")
pruned = run.prune(4, out="study/pruned", force=True)
for row in headlab.rows(pruned.relations()):
    print(f"{row['name']}: head {row['best_layer']}.{row['best_head']}, {row['verdict']}")

# Where is the pruned model wrong? Its losses by position, and the logits of one input.
losses = headlab.rows(pruned.losses(examples=64))
by_position = [numpy.mean([row["loss"] for row in losses if row["position"] == position])
               for position in range(16)]
print("loss by position:", numpy.round(by_position, 3))
print("logits of one input:", pruned.logits("a b c d e f").shape)
