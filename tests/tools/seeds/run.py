#!/usr/bin/env python3
"""How many seeds of each task's recommended settings learn: what `headlab list tasks` says, counted.

    tests/tools/seeds/run.py PROGRAM FOLDER [--first SEED] [--seeds N] [--threads N] [TASK...]

Trains N seeds of each task (100; an hour or two on two cores) as a sweep in FOLDER/TASK, which goes
on where it was stopped, and holds the counts against the program's own. They begin at 10,000: on
smaller seeds settings were chosen. The exit status is 1 where a task is worse than it says, or than
99 of 100 without saying why.
"""
import argparse, json, math, os, subprocess, sys


def interval(count, trials, z=1.96):
    """Wilson's 95% interval of a share."""
    share, shrink = count / trials, 1 / (1 + z * z / trials)
    middle = (share + z * z / (2 * trials)) * shrink
    half = z * shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return f"{middle - half:.3f} to {middle + half:.3f}"


def reached(program, folder, task, accuracy, args):
    """Accuracies of all seeds, the lowest first, and how many are high enough."""
    subprocess.run([program, "sweep", "--task", task, "--threads", str(args.threads), "--quiet",
                    "--seed", ",".join(str(args.first + i) for i in range(args.seeds)),
                    "--out", folder], check=True, stdout=subprocess.DEVNULL)
    found = []
    for name in os.listdir(folder):
        cell = os.path.join(folder, name, "cell.json")
        if os.path.exists(cell):
            with open(cell) as file:
                found.append((json.load(file)["accuracy"], name))
    return sorted(found), sum(value >= accuracy for value, _ in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--first", type=int, default=10000)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_intermixed_args()
    listed = json.loads(subprocess.run([args.program, "list", "tasks", "--json"], check=True,
                                       capture_output=True).stdout)["tasks"]
    unknown = set(args.tasks) - {task["name"] for task in listed if task["learned"]}
    if unknown:
        parser.error(f"nothing to count for {', '.join(sorted(unknown))}: not a task that asks for an accuracy")
    worse = 0
    for task in listed:
        said = task["learned"]
        if said is None or (args.tasks and task["name"] not in args.tasks):
            continue
        all_of_them, count = reached(args.program, os.path.join(args.folder, task["name"]), task["name"],
                                     said["accuracy"], args)
        seeds = len(all_of_them)
        share = min(said["reached"] / max(1, said["seeds"]), 0.99)
        bad = count < share * seeds - 1e-9
        worse += bad
        print(f"{task['name']}: {count} of {seeds} seeds ({interval(count, max(1, seeds))}) reach "
              f"{said['accuracy']} (said: {said['reached']} of "
              f"{said['seeds']}){' WORSE' if bad else ''}; lowest: "
              + ", ".join(f"{value:.4f} ({name})" for value, name in all_of_them[:5]), flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
