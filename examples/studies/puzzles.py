"""The algorithmic puzzles of ARENA (McDougall et al.), on models of these shapes trained here: which
heads implement the published solutions?"""
import subprocess

from study import Study, span

study = Study("puzzles", "Puzzles: heads of published solutions", seeds=5)
with open(study.path("palindromes.jsonl"), "w") as lines:
    count = str(study.pick(20000, 2000))
    subprocess.run(["python3", "examples/tasks/palindromes.py", count], stdout=lines, check=True)
SUMS = study.task_of("python3 examples/tasks/modular.py")
PUZZLES = [  # task, settings, relation, claim
    ("sort", ("--layers", 1, "--heads", 4), "larger", "heads split the values that they sort"),
    ("brackets", ("--layers", 2, "--heads", 2), "opener", "a head finds the open bracket"),
    (f"file:train={study.path('palindromes.jsonl')}", (), "mirror",
     "heads attend to the mirrored position"),
    (SUMS, (), "operands", "heads of sums take both summands"),
]
for task, settings, relation, says in PUZZLES:
    name = relation
    [runs] = study.train(name, "--task", task, *settings).values()
    lifts, owners, shared = [], [], []
    for run in runs:
        found = study.headlab("heads", run)
        [row] = [row for row in found["relations"] if row["name"] == relation]
        lifts.append(row["best"]["lift"])
        owners.append(bool(row["owned"]))
        shared.append(any(one["relation"] == relation for one in found["divisions"]))
    edges = [study.headlab("ablate", run, "--gold-edges") for run in runs]
    causes = [any(test["verdict"] == "cause" for row in report["relations"]
                  if row["name"] == relation for test in row["tests"]) for report in edges]
    study.claim("ARENA", says,
                f"`{relation}`: lift of the best head {span(lifts, 2)}; owner in {sum(owners)}, "
                f"shared in {sum(shared)}, cause in {sum(causes)} of {len(runs)} seeds",
                all(cause and (owner or share) for cause, owner, share in zip(causes, owners, shared)),
                "in every seed the relation has an owner or is shared, and its edges are a cause")
study.finish()
