"""Most heads can go, and specialised heads go last (Michel et al. 2019; Voita et al. 2019)."""
from study import Study, interval, sign_flip_p, span

study = Study("pruning", "Pruning: relations with eight heads, four of which are needed", seeds=10)
[runs] = study.train("full", "--task", "relations", "--layers", 1, "--heads", 8).values()
EXAMPLES = ("--examples", study.pick(512, 32))
LEAST = 0.05  # nats: a smaller rise of the loss counts as none


def owners_of(run):
    found = study.headlab("heads", run)["relations"]
    return {tuple(row["owner"]) for row in found if row["owner"]}


removable, fewest, kept, overlap = [], [], [], []
for run in runs:
    ablation = study.headlab("ablate", run, *EXAMPLES)
    removable.append(sum(head["change"] < LEAST for head in ablation["heads"]))
    curve = study.headlab("curve", run, *EXAMPLES, "--methods", "greedy,l0",
                          "--gate-steps", study.pick(300, 5), "--force")["curves"][0]
    greedy, gates = curve["methods"]
    small = [len(point["heads"]) for point in greedy["points"]
             if point["loss"] - curve["full"]["loss"] < LEAST]
    fewest.append(min(small, default=8))
    owners = owners_of(run)
    [four] = [point["heads"] for point in gates["points"] if len(point["heads"]) == 4]
    kept.append(sum(tuple(head) in owners for head in four) / max(len(owners), 1))
    overlap.append(kept[-1] - 0.5)
study.claim("Michel et al. 2019", "most heads can be removed one at a time",
            f"{span(removable)} of 8 heads cost less than {LEAST} nats when ablated alone",
            min(removable) > 4, "more than half of the heads in every seed")
study.claim("Michel et al. 2019", "few heads suffice, without training again",
            f"greedy removal keeps {span(fewest)} of 8 heads within {LEAST} nats",
            max(fewest) <= 4, "at most half of the heads in every seed")
p = sign_flip_p(overlap)
study.claim("Voita et al. 2019", "pruning by gates keeps specialised heads",
            f"of the owners, {interval(kept)} are among the 4 heads kept (0.5 by chance), p {p:.3f}",
            p < 0.05 and sum(overlap) > 0, "more than by chance, sign flips over seeds, p below 0.05")
study.finish()
