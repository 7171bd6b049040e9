"""Self-repair: ablating a head costs less than the head adds, because later heads compensate
(McGrath et al. 2023) and because the last norm divides the rest by less (Rushing and Nanda 2024).
In a model of one layer no head is later, so there the norm explains all of it."""
import csv
import io
import math
from statistics import mean

from study import Study, read_npy, span

study = Study("self_repair", "Self-repair", seeds=5)
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


repaired = []
for run in one:
    whole = margins(run)
    direct = study.headlab("attribute", run, "--examples", EXAMPLES)
    parts = {part["name"]: part["shares"] for part in direct["parts"]}
    for relation in study.headlab("heads", run)["relations"]:
        head = f"{relation['best']['layer']}.{relation['best']['head']}"
        added = parts[head][direct["targets"].index(relation["name"])]
        lost = whole[relation["name"]] - margins(run, "--without", head)[relation["name"]]
        repaired.append(1 - lost / added)
study.claim("Rushing 2024", "the norm repairs a part of the loss of a head (30% in their models)",
            f"part of the head's logit that returns, in one layer: {span(repaired, 2)}",
            min(repaired) > 0,
            "the part is above 0 for the best head of each relation in every seed")
rows = [pair for run in two
        for pair in study.headlab("ablate", run, "--pairs", "--examples", EXAMPLES)["relations"]]
asked = [row for row in rows if row["first"][0] != row["second"][0]]
says = [row for row in asked if "compensates" in row["verdict"]]
study.claim("McGrath 2023", "later heads compensate for an ablated head",
            f"{len(says)} of {len(asked)} pairs of different layers in {len(two)} models",
            len(says) > 0.05 * len(asked), "more than 5% of the pairs of heads of different "
            "layers, one of which owns a relation, are found to compensate (`ablate --pairs`)")
study.finish()
