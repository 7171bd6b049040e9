#!/usr/bin/env python3
"""Small bugs, one at a time: the tests must notice each of them.

    tests/tools/mutants/run.py [--folder DIR] [--tenth I] [--match REGEX] [--jobs N] [--check] [--alone]
                         [--near]

list.txt holds the bugs: the path of a file, a line "- what stands there", which occurs there once,
and a line "+ what takes its place". A line "@ test_train" names the program that notices a bug which
the tests of its own layer cannot see; a line "= why" marks one that changes nothing anybody could
see: it is not run.

All bugs are built into one copy of the project, each behind a switch: `a + b` becomes
`(headlab_mutant(17) ? (a - b) : (a + b))`, and the environment says HEADLAB_MUTANT=17. So a bug
costs the time of the tests that could see it and no build: those of its own layer first, then all
others that come by its place, until one fails or does not end in several times its usual time. Which
come by is known from a run without bugs: each switch marks that it was asked. What does not compile
behind a switch (constants, mostly) is built by itself with --alone, and only counted without.

--tenth I takes a tenth of the bugs (I modulo 10), those of neighbouring layers, so that few test
programs are built; --match those whose file and text match; --near runs the tests of a bug's own
layer, or those that its line @ names, and no others; --check only looks whether every bug finds its
place. Prints the survivors; the exit status is 1 if there are any.
"""
import argparse, concurrent.futures, os, re, shutil, signal, subprocess, sys, tempfile, time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = ["base", "kernels", "tensor", "ops", "nn", "model", "tasks", "train", "heads", "prune", "lab", "bench",
          "report", "cli"]
ENGINE = {"kernels", "tensor", "ops", "nn", "model"}
OTHERS = ["test_" + name for name in ["kernels_f64", "tensor_f64", "ops_f64", "nn_f64", "model_f64", "heads_f64",
                                      "tasks_train", "train_train", "heads_train", "prune_train", "report_train",
                                      "cli_train"]]
MEMORY = 8_000_000  # KB that a test may use: a wrong size must not take the machine's
HEADER = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <cstdlib>
/// Which bug is on, and which switches were asked, in a file that all processes of a test share.
struct HeadlabMutants {
  HeadlabMutants() {
    if (const char* number = std::getenv("HEADLAB_MUTANT")) on = std::atoi(number);
    const char* path = std::getenv("HEADLAB_MUTANTS_ASKED");
    const int file = path != nullptr ? ::open(path, O_RDWR) : -1;
    if (file < 0) return;
    void* shared = ::mmap(nullptr, sizeof unshared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) asked = static_cast<char*>(shared);
  }
  int on = 0;
  char unshared[4096] = {};
  char* asked = unshared;
};
inline HeadlabMutants headlab_mutants;
[[gnu::always_inline]] inline bool headlab_mutant(int number) {
  headlab_mutants.asked[number] = 1;
  return headlab_mutants.on == number;
}
"""


# ---- the list -----------------------------------------------------------------------------------

def read_list():
    bugs = []
    with open(os.path.join(PROJECT, "tests/tools/mutants/list.txt")) as file:
        blocks = [block.strip("\n").split("\n") for block in file.read().split("\n\n")]
    for block in blocks:
        lines = [line for line in block if line and not line.startswith("#")]
        if not lines:
            continue
        bug = {"file": lines[0], "why": "", "seen_by": "", "number": len(bugs) + 1}
        for line in lines[1:]:
            bug[{"-": "old", "+": "new", "=": "why", "@": "seen_by"}[line[0]]] = line[2:]
        bugs.append(bug)
    return bugs


def without_place(bugs):
    """Bugs whose text does not occur exactly once, or lies within that of another."""
    lost = []
    for bug in bugs:
        path = os.path.join(PROJECT, bug["file"])
        with open(path if os.path.exists(path) else os.devnull) as file:
            text = file.read()
        others = [other["old"] for other in bugs if other["file"] == bug["file"] and other is not bug]
        begin = text.find(bug["old"])
        taken = any(text.find(old) < begin + len(bug["old"]) and begin < text.find(old) + len(old) for old in others)
        if text.count(bug["old"]) != 1 or (taken and not bug["why"]):
            lost.append(bug)
    return lost


def layer_of(bug):
    return LAYERS.index(bug["file"].split("/")[1 if bug["file"].startswith("src/") else 2])


def tenth_of(bugs, number):
    """A tenth, of layers that are neighbours; every bug is in one of the ten."""
    ordered = sorted(bugs, key=layer_of)
    return [bug for i, bug in enumerate(ordered) if i * 10 // len(ordered) == number % 10]


def tests_for(bug, near):
    """The programs that could see a bug, the likeliest first."""
    own = bug["seen_by"].split() or ["test_" + LAYERS[layer_of(bug)]]
    if near:
        return own
    later = ["test_" + name for name in LAYERS[layer_of(bug) + 1:] if name != "bench"]
    return own + [test for test in later + OTHERS if test not in own]


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
    old, new, on = bug["old"], bug["new"], f"headlab_mutant({bug['number']})"
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

def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


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


def failure(folder, test, limit, number, asked=os.devnull):
    """None if a test program ends well within so many seconds, else the name of what failed. It and
    what it starts run in a folder of their own, without colours and with one thread."""
    place = tempfile.mkdtemp(dir=folder)
    command = ["bash", "-c", f"ulimit -v {MEMORY}; exec \"$@\"", "bash", os.path.join(folder, "build", test),
               "--gtest_fail_fast", "--gtest_brief=1"]
    env = dict(os.environ, OMP_NUM_THREADS="1", TMPDIR=place, HEADLAB_MUTANT=str(number), HEADLAB_MUTANTS_ASKED=asked)
    with open(os.path.join(place, "said"), "w+", errors="replace") as said:
        process = subprocess.Popen(command, cwd=place, env=env, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and what it has left behind
        except ProcessLookupError:
            pass
        process.wait()
        said.seek(0)
        failed = re.search(r"^\[  FAILED  \] ([\w/.]+)", said.read(), re.M)
    shutil.rmtree(place, ignore_errors=True)
    if code == 0:
        return None
    return "does not end" if code is None else failed.group(1) if failed else f"ends with {code}"


class Tests:
    """The test programs without a bug: what each takes, and the bugs whose places it comes by."""

    def __init__(self, folder, names, pool):
        self.folder, self.times, self.asked = folder, {}, {}
        for name, failed in zip(names, pool.map(self.try_out, names)):
            if failed:
                print(f"{name} fails without any bug ({failed}): left out", flush=True)
        print("without a bug: " + ", ".join(f"{name} {self.times[name]:.0f} s" for name in names
                                            if name in self.times), flush=True)

    def try_out(self, name):
        path, begin = os.path.join(self.folder, name + ".asked"), time.time()
        with open(path, "wb") as file:
            file.write(bytes(4096))
        if failed := failure(self.folder, name, 1800, 0, path):
            return failed
        self.times[name] = time.time() - begin
        with open(path, "rb") as file:
            self.asked[name] = {number for number, mark in enumerate(file.read()) if mark}
        return None

    def noticed(self, bug, number):
        """The test that fails; None if nothing notices. A bug that is built by itself has number 0."""
        for name in bug["tests"]:
            if name in self.times and (number == 0 or number in self.asked[name]):
                if failed := failure(self.folder, name, 20 + 5 * self.times[name], number):
                    return f"{name}: {failed}"
        return None


def noticed_alone(tests, bug, jobs):
    """What notices a bug that is built by itself."""
    bug.pop("text", None)
    write_file(tests.folder, bug["file"], [bug])
    built = build(tests.folder, [name for name in bug["tests"] if name in tests.times], jobs)
    found = "the compiler" if built.returncode != 0 else tests.noticed(bug, 0)
    write_file(tests.folder, bug["file"], [])
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
    for ignored in (signal.SIGINT, signal.SIGHUP):  # by whoever runs this behind the scenes; tests send both
        signal.signal(ignored, lambda *_: sys.exit(130))
    bugs = read_list()
    lost = without_place(bugs)
    for bug in lost:
        print(f"has no place of its own: {bug['file']}: {bug['old']}")
    if args.check or lost:
        print(f"{len(bugs)} bugs, {len(lost)} without a place, {sum(bool(b['why']) for b in bugs)} equivalent")
        return 1 if lost else 0
    chosen = [b for b in bugs if not b["why"] and re.search(args.match, b["file"] + " " + b["old"])]
    chosen = chosen if args.tenth is None else tenth_of(chosen, args.tenth)
    folder = os.path.abspath(args.folder or tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    copy_project(folder)
    run(["cmake", "-S", folder, "-B", os.path.join(folder, "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -w", "-DHEADLAB_TEST_FLAGS=-O0", "-DHEADLAB_NATIVE=OFF",
         "-DCMAKE_CXX_FLAGS=-include " + os.path.join(folder, "mutant.h")])
    for bug in chosen:
        bug["tests"] = tests_for(bug, args.near)
    names = sorted({name for bug in chosen for name in bug["tests"]})
    begin = time.time()
    inside, alone = build_with_switches(folder, chosen, names, args.jobs)
    print(f"{len(inside)} of {len(chosen)} bugs behind switches, built in {time.time() - begin:.0f} s", flush=True)
    survivors = []

    def tell(bug, found):
        if found is None:
            survivors.append(bug)
        print(f"{bug['file']}: {bug['new'].strip()[:70]}: {found or 'SURVIVES'}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tests = Tests(folder, names, pool)
        for bug, found in zip(inside, pool.map(lambda bug: tests.noticed(bug, bug["number"]), inside)):
            tell(bug, found)
    if args.alone:
        for bug in alone:
            tell(bug, noticed_alone(tests, bug, args.jobs))
    print(f"{len(inside) + (len(alone) if args.alone else 0)} bugs ran, {len(survivors)} survive"
          + ("" if args.alone or not alone else f", {len(alone)} were not run: they need a build each (--alone)"))
    for bug in survivors:
        print(f"{bug['file']}\n- {bug['old']}\n+ {bug['new']}\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
