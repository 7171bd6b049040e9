"""Memorised first, generalised later: addition modulo a prime (Power et al. 2022; Nanda et al.
2023). A hash of the pair decides whether it is for training or held out."""
from study import Study, metrics, span

study = Study("grokking", "Grokking: addition modulo a prime", seeds=3)
PRIME = study.pick(31, 7)
MODEL = ("--layers", 1, "--heads", 4, "--d-model", 64, "--d-ff", 256, "--activation", "relu",
         "--lr", 1e-3, "--beta2", 0.98, "--schedule", "constant", "--clip", 0,
         "--steps", study.pick(6000, 60), "--batch", 512, "--eval-every", study.pick(100, 20))
TASK = study.task_of(f"python3 examples/tasks/modular.py {PRIME}")
MEMORISED, GENERALISED = study.pick(0.99, 0.01), study.pick(0.99, 0.01)


def first(run, key, least):
    """The first evaluated step with this accuracy; None if there is none."""
    return next((row["step"] for row in metrics(run) if row[key] >= least), None)


def runs_with(decay):
    [runs] = study.train(f"decay{decay}", "--task", TASK, *MODEL, "--decay", decay).values()
    return runs


with_decay, without = runs_with(1), runs_with(0)
memorised = [first(run, "train_accuracy", MEMORISED) for run in with_decay]
generalised = [first(run, "accuracy", GENERALISED) for run in with_decay]
reached = [step for step in generalised if step is not None]
delays = [g / m for m, g in zip(memorised, generalised) if m and g]
last = lambda runs: [metrics(run)[-1]["accuracy"] for run in runs]
then = [next(row["accuracy"] for row in metrics(run) if row["step"] == step)
        for run, step in zip(with_decay, memorised) if step]
study.claim("Power et al. 2022", "training pairs are memorised long before held-out pairs are right",
            f"memorised at step {span([m for m in memorised if m])}, when {span(then, 2)} of "
            f"held-out pairs are right; {len(reached)} of {len(with_decay)} seeds generalise, "
            f"at step {span(reached)}",
            len(reached) == len(with_decay) and min(delays) >= 2,
            "every seed generalises (held-out accuracy 0.99), in at least twice the steps to "
            "memorise (training accuracy 0.99)")
study.claim("Nanda et al. 2023", "weight decay causes it",
            f"last held-out accuracy {span(last(with_decay), 2)} with decay 1, "
            f"{span(last(without), 2)} without",
            min(last(with_decay)) > max(last(without)),
            "every seed with weight decay ends above every seed without")
heads = [study.headlab("heads", run)["relations"] for run in with_decay]
masses = [relation["best"]["mass"] for [relation] in heads]
study.claim("Nanda et al. 2023", "attention reads both summands from the last position",
            f"best head: attention mass {span(masses, 2)} on the summands",
            min(masses) > 0.9, "the mass is above 0.9 in every seed (2/3 is uniform)")
study.finish()
