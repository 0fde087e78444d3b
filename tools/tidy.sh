#!/usr/bin/env bash
# Runs clang-tidy over the library and the command, or over the files named.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build.sh help >/dev/null  # configures, which writes the compile commands
files=("$@")
if ((${#files[@]} == 0)); then mapfile -t files < <(find src cli -name '*.cpp' | sort); fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$jobs" clang-tidy -p build --quiet 2> >(grep -v 'warnings generated' >&2)
printf 'clang-tidy has nothing to say about %d files\n' "${#files[@]}"
