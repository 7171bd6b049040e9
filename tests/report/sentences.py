"""Computes the conditions of the first screen's sentences again, from the files of a run.

usage: sentences.py RUN SAID.json

SAID.json holds what the page says: {"headline", "live", "drawer": {"layer.head": text}}. Prints a line
for each sentence that is not true; the exit status is 1 if there is any. Only the standard library is
used, and no code of the page.
"""

import json
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


def main(run, said):
    problems = []
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
