#!/usr/bin/env bash
# Compares headlab with a current PyTorch (compare.py) in a Debian 13 root, which has PyTorch 2.6.
# The first run makes the root in ROOT [/tmp/headlab-debian13] by debootstrap (about 1.6 GB). The
# PyTorch of Debian 12 (1.13) is not used: it has no fused attention and no fused AdamW, so the
# ratios would be too good. With PYTHON the comparison runs without a root, by an interpreter that
# has PyTorch 2.4 or newer.
# With SCRIPT=sweep it runs sweep.py, which trains the models of a sweep with the program headlab.
# usage: [ROOT=FOLDER | PYTHON=PYTHON] compare.sh PATH-TO-yardstick [arguments of compare.py]
#        [ROOT=FOLDER | PYTHON=PYTHON] SCRIPT=sweep compare.sh PATH-TO-headlab [arguments of sweep.py]
# needs: root rights, debootstrap (or neither, with PYTHON); a machine with nothing else to do
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
shift
if [[ -n ${PYTHON:-} ]]; then
  HEADLAB=$program YARDSTICK=$program exec "$PYTHON" "$here/${SCRIPT:-compare}.py" "$@"
fi
root=${ROOT:-/tmp/headlab-debian13}
if [[ ! -e $root/bin/sh ]]; then
  command -v debootstrap >/dev/null || { echo "cannot make a Debian 13 root: debootstrap is missing" \
    "(apt-get install debootstrap, or set PYTHON)" >&2; exit 1; }
  debootstrap --variant=minbase trixie "$root" ${MIRROR:+"$MIRROR"} >"$root.log" 2>&1 ||
    { echo "cannot make a Debian 13 root: see $root.log" >&2; exit 1; }
  cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
fi
mounted=()
unmount() { for folder in "${mounted[@]}"; do umount "$folder" || true; done; }
trap unmount EXIT
for kind in proc sys; do
  mountpoint -q "$root/$kind" && continue
  type=$kind
  [[ $kind == sys ]] && type=sysfs
  mount -t "$type" "$type" "$root/$kind"
  mounted+=("$root/$kind")
done
if [[ ! -e $root/usr/lib/python3/dist-packages/torch ]]; then
  chroot "$root" apt-get update -qq >>"$root.log" 2>&1
  chroot "$root" apt-get install -y -qq --no-install-recommends python3-torch libgomp1 \
    libopenblas0-pthread libopenblas0-openmp >>"$root.log" 2>&1 ||
    { echo "cannot install PyTorch: see $root.log" >&2; exit 1; }
fi
mkdir -p "$root/yardstick"
install -m 755 "$program" "$root/yardstick/program"
install -m 644 "$here/compare.py" "$here/sweep.py" "$root/yardstick/"
# This OpenBLAS knows current processors; variables of the machine around would slow it down.
chroot "$root" env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE -u ATEN_CPU_CAPABILITY \
  HEADLAB=/yardstick/program YARDSTICK=/yardstick/program python3 "/yardstick/${SCRIPT:-compare}.py" "$@"
