"""What all studies share: calls of headlab, the rule of verdicts, statistics, and tables.

A study is a script next to this file. `HEADLAB` names the program [build/headlab of the project];
`--small` runs the same code with fewer steps and seeds, in seconds, and no conclusion follows from
it; `--out DIR` is the folder of its runs [runs/studies/NAME]. Models that are already there are not
trained again.

A claim is counted in seeds (or in another unit that the study names). Its verdict compares the
exact 95% interval of the share of seeds in which it is so with one half: see verdict_of_share().
"""
import argparse
import array
import ast
import itertools
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import textwrap

WIDTH = 80
T975 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # Student's t, df 1 to 9
FEWEST = 6  # seeds: with fewer, the interval of the share contains one half whatever is found
HOLDS, DOES_NOT, UNDECIDED = "holds", "does not", "undecided"
RULE = ("A claim holds if the exact 95% interval of the share of seeds, or of another unit "
        "that a line names, in which it is so (in brackets) lies above one half. It does not if "
        "the interval lies below. Otherwise it is undecided, as with fewer than "
        f"{FEWEST} seeds.")
SMALL = "This is --small: the models are not trained, so no conclusion follows."


def program_path():
    """The program that HEADLAB names, that of the folder of the project, or that of the system."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.normpath(os.path.join(here, "..", "..", "build", "headlab"))
    found = built if os.access(built, os.X_OK) else shutil.which("headlab") or built
    program = os.environ.get("HEADLAB") or found
    if shutil.which(program) is None:
        sys.exit(f"cannot run '{program}': there is no such program\n"
                 "hint: build it, or set HEADLAB to its path")
    return program


class Study:
    def __init__(self, name, title, seeds, minutes, small_seeds=1):
        """minutes: time of a processor that the study takes without --small."""
        parser = argparse.ArgumentParser(description=title)
        parser.add_argument("--small", action="store_true", help="fewer steps and seeds")
        parser.add_argument("--out", help="folder of the runs [runs/studies/NAME]")
        arguments = parser.parse_args()
        self.title, self.small = title, arguments.small
        self.seeds = small_seeds if self.small else seeds
        folder = name + "-small" if self.small else name
        self.folder = arguments.out or os.path.join("runs", "studies", folder)
        self.program = program_path()
        self.command = ""  # the program of a `command:` task, which runs may start
        self.claims = []
        self.files = []  # pages and pictures
        os.makedirs(self.folder, exist_ok=True)
        takes = (f"This takes about {minutes} min on one processor. Models that are there already "
                 "are not trained again.")
        print_note(SMALL if self.small else takes)
        print(flush=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def pick(self, full, small):
        """`small` with --small, otherwise `full`."""
        return small if self.small else full

    def task_of(self, command):
        """The task whose examples this program prints; runs on it may start the program again."""
        self.command = command
        return "command:" + command

    def headlab(self, *arguments):
        """Runs a command and returns its JSON."""
        return json.loads(self.text(*arguments, "--json"))

    def text(self, *arguments):
        """Runs a command and returns what it prints."""
        done = self.run(*arguments)
        if done.returncode != 0:
            sys.exit(f"{' '.join(done.args)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refusal(self, *arguments):
        """Runs a command and returns the reason why the program refuses it; None if it does not."""
        done = self.run(*arguments, "--json")
        return json.loads(done.stdout)["error"] if done.returncode != 0 else None

    def run(self, *arguments):
        """Runs a command, whether it fails or not."""
        command = [self.program, *map(str, arguments), "--quiet"]
        environment = {"HEADLAB_COMMAND": self.command, **os.environ}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def train(self, name, *flags):
        """Trains every seed of a sweep that is not there yet, and returns the folders by group."""
        steps = ("--steps", self.pick(None, 30)) if self.small and "--steps" not in flags else ()
        folder = self.path(name)
        self.headlab("sweep", *flags, *steps, "--seeds", self.seeds, "--jobs", 1, "--out", folder)
        runs = {}
        for run in sorted(entry for entry in os.listdir(folder) if "seed=" in entry):
            group = run.rsplit("seed=", 1)[0].rstrip(",")
            runs.setdefault(group, []).append(os.path.join(folder, run))
        return runs

    def train_one(self, name, *flags):
        """Trains the seeds of a sweep with a single group, and returns their folders."""
        [runs] = self.train(name, *flags).values()
        return runs

    def write_task(self, name, header, lines):
        """Writes the sequences of a task `file:`, and returns the path."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            for line in [{"header": header}, *lines]:
                print(json.dumps(line), file=file)
        return path

    def emergence(self, run):
        """The step at which the role of each relation emerges, of those that do."""
        found = self.headlab("history", run)["relations"]
        steps = {row["name"]: row["emergence_step"] for row in found}
        return {name: step for name, step in steps.items() if step not in (None, -1)}

    def claim(self, source, says, found, is_so, rule, unit="seed"):
        """Adds a row: what the paper says, what is found, and the verdict.
        is_so: for each seed (or other unit), whether the claim is so there, which `rule` defines."""
        count, total = sum(map(bool, is_so)), len(is_so)
        low, high = exact_interval(count, total)
        found += f"; so in {count} of {total} {unit}s ({low:.2f} to {high:.2f})"
        self.add_claim(source, says, found, verdict_of_share(count, total),
                       f"counts a {unit} if {rule}")

    def claim_least(self, source, says, found, values, least, rule):
        """Adds a row about a number of the paper that the mean over seeds has to reach."""
        self.add_claim(source, says, f"{found} {interval(values)}", verdict_of_mean(values, least),
                       f"holds if {rule}, by the 95% interval of the mean over seeds")

    def add_claim(self, source, says, found, verdict, rule):
        self.claims.append((source, says, found, "-" if self.small else verdict, rule))

    def look(self, *command):
        """Runs a command that writes a page or a picture into the file named last."""
        self.text(*command)
        self.files.append(command[-1])

    def finish(self):
        """Prints the table of claims, the rules, the seeds and the time; to stderr, what to look at."""
        if self.claims:
            print(self.title + "\n")
            rows = [(str(i + 1), *row[:4]) for i, row in enumerate(self.claims)]
            print_wrapped(["", "source", "the paper says", "found here", "verdict"], rows,
                          [1, 14, 23, 25, 9])
            print_note(RULE)
            for i, row in enumerate(self.claims):
                print_note(f"{i + 1} {row[4]}.")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        minutes = (used.ru_utime + used.ru_stime) / 60
        print_note(f"Seeds: {self.seeds}. Processor time of this call: {minutes:.1f} minutes.")
        if self.files:
            print("Look at: " + ", ".join(self.files), file=sys.stderr)


def print_note(text):
    print(textwrap.fill(text, WIDTH, subsequent_indent="  "))


def print_wrapped(heads, rows, widths):
    """Prints a table whose cells are wrapped to these widths."""
    for row in [heads, ["-" * width for width in widths], *rows]:
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths)]
        for line in itertools.zip_longest(*cells, fillvalue=""):
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print()


def print_columns(heads, rows):
    """Prints a table of one line a row: the first column to the left, the others to the right."""
    table = [heads, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    print()


def binomial_tail(least, n, share):
    """The probability of at least this many successes in n draws."""
    return sum(math.comb(n, k) * share ** k * (1 - share) ** (n - k) for k in range(least, n + 1))


def exact_interval(count, n):
    """The 95% interval of a share by Clopper and Pearson: outside it, one tail has less than 2.5%."""
    def lower_end(successes):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            below = binomial_tail(successes, n, middle) < 0.025
            low, high = (middle, high) if below else (low, middle)
        return low if successes else 0.0
    return lower_end(count), 1 - lower_end(n - count)


def verdict(low, high, limit, n):
    """The verdict on an interval over n seeds that has to lie above the limit."""
    if n >= FEWEST and low > limit:
        return HOLDS
    return DOES_NOT if n >= FEWEST and high < limit else UNDECIDED


def verdict_of_share(count, n):
    """Whether a claim that is so in `count` of n seeds is so in most: the rule of all studies."""
    return verdict(*exact_interval(count, n), 0.5, n)


def verdict_of_mean(values, least):
    """Whether the mean over seeds reaches a number of the paper."""
    middle, half = statistics.mean(values), half_width(values)
    return verdict(middle - half, middle + half, least, len(values))


def half_width(values):
    """Half of the 95% interval of a mean by Student's t; 0 for a single value."""
    n = len(values)
    return T975[n - 2] * statistics.stdev(values) / n ** 0.5 if n > 1 else 0.0


def interval(values, digits=2):
    return f"{statistics.mean(values):.{digits}f} ± {half_width(values):.{digits}f}"


def metrics(run):
    """The evaluations of a run, in the order of steps."""
    with open(os.path.join(run, "metrics.jsonl")) as lines:
        return [json.loads(line) for line in lines]


def first_step(lines, key, least):
    """The first evaluated step at which a number is at least this large; None if there is none."""
    return next((line["step"] for line in lines if line[key] >= least), None)


def read_npy(path):
    """The numbers of a NumPy file of floats, row-major, and their shape."""
    with open(path, "rb") as file:
        header, _, numbers = file.read().partition(b"\n")
    shape = ast.literal_eval(header[header.index(b"{"):].decode())["shape"]
    return array.array("f", numbers), shape


def span(values, digits=0):
    """The median and the range; "never" if there is no value."""
    values = [value for value in values if value is not None]
    if not values:
        return "never"
    low, middle, high = (f"{value:.{digits}f}"
                         for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def sign_flip_p(differences):
    """Two-sided p by all flips of signs: how often the mean is at least as far from 0."""
    least = abs(sum(differences)) - 1e-12
    flips = list(itertools.product((1, -1), repeat=len(differences)))
    far = sum(abs(sum(s * d for s, d in zip(signs, differences))) >= least for signs in flips)
    return far / len(flips)


def holm(ps):
    """p-values corrected by Holm, in the order given."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, largest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = largest
    return corrected


def ranks(values):
    """Ranks from 1; equal values share the mean of their ranks."""
    return [sum(y < x for y in values) + (1 + sum(y == x for y in values)) / 2 for x in values]


def spearman(a, b):
    """Spearman's rank correlation; 0 if either side is constant."""
    a, b = ranks(a), ranks(b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    return statistics.correlation(a, b)


def print_comparison(title, results):
    """Prints the means of methods by task, and tests of all pairs of methods over tasks.
    results: by task and method, a value for each seed."""
    methods = list(next(iter(results.values())))
    tasks = list(results.values())
    seeds = {m: [statistics.mean(values) for values in zip(*(by[m] for by in tasks))]
             for m in methods}
    rows = [[task, *(f"{statistics.mean(by[m]):.2f}" for m in methods)]
            for task, by in results.items()]
    rows.append(["mean", *(f"{statistics.mean(seeds[m]):.2f}" for m in methods)])
    print(title + "\n")
    print_columns(["task", *methods], rows)
    print_note("Mean with 95% interval over seeds: " +
               ", ".join(f"{m} {interval(seeds[m])}" for m in methods) + ".")
    ordered = sorted(methods, key=lambda m: -statistics.mean(seeds[m]))
    pairs = list(itertools.combinations(ordered, 2))
    by_task = {m: [statistics.mean(by[m]) for by in tasks] for m in methods}
    ps = holm([sign_flip_p([x - y for x, y in zip(by_task[a], by_task[b])]) for a, b in pairs])
    better = [f"{a} above {b} (p {p:.3f})" for (a, b), p in zip(pairs, ps) if p < 0.05]
    print_note("Pairs are compared over tasks by flipping signs, Holm-corrected over all pairs. "
               "Significant: " + ("; ".join(better) or "nothing") + ".")
    print()
