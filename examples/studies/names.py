"""Indirect objects (Wang et al. 2022): "when ann and bob went to the park , ann gave a ball to"
ends with bob. Models of two layers train on such sentences. Prompts with named answers ask for the
logit of the indirect object less that of the subject. The mover of a model is the head that adds
most to this difference (`attribute`). The reader is the head that restores most of it when the
corrupted prompt has the other subject (`patch`)."""
import random
import sys
from statistics import mean

from study import Study, interval, print_note, read_npy, span

study = Study("names", "Indirect objects: heads that move a name", seeds=10, minutes=5,
              small_seeds=2)
NAMES = "ann bob cat dan eve fay gus hal ida jim kay leo may ned ora pam ray sue tom una".split()
PLACES, THINGS = "park school store house".split(), "ball book drink ring".split()
FRAMES = ("when {0} and {1} went to the {2} , {4} gave a {3} to",
          "then {0} and {1} were at the {2} and {4} handed the {3} over to",
          "after {0} and {1} had left the {2} , {4} said hello and sent a {3} to")
draw = random.Random(0)


def sentence():
    """A sentence, the same with the other subject, the indirect object and the subject."""
    names = draw.sample(NAMES, 2)
    subject, other = draw.sample(names, 2)
    frame, words = draw.choice(FRAMES), (*names, draw.choice(PLACES), draw.choice(THINGS))
    return frame.format(*words, subject), frame.format(*words, other), other, subject


def line(text, _, other, subject):
    words = text.split()
    end, second = len(words) - 1, len(words) - 1 - words[::-1].index(subject)
    return {"tokens": words, "targets": [None] * end + [other],
            "truth": {"object": {end: [words.index(other)]}, "subject": {end: [second]}}}


prompts = [sentence() for _ in range(study.pick(16, 2))]
lines = [line(*one) for one in (sentence() for _ in range(study.pick(6000, 100)))
         if one not in prompts]
vocabulary = sorted({word for one in FRAMES for word in one.split() if "{" not in word} |
                    {*NAMES, *PLACES, *THINGS})
header = {"vocabulary": vocabulary, "targets": ["name"], "relations": [
    {"name": "object", "description": "the indirect object, from the end"},
    {"name": "subject", "description": "the second place of the subject, from the end"}]}
train = study.write_task("names.jsonl", header, lines)
asked = study.write_task("prompts.jsonl", header, [line(*prompt) for prompt in prompts])
runs = study.train_one("names", "--task", f"file:train={train}", "--layers", 2, "--heads", 4,
                       "--d-ff", 128, "--lr", "3e-3", "--positions", "rotary",
                       "--steps", study.pick(1000, 4), "--eval-examples", 64)
accuracy = [study.headlab("eval", run)["accuracy"] for run in runs]
least = study.pick(0.99, 0)
learned = [run for run, right in zip(runs, accuracy) if right >= least]
if not learned:
    sys.exit(f"cannot judge any claim: no model reaches an accuracy of {least}")


def by_name(command, run, rows, number):
    """The mean over prompts of a number of each row that a command gives, by head or sublayer."""
    values = {}
    for text, corrupted, other, subject in prompts:
        flags = ("--corrupted", corrupted) if command == "patch" else ()
        found = study.headlab(command, run, "--input", text, "--answer", other, "--against",
                              subject, *flags)
        for row in found[rows]:
            name = row["name"] if "name" in row else f"{row['layer']}.{row['head']}"
            values.setdefault(name, []).append(number(row))
    return {name: mean(numbers) for name, numbers in values.items()}


def difference(run, *flags):
    """The mean over prompts of the logit of the indirect object less that of the subject."""
    path = study.path("logits.npy")
    study.headlab("eval", run, "--task", f"file:train={train},held_out={asked}", "--logits", path,
                  *flags)
    logits, (_, positions, _, outputs) = read_npy(path)
    found = []
    for i, (text, _, other, subject) in enumerate(prompts):
        last = (i * positions + len(text.split()) - 1) * outputs
        right, wrong = (last + vocabulary.index(name) for name in (other, subject))
        found.append(logits[right] - logits[wrong])
    return mean(found)


def measure(run):
    """What the claims need of a model, by name."""
    heads = {f"{head['layer']}.{head['head']}": head["scores"]
             for head in study.headlab("heads", run)["heads"]}
    attention = {relation: {name: scores[relation]["mass"] for name, scores in heads.items()}
                 for relation in ("object", "subject")}
    parts = by_name("attribute", run, "parts", lambda row: row["shares"][0])
    direct = {name: parts[name] for name in heads}
    restored = by_name("patch", run, "heads", lambda row: row["restored"])
    changes = by_name("lens", run, "prompt", lambda row: row["change"] or 0.0)
    mover, reader = max(direct, key=direct.get), max(restored, key=restored.get)
    whole = difference(run)
    falls = {name: whole - difference(run, "--without", name) for name in heads}
    return {
        "mover": attention["object"][mover],
        "mover leads": mover == max(heads, key=attention["object"].get),
        "restored": restored[reader], "reader": attention["subject"][reader],
        "reader leads": reader[0] == "0" and reader == max(heads, key=attention["subject"].get),
        "returns": 1 - falls[mover] / direct[mover],
        "mover costs most": mover == max((name for name in heads if name[0] == mover[0]),
                                         key=falls.get),
        "last attention": max(changes, key=changes.get) == "blocks.1.attn",
        "change": changes["blocks.1.attn"] / whole}


found = [measure(run) for run in learned]


def values(name):
    return [one[name] for one in found]


def count(name):
    """In how many of the measured models something is so."""
    return f"{sum(values(name))} of {len(found)}"


def every(*conditions):
    """Of every seed, whether a condition is so; a model that is not measured counts as no."""
    return [*conditions] + [False] * (len(runs) - len(conditions))


print_note(f"Accuracy: {span(accuracy, 3)}. {len(learned)} of {len(runs)} models reach {least} "
           "and are measured.")
print()
study.claim("Wang 2022", "name movers, which add most to the answer, attend to the indirect object",
            f"the mover's attention to it: {span(values('mover'), 2)}",
            every(*values("mover leads")),
            "no other head attends from the end to the indirect object "
            "as much as the mover")
study.claim("Wang 2022", "earlier heads read the second place of the subject",
            f"the reader restores {span(values('restored'), 2)}; its attention to that place: "
            f"{span(values('reader'), 2)}", every(*values("reader leads")),
            "the reader is in the first layer and attends most from the "
            "end to that place")
study.claim("Wang 2022", "if the mover is ablated, other heads compensate",
            f"part of the mover's logit that returns: {interval(values('returns'))}; of its layer "
            f"it costs most in {count('mover costs most')} seeds",
            every(*(part > 0 for part in values("returns"))), "the part is above 0")
study.claim("Wang 2022", "attention of late layers writes the answer",
            f"the last attention layer adds {span(values('change'), 2)} of the logit difference",
            every(*values("last attention")),
            "the logit difference rises most at the last attention layer (`lens`)")
study.look("page", learned[0], "--out", study.path("page.html"))
study.finish()
