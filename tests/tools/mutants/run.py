#!/usr/bin/env python3
# Small bugs, one at a time: the tests of the layer in which they are must notice them.
#
#     tests/tools/mutants/run.py COPY BUILD [--draw N] [--seed TEXT] [--match REGEX] [--jobs N] [--list]
#
# Rules make the bugs from the current sources: an operator, a number or a condition becomes
# another, a statement is left out. N of them are drawn by the seed, from src, include and the page's
# scripts. COPY is a copy of the project, whose sources this program changes; BUILD a build of it by
# Ninja, best with -DCMAKE_CXX_FLAGS=-w.
#
# All bugs are built at once, asleep: `a < b` becomes `(headlab_bug(7) ? (a <= b) : (a < b))`, and
# HEADLAB_BUG=7 wakes one. A bug that does not compile so, as a constant, is built by itself, after
# the others, and left out if it does not compile at all. Each bug is shown to the programs of its
# layer (test_NAME, test_NAME_f64, test_NAME_train; for scripts of the page test_report and
# test_browser), short tests first, then the others suite by suite (the tests of a suite often share
# a trained run), until one fails or takes several times as long as usual. Prints who
# noticed each; the status is 0 even if NO TEST did, for some bugs change nothing that can be seen.
# --list only shows what is drawn.
import argparse, concurrent.futures, json, os, pathlib, random, re, shutil, subprocess, sys, tempfile

WAKES = """#pragma once
#include <cstdlib>
inline const int headlab_number = std::getenv("HEADLAB_BUG") ? std::atoi(std::getenv("HEADLAB_BUG")) : -1;
inline bool headlab_bug(int number) { return number == headlab_number; }
"""
NODE = "globalThis.headlabBug = Number(process.env.HEADLAB_BUG);\n"
PAGE = r"globalThis.headlabBug ??= Number(/bug=(\d+)/.exec(globalThis.navigator?.userAgent)?.[1]);"
BROWSER = '#!/bin/sh\nexec "{}" --user-agent="bug=$HEADLAB_BUG" "$@"\n'
MEMORY = 8_000_000  # KB that a test may use: a wrong size must not take the machine's
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
         (" === ", " !== "), (" !== ", " === "), (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "),
         (" * ", " / "), (" / ", " * "), (" += ", " -= "), (" -= ", " += "), ("true", "false"), ("false", "true")]
SHORT = 0.3  # seconds: a test that is shown to a bug before longer ones
# No result: what is reserved, limits that nothing reaches, what a lesson leaves out of the lines that
# it shows, and, in drawing code, positions and sizes: of its numbers only 0 and 1
# become others.
NO_RESULT = r"\breserve\(|1 << (1[6-9]|[23]\d)\b|\bsee\("
DRAWS = r"src/app/report/(?!page/core_)"
NO_STATEMENT = r"\s*(return|throw|using|const|let|var|auto|static|if|for|while|else|case|default|import|export)\b"


def masked(text):
    """The text with strings and comments made blank, so that no sign in them counts."""
    hidden = r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?\*/'
    text = re.sub(r"(?<=\d)'(?=\d)", "_", text)  # 1'000
    return re.sub(hidden, lambda m: re.sub(r"[^\n]", "~", m.group()), text, flags=re.S)


def condition(line):
    """What stands between the brackets of an if that is closed in its line: begin and end."""
    found = re.search(r"\bif \(", line)
    depth, at = 1, found.end() if found else len(line)
    while depth and at < len(line):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        at += 1
    return (found.end(), at - 1) if found and depth == 0 else None


def bugs_of_line(line, before, draws):
    """(begin, end, what takes its place) for every bug that a line of masked text can hold."""
    if line.lstrip().startswith("#") or "static_assert" in line or re.search(NO_RESULT, line):
        return
    for old, new in SWAPS:
        word = rf"\b{old}\b" if old.isalpha() else re.escape(old)
        yield from ((m.start(), m.end(), new) for m in re.finditer(word, line))
    for number in re.finditer(r"(?<![\w.])(\d+\.?\d*|\.\d+)(?![\w.])", line):
        if draws and number.group() not in "01":
            continue
        whole = number.group().isdigit()
        yield (*number.span(), str(int(number.group()) + 1) if whole else f"({number.group()} + 1)")
    if place := condition(line):
        yield (*place, "!({})")
    alone = re.fullmatch(r"\s+[\w*+-]\S*(\(.*\)| [-+*/|&]?= .*|\+\+|--)?;", line)
    if alone and not re.match(NO_STATEMENT, line) and re.search(r"([;{}]|^)\s*$", before):
        yield (0, len(line), "")


class Bug:
    def __init__(self, path, row, lines, plain, change):
        self.path, self.row, self.line, self.masked = path, row, lines[row], plain[row]
        self.before = plain[row - 1].replace("~", "").strip()
        self.begin, self.end, self.new = change

    def plain(self):
        """The line with the bug."""
        return self.line[:self.begin] + self.new.replace("{}", self.line[self.begin:self.end]) + self.line[self.end:]

    def expression(self):
        """Begin and end of what stands around the change between brackets, commas and the like, or None where
        that begins or ends in another line."""
        ends = "[,;]"
        if self.new not in (" += ", " -= "):
            ends += r"|\?(?!\.)|(?<!:):(?!:)|(?<![=!<>+*/-])=(?![=>])|\breturn\b"
        closed = {found.start(): found.end() for found in re.finditer(ends, self.masked)}
        begin, depth = 0, 0
        for at, sign in reversed(list(enumerate(self.masked[:self.begin]))):
            depth += (sign in ")]}") - (sign in "([{")
            if depth < 0 or (depth == 0 and at in closed):
                begin = closed[at] if depth == 0 else at + 1
                break
        if begin == 0 and self.before[-1:] not in ("", *";{}([,?:"):
            return None
        depth = 0
        for at in range(self.end, len(self.masked)):
            depth += (self.masked[at] in "([{") - (self.masked[at] in ")]}")
            if depth < 0 or (depth == 0 and at in closed):
                return begin, at
        return None

    def asleep(self, number):
        """The line with the bug asleep in it, or None."""
        awake = f"(globalThis.headlabBug === {number})" if self.path.suffix == ".js" else f"headlab_bug({number})"
        if not self.new:
            return f"if (!{awake}) {self.line}"
        begin, end = self.begin, self.end
        if self.new.startswith("!"):
            return f"{self.line[:begin]}{awake} != !!({self.line[begin:end]}){self.line[end:]}"
        if self.new[0] == " ":
            begin, end = self.expression() or (0, 0)
        bug = self.plain()[begin:end + len(self.plain()) - len(self.line)]
        return end and f"{self.line[:begin]} ({awake} ? ({bug}) : ({self.line[begin:end]})){self.line[end:]}"


def bugs_of(copy):
    """Every bug of every source."""
    found = []
    kinds = ["src/**/*.cc", "src/**/*.h", "include/headlab/**/*.h",
             "src/app/report/page/**/*.js"]
    for path in sorted(path for kind in kinds for path in copy.glob(kind)):
        text = path.read_text()
        lines, plain = text.split("\n"), masked(text).split("\n")
        draws = re.search(DRAWS, path.as_posix())
        for row, line in enumerate(lines):
            changes = bugs_of_line(plain[row], plain[row - 1].replace("~", ""), draws)
            found += [Bug(path, row, lines, plain, change) for change in changes]
    return found


# Folders of src whose tests are in a folder of another name.
TESTED_AS = {"results": "base", "layouts": "model", "data": "tasks", "runs": "train", "studies": "lab",
             "scores": "heads", "causes": "heads", "weights": "heads", "lessons": "heads", "checks": "tensor"}


def layer_of(path):
    """The folder of tests/ for a source or header; of scripts of the page "page", or "play" for the playground."""
    if path.suffix == ".js":
        return "play" if "play" in path.parts else "page"
    return TESTED_AS.get(path.parent.name, path.parent.name)


def programs_of(path, targets):
    """The test programs of a source's layer."""
    layer = layer_of(path)
    names = {"page": ["report", "browser"], "play": ["report", "report_train", "browser", "browser_train"]}.get(
        layer, [layer, layer + "_f64", layer + "_train"])
    return [name for name in ("test_" + name for name in names) if name in targets]


class Judge:
    def __init__(self, copy, build, jobs):
        self.copy, self.build, self.jobs, self.parts = copy, build, jobs, {}  # parts: of a program, (filter, usual seconds)
        said = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True).stdout
        self.targets = set(re.findall(r"\btest_\w+", said))
        self.sources, self.asleep = {}, {}  # of changed files, as they were; (path, row): line
        self.place = pathlib.Path(tempfile.mkdtemp())
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        (copy / "include/headlab/bug.h").write_text(WAKES)
        (self.place / "wake.cjs").write_text(NODE)
        self.browser = os.environ.get("HEADLAB_CHROMIUM") or shutil.which("chromium-headless-shell") or ""
        (self.place / "browser").write_text(BROWSER.format(self.browser))
        (self.place / "browser").chmod(0o755)
        page = copy / "src/app/report/page/page.html"
        page.write_text(page.read_text().replace("'use strict';", "'use strict';" + PAGE))

    def make(self, names):
        done = subprocess.run(["ninja", "-C", self.build, "-j", str(self.jobs), "-k", "0", *names], capture_output=True, text=True,
                              errors="replace")
        return done.returncode, done.stdout

    def write(self, changes):
        """The sources as they were, but for {(path, row): line}."""
        for path, text in self.sources.items():
            lines = text.split("\n")
            for (changed, row), line in changes.items():
                if changed == path:
                    lines[row] = line
                    lines[0] = '#include "headlab/bug.h"' if path.suffix != ".js" else lines[0]
            if path.read_text() != "\n".join(lines):
                path.write_text("\n".join(lines))

    def check(self, names):
        """What node, where it is there, says of the scripts; else what the compiler says."""
        scripts = [path for path in self.sources if path.suffix == ".js"] if shutil.which("node") else []
        checked = [subprocess.run(["node", "--check", path], capture_output=True, text=True).stderr for path in scripts]
        said = "".join(re.sub(r"^(\S+:\d+)$", r"\1:1: error", one, count=1, flags=re.M) for one in checked)
        return (1, said) if said else self.make(names)

    def sow(self, bugs):
        """Builds all bugs that can be asleep, one in a line. Returns their numbers."""
        rows = {}
        for number, bug in enumerate(bugs):
            self.sources[bug.path] = bug.path.read_text()
            if bug.asleep(number):
                rows.setdefault((bug.path, bug.row), number)
        untested = [path for path, _ in rows if not programs_of(path, self.targets)]
        if untested:
            raise SystemExit(f"{untested[0]} belongs to no test program: extend TESTED_AS")
        names = {name for path, _ in rows for name in programs_of(path, self.targets)}
        while True:
            self.asleep = {place: bugs[number].asleep(number) for place, number in rows.items()}
            self.write(self.asleep)
            status, said = self.check(names)
            if not status:
                list(self.pool.map(self.measure, sorted(names)))
                return sorted(rows.values())
            told = {(pathlib.Path(os.path.normpath(os.path.join(self.build, file))), int(row) - 1)
                    for file, row in re.findall(r"([^\s:]+):(\d+):\d+:\s+(?:error|note|required)", said)}
            layers = {layer_of(path) for path, _ in told}
            near = {place for place in rows if layer_of(place[0]) in layers}
            headers = {place for place in rows if place[0].suffix == ".h"}
            bad = told & rows.keys() or near & headers or headers or near
            if not bad:
                raise SystemExit("the copy does not build:\n" + said[-3000:])
            for place in bad:
                del rows[place]

    def measure(self, name):
        """Runs a program without a bug: what its tests take. What fails by itself is left out."""
        with tempfile.NamedTemporaryFile() as told:
            self.fails(name, -1, 1800, "--gtest_output=json:" + told.name)
            suites = json.loads(told.read() or b"{}").get("testsuites", [])
        tests = {f"{suite['name']}.{test['name']}": test for suite in suites for test in suite["testsuite"]}
        bad = [test for test in tests if tests[test].get("failures")]
        seconds = {test: float(tests[test]["time"][:-1]) for test in tests if test not in bad}
        long = [test for test in seconds if seconds[test] > SHORT]
        if bad or not tests:
            print(f"{name}: fails without any bug, left out: {' '.join(bad) or 'all'}", flush=True)
        short = sum(seconds.values()) - sum(map(seconds.get, long))
        self.parts[name] = [("-" + ":".join(long + bad), short)] if tests else []
        by_suite = {}
        for test in long:
            by_suite.setdefault(test.split(".")[0], []).append(test)
        groups = [(":".join(group), sum(map(seconds.get, group))) for group in by_suite.values()]
        self.parts[name] += sorted(groups, key=lambda group: group[1])

    def fails(self, name, number, limit, *options):
        """Whether a program fails, or does not end within so many seconds of two processors."""
        with tempfile.TemporaryDirectory() as place:
            bound = f"ulimit -t {2 * limit}; "
            if "browser" not in name:  # a browser reserves more
                bound += f"ulimit -v {MEMORY}; "
            waits = 6 * limit  # a stuck test, on a machine that others use
            command = ["timeout", "-k", "1", str(waits), "bash", "-c", bound + 'exec "$0" "$@"',
                       os.path.join(self.build, name), "--gtest_brief=1", *options]
            wakes = {"HEADLAB_BUG": str(number), "NODE_OPTIONS": f"--require={self.place}/wake.cjs"}
            if os.access(self.browser, os.X_OK):
                wakes["HEADLAB_CHROMIUM"] = f"{self.place}/browser"
            return subprocess.run(command, cwd=place, env=os.environ | wakes | {"TMPDIR": place}, stdin=subprocess.DEVNULL,
                                  capture_output=True, start_new_session=True).returncode != 0

    def judged(self, bug, number):
        """What notices a bug: a program's short tests, or a suite of its longer ones."""
        for name in programs_of(bug.path, self.targets):
            for tests, usual in self.parts[name]:
                if self.fails(name, number, int(15 + 3 * usual), "--gtest_fail_fast", "--gtest_filter=" + tests):
                    return name if tests[0] == "-" else f"{name} {tests.split('.')[0]}"
        return "NO TEST"

    def judged_alone(self, bug):
        """The same of a bug that is built by itself; None if it does not compile."""
        names = set(programs_of(bug.path, self.targets))
        if not names <= self.parts.keys():
            self.write(self.asleep)
            self.make(names)
            list(self.pool.map(self.measure, names - self.parts.keys()))
        self.write(self.asleep | {(bug.path, bug.row): bug.plain()})
        return None if self.make(names)[0] else self.judged(bug, -1)


def main():
    parser = argparse.ArgumentParser(description="Small bugs, one at a time. The head of the source says how.")
    parser.add_argument("copy", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--draw", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilations and tests at the same time")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if (args.copy / ".git").exists() and not args.list:
        raise SystemExit(f"{args.copy} is a checkout: give me a copy, whose sources I may change")
    bugs = [bug for bug in bugs_of(args.copy) if re.search(args.match, f"{bug.path}:{bug.line}")]
    print(f"{len(bugs)} bugs can be made, {args.draw} are drawn with the seed {args.seed}", flush=True)
    random.Random(args.seed).shuffle(bugs)
    bugs = bugs[:args.draw]

    def show(number, who=""):
        bug = bugs[number]
        print(f"{number} {who} {bug.path.relative_to(args.copy)}:{bug.row + 1}\n- {bug.line.strip()}\n+ {bug.plain().strip()}",
              flush=True)
        return who
    if args.list:
        return list(map(show, range(len(bugs))))
    judge = Judge(args.copy, args.build, args.jobs)
    asleep = judge.sow(bugs)
    said = [show(*one) for one in judge.pool.map(lambda number: (number, judge.judged(bugs[number], number)), asleep)]
    for number in sorted(set(range(len(bugs))) - set(asleep)):
        if who := judge.judged_alone(bugs[number]):
            said.append(show(number, who))
    print(f"{len(said)} bugs tried, {said.count('NO TEST')} survive; {len(bugs) - len(said)} did not compile")


if __name__ == "__main__":
    main()
