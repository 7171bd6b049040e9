#!/bin/bash
# Follows README's recipes for extension to the letter: each block of code that README shows below a
# line `<!-- FILE, before TEXT -->` or `<!-- new FILE -->` is put there in a copy of the tree (before
# the last line of FILE that begins with TEXT), the copy is built, and what was added must be found
# wherever the project promises it: help, lists, JSON, and the tests that walk the tables.
#
#   tests/recipes.sh [FOLDER]     the copy is made in FOLDER (default: a temporary one)
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
copy=$folder/copy
rm -rf "$copy" "$folder/build"
mkdir -p "$copy"
for part in src include examples datasets tests CMakeLists.txt README.md .clang-format; do
  cp -r "$source_dir/$part" "$copy/"
done

# ---- the recipes ---------------------------------------------------------------------------------

# Writes the blocks of README as files: recipe.N holds the code, recipe.N.place where it goes.
awk -v folder="$folder" '
  /^<!-- (new )?[a-z]+\/.* -->$/ {
    place = $0; sub(/^<!-- /, "", place); sub(/ -->$/, "", place)
    file = sprintf("%s/recipe.%02d", folder, ++count)
    print place > (file ".place")
    inside = 1; begun = blanks = 0; next
  }
  inside && /^    / { begun = 1; while (blanks-- > 0) print "" > file; blanks = 0; print substr($0, 5) > file; next }
  inside && /^$/ { if (begun) ++blanks; next }
  { inside = 0; blanks = 0 }
' "$copy/README.md"

for place in "$folder"/recipe.*.place; do
  code=${place%.place}
  where=$(<"$place")
  if [[ $where == new\ * ]]; then
    cp "$code" "$copy/${where#new }"
  else
    file=$copy/${where%%, before *} before=${where#*, before }
    line=$(grep -nF -- "$before" "$file" | tail -1 | cut -d: -f1)
    [[ -n $line ]] || { echo "README: there is no line with '$before' in $file"; exit 1; }
    sed -i "$((line - 1))r $code" "$file"
  fi
  echo "followed: $where"
done

# ---- the build -----------------------------------------------------------------------------------

cmake -S "$copy" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DHEADLAB_NATIVE=OFF -DCMAKE_CXX_FLAGS_DEBUG=-O1 >/dev/null
cmake --build "$folder/build" -j "$(nproc)" --target headlab_program test_ops_f64 test_tasks \
  test_prune >"$folder/build.log" 2>&1 || { tail -50 "$folder/build.log"; exit 1; }
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
expect cube "$program" check
expect '[  PASSED  ] 1 test' build/test_ops_f64 --gtest_filter='*/cube_*'
expect echo:length=16 "$program" list tasks
expect 'accuracy' "$program" train --task echo --steps 20 --track-heads 10 --out "$run"
expect '"echo:length=16' cat "$run/config.json"
expect 'EveryTask' build/test_tasks --gtest_filter='*/echo'
for score in last sharpness gain; do
  expect $score "$program" list scores
  expect $score "$program" heads "$run" --scores
  expect "\"$score\"" "$program" heads "$run" --scores --json
done
"$program" page "$run" >/dev/null
expect itself "$program" heads "$run" --like previous
expect '"itself"' "$program" heads "$run" --like itself --json
expect 'itself: (t, s)' cat "$run/report.html"
expect last_first "$program" list methods
expect last_first "$program" prune --help
expect '"last_first"' "$program" curve "$run" --methods last_first,random --sizes 0,1 --json
expect last_first "$program" prune "$run" --method last_first --keep 0 --out "$folder/pruned"
expect PASSED build/test_prune --gtest_filter='*/last_first'
expect 'how large a model is' "$program" --help
expect 'example: headlab size' "$program" size --help
expect parameters "$program" size "$run"
expect '"parameters"' "$program" size "$run" --json
[[ $failed -eq 0 ]] && echo "every recipe works"
exit $failed
