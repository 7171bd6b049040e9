#!/usr/bin/env python3
"""Lets every call of the system fail, one at a time, and kills the program in front of each.

    tests/tools/faults/run.py PROGRAM [--folder DIR] [--every N] [--first I] [--kills N] [--only SCENARIO]
                              [--calls read,pread] [--jobs N]

Each scenario is a small command that writes (train, resume, replace, prune, sweep, curve, heads). It runs
once untouched, which tells its calls and its result; then once for each call of each kind that
fails, and once for each call before which it is killed. After each of them the program must have
ended by itself with status 0, 1 or 3 and an error in words (or by the kill), and going on must lead
to the result of the untouched run, byte for byte: the same command again, or `train --resume`.
--every N takes every Nth call, beginning with --first; --calls names the kinds of calls to try;
--kills N kills at N random times instead.
By hand, nothing was left unmended after every failed read and pread of each scenario (495: by error, by
a signal, and from one call on), and before that after every other fault of sweep (1,461), curve (327)
and heads (325), every third of train (400), resume (253), replace (441) and prune (391), and 1,001
random kills (143 of each).
"""
import argparse, concurrent.futures, hashlib, json, os, random, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = ["train", "--task", "copy", "--steps", "6", "--eval-every", "2", "--save-every", "2", "--batch", "2",
         "--eval-examples", "2", "--d-model", "8", "--track-heads", "3", "--threads", "1"]
CALLS = {"read": (5, 4), "pread": (5, 4), "write": 28, "fsync": 5, "rename": 5, "open": 24, "mkdir": 28, "close": 5, "ftruncate": 5, "unlink": 1,
         "flock": (37, 5, 4), "mmap": 12, "malloc": 12, "worker": 12}


class Scenario:
    """A command in an empty folder: what is there before, what runs, and what goes on after a death."""

    def __init__(self, name, command, before=(), again=None, run="r", keep=("config.json", "model.safetensors"),
                 calls=()):
        self.name, self.command, self.before = name, command, before
        self.again = again or [command]
        self.run, self.keep = run, keep
        self.calls = calls or [call for call in CALLS if call != "worker"] + ["any"]


SWEEP = ["sweep", "--task", "copy", "--heads", "1,2", "--steps", "3", "--eval-every", "3", "--batch", "2",
         "--eval-examples", "2", "--d-model", "8", "--threads", "1", "--out", "s"]
BASE = TRAIN + ["--out", "base", "--heads", "2"]
RESUME = ["train", "--resume", "r", "--threads", "1"]
PRUNE = ["prune", "base", "--keep", "2", "--method", "magnitude", "--finetune", "4", "--out", "r", "--threads", "1"]
SCENARIOS = [
    Scenario("train", TRAIN + ["--out", "r"], again=[RESUME, TRAIN + ["--out", "r"]]),
    Scenario("resume", RESUME + ["--steps", "10"], before=[TRAIN + ["--out", "r"]],
             again=[RESUME + ["--steps", "10"]]),
    Scenario("replace", TRAIN + ["--seed", "1", "--force", "--out", "r"], before=[TRAIN + ["--out", "r"]],
             again=[TRAIN + ["--seed", "1", "--force", "--out", "r"]]),
    Scenario("prune", PRUNE, before=[BASE], again=[PRUNE, PRUNE + ["--force"]],
             keep=("config.json", "model.safetensors", "prune.json")),
    Scenario("sweep", SWEEP, run="s/heads=2,seed=0", keep=("config.json", "model.safetensors", "cell.json")),
    Scenario("curve", ["curve", "base", "--methods", "magnitude,random", "--examples", "4", "--judged", "4",
                       "--threads", "1"], before=[BASE], run="base",
             keep=("config.json", "model.safetensors", "curve.json")),
    Scenario("heads", ["heads", "base", "--examples", "64", "--threads", "2"], before=[BASE], run="base",
             keep=("config.json", "model.safetensors", "heads.json"), calls=tuple(CALLS) + ("any",)),
]


def plain(path):
    """The bytes of a file without what differs between two runs of the same: times and costs."""
    with open(path, "rb") as file:
        content = file.read()
    if not path.endswith(".json"):
        return content

    def drop(value):
        if isinstance(value, dict):
            return {k: drop(v) for k, v in value.items() if k not in ("seconds", "ms_per_batch", "command", "checksum")}
        return [drop(v) for v in value] if isinstance(value, list) else value
    return json.dumps(drop(json.loads(content))).encode()


class Place:
    """A folder in which a scenario runs."""

    def __init__(self, program, library, folder):
        self.program, self.library, self.folder = program, library, folder

    def run(self, words, timeout=120, **fault):
        env = dict(os.environ, NO_COLOR="1", **{k.upper(): str(v) for k, v in fault.items()})
        if fault:
            env["LD_PRELOAD"] = self.library
        done = subprocess.run([self.program] + words, cwd=self.folder, env=env, capture_output=True, text=True,
                              timeout=timeout, errors="replace")
        return done.returncode, done.stdout, done.stderr

    def prepare(self, scenario):
        shutil.rmtree(self.folder, ignore_errors=True)
        made = self.folder + "." + scenario.name  # what was before is made once
        if not os.path.exists(made):
            os.makedirs(self.folder)
            for words in scenario.before:
                code, _, err = self.run(words)
                assert code == 0, (words, err)
            shutil.move(self.folder, made)
        shutil.copytree(made, self.folder)

    def result(self, scenario):
        found = {}
        for name in scenario.keep:
            path = os.path.join(self.folder, scenario.run, name)
            found[name] = hashlib.sha256(plain(path)).hexdigest() if os.path.exists(path) else None
        return found

    def goes_on(self, scenario, wanted):
        """Tries the ways to go on; what is still wrong after each, or nothing."""
        told = []
        for words in scenario.again:
            if self.result(scenario) == wanted and told:
                return []
            code, _, err = self.run(words)
            told.append(f"{' '.join(words[:2])}: {code} {err.strip()[-160:]}")
            if code in (0, 1) and self.result(scenario) == wanted:
                return []
        have = self.result(scenario)
        return told + [name for name in wanted if have[name] != wanted[name]]


def check_end(code, err, killed):
    if killed and code == -9:
        return []
    if code not in (0, 1, 3, 130):
        return [f"ended with {code}: {err.strip()[-200:]}"]
    if code == 1 and "error: " not in err and "failed: " not in err and "libgomp: Out of memory" not in err:  # before main
        return [f"ended with 1 without a word: {err.strip()[-200:]}"]
    return []


def attack(place, scenario, args, log):
    place.prepare(scenario)
    code, _, err = place.run(scenario.command)
    assert code == 0, err
    wanted = place.result(scenario)
    assert all(wanted.values()), wanted
    attacks = []
    count_file = place.folder + ".count"
    for call in scenario.calls:
        if args.calls and call not in args.calls.split(","):
            continue
        place.prepare(scenario)
        place.run(scenario.command, fault_call=call, fault_at=0, fault_count=count_file)
        with open(count_file) as file:
            calls = int(file.read())
        every = args.every * (max(1, calls // 150) if call in ("malloc", "mmap") else 1)
        for at in range(1 + args.first % every, calls + 1, every):
            fault = dict(fault_call=call, fault_at=at)
            codes = CALLS.get(call, ())
            attacks += ([dict(fault, fault_kill=1)] if call == "any" else
                        [dict(fault, fault_errno=code) for code in (codes if isinstance(codes, tuple) else (codes,))])
            is_fifth = call in ("write", "malloc", "worker") and at % 5 == 1 and at > 1  # the first: before main
            if is_fifth or call in ("read", "pread"):  # all later ones fail too: no loop may wait for them
                attacks.append(dict(fault, fault_errno=codes[0] if isinstance(codes, tuple) else codes, fault_last=1))
    failures = 0
    for fault in attacks:
        place.prepare(scenario)
        try:
            code, _, err = place.run(scenario.command, timeout=60, **fault)
            wrong = check_end(code, err, "fault_kill" in fault) or place.goes_on(scenario, wanted)
        except subprocess.TimeoutExpired:
            wrong = ["did not end within 60 s"]
        if wrong:
            failures += 1
            print(f"{scenario.name} {fault}: " + "; ".join(wrong), file=log, flush=True)
    return len(attacks), failures


def kill_at_random(place, scenario, kills, log):
    place.prepare(scenario)
    begin = time.time()
    place.run(scenario.command)
    took, wanted, failures = time.time() - begin, place.result(scenario), 0
    for _ in range(kills):
        place.prepare(scenario)
        process = subprocess.Popen([place.program] + scenario.command, cwd=place.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, took))
        process.kill()
        process.wait()
        wrong = place.goes_on(scenario, wanted)
        if wrong:
            failures += 1
            print(f"{scenario.name} killed: " + "; ".join(wrong), file=log, flush=True)
    return kills, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--folder")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--calls")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    root = os.path.abspath(args.folder or tempfile.mkdtemp())
    os.makedirs(root, exist_ok=True)
    library = os.path.join(root, "fail.so")
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library,
                    os.path.join(HERE, "fail.cc"), "-ldl"], check=True)
    scenarios = [scenario for scenario in SCENARIOS if args.only in (None, scenario.name)]

    def campaign(scenario):  # each in a folder of its own
        begin = time.time()
        place = Place(os.path.abspath(args.program), library, os.path.join(root, scenario.name))
        if args.kills:
            attacks, failures = kill_at_random(place, scenario, args.kills, sys.stdout)
        else:
            attacks, failures = attack(place, scenario, args, sys.stdout)
        print(f"{scenario.name}: {attacks} faults, {failures} not mended, {time.time() - begin:.0f} s", flush=True)
        return attacks, failures
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        ended = list(pool.map(campaign, scenarios))
    total, failed = (sum(column) for column in zip(*ended))
    print(f"{total} faults, {failed} not mended")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
