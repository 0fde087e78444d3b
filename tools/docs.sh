#!/usr/bin/env bash
# Builds the documentation site, and for it the Python package: build-docs/html/index.html.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build_python.sh
PYTHONPATH="$PWD/build/python" .venv/bin/python tools/build_site.py "$@"
