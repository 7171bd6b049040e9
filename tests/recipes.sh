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
rm -rf "$copy"
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
    inside = 1; begun = 0; next
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

cmake -S "$copy" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON \
  -DHEADLAB_WERROR=ON -DHEADLAB_NATIVE=OFF -DCMAKE_CXX_FLAGS_DEBUG=-O1 >/dev/null
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
expect cube "$program" check
expect cube build/test_ops_f64 --gtest_filter='*cube*'
expect parity "$program" list tasks
expect parity "$program" train --task parity --steps 20 --out "$folder/parity" --force
expect '"parity' cat "$folder/parity/config.json"
expect parity build/test_tasks --gtest_filter='*parity*'
expect two_back "$program" list scores
expect two_back "$program" heads "$folder/parity" --scores
expect '"two_back"' "$program" heads "$folder/parity" --scores --json
expect sharpest "$program" list scores
expect '"sharpest"' "$program" heads "$folder/parity" --scores --json
expect newest "$program" list methods
expect newest "$program" prune --help
expect '"newest"' "$program" curve "$folder/parity" --methods newest,random --json
expect newest "$program" prune "$folder/parity" --method newest --keep 1 --out "$folder/pruned" --force
expect newest build/test_prune --gtest_filter='*newest*'
expect size "$program" --help
expect 'example: headlab size' "$program" size --help
expect parameters "$program" size "$folder/parity"
expect '"parameters"' "$program" size "$folder/parity" --json
exit $failed
