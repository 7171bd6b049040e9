"""Self-repair (McGrath et al. 2023; Rushing and Nanda 2024): do later heads compensate for an
ablated one, and how much of it is the final norm?"""
from study import Study, span

study = Study("self_repair", "Self-repair: pairs of heads", seeds=5)
runs = study.train("runs", "--task", study.pick("induction,recall,copy,assign", "recall"),
                   "--layers", 2, "--heads", study.pick(4, 2))
asked, redundant, compensating, norm_only = [], [], [], []
for folders in runs.values():
    for run in folders:
        pairs = study.headlab("ablate", run, "--pairs", "--examples", study.pick(512, 32))["pairs"]
        verdicts = [pair["verdict"] for pair in pairs]
        asked.append(len(pairs))
        redundant.append(verdicts.count("redundant"))
        compensating.append(verdicts.count("compensates"))
        # Without frozen norms a rise of the direct contribution would count as self-repair.
        grown = [pair for pair in pairs for side in ("of_first", "of_second")
                 if pair[side] and (pair[side]["rise"]["change"] or 0) > 0]
        norm_only.append(len(grown))
study.claim("McGrath et al. 2023", "later heads compensate for an ablated head",
            f"{sum(compensating)} of {sum(asked)} pairs compensate, {sum(redundant)} are redundant "
            f"({len(asked)} models)",
            sum(compensating) > 0, "at least one pair does: its direct contribution rises with all "
            "norms frozen, p below 0.05 after Holm's correction, by a share that counts")
study.claim("Rushing and Nanda 2024", "part of self-repair is the final norm",
            f"direct contributions rise in {sum(norm_only)} sides of pairs with frozen norms; "
            f"{sum(compensating)} of them count",
            sum(compensating) == 0, "with frozen norms none counts")
study.finish()
