#!/usr/bin/env python3
"""Runs the commands of README.md and examples/RESULTS.md as they are printed.

    tests/tools/results/run.py PROGRAM FOLDER [--only WORDS]   compares the numbers in the text below
    tests/tools/results/run.py PROGRAM FOLDER --quick          only asks that each command works

A block is a group of indented lines that begins with a command. It runs in FOLDER, where
build/headlab is PROGRAM, after `seeds=...` of the document. Every number between a block and the
next block or heading must be one that the block prints, rounded to as many digits; years and
numbers in backquotes are left out. Numbers that are not found are listed, with their lines, for a
reader: a table may hold means over runs that no command prints. All blocks together take hours, so
choose one with --only.

--quick trains for 2 steps, with the first seed, and leaves out the studies, which
tests/tools/studies.sh runs, the test programs, and the comparisons of attention functions and of
kinds of models, where trying all subsets of 40 models takes 20 minutes. The exit status is 1 if a
command fails, and without --quick also if a number is not found.
"""
import argparse, os, re, subprocess, sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
DOCUMENTS = ("README.md", "examples/RESULTS.md")
COMMAND = re.compile(r"(build/headlab|python3|for \w+ in|while read|seeds=|HEADLAB_SEEDS=|build/test_)"
                     r" ?\S")
NUMBER = re.compile(r"(?<![\w.,:/=+-])-?(?:\d{1,3}(?:,\d{3})+|\d*\.?\d+)(?:e-?\d+)?(?![\w/=:])")
LEFT_OUT = re.compile(r"build/test_|python3 examples/stud|sweeps/functions|kinds/")
SMALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small.py")


def blocks_of(name):
    """The blocks of a document: the line of each, its commands, and the lines of text below it."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    blocks, inside, below = [], False, False
    for number, line in enumerate(lines, 1):
        indented = line.startswith("    ")
        if indented and not inside and COMMAND.match(line[4:]):
            blocks.append((number, [line[4:]], []))
            inside = below = True
        elif indented and inside:
            blocks[-1][1].append(line[4:])
        else:
            inside = False
            below = below and not line.startswith("#")
            if below:
                blocks[-1][2].append((number, line))
    return blocks


def run(commands, prelude, folder):
    """What a block prints, and its exit status."""
    script = "set -eo pipefail\n" + "\n".join([*prelude, *commands])
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode


def value_of(word):
    return float(word.replace(",", ""))


def numbers_of(text):
    return [word for word in NUMBER.findall(text) if not re.fullmatch(r"(199|20[012])\d", word)]


def is_printed(word, printed):
    """Whether one of the printed numbers, rounded as the word is, equals it."""
    mantissa, _, exponent = word.partition("e")
    digits = len(mantissa.partition(".")[2])
    unit = 10.0 ** ((int(exponent) if exponent else 0) - digits)
    return any(abs(value_of(word) - other) <= 0.5001 * unit for other in printed)


def not_found(below, output):
    """The numbers of the text below a block that the block does not print, with their lines."""
    printed = [value_of(word) for word in numbers_of(output)]
    words = [(line, word) for line, text in below
             for word in numbers_of(re.sub(r"`[^`]*`", "", text))]
    return len(words), [(line, word) for line, word in words if not is_printed(word, printed)]


def prepare(folder, program, quick):
    """Links what the commands name: the program, the tests and the examples."""
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    built = os.path.dirname(program)
    links = {os.path.join("build", name): os.path.join(built, name) for name in os.listdir(built)
             if name.startswith("test_")}
    links |= {name: os.path.join(ROOT, name)
              for name in ("datasets", "examples/tasks", "examples/studies")}
    links["build/headlab"] = SMALL if quick else program
    os.makedirs(os.path.join(folder, "examples/pictures"), exist_ok=True)  # the project's stay
    for name, to in links.items():
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(to, path)
    os.environ["HEADLAB_PROGRAM"] = program
    if quick:
        os.environ["OMP_NUM_THREADS"] = "1"  # the models are too small for more


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="run only blocks whose commands contain this")
    args = parser.parse_args()
    prepare(args.folder, os.path.abspath(args.program), args.quick)
    failed = 0
    for name in DOCUMENTS:
        prelude = []
        for line, commands, below in blocks_of(name):
            text = "\n".join(commands)
            if commands[0].startswith("seeds="):
                prelude = commands
                continue
            if args.only not in text or args.quick and LEFT_OUT.search(text):
                continue
            output, status = run(commands, prelude, args.folder)
            outcome = "works" if status == 0 else "FAILS"
            print(f"{name}:{line}: {outcome}  {commands[0]}", flush=True)
            if status != 0:
                print(output[-2000:])
                failed = 1
            elif not args.quick:
                count, missing = not_found(below, output)
                print(f"    {count - len(missing)} of {count} numbers below are printed")
                for place, word in missing:
                    print(f"    line {place}: {word} is not printed")
                failed |= bool(missing)
    sys.exit(failed)


if __name__ == "__main__":
    main()
