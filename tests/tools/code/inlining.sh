#!/bin/bash
# The speed of the kernels must be a property of their source, not of what an inliner decides:
# compiles src/core/kernels with each compiler for several processors, with the tuning that the
# processor implies, of which x86-64-v3 is the generic one, and looks at the machine code. With
# vectors of 64 bytes the generic tuning is looked at as well.
#
#   tests/tools/code/inlining.sh [--draw N] [g++ clang++ ...]
#
# With --draw only two of the processors are taken: number N of the list and the next.
#
# It fails on
#   - a body of `unrolled`, a step of the tile, or any function of vectors that is left out of line;
#   - a call inside the inner loop of the tile of matrix products;
#   - an accumulator that this loop keeps in memory (spilled) instead of in a register.
# Nothing is run, so any x86-64 machine can check them all. Elsewhere there is nothing to do.
set -euo pipefail

[[ $(uname -m) == x86_64 ]] || { echo "not an x86-64 machine: skipped"; exit 0; }
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
processors=(skylake-avx512 "skylake-avx512 -mtune=generic" sapphirerapids haswell znver3 x86-64-v3)
if [[ ${1:-} == --draw ]]; then
  all=${#processors[@]}
  processors=("${processors[$2 % all]}" "${processors[($2 + 1) % all]}")
  shift 2
fi
compilers=("$@")
[[ $# -gt 0 ]] || compilers=(g++ clang++)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c++20 -O3 -fno-math-errno -ffp-contract=fast -Iinclude -Isrc/core -S -o)

# Whatever takes or returns a vector is part of a loop, and costs a call for each vector if it is no
# part of it. (The number in a mangled name is that of the lanes: Dv16_f.)
out_of_line() {
  c++filt <"$1" | awk '
    /^[^ \t.].*:$/ && (/unrolled</ || /::step\(/ || /\([^()]*__vector\([0-9]+\)[^()]*\)( const)?:$/) {
      if ($0 !~ /parallel_for|for_rows|for_pieces|map_pieces|\.cold/) print "out of line: " $0
    }'
}

# The innermost loops of the tile that multiply: a backward jump and what lies before it, back to
# its label, with no other loop inside.
tile_loops() {
  awk '
    function finish(  i, j, k, inner, products) {
      for (i = 1; i <= count; ++i) {
        if (line[i] !~ /^\t(j[a-z]+)\t\.L/) continue
        split(line[i], word, "\t")
        if (!(word[3] in label) || label[word[3]] >= i) continue
        inner = 1; products = 0
        for (j = label[word[3]] + 1; j < i; ++j) {
          if (line[j] ~ /^\tj[a-z]+\t\.L/) {
            split(line[j], other, "\t")
            if (other[3] in label && label[other[3]] < j && label[other[3]] > label[word[3]]) inner = 0
          }
          products += line[j] ~ /vf(n)?madd/
        }
        if (!inner || products < 2) continue
        ++loops
        for (j = label[word[3]]; j <= i; ++j) {
          if (line[j] ~ /^\tcall/) print "call in the loop of " name ": " line[j]
          if (line[j] ~ /[yz]mm/ && line[j] ~ /\(%rsp\)/) print "spill in the loop of " name ": " line[j]
        }
      }
    }
    /^_Z.*multiply_tile.*:/ { name = $1; count = 0; delete label; inside = 1; next }
    inside && /\.cfi_endproc/ { finish(); inside = 0 }
    inside { line[++count] = $0; if ($0 ~ /^\.L.*:/) { l = $1; sub(":.*", "", l); label[l] = count } }
    END { if (loops < 8) print "only " loops + 0 " loops of the tile were found: the check is blind" }
  ' "$1"
}

# check COMPILER PROCESSOR SOURCE: prints what is wrong, if anything is.
check() {
  local code problems
  code=$(mktemp -p "$folder")
  # shellcheck disable=SC2086  # a processor may bring its tuning
  "$1" "${flags[@]}" "$code" -march=$2 "$3" || { echo "$1 cannot compile $3"; return; }
  problems=$(out_of_line "$code")
  [[ $3 != */tile.cc ]] || problems+=$(tile_loops "$code")
  rm "$code"
  [[ -z $problems ]] || printf '%s -march=%s %s\n%s\n' "$1" "$2" "$3" "$problems"
}

checked=0
for compiler in "${compilers[@]}"; do
  for processor in "${processors[@]}"; do
    for source in src/core/kernels/*.cc; do
      checked=$((checked + 1))
      while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
      check "$compiler" "$processor" "$source" >"$folder/result.$checked" &
    done
  done
done
wait
failed=$(find "$folder" -name 'result.*' -size +0 | wc -l)
cat "$folder"/result.*
echo "$((checked - failed)) passed, $failed failed"
[[ $failed -eq 0 ]]
