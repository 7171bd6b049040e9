#!/usr/bin/env python3
"""Small bugs, one at a time: the tests must notice each of them.

    tests/mutants/run.py [--folder DIR] [--tenth I] [--match REGEX] [--jobs N] [--check] [--alone]
                         [--near]

list.txt holds the bugs: the path of a file, a line "- what stands there", which occurs there once,
and a line "+ what takes its place". A line "= why" marks one that changes nothing anybody could
see: it is not run.

All bugs are built into one copy of the project, each behind a switch: `a + b` becomes
`(headlab_mutant == 17 ? (a - b) : (a + b))`, and the environment says HEADLAB_MUTANT=17. So a bug
costs the time of the tests that could see it and no build: those of its own layer first, then of
the layers behind it, until one fails. What does not compile behind a switch (constants, mostly) is
built by itself with --alone, and only counted without. --tenth I takes every tenth bug, beginning
with the Ith (I modulo 10), --match those whose file and text match; --near runs the tests of a bug's
own layer alone, so that its survivors are only candidates; --check only looks whether every bug finds its place. Prints the
survivors; the exit status is 1 if there are any.
"""
import argparse, concurrent.futures, os, re, shutil, subprocess, sys, tempfile, time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = ["base", "kernels", "tensor", "ops", "nn", "model", "tasks", "train", "heads", "prune", "lab", "bench",
          "report", "cli"]
ENGINE = {"kernels", "tensor", "ops", "nn", "model"}
HEADER = """#pragma once
#include <cstdlib>
static const int headlab_mutant =
    std::getenv("HEADLAB_MUTANT") ? std::atoi(std::getenv("HEADLAB_MUTANT")) : 0;
"""


# ---- the list -----------------------------------------------------------------------------------

def read_list():
    bugs = []
    with open(os.path.join(PROJECT, "tests/mutants/list.txt")) as file:
        blocks = [block.strip("\n").split("\n") for block in file.read().split("\n\n")]
    for block in blocks:
        lines = [line for line in block if line and not line.startswith("#")]
        if not lines:
            continue
        bug = {"file": lines[0], "why": "", "number": len(bugs) + 1}
        for line in lines[1:]:
            bug[{"-": "old", "+": "new", "=": "why"}[line[0]]] = line[2:]
        bugs.append(bug)
    return bugs


def without_place(bugs):
    lost = []
    for bug in bugs:
        path = os.path.join(PROJECT, bug["file"])
        with open(path if os.path.exists(path) else os.devnull) as file:
            if file.read().count(bug["old"]) != 1:
                lost.append(bug)
    return lost


def tests_for(path, near=False):
    """The programs that could see a bug in this file, the likeliest first."""
    layer = path.split("/")[1 if path.startswith("src/") else 2]
    if near:
        return ["test_" + layer]
    later = LAYERS[LAYERS.index(layer) + 1:]
    if layer in ENGINE:  # the engine is seen best by itself, then by training
        later = [name for name in later if name in ENGINE or name in ("tasks", "train", "heads")]
    if layer == "base":
        later = ["tensor", "model", "tasks", "train", "cli"]
    return ["test_" + name for name in [layer] + later if name != "bench" or layer == "bench"]


# ---- switches -----------------------------------------------------------------------------------

def masked(text):
    """The text with everything between quotes made x, so that no sign in it counts."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', lambda m: "x" * len(m.group()), text)


def difference(old, new):
    """The smallest [begin, end) of old, and the end in new, outside of which both are the same; whole
    operators and words."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    same = 0
    while same < min(len(old), len(new)) - begin and old[-1 - same] == new[-1 - same]:
        same += 1
    signs = "<>=!&|+-*/%"

    def joined(a, b):
        return (a in signs and b in signs) or (re.match(r"\w", a) and re.match(r"\w", b))
    while begin > 0 and (joined(old[begin - 1], (old + " ")[begin]) or joined(new[begin - 1], (new + " ")[begin])):
        begin -= 1
    while same > 0 and (joined(old[-same], (" " + old)[-same - 1]) or joined(new[-same], (" " + new)[-same - 1])):
        same -= 1
    return begin, len(old) - same, len(new) - same


def bounds(text, begin, end):
    """The expression around [begin, end), up to the signs that end one."""
    text = masked(text)

    def ends(i):
        c, before, after = text[i], text[i - 1:i], text[i + 1:i + 2]
        if c == ":" and ":" in (before, after):
            return False
        if c == "=" and (after == "=" or before in tuple("=<>!")):
            return False
        return c in ",;?:="
    depth, left = 0, begin
    while left > 0:
        c = text[left - 1]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (ends(left - 1) or re.search(r"\breturn $", text[:left])):
            break
        left -= 1
    depth, right = 0, end
    while right < len(text):
        c = text[right]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and ends(right):
            break
        right += 1
    return left, right


def head_of_statement(text):
    """Where the statement behind leading `if (...)`, `for (...)`, `while (...)` begins."""
    at = 0
    while match := re.match(r"\s*(if|for|while)\s*(constexpr )?\(", text[at:]):
        depth, at = 1, at + match.end()
        plain = masked(text)
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(plain[at], 0)
            at += 1
    return at


def switched(bug):
    """The old text with the new one behind a switch; None where no form of a switch fits."""
    old, new, on = bug["old"], bug["new"], f"headlab_mutant == {bug['number']}"
    if not new.strip():
        return f"if (!({on})) {old}" if old.rstrip().endswith(";") else None
    begin, end, new_end = difference(old, new)
    assigns = re.fullmatch(r"[-+*/%|&^]?=", old[begin:end].strip()) is not None
    if assigns:
        at = head_of_statement(old)
        if not old.rstrip().endswith(";"):
            return None
        return old[:at] + "{ if (" + on + ") " + new[at:] + " else " + old[at:] + " }"
    left, right = bounds(old, begin, end)
    if chained := re.search(r"\s*(&&|\|\|)\s*$", old[:right]):  # goes on in the next line
        right = max(end, chained.start())
    new_right = new_end + right - end
    return f"{old[:left]}({on} ? ({new[left:new_right]}) : ({old[left:right]})){old[right:]}"


# ---- building and running -----------------------------------------------------------------------

def run(command, folder=None, timeout=None, **environment):
    env = dict(os.environ, OMP_NUM_THREADS="1", **environment)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout,
                          env=env)


def copy_project(folder):
    for part in ["src", "include", "tests", "examples", "datasets", "CMakeLists.txt", "README.md"]:
        source, target = os.path.join(PROJECT, part), os.path.join(folder, part)
        if os.path.isdir(source):
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    with open(os.path.join(folder, "mutant.h"), "w") as file:
        file.write(HEADER)


def write_file(folder, path, bugs):
    """The file as it is in the project, with these of its bugs."""
    with open(os.path.join(PROJECT, path)) as file:
        text = file.read()
    for bug in bugs:
        text = text.replace(bug["old"], bug.get("text", bug["new"]))
    target = os.path.join(folder, path)
    with open(target) as file:
        if file.read() == text:
            return
    with open(target, "w") as file:
        file.write(text)


def build(folder, targets, jobs):
    return run(["ninja", "-k", "0", "-j", str(jobs), "-C", os.path.join(folder, "build")] + targets)


def build_with_switches(folder, bugs, targets, jobs):
    """Builds all bugs that compile behind a switch; the others come back."""
    alone = []
    inside = []
    for bug in bugs:
        bug["text"] = switched(bug)
        (inside if bug["text"] else alone).append(bug)
    for _ in range(6):
        for path in {bug["file"] for bug in bugs}:
            write_file(folder, path, [bug for bug in inside if bug["file"] == path])
        built = build(folder, targets, jobs)
        if built.returncode == 0:
            return inside, alone
        wrong = blamed(folder, inside, built.stdout + built.stderr)
        if not wrong:
            sys.exit("the copy does not build:\n" + (built.stdout + built.stderr)[-3000:])
        print(f"{len(wrong)} do not compile behind a switch", flush=True)
        alone += wrong
        inside = [bug for bug in inside if bug not in wrong]
    sys.exit("the copy does not build")


def blamed(folder, bugs, said):
    """The bugs on, or just before, the lines that a compiler calls wrong."""
    places = {(os.path.relpath(file, folder), int(line))
              for file, line in re.findall(r"(/[^\s:]+):(\d+):\d+: error", said)}
    found = []
    for bug in bugs:
        with open(os.path.join(folder, bug["file"])) as file:
            line = file.read().split(bug["text"])[0].count("\n") + 1
        if any(file == bug["file"] and 0 <= at - line <= 2 for file, at in places):
            found.append(bug)
    return found


def passes(folder, test, limit, number):
    """Whether a test program ends well; without colours and with one thread."""
    command = [os.path.join(folder, "build", test), "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        return run(command, timeout=limit, HEADLAB_MUTANT=str(number)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def times_of(folder, tests):
    """What each test program takes without a bug."""
    times = {}
    for test in tests:
        begin = time.time()
        if not passes(folder, test, 1800, 0):
            print(f"{test} fails without any bug: left out", flush=True)
            continue
        times[test] = time.time() - begin
    print("without a bug: " + ", ".join(f"{test} {took:.0f} s" for test, took in times.items()), flush=True)
    return times


def noticed(folder, bug, times):
    """The test that fails; None if nothing notices."""
    for test in bug["tests"]:
        if test in times and not passes(folder, test, 30 + 10 * times[test], bug["number"]):
            return test
    return None


def noticed_alone(folder, bug, times, jobs):
    """The same for a bug that is built by itself."""
    bug.pop("text", None)
    write_file(folder, bug["file"], [bug])
    built = build(folder, [test for test in bug["tests"] if test in times], jobs)
    found = "the compiler" if built.returncode != 0 else noticed(folder, dict(bug, number=0), times)
    write_file(folder, bug["file"], [])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder")
    parser.add_argument("--tenth", type=int)
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--near", action="store_true")
    args = parser.parse_args()
    bugs = read_list()
    lost = without_place(bugs)
    for bug in lost:
        print(f"has no place any more: {bug['file']}: {bug['old']}")
    if args.check or lost:
        print(f"{len(bugs)} bugs, {len(lost)} without a place, {sum(bool(b['why']) for b in bugs)} equivalent")
        return 1 if lost else 0
    chosen = [b for i, b in enumerate(bugs) if args.tenth is None or i % 10 == args.tenth % 10]
    chosen = [b for b in chosen if re.search(args.match, b["file"] + " " + b["old"]) and not b["why"]]
    folder = os.path.abspath(args.folder or tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    copy_project(folder)
    run(["cmake", "-S", folder, "-B", os.path.join(folder, "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -w", "-DHEADLAB_TEST_FLAGS=-O0", "-DHEADLAB_NATIVE=OFF",
         "-DCMAKE_CXX_FLAGS=-include " + os.path.join(folder, "mutant.h")])
    for bug in chosen:
        bug["tests"] = tests_for(bug["file"], args.near)
    tests = sorted({test for bug in chosen for test in bug["tests"]})
    begin = time.time()
    inside, alone = build_with_switches(folder, chosen, tests, args.jobs)
    print(f"{len(inside)} of {len(chosen)} bugs behind switches, built in {time.time() - begin:.0f} s", flush=True)
    times = times_of(folder, tests)
    survivors = []

    def tell(bug, found):
        if found is None:
            survivors.append(bug)
        print(f"{bug['file']}: {bug['new'].strip()[:70]}: {found or 'SURVIVES'}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for bug, found in zip(inside, pool.map(lambda bug: noticed(folder, bug, times), inside)):
            tell(bug, found)
    if args.alone:
        for bug in alone:
            tell(bug, noticed_alone(folder, bug, times, args.jobs))
    print(f"{len(inside) + (len(alone) if args.alone else 0)} bugs ran, {len(survivors)} survive"
          + ("" if args.alone or not alone else f", {len(alone)} were not run: they need a build each (--alone)"))
    for bug in survivors:
        print(f"{bug['file']}\n- {bug['old']}\n+ {bug['new']}\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
