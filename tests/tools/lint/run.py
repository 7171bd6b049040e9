#!/usr/bin/env python3
# Applies the rules of .clang-tidy to C++ and those of scripts.mjs to scripts.
#
#     tests/tools/lint/run.py [--build FOLDER] [--count] [--fix] [--jobs N] [PATH ...]
#
# PATH is a folder or a file of the project; without one, the paths of CLEAN below are checked.
# CI checks the framework and the public headers. Prints every violation once; the status is 1 if there are any. --count prints how many
# there are in each folder instead. --build keeps the configuration that names the compiler's
# options in FOLDER (default: a temporary folder). N units are read at once (default: one for each
# core). --fix writes what clang-tidy can repair by itself, missing braces above all: clang-format and
# review it afterwards.
#
# Needs clang-tidy-19 and cmake (Debian: clang-tidy-19), and node for scripts. Sources are read in the
# units of the build, several files at once, so that the standard library is parsed a few times only.
import argparse, collections, concurrent.futures, json, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Paths without violations. A folder whose last violation is gone belongs here.
CLEAN = ["include/headlab", "src/core", "src/lab", "src/app", "tests/tools/lint"]
TIDY, COMPILER = "clang-tidy-19", "clang++-19"
VIOLATION = re.compile(r"^(/[^:\n]+):(\d+):\d+: (?:warning|error): (.*)$", re.M)


def is_below(path, folders):
    """Whether the file `path` is one of `folders` or lies in one of them."""
    return any(path == folder or folder in path.parents for folder in folders)


def configure(build):
    """Returns the compile commands of all units, as clang++ would build them."""
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DHEADLAB_NATIVE=OFF", "-DHEADLAB_THREADS=OFF"],
        check=True, stdout=subprocess.DEVNULL)
    return json.loads((build / "compile_commands.json").read_text())


def sources_of(unit):
    """Returns the sources that `unit` joins, or `unit` itself if it is a single source."""
    joined = re.findall(r'^#include "(/[^"]+\.cc)"', unit.read_text(), re.M) if "/Unity/" in str(unit) else [unit]
    return [pathlib.Path(source) for source in joined]


def units_for(commands, paths):
    """Units that together hold each source below `paths`."""
    wanted, covered = [], set()
    # Units first, in which a source is read with others; single sources only if no unit has them.
    for command in sorted(commands, key=lambda entry: "/Unity/" not in entry["file"]):
        unit = pathlib.Path(command["file"])
        sources = set(sources_of(unit)) - covered
        if any(is_below(source, paths) for source in sources):
            wanted.append(unit)
            covered |= sources
    return wanted


def unit_of_headers(build, paths):
    """A unit that includes each header below `paths`, and its entry among the compile commands."""
    headers = [header for header in sorted(ROOT.rglob("*.h")) if is_below(header, paths)]
    unit = build / "headers.cc"
    unit.write_text("".join(f'#include "{header}"\n' for header in headers))
    folders = " ".join(f"-I{ROOT / folder}" for folder in ("include", "src", "tests"))
    return {"directory": str(build), "file": str(unit), "command": f"{COMPILER} -std=c++20 {folders} -c {unit}"}


def tidy(build, unit, fix):
    """The output of clang-tidy for a unit, and its complaints."""
    found = subprocess.run([TIDY, "--quiet", *(["--fix"] if fix else []), f"--config-file={ROOT}/.clang-tidy", "-p", build, unit],
                           capture_output=True, text=True)
    return found.stdout, found.stderr


def cpp_violations(build, paths, jobs, fix):
    """{(path, line, message)} of C++ below `paths`; a source that does not compile counts as one."""
    commands = configure(build)
    units = units_for(commands, paths)
    commands.append(unit_of_headers(build, paths))
    units.append(pathlib.Path(commands[-1]["file"]))
    (build / "compile_commands.json").write_text(json.dumps(commands))
    violations = set()
    with concurrent.futures.ThreadPoolExecutor(1 if fix else jobs) as pool:
        for output, complaint in pool.map(lambda unit: tidy(build, unit, fix), units):
            for path, line, message in VIOLATION.findall(output):
                path = pathlib.Path(os.path.normpath(path))
                if is_below(path, paths) or "clang-diagnostic-error" in message:
                    violations.add((path, int(line), message.replace(",-warnings-as-errors", "")))
            if "Error while processing" in complaint and not VIOLATION.search(output):
                sys.exit(complaint)
    return violations


def script_violations(paths):
    """{(path, line, message)} of scripts below `paths`."""
    scripts = [script for path in paths for kind in ("*.js", "*.mjs")
               for script in ([path] if path.is_file() else path.rglob(kind)) if script.match(kind)]
    if not scripts:
        return set()
    program = ROOT / "tests/tools/lint/scripts.mjs"
    found = subprocess.run(["node", "--expose-internals", program, *scripts], capture_output=True, text=True)
    if found.returncode not in (0, 1):
        sys.exit(found.stderr)
    return {(pathlib.Path(path), int(line), message) for path, line, message in VIOLATION.findall(found.stdout)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("paths", nargs="*", default=CLEAN)
    options = parser.parse_args()
    paths = [ROOT / path for path in options.paths]
    for path in paths:
        if not path.exists():
            sys.exit(f"cannot check {path}: it does not exist")
    if not shutil.which(TIDY):
        sys.exit(f"cannot check the sources: {TIDY} is not installed\ninstall it: apt-get install {TIDY}")
    with tempfile.TemporaryDirectory() as temporary:
        build = options.build or pathlib.Path(temporary)
        violations = cpp_violations(build, paths, options.jobs, options.fix) | script_violations(paths)
    by_folder = collections.Counter()
    for path, line, message in sorted(violations):
        path = path.relative_to(ROOT)
        by_folder[str(path.parent), message[message.rfind("["):]] += 1
        if not options.count:
            print(f"{path}:{line}: {message}")
    for (folder, rule), count in sorted(by_folder.items()):
        if options.count:
            print(f"{count:5}  {folder}  {rule}")
    print(f"{len(violations)} violations in {' '.join(options.paths)}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
