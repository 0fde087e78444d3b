#!/usr/bin/env bash
# Configures one preset if need be and builds the targets named: tools/build.sh [--preset NAME] [TARGET...].
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

preset=release
if [[ ${1:-} == --preset ]]; then
  preset=$2
  shift 2
fi
folder=build
if [[ $preset != release ]]; then folder=build-$preset; fi

if [[ ! -f $folder/build.ninja ]]; then
  options=()
  # Where ccache is installed, objects that were built before are not built again.
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  mkdir -p "$folder"
  if ! cmake --preset "$preset" "${options[@]}" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
  fi
fi
cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"}
