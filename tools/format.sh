#!/usr/bin/env bash
# Formats all C++, CUDA and JavaScript sources; with --check it only fails where one would change.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

mode=(-i)
if [[ ${1:-} == --check ]]; then mode=(--dry-run --Werror); fi
find include src cli python tests examples benchmarks -regex '.*\.\(cpp\|hpp\|cc\|cu\|cuh\|js\)' -print0 |
  xargs -0 -n 16 -P "$jobs" .venv/bin/clang-format "${mode[@]}"
