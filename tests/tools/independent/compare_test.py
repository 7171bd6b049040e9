#!/usr/bin/env python3
# compare() of read_run.py keeps, for each name, the pair of difference and allowance that lies
# furthest beyond what is allowed: run.sh runs this before it reads any run.
import math

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
raise SystemExit(1 if failed else 0)
