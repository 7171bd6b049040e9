#!/usr/bin/env python3
"""Small bugs, put in one at a time: the tests must notice each of them.

    tests/mutants/run.py [--folder DIR] [--tenth I] [--match TEXT] [--jobs N] [--check]

list.txt holds the bugs: the path of a file, a line "- what stands there", which occurs there once,
and a line "+ what takes its place". A line "= why" marks one that changes nothing anybody could
see: it is not run. The sources are copied to DIR and built there once (a layer at a time, -O1);
then each bug is built and the tests run that could see it: those of its own layer first, then of
the layers behind it, until one fails. Bugs that do not compile are mistakes of the list.
--tenth I takes every tenth bug, beginning with the Ith (I modulo 10); --check only looks whether
every bug finds its place. Prints the survivors; the exit status is 1 if there are any.
"""
import argparse, os, shutil, subprocess, sys, tempfile, time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = ["base", "kernels", "tensor", "ops", "nn", "model", "tasks", "train", "heads", "prune", "lab", "bench",
          "report", "cli"]
ENGINE = {"kernels", "tensor", "ops", "nn", "model"}


def read_list():
    bugs = []
    with open(os.path.join(PROJECT, "tests/mutants/list.txt")) as file:
        blocks = [block.strip("\n").split("\n") for block in file.read().split("\n\n")]
    for block in blocks:
        lines = [line for line in block if line and not line.startswith("#")]
        if not lines:
            continue
        bug = {"file": lines[0], "why": ""}
        for line in lines[1:]:
            bug[{"-": "old", "+": "new", "=": "why"}[line[0]]] = line[2:]
        bugs.append(bug)
    return bugs


def tests_for(path):
    """The programs that could see a bug in this file, the likeliest first."""
    layer = path.split("/")[1 if path.startswith("src/") else 2]
    first = LAYERS.index(layer)
    later = LAYERS[first + 1:]
    if layer in ENGINE or layer == "base":  # the engine is seen best by itself, then by training
        later = [name for name in later if name in ENGINE or name in ("tasks", "train", "heads")]
    tests = ["test_" + layer] + (["test_" + layer + "_f64"] if layer in ENGINE else [])
    tests += ["test_" + name for name in later if name not in ("bench",)]
    return tests


def run(command, folder=None, timeout=900):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout)


def build(folder, targets, jobs):
    return run(["cmake", "--build", os.path.join(folder, "build"), "-j", str(jobs), "--target"] + targets)


def noticed(folder, tests, jobs):
    """The test that fails, or that the bug does not compile; None if nothing notices."""
    for test in tests:
        built = build(folder, [test], jobs)
        if built.returncode != 0:
            if "error:" in built.stdout + built.stderr:
                return "does not compile: " + (built.stdout + built.stderr).split("error:")[1][:120]
            continue  # there is no such program
        try:
            ended = run([os.path.join(folder, "build", test), "--gtest_fail_fast", "--gtest_brief=1"], timeout=300)
        except subprocess.TimeoutExpired:
            return test + " does not end"
        if ended.returncode != 0:
            return test
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder")
    parser.add_argument("--tenth", type=int)
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    bugs = read_list()
    lost = []
    for bug in bugs:
        path = os.path.join(PROJECT, bug["file"])
        with open(path if os.path.exists(path) else os.devnull) as file:
            if file.read().count(bug["old"]) != 1:
                lost.append(bug)
    for bug in lost:
        print(f"has no place any more: {bug['file']}: {bug['old']}")
    if args.check or lost:
        print(f"{len(bugs)} bugs, {len(lost)} without a place, {sum(bool(b['why']) for b in bugs)} equivalent")
        return 1 if lost else 0
    chosen = [b for i, b in enumerate(bugs) if args.tenth is None or i % 10 == args.tenth % 10]
    chosen = [b for b in chosen if args.match in b["file"] + b["old"] and not b["why"]]
    folder = args.folder or tempfile.mkdtemp()
    for part in ["src", "include", "tests", "examples", "datasets", "CMakeLists.txt"]:
        source, target = os.path.join(PROJECT, part), os.path.join(folder, part)
        if os.path.isdir(source):
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    run(["cmake", "-S", folder, "-B", os.path.join(folder, "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DHEADLAB_TEST_FLAGS=-O0", "-DCMAKE_UNITY_BUILD=ON"])
    survivors = []
    for number, bug in enumerate(chosen):
        path, begin = os.path.join(folder, bug["file"]), time.time()
        with open(path) as file:
            whole = file.read()
        with open(path, "w") as file:
            file.write(whole.replace(bug["old"], bug["new"]))
        found = noticed(folder, tests_for(bug["file"]), args.jobs)
        with open(path, "w") as file:
            file.write(whole)
        if found is None or found.startswith("does not compile"):
            survivors.append(bug)
        print(f"{number + 1}/{len(chosen)} {bug['file']}: {bug['new'].strip()[:60]}: {found or 'SURVIVES'}, "
              f"{time.time() - begin:.0f} s", flush=True)
    print(f"{len(chosen)} bugs, {len(survivors)} survive")
    for bug in survivors:
        print(f"{bug['file']}\n- {bug['old']}\n+ {bug['new']}\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
