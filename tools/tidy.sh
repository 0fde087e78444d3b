#!/usr/bin/env bash
# Runs clang-tidy over the library and the command and oxlint over the scripts of pages, or over the files named.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

files=("$@")
if ((${#files[@]} == 0)); then mapfile -t files < <(find src cli -name '*.cpp' -o -name '*.js' | sort); fi
scripts=()
sources=()
for file in "${files[@]}"; do
  if [[ $file == *.js ]]; then scripts+=("$file"); else sources+=("$file"); fi
done
if ((${#scripts[@]})); then
  .venv/bin/oxlint --quiet "${scripts[@]}"
  printf 'oxlint has nothing to say about %d files\n' "${#scripts[@]}"
fi
if ((${#sources[@]})); then
  tools/build.sh help >/dev/null  # configures, which writes the compile commands
  printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$jobs" clang-tidy -p build --quiet 2> >(grep -v 'warnings generated' >&2)
  printf 'clang-tidy has nothing to say about %d files\n' "${#sources[@]}"
fi
