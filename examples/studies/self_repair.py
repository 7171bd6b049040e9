"""Self-repair: ablating a head costs less than the head adds, because later heads compensate
(McGrath et al. 2023) and because the last norm divides the rest by less (Rushing and Nanda 2024).
In a model of one layer no head is later, so there the norm explains all of it."""
import csv
import io
import math
from statistics import mean

from study import Study, read_npy

study = Study("self_repair", "Self-repair", seeds=6, minutes=4)
EXAMPLES = study.pick(256, 32)
one = study.train_one("relations", "--task", "relations", "--heads", 8)
two = [run for task in study.pick(("induction", "recall"), ("recall",)) for run in
       study.train_one(f"{task}-two-layers", "--task", task, "--layers", 2, "--heads", 4)]


def margins(run, *flags):
    """The mean logit of the right answers above the mean logit, by target."""
    path = study.path("logits.npy")
    table = study.text("eval", run, "--examples", EXAMPLES, "--csv", "--table", "single_targets",
                       "--logits", path, *flags)
    logits, shape = read_npy(path)  # [examples, positions, targets, outputs]
    names = [target["name"] for target in study.headlab("eval", run, "--examples", 2)["targets"]]
    found = {name: [] for name in names}
    for row in csv.DictReader(io.StringIO(table)):
        position = int(row["example"]) * shape[1] + int(row["position"])
        place = position * shape[2] + names.index(row["name"])
        x = logits[place * shape[3]:(place + 1) * shape[3]]
        log_sum = max(x) + math.log(sum(math.exp(y - max(x)) for y in x))
        found[row["name"]].append(log_sum - float(row["loss"]) - mean(x))
    return {name: mean(values) for name, values in found.items()}


def repaired_part(run):
    """The part of the logit of the best head of each relation that returns, in the mean."""
    repaired = []
    whole = margins(run)
    direct = study.headlab("attribute", run, "--examples", EXAMPLES)
    parts = {part["name"]: part["shares"] for part in direct["parts"]}
    for relation in study.headlab("heads", run)["relations"]:
        head = f"{relation['best']['layer']}.{relation['best']['head']}"
        added = parts[head][direct["targets"].index(relation["name"])]
        lost = whole[relation["name"]] - margins(run, "--without", head)[relation["name"]]
        repaired.append(1 - lost / added)
    return mean(repaired)


def compensating(run):
    """Of the pairs of heads of different layers that `ablate --pairs` judges: how many, and how
    many of them compensate."""
    pairs = study.headlab("ablate", run, "--pairs", "--examples", EXAMPLES)["relations"]
    asked = [row for row in pairs if row["first"][0] != row["second"][0]]
    return len(asked), sum("compensates" in row["verdict"] for row in asked)


study.claim_least("Rushing 2024", "the norm repairs 30% of the loss of a head",
                  "part of the head's logit that returns, in one layer:",
                  [repaired_part(run) for run in one], 0.3,
                  "at least 0.30 returns, the paper's number, in the mean over the best heads of "
                  "the relations")
pairs = [compensating(run) for run in two]
study.claim("McGrath 2023", "later heads compensate for an ablated head",
            f"{sum(says for _, says in pairs)} of {sum(asked for asked, _ in pairs)} pairs of "
            "heads of different layers", [says > 0.05 * asked for asked, says in pairs],
            "more than 5% of its pairs of heads of different layers, one of which owns a "
            "relation, are found to compensate (`ablate --pairs`)", unit="model")
study.finish()
