"""Compares kith's k-d tree on the CPU with nanoflann, SciPy, pykdtree and scikit-learn in one run, times as JSON.

Every library gets the same f32 points in random order and as many threads, each in a process of its own, one after the
other; the points are also the queries. Times are medians; reading files is not in them. The tables in docs/benchmarks.md
are made from the result by tools/make_tables.py.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import ROOT, machine

FAST = ["kith", "nanoflann", "nanoflann-sorted", "pykdtree", "scipy"]
ALL = [*FAST, "scikit-learn"]

CASES = [  # cloud, points, dims, neighbours, libraries
    ("uniform", 1_000_000, 3, [1, 8, 16, 50], ALL),
    ("surface", 1_000_000, 3, [8, 16], FAST),
    ("lidar", 1_000_000, 3, [8, 16], FAST),
    ("clusters", 1_000_000, 3, [8, 16], FAST),
    ("uniform", 1_000_000, 2, [1, 8, 16], FAST),
    ("uniform", 1_000_000, 4, [1, 8, 16], FAST),
    ("uniform", 100_000, 3, [1, 8, 16, 50], ALL),
    ("uniform", 100_000, 8, [1, 8], ALL),
    ("clusters", 100_000, 8, [8], ALL),
    ("clusters", 1_000_000, 4, [8], FAST),
    ("uniform", 10_000_000, 3, [8], FAST),
]


def median_ms(repeats, run):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def time_peer(library, path, threads, repeats, radius, ks):
    """Runs in a process of its own, with the thread count set in the environment before anything is imported."""
    import numpy as np

    points = np.load(path)
    tree = None

    def build():
        nonlocal tree
        if library == "scipy":
            from scipy.spatial import cKDTree

            tree = cKDTree(points)
        elif library == "pykdtree":
            from pykdtree.kdtree import KDTree

            tree = KDTree(points)
        else:
            from sklearn.neighbors import NearestNeighbors

            tree = NearestNeighbors(algorithm="kd_tree", n_jobs=threads).fit(points)

    def knn(k):
        if library == "scipy":
            tree.query(points, k, workers=threads)
        elif library == "pykdtree":
            tree.query(points, k)
        else:
            tree.kneighbors(points, k)

    def within():
        if library == "scipy":
            tree.query_ball_point(points, radius, workers=threads)
        else:
            tree.radius_neighbors(points, radius)

    build()  # imports and warm-up
    rows = [{"name": "build", "ms": median_ms(repeats, build)}]
    rows += [{"name": f"knn {k}", "ms": median_ms(repeats, lambda k=k: knn(k))} for k in ks]
    if library != "pykdtree" and radius > 0:  # which has no lists within a radius
        rows.append({"name": "radius", "ms": median_ms(repeats, within)})
    return rows


def run_library(timer, library, path, threads, repeats, radius, ks):
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[variable] = str(threads)
    numbers = [str(value) for value in (threads, repeats, radius, *ks)]
    if library.startswith(("kith", "nanoflann")):
        command = [timer, library, path, *numbers]
    else:
        command = [sys.executable, __file__, "--peer", library, path, *numbers]
    done = subprocess.run([str(part) for part in command], env=environment, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def make_cloud(kith, cloud, points, dims, folder):
    """Generates a cloud, shuffles it, and finds the radius that holds about 30 points."""
    import numpy as np

    path = folder / "points.npy"
    command = [kith, "generate", "--shape", cloud, "--points", points, "--dims", dims, "--seed", 1, "--dtype", "f32"]
    subprocess.run([str(part) for part in [*command, "--quiet", "--out", path]], check=True)
    values = np.load(path)
    np.random.default_rng(1).shuffle(values)
    np.save(path, values)
    np.save(folder / "some.npy", values[:2000])
    command = [kith, "knn", path, folder / "some.npy", "-k", 30, "--device", "cpu", "--quiet"]
    command += ["--out", folder / "some.npz"]
    subprocess.run([str(part) for part in command], check=True)
    return path, float(np.median(np.load(folder / "some.npz")["distances"][:, -1]))


def versions(timer):
    import importlib.metadata as metadata

    found = {name: metadata.version(name) for name in ("scipy", "pykdtree", "scikit-learn", "numpy")}
    done = subprocess.run([timer, "version"], check=True, capture_output=True, text=True)
    return {"nanoflann": done.stdout.strip(), **found}


def compare(arguments):
    rows = []
    for cloud, points, dims, ks, libraries in CASES:
        if points > arguments.most_points or (arguments.clouds and f"{cloud}:{points}:{dims}" not in arguments.clouds):
            continue
        with tempfile.TemporaryDirectory() as name:
            path, radius = make_cloud(arguments.kith, cloud, points, dims, Path(name))
            for threads in arguments.threads_list:
                for library in libraries:
                    if arguments.libraries and library not in arguments.libraries:
                        continue
                    is_slow = points > 1_000_000 or (points == 1_000_000 and library != "kith")
                    repeats = 1 if is_slow else arguments.repeats
                    within = 0 if points > 1_000_000 else radius
                    times = run_library(arguments.timer, library, path, threads, repeats, within, ks)
                    row = {"cloud": cloud, "points": points, "dims": dims, "threads": threads, "library": library}
                    row["radius"] = radius
                    row["ms"] = {time_["name"]: round(time_["ms"], 3) for time_ in times}
                    rows.append(row)
                    print(json.dumps(row), flush=True)
        write(arguments, rows)  # after every cloud: what was measured is kept if the run is stopped
    print(f"written to {arguments.out}")


def write(arguments, rows):
    versions_now = versions(arguments.timer)
    report = {"what": "k-d tree on the CPU, f32", "machine": machine(), "versions": versions_now, "rows": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timer", type=Path, default=ROOT / "build/bin/kd_tree_timer")
    parser.add_argument("--kith", type=Path, default=ROOT / "build/bin/kith")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/kd_tree_cpu.json")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most-points", type=int, default=10_000_000)
    parser.add_argument("--clouds", nargs="+", help="only these, e.g. uniform:1000000:3")
    parser.add_argument("--libraries", nargs="+", help="only these")
    parser.add_argument("--threads-list", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--peer", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        library, path, threads, repeats, radius, *ks = arguments.peer
        for row in time_peer(library, path, int(threads), int(repeats), float(radius), [int(k) for k in ks]):
            print(json.dumps(row))
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
