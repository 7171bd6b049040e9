"""Attention to nothing: under softmax a head that finds nothing must attend somewhere, and language
models use the first token for it, a sink (Xiao et al. 2023). `softmax_one` adds 1 to the
denominator, so that a head may leave attention unused (Miller 2023). `duplicate` asks whether a
token has occurred before, so many queries have no key to attend to; `text` is what both papers are
about. A sink is a head that gives more than 0.3 of its attention to the first token, in the mean
over queries (Gu et al. 2024)."""
import os

from study import Study, interval, print_columns

study = Study("sinks", "Attention to nothing", seeds=6, minutes=8)
FABLES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "datasets",
                                      "fables.txt"))
TASKS = {"duplicate": "duplicate:length=32,symbols=48", "text": f"text:file={FABLES},length=32"}
SOFTMAX, ONE = "softmax", "softmax_one"
MODEL = ("--layers", 2, "--heads", 4, "--lr", "3e-3", "--eval-examples", study.pick(128, 16),
         "--steps", study.pick(800, 4), "--batch", study.pick(32, 8))
SINK, UNUSED = 0.3, 0.5


def measure(run):
    """The loss, the largest attention of a head to the first token, and the least sum of the
    weights of a head, which is 1 for softmax."""
    loss = study.headlab("eval", run, "--examples", study.pick(512, 16))["loss"]
    heads = study.headlab("heads", run, "--scores", "--examples", study.pick(256, 16))["heads"]
    used = [head.get("row_sum", 1.0) for head in heads]
    first = [head["patterns"]["first"] * part for head, part in zip(heads, used)]
    return {"loss": loss, "first": max(first), "used": min(used)}


def by_seed(is_so):
    """By seed, whether something is so on every task; is_so takes the numbers of both functions."""
    by = {task: [is_so(*pair) for pair in zip(found[task][SOFTMAX], found[task][ONE])]
          for task in TASKS}
    counts = ", ".join(f"{task} {sum(seeds)}" for task, seeds in by.items())
    return "seeds by task: " + counts, [all(seed) for seed in zip(*by.values())]


found, rows = {}, []
for task, spec in TASKS.items():
    groups = study.train(task, "--task", spec, *MODEL, "--attention-function", f"{SOFTMAX},{ONE}")
    found[task] = {}
    for name in (SOFTMAX, ONE):
        measured = [measure(run) for run in groups[f"heads=4,attention_function={name}"]]
        found[task][name] = measured
        rows.append([f"{task}, {name}", *(interval([one[key] for one in measured], 3)
                                          for key in ("loss", "first", "used"))])

print_columns(["task, function", "loss", "most on the first", "least used"], rows)
study.claim("Xiao 2023", "heads attend to the first token, a sink",
            *by_seed(lambda softmax, _: softmax["first"] > SINK),
            f"on every task, a head of the model with softmax gives more than {SINK} of its "
            "attention to the first token")
study.claim("Miller 2023", "heads leave attention unused if they may",
            *by_seed(lambda _, one: one["used"] < UNUSED),
            f"on every task, a head with softmax_one uses less than {UNUSED} of its attention")
study.claim("Miller 2023", "then they attend less to the first token",
            *by_seed(lambda softmax, one: one["first"] < softmax["first"]),
            "on every task, the largest attention of a head to the first token is lower with "
            "softmax_one")
study.claim("Miller 2023", "softmax_one predicts as well as softmax",
            *by_seed(lambda softmax, one: one["loss"] <= softmax["loss"]),
            "on every task, the loss with softmax_one is at most that with softmax")
study.finish()
