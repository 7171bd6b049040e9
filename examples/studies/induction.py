"""Induction heads (Elhage et al. 2021; Olsson et al. 2022): none in one layer; in two layers they
emerge with a sudden drop of the loss."""
from study import Study, metrics, span

study = Study("induction", "Induction heads", seeds=5)
TRACKED = ("--track-heads", 10, "--eval-every", 10, "--lr", 1e-3,
           "--steps", study.pick(600, 30))
[one] = study.train("one", "--task", "induction", "--layers", 1, "--heads", 8, *TRACKED).values()
[two] = study.train("two", "--task", "induction", "--layers", 2, "--heads", 4, *TRACKED).values()
last = lambda runs: [metrics(run)[-1]["accuracy"] for run in runs]


def owns(run, relation):
    found = study.headlab("heads", run)["relations"]
    return next(row["owned"] for row in found if row["name"] == relation)


owned_one, owned_two = ([owns(run, "induction") for run in runs] for runs in (one, two))
study.claim("Elhage et al. 2021", "one layer has no induction head, two layers have",
            f"accuracy {span(last(one), 2)} and {span(last(two), 2)}; an owner of induction in "
            f"{sum(owned_one)} and {sum(owned_two)} of {len(one)} seeds",
            not any(owned_one) and all(owned_two),
            "no seed with one layer and every seed with two has an owner")
steps = [study.emergence(run) for run in two]
previous, induction = ([found.get(name) for found in steps] for name in ("previous", "induction"))
study.claim("Olsson et al. 2022", "a previous-token head comes first, the induction head reads it",
            f"previous emerges at step {span(previous)}, induction at {span(induction)}",
            all(p and i and p <= i for p, i in zip(previous, induction)),
            "in every seed previous emerges no later")


def share_of_drop(run, step, window=50):
    """The share of the whole fall of the loss that lies within `window` steps of `step`."""
    losses = {row["step"]: row["loss"] for row in metrics(run)}
    near = [loss for at, loss in losses.items() if step is not None and abs(at - step) <= window]
    fall = max(losses.values()) - min(losses.values())
    return (max(near) - min(near)) / fall if near and fall else 0.0


drops = [share_of_drop(run, step) for run, step in zip(two, induction)]
study.claim("Olsson et al. 2022", "the loss drops when induction heads emerge",
            f"{span(drops, 2)} of the whole fall of the loss lies within 50 steps of emergence, "
            "a sixth of the training",
            min(drops) > 0.5, "in every seed more than half does")
study.finish()
