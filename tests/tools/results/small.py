#!/usr/bin/env python3
"""Stands in for build/headlab when run.py asks only whether commands work: it starts the program
that HEADLAB_PROGRAM names with narrow models, 2 training steps, the first seed and few
examples."""
import os, sys

TRAINS, MEASURES = ("train", "sweep"), ("heads", "ablate", "curve")
LEAST = {"--steps": "2", "--seeds": "1", "--finetune": "2", "--examples": "32", "--eval-every": "1",
         "--track-heads": "1", "--d-model": "16"}


def smaller(words):
    """The words of a command, with less to do."""
    words = [*words]
    command = words[0] if words else ""
    wanted = {}
    if command in TRAINS:
        wanted = {"--steps": "2", "--eval-examples": "32", "--d-model": "16"}
    wanted |= {"--examples": "32"} if command in MEASURES else {}
    wanted |= {"--judged": "32"} if command == "curve" else {}
    for i, word in enumerate(words[:-1]):
        if word in LEAST:
            words[i + 1] = LEAST[word]
        elif word == "--seed":
            words[i + 1] = words[i + 1].split(",")[0]
        wanted.pop(word, None)
    if "subset" in ",".join(words).replace(":", ",").split(",") and command == "curve":
        wanted["--gate-steps"] = "2"
    return words + [word for pair in wanted.items() for word in pair]


program = os.environ["HEADLAB_PROGRAM"]
os.execv(program, [program, *smaller(sys.argv[1:])])
