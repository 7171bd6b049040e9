#!/bin/bash
# check_example.sh SOURCE PROGRAM: runs an example and compares what it prints with the comment at
# the end of its source: the lines after `// prints:`, line by line, exactly. If a line has
# `...`, any text matches there (times, for example). Every example must have such a comment; CI runs this for
# each.
set -euo pipefail
export LC_ALL=C

source=$1 program=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$source: $1"
  exit 1
}

grep -q '^// prints:$' "$source" || fail "no comment // prints: with the expected output"
mapfile -t expected < <(sed -e '1,/^\/\/ prints:$/d' -e 's/^\/\/ \{0,1\}//' "$source")
(cd "$folder" && "$program") >"$folder/output" || fail "exit status $?"
mapfile -t actual < <(sed -e 's/ *$//' "$folder/output")

for ((i = 0; i < ${#expected[@]} || i < ${#actual[@]}; i++)); do
  want=${expected[i]-<nothing>} got=${actual[i]-<nothing>}
  # Everything but letters, digits and blanks is escaped, then `...` becomes the wildcard `*`.
  pattern=$(sed -e 's/[^A-Za-z0-9 ]/\\&/g' -e 's/\\\.\\\.\\\./*/g' <<<"$want")
  # shellcheck disable=SC2053
  [[ $got == $pattern ]] || fail "line $((i + 1)) of the output
  expected: ${expected[i]-<nothing>}
  printed:  $got"
done
echo "$source: prints what it says (${#actual[@]} lines)"
