#!/usr/bin/env bash
# Checks that every public header compiles alone, twice in a row, with nothing but include/ on the path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

check() {
  printf '#include <%s>\n#include <%s>\n' "$1" "$1" |
    "${CXX:-g++}" -x c++ -std=c++20 -fsyntax-only -I include -Wall -Wextra -Wpedantic -Werror - ||
    { printf 'include/%s does not compile alone\n' "$1" >&2; return 1; }
}
export -f check

mapfile -t headers < <(cd include && find kith -name '*.hpp' | sort)
printf '%s\0' "${headers[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'check "$0"'
printf '%d public headers compile alone\n' "${#headers[@]}"
