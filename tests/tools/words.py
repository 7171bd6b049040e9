#!/usr/bin/env python3
"""Prints places whose English may be improved: words that ordinary English replaces, sentences that
begin with a relative clause, and names of tests without a subject. Called by hand; a place is no
error.

    tests/tools/words.py [PATH ...]     default: the whole project
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = re.compile(r"\b(beside|behind|anew|but for|as far as|whoever|untold|nobody|in words|stands?|"
                   r"stood)\b(?! for\b)", re.IGNORECASE)
OPENINGS = re.compile(r"(?:^|[.!:]\s+)((?:What|Of|That of|Those|By(?! default)|Whose|Whoever)\b"
                      r"[^.?!]*(?![^.?!]*\?))")
RIDDLES = re.compile(r"TEST(?:_[FP])?\(\w+, ((?:Of|That|What|Whose|Who|Those|By|And)(?=[A-Z])\w+|"
                     r"\w*(?:Is|Are)Th(?:at|ose)Of\w*)\)")
COMMENT = {".h": "//", ".cc": "//", ".js": "//", ".mjs": "//",
           ".py": "#", ".sh": "#", ".cmake": "#", ".yml": "#"}
QUOTES = re.compile(r"`[^`]*`|\"[^\"]*\"|\$\{[^}]*\}|\*\*|<[^>]*>")


def comments(lines, mark):
    """Comments with the number of their first line; those on adjacent lines are one text."""
    found, goes_on = [], False
    for number, line in enumerate(lines, 1):
        before, there, comment = line.partition(mark)
        if not there or (before.strip() and not before.endswith("  ")):
            goes_on = False
            continue
        comment = comment.lstrip("/<").strip()
        if goes_on and not before.strip():
            found[-1] = (found[-1][0], found[-1][1] + " " + comment)
        else:
            found.append((number, comment))
        goes_on = not before.strip()
    return found


def paragraphs(lines):
    """Paragraphs, items and cells of a document, without its blocks of code."""
    found, is_code, goes_on = [], False, False
    for number, line in enumerate(lines, 1):
        is_code ^= line.startswith("```")
        if is_code or not line.strip() or line.startswith(("```", "    ")):
            goes_on = False
        elif line.startswith("|"):
            found += [(number, cell.strip()) for cell in line.split("|")]
            goes_on = False
        elif goes_on and not re.match(r"\s*([-*#<]|\d+\.)", line):
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
        else:
            found.append((number, re.sub(r"^\s*([-*#]+|\d+\.)\s+", "", line)))
            goes_on = True
    return found


def texts(path):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if path.suffix in (".md", ".html"):
        return paragraphs(lines)
    return comments(lines, COMMENT[path.suffix])


def faults(text):
    plain = QUOTES.sub("x", text)
    yield from (f"the word {word.group(1)}" for word in WORDS.finditer(plain))
    yield from (f"opens a sentence: {start.group(1)[:60]}" for start in OPENINGS.finditer(plain))


def files(paths):
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in below:
            parts = file.relative_to(ROOT).parts
            is_own = not any(part.startswith("build") or part == "golden" for part in parts)
            if file.is_file() and is_own and (file.suffix in COMMENT or file.suffix in (".md", ".html")):
                yield file


def main(words):
    for file in files([pathlib.Path(word).resolve() for word in words] or [ROOT]):
        shown = file.relative_to(ROOT)
        for number, text in texts(file):
            for fault in faults(text):
                print(f"{shown}:{number}: {fault}")
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            for name in RIDDLES.finditer(line):
                print(f"{shown}:{number}: a name without a subject: {name.group(1)}")


if __name__ == "__main__":
    main(sys.argv[1:])
