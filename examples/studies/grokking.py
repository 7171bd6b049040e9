"""Grokking: a model of modular addition memorises its training pairs first and generalises much
later, if weights decay (Power et al. 2022; Nanda et al. 2023). Half of all pairs a + b mod p are
for training, so accuracy on the others measures generalisation. The model has no layer norm, as in
Nanda et al.: a norm makes the size of the weights in front of it meaningless. Otherwise it differs
from theirs in p (53, not 113), the share of pairs for training (half, not 30%, with which one seed
of p = 53 did not generalise in 12,000 steps) and the batch (512 pairs, not all)."""
import random

from study import Study, first_step, metrics, span

study = Study("grokking", "Grokking of addition modulo 53", seeds=6, minutes=18)
P = study.pick(53, 7)
HEADER = {"description": f"addition modulo {P}", "vocabulary": [str(n) for n in range(P)] + ["="],
          "length": 3, "targets": ["sum"],
          "relations": [{"name": "operands", "description": "the summands", "positional": True}]}


def line(a, b):
    return {"tokens": [str(a), str(b), "="], "targets": [None, None, str((a + b) % P)],
            "truth": {"operands": {"2": [0, 1]}}}


pairs = [(a, b) for a in range(P) for b in range(P)]
random.Random(0).shuffle(pairs)
half, rest = len(pairs) // 2, len(pairs) * 3 // 4
parts = {"train": pairs[:half], "held_out": pairs[half:rest], "test": pairs[rest:]}
paths = {split: study.write_task(f"{split}.jsonl", HEADER, [line(*pair) for pair in part])
         for split, part in parts.items()}
task = "file:" + ",".join(f"{split}={path}" for split, path in paths.items())
runs = study.train(
    "sweep", "--task", task, "--layers", 1, "--heads", 4, "--d-ff", 256, "--activation", "relu",
    "--norm", "none", "--lr", "1e-3", "--beta2", 0.98, "--schedule", "constant", "--clip", 0,
    "--batch", 512,
    "--decay", "0,1", "--steps", study.pick(10000, 60), "--eval-every", study.pick(250, 20))
folders = {d: next(runs[group] for group in runs if f"decay={d}" in group) for d in (0, 1)}
arms = {d: [metrics(run) for run in folders[d]] for d in folders}
learned = {d: [first_step(lines, "train_accuracy", 0.99) for lines in arms[d]] for d in arms}
general = {d: [first_step(lines, "accuracy", 0.95) for lines in arms[d]] for d in arms}
at_end = {d: [lines[-1]["accuracy"] for lines in arms[d]] for d in arms}
is_late = [early and late and 1.5 * early <= late for early, late in zip(learned[1], general[1])]
study.claim("Power 2022", "memorised first, generalised later",
            f"training accuracy 0.99 at step {span(learned[1])}, held-out accuracy 0.95 at "
            f"{span(general[1])}",
            is_late,
            "with decay 1, held-out accuracy reaches 0.95 at 1.5 times the step at "
            "which training accuracy reaches 0.99, or later")
study.claim("Power 2022", "weight decay speeds up generalisation",
            f"held-out accuracy at the end: decay 1 {span(at_end[1], 2)}, decay 0 "
            f"{span(at_end[0], 2)}",
            [early and without < 0.5 and decayed > 0.95
             for early, without, decayed in zip(learned[0], at_end[0], at_end[1])],
            "without decay it memorises and ends below 0.5, with decay above 0.95")
norms = [[evaluation["weight_norm"] for evaluation in lines] for lines in arms[1]]
fall = [norm[-1] / max(norm) for norm in norms]
study.claim("Nanda 2023", "the norm of the weights falls while the model generalises",
            f"norm at the end / largest norm: {span(fall, 2)}", [x < 0.9 for x in fall],
            "with decay 1, the norm ends below 0.9 of its largest value")
lifts = [[head["scores"]["operands"]["lift"] for head in study.headlab("heads", run)["heads"]]
         for run in folders[1]]
study.claim("Nanda 2023", "all heads attend to both summands",
            f"lift of all heads: {span(sum(lifts, []), 2)}", [min(seed) >= 0.3 for seed in lifts],
            "with decay 1, every head has a lift of at least 0.3")
study.look("runs", folders[0][0], folders[1][0], "--svg", study.path("losses.svg"))
study.finish()
