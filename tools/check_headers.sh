#!/usr/bin/env bash
# Checks that every public header compiles alone, twice in a row, with nothing but include/ on the path; those of
# kith/mpi also need mpi.h, and are left out where it is not.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

mpi_flags=()
if command -v mpicxx >/dev/null; then read -ra mpi_flags <<<"$(mpicxx -show 2>/dev/null | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' ')"; fi
export mpi_flags_text="${mpi_flags[*]}"

check() {
  local flags=()
  if [[ $1 == kith/mpi/* ]]; then read -ra flags <<<"$mpi_flags_text -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX"; fi
  printf '#include <%s>\n#include <%s>\n' "$1" "$1" |
    "${CXX:-g++}" -x c++ -std=c++20 -fsyntax-only -I include -Wall -Wextra -Wpedantic -Werror "${flags[@]}" - ||
    { printf 'include/%s does not compile alone\n' "$1" >&2; return 1; }
}
export -f check

mapfile -t headers < <(cd include && find kith -name '*.hpp' | sort)
if [[ -z $mpi_flags_text ]]; then mapfile -t headers < <(printf '%s\n' "${headers[@]}" | grep -v '^kith/mpi/'); fi
printf '%s\0' "${headers[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'check "$0"'
printf '%d public headers compile alone\n' "${#headers[@]}"
