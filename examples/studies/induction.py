"""Induction heads: one layer cannot copy what followed an earlier occurrence, two layers can, and
the loss drops when the induction head emerges (Elhage et al. 2021; Olsson et al. 2022)."""
from study import Study, metrics, span

study = Study("induction", "Induction in one and two layers", seeds=6, minutes=4)
FLAGS = ("--task", "induction", "--lr", "1e-3", "--eval-every", 10, "--track-heads", 10,
         "--eval-examples", study.pick(128, 16), "--steps", study.pick(1000, 30))
one = study.train_one("one", *FLAGS, "--layers", 1, "--heads", 8)
two = study.train_one("two", *FLAGS, "--layers", 2, "--heads", 4)


def accuracy(run):
    return study.headlab("eval", run)["accuracy"]


def steepest(run):
    """The step in the middle of the 40 steps in which the loss falls most."""
    lines = metrics(run)
    falls = [(a["loss"] - b["loss"], (a["step"] + b["step"]) / 2) for a, b in zip(lines, lines[4:])]
    return max(falls, default=(0, 0))[1]


first, second = [accuracy(run) for run in one], [accuracy(run) for run in two]
study.claim("Elhage 2021", "one layer has no induction heads, two layers have",
            f"accuracy: one layer {span(first, 2)}, two layers {span(second, 2)}",
            [a < 0.5 and b > 0.95 for a, b in zip(first, second)],
            "the model of one layer is below 0.5 and that of two layers above 0.95")
found = [study.emergence(run) for run in two]
before, heads = ([one.get(name) for one in found] for name in ("previous", "induction"))
study.claim("Olsson 2022", "a previous-token head comes first",
            f"previous emerges at {span(before)}, induction at {span(heads)}",
            [a and b and a < b for a, b in zip(before, heads)],
            "the previous-token head emerges at an earlier step than the induction head (heads "
            "are scored every 10 steps)")
drops = [steepest(run) for run in two]
study.claim("Olsson 2022", "the loss drops as induction heads emerge",
            f"steepest fall at {span(drops)}, induction emerges at {span(heads)}",
            [b and abs(a - b) <= 50 for a, b in zip(drops, heads)],
            "the 40 steps with the steepest fall are centred within 50 steps of the emergence of "
            "the induction head")
study.look("history", two[0], "--svg", study.path("emergence.svg"))
study.look("page", two[0], "--out", study.path("page.html"))
study.finish()
