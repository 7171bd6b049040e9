#!/bin/bash
# Runs the tests of examples/headlab.py, of the rules in examples/studies/study.py, and of the tool
# tests/tools/results.
# Exit status 77, which ctest calls skipped, if there is no python3.
#
#   tests/tools/python/run.sh PROGRAM
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || { echo "skipped: needs python3 (package python3)"; exit 77; }
python=python3
for candidate in python3 /usr/bin/python3; do  # one that has NumPy, if there is one
  "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
"$python" "$here/test_studies.py"
"$python" "$here/test_results.py"
exec "$python" "$here/test_headlab.py" "$1"
