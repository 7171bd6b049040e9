#!/bin/bash
# Builds the project with the oldest and the newest supported compilers of each family, warnings as
# errors, and runs the tests that train no models: g++ 12 and 14, clang++ 14 and 19.
#
#   tests/tools/compilers.sh [FOLDER]              all four, in FOLDER (default: a temporary one)
#   COMPILERS="g++-14" tests/tools/compilers.sh    some of them
#
# Takes five to ten minutes for each compiler on two cores. A compiler that is not installed is
# reported with the way to get it; the status is 1 if a build or a test failed or if no compiler was
# found.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$(mktemp -d)}
read -ra compilers <<<"${COMPILERS:-g++-12 g++-14 clang++-14 clang++-19}"

how_to_get() {
  echo "  install it: apt-get install ${1/clang++/clang}"
  echo "  Debian 12 has g++-12, clang-14 and clang-19; Debian 13 has g++-12, g++-14 and clang-19;"
  echo "  Ubuntu 24.04 has g++-12, g++-14 and clang-14. \`.ci/run readme\` builds with g++ 14 in a bare"
  echo "  Debian 13 of its own."
}

built=0 failed=()
for compiler in "${compilers[@]}"; do
  if ! command -v "$compiler" >/dev/null; then
    echo "$compiler: not installed"
    how_to_get "$compiler"
    continue
  fi
  start=$SECONDS log=$folder/$compiler.log verdict=passed
  mkdir -p "$folder"
  {
    cmake -S "$source_dir" -B "$folder/$compiler" -DCMAKE_CXX_COMPILER="$compiler" -DHEADLAB_WERROR=ON &&
      cmake --build "$folder/$compiler" -j "$(nproc)" --target headlab quick_check
  } >"$log" 2>&1 || verdict=FAILED
  built=$((built + 1))
  if [[ $verdict == FAILED ]]; then
    failed+=("$compiler")
    grep -E 'warning:|error:|FAILED|Failed' "$log" | head -20 || true
  fi
  echo "$compiler: $verdict ($((SECONDS - start)) s, log $log)"
done
echo "$((built - ${#failed[@]})) of ${#compilers[@]} passed${failed[*]:+, failed: ${failed[*]}}"
[[ $built -gt 0 && ${#failed[@]} -eq 0 ]]
