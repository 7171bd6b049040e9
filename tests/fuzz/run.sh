#!/bin/bash
# Builds the harnesses with clang, AddressSanitizer and UndefinedBehaviorSanitizer, gives each its
# corpus of hostile files and then so many seconds of made-up ones. A finding ends it with the file
# that did it.
#
#   tests/fuzz/run.sh [SECONDS] [FOLDER]     seconds for each harness (default 10); build folder
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=${1:-10}
folder=${2:-$(mktemp -d)}
flags="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS"
cmake -S "$here/../.." -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_UNITY_BUILD=ON \
  -DHEADLAB_TESTS=OFF -DHEADLAB_FUZZ=ON >/dev/null
cmake --build "$folder" -j "$(nproc)" --target fuzzers
cd "$folder"
for harness in "$here"/fuzz_*.cc; do
  name=$(basename "$harness" .cc)
  mkdir -p "grown/$name"
  "./$name" -timeout=20 -rss_limit_mb=2000 -max_total_time="$seconds" -print_final_stats=1 \
    "grown/$name" "$here/corpus/${name#fuzz_}" >"$name.log" 2>&1 || { tail -40 "$name.log"; exit 1; }
  echo "$name: $(awk '/number_of_executed_units/ {print $2}' "$name.log") executions, no finding"
done
