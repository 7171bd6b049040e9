#!/bin/bash
# engines.sh PROGRAM: gives one sweep to GNU parallel and to make, as `headlab sweep --help all` prints
# it, and compares every model with that of a sweep by one process, byte by byte. Each cell is made once.
set -euo pipefail

program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
ln -s "$program" bin/headlab
export PATH=$folder/bin:$PATH
sweep="sweep --task relations --heads 1,2 --seeds 6 --d-model 32 --batch 8 --steps 40 --quiet"

line() { headlab sweep --help all | sed -n "s/^  $1 *\(.*\)/\1/p"; }

headlab $sweep --out one --csv >one.csv
by_parallel=$(line 'GNU parallel' | sed "s/sweep \.\.\./$sweep --out parallel/")
eval "$by_parallel" >parallel.txt 2>parallel.log
rule=$(line 'make -j4' | sed "s/^a rule *//; s/sweep \.\.\./$sweep --out make/")
printf '%s\n' "$rule" >Makefile
make -s -j4 worker-0 worker-1 worker-2 worker-3 >make.txt 2>make.log
for engine in parallel make; do
  for cell in one/*/; do
    cmp "$cell/model.safetensors" "$engine/$(basename "$cell")/model.safetensors"
  done
  [[ $(find "$engine" -name model.safetensors | wc -l) -eq 12 ]]
  headlab $sweep --out "$engine" --collect --csv >"$engine.csv"
  cmp one.csv "$engine.csv"
done
echo "12 cells by GNU parallel and by make: the bytes of one process"
