#!/usr/bin/env bash
# Shows what kith does in one minute: makes a lidar scene, finds 8 neighbours of every point, checks a sample.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

kith=build/bin/kith
folder=build/demo
scene=$folder/street.npy
result=$folder/neighbors.npz
points=${KITH_DEMO_POINTS:-1000000}
mkdir -p "$folder"

run() {
  printf '\n$ kith %s\n' "$*"
  "$kith" "$@"
}

printf 'A spinning scanner drives along a street; every point it sees asks for its 8 nearest neighbours.\n'
start=$EPOCHREALTIME
run generate --shape lidar --points "$points" --out "$scene"
run info "$scene"
run knn "$scene" -k 8 --device cpu --out "$result"
run verify "$result" "$scene" --sample 200
printf '\nAll of it took %s s. The files are in %s.\n' \
  "$(awk "BEGIN {printf \"%.1f\", $EPOCHREALTIME - $start}")" "$folder"
try() { printf '  # %s\n  %s\n' "$1" "$2"; }
printf '\nTry next:\n'
try 'all neighbours within half a metre' "$kith radius $scene --radius 0.5 --out $folder/near.npz"
try 'your own cloud: PLY, PCD, LAS, CSV, NPY, ...' "$kith knn YOUR.ply -k 8 --out neighbors.csv"
try 'every flag, with examples' "$kith help knn"
try 'all tests and checks' 'make test'
