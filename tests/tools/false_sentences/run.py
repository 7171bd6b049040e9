#!/usr/bin/env python3
"""Settings in which the program could be made to say false sentences: do its guards refuse them?

    tests/tools/false_sentences/run.py PROGRAM FOLDER [--first SEED] [--seeds N] [CASE...]

Each case trains small models of N fresh seeds in FOLDER (ten; a few minutes on two cores) and reads
the JSON of one command: the conclusion must be absent, or `guard` must name what refused it. The
cases true_* are those in which a conclusion is true and must still be drawn. The exit status is 1 if
a case fails.
"""
import argparse, json, os, shutil, subprocess, sys

TINY = ["--d-model", "16", "--d-ff", "16"]
UNTRAINED = ["--steps", "1", "--lr", "1e-9"]
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
TEXT = "text:file=" + os.path.join(ROOT, "datasets/fables.txt")


class Laboratory:
    def __init__(self, program, folder, seeds):
        self.program, self.folder, self.seeds = os.path.abspath(program), folder, seeds
        self.list = ",".join(str(seed) for seed in seeds)

    def run(self, *args, check=True):
        done = subprocess.run([self.program, *map(str, args), "--json", "--quiet"], cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            if check:
                raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr}")
            return {"error": done.stderr}
        return json.loads(done.stdout)

    def sweep(self, out, *args):
        """The report of a sweep with these seeds."""
        return self.run("sweep", "--out", out, "--seed", self.list, *args)

    def trials(self, out, group):
        return [os.path.join(out, f"{group},seed={seed}") for seed in self.seeds]

    def made(self, out, values, steps=1):
        """A sweep whose trials are hardly trained and have the results of `values` by heads and
        seed, (loss, accuracy): known truth costs no training."""
        heads = ",".join(str(count) for count in values)
        self.sweep(out, "--task", "relations", "--heads", heads, *TINY, "--steps", steps)
        for count, results in values.items():
            for path, (loss, accuracy) in zip(self.trials(out, f"heads={count}"), results):
                name = os.path.join(self.folder, path, "cell.json")
                with open(name) as file:
                    trial = json.load(file)
                trial.update(loss=loss, accuracy=accuracy, at_guessing=False)
                trial.pop("checksum", None)
                with open(name, "w") as file:
                    json.dump(trial, file)

    def compare(self, *args):
        found = self.run("compare", *args, check=False)
        return found.get("comparisons", []) or [{"verdict": found.get("error", ""), "guard": "error"}]


def claims(row, *words):
    """Whether the conclusion of a row has one of these words."""
    return any(word in row["verdict"] for word in words)


def problems_of(rows, *words):
    """The conclusions that are drawn although they are false."""
    return [row["verdict"] for row in rows if claims(row, *words)]


# ---- false sentences, by their number in the list of findings -----------------------------------

def curves_of_other_sizes(lab):
    """1: the same models, their curves over other sizes"""
    for out, sizes in (("some", ["--sizes", "2,4"]), ("all", [])):
        lab.sweep(out, "--task", "relations", "--heads", "4", *TINY, "--steps", "300")
        lab.run("curve", *lab.trials(out, "heads=4"), "--methods", "greedy", *sizes)
    problems = []
    for measure in ("used", "regret"):
        problems += problems_of(lab.compare("some/heads=4:greedy", "all/heads=4:greedy", "--measure",
                                            measure), "lower", "higher", "equal")
    return problems


def fine_tuned_against_not(lab):
    """2: the same models and heads, fine-tuned and not"""
    for out, tune in (("tuned", ["--finetune", "50"]), ("pruned", [])):
        lab.sweep(out, "--task", "relations", "--heads", "4", *TINY, "--steps", "300")
        lab.run("curve", *lab.trials(out, "heads=4"), "--methods", "greedy", "--sizes", "2", *tune)
    rows = lab.compare("tuned/heads=4:greedy@2", "pruned/heads=4:greedy@2")
    return [row["verdict"] for row in rows if "differ in training after removal" not in row["verdict"]]


def other_tasks(lab):
    """3: models of other tasks, or of other lengths"""
    for out, task in (("a", "relations:length=8"), ("b", "relations:length=12"), ("c", "sort")):
        lab.sweep(out, "--task", task, "--heads", "1", *TINY, "--steps", "2")
    problems = []
    for other in ("b", "c"):
        problems += [row["verdict"] for row in lab.compare("a/heads=1", f"{other}/heads=1")
                     if row["guard"] != "arms"]
    return problems


def causes_without_training(lab):
    """4: a cause in models that were never trained"""
    problems = []
    for task in ("relations", "brackets", "recall", "duplicate"):
        lab.sweep(f"u-{task}", "--task", task, *UNTRAINED)
        for path in trials_in(lab, f"u-{task}"):
            rows = lab.run("ablate", path, "--truth-edges", "--examples", "512")["relations"]
            tests = [test for row in rows for test in row["tests"]]
            problems += [f"{path}: {test['verdict']}" for test in tests
                         if test["cause"] or test["verdict"].startswith(("cause", "small"))]
    return problems


def trials_in(lab, out):
    folder = os.path.join(lab.folder, out)
    return [os.path.join(out, name) for name in sorted(os.listdir(folder))
            if os.path.exists(os.path.join(folder, name, "cell.json"))]


def equal_with_failing_seeds(lab):
    """5: an arm that fails in one of ten seeds is no more accurate than the other in the mean"""
    good = [(0.01 * (1 + i % 3), 0.999) for i in range(len(lab.seeds))]
    failing = [(0.011 * (1 + i % 3), 0.999) for i in range(len(lab.seeds))]
    failing[3] = (1.0, 0.6)
    lab.made("failing", {1: failing, 4: good})
    problems = []
    for measure in ("accuracy", "loss"):
        rows = lab.compare("failing/heads=4", "failing/heads=1", "--measure", measure)
        problems += problems_of(rows, "equal")
        problems += [row["verdict"] for row in rows if "fails in" not in row["verdict"]]
    return problems


def sweeps_at_guessing(lab):
    """6: a control that nothing can learn, and models that were never trained"""
    lab.sweep("random", "--task", "random", "--heads", "1,4", *TINY, "--steps", "60")
    report = lab.sweep("untrained", "--task", "relations", "--heads", "1,4", *TINY, *UNTRAINED)
    with open(os.path.join(lab.folder, "random", "sweep.json")) as file:
        comparisons = json.load(file)["comparisons"] + report["comparisons"]
    problems = [c["verdict"] for c in comparisons if c["guard"] != "guessing" or c["enough"]]
    return problems + problems_of(lab.compare("untrained/heads=1", "untrained/heads=4"), "equal")


def curves_of_untrained_models(lab):
    """7: heads used and needed by a model that was never trained"""
    lab.sweep("u-curve", "--task", "relations", "--heads", "4", *TINY, *UNTRAINED)
    problems = []
    for path in lab.trials("u-curve", "heads=4"):
        lab.run("curve", path, "--methods", "greedy,exhaustive")
        stored = read(lab, path, "curve.json")["methods"]
        problems += [f"{path}: used {method['used']}" for method in stored
                     if method["used"] is not None or method["guard"] != "guessing"]
    return problems


def read(lab, path, name):
    with open(os.path.join(lab.folder, path, name)) as file:
        return json.load(file)


def heads_in_part(lab):
    """8: a head that is responsible in part for next to nothing"""
    problems = []
    for name, task, steps in (("text", TEXT, 60), ("random", "random", 40),
                              ("memoryless", "memoryless", 40)):
        lab.sweep(f"p-{name}", "--task", task, *TINY, "--heads", "4", "--steps", steps)
        for path in trials_in(lab, f"p-{name}"):
            for row in read(lab, path, "heads.json")["relations"]:
                lift = (row["best"] or {}).get("lift")
                if "in part" in row["verdict"] and (lift is None or lift < 0.1):
                    problems.append(f"{path}: {row['name']} {row['verdict']} with a lift of {lift}")
    return problems


def p_of_controls(lab):
    """9: p of heads that have nothing to find"""
    problems, counts = [], {}
    for task in ("random", "memoryless"):
        lab.sweep(f"p-{task}", "--task", task, *TINY, "--heads", "4", "--steps", 40)
        for path in trials_in(lab, f"p-{task}"):
            for row in read(lab, path, "heads.json")["relations"]:
                p = (row["best"] or {}).get("p")
                if p is not None:
                    counts.setdefault((task, row["name"]), []).append(p)
    for (task, name), all_p in counts.items():
        few = sum(p < 0.05 for p in all_p)
        if few > 1 + 0.08 * len(all_p):
            problems.append(f"{name} of {task}: p below 0.05 in {few} of {len(all_p)}")
    return problems


def numbers_of_seeds(lab):
    """12: the number of seeds for an effect of 1.5 has a power of 0.8"""
    # A normal effect of 1.5: six seeds are the fewest, and their power is 0.66.
    values = [-0.3, 0.4, 1.1, 1.4, 1.9, 2.2, 2.3, 1.6, 1.5, 2.9]
    scale = [2.718281828 ** (0.1 * x) for x in values[:len(lab.seeds)]]
    lab.made("power", {1: [(0.01 * x, 1.0) for x in scale], 4: [(0.01, 1.0) for _ in scale]})
    row = lab.compare("power/heads=4", "power/heads=1")[0]
    effect, takes = row["effect_size"], row["seeds_to_tell"]
    return [f"{takes} seeds for an effect of {effect}"] if 1.2 < effect < 1.8 and takes <= 6 else []


def sweeps_without_one_head(lab):
    """13: a sweep of 2 and 4 heads compares them; the p of circuits is what 200 draws allow"""
    report = lab.sweep("two-four", "--task", "relations", "--heads", "2,4", *TINY, "--steps", "2")
    problems = [] if report["comparisons"] else ["2 and 4 heads are not compared"]
    lab.sweep("circuits", "--task", "induction", "--steps", "2")
    for path in trials_in(lab, "circuits")[:2]:
        rows = lab.run("circuits", path)["compositions"]
        least = min(row["p_holm"] for row in rows)
        if least < 1 / 201:
            problems.append(f"{path}: p {least}")
    return problems


# ---- true sentences -----------------------------------------------------------------------------

def true_owners(lab):
    """Trained models have owners and causes."""
    lab.sweep("trained", "--task", "relations", "--heads", "4")
    problems = []
    for path in lab.trials("trained", "heads=4"):
        rows = read(lab, path, "heads.json")["relations"]
        if not any(row["owned"] for row in rows):
            problems.append(f"{path}: no owner")
    path = lab.trials("trained", "heads=4")[0]
    rows = lab.run("ablate", path, "--truth-edges", "--examples", "512")["relations"]
    if not any(test["cause"] for row in rows for test in row["tests"]):
        problems.append(f"{path}: no cause")
    return problems


def true_comparisons(lab):
    """Arms that differ are told apart, and arms that do not are equal."""
    good = [(0.01 * (1 + i % 3), 0.999) for i in range(len(lab.seeds))]
    near = [(loss * (1.02 if i % 2 else 0.99), 0.999) for i, (loss, _) in enumerate(good)]
    bad = [(loss * (20 + i), 0.6) for i, (loss, _) in enumerate(good)]
    lab.made("true", {1: bad, 2: near, 4: good})
    rows = lab.compare("true/heads=4", "true/heads=1", "true/heads=2")
    problems = [] if "higher in" in rows[0]["verdict"] else [rows[0]["verdict"]]
    problems += [] if rows[1]["verdict"].startswith("equal") else [rows[1]["verdict"]]
    report = lab.run("sweep", "--out", "true", "--collect")
    enough = report["comparisons"][0]["enough"]
    return problems + ([] if enough else [report["comparisons"][0]["verdict"]])


def true_comparisons_of_named_settings(lab):
    """Arms that differ in a setting too are told apart, and the conclusion names the setting."""
    good = [(0.01 * (1 + i % 3), 0.999) for i in range(len(lab.seeds))]
    worse = [(loss * (1.5 + 0.01 * i), 0.999) for i, (loss, _) in enumerate(good)]
    lab.made("short", {4: worse})
    lab.made("long", {4: good}, steps=2)
    verdict = lab.compare("long/heads=4", "short/heads=4")[0]["verdict"]
    is_drawn = f"higher in {len(lab.seeds)} of {len(lab.seeds)}" in verdict and "steps" in verdict
    return [] if is_drawn else [verdict]


def true_comparisons_with_failing_seeds(lab):
    """An arm that fails in three seeds and is worse in all is worse, counted by seeds."""
    good = [(0.01 * (1 + i % 3), 0.999) for i in range(len(lab.seeds))]
    failing = [(1.0, 0.6) if i < 3 else (loss * 1.3, 0.999) for i, (loss, _) in enumerate(good)]
    lab.made("counted", {1: failing, 4: good})
    verdict = lab.compare("counted/heads=4", "counted/heads=1")[0]["verdict"]
    is_drawn = (f"fails in 3 of {len(lab.seeds)}" in verdict and
                f"higher in {len(lab.seeds)} of {len(lab.seeds)}" in verdict)
    return [] if is_drawn else [verdict]


def true_curves(lab):
    """The number of heads that a trained model uses, over all sizes."""
    lab.sweep("trained", "--task", "relations", "--heads", "4")
    path = lab.trials("trained", "heads=4")[0]
    lab.run("curve", path, "--methods", "greedy")
    method = read(lab, path, "curve.json")["methods"][0]
    return [] if method["used"] and not method["guard"] else [f"used {method['used']}"]


def true_cases_for_every_guard(lab):
    """Every guard has a setting in which a conclusion that asks it is true and still drawn."""
    rows = lab.run("list", "verdicts")["verdicts"]
    asked = {name for row in rows for name in row["guards"]}
    return sorted(asked - set().union(*TRUE.values()))


# The cases of true sentences, and the guards that their conclusions ask.
TRUE = {true_owners: {"guessing", "examples", "size", "control"},
        true_comparisons: {"seeds"},
        true_comparisons_of_named_settings: {"arms"},
        true_comparisons_with_failing_seeds: {"failures"},
        true_curves: {"sizes"}}
CASES = [curves_of_other_sizes, fine_tuned_against_not, other_tasks, causes_without_training,
         equal_with_failing_seeds, sweeps_at_guessing, curves_of_untrained_models, heads_in_part,
         p_of_controls, numbers_of_seeds, sweeps_without_one_head, *TRUE, true_cases_for_every_guard]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--first", type=int, default=20000)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_intermixed_args()
    unknown = set(args.cases) - {case.__name__ for case in CASES}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    failed = 0
    for case in CASES:
        if args.cases and case.__name__ not in args.cases:
            continue
        folder = os.path.join(args.folder, case.__name__)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        problems = case(Laboratory(args.program, folder, range(args.first, args.first + args.seeds)))
        failed += bool(problems)
        print(f"{case.__name__:40} {'FAILS' if problems else 'holds'}  {case.__doc__}", flush=True)
        for problem in problems[:5]:
            print(f"    {problem}", flush=True)
    sys.exit(1 if failed else 0)


main()
