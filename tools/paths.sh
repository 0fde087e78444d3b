# Sourced by the other scripts: goes to the root of the project and puts its own CMake and ninja first on the PATH.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"
jobs=${KITH_JOBS:-$(nproc)}
