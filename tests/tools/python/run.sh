#!/bin/bash
# Runs the tests of examples/headlab.py. Exit status 77, which ctest calls skipped, if there is no
# python3.
#
#   tests/tools/python/run.sh PROGRAM
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || { echo "skipped: needs python3 (package python3)"; exit 77; }
exec python3 "$here/test_headlab.py" "$1"
