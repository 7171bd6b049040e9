#!/usr/bin/env bash
# headlab and PyTorch at its best, interleaved on this machine: for each configuration the ratio of
# the medians over ROUNDS rounds (3 unless set) of headlab, PyTorch, headlab; the ratios of single
# rounds from lowest to highest; and headlab's share of the FMA peak measured in the same run (median).
# BENCH=forward compares forward passes without gradients in place of training steps; BLOCK=llama
# models of llama blocks, whose gated networks are 2/3 as wide, so that the operations are as many.
# usage: [ROUNDS=N] [BENCH=forward] compare.sh PATH-TO-headlab [config ...]
# needs: apt-get install python3-torch libopenblas0-pthread libopenblas0-openmp
set -u
here=$(dirname "$0"); program=$1; shift
field() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" | head -1; }
declare -A gated=([toy]=170 [char]=341 [medium]=1024 [long]=341 [gpt2]=2048)
ours() {
  local block=(); [[ ${BLOCK:-gpt2} == llama ]] && block=(--block llama --d-ff "${gated[$1]}")
  "$program" bench "${BENCH:-step}" --config "$1" "${block[@]}" --threads 2 --json
}
for config in "${@:-toy char medium long gpt2}"; do
  for c in $config; do
    for _ in $(seq "${ROUNDS:-3}"); do
      a=$(ours "$c")
      torch=$("$here/torch_best.sh" "$c" | awk '/^best/ {print $3}')
      b=$(ours "$c")
      echo "$(field median_ms <<<"$a") $(field median_ms <<<"$b") $torch" \
        "$(field fraction_of_peak <<<"$a") $(field fraction_of_peak <<<"$b")"
    done | python3 -c '
import statistics, sys
rows = [list(map(float, line.split())) for line in sys.stdin]
ratios = sorted(2 * r[2] / (r[0] + r[1]) for r in rows)
ours = statistics.median(x for r in rows for x in r[:2])
peak = statistics.median(x for r in rows for x in r[3:])
print(f"{sys.argv[1]:7} {statistics.median(r[2] for r in rows) / ours:.2f} times as fast as PyTorch "
      f"({ratios[0]:.2f} to {ratios[-1]:.2f}), {100 * peak:.0f}% of peak")' "$c"
  done
done
