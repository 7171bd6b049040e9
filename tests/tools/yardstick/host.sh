#!/usr/bin/env bash
# Builds and runs host.cc against a build of headlab.
# usage: host.sh BUILD-FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
g++ -std=c++20 -O2 -fopenmp -I "$here/../../../include" "$here/host.cc" "$1/libheadlab.a" \
  "$1/libheadlab_base.a" -o "$out/host"
echo "as libgomp waits by itself:"
"$out/host"
echo "with GOMP_SPINCOUNT=1000, as the program asks for it:"
GOMP_SPINCOUNT=1000 "$out/host"
