#!/usr/bin/env bash
# Times the searches of kith, then compares them with other libraries where benchmarks/compare_peers.py is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build.sh kith_command
build/bin/kith bench "$@"
if [[ -f benchmarks/compare_peers.py ]]; then
  PATH="$PWD/build/bin:$PATH" .venv/bin/python benchmarks/compare_peers.py
fi
