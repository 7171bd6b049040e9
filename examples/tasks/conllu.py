"""Any treebank in CoNLL-U (universaldependencies.org/format.html) as a language model over its
words. Truth: each dependency relation twice, `nsubj-up` from a word to its head and `nsubj-down`
back; candidates: the words with the part of speech of a key. Rare words are <unk>, never asked for.
Multiword tokens and empty nodes are passed over. Every time a sentence is read 15% of its words are
hidden (as in BERT: Devlin et al. 2019); with --causal each word predicts the next.

    python3 examples/tasks/conllu.py en_ewt-ud-train.conllu > train.jsonl
    python3 examples/tasks/conllu.py en_ewt-ud-dev.conllu --like train.jsonl > dev.jsonl
    headlab train --task file:train=train.jsonl,held_out=dev.jsonl
"""
import argparse
import collections
import json
import sys

options = argparse.ArgumentParser()
options.add_argument("file")
options.add_argument("--like", help="take the words and relations of this file, made before")
options.add_argument("--causal", action="store_true", help="predict the next word, in a decoder")
options.add_argument("--subtypes", action="store_true", help="keep nsubj:pass apart from nsubj")
options.add_argument("--min-count", type=int, default=2, help="words seen less often are <unk>")
options.add_argument("--length", type=int, default=32, help="leave out longer sentences")
options = options.parse_args()
Word = collections.namedtuple("Word", "form part head relation")

def sentences():
    words = []
    for number, line in enumerate([*open(options.file, encoding="utf-8-sig"), ""], 1):
        columns = line.rstrip("\r\n").split("\t")
        if columns == [""]:
            if any(word.head >= len(words) for word in words):
                sys.exit(f"{options.file}:{number}: a HEAD before is no word of its sentence")
            if 2 <= len(words) <= options.length:
                yield words
            words = []
        elif not line.startswith("#"):
            if len(columns) != 10 or not columns[6].replace("_", "0").isdigit():
                sys.exit(f"{options.file}:{number}: a word has 10 columns, HEAD is a number or _")
            relation = columns[7] if options.subtypes else columns[7].split(":")[0]
            head = -1 if columns[6] == "_" or relation == "_" else int(columns[6]) - 1
            if columns[0].isdigit():
                words.append(Word(columns[1], columns[3], head, relation))

def edges(words):
    for t, (_, _, head, relation) in enumerate(words):
        if head >= 0 and (head < t or not options.causal):
            yield t, head, relation + "-up"
        if head >= 0 and (t < head or not options.causal):
            yield head, t, relation + "-down"

bank = list(sentences())
names = collections.Counter(name for words in bank for _, _, name in edges(words))
count = collections.Counter(word.form for words in bank for word in words)
special = ["<unk>"] if options.causal else ["<unk>", "<mask>"]
seen = [form for form, n in count.most_common() if n >= options.min_count and form not in special]
header = {"description": "the words of a treebank, with its dependencies",
          "architecture": "decoder" if options.causal else "encoder",
          "vocabulary": special + seen, "targets": ["word"],
          "hidden": 0 if options.causal else 0.15,
          "relations": [{"name": name, "description": (
              f"the head of a word that is its {name[:-3]}" if name.endswith("-up") else
              f"the words that are the {name[:-5]} of a word")} for name, _ in names.most_common()],
          "recommended": "layers=2 heads=4 d_model=64 d_ff=128 steps=1000 batch=32 lr=2e-3 "
                         "warmup=100 schedule=cosine decay=0.1 clip=1"}
if options.like:
    header = json.loads(open(options.like, encoding="utf-8").readline())["header"]
known = set(header["vocabulary"]) - set(special)
related = {relation["name"] for relation in header["relations"]}
print(json.dumps({"header": header}))
unknown = sum(n for form, n in count.items() if form not in known) / sum(count.values())
print(f"{len(bank)} sentences; {unknown:.1%} of their words are <unk>", file=sys.stderr)
for words in bank:
    tokens = [word.form if word.form in known else "<unk>" for word in words]
    targets = [None if token == "<unk>" else token for token in tokens]
    targets = targets[1:] if options.causal else targets
    truth = collections.defaultdict(lambda: collections.defaultdict(list))
    likely = collections.defaultdict(dict)
    for query, key, name in edges(words):
        if name in related:
            truth[name][query].append(key)
    for name, queries in truth.items():
        for query, keys in queries.items():
            parts = {words[key].part for key in keys}
            likely[name][query] = [s for s in range(query if options.causal else len(words))
                                   if words[s].part in parts and s != query]
    if any(targets):
        print(json.dumps({"tokens": tokens, "targets": targets, "truth": truth,
                          "candidates": likely}, separators=(",", ":")))
