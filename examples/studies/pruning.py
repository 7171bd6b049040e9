"""Pruning: most heads can go (Michel et al. 2019), and specialised heads go last (Voita et al.
2019). Every model has eight heads. `importance` is the order of Michel et al., who estimate it
again as heads go (`importance_stepwise`); `greedy` tries each removal. Voita et al. train gates."""
from statistics import mean

from study import Study, interval, span

study = Study("pruning", "Pruning models of eight heads", seeds=6, minutes=8)
SHAPES = {"relations": (1, 8), "induction": (2, 4), "english": (2, 4), "assign": (4, 2)}
SHAPES = study.pick(SHAPES, {"relations": (1, 8), "induction": (2, 4)})
METHODS = "random,importance,importance_stepwise,greedy"
GATES = ("--gate-steps", study.pick(600, 10))
GREEDY, PAPER = "greedy", "importance_stepwise"


def train(name, task, layers, heads):
    return study.train_one(name, "--task", task, "--layers", layers, "--heads", heads)


def curves(runs, *flags):
    """By method, its curves in all runs."""
    found = study.headlab("curve", *runs, *flags, "--jobs", 1)["curves"]
    names = [method["method"] for method in found[0]["methods"]]
    return {name: [curve["methods"][i] for curve in found] for i, name in enumerate(names)}


def free(method):
    """The number of heads that go within 0.01 of the accuracy of all eight."""
    whole = method["points"][-1]["accuracy"]
    return max(8 - p["kept"] for p in method["points"] if p["accuracy"] >= whole - 0.01)


def gain(by, name):
    """By seed, the mean loss along the curve by random removal, less that of a method."""
    return [a["area"] - b["area"] for a, b in zip(by["random"], by[name])]


def specialised_stay(run, method):
    """The number of heads without a lift of 0.3, and for how many sizes between none and all the
    gates keep the other heads more often than these, in the mean."""
    kept = {True: [], False: []}
    for head in study.headlab("heads", run)["heads"]:
        name = [head["layer"], head["head"]]
        special = max(score["lift"] for score in head["scores"].values()) >= 0.3
        kept[special].append(sum(name in point["heads"] for point in method["points"][1:-1]))
    longer = mean(kept[True]) - mean(kept[False]) if all(kept.values()) else 0.0
    return len(kept[False]), longer


def ratio(method):
    """The loss of the pruned model with 4 heads, times that of one trained from scratch."""
    point = next(point for point in method["points"] if point["kept"] == 4)
    return point["finetuned"]["loss"] / point["from_scratch"]["loss"]


runs = {task: train("full" if task == "relations" else task, task, *shape)
        for task, shape in SHAPES.items()}
found = {task: curves(folders, "--methods", METHODS) for task, folders in runs.items()}
for name, words in ((PAPER, "in the paper's order"), (GREEDY, "by greedy removal")):
    heads = [free(method) for method in found["relations"][name]]
    study.claim("Michel 2019", f"20 to 40% of the heads can go without a notable loss ({words})",
                f"heads of 8 removed within 0.01 of the accuracy: {span(heads)}",
                [count >= 0.2 * 8 for count in heads],
                f"at least 20% of the heads of `relations` go {words}, without fine-tuning")
for task, by in found.items():
    stepwise, once = gain(by, PAPER), gain(by, "importance")
    study.claim("Michel 2019", f"removal by importance costs less than random removal: {task}",
                f"mean loss along the curve, random less importance: {interval(stepwise)}; "
                f"estimated once: {interval(once)}, above 0 in {sum(x > 0 for x in once)}",
                [x > 0 for x in stepwise],
                f"the difference is above 0 on `{task}`, importance being estimated again after "
                "each removal")
recall = train("recall", "recall", 2, 4)
gated = curves(recall, "--methods", "l0", *GATES)["l0"]
stay = [specialised_stay(run, method) for run, method in zip(recall, gated)]
study.claim("Voita 2019", "specialised heads are pruned last",
            f"{span([count for count, _ in stay])} of 8 heads of `recall` are not specialised; the "
            f"others stay for {interval([longer for _, longer in stay])} more of 7 sizes",
            [longer > 0 for _, longer in stay],
            "heads with a lift of at least 0.3 stay for more sizes than the others, in the mean; "
            "at random they do in half of the seeds")
pruned = curves(runs["relations"], "--methods", "l0", "--sizes", 4, "--finetune",
                study.pick(500, 10), "--from-scratch", *GATES)
ratios = [ratio(method) for method in pruned["l0"]]
study.claim("Voita 2019", "a pruned model beats one trained from scratch with as many heads",
            f"loss, times that from scratch: {span(ratios, 1)}", [x < 1 for x in ratios],
            "the ratio is below 1 (4 heads of `relations`, fine-tuned, one schedule)")
study.look("curve", *runs["relations"], "--methods", METHODS, "--svg", study.path("curve.svg"))
study.finish()
