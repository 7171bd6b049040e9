#!/bin/bash
# Builds the harnesses with clang, AddressSanitizer and UndefinedBehaviorSanitizer, gives each its
# hostile inputs and then so many seconds of made-up ones, as many at once as there are processors.
# Each line of NAME.txt is an input: a name, a tabulator, and the bytes as `printf %b` takes them. A finding ends it with the file that did it; inputs that reach new code are kept in
# FOLDER/grown and are where the next call goes on.
#
# A second of one processor is 75,000 executions of text, 45,000 of json and safetensors, 18,000 of
# settings, 6,000 of arrays, kept, command_line and result, 250 of layouts. 103 million by hand (text
# 68, json 18, safetensors 14, settings 1.4, arrays .6, kept .6, command_line .6, run_folder .4,
# layouts .04): no finding.
#
#   tests/tools/fuzz/run.sh [SECONDS] [FOLDER] [NAME...]     seconds for each harness (default 10); build
#                                                      folder; json, text, ... alone
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=${1:-10}
folder=${2:-$(mktemp -d)}
names=("${@:3}")
[[ ${#names[@]} -gt 0 ]] ||
  mapfile -t names < <(cd "$here" && printf '%s\n' *.txt | sed '/uncovered/d; s/\.txt//')
flags="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS"
flags+=" -fsanitize-coverage-ignorelist=$here/uncovered.txt -Wno-unused-command-line-argument"
cmake -S "$here/../../.." -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O2 -gline-tables-only" -DCMAKE_CXX_FLAGS="$flags" \
  -DHEADLAB_THREADS=OFF -DHEADLAB_NATIVE=OFF -DHEADLAB_TESTS=OFF -DHEADLAB_FUZZ=ON >/dev/null
cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target fuzzers

# Freed memory stays in a small quarantine, which fits into the processor's cache.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=8}
attack() {
  local name=$1 log=fuzz_$1.log begin=$SECONDS runs label bytes
  mkdir -p "grown/$name" "given/$name"
  while IFS=$'\t' read -r label bytes; do
    printf '%b' "$bytes" >"given/$name/$label"
  done <"$here/$name.txt"
  "./fuzz_$name" -timeout=20 -rss_limit_mb=2000 -close_fd_mask=2 -max_total_time="$seconds" -print_final_stats=1 \
    "grown/$name" "given/$name" >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
  runs=$(awk '/number_of_executed_units/ {print $2}' "$log")
  echo "$name: $runs executions, $((runs / (SECONDS - begin + 1))) a second, no finding"
}
export -f attack
export here seconds
cd "$folder"
printf '%s\n' "${names[@]}" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -ec 'attack {}'
