"""Computes the sentences of all views of a page again, from the files of a run and the program.

usage: walked_sentences.py RUN SAID.json PROGRAM PAGE_SOURCES

SAID.json: {"run": its name, "examples", "targets": those of all held-out examples, one after the
other, "kinds": their number at a position, "world": the worked example of the lessons, "views":
[{"view", "head", "example", "file", "sentences"}]}. Each sentence with a number must match a rule: a pattern of words
and a function that computes its numbers again. A sentence that stands as it is in the sources of the
page, or in a file of the run, is no claim of the page. Prints each sentence that no rule knows, each
number that is another one, and how many were computed. No code of the page is used.
"""

import collections
import html
import json
import math
import pathlib
import re
import sys

import sentences as first
from read_run import Run, agrees


NUMBER = r"([\d.,e−-]*\d)"


def share(number):
    """The number of "97.4 %", as the page rounds it."""
    return float(first.percent(number).split()[0])


def below(sign, number, value):
    """A number as it is written and its value; after "<" whether the value is below it."""
    return ("1", value < float(number)) if sign else (number, value)


def row_of(run, at, query):
    return run.pattern(at)["pattern"][query]


def product(m, run, at):
    """A dot product, its scaling, and the weight that the softmax makes of it at some query."""
    key, dot, width, scaled, _, weight = m.groups()
    column = [row[int(key)] for row in run.pattern(at)["pattern"]]
    nearest = min(column, key=lambda value: abs(value - float(weight)))
    exact = float(dot.replace("−", "-")) / math.sqrt(int(width))
    is_scaled = abs(float(scaled.replace("−", "-")) - exact) <= 1e-2 * max(1, abs(exact))
    return [(width, width_of(run)), (weight, nearest), ("1", is_scaled)]


def width_of(run):
    model = run.file("config.json")
    return model["d_head"] or model["d_model"] // int(str(heads_setting(model)).split(",")[0])


def heads_setting(model):
    heads = model["heads"]
    return heads[0] if isinstance(heads, list) else heads


def attention(m, run, at):
    query, percent, key = int(m[1]), m[2], int(m[3])
    return [(percent, 100 * row_of(run, at, query)[key])]


def outlined(m, run, at):
    """The queries of a relation that give at least half of their attention to right keys."""
    name = run.relation(m[1])
    truth = next(t["keys"] for t in run.pattern(at)["truth"] if t["relation"] == name)
    rows = run.pattern(at)["pattern"]
    asking = [(row, keys) for row, keys in zip(rows, truth) if keys]
    hits = [1 for row, keys in asking if sum(row[key] for key in keys) >= 0.5]
    return [(m[2], len(hits)), (m[3], len(asking))]


def sharing(run, spoken):
    name = run.relation(spoken)
    return sum(1 for h in run.heads["heads"]
               if (h["scores"].get(name) or {"role": ""})["role"] == "shares")


def conclusions(m, run, at):
    """How many heads answer a question, who owns what, and how much of it heads share."""
    names = {tuple(r["owner"]) for r in run.heads["relations"] if r["owner"]}
    pairs = [(m[1], len(names))] * bool(m[1])
    for head, spoken in re.findall(r"(\d+\.\d+) owns ([\w ]+?)(?: \(|;|\.$)", m[0]):
        row = next(r for r in run.heads["relations"] if r["name"] == run.relation(spoken))
        pairs.append(("1", head == first.name_of(row["owner"])))
    shares = rf" share ([\w ]+?)(?:, by [\w ]+ \({NUMBER} of it\))?, together {NUMBER}"
    for spoken, explained, together in re.findall(shares, m[0]):
        one = next(d for d in run.heads["divisions"] if d["relation"] == run.relation(spoken))
        pairs += [(explained, one["explained"])] * bool(explained) + [(together, one["together"])]
    return pairs


def guess(run):
    """The share of right answers if each target got its most frequent answer."""
    kinds, targets = run.said["kinds"], run.said["targets"]
    counts = [collections.Counter(t for t in targets[k::kinds] if t >= 0) for k in range(kinds)]
    return sum(c.most_common(1)[0][1] for c in counts if c) / sum(sum(c.values()) for c in counts)


def found_classes(m, run, at):
    division = next(d for d in run.heads["divisions"] if len(d["classes"]) == int(m[2]))
    names = [first.name_of(pair) for pair in division["heads"]]
    best = collections.Counter(names[c["mass"].index(max(c["mass"]))] for c in division["classes"])
    return [(count, best[head]) for head, count in re.findall(r"([\d.]+) \([●■]\) finds (\d+)", m[1])]


def emergence(m, run, at):
    lines = run.lines("heads.jsonl")
    found = []
    for spoken, step in re.findall(r"([\w ]+?) at step (\d+)", m[1]):
        name = run.relation(spoken.strip())
        pair = lines[-1]["best"][name]
        lifts = [next(h["lift"][name] for h in line["heads"] if [h["layer"], h["head"]] == pair)
                 for line in lines]
        found.append((step, next(line["step"] for line, lift in zip(lines, lifts)
                                 if (lift or 0) >= lifts[-1] / 2)))
    return found


def no_emergence(m, run, at):
    """The largest last lift of a relation's best head, which is below the limit of a role."""
    line = run.lines("heads.jsonl")[-1]
    lifts = [h["lift"][name] for name, pair in line["best"].items() for h in line["heads"]
             if [h["layer"], h["head"]] == pair and h["lift"][name] is not None]
    return [("1", max(lifts) < float(m[1]))]


def half_lift(m, run, at):
    problems = []
    first.check_emerged(run.folder, at["head"], {"words": m[0]}, run.heads, problems)
    return [(m[1], math.nan if problems else int(m[1]))]


def survives(m, run, at):
    """The fewest heads with at most one point fewer right answers."""
    curve = run.file("curve.json")
    methods = {method["method"]: method["points"] for method in curve["methods"]}
    points = methods.get("exhaustive") or methods["greedy"]
    smaller = [p for p in points if 0 < p["kept"] < curve["heads"]]
    good = [p for p in smaller if p["accuracy"] >= curve["full"]["accuracy"] - 0.01]
    if "unnoticed" in m[0]:
        most = max(smaller, key=lambda p: p["kept"])
        return [(m[1], share(most["accuracy"]))]
    return [(m[1], min(p["kept"] for p in good))]


def losses_kept(m, run, at):
    methods = {method["method"]: method["points"] for method in run.file("curve.json")["methods"]}
    kept = int(m[1])
    return [(loss, next(p["loss"] for p in methods[name] if p["kept"] == kept))
            for name, loss in re.findall(r"(\w+) ([\d.e−-]*\d)", m[2])]


def worst(m, run, at):
    parts = run.evaluation()["targets"]
    most = max(parts, key=lambda part: part["loss"])
    return [(m[1], most["loss"]), (m[2], 100 * most["accuracy"])]


def diversity(m, run, at):
    """Mean distances of patterns, by the number of heads of the run and of its parent."""
    found = {}
    for one in run.family():
        rows = (one.heads or {"distances": []})["distances"]
        pairs = [v for i, row in enumerate(rows) for v in row[i + 1:] if v is not None]
        found[len(rows)] = sum(pairs) / (len(pairs) or 1)
    return [(value, found[int(heads)]) for heads, value in re.findall(rf"(\d+): {NUMBER}", m[1])]


def diversity_over_seeds(m, run, at):
    """Means and intervals of the groups of a sweep."""
    found = {str(g["model"]["heads"]): g for g in run.file("sweep.json")["groups"]}
    interval = rf"(\d+): {NUMBER} \({NUMBER} to {NUMBER}\)"
    pairs = [(m[2], len(next(iter(found.values()))["seeds"]))]
    for heads, *said in re.findall(interval, m[1]):
        spread = found[heads]["diversity"]
        pairs += zip(said, (spread["mean"], spread["low"], spread["high"]))
    return pairs


def owned_by_size(m, run, at):
    found = {len(one.heads["heads"]): sum(r["role"] == "owner" for r in one.heads["relations"])
             for one in run.family() if one.heads}
    return [(n, found[int(heads)]) for n, heads in re.findall(r"(\d+) with (\d+)", m[1])]


def rows_of_world(run):
    """The weights of the worked example of the lessons, head by head, row by row."""
    world = run.said["world"]
    wide = len(world["q"][0]) // world["heads"]
    for h in range(world["heads"]):
        columns = slice(h * wide, (h + 1) * wide)
        rows = []
        for q in world["q"]:
            scores = [sum(a * b for a, b in zip(q[columns], k[columns])) / math.sqrt(wide)
                      for k in world["k"]]
            total = sum(math.exp(score) for score in scores)
            rows.append([math.exp(score) / total for score in scores])
        yield rows


def distance(p, r):
    """The Jensen-Shannon distance of two rows."""
    def to_middle(a):
        return sum(x * math.log(2 * x / (x + y)) for x, y in a if x > 0)
    return math.sqrt(max(0, (to_middle(zip(p, r)) + to_middle(zip(r, p))) / 2))


def uniform_rows(m, run, at):
    heads = list(rows_of_world(run))
    rows = [row for head in heads for row in head]
    apart = [distance(p, r) for i, head in enumerate(heads) for other in heads[i + 1:]
             for p, r in zip(head, other)]
    return [(m[1], sum(max(row) - min(row) < 1e-9 for row in rows)), (m[2], len(rows)),
            (m[3], sum(apart) / len(apart))]


def seeds_with_owner(m, run, at):
    groups = run.file("sweep.json")["groups"]
    group = next(g for g in groups if [r["owned"] for r in g["relations"]] ==
                 [int(n) for n in re.findall(r"in (\d+)", m[2])])
    return [(m[1], len(group["seeds"]))]


RELATION = r"[“`]?([\w ]+?)[”`]?"
RULES = [
    (rf"Over {NUMBER} examples\.", lambda m, run, at: [(m[1], reported(run, at))]),
    (rf"{NUMBER} heads?, loss {NUMBER}, {NUMBER} % right\.", lambda m, run, at: [
        (m[1], len(run.heads["heads"])), (m[2], run.trained()["loss"]),
        (m[3], 100 * run.trained()["accuracy"])]),
    (r"(?:(\d+) of them do most of the work: )?\d+\.\d+.* (?:owns|share) .*\.", conclusions),
    (rf"Without it {NUMBER} % of all answers are right, before {NUMBER} %\.", lambda m, run, at: [
        (m[1], share(run.evaluation(at["head"])["accuracy"])),
        (m[2], share(run.trained()["accuracy"]))]),
    (rf"(?:Without )?(\d+\.\d+)(?: too:| does the same: without both) {NUMBER} %\.",
     lambda m, run, at: [(m[2], share(run.evaluation(at["head"], m[1])["accuracy"]))]),
    (rf"(?:.* )?{NUMBER} % of all answers are right\.", lambda m, run, at: [
        (m[1], share(run.trained()["accuracy"]))]),
    (rf"(\d+) heads?, not trained yet: {NUMBER} % right is guessing\.", lambda m, run, at: [
        (m[1], len(run.heads["heads"])), (m[2], share(run.trained()["accuracy"]))]),
    (rf"(\d+) heads?, {NUMBER} % right\.", lambda m, run, at: [
        (m[1], len(run.heads["heads"])), (m[2], share(run.trained()["accuracy"]))]),
    (rf"(\d+) heads?; (\d+) share {RELATION}\..*", lambda m, run, at: [
        (m[1], len(run.heads["heads"])), (m[2], sharing(run, m[3]))]),
    (r"(\d+) heads?; (\d+) (?:does|do|has|have|share) .*\.", lambda m, run, at: [
        (m[1], len(run.heads["heads"])), (m[2], len(first.main_heads(run.heads)))]),
    (r"(\d+) heads?(?:;|,| share).*\.", lambda m, run, at: [(m[1], len(run.heads["heads"]))]),
    (rf"Its heads have no role to show: .* right in {NUMBER} %\.", lambda m, run, at: [
        (m[1], share(guess(run)))]),
    (r"(.* finds .*) of (\d+) letters\.", found_classes),
    (rf"(< )?{NUMBER} of its attention is on the keys of “(.+?)”, baseline (< )?{NUMBER}\.",
     lambda m, run, at: [below(m[1], m[2], run.score(at["head"], m[3])["mass"]),
                         below(m[4], m[5], run.score(at["head"], m[3])["baseline"])]),
    (r"Step (\d+) of \d+: half of its final attention on .* was there\.", half_lift),
    (r".* at step (\d+), the first that was tracked\.", lambda m, run, at: [
        (m[1], run.lines("heads.jsonl")[0]["step"])]),
    (rf"No head can go unnoticed: without the one removed first, {NUMBER} % are right\.", survives),
    (r"(?:Yes: it is one of the|No:) (\d+) (?:that are|others are) enough\.", survives),
    (rf"Key (\d+) .+: the products add up to {NUMBER}; divided by √(\d+) that is {NUMBER}; \w+ over "
     rf"(\d+) keys makes it {NUMBER}\.", product),
    (rf"Query (\d+) .+ gives {NUMBER} % of its attention to key (\d+) .+\.", attention),
    (rf"{RELATION}: (\d+) of (\d+) right keys found .*\.", outlined),
    (r"Triangles are queries, dots keys, in one plane of the (\d+) dimensions: .*", lambda m, run, at: [
        (m[1], width_of(run))]),
    (rf"Worst: .+, {NUMBER} nats, {NUMBER} % right\.", worst),
    (r"At each token, the model names (.*)\.", lambda m, run, at: [
        (n, int(r["name"][4:])) for n, r in zip(
            re.findall(r"\d+", m[1]),
            [r for r in run.heads["relations"] if r["name"].startswith("back")])]),
    (rf"At the end: held out {NUMBER}, training {NUMBER}; .*", lambda m, run, at: [
        (m[1], run.lines("metrics.jsonl")[-1]["loss"]),
        (m[2], run.lines("metrics.jsonl")[-1]["train_loss"])]),
    (r"Lift of the best head .*\(dashed lines\): (.*)\.", emergence),
    (rf"No role emerges: no head has a lift of {NUMBER} at the last step\.", no_emergence),
    (r"Each set holds (\d+) of 512 examples\.", lambda m, run, at: [(m[1], run.said["examples"])]),
    (rf"With (\d+) heads?: (.*)\.", losses_kept),
    (r"Diversity for each number of heads: (.*) \(one model .*", diversity),
    (r"Diversity for each number of heads: (.*) \(95 % intervals over (\d+) seeds.*",
     diversity_over_seeds),
    (rf"No key gets more than {NUMBER}: A and B can never get more than .5 each, .*",
     lambda m, run, at: [("1", float(m[1]) <= 0.5)]),
    (r"Not scored yet: (\d+) of (\d+) models\.", lambda m, run, at: [
        (m[1], sum(not one.heads for one in run.family())), (m[2], len(run.family()))]),
    (r"Relations that are owned, of \d+: (.*) heads\.", owned_by_size),
    (r"(\d+): a query of this task must attend to (\d+) tokens? .*", lambda m, run, at: [
        (m[2], len(run.heads["relations"])), (m[1], len(run.heads["relations"]))]),
    (r"d_k = (\d+)\.", lambda m, run, at: [
        (m[1], len(run.said["world"]["q"][0]) // run.said["world"]["heads"])]),
    (rf"(\d+) of (\d+) rows are uniform.*; diversity {NUMBER}\.", uniform_rows),
    (rf"Over all tokens the output changed by {NUMBER} \(L2\)\.", lambda m, run, at: [(m[1], 0)]),
    (rf"Head \d+ ranks first with .* on {NUMBER} % of shuffled truths \(p = {NUMBER}\): .*",
     lambda m, run, at: [(m[1], 100 * float(m[2]))]),
    (r"Seeds in which a relation has a head of its own, of (\d+): (.*)\.", seeds_with_owner),
    (r"One file, written by headlab (.*); nothing .*", lambda m, run, at: [
        ("1", m[1] == (run.heads or run.file("sweep.json"))["headlab"])]),
]


def reported(run, at):
    """The examples of the result that is open, or of the scores."""
    report = run.file(f"{at.get('file') or 'heads'}.json") or run.heads
    return report["examples"]


def plain(words):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", words)))


def constant_words(sources):
    """The texts of the page's sources, with literals that are joined as one."""
    texts = [path.read_text() for path in sorted(sources.rglob("*")) if path.suffix in (".js", ".html")]
    return plain(re.sub(r"['`] \+\s+['`]", "", "\n".join(texts)))


def without_names(words, run):
    """The words without names of relations, heads and the run, which hold digits but no numbers."""
    heads = run.heads
    words = words.replace(run.said["run"], "")
    for relation in heads["relations"]:
        words = words.replace(re.sub(r"^back(\d+)$", r"\1 back", relation["name"]), "")
    for head in heads["heads"]:
        name = re.escape(first.name_of((head["layer"], head["head"])))
        words = re.sub(rf"(?<![\d.]){name}(?![\d%]|\.\d| of | %)", "", words)
    return words


def check(run, at, words, constants, problems):
    """Computes the numbers of a sentence again; returns how many."""
    for rule, compute in RULES:
        m = re.fullmatch(rule, words)
        if m:
            pairs = compute(m, run, at)
            for said, value in pairs:
                if not agrees(str(said), float(value)):
                    problems.append(f"{at['view']}: computed is {value}, said is {words}")
            return len(pairs)
    folders = (run.folder, run.folder.parent)
    files = "".join(path.read_text() for folder in folders for path in folder.glob("*.json"))
    if any(text in place for text in (words, words.rstrip(".")) for place in (constants, files)):
        return 0
    if re.search(r"\d", without_names(words, run)):
        problems.append(f"{at['view']}: no rule computes: {words}")
    return 0


def main(folder, said, program, sources):
    run, problems, count, walked = Run(folder, said, program), [], 0, 0
    constants = constant_words(pathlib.Path(sources))
    for at in said["views"]:
        for words in at["sentences"]:
            walked += 1
            count += check(run, at, words.replace("\u00a0", " "), constants, problems)
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"sentences: {walked}, computed again: {count}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text()), *sys.argv[3:]))
