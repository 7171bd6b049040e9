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
  echo "\$ $1" >&2  # not into steps.html
  eval "$1" >output 2>&1 || { cat output; exit 1; }
}
for command in "${commands[@]}"; do run "$command"; done
"$program" --version >examples/pictures/made_with.txt
browser=${HEADLAB_CHROMIUM:-$(command -v chromium chromium-headless-shell | head -1 || true)}
if [[ -n $browser ]]; then
  # shot FILE ADDRESS HEIGHT: what a browser shows at an address.
  shot() {
    run "'$browser' --no-sandbox --hide-scrollbars --allow-file-access-from-files \
      --window-size=1280,$3 --virtual-time-budget=60000 --screenshot='$1' '$2'"
  }
  run "build/headlab start --thorough --out demo"
  shot examples/pictures/page.png "file://$work/demo/report.html" 800
  run "build/headlab page --playground --out playground.html"
  {
    echo '<!doctype html><meta charset="utf-8"><style>
      body { margin: 0; background: #fff; font: 600 17px sans-serif; color: #16181d }
      section { height: 222px; margin-left: 12px; position: relative }
      p { margin: 0; position: absolute; top: 92px }
      div { position: absolute; left: 100px; width: 804px; height: 216px }
      .maps { background-position: -446px -230px }
      .answers { left: 910px; width: 340px; height: 120px; top: 30px; background-position: -14px -382px }
      </style>'
    for step in 0 66 500; do
      shot "step_$step.png" "file://$work/playground.html#step=$step" 800
      echo "<section><p>Step $step</p>"
      for part in maps answers; do
        echo "<div class=\"$part\" style=\"background-image: url(step_$step.png)\"></div>"
      done
      echo '</section>'
    done
  } >steps.html
  shot examples/pictures/playground.png "file://$work/steps.html" 666
fi
cp examples/pictures/* "$into/"
