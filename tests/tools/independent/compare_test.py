#!/usr/bin/env python3
# compare() of read_run.py keeps, for each name, the pair of difference and allowance that lies
# furthest beyond what is allowed, and the largest flow equals the smallest cut: run.sh runs this
# before it reads any run.
import itertools
import math

import numpy as np

import read_run

# Calls of compare() as (difference, allowance), and the pair that must be kept of them.
CASES = {
    "a fault before a call that allows more": ([(0.5, 0.1), (0.6, 1.0)], (0.5, 0.1)),
    "a fault after a call that allows more": ([(0.6, 1.0), (0.5, 0.1)], (0.5, 0.1)),
    "the largest share without a fault": ([(0.1, 1.0), (0.05, 0.1), (0.5, 2.0)], (0.05, 0.1)),
    "a difference where none is allowed": ([(1e-9, 0), (5.0, 1.0)], (1e-9, 0)),
    "no difference where none is allowed": ([(0.0, 0), (0.5, 1.0)], (0.5, 1.0)),
    "not a number before a smaller fault": ([(math.nan, 1.0), (5.0, 1.0)], (math.nan, 1.0)),
}

failed = 0
for name, (calls, wanted) in CASES.items():
    read_run.worst.clear()
    for difference, allowed in calls:
        read_run.compare("a", difference, 0.0, allowed)
    kept = read_run.worst["a"]
    equal = all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(kept, wanted))
    if not equal:
        failed += 1
        print(f"{name}: {kept} is kept, not {wanted}")


def smallest_cut(layers, t, s):
    """The capacity from the source's side to the other, smallest over all sides of the nodes between."""
    T, between = len(layers[0]), len(layers) - 1
    cuts = []
    for sides in itertools.product((False, True), repeat=T * between):
        ends = [[node == s for node in range(T)], [node == t for node in range(T)]]
        below = [not is_sink for is_sink in ends[0]]  # inputs without a way on are on the source's side
        middle = [list(sides[l * T:(l + 1) * T]) for l in range(between)]
        levels = [below, *middle, ends[1]]
        cuts.append(sum(layer[levels[l + 1]][:, ~np.array(levels[l])].sum()
                        for l, layer in enumerate(layers)))
    return min(cuts)


random = np.random.default_rng(0)
for count in (2, 3):
    layers = [np.where(random.random((3, 3)) < 0.3, 0, random.random((3, 3))) for _ in range(count)]
    cuts = np.array([[smallest_cut(layers, t, s) for s in range(3)] for t in range(3)])
    flows = np.array([[read_run.largest_flow(layers, t, s) for s in range(3)] for t in range(3)])
    short = read_run.flow_of(layers) * cuts.sum(1, keepdims=True)
    if not np.allclose(flows, cuts, atol=1e-9) or not np.allclose(short, cuts, atol=1e-9):
        failed += 1
        print(f"{count} layers: the largest flow is not the smallest cut")
raise SystemExit(1 if failed else 0)
