#!/usr/bin/env bash
# Makes Debian packages for the system that it runs on: dist/kith_*.deb (the command) and dist/libkith-dev_*.deb.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build.sh kith kith_command
# The same source gives the same package: times in it are that of the last commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
log=build/package.log
# Only install rules depend on the folder; nothing is compiled again for it.
{
  cmake build -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" &&
    rm -rf build/package && umask 022 && cpack --config build/CPackConfig.cmake -B build/package
} >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }
mkdir -p dist
cp build/package/*.deb dist/
for package in build/package/*.deb; do printf 'dist/%s\n' "${package##*/}"; done
