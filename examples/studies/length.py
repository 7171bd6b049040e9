"""Train short, test long (Press et al. 2022): models with five kinds of positions train on 16
tokens and read 32. `relations` needs near keys: the tokens one and two back, which ALiBi learns,
and the last of the same class. `duplicate` needs keys anywhere, and `text` is what the paper is
about. The claim of Kazemnejad et al. (2023) about models without positions is about tasks only."""
import os
from study import Study, interval, print_columns, print_note

study = Study("length", "Train at length 16, test at 32", seeds=6, minutes=15, small_seeds=2)
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


def less(a, b, tasks=TASKS):
    """By seed, whether a rises less than b on all of these tasks."""
    pairs = [zip(rises[task][a], rises[task][b]) for task in tasks]
    return [all(x < y for x, y in by_task) for by_task in zip(*pairs)]


def counts(is_so_by_task):
    """In how many seeds something is so, by task."""
    return ", ".join(f"{task} {sum(is_so)}" for task, is_so in is_so_by_task.items())


def within(kind, is_so):
    """By task and seed, whether the rise of a kind is so; and by seed, whether on every task."""
    by = {task: [is_so(rise) for rise in rises[task][kind]] for task in TASKS}
    return by, [all(seed) for seed in zip(*by.values())]


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
by, flat = within("alibi", lambda rise: rise < LIMIT)
study.claim("Press 2022", "ALiBi keeps its loss at twice the length of training",
            f"seeds in which the rise is below {LIMIT}: {counts(by)}", flat,
            f"ALiBi's rise is below {LIMIT} nats on every task")
by, steep = within("sinusoidal", lambda rise: rise > LIMIT)
study.claim("Press 2022", "sinusoidal positions do not extrapolate",
            f"seeds in which the rise is above {LIMIT}: {counts(by)}", steep,
            f"the rise is above {LIMIT} nats on every task")
order = [a and b for a, b in zip(less("alibi", "rotary"), less("rotary", "sinusoidal"))]
by = {task: less("alibi", "rotary", [task]) for task in TASKS}
study.claim("Press 2022", "ALiBi extrapolates better than rotary, rotary better than sinusoidal",
            f"seeds in which ALiBi rises less than rotary: {counts(by)}", order,
            "on every task ALiBi rises less than rotary, and rotary less than sinusoidal")
asked = ("relations", "duplicate")
least = [all(seed) for seed in zip(*(less("none", kind, asked) for kind in KINDS[:3]))]
by = {task: less("none", "alibi", [task]) for task in asked}
study.claim("Kazemnejad 2023", "models without positions extrapolate best on tasks",
            f"seeds in which they rise less than ALiBi: {counts(by)}", least,
            "on relations and duplicate, models without positions rise less than each other kind")
study.finish()
