"""Computes the conditions of the first screen's sentences again, from the files of a run or a sweep.

usage: sentences.py RUN|SWEEP SAID.json

SAID.json holds what the page says: {"headline", "live", "drawer": {"layer.head": text}}, or of a sweep
{"headline", "detail", "opens": the group with which the page opens}. Prints a line
for each sentence that is not true; the exit status is 1 if there is any. Only the standard library is
used, and no code of the page.
"""

import json
import math
import pathlib
import re
import sys


def read(run, name):
    file = run / name
    return json.loads(file.read_text()) if file.exists() else None


def name_of(pair):
    return f"{pair[0]}.{pair[1]}"


def owners_of(heads):
    """The heads that own a relation, each once, in their order."""
    found = {tuple(row["owner"]) for row in heads["relations"] if row.get("owner")}
    return [name_of(pair) for pair in sorted(found)]


def loss_with(subsets, kept):
    """The loss with exactly these heads on."""
    bits = sum(2**i for i, pair in enumerate(subsets["heads"]) if name_of(pair) in kept)
    return subsets["losses"][bits]


def owners_suffice(curve, owners):
    if not curve or not curve.get("subsets") or not owners:
        return False
    subsets = curve["subsets"]
    every = [name_of(pair) for pair in subsets["heads"]]
    whole, alone, none = (loss_with(subsets, kept) for kept in (every, owners, []))
    return alone - whole <= 0.05 * (none - whole)


def check_headline(run, said, problems):
    words = said["headline"]
    heads = read(run, "heads.json")
    curve = read(run, "curve.json")
    count = re.match(r"(\d+) heads?", words)
    if not count:
        problems.append(f"the headline names no number of heads: {words}")
        return
    owners = owners_of(heads) if heads else []
    if heads and int(count[1]) != len(heads["heads"]):
        problems.append(f"{words}: the run has {len(heads['heads'])} heads")
    claims = re.search(r"; (\d+|none) (do|does|own|owns)\b", words)
    if claims:
        number = 0 if claims[1] == "none" else int(claims[1])
        if number != len(owners):
            problems.append(f"{words}: {len(owners)} heads own a relation")
    suffice = owners_suffice(curve, owners) and len(owners) < int(count[1]) and said["live"]
    if ("the work" in words and "share" not in words) != suffice:
        problems.append(f"{words}: the owners alone {'do' if suffice else 'do not'} suffice")
    if said["live"] != ("Try to break it" in words) and "control" not in words:
        problems.append(f"{words}: the model {'runs' if said['live'] else 'does not run'}")


def number_after(words, before):
    found = re.search(before + r" ([\d.]+(?:e[−-]\d+)?)", words)
    return float(found[1].replace("−", "-").rstrip(".")) if found else None


def check_needed(head, words, curve, problems):
    """Without a head: the loss said is that of curve.json, and "Yes" follows its rule."""
    subsets = curve["subsets"]
    every = [name_of(pair) for pair in subsets["heads"]]
    whole = loss_with(subsets, every)
    alone = loss_with(subsets, [name for name in every if name != head])
    needed = alone - whole >= 0.1 or (alone >= 2 * whole and alone - whole >= 0.01)
    if ("Yes." in words) != needed:
        problems.append(f"{head}: needed is {needed}, said is {words}")
    said = number_after(words, "Without it, the loss is")
    if said is not None and abs(said - alone) > 0.06 * alone:
        problems.append(f"{head}: the loss without it is {alone}, said is {said}")


def check_kept(head, words, curve, problems):
    """The number of heads down to which a head is kept is that of the best sets."""
    methods = {method["method"]: method["points"] for method in curve["methods"]}
    points = methods.get("exhaustive") or methods.get("greedy")
    if not points:
        return
    without = [p["kept"] for p in points if head not in [name_of(pair) for pair in p["heads"]]]
    kept = max(without + [-1]) + 1
    down = re.search(r"Down to (\d+):", words)
    if down and int(down[1]) != kept:
        problems.append(f"{head}: kept down to {kept}, said is {words}")
    if "To the end" in words and kept != 1:
        problems.append(f"{head}: kept down to {kept}, said is {words}")


def check_attends(head, words, heads, problems):
    """The share of attention is the score of the relation that is named."""
    said = re.search(r"([\d.]+) of its attention is on the keys of “(.+?)” \(chance ([\d.]+)\)", words)
    row = next((h for h in heads["heads"] if name_of((h["layer"], h["head"])) == head), None)
    if not said or not row:
        return
    name = re.sub(r"^(\d+) back$", r"back\1", said[2]).replace("same class", "same")
    score = row["scores"].get(name) or row["scores"].get(name.replace(" ", "_"))
    if abs(float(said[1]) - score["mass"]) > 0.006 or abs(float(said[3]) - score["null"]) > 0.006:
        problems.append(f"{head}: {name} has {score['mass']} and {score['null']}, said is {words}")
    owner = re.search(r"Head ([\d.]+\d) is the owner", words)
    relation = next(r for r in heads["relations"] if r["name"] == name.replace(" ", "_"))
    if owner and owner[1] != name_of(relation["owner"] or ("no", "owner")):
        problems.append(f"{head}: {relation['owner']} owns {name}, said is {words}")


def heads_of(group):
    return int(group["model"]["heads"])


def mean_loss(group):
    """The geometric mean of the losses of a group's seeds."""
    return math.exp(sum(math.log(loss) for loss in group["losses"]) / len(group["losses"]))


def conclusion_of(groups, comparison, least):
    """The headline that the comparison of a sweep allows."""
    one, best = (heads_of(groups[comparison[key]]) for key in ("one", "best"))
    most = max(heads_of(group) for group in groups.values())
    enough = comparison["enough"] and heads_of(groups[comparison["enough"]])
    plural = "head" if best == 1 else "heads"
    if best == one:
        return "One head has the lowest loss."
    if enough == one:
        return "One head is enough."
    if enough and enough != best:
        return f"{enough} heads are enough."
    if enough:
        return (f"Loss falls up to {best} {plural}, the most that were tried." if best == most
                else f"Loss falls until {best} {plural} and no further.")
    if comparison["several_win"]:
        return "Several heads beat one; how many are enough is not decided."
    return "too few to decide" if least >= 0.05 else "is not decided by"


def check_ratio(groups, comparison, words, problems):
    """The ratio of the mean losses is that of the losses of all seeds."""
    one, best = groups[comparison["one"]], groups[comparison["best"]]
    ratio = mean_loss(one) / mean_loss(best)
    said = re.search(r"the mean loss is ([\d.e]+) times that with (\d+) head", words)
    if said and (abs(float(said[1]) - ratio) > 0.006 * ratio or int(said[2]) != heads_of(best)):
        problems.append(f"{words}: the ratio is {ratio}, with {heads_of(best)} heads")
    if "less than 1% above" in words and abs(ratio - 1) > 0.006:
        problems.append(f"{words}: the ratio is {ratio}")
    if not said and "1%" not in words and one is not best:
        problems.append(f"{words}: no ratio")


def check_sweep(sweep, said, problems):
    groups = {group["name"]: group for group in sweep["groups"]}
    lowest = min(groups.values(), key=mean_loss)["name"]
    if not sweep.get("comparisons"):
        if lowest not in said["headline"] or said["opens"] != lowest:
            problems.append(f"{said}: {lowest} has the lowest loss")
        return
    [comparison] = sweep["comparisons"]
    if comparison["best"] != lowest:
        problems.append(f"{comparison['best']} is no best group")
    best = heads_of(groups[comparison["best"]])
    tests = sum(heads_of(group) < best for group in groups.values())
    seeds = len(groups[comparison["best"]]["losses"])
    least = min(1, max(1, tests) * 2 ** (1 - seeds))
    wanted = conclusion_of(groups, comparison, least)
    if wanted not in said["headline"]:
        problems.append(f"{said['headline']}: not {wanted}")
    if said["opens"] != (comparison["enough"] or comparison["best"]):
        problems.append(f"opens with {said['opens']}")
    floor = re.search(r"p cannot fall below ([\d.e−-]+) with (\d+) seed", said["detail"])
    if floor and (abs(float(floor[1]) - least) > 0.006 * least or int(floor[2]) != seeds):
        problems.append(f"{said['detail']}: the least p is {least} with {seeds} seeds")
    check_ratio(groups, comparison, said["detail"], problems)


def main(run, said):
    problems = []
    sweep = read(run, "sweep.json")
    if sweep:
        check_sweep(sweep, said, problems)
        for problem in problems:
            print(problem)
        return 1 if problems else 0
    check_headline(run, said, problems)
    heads = read(run, "heads.json")
    curve = read(run, "curve.json")
    for head, words in said["drawer"].items():
        if heads:
            check_attends(head, words, heads, problems)
        if curve and curve.get("subsets"):
            check_needed(head, words, curve, problems)
        if curve:
            check_kept(head, words, curve, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())))
