#!/usr/bin/env bash
# Installs what is missing for one purpose: tools/setup.sh PURPOSE, one of build, test, cross,
# cross-compiler, bench, docs, fuzz, tidy, format, wheel, package, packages.
# Quiet and fast if all is there. "packages" is for builds by pip: system packages only, without asking for a password.
# "cross" is what it takes to compile for the other architecture and to run that: a compiler, an emulator and, on Debian,
# libraries of the other architecture, which is made known to dpkg. "cross-compiler" is the compiler alone.
#
# System packages come from apt (Debian 12, Ubuntu 24.04; as root or through sudo), CMake, ninja and the Python tools from
# PyPI into .venv. KITH_SKIP_SETUP=1 leaves everything as it is, for machines that are prepared in another way.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"
purpose=${1:-build}

if [[ ${KITH_SKIP_SETUP:-0} == 1 ]]; then exit 0; fi

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

packages=(libcli11-dev libfmt-dev nlohmann-json3-dev libfast-float-dev libhwy-dev liblzf-dev libxxhash-dev libzstd-dev zlib1g-dev)
requirements=(requirements.txt)
if [[ $purpose != packages ]]; then packages+=(libgtest-dev); fi
case $purpose in
  build) ;;
  test)
    packages+=(python3-dev groff-base mandoc clang libclang-rt-dev libomp-dev)  # clang for the sanitizers
    packages+=(libopenmpi-dev openmpi-bin)
    requirements+=(requirements-python.txt)
    # The browser of the tests of pages. Ubuntu's package of that name only leads to a snap: they are skipped there.
    if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then packages+=(chromium); fi
    ;;
  bench) packages+=(libbenchmark-dev libnanoflann-dev); requirements+=(requirements-bench.txt) ;;
  docs) packages+=(python3-dev); requirements+=(requirements-python.txt requirements-docs.txt) ;;
  fuzz) packages+=(clang libclang-rt-dev libomp-dev) ;;
  tidy) packages+=(clang-tidy clang-tools libomp-dev); requirements+=(requirements-dev.txt) ;;
  wheel) packages+=(python3-dev); requirements+=(requirements-wheel.txt) ;;
  package) packages+=(dpkg-dev file) ;;
  format) packages=(); requirements=(requirements-dev.txt) ;;
  packages) requirements=() ;;
  cross | cross-compiler) packages=(); requirements=() ;;
  *) die "unknown purpose \"$purpose\"; the first lines of tools/setup.sh list them" ;;
esac

native=$(dpkg --print-architecture 2>/dev/null || true)
if [[ $purpose == cross* ]]; then
  case $native in
    amd64) other=arm64 compiler=g++-aarch64-linux-gnu ;;
    arm64) other=amd64 compiler=g++-x86-64-linux-gnu ;;
    *) die "cross-compiling is set up for Debian and Ubuntu on amd64 and arm64 only" ;;
  esac
  packages=("$compiler")
  if [[ $purpose == cross ]]; then
    packages+=(qemu-user "libgomp1:$other" "libhwy-dev:$other" "libfmt-dev:$other" "liblzf-dev:$other" "libzstd-dev:$other" "zlib1g-dev:$other" "libgtest-dev:$other")
    if ! dpkg --print-foreign-architectures | grep -qx "$other"; then
      # Ubuntu keeps other architectures on other servers: apt would look for them in vain from then on.
      if ! grep -qx 'ID=debian' /etc/os-release; then die "apt does not know $other packages here"; fi
      add_architecture=$other
    fi
  fi
fi

# The first python3 that can make virtual environments. pyenv and Debian both have ones that cannot.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
      printf '%s' "$python"
      return
    fi
  done
}

missing_packages() {
  if ! command -v g++ >/dev/null || ! command -v make >/dev/null; then echo build-essential; fi
  if ((${#requirements[@]})) && [[ ! -x .venv/bin/python && -z $(find_python) ]]; then echo python3-venv; fi
  if ((${#packages[@]})); then
    comm -23 <(printf '%s\n' "${packages[@]}" | sort) \
      <(dpkg-query -W -f '${db:Status-Status} ${Package}:${Architecture}\n' "${packages[@]}" 2>/dev/null |
        sed -n "s/:\($native\|all\)\$//; s/^installed //p" | sort -u)
  fi
}

install_packages() {
  local as_root=()
  command -v apt-get >/dev/null ||
    die "this system has no apt; install the equivalents of these Debian packages yourself: $*. Then set KITH_SKIP_SETUP=1"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "these packages are missing: $*. Run as root: apt-get install $*"
    as_root=(sudo)
    if [[ $purpose == packages ]] && ! sudo -n true 2>/dev/null; then
      die "these packages are missing: $*. Install them: sudo apt-get install $*"
    fi
  fi
  say "installing $*"
  if [[ -n ${add_architecture:-} ]]; then "${as_root[@]}" dpkg --add-architecture "$add_architecture"; fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || say "apt-get update failed; trying with the package lists that are there"
  "${apt[@]}" install -y --no-install-recommends "$@" >&2 || die "apt-get could not install: $*"
}

make_venv() {
  if .venv/bin/python -c 'import pip' >/dev/null 2>&1; then return; fi
  local python
  python=$(find_python)
  [[ -n $python ]] || die "no python3 that can make a virtual environment was found; install python3-venv"
  say "making the virtual environment .venv"
  rm -rf .venv
  "$python" -m venv .venv || die "$python could not make .venv"
}

# True if this exact file was installed before and its programs are still there.
is_installed() {
  [[ -x .venv/bin/python ]] || return 1
  cmp -s "tools/$1" ".venv/installed-$1" || return 1
  [[ $1 != requirements.txt ]] || [[ -x .venv/bin/cmake && -x .venv/bin/ninja ]]
}

# Without PyPI the CMake of the system does as well; only recent versions of nvcc need a newer one.
use_system_cmake() {
  say "PyPI cannot be reached; taking CMake and ninja from the system"
  if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then install_packages cmake ninja-build; fi
  local tool
  for tool in cmake ctest ninja; do [[ -x .venv/bin/$tool ]] || ln -sf "$(command -v $tool)" .venv/bin/; done
}

install_requirements() {
  say "installing $(grep -o '^[a-z][a-z-]*' "tools/$1" | paste -sd ' ') into .venv"
  if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "tools/$1" >&2; then
    [[ $1 == requirements.txt ]] || die "pip could not install tools/$1; is PyPI reachable?"
    use_system_cmake
  fi
  cp "tools/$1" ".venv/installed-$1"
}

mapfile -t missing < <(missing_packages)
if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
for file in "${requirements[@]}"; do
  if ! is_installed "$file"; then
    make_venv
    install_requirements "$file"
  fi
done
