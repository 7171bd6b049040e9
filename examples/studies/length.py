"""Train short, test long (Press et al. 2022): models with five kinds of positions train on 16
tokens and read 32. `relations` needs near keys: the tokens one and two back, which ALiBi learns,
and the last of the same class. `duplicate` needs keys anywhere, and `text` is what the paper is
about. The claim of Kazemnejad et al. (2023) about models without positions is about tasks only."""
import os
from statistics import mean

from study import Study, half_width, interval, print_columns, print_note

study = Study("length", "Train at length 16, test at 32", seeds=5, small_seeds=2)
SHORT, LONG, LIMIT = 16, 32, 0.05
KINDS = ("alibi", "rotary", "sinusoidal", "none")
FABLES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "datasets",
                                      "fables.txt"))
TASKS = {"relations": "relations:relations=1+2+same", "duplicate": "duplicate:symbols=24",
         "text": f"text:file={FABLES}"}
MODEL = ("--layers", 2, "--heads", 4, "--d-ff", 64, "--lr", "3e-3",
         "--eval-examples", study.pick(128, 16), "--steps", study.pick(600, 4),
         "--batch", study.pick(64, 8))


def task_at(task, length):
    return f"{TASKS[task]},length={length}"


def losses(runs, task, length):
    return [study.headlab("eval", run, "--task", task_at(task, length), "--examples",
                          study.pick(512, 16))["loss"] for run in runs]


def below(values, limit):
    """Whether the 95% interval of the mean lies below the limit."""
    return mean(values) + half_width(values) < limit


def above(values, limit):
    """Whether the 95% interval of the mean lies above the limit."""
    return mean(values) - half_width(values) > limit


def less(a, b):
    """The tasks on which a rises less than b, by the 95% interval of the differences over seeds."""
    return {task for task, by in rises.items()
            if above([y - x for x, y in zip(by[a], by[b])], 0)}


def names(tasks):
    listed = f" ({', '.join(sorted(tasks))})" if tasks else ""
    return f"{len(tasks)} of {len(rises)} tasks{listed}"


rises, refusals, rows = {}, [], []
for task in TASKS:
    groups = study.train(task, "--task", task_at(task, SHORT), *MODEL, "--positions",
                         ",".join(KINDS + ("learned",)))
    rises[task] = {}
    for kind in KINDS:
        runs = groups[f"heads=4,positions={kind}"]
        short, long = losses(runs, task, SHORT), losses(runs, task, LONG)
        rises[task][kind] = [b - a for a, b in zip(short, long)]
        rows.append([f"{task}, {kind}", interval(short), interval(long),
                     interval(rises[task][kind])])
    refusals += [study.refusal("eval", run, "--task", task_at(task, LONG))
                 for run in groups["heads=4,positions=learned"]]

print_columns(["task, positions", f"loss at {SHORT}", f"loss at {LONG}", "rise"], rows)
refused = [reason for reason in refusals if reason]
print_note(f"learned: {len(refused)} of {len(refusals)} models are refused at length {LONG}"
           + (f": {refused[0].split(': ')[-1]}." if refused else "."))
print()
flat = {task for task, by in rises.items() if below(by["alibi"], LIMIT)}
study.claim("Press 2022", "ALiBi keeps its loss at twice the length of training",
            f"on {names(flat)}", len(flat) == len(rises),
            f"the 95% interval of ALiBi's rise lies below {LIMIT} nats on every task")
steep = {task for task, by in rises.items() if above(by["sinusoidal"], LIMIT)}
study.claim("Press 2022", "sinusoidal positions do not extrapolate",
            f"the loss rises on {names(steep)}", len(steep) == len(rises),
            f"the 95% interval of the rise lies above {LIMIT} nats on every task")
first, second = less("alibi", "rotary"), less("rotary", "sinusoidal")
study.claim("Press 2022", "ALiBi extrapolates better than rotary, rotary better than sinusoidal",
            f"ALiBi rises less than rotary on {names(first)}, rotary less than sinusoidal on "
            f"{names(second)}", len(first & second) == len(rises),
            "on every task, the 95% intervals of both differences of rises lie above 0")
least = set.intersection(*(less("none", kind) for kind in KINDS[:3])) - {"text"}
study.claim("Kazemnejad 2023", "models without positions extrapolate best on tasks",
            f"no positions rise least on {len(least)} of 2 tasks", len(least) == 2,
            "on relations and duplicate, the 95% intervals of the differences from each other "
            "kind lie above 0")
study.finish()
