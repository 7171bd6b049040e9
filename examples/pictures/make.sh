#!/bin/bash
# make.sh [PROGRAM [FOLDER]]: makes the pictures of README.md and examples/RESULTS.md again: those of
# the results by the commands that are printed below them there, page.png by the last lines here, where a
# browser is installed. PROGRAM: build/headlab of this project; FOLDER: where to put them, else next to
# this script. made_with.txt says which program made them: the same one makes the same bytes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "${1:-$here/../../build/headlab}")
into=$(realpath "${2:-$here}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t commands < <(awk '/^## /{here = /^## Pictures/} here && sub(/^    /, "")' "$here/../RESULTS.md")
[[ ${#commands[@]} -gt 0 ]] || { echo "RESULTS.md has no commands below ## Pictures"; exit 1; }
mkdir -p "$work/build" "$work/examples/pictures"
ln -s "$program" "$work/build/headlab"
cd "$work"
run() {
  echo "\$ $1"
  eval "$1" >output 2>&1 || { cat output; exit 1; }
}
for command in "${commands[@]}"; do run "$command"; done
"$program" --version >examples/pictures/made_with.txt
browser=${HEADLAB_CHROMIUM:-$(command -v chromium chromium-headless-shell | head -1 || true)}
if [[ -n $browser ]]; then
  run "build/headlab train --task relations --heads 8 --out runs/full"
  run "build/headlab heads runs/full"
  run "build/headlab curve runs/full --methods greedy,exhaustive"
  run "build/headlab prune runs/full --method greedy --keep 4 --finetune 1000 --out runs/pruned"
  run "build/headlab page runs/full runs/pruned"
  run "'$browser' --headless=new --no-sandbox --hide-scrollbars --window-size=1280,960 \
    --virtual-time-budget=20000 --screenshot=examples/pictures/page.png \
    'file://$work/runs/full/report.html'"
fi
cp examples/pictures/* "$into/"
