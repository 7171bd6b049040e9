"""Puzzles of ARENA's course (McDougall et al. 2023) on models of our own: palindromes by mirrored
attention, addition by heads that take the two digits and those of the carry, and running sums by
uniform attention. The data come from examples/tasks."""
import os
import subprocess

from study import Study, span

study = Study("puzzles", "Algorithmic puzzles", seeds=6, minutes=3)
TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks")


def train(name, *flags):
    path = study.path(f"{name}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        command = ["python3", os.path.join(TASKS, f"{name}.py"), str(study.pick(9000, 300))]
        subprocess.run(command, stdout=file, check=True)
    runs = study.train_one(name, "--task", f"file:train={path}", *flags)
    return runs, [study.headlab("eval", run)["accuracy"] for run in runs]


def cost_share(run, relation):
    """The cost of hiding a relation's edges in its best head, of hiding them in all heads."""
    rows = study.headlab("ablate", run, "--truth-edges")["relations"]
    *single, together = next(row["tests"] for row in rows if row["name"] == relation)
    best = max(test["truth"]["change"] for test in single)
    return best / together["truth"]["change"] if best > 0 else 0.0


def areas_by_ablation(run):
    rows = study.headlab("edges", run, "--examples", study.pick(32, 4))["relations"]
    return [score["area"]["mean"] for row in rows for score in row["scores"]
            if score["score"] == "ablation"]


runs, right = train("palindromes")
study.look("page", runs[0], "--out", study.path("palindromes.html"))
shares = [cost_share(run, "mirror") for run in runs]
study.claim("ARENA 2023", "palindromes: a head attends to the mirrored letter",
            f"accuracy {span(right, 3)}; part of the best head in the cost of the mirrored "
            f"edges: {span(shares, 2)}",
            [a > 0.99 and share > 0.5 for a, share in zip(right, shares)],
            "accuracy is above 0.99 and hiding the mirrored edges in one head costs "
            "more than half of hiding them in all heads")
runs, right = train("addition")
areas = [areas_by_ablation(run) for run in runs]
study.claim("ARENA 2023", "addition: heads take the two digits, and those of the carry",
            f"accuracy {span(right, 3)}; area of the edges by ablation: "
            f"{span(sum(areas, []), 2)}",
            [a > 0.99 and min(area) > 0.8 for a, area in zip(right, areas)],
            "accuracy is above 0.99, and masking ranks the edges to the two digits "
            "and to those of the carry with an area above 0.8 (`edges`)")
runs, right = train("running_sums")
focus = [min(head["focus"] for head in study.headlab("heads", run)["heads"]) for run in runs]
study.claim("ARENA 2023", "running sums: attention is uniform over the past",
            f"accuracy {span(right, 3)}; smallest focus of a head: {span(focus, 2)}",
            [a > 0.95 and least < 0.1 for a, least in zip(right, focus)],
            "accuracy is above 0.95 and the focus of a head is below 0.1 (0 is "
            "uniform)")
study.finish()
