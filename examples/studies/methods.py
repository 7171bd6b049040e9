"""Which method finds the truth? Methods of attribution judged where the truth is known, in the
spirit of InterpBench (Gupta et al. 2024). Edges (query, key): how well a score ranks the task's
ground-truth edges (`edges`). Heads: how well a method ranks the heads of the best subsets of each
size, which are known because all subsets are tried (`curve --methods exhaustive`)."""
from itertools import combinations
from statistics import mean

from study import Study, holm, interval, print_columns, print_note, sign_flip_p, spearman

study = Study("methods", "Which method finds the truth?", seeds=5, small_seeds=2)
FEW = ("--examples", study.pick(128, 16), "--judged", study.pick(256, 16))
ONE, TWO = "relations,sort,duplicate,histogram,patches", "induction,copy,reverse,recall,brackets"
runs = study.train("one", "--task", study.pick(ONE, "relations,sort"), "--layers", 1, "--heads", 8)
runs |= study.train("two", "--task", study.pick(TWO, "recall"), "--layers", 2, "--heads", study.pick(4, 2))


def head_scores(run):
    """The truth, and the scores of every method, in the order of the heads."""
    curve = study.headlab("curve", run, *FEW, "--methods", "magnitude,importance,ablation,greedy,l0",
                          "--gate-steps", study.pick(200, 5), "--force")["curves"][0]
    best = study.headlab("curve", run, *FEW, "--methods", "exhaustive", "--force")["curves"][0]
    heads = [tuple(head) for head in best["subsets"]["heads"]]
    kept = lambda method: [sum([*h] in p["heads"] for p in method["points"][1:-1]) for h in heads]
    by = {method["method"]: kept(method) for method in curve["methods"]}
    patch = study.headlab("patch", run, "--examples", study.pick(64, 8))
    restored = {(h["layer"], h["head"]): h["restored"] for h in patch["heads"]}
    guess = {tuple(n["of"]): n["estimate"] for n in patch["nodes"]
             if n["node"] == "output" and n["direction"] == "restore"}
    found = study.headlab("heads", run, "--examples", study.pick(256, 16))["heads"]
    lift = {(h["layer"], h["head"]): max(s["lift"] for s in h["scores"].values()) for h in found}
    scores = {"attention": [lift[h] for h in heads], "patching": [restored[h] for h in heads],
              "attribution": [guess[h] for h in heads], "importance": by["importance"],
              "gates": by["l0"], "ablation": by["ablation"], "greedy": by["greedy"]}
    return kept(best["methods"][0]), scores


def compare(title, note, results):
    """results: by task and method, a value for each seed. Prints them with tests over tasks."""
    methods = list(next(iter(results.values())))
    rows = [[task, *(f"{mean(by[m]):.2f}" for m in methods)] for task, by in results.items()]
    seeds = {m: [mean(values) for values in zip(*(by[m] for by in results.values()))] for m in methods}
    print(title + "\n")
    print_columns(["task", *methods], rows + [["mean", *(f"{mean(seeds[m]):.2f}" for m in methods)]])
    print_note("Mean with 95% interval over seeds: " +
               ", ".join(f"{m} {interval(seeds[m])}" for m in methods) + ".")
    pairs = list(combinations(sorted(methods, key=lambda m: -mean(seeds[m])), 2))
    ps = holm([sign_flip_p([mean(by[a]) - mean(by[b]) for by in results.values()]) for a, b in pairs])
    better = [f"{a} above {b} (p {p:.3f})" for (a, b), p in zip(pairs, ps) if p < 0.05]
    print_note(note + " Significant: " + ("; ".join(better) or "nothing") + ".\n")
    print()


edges, ranked = {}, {}
for name, folders in runs.items():
    task = name.split("task=")[1].split(",")[0]
    for run in folders:
        rows = study.headlab("edges", run, "--examples", study.pick(32, 4))["relations"]
        for score in {row["score"]: 0 for relation in rows for row in relation["scores"]}:
            areas = [row["area"]["mean"] for r in rows for row in r["scores"] if row["score"] == score]
            edges.setdefault(task, {}).setdefault(score, []).append(mean(areas))
        truth, scores = head_scores(run)
        for method, values in scores.items():
            ranked.setdefault(task, {}).setdefault(method, []).append(spearman(values, truth))
TESTS = "Pairs are compared over tasks by flipping signs, Holm-corrected over all pairs."
compare("Edges: area under the ROC curve (0.5 is chance), mean over relations", TESTS, edges)
compare("Heads: rank correlation with the best subsets (0 is chance)", TESTS, ranked)
study.finish()
