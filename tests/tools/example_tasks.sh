#!/bin/bash
# example_tasks.sh PROGRAM: trains a model on each task of examples/tasks, as the task recommends,
# and holds it to what can be had: an accuracy, or for chains the loss of the best guess in context.
set -euo pipefail

program=$(realpath "$1")
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# train NAME TASK FLAGS...: trains, and prints the held-out loss and accuracy.
train() {
  "$program" train --task "$2" --out "$folder/$1" "${@:3}" --json --quiet 2>"$folder/$1.words" >"$folder/$1.result" ||
    { cat "$folder/$1.words"; return 1; }
  python3 -c 'import json, sys
best = json.load(open(sys.argv[1]))
print(best["loss"], best["accuracy"])' "$folder/$1.result"
}

# expect NAME CONDITION TASK FLAGS...: an awk condition on $1, the loss, and $2, the accuracy.
expect() {
  local reached
  reached=$(train "$1" "${@:3}")
  echo "$1: loss and accuracy $reached, wanted $2"
  awk "{ exit !($2) }" <<<"$reached"
}

python3 examples/tasks/definitions.py | cmp - datasets/definitions.jsonl
python3 examples/tasks/palindromes.py 20000 >"$folder/palindromes.jsonl"
awk -f examples/tasks/people.awk examples/tasks/people.csv >"$folder/people.jsonl"
treebank() { python3 examples/tasks/conllu.py "$@" 2>"$folder/words"; }
treebank datasets/english.conllu >"$folder/bank.jsonl"
treebank datasets/english.conllu --like "$folder/bank.jsonl" | cmp - "$folder/bank.jsonl"
treebank datasets/english.conllu --causal --subtypes >"$folder/next.jsonl"
for bank in bank next; do "$program" show "$folder/$bank.jsonl" --check; done
for fault in '1\ta\tb' '1\tthe\t_\tDET\t_\t_\t7\tdet\t_\t_' '1\tthe\t_\tDET\t_\t_\tx\tdet\t_\t_'; do
  ! treebank <(printf '%b\n' "$fault") && grep -E ':[12]: a (word has|HEAD)' "$folder/words"
done

export OMP_NUM_THREADS=1  # they train in parallel
expect modular '$2 >= .99' "command:python3 examples/tasks/modular.py" &
expect palindromes '$2 >= .99' "file:train=$folder/palindromes.jsonl" &
expect people '$2 >= .99' "file:train=$folder/people.jsonl" &
expect treebank '$1 < 4.4' "file:train=$folder/bank.jsonl" --steps 250 &  # frequencies alone: 4.5
expect definitions '$2 >= .99' file &
expect markov '$1 < .94' "command:python3 examples/tasks/markov.py losses" --steps 1000 &
for training in $(jobs -p); do wait "$training"; done
bigram=$(awk '/^bigram .* on validation/ { print $2; exit }' "$folder/markov.words")
reached=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["loss"])' <"$folder/markov.result")
echo "markov: the best guess by pairs loses $bigram"
awk "BEGIN { exit !($reached < $bigram + .02) }"
