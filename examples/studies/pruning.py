"""Pruning: most heads can go (Michel et al. 2019), and specialised heads go last (Voita et al.
2019). The task needs four heads; the model has eight."""
from statistics import mean

from study import Study, half_width, interval, span

study = Study("pruning", "Pruning the heads of `relations`", seeds=5)
runs = study.train_one("full", "--task", "relations", "--heads", 8)
FINETUNE = study.pick(500, 10)


def point(method, kept):
    return next(point for point in method["points"] if point["kept"] == kept)


def curves(*flags):
    """By method, its curves in all runs."""
    found = study.headlab("curve", *runs, *flags, "--jobs", 1)["curves"]
    names = [method["method"] for method in found[0]["methods"]]
    return {name: [curve["methods"][i] for curve in found] for i, name in enumerate(names)}, found


by, found = curves("--methods", "random,importance,greedy")
whole = [curve["full"]["accuracy"] for curve in found]
free = [max(8 - p["kept"] for p in greedy["points"] if p["accuracy"] >= full - 0.01)
        for greedy, full in zip(by["greedy"], whole)]
study.claim("Michel 2019", "20 to 40% of the heads can go without a notable loss",
            f"heads of 8 removed within 0.01 of the accuracy: {span(free)}", min(free) >= 0.2 * 8,
            "at least 20% of the heads go in every seed, by greedy removal without fine-tuning")
area = {name: [method["area"] for method in by[name]] for name in by}
gain = [a - b for a, b in zip(area["random"], area["importance"])]
study.claim("Michel 2019", "removal by importance costs less than random removal",
            f"mean loss along the curve, random less importance: {interval(gain)}",
            mean(gain) - half_width(gain) > 0, "the 95% interval over seeds lies above 0")
gates, _ = curves("--methods", "l0,greedy", "--sizes", 4, "--finetune", FINETUNE, "--from-scratch",
                  "--gate-steps", study.pick(600, 10))
# A model in which no head owns a relation (at --small) keeps none of its owners.
owners = [point(method, 4)["recall"] or 0 for method in gates["l0"]]
study.claim("Voita 2019", "specialised heads are pruned last",
            f"share of owners among the 4 heads that gates keep: {span(owners, 2)}",
            min(owners) >= 0.75, "at least 3 of the 4 owners of relations survive in every seed")
ratios = [point(m, 4)["finetuned"]["loss"] / point(m, 4)["from_scratch"]["loss"]
          for m in gates["l0"]]
study.claim("Voita 2019", "a pruned model beats one trained from scratch with as many heads",
            f"loss, times that from scratch: {span(ratios, 1)}", max(ratios) < 1,
            "the ratio is below 1 in every seed (4 heads, fine-tuned, one schedule)")
study.look("curve", *runs, "--methods", "random,importance,greedy",
           "--svg", study.path("curve.svg"))
study.finish()
