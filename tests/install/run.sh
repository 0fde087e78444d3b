#!/usr/bin/env bash
# Installs kith and uses it as strangers would: find_package (static and shared), pkg-config, add_subdirectory.
# Takes the release build in build/ (or the folder named) for the static library; all else happens in build-install/.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/paths.sh"

root=$PWD
release=${1:-build}
work=$root/build-install
rm -rf "$work/elsewhere" "$work/static" "$work/shared" "$work/consumer-"*
mkdir -p "$work"

# Shows the output of a command only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; printf 'failed: %s\n' "$*" >&2; exit 1; }
}

expect_file() {
  [[ -s $1 ]] || { printf 'not installed: %s\n' "$1" >&2; exit 1; }
}

# Builds the consumer against the kith installed in $1.
use_installed() {
  local build=$work/consumer-$(basename "$1")
  quietly cmake -S tests/install/consumer -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$1"
  quietly cmake --build "$build"
  "$build/consumer"
}

printf 'find_package, static library: '
quietly cmake --install "$release" --prefix "$work/elsewhere"
mv "$work/elsewhere" "$work/static"  # an installation can be moved as a whole
libdir=$(cd "$work/static" && dirname "$(find . -name libkith.a)")
for file in include/kith/kith.hpp "$libdir/cmake/kith/kithConfig.cmake" "$libdir/pkgconfig/kith.pc" \
  share/bash-completion/completions/kith share/zsh/site-functions/_kith share/doc/kith/THIRD_PARTY_NOTICES; do
  expect_file "$work/static/$file"
done
pages=("$work"/static/share/man/man1/kith-*.1*)  # packed, where gzip is there
expect_file "$work"/static/share/man/man1/kith.1*
if ((${#pages[@]} != $("$release/bin/kith" man | grep -c '^\.BR kith\\-'))); then
  printf 'not every command has a manual page\n' >&2
  exit 1
fi
use_installed "$work/static"

printf 'the installed command: '
"$work/static/bin/kith" --version

if command -v pkg-config >/dev/null; then
  printf 'pkg-config, static library: '
  export PKG_CONFIG_PATH=$work/static/$libdir/pkgconfig
  # shellcheck disable=SC2046
  quietly "${CXX:-g++}" -std=c++20 tests/install/consumer/main.cpp -o "$work/by-pkg-config" \
    $(pkg-config --cflags --libs --static kith)
  "$work/by-pkg-config"
fi

# One build serves two questions: how a subproject behaves, and (by its install rules) how the shared library does. Files
# are put together, as some projects ask for: it takes a third less, and the release build compiled each alone.
printf 'add_subdirectory, shared library: '
quietly cmake -S tests/install/subproject -B "$work/subproject" -G Ninja -DKITH_SOURCE="$root" -DKITH_CUDA=OFF \
  -DBUILD_SHARED_LIBS=ON -DKITH_INSTALL=ON "-DCMAKE_CXX_FLAGS=-O0 -DHWY_COMPILE_ONLY_STATIC" \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8
quietly cmake --build "$work/subproject" --parallel "$jobs"
"$work/subproject/subproject"
if grep -q -- -Werror "$work/subproject/compile_commands.json"; then
  printf 'add_subdirectory turned warnings into errors\n' >&2
  exit 1
fi

printf 'find_package, shared library: '
quietly cmake --install "$work/subproject" --prefix "$work/shared"
use_installed "$work/shared"
if [[ -e $work/shared/$libdir/cmake/kith/FindLzf.cmake ]] ||
  grep -q LINK_ONLY "$work/shared/$libdir/cmake/kith/kithTargets.cmake"; then
  printf 'the shared library asks its users for its own dependencies\n' >&2
  exit 1
fi
