#!/bin/bash
# Follows the recipes of src/RECIPES.md to the letter: each block of code below a line "New file `FILE`:"
# or "In `FILE`, before `TEXT`:" (or "after") is put there in a copy of the tree (before or after the
# only line of FILE that holds TEXT), the result is formatted like the project, the copy is built, and what was added must be found where the
# project promises it (help, lists, JSON, the tests that walk the tables), and must compute what it
# says.
#
#   tests/tools/recipes.sh [FOLDER]     the copy is made in FOLDER (default: a temporary one)
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
copy=$folder/copy
rm -rf "$copy" "$folder/build"
mkdir -p "$copy"
for part in src include examples datasets tests CMakeLists.txt README.md .clang-format .cmake; do
  cp -r "$source_dir/$part" "$copy/"
done

# ---- the recipes ---------------------------------------------------------------------------------

# Writes the blocks as files: recipe.N holds the code, recipe.N.place where it goes.
awk -v folder="$folder" '
  /^(New file|In) `.*`.*:$/ {
    file = sprintf("%s/recipe.%02d", folder, ++count)
    print > (file ".place")
    wanted = 1; next
  }
  /^```/ { inside = wanted && !inside; if (!inside) wanted = 0; next }
  inside { print > file }
' "$copy/src/RECIPES.md"

for place in "$folder"/recipe.*.place; do
  code=${place%.place}
  where=$(<"$place")
  file=$(cut -d'`' -f2 <<<"$where") beside=$(sed -n 's/.*, \(before\|after\) `\(.*\)`:$/\2/p' <<<"$where")
  if [[ -z $beside ]]; then
    cp "$code" "$copy/$file"
  else
    line=$(grep -nF -- "$beside" "$copy/$file" | cut -d: -f1 || true)
    [[ $line =~ ^[0-9]+$ ]] || { echo "src/RECIPES.md: not one line of $file has '$beside'"; exit 1; }
    [[ $where == *", after "* ]] || line=$((line - 1))
    sed -i "${line}r $code" "$copy/$file"
  fi
  echo "followed: $where"
done

if command -v clang-format-14 >/dev/null; then
  cut -d'`' -f2 "$folder"/recipe.*.place | grep -E '\.(cc|h)$' | sort -u |
    (cd "$copy" && xargs clang-format-14 --dry-run -Werror)
fi

# ---- the build -----------------------------------------------------------------------------------

cmake -S "$copy" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DHEADLAB_NATIVE=OFF -DCMAKE_CXX_FLAGS_DEBUG=-O1 >/dev/null
cmake --build "$folder/build" -j "$(nproc)" --target headlab test_ops_f64 test_model_f64 \
  test_tasks test_prune >"$folder/build.log" 2>&1 || { tail -50 "$folder/build.log"; exit 1; }
program=$folder/build/headlab

# ---- what must be found --------------------------------------------------------------------------

failed=0
# expect TEXT COMMAND...: the command succeeds and prints the text.
expect() {
  local text=$1 output
  shift
  if output=$("$@" 2>&1) && grep -qF -- "$text" <<<"$output"; then
    echo "found '$text': ${*##*/}"
  else
    failed=1
    printf "'%s' is not there: %s\n%s\n" "$text" "$*" "$(tail -5 <<<"$output")"
  fi
}

cd "$folder"
run=$folder/run
expect 'cube, [4, 5]: 20 derivatives' build/test_ops_f64 --gtest_filter='*/cube_*'
expect '[  PASSED  ] 1 test' build/test_ops_f64 --gtest_filter='*/cube_*'
expect echo:length=16 "$program" list tasks
expect 'accuracy' "$program" train --task echo --layers 2 --track-heads 100 --out "$run"
expect '"echo:length=16' cat "$run/config.json"
expect 'EveryTask' build/test_tasks --gtest_filter='*/echo'
for score in last sharpness gain; do
  expect $score "$program" heads "$run" --scores
done
expect 'how much attention rests' "$program" --help all
expect 'on the first: mean weight' "$program" sinks "$run"
expect 'layer,head,first' "$program" sinks "$run" --csv
expect 'head & on the first' "$program" sinks "$run" --latex
expect 'sinks.json' "$program" list files
expect 'mean weight on the first token (a column of sinks)' "$program" explain on the first
"$program" page "$run" >/dev/null
expect '"sinks":{' cat "$run/report.html"
browser=${HEADLAB_CHROMIUM:-$(command -v chromium-headless-shell || true)}
# shows WORDS VIEW: the page of the run shows the words in a view.
shows() {
  [[ -z $browser ]] || expect "$1" "$browser" --no-sandbox --virtual-time-budget=20000 --dump-dom \
    "file://$run/report.html#view=$2"
}
shows '>on the first<' 'results&file=sinks'
shows '<caption>Heads of each layer</caption>' census
shows '<caption>Queries</caption>' 'learn&lesson=sizes'
problems=$(node --expose-internals "$copy/tests/report/modules_test.mjs" | tr '\n' ';' || true)
expect 'broken rules of the page: []' echo "broken rules of the page: [$problems]"
expect '"last"' "$program" heads "$run" --scores --json
small=(--task relations --layers 2 --heads 2 --d-model 16 --steps 20)
expect 'magnitude' "$program" train --help all
expect 'magnitude: x / mean(|x|) w (a kind of norm)' "$program" explain magnitude
expect accuracy "$program" train "${small[@]}" --norm magnitude --out magnitude
expect accuracy "$program" train "${small[@]}" --positions binary --out binary
expect 'sign: w -= lr (sign(m) + decay w)' "$program" explain sign
expect accuracy "$program" train "${small[@]}" --optimizer sign --out sign
expect '[  PASSED  ] 1 test' build/test_model_f64 --gtest_filter='KindGradients.*'
expect 'max(0, score)^2 (an attention function)' "$program" explain squared_relu
expect accuracy "$program" train "${small[@]}" --attention-function squared_relu --out squared
expect row_sum "$program" heads squared --all
expect '"kept"' "$program" prune squared --keep 2 --out fewer --json
expect 'x + mlp(norm(x)), then x +' "$program" explain network_first
expect accuracy "$program" train "${small[@]}" --d-ff 16 --norm-place network_first --out wired
expect 'blocks.0.mlp' "$program" attribute wired
for run_of_kind in squared wired; do
  "$program" page $run_of_kind >/dev/null
  expect '"patterns":' cat $run_of_kind/report.html
done
for run_of_kind in magnitude binary; do
  expect "$run_of_kind/report.html" "$program" page $run_of_kind --no-weights
  [[ -z $browser ]] || expect 'that this page cannot compute: the page shows patterns stored by the program' \
    "$browser" --no-sandbox --dump-dom "file://$PWD/$run_of_kind/report.html"
done
expect last_first "$program" list methods
expect '"last_first"' "$program" curve "$run" --methods last_first,random --sizes 0,1 --json
expect PASSED build/test_prune --gtest_filter='*/last_first'
expect 'how large a model is' "$program" --help all
expect 'headlab size' "$program" size --help

# The formula. With two tokens the second sees both: the last, or else the first.
cat >cube.cc <<'END'
#include <string_view>

#include "headlab/core/model/transformer.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/optimizer.h"
using namespace headlab;
int main() {
  Tensor w = Tensor::of({1, 1}, {2});
  w.set_requires_grad();
  Optimizer optimizer({.optimizer = OptimizerKind(3), .decay = 0.5});
  optimizer.add("w", w);
  backward(sum(cube(w)));
  optimizer.step(0.25, 12);
  if (w.values()[0] != 1.5) return 1;  // 2 - 0.25 (1 + 0.5 2)
  const Tensor magnitude = kNorms.back().deviation(Tensor::of({1, 2}, {3, -4}), 0);
  Tensor binary;
  for (const PositionKind& kind : kPositions) {
    if (std::string_view(kind.name) == "binary") binary = kind.table(4, 3);
  }
  const bool bits = binary.values()[3 * 3 + 1] == 1 && binary.values()[2 * 3] == 0;
  return cube(Tensor::scalar(-2)).item() != -8 || magnitude.item() != 3.5 || !bits;
}
END
c++ -std=c++20 -I"$copy/include" cube.cc build/libheadlab_core.a build/libheadlab_base.a -fopenmp -o cube
expect '' ./cube
"$program" train --task echo:length=2,back=1 --steps 20 --out short --quiet >/dev/null
python3 - "$program" "$run" <<'END' || failed=1
import json, math, subprocess, sys
program, run = sys.argv[1:]

def says(*words):
    return json.loads(subprocess.run([program, *words, "--json", "--quiet"], check=True, capture_output=True).stdout)

def equal(what, value, expected):
    assert math.isclose(value, expected, abs_tol=1e-6), f"{what} is {value}, not {expected}"

assert says("eval", run)["accuracy"] >= 0.99, "echo is not learned as recommended"
for head in says("heads", run, "--scores")["heads"]:
    equal("sharpness", head["sharpness"], head["confidence"] / (1 + head["entropy"]))
    score = head["scores"]["echo"]
    equal("gain", score["gain"], score["mass"] - score["baseline"])
for head in says("heads", "short", "--scores")["heads"]:
    equal("last + first", head["patterns"]["last"] + head["patterns"]["first"], 1)
for head in says("sinks", run, "--examples", "2")["heads"]:
    patterns = [says("pattern", run, f"{head['layer']}.{head['head']}", "--example", n)["pattern"] for n in "01"]
    rows = [row for pattern in patterns for row in pattern]
    equal("first", head["first"], sum(row[0] for row in rows) / len(rows))
assert says("prune", run, "--method", "last_first", "--keep", "1", "--out", "pruned")["kept"] == [[0, 0]]
with open(f"{run}/model.safetensors", "rb") as file:
    tensors = json.loads(file.read(int.from_bytes(file.read(8), "little")))
del tensors["__metadata__"]
equal("size", says("size", run)["parameters"], sum(math.prod(t["shape"]) for t in tensors.values()))
END
[[ $failed -eq 0 ]] && echo "every recipe works"
exit $failed
