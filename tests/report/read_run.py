"""A run as scripts of the tests read it: its files, and what the program says of it."""

import functools
import json
import subprocess

import sentences as first


def agrees(said, value):
    """Whether a number as it is written is this value, rounded to its last digit."""
    plain = said.replace("−", "-").replace(",", "")
    mantissa, _, power = plain.partition("e")
    unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return abs(float(plain) - value) <= 0.5001 * unit + 1e-9


class Run:
    """The files of a run, and what the program says of it."""

    def __init__(self, folder, said, program):
        self.folder, self.said, self.program = folder, said, program

    @functools.lru_cache(maxsize=None)
    def file(self, name):
        """A file of the run, or of the sweep that it is a trial of; None without one."""
        own = first.read(self.folder, name)
        return own if own is not None else first.read(self.folder.parent, name)

    def family(self):
        """The runs of the page: this one and its parent, or the first of each group of a sweep."""
        parent = self.file("config.json").get("parent")
        folders = [self.folder] + [self.folder.parent / parent] * bool(parent)
        if first.read(self.folder.parent, "sweep.json"):
            folders = sorted(self.folder.parent.glob("*seed=0"))
        return [Run(folder, self.said, self.program) for folder in folders]

    @functools.lru_cache(maxsize=None)
    def lines(self, name):
        return first.lines_of(self.folder, name)

    @functools.lru_cache(maxsize=None)
    def asked(self, *words):
        command = [self.program, *words, "--json"]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def evaluation(self, *off):
        more = ["--without", ",".join(sorted(off))] if off else []
        return self.asked("eval", str(self.folder), "--examples", str(self.said["examples"]), *more)

    def pattern(self, at):
        return self.asked("pattern", str(self.folder), at["head"], "--example", str(at["example"]))

    @property
    def heads(self):
        return self.file("heads.json")

    def relation(self, spoken):
        return first.relation_named(self.heads, spoken)

    def score(self, head, spoken):
        row = next(h for h in self.heads["heads"] if first.name_of((h["layer"], h["head"])) == head)
        return row["scores"][self.relation(spoken)]

    def trained(self):
        """The loss and the share of right answers, on as many examples as the page has."""
        return self.evaluation()
