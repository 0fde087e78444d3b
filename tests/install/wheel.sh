#!/usr/bin/env bash
# Installs a wheel into an empty virtual environment of each Python named, and uses it: tests/install/wheel.sh WHEEL
# [PYTHON...]. No compiler is needed, nor any library of the system beside Python's own.
set -euo pipefail
[[ $# -ge 1 && -f $1 ]] || { printf 'usage: tests/install/wheel.sh WHEEL [PYTHON...]\n' >&2; exit 2; }
wheel=$(realpath "$1")
shift
pythons=("$@")
if ((${#pythons[@]} == 0)); then pythons=(python3); fi

for python in "${pythons[@]}"; do
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
  (
    cd "$folder"
    export CXX=/nonexistent CC=/nonexistent
    unset PYTHONPATH LD_LIBRARY_PATH
    venv/bin/python - <<'PYTHON'
import importlib.metadata, pathlib, sys
import numpy as np
import kith, kith.spatial

points = np.random.default_rng(7).random((2000, 3))
index = kith.Index(points)
distances, indices = index.knn(points[:50], k=4)
apart = np.sqrt(((points[:50, None, :] - points[None, :, :]) ** 2).sum(axis=2))
assert (indices == np.argsort(apart, axis=1, kind="stable")[:, :4]).all()
for engine in ("brute", "kdtree", "covertree"):
    same = kith.Index(points, engine=engine).knn(points[:50], k=4)
    assert (same[0] == distances).all() and (same[1] == indices).all(), engine

index.save("points.kith")
again = kith.Index.load("points.kith").knn(points[:50], k=4)
assert (again[0] == distances).all() and (again[1] == indices).all()

tree = kith.spatial.KDTree(points)
assert (tree.query(points[:50], k=4)[1] == indices).all()
balls = tree.query_ball_point(points[:50], 0.1)
assert all(sorted(ball) == np.flatnonzero(row <= 0.1).tolist() for ball, row in zip(balls, apart))
assert len(tree.query_pairs(0.02)) == int((np.triu(
    np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)) <= 0.02, k=1)).sum())

words = kith.CoverTree(["\ufeffkith", "kin", "kit"], metric="edit")
assert words.knn(["kith"], k=1)[1][0, 0] in (0, 2)

files = {pathlib.PurePath(str(f)).name for f in importlib.metadata.files("kith")}
assert {"LICENSE", "THIRD_PARTY_NOTICES", "GPL-3.0.txt"} <= files, files
assert importlib.metadata.version("kith").split("+")[0] == kith.__version__
print(f"kith {importlib.metadata.version('kith')} works with Python {sys.version.split()[0]}, NumPy {np.__version__}")
PYTHON
    kith=venv/bin/kith
    "$kith" --version
    "$kith" generate --shape lidar --points 2k --out scan.npy --quiet
    "$kith" generate --shape lidar --points 2k --quiet --out - | "$kith" knn - -k 3 --quiet >near.csv
    [[ $(wc -l <near.csv) -ge 2000 ]]
    "$kith" knn scan.npy -k 3 --out near.npz --quiet
    "$kith" verify near.npz scan.npy --sample 100 --quiet
    if [[ $("$kith" info --devices --quiet) == *cuda:0* ]]; then  # a wheel with CUDA, and a GPU
      "$kith" knn scan.npy -k 3 --device cuda --out near-gpu.npz --quiet
      cmp near.npz near-gpu.npz
    fi
    if "$kith" knn nowhere.npy -k 3 2>/dev/null; then exit 1; else [[ $? == 5 ]]; fi
  )
  rm -rf "$folder"
done
