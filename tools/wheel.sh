#!/usr/bin/env bash
# Builds self-contained wheels into dist/: the extension, the command, and every library that not each Linux has.
#
# One wheel per Python: all of 3.10 and later on the PATH that have their headers, or those that KITH_WHEEL_PYTHONS names
# ("python3.11 /opt/python/bin/python3"). From 3.12 on one wheel serves all, so only the first of these is used.
# KITH_WHEEL_CUDA=ON builds with CUDA (nvcc on the PATH) and labels the version +cuda13; KITH_CUDA_ARCHITECTURES is passed on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

cuda=${KITH_WHEEL_CUDA:-OFF}
case $cuda in ON | OFF) ;; *) printf 'KITH_WHEEL_CUDA is ON or OFF, not "%s"\n' "$cuda" >&2; exit 2 ;; esac
export KITH_WHEEL_CUDA=$cuda CMAKE_BUILD_PARALLEL_LEVEL=$jobs CMAKE_GENERATOR=Ninja
# All Pythons share a build folder: of all that is compiled only the extension itself depends on Python.
work=build-wheel
if [[ $cuda == ON ]]; then
  work=build-wheel-cuda
  # pyproject.toml has the label.
  [[ $(nvcc --version) == *'release 13.'* ]] || { printf 'the wheel with CUDA is built by nvcc 13\n' >&2; exit 1; }
fi

# "11" for a Python 3.11 that extensions can be built for, nothing for others.
minor_version() {
  "$1" - 2>/dev/null <<'PYTHON' || true
import os, sys, sysconfig
if sys.version_info >= (3, 10) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print(sys.version_info.minor)
PYTHON
}

if [[ -n ${KITH_WHEEL_PYTHONS:-} ]]; then
  read -ra candidates <<<"$KITH_WHEEL_PYTHONS"
else
  candidates=(.venv/bin/python python3.{10..19} /usr/bin/python3)
fi
pythons=()
declare -A chosen=()
for python in "${candidates[@]}"; do
  minor=$(minor_version "$python")
  if [[ -z $minor ]]; then
    if [[ -n ${KITH_WHEEL_PYTHONS:-} ]]; then
      printf '%s is no Python 3.10 or later with headers (Debian: python3-dev)\n' "$python" >&2
      exit 1
    fi
    continue
  fi
  if ((minor > 12)); then minor=12; fi
  if [[ -z ${chosen[$minor]:-} ]]; then
    chosen[$minor]=1
    pythons+=("$python")
  fi
done
((${#pythons[@]})) || { printf 'no Python 3.10 or later with headers was found\n' >&2; exit 1; }

settings=(--config-settings=build-dir="$work/cmake" --config-settings=cmake.define.KITH_CUDA="$cuda")
if [[ -n ${KITH_CUDA_ARCHITECTURES:-} ]]; then
  settings+=(--config-settings=cmake.define.KITH_CUDA_ARCHITECTURES="$KITH_CUDA_ARCHITECTURES")
fi
mkdir -p dist "$work"
for python in "${pythons[@]}"; do
  printf 'a wheel for %s\n' "$("$python" --version)"
  rm -rf "$work/raw"
  .venv/bin/python -m pip --python "$python" wheel . --no-deps --wheel-dir "$work/raw" "${settings[@]}" \
    >"$work/build.log" 2>&1 || { tail -n 80 "$work/build.log" >&2; exit 1; }
  # Adds the libraries, and names the oldest glibc that the wheel runs with.
  .venv/bin/python -m auditwheel repair --wheel-dir dist "$work"/raw/*.whl >"$work/repair.log" 2>&1 ||
    { cat "$work/repair.log" >&2; exit 1; }
  sed -n 's/^.*Fixed-up wheel written to /  /p' "$work/repair.log"
done
