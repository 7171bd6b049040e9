"""Phases of learning Markov chains in context (Edelman et al. 2024): first the counts of symbols,
then the counts of pairs, with a head that emerges in between."""
from study import Study, metrics, span

study = Study("phases", "Phases: Markov chains in context", seeds=5)
[runs] = study.train("chains", "--task", study.task_of("python3 examples/tasks/markov.py losses"),
                     "--track-heads", 10, "--eval-every", 10,
                     *study.pick((), ("--steps", 30))).values()
UNIGRAM, BIGRAM = 1.0124, 0.8999  # losses of the best guesses on the held-out chains (markov.py)
HALF = (UNIGRAM + BIGRAM) / 2


def step_at(run, loss):
    """The first evaluated step with at most this loss."""
    return next((row["step"] for row in metrics(run) if row["loss"] <= loss), None)


symbols = [step_at(run, UNIGRAM + 0.01) for run in runs]
pairs = [step_at(run, HALF) for run in runs]
emerged = [study.emergence(run).get("after_same") for run in runs]
waited = [sum(abs(row["loss"] - UNIGRAM) <= 0.01 for row in metrics(run)) * 10 for run in runs]
ordered = [s and p and e and s <= e <= p for s, e, p in zip(symbols, emerged, pairs)]
study.claim("Edelman et al. 2024", "the model first predicts by counts of symbols, then by pairs",
            f"within 0.01 of the first at step {span(symbols)}, halfway to the second at step "
            f"{span(pairs)}",
            all(s and p and s < p for s, p in zip(symbols, pairs)),
            "in every seed the first step comes before the second")
study.claim("Edelman et al. 2024", "a head emerges with the second phase",
            f"the head that attends to followers of the same symbol emerges at step "
            f"{span(emerged)}", all(ordered),
            "in every seed it emerges between these two steps")
study.claim("Edelman et al. 2024", "the loss waits at a plateau between the phases",
            f"within 0.01 of the first phase's loss for {span(waited)} steps",
            all(p and w >= p / 2 for w, p in zip(waited, pairs)),
            "the loss stays there for half of the steps to the second phase, in every seed")
study.finish()
