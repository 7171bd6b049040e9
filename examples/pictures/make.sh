#!/bin/bash
# make.sh [PROGRAM [FOLDER]]: makes the pictures of README.md again, by the commands that stand below
# them there, and says in made_with.txt which program made them: the same one makes the same bytes.
# PROGRAM: build/headlab of this project; FOLDER: where to put them, else beside this script.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "${1:-$here/../../build/headlab}")
into=$(realpath "${2:-$here}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t commands < <(awk '/^## /{here = /^## Pictures/} here && sub(/^    /, "")' "$here/../../README.md")
[[ ${#commands[@]} -gt 0 ]] || { echo "README.md has no commands below ## Pictures"; exit 1; }
mkdir -p "$work/build" "$work/examples/pictures"
ln -s "$program" "$work/build/headlab"
cd "$work"
for command in "${commands[@]}"; do
  echo "\$ $command"
  eval "$command" >output 2>&1 || { cat output; exit 1; }
done
"$program" --version >examples/pictures/made_with.txt
cp examples/pictures/* "$into/"
