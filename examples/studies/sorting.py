"""Sorting heads split the alphabet (Urdshals 2025)."""
from study import Study, span

study = Study("sorting", "Sorting: heads that share one relation", seeds=10, minutes=1)
[runs] = study.train("sort", "--task", "sort:symbols=48,shortest=10,longest=10", "--layers", 1,
                     "--heads", 2, "--d-ff", 0, *study.pick(("--steps", 1000), ())).values()
found = [study.headlab("heads", run) for run in runs]
splits = [one for report in found for one in report["divisions"] if one["relation"] == "larger"]
by_token = [one for one in splits if str(one["by"]).startswith("token")]
split_by_token = [any(one in by_token for one in report["divisions"]) for report in found]
explained = [one["explained"] for one in by_token]
study.claim("Urdshals 2025", "heads split the sorting by the value of the token",
            f"shared in {len(splits)} of {len(runs)} seeds, split by the token in {len(by_token)}"
            + (f", which explains {span(explained, 2)} of the shares" if by_token else ""),
            split_by_token, "its heads share the relation and split it by a token")
copying = []
for run in runs:
    circuits = study.headlab("circuits", run)["heads"]
    copying.append([value for head in circuits for value in head["copying"]])
negative = [sum(value < 0 for value in values) for values in copying]
study.claim("Urdshals 2025", "some heads suppress the tokens they attend to",
            f"{sum(negative)} of {sum(map(len, copying))} heads have a negative copying score",
            negative, "at least one of its heads has a negative copying score")
study.look("page", runs[0], "--out", study.path("page.html"))
study.finish()
