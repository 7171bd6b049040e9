#!/bin/bash
# Builds the program of README ("In your program") with README's CMakeLists.txt and an installed
# headlab, and runs it twice: the second run replaces the first.
#
#   tests/tools/readme_program.sh PREFIX FOLDER
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
# block TEXT: prints the indented block of README whose first line begins with TEXT.
block() {
  awk -v begin="    $1" 'index($0, begin) == 1 { inside = 1 } inside && /^[^ ]/ { exit }
    inside { print substr($0, 5) }' "$source_dir/README.md"
}
block '#include <iostream>' >"$folder/mine.cc"
block 'cmake_minimum_required' >"$folder/CMakeLists.txt"
[[ -s $folder/mine.cc && -s $folder/CMakeLists.txt ]]
cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$folder/build"
cd "$folder"
for _ in 1 2; do
  build/mine >said
  grep -q 'owner' said || { cat said; echo "the program of README prints no owner"; exit 1; }
done
echo "the program of README runs twice"
