#!/bin/bash
# Runs each study of examples/studies at its smallest size: studies.sh PROGRAM FOLDER. A study must
# end with status 0, say in its first line that no conclusion follows from this size, print a table of
# at most 80 columns, and judge no claim.
set -euo pipefail
program=$(realpath "$1")
folder=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0
for study in examples/studies/*.py; do
  name=$(basename "$study" .py)
  [[ $name != study ]] || continue
  if ! HEADLAB=$program python3 "$study" --small --out "$folder/$name" >"$folder/$name.txt"; then
    echo "$study failed"
    failed=1
    continue
  fi
  if grep -qE '.{81}' "$folder/$name.txt"; then
    echo "$study prints lines of more than 80 columns:"
    grep -E '.{81}' "$folder/$name.txt"
    failed=1
  fi
  if ! head -1 "$folder/$name.txt" | grep -q '^This is --small: .*no conclusion follows' ||
    grep -qE '  (holds|does not|undecided)$' "$folder/$name.txt"; then
    echo "$study judges claims at its smallest size, or does not say that it cannot"
    failed=1
  fi
done
exit $failed
