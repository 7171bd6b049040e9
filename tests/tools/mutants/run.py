#!/usr/bin/env python3
"""Small bugs, one at a time: the tests of the layer in which they are must notice them.

    tests/tools/mutants/run.py COPY BUILD [--draw N] [--seed TEXT] [--match REGEX] [--list]

Rules make the bugs from the sources as they stand: an operator, a number or a condition becomes
another, a statement is left out. N of them are drawn by the seed, from src, include and the page's scripts.
COPY is a copy of the project, which this program changes and mends again; BUILD a build of it, best
with -DCMAKE_UNITY_BUILD=OFF and ccache: a bug then compiles one file. Each bug is built and shown to
the programs of its layer (test_NAME, test_NAME_f64, test_NAME_train; for scripts of the page
test_report and test_browser), short tests first, until one fails or takes several times as long as
usual; a bug of a header, in its own layer and its tests. What does not compile is drawn again. Prints
who noticed each; the status is 0 even if NOBODY did, for some bugs change nothing that can be seen.
--list only shows what is drawn.
"""
import argparse, concurrent.futures, json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile

MEMORY = 8_000_000  # KB that a test may use: a wrong size must not take the machine's
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
         (" === ", " !== "), (" !== ", " === "), (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "),
         (" * ", " / "), (" / ", " * "), (" += ", " -= "), (" -= ", " += "), ("true", "false"), ("false", "true")]
SHORT = 0.3  # seconds: a test that is shown to a bug before longer ones
# No result: what is reserved, limits that nothing reaches, and, in what draws, where things stand
# and how large they are: of its numbers only 0 and 1 become others.
NO_RESULT = r"\breserve\(|1 << (1[6-9]|[23]\d)\b"
DRAWS = r"src/report/(?!page/core_)"
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


def bugs_of(copy):
    """Every bug of every source: (path, number of the line, the line, the line with the bug)."""
    found = []
    kinds = ["src/*/*.cc", "src/*/*.h", "include/headlab/*/*.h", "src/report/page/*.js"]
    paths = [path for kind in kinds for path in copy.glob(kind)]
    for path in sorted(paths):
        text = path.read_text()
        lines, plain = text.split("\n"), masked(text).split("\n")
        draws = re.search(DRAWS, path.as_posix())
        for i, line in enumerate(lines):
            for begin, end, new in bugs_of_line(plain[i], plain[i - 1].replace("~", ""), draws):
                bug = line[:begin] + new.replace("{}", line[begin:end]) + line[end:]
                found.append((path, i, line, bug))
    return found


def programs_of(path, targets):
    """The test programs of a source's layer."""
    layer = path.parent.name
    names = ["report", "browser"] if layer == "page" else [layer, layer + "_f64", layer + "_train"]
    return [name for name in ("test_" + name for name in names) if name in targets]


def fails(program, limit, *options):
    """Whether a program fails, or does not end within so many seconds of two processors."""
    with tempfile.TemporaryDirectory() as place:
        bound = f"ulimit -t {2 * limit}; "
        if "browser" not in os.path.basename(program):  # a browser reserves more
            bound += f"ulimit -v {MEMORY}; "
        waits = 20 * limit  # what stands still, on a machine that others use
        command = ["timeout", "-k", "1", str(waits), "bash", "-c", bound + 'exec "$0" "$@"', program,
                   "--gtest_brief=1", *options]
        return subprocess.run(command, cwd=place, env=dict(os.environ, TMPDIR=place), stdin=subprocess.DEVNULL,
                              capture_output=True, start_new_session=True).returncode != 0


class Judge:
    def __init__(self, copy, build):
        self.copy, self.build, self.parts = copy, build, {}  # parts: of a program, (filter, usual seconds)
        said = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True).stdout
        self.targets = set(re.findall(r"\btest_\w+", said))
        self.pool = concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2))

    def make(self, *targets):
        return subprocess.run(["cmake", "--build", self.build, "-j", str(os.cpu_count()), "--target", *targets],
                              capture_output=True, text=True, errors="replace")

    def prepare(self, names):
        """Builds what has not been asked for before, without a bug, and measures each of its tests; what
        fails by itself is left out."""
        built = self.make(*names) if names else None
        if built and built.returncode:
            raise SystemExit("the copy does not build:\n" + (built.stdout + built.stderr)[-3000:])
        for name in names:
            with tempfile.NamedTemporaryFile() as told:
                fails(os.path.join(self.build, name), 1800, "--gtest_output=json:" + told.name)
                suites = json.loads(told.read() or b"{}").get("testsuites", [])
            tests = {f"{suite['name']}.{test['name']}": test for suite in suites for test in suite["testsuite"]}
            bad = [test for test in tests if tests[test].get("failures")]
            seconds = {test: float(tests[test]["time"][:-1]) for test in tests if test not in bad}
            long = [test for test in seconds if seconds[test] > SHORT]
            if bad or not tests:
                print(f"{name}: fails without any bug, left out: {' '.join(bad) or 'all'}", flush=True)
            short = sum(seconds.values()) - sum(map(seconds.get, long))
            self.parts[name] = [("-" + ":".join(long + bad), short)] if tests else []
            self.parts[name] += [(test, seconds[test]) for test in sorted(long, key=seconds.get)]

    def judged(self, bug):
        """A promise of the program that notices a bug, or None; None at once if it does not compile."""
        path, i, _, line = bug
        names = programs_of(path, self.targets)
        self.prepare([name for name in names if name not in self.parts])
        text, times = path.read_text(), path.stat()
        lines = text.split("\n")
        lines[i] = line
        path.write_text("\n".join(lines))
        if path.suffix == ".h":  # compiled into its own layer and tests alone
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.touch(path.parent.name)
        try:
            return self.shown(path, [name for name in names if self.parts[name]])
        finally:
            path.write_text(text)
            if path.suffix == ".h":
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
                self.touch(path.parent.name)

    def touch(self, layer):
        for source in [*self.copy.glob(f"src/{layer}/*.cc"), *self.copy.glob(f"tests/{layer}/*.cc")]:
            source.touch()

    def shown(self, path, names):
        """The promise of one program after the other, each built when those before have noticed nothing."""
        promise = self.pool.submit(lambda: None)
        for name in names:
            if promise.result():
                break
            if self.make(name).returncode:
                return None
            kept = tempfile.mkdtemp()
            shutil.copy2(os.path.join(self.build, name), kept)
            promise = self.pool.submit(self.noticed, kept, name)
        if path.parent.name in ("page", "cli"):  # these read the copy or run its program
            promise.result()
        return promise

    def noticed(self, folder, name):
        """What of a program notices: its short tests, or the name of a longer one."""
        try:
            for tests, usual in self.parts[name]:
                if fails(os.path.join(folder, name), int(20 + 5 * usual), "--gtest_fail_fast", "--gtest_filter=" + tests):
                    return name if tests[0] == "-" else f"{name} {tests}"
            return None
        finally:
            shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copy", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--draw", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--match", default="")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # mends the source first
    if (args.copy / ".git").exists() and not args.list:
        raise SystemExit(f"{args.copy} is a checkout: give me a copy, whose sources I may change")
    bugs = [bug for bug in bugs_of(args.copy) if re.search(args.match, f"{bug[0]}:{bug[2]}")]
    print(f"{len(bugs)} bugs can be made, {args.draw} are drawn with the seed {args.seed}", flush=True)
    random.Random(args.seed).shuffle(bugs)

    def shown(bug):
        path, i, line, new = bug
        return f"{path.relative_to(args.copy)}:{i + 1}\n- {line.strip()}\n+ {new.strip()}"
    if args.list:
        print("\n".join(map(shown, bugs[:args.draw])))
        return
    judge = Judge(args.copy, args.build)
    tried, promises = 0, []
    while len(promises) < args.draw and tried < min(len(bugs), 2 * args.draw):
        bug, tried = bugs[tried], tried + 1
        if promise := judge.judged(bug):
            promise.add_done_callback(lambda done, bug=bug: print(done.result() or "NOBODY", shown(bug), flush=True))
            promises.append(promise)
    survivors = sum(promise.result() is None for promise in promises)
    print(f"{len(promises)} bugs tried, {survivors} survive; {tried - len(promises)} did not compile")


if __name__ == "__main__":
    main()
