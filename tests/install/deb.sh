#!/usr/bin/env bash
# Installs the Debian packages on a bare Debian, as root, and uses them: tests/install/deb.sh KITH.deb LIBKITH-DEV.deb.
# Meant for a container or chroot: compilers are installed with the second package, after the first has worked without.
set -euo pipefail
[[ $# == 2 && -f $1 && -f $2 ]] || { printf 'usage: tests/install/deb.sh KITH.deb LIBKITH-DEV.deb\n' >&2; exit 2; }
command_package=$(realpath "$1")
development_package=$(realpath "$2")
consumer=$(realpath "$(dirname "${BASH_SOURCE[0]}")/consumer")
export DEBIAN_FRONTEND=noninteractive
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_quietly() {
  apt-get -qq install -y --no-install-recommends "$@" >log 2>&1 || { cat log >&2; exit 1; }
}

apt-get -qq update >log 2>&1 || { cat log >&2; exit 1; }
printf 'the command: '
install_quietly "$command_package"
kith --version
kith generate --shape lidar --points 20k --out scan.ply --quiet
kith info scan.ply >/dev/null
kith knn scan.ply -k 8 --out near.npz --quiet
kith radius scan.ply -r 0.5 --count --quiet >counts.csv
kith verify near.npz scan.ply --sample 1000 --quiet
kith generate --points 1k --quiet --out - | kith knn - -k 3 --quiet >/dev/null
for file in man/man1/kith.1.gz man/man1/kith-knn.1.gz bash-completion/completions/kith zsh/site-functions/_kith \
  doc/kith/copyright; do
  [[ -s /usr/share/$file ]] || { printf 'not installed: /usr/share/%s\n' "$file" >&2; exit 1; }
done
[[ $(zcat /usr/share/man/man1/kith-knn.1.gz) == "$(kith man knn)" ]]

install_quietly "$development_package" cmake g++ make pkg-config
printf 'pkg-config: '
# shellcheck disable=SC2046
g++ -std=c++20 "$consumer/main.cpp" -o by-pkg-config $(pkg-config --cflags --libs --static kith)
./by-pkg-config
printf 'find_package: '
{ cmake -S "$consumer" -B consumer && cmake --build consumer; } >log 2>&1 || { cat log >&2; exit 1; }
consumer/consumer

printf 'removed again: '
apt-get -qq purge -y kith libkith-dev >log 2>&1 || { cat log >&2; exit 1; }
[[ ! -e /usr/bin/kith && ! -e /usr/include/kith ]]
printf 'nothing is left\n'
