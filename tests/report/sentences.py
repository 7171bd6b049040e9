"""Computes the conditions of the first screen's sentences again, from the files of a run or a sweep.

usage: sentences.py RUN|SWEEP SAID.json

SAID.json holds what the page says: {"headline", "live", "drawer": {"layer.head": text}, "rows":
{"layer.head": [{"name", "words"}]}}, the sentences of the drawer with their names, or of a sweep
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


def check_attends(head, words, heads, problems):
    """The share of attention is the score of the relation that is named."""
    said = re.search(r"([\d.]+) of its attention is on the keys of “(.+?)” \(baseline ([\d.]+)\)", words)
    row = next((h for h in heads["heads"] if name_of((h["layer"], h["head"])) == head), None)
    if not said or not row:
        return
    name = re.sub(r"^(\d+) back$", r"back\1", said[2]).replace("same class", "same")
    score = row["scores"].get(name) or row["scores"].get(name.replace(" ", "_"))
    if abs(float(said[1]) - score["mass"]) > 0.006 or abs(float(said[3]) - score["baseline"]) > 0.006:
        problems.append(f"{head}: {name} has {score['mass']} and {score['null']}, said is {words}")
    owner = re.search(r"Head ([\d.]+\d) is the owner", words)
    relation = next(r for r in heads["relations"] if r["name"] == name.replace(" ", "_"))
    if owner and owner[1] != name_of(relation["owner"] or ("no", "owner")):
        problems.append(f"{head}: {relation['owner']} owns {name}, said is {words}")


def lines_of(run, name):
    file = run / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def role_of(head, heads):
    """The relation with the largest lift that the head attends to as an owner must, or else the one with
    the largest lift, and whether it does."""
    row = next(h for h in heads["heads"] if name_of((h["layer"], h["head"])) == head)
    owned = [r["name"] for r in heads["relations"] if r.get("owner") and name_of(r["owner"]) == head]
    scores = {name: score for name, score in row["scores"].items() if score and score["queries"] > 0}
    order = sorted(scores, key=lambda name: (name not in owned, -(scores[name]["lift"] or 0)))
    for name in order:
        score = scores[name]
        p = score["p_holm"] if score.get("p_holm") is not None else score.get("p")
        if (score["lift"] or 0) >= 0.3 and p is not None and p < 0.01:
            return name, True
    return (max(scores, key=lambda name: scores[name]["lift"] or 0) if scores else None), False


def attends_rows(head, heads):
    if not heads:
        return ["not-scored", "no-score"]
    best, does = role_of(head, heads)
    if best is None:
        return ["no-truth" if not heads["relations"] else "no-question", "no-score"]
    owner = next(r for r in heads["relations"] if r["name"] == best).get("owner")
    others = [h for h in heads["heads"] if name_of((h["layer"], h["head"])) != head]
    same = [h for h in others if does_relation(h, best)]
    unowned = "several" if same else "no-owner"
    return ["share", "no-role" if not does else "owner" if owner else unowned]


def does_relation(row, name):
    score = row["scores"].get(name)
    if not score or (score["lift"] or 0) < 0.3:
        return False
    p = score["p_holm"] if score.get("p_holm") is not None else score.get("p")
    return p is not None and p < 0.01


def costs_of(run, curve):
    """The rise of the loss without some heads, from the files; None if it was not measured."""
    ablation = read(run, "ablation.json")
    alone = {name_of((h["layer"], h["head"])): h["change"] for h in (ablation or {}).get("heads", [])}

    def cost(off):
        subsets = curve and curve.get("subsets")
        if subsets:
            every = [name_of(pair) for pair in subsets["heads"]]
            return loss_with(subsets, [n for n in every if n not in off]) - loss_with(subsets, every)
        return alone.get(off[0]) if len(off) == 1 else None

    return cost


def pairs_of(run, head, every, cost):
    """For each other head the rise without both, beyond the sum of both, and the verdict."""
    found = {}
    listed = (read(run, "interactions.json") or {}).get("pairs", [])
    for other in every:
        pair = [p for p in listed if {name_of(p["first"]), name_of(p["second"])} == {head, other}]
        pair = next((p for p in pair if p.get("verdict")), pair[0] if pair else None)
        both = cost([head, other])
        if other == head or (both is None and not pair):
            continue
        beyond = pair["joint"] - pair["sum"] if both is None else both - cost([head]) - cost([other])
        found[other] = (beyond, (pair or {}).get("verdict"))
    return found


def needed_rows(run, head, heads, curve):
    cost = costs_of(run, curve)
    if cost([head]) is None:
        return ["not-measured", "alone-unknown"]
    whole = read_loss(run, curve)
    rise = cost([head])
    first = "needed" if rise >= 0.1 or (whole + rise >= 2 * whole and rise >= 0.01) else "hardly"
    every = [name_of((h["layer"], h["head"])) for h in heads["heads"]]
    if len(every) == 1:
        return [first, "alone-unknown"]
    pairs = pairs_of(run, head, every, cost)
    if not pairs:
        return [first, "pairs-unknown"]
    rows = {name_of((h["layer"], h["head"])): h for h in heads["heads"]}
    mine = [r["name"] for r in heads["relations"] if does_relation(rows[head], r["name"])]
    fit = {n: v for n, v in pairs.items() if not mine or any(does_relation(rows[n], m) for m in mine)}
    best = max(fit.values(), key=lambda v: v[0], default=(0, None))
    if best[0] <= 0.01:
        return [first, "no-partner"]
    return [first, "redundant" if best[1] == "redundant" else "partner"]


def read_loss(run, curve):
    """The loss with all heads."""
    if curve and curve.get("subsets"):
        return loss_with(curve["subsets"], [name_of(pair) for pair in curve["subsets"]["heads"]])
    return lines_of(run, "metrics.jsonl")[-1]["loss"]


def emerged_rows(run, head, heads):
    lines = lines_of(run, "heads.jsonl")
    best, does = role_of(head, heads) if heads else (None, False)
    if not lines or not does:
        return ["never" if lines else "not-tracked"]
    at = [name_of((h["layer"], h["head"])) for h in lines[-1]["heads"]].index(head)
    return ["emerged" if best in lines[-1]["heads"][at]["lift"] else "other-name"]


def emergence(run, head, heads):
    """The first tracked step at which the lift is at least half of the last."""
    best, _ = role_of(head, heads)
    lines = lines_of(run, "heads.jsonl")
    at = [name_of((h["layer"], h["head"])) for h in lines[-1]["heads"]].index(head)
    lifts = [line["heads"][at]["lift"][best] for line in lines]
    return next(line["step"] for line, lift in zip(lines, lifts) if lift >= lifts[-1] / 2)


def survives_row(head, curve, count):
    methods = {method["method"]: method["points"] for method in (curve or {}).get("methods", [])}
    points = methods.get("exhaustive") or methods.get("greedy")
    if not points:
        return "not-measured"
    gone = max([p["kept"] for p in points if head not in map(name_of, p["heads"])], default=None)
    kept = min([p["kept"] for p in points if p["kept"] > (-1 if gone is None else gone)] + [count])
    if kept == 1:
        return "to-the-end"
    if gone is None:
        return "not-removed"
    return "first" if gone == count - 1 else "gone" if kept == count else "down"


def check_rows(run, said, problems):
    """The names of the rows of the drawer are those that the files give."""
    heads, curve = read(run, "heads.json"), read(run, "curve.json")
    for head, rows in said["rows"].items():
        wanted = attends_rows(head, heads)
        wanted += needed_rows(run, head, heads, curve) if heads else [rows[2]["name"], rows[3]["name"]]
        wanted += emerged_rows(run, head, heads) + [survives_row(head, curve, len(said["rows"]))]
        names = [row["name"] for row in rows]
        if names != wanted:
            problems.append(f"{head}: the files give {wanted}, said is {rows}")
        for row in rows:
            if row["words"].strip() not in said["drawer"][head]:
                problems.append(f"{head}: {row['words']} is not in the drawer")
        step = re.search(r"Step (\d+)", rows[4]["words"])
        if step and int(step[1]) != emergence(run, head, heads):
            problems.append(f"{head}: {emergence(run, head, heads)} emerges, said is {rows[4]}")


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
    if comparison["guard"] == "guessing":
        return "Train longer: no number of heads beats guessing."
    if best == one:
        return "have the lowest loss." if one > 1 else "One head has the lowest loss."
    if enough == one:
        return "the fewest tried, are enough." if one > 1 else "One head is enough."
    if enough and enough != best:
        return f"{enough} heads are enough."
    if enough:
        return (f"Loss falls up to {best} {plural}, the most that were tried." if best == most
                else f"Loss falls until {best} {plural} and no further.")
    if comparison["several_win"]:
        return "how many are enough is not decided."
    return "the test needs" if least >= 0.05 else "is not decided by"


def check_ratio(groups, comparison, words, problems):
    """The ratio of the mean losses is that of the losses of all seeds."""
    one, best = groups[comparison["one"]], groups[comparison["best"]]
    ratio = mean_loss(one) / mean_loss(best)
    said = re.search(r"the loss is ([\d.e]+) times that with (\d+) head", words)
    if said and (abs(float(said[1]) - ratio) > 0.006 * ratio or int(said[2]) != heads_of(best)):
        problems.append(f"{words}: the ratio is {ratio}, with {heads_of(best)} heads")
    if not said and " fail, " not in words and one is not best:
        problems.append(f"{words}: no ratio")


def family_of(name):
    """The name of a group without its number of heads."""
    return ",".join(part for part in name.split(",") if not part.startswith("heads="))


def check_sweep(sweep, said, problems):
    every = {group["name"]: group for group in sweep["groups"]}
    families = [family_of(name) for name in every]
    several = 1 < len(set(families)) < len(families)
    groups = {name: g for name, g in every.items()
              if not several or family_of(name) == family_of(said["opens"])}
    if several and not said["headline"].startswith(family_of(said["opens"]) + ": "):
        problems.append(f"{said}: the headline does not name the family")
    lowest = min(groups.values(), key=mean_loss)["name"]
    comparisons = sweep.get("comparisons") or []
    comparison = next((c for c in comparisons if c["best"] in groups), None)
    if not comparison:
        if lowest not in said["headline"] or said["opens"] != lowest:
            problems.append(f"{said}: {lowest} has the lowest loss")
        return
    if comparison["best"] != lowest:
        problems.append(f"{comparison['best']} is no best group")
    best = heads_of(groups[comparison["best"]])
    tests = sum(fewer_heads(every, c["best"]) for c in comparisons)
    seeds = len(groups[comparison["best"]]["losses"])
    least = min(1, max(1, tests) * 2 ** (1 - seeds))
    wanted = conclusion_of(groups, comparison, least)
    if wanted not in said["headline"]:
        problems.append(f"{said['headline']}: not {wanted}")
    if said["opens"] != (comparison["enough"] or comparison["best"]):
        problems.append(f"opens with {said['opens']}")
    floor = re.search(r"p cannot fall below ([\d.e−-]+) in (\d+) comp", said["detail"])
    if floor and (abs(float(floor[1]) - least) > 0.006 * least or int(floor[2]) != tests):
        problems.append(f"{said['detail']}: the least p is {least} in {tests} comparisons")
    check_ratio(groups, comparison, said["detail"], problems)


def fewer_heads(groups, best):
    """The number of groups of a family that are compared with its best."""
    family = [g for name, g in groups.items() if family_of(name) == family_of(best)]
    return sum(heads_of(group) < heads_of(groups[best]) for group in family)


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
    check_rows(run, said, problems)
    for head, words in said["drawer"].items():
        if heads:
            check_attends(head, words, heads, problems)
        if curve and curve.get("subsets"):
            check_needed(head, words, curve, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())))
