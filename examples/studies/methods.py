"""Which method finds the truth? Methods of attribution judged where the truth is known, in the
spirit of InterpBench (Gupta et al. 2024). Edges (query, key): how well a score ranks the task's
ground-truth edges (`edges`). Heads: how well a method ranks the heads of the best subsets of each
size on held-out examples, which are known because all subsets are tried (`curve`). Every method
that ranks heads gets as many examples. The floor is a random order. The ceiling is that of the best
subsets on other examples: on those of training, on which the pruning methods choose. The tests
compare tasks, not seeds: they say nothing about tasks other than these ten."""
from statistics import mean

from study import Study, interval, print_comparison, print_note, spearman

study = Study("methods", "Which method finds the truth?", seeds=10, minutes=30, small_seeds=2)
EXAMPLES = study.pick(128, 16)
FEW = ("--examples", EXAMPLES, "--judged", EXAMPLES)
ONE, TWO = "relations,sort,duplicate,histogram,patches", "induction,copy,reverse,recall,brackets"
ONE, TWO = study.pick(ONE, "relations,sort"), study.pick(TWO, "recall,copy")
runs = study.train("one", "--task", ONE, "--layers", 1, "--heads", study.pick(8, 4))
runs |= study.train("two", "--task", TWO, "--layers", 2, "--heads", study.pick(4, 2))
METHODS = ("--methods", "importance,ablation,greedy,l0,random", "--draws", 1, "--gate-steps",
           study.pick(200, 5))


FLOOR, CEILING = "Floor (random order)", "Ceiling (best subsets on other examples)"


def times_kept(method, heads):
    """Of each head, the number of sizes between none and all at which a method keeps it."""
    return [sum([*head] in point["heads"] for point in method["points"][1:-1]) for head in heads]


def times_in_best(subsets):
    """Of each head, the number of sizes between none and all whose best subset has it. Bit h of the
    place of a loss tells whether head h is kept."""
    losses, heads = subsets["losses"], range(len(subsets["heads"]))
    best = [min((mask for mask in range(len(losses)) if mask.bit_count() == size),
                key=losses.__getitem__) for size in heads if size > 0]
    return [sum(mask >> head & 1 for mask in best) for head in heads]


def head_scores(run, seed):
    """The truth, and the scores of every method, in the order of the heads."""
    curve = study.headlab("curve", run, *FEW, *METHODS, "--seed", seed)["curves"][0]
    best = study.headlab("curve", run, *FEW, "--methods", "exhaustive")["curves"][0]
    heads = [tuple(head) for head in best["subsets"]["heads"]]
    by = {method["method"]: times_kept(method, heads) for method in curve["methods"]}
    patch = study.headlab("patch", run, "--examples", EXAMPLES)
    restored = {(h["layer"], h["head"]): h["restored"] for h in patch["heads"]}
    guess = {tuple(n["of"]): n["estimate"] for n in patch["nodes"]
             if n["node"] == "output" and n["direction"] == "restore"}
    found = study.headlab("heads", run, "--examples", EXAMPLES)["heads"]
    lift = {(h["layer"], h["head"]): max(s["lift"] for s in h["scores"].values()) for h in found}
    scores = {"attention": [lift[h] for h in heads], "patching": [restored[h] for h in heads],
              "attribution": [guess[h] for h in heads], "importance": by["importance"],
              "gates": by["l0"], "ablation": by["ablation"], "greedy": by["greedy"],
              FLOOR: by["random"], CEILING: times_kept(best["methods"][0], heads)}
    return times_in_best(best["subsets"]), scores


def print_limits(ranked):
    """Prints the floor and the ceiling, which are no methods, and takes them out of the results."""
    for limit in (FLOOR, CEILING):
        by = {task: methods.pop(limit) for task, methods in ranked.items()}
        seeds = [mean(values) for values in zip(*by.values())]
        tasks = ", ".join(f"{task} {mean(values):.2f}" for task, values in by.items())
        print_note(f"{limit}: {interval(seeds)} over seeds; {tasks}.")


edges, ranked = {}, {}
for name, folders in runs.items():
    task = name.split("task=")[1].split(",")[0]
    for seed, run in enumerate(folders):
        rows = study.headlab("edges", run, "--examples", study.pick(32, 4))["relations"]
        for score in [row["score"] for row in rows[0]["scores"]]:
            same = [row for relation in rows for row in relation["scores"] if row["score"] == score]
            by = edges.setdefault(task, {}).setdefault(score.replace("attribution_", "attr. "), [])
            by.append(mean(row["area"]["mean"] for row in same))
        truth, scores = head_scores(run, seed)
        for method, values in scores.items():
            by = ranked.setdefault(task, {}).setdefault(method, [])
            by.append(spearman(values, truth))
print_comparison("Edges: area under the ROC curve (0.5 is chance), mean over relations", edges)
print_limits(ranked)
print()
print_comparison("Heads: rank correlation with the best subsets (0 is chance)", ranked)
study.finish()
