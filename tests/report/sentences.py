"""Computes the sentences of the first screen again, from the files of a run or a sweep.

usage: sentences.py RUN|SWEEP SAID.json [PROGRAM]

SAID.json holds what the page says: {"headline", "live", "drawer": {"layer.head": text}, "rows":
{"layer.head": [{"name", "words"}]}}, the sentences of the card with their names, or of a sweep
{"headline", "detail", "opens": the group with which the page opens}. With PROGRAM, shares of right
answers are those of `PROGRAM eval RUN --without HEADS`. Prints a line for each sentence that is not
true, and then how many numbers were computed again; the exit status is 1 if any is not true. Only the
standard library is used, and no code of the page.
"""

import json
import math
import pathlib
import re
import subprocess
import sys

recomputed = 0


def read(run, name):
    file = run / name
    return json.loads(file.read_text()) if file.exists() else None


def name_of(pair):
    return f"{pair[0]}.{pair[1]}"


def percent(share):
    """A share as the page writes it."""
    p = 100 * share
    if p >= 99.95:
        return "100 %"
    if p > 95 or 0.05 <= p < 9.95:
        return f"{p:.1f}".removesuffix(".0") + " %"
    return f"{math.floor(p + 0.5)} %"


def expect(wanted, words, problems, about):
    """Counts a number that is computed again, and complains if the words lack it."""
    global recomputed
    recomputed += 1
    if wanted not in words.replace("\u00a0", " "):
        problems.append(f"{about}: computed is {wanted}, said is {words}")


def share_right(program, run, off, known):
    """The share of right answers without these heads, by the program; None without one."""
    key = ",".join(sorted(off))
    if program and key not in known:
        words = [program, "eval", str(run), "--json", "--examples", str(known["examples"])]
        words += ["--without", key] if key else []
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        known[key] = json.loads(done.stdout)["accuracy"]
    return known.get(key)


def roles_of(heads, head):
    """The roles of a head: {relation: owner, shares or also}."""
    row = next(h for h in heads["heads"] if name_of((h["layer"], h["head"])) == head)
    return {name: score["role"] for name, score in row["scores"].items() if score and score["role"]}


def main_heads(heads):
    """The heads that answer a question, alone or with others."""
    every = [name_of((h["layer"], h["head"])) for h in heads["heads"]]
    return [h for h in every if {"owner", "shares"} & set(roles_of(heads, h).values())]


def check_headline(run, said, problems):
    words = said["headline"]
    heads = read(run, "heads.json")
    count = re.match(r"(\d+) heads?", words)
    if not count:
        problems.append(f"the headline names no number of heads: {words}")
        return
    if not heads:
        return
    expect(f"{len(heads['heads'])} head", words, problems, "headline")
    main = main_heads(heads)
    claims = re.search(r"; (\d+) (?:does|do|has|have)\b", words)
    if claims:
        expect(f"; {len(main)} ", words, problems, "headline")
    if "no head finds" in words and main:
        problems.append(f"{words}: {main} answer questions")
    if "share one question" in words and not heads["divisions"]:
        problems.append(f"{words}: nothing is shared")
    if ("Try" in words) != said["live"] and not re.search("control|trained|tested|scored", words):
        problems.append(f"{words}: the model {'runs' if said['live'] else 'does not run'}")


def relation_named(heads, spoken):
    name = re.sub(r"^(\d+) back$", r"back\1", spoken)
    names = [row["name"] for row in heads["relations"]]
    return next((n for n in names if n in (name, name.replace(" ", "_")) or
                 (name == "same class" and n == "same")), None)


def check_attends(head, words, heads, problems):
    """The share of attention and the role are those of heads.json."""
    said = re.search(r"([\d.]+) of its attention is on the keys of “(.+?)”, baseline ([\d.]+)", words)
    if not said:
        return
    name = relation_named(heads, said[2])
    row = next(h for h in heads["heads"] if name_of((h["layer"], h["head"])) == head)
    score = row["scores"][name]
    for number, key in ((said[1], "mass"), (said[3], "baseline")):
        global recomputed
        recomputed += 1
        if abs(float(number.rstrip(".")) - score[key]) > 0.006:
            problems.append(f"{head}: {key} of {name} is {score[key]}, said is {words}")
    role = score["role"]
    if ("It is the owner." in words) != (role == "owner") or ("Shared with" in words) != (role == "shares"):
        problems.append(f"{head}: its role in {name} is {role}, said is {words}")
    owner = re.search(r"Head ([\d.]+\d) is the owner", words)
    if owner and roles_of(heads, owner[1]).get(name) != "owner":
        problems.append(f"{head}: {owner[1]} is no owner of {name}")


def check_needed(run, head, rows, program, known, problems):
    """The shares of right answers are those of `eval`, and the first word follows its rule."""
    words = rows[2]["words"].replace("\u00a0", " ")
    if "of all answers are right" not in words or not program:
        return
    whole, alone = (share_right(program, run, off, known) for off in ([], [head]))
    expect(f"Without it {percent(alone)} of", words, problems, head)
    expect(f"before {percent(whole)}", words, problems, head)
    drop = whole - alone
    wanted = ["yes"] if drop >= 0.1 else ["little"] if drop >= 0.005 else ["not-alone", "no"]
    if rows[2]["name"] not in wanted:
        problems.append(f"{head}: the drop is {drop}, said is {words}")
    both = re.search(r"(?:Without ([\d.]+\d) too: |([\d.]+\d) does the same: without both )", rows[3]["words"])
    if both:
        mate = both[1] or both[2]
        expect(percent(share_right(program, run, [head, mate], known)), rows[3]["words"], problems, head)


def lines_of(run, name):
    file = run / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def check_emerged(run, head, row, heads, problems):
    """The first tracked step at which the lift is at least half of the last."""
    step = re.match(r"Step (\d+) of (\d+)", row["words"])
    if not step:
        return
    roles = roles_of(heads, head)
    spoken = re.search("“(.+?)”", row["words"])[1]
    best = relation_named(heads, spoken)
    if best not in roles:
        problems.append(f"{head}: it has no role in {best}, said is {row['words']}")
        return
    lines = lines_of(run, "heads.jsonl")
    at = [name_of((h["layer"], h["head"])) for h in lines[-1]["heads"]].index(head)
    lifts = [line["heads"][at]["lift"][best] for line in lines]
    first = next(line["step"] for line, lift in zip(lines, lifts) if (lift or 0) >= lifts[-1] / 2)
    expect(f"Step {first} of {lines[-1]['step']}", row["words"], problems, head)


def check_survives(head, row, curve, count, problems):
    """The fewest heads with at most one point fewer right answers, by curve.json."""
    methods = {method["method"]: method["points"] for method in (curve or {}).get("methods", [])}
    points = methods.get("exhaustive") or methods.get("greedy")
    if not points:
        if row["name"] not in ("not-measured", "untrained", "only"):
            problems.append(f"{head}: nothing was measured, said is {row['words']}")
        return
    full = curve["full"]["accuracy"]
    good = [p for p in points if 0 < p["kept"] < count and p["accuracy"] >= full - 0.01]
    if row["name"] == "all":
        most = max((p for p in points if 0 < p["kept"] < count), key=lambda p: p["kept"])
        expect(f"{percent(most['accuracy'])} are right", row["words"], problems, head)
        if good:
            problems.append(f"{head}: {good[0]['kept']} are enough, said is {row['words']}")
    if row["name"] in ("kept", "gone"):
        fewest = min(good, key=lambda p: p["kept"])
        if fewest["kept"] > 1:
            expect(f"{fewest['kept']} ", row["words"], problems, head)
        if (row["name"] == "kept") != (head in map(name_of, fewest["heads"])):
            problems.append(f"{head}: kept are {fewest['heads']}, said is {row['words']}")


def check_rows(run, said, program, problems):
    heads, curve = read(run, "heads.json"), read(run, "curve.json")
    known = {"examples": said["examples"]}
    for head, rows in said["rows"].items():
        for row in rows:
            if row["words"].strip() not in said["drawer"][head]:
                problems.append(f"{head}: {row['words']} is not in the card")
        if heads:
            check_attends(head, rows[0]["words"] + rows[1]["words"], heads, problems)
            check_emerged(run, head, rows[4], heads, problems)
        check_needed(run, head, rows, program, known, problems)
        check_survives(head, rows[5], curve, len(said["rows"]), problems)


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


def family_of(name, setting="heads"):
    """The name of a group without one setting, such as its number of heads."""
    return ",".join(part for part in name.split(",") if not part.startswith(setting + "="))


def check_setting(groups, one, said, problems):
    """A conclusion about another setting: both groups that are compared, and the ratio of their losses."""
    members = [g for g in groups.values() if family_of(g["name"], one["setting"]) == one["family"]]
    best, following = sorted(members, key=mean_loss)[:2]
    if [best["name"], following["name"]] != [one["best"], one["next"]]:
        problems.append(f"{one}: {best['name']} is best, then {following['name']}")
    if one["verdict"] not in said["headline"] or one["reason"] not in said["detail"]:
        problems.append(f"{said} is not what the sweep concludes: {one}")
    ratio = mean_loss(following) / mean_loss(best)
    words = re.search(r"the loss is ([\d.e]+) times that with", one["reason"])
    if not words or abs(float(words[1]) - ratio) > 0.006 * ratio:
        problems.append(f"{one['reason']}: the ratio is {ratio}")


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
    settings = [] if comparisons else sweep.get("settings") or []
    for one in settings:
        check_setting(every, one, said, problems)
    if not comparison:
        is_named = bool(settings) or lowest in said["headline"]
        if not is_named or said["opens"] != lowest:
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


def main(run, said, program=None):
    problems = []
    if read(run, "sweep.json"):
        check_sweep(read(run, "sweep.json"), said, problems)
    else:
        check_headline(run, said, problems)
        check_rows(run, said, program, problems)
    for problem in problems:
        print(problem)
    print(f"computed again: {recomputed}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text()), *sys.argv[3:]))
