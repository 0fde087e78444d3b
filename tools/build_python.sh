#!/usr/bin/env bash
# Builds the Python package in the build folder: build/python/kith, to be used with PYTHONPATH=build/python.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build.sh kith_command
cmake build -DKITH_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/.venv/bin/python" >build/configure-python.log 2>&1 ||
  { cat build/configure-python.log >&2; exit 1; }
tools/build.sh _kith
