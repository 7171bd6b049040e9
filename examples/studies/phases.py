"""Markov chains in context are learned in phases: uniform guesses, then counts of symbols, then
counts of pairs, and an induction head emerges with the last (Edelman et al. 2024)."""
import json
import os
import subprocess

from study import Study, metrics, span

study = Study("phases", "Phases of learning Markov chains in context", seeds=6, minutes=8)
MARKOV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks", "markov.py")
EVERY = study.pick(20, 10)
runs = study.train_one(
    "chains", "--task", study.task_of(f"python3 {MARKOV}"), "--lr", "1e-3", "--warmup", 0,
    "--schedule", "constant", "--steps", study.pick(1500, 20), "--eval-every", EVERY,
    "--track-heads", EVERY, "--eval-examples", study.pick(256, 16))
ask = json.dumps({"seed": 0, "split": "validation", "count": study.pick(2000, 101)}) + "\n"
guesses = subprocess.run(["python3", MARKOV, "losses"], input=ask, capture_output=True, text=True)
SYMBOLS, PAIRS = (float(line.split()[1]) for line in guesses.stderr.splitlines())
MIDDLE, NEAR = (SYMBOLS + PAIRS) / 2, 0.02


def losses(run):
    return [(line["step"], line["loss"]) for line in metrics(run)]


def first_below(run, loss):
    return next((step for step, value in losses(run) if value < loss), None)


def steps_near(run, loss):
    """Steps that training spends near a loss, and at least one evaluation."""
    return EVERY * max(1, sum(abs(value - loss) < NEAR for _, value in losses(run)))


symbols, pairs = ([first_below(run, level + NEAR) for run in runs] for level in (SYMBOLS, PAIRS))
study.claim("Edelman 2024", "counts of symbols come before counts of pairs",
            f"loss near {SYMBOLS:.3f} at step {span(symbols)}, near {PAIRS:.3f} at {span(pairs)}",
            [a and b and 2 * a <= b for a, b in zip(symbols, pairs)],
            f"the loss comes within {NEAR} of the guess by pairs at twice the step "
            "at which it comes within it of the guess by symbols, or later")
waits = [steps_near(run, SYMBOLS) / steps_near(run, MIDDLE) for run in runs]
study.claim("Edelman 2024", "the loss waits at the level of counts of symbols",
            f"steps near that level / steps near the middle of both: {span(waits, 1)}",
            [wait >= 2 for wait in waits], "the ratio is at least 2")
heads = [study.emergence(run).get("after_same") for run in runs]
ends = [first_below(run, SYMBOLS - NEAR) for run in runs]
study.claim("Edelman 2024", "an induction head emerges with the last phase",
            f"emerges at {span(heads)}, the loss leaves that level at {span(ends)}",
            [a and head and b and a <= head <= b for a, head, b in zip(symbols, heads, pairs)],
            "the head emerges after the loss has come near the guess by symbols "
            "and before it comes near the guess by pairs")
study.look("history", runs[0], "--svg", study.path("emergence.svg"))
study.finish()
