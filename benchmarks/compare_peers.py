"""Compares kith's brute force on the CPU with NumPy, scikit-learn and faiss-cpu in one run and writes the times as JSON.

Every library searches the same f32 points with the same number of threads, each in a process of its own, one after the
other. A time is the median of the searches after a warm-up; reading files and building an index are not in it (kith's
build is given beside it). The table in docs/benchmarks.md is made from the result by tools/make_tables.py.
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

CASES = [  # points, queries, dims, k
    (100_000, 10_000, 3, 8),
    (100_000, 4_000, 16, 10),
    (100_000, 1_000, 128, 10),
    (100_000, 1_000, 128, 100),
]
LIBRARIES = ["kith", "faiss-cpu", "scikit-learn", "numpy"]


def search_with(library, points, queries, k, threads):
    """A function that searches once and returns the indices."""
    import numpy as np

    if library == "faiss-cpu":
        import faiss

        faiss.omp_set_num_threads(threads)
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return lambda: index.search(queries, k)[1]
    if library == "scikit-learn":
        from sklearn.neighbors import NearestNeighbors

        index = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=threads).fit(points)
        return lambda: index.kneighbors(queries, return_distance=True)[1]

    norms = np.einsum("ij,ij->i", points, points)

    def numpy_search():
        found = np.empty((len(queries), k), dtype=np.int64)
        step = max(1, 50_000_000 // len(points))  # at most 200 MB of distances at a time
        for first in range(0, len(queries), step):
            block = queries[first : first + step]
            squared = norms - 2 * (block @ points.T) + np.einsum("ij,ij->i", block, block)[:, None]
            nearest = np.argpartition(squared, k, axis=1)[:, :k]
            order = np.argsort(np.take_along_axis(squared, nearest, axis=1), axis=1)
            found[first : first + step] = np.take_along_axis(nearest, order, axis=1)
        return found

    return numpy_search


def time_peer(library, folder, k, threads, repeats):
    """Runs in a process of its own, with the thread count set in the environment before anything is imported."""
    import numpy as np

    points, queries = np.load(folder / "points.npy"), np.load(folder / "queries.npy")
    search = search_with(library, points, queries, k, threads)
    found = search()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        search()
        times.append((time.perf_counter() - start) * 1e3)
    np.save(folder / f"{library}.npy", found.astype(np.int64))
    return {"query_ms": statistics.median(times)}


def time_kith(folder, k, threads, repeats):
    command = ["kith", "knn", folder / "points.npy", folder / "queries.npy", "-k", str(k), "--engine", "brute"]
    command += ["--device", "cpu", "--threads", str(threads), "--json", "--out", folder / "kith.npz"]
    reports = []
    for _ in range(repeats + 1):
        reports.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return {key: statistics.median(report[key] for report in reports[1:]) for key in ("query_ms", "build_ms")}


def run_peer(library, folder, k, threads, repeats):
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[variable] = str(threads)
    arguments = [sys.executable, __file__, "--peer", library, "--folder", folder, "--k", str(k)]
    arguments += ["--threads", str(threads), "--repeats", str(repeats)]
    done = subprocess.run([str(a) for a in arguments], env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def agreement(folder, library):
    """The share of neighbours that a library has in common with kith's exact answer."""
    import numpy as np

    exact = np.load(folder / "kith.npz")["indices"].astype(np.int64)
    found = np.load(folder / f"{library}.npy")
    return float(np.mean([len(np.intersect1d(a, b)) / len(a) for a, b in zip(exact, found)]))


def versions():
    import faiss
    import numpy
    import sklearn

    return {"numpy": numpy.__version__, "scikit-learn": sklearn.__version__, "faiss-cpu": faiss.__version__}


def compare(arguments):
    import numpy as np

    rows = []
    for points, queries, dims, k in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            random = np.random.default_rng(1)
            np.save(folder / "points.npy", random.random((points, dims), dtype=np.float32))
            np.save(folder / "queries.npy", random.random((queries, dims), dtype=np.float32))
            for threads in arguments.threads_list:
                for library in LIBRARIES:
                    row = {"points": points, "queries": queries, "dims": dims, "k": k, "threads": threads}
                    row["library"] = library
                    if library == "kith":
                        row.update(time_kith(folder, k, threads, arguments.repeats))
                    else:
                        row.update(run_peer(library, folder, k, threads, arguments.repeats))
                        row["agreement"] = agreement(folder, library)
                    rows.append(row)
                    print(f"{dims:4} dims, k {k:3}, {threads} threads, {library:13} {row['query_ms']:10.1f} ms", flush=True)
    report = {"what": "brute force on the CPU, f32, uniform", "machine": machine(), "versions": versions(), "rows": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {arguments.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/brute_force_cpu.json")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads-list", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--k", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        print(json.dumps(time_peer(arguments.peer, arguments.folder, arguments.k, arguments.threads, arguments.repeats)))
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
