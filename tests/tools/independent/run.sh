#!/bin/bash
# Trains small runs of several kinds and holds headlab's numbers against an independent reading of
# them in NumPy (read_run.py). Exit status 77, which ctest calls skipped, where NumPy is missing or
# EXPORT was not built.
#
#   tests/tools/independent/run.sh PROGRAM EXPORT [RUN...]    RUNs: these instead of small new ones
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 export=$2
shift 2
[[ -x $program && -x $export ]] || { echo "skipped: $export is not built"; exit 77; }
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
[[ -n $python ]] || { echo "skipped: needs NumPy (package python3-numpy)"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/compare_test.py"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
runs=("$@")
# make NAME FLAGS...: a run of a few steps.
make() {
  local name=$1
  shift
  "$program" train --steps 60 --warmup 10 --eval-every 0 --eval-examples 64 --batch 16 --seed 5 \
    --threads 1 --out "$folder/$name" "$@" >/dev/null
  runs+=("$folder/$name")
}
if [[ ${#runs[@]} -eq 0 ]]; then
  make relations --task relations --heads 4
  make grouped --task induction --heads 4+2 --kv-heads 2 --d-ff 64 --positions sinusoidal --optimizer adam
  make encoder --task grid --norm-place post --tied --d-ff 32 \
    --activation relu --optimizer sgd --lr 0.05 --clip 0.5
  make both --task reverse_cross
  make llama --task induction --heads 2+4 --block llama --kv-heads 2 --window 6+0 --d-ff 48
  make parallel --task induction --heads 2+4 --norm-place parallel --d-ff 48
  make gated --task reverse_cross --block llama --activation geglu --d-ff 24 --rotary-base 100
  "$program" prune "$folder/relations" --keep 2 --out "$folder/pruned" --examples 64 >/dev/null
  runs+=("$folder/pruned")
fi
status=0
for run in "${runs[@]}"; do
  mkdir -p "$folder/said"
  echo "${run##*/}"
  # A number of each kind is changed where kinds are the most.
  change=
  examples=32
  if [[ ${run##*/} == relations ]]; then
    change=--change
    examples=64
  fi
  "$export" "$run" "$folder/said" "$examples"
  "$python" "$here/read_run.py" "$run" "$folder/said" $change | tee "$folder/read" || status=1
  cat "$folder/read" >>"$folder/all"
done
if [[ $# -eq 0 ]] && ! grep -q '^[1-9][0-9]* of [0-9]* steps were clipped' "$folder/all"; then
  echo "no run is clipped: that gradients are is not tested"
  status=1
fi
exit $status
