#!/usr/bin/env bash
# Builds and runs products.cc against a build of headlab.
# usage: products.sh BUILD-FOLDER [rounds]
# needs: apt-get install libdnnl-dev libopenblas-pthread-dev libxsmm-dev
set -eu
here=$(cd "$(dirname "$0")" && pwd); build=$1; shift
lib=/usr/lib/$(uname -m)-linux-gnu
out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
g++ -std=c++20 -O2 -I "$here/../../../include" -I "$here/../../../src/core" -I "$lib/openblas-pthread" -I /usr/include/"$(uname -m)"-linux-gnu/openblas-pthread \
  "$here/products.cc" "$build/libheadlab_core.a" "$build/libheadlab_base.a" -fopenmp \
  -ldnnl -L "$lib/openblas-pthread" -lopenblas -lxsmm -ldl -o "$out/products"
# OpenBLAS of Debian 12 takes newer AVX-512 machines for older ones
grep -q avx512f /proc/cpuinfo && export OPENBLAS_CORETYPE=SKYLAKEX
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH=$lib/openblas-pthread "$out/products" "$@"
