"""Compares kith's cover tree on the CPU with scikit-learn and with brute force in one run, times as JSON.

Every engine gets the same objects and queries and one thread, in a process of its own, one after the other. Times are medians in
milliseconds of the processor; reading files is not in them. Whatever kith finds must be what its brute force finds, or the run
fails. The tables in docs/cover_tree.md are made from the result by tools/make_tables.py.

The real data is not part of the project: a case whose file is missing under --data is left out.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import ROOT, machine

K = 5
PEERS = ["BallTree", "scikit-learn brute"]
LONG_MS = 4000  # slower programs are not run again


def clusters(count, dims, seed):
    """Normal clusters, turned at random, whose axes are the shorter the later."""
    import numpy as np

    random = np.random.default_rng(seed)
    points = np.empty((count, dims), np.float32)
    of = random.integers(0, 100, count)
    for cluster in range(100):
        rows = np.where(of == cluster)[0]
        turn, _ = np.linalg.qr(random.normal(size=(dims, dims)))
        axes = random.uniform(0.5, 1.5, dims) / np.sqrt(1 + np.arange(dims))
        points[rows] = (random.normal(size=(len(rows), dims)) * axes) @ turn.T + random.uniform(-3, 3, dims)
    return points


def uniform(count, dims):
    import numpy as np

    return np.random.default_rng(3).random((count, dims), dtype=np.float32)


def covtype(data):
    import numpy as np

    return np.loadtxt(data / "covtype/covtype.20k.data", delimiter=",", dtype=np.float32)[:, :54]


def fashion(data):
    import numpy as np

    packed = gzip.open(data / "fashion_mnist/t10k-images-idx3-ubyte.gz").read()
    return np.frombuffer(packed[16:], np.uint8).reshape(-1, 784).astype(np.float32)


def words(data):
    import random

    lines = (data / "words/american-english").read_text(encoding="utf-8").splitlines()
    random.Random(1).shuffle(lines)
    return lines


CASES = [  # name, queries (the last rows), what makes the rows
    ("clusters in 55 dims", 5000, lambda data: clusters(55_000, 55, 1)),
    ("clusters in 16 dims", 5000, lambda data: clusters(105_000, 16, 2)),
    ("covtype", 4880, covtype),
    ("Fashion-MNIST", 1000, fashion),
    ("uniform in 55 dims", 1000, lambda data: uniform(21_000, 55)),
    ("English words", 2000, words),
]


def median_ms(repeats, run):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1e3)
        if times[0] > LONG_MS:
            break
    return statistics.median(times)


def time_peer(library, objects, queries, repeats, answers):
    """Runs in a process of its own, with one thread set in the environment before anything is imported."""
    import numpy as np
    from sklearn.neighbors import BallTree, NearestNeighbors

    points, asked = np.load(objects), np.load(queries)
    tree, found = None, None
    is_tree = library == "BallTree"

    def build():
        nonlocal tree
        tree = BallTree(points) if is_tree else NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=1).fit(points)

    def search():
        nonlocal found
        if is_tree:
            tree.reset_n_calls()
        found = tree.query(asked, K)[1] if is_tree else tree.kneighbors(asked)[1]

    build()  # warm-up
    row = {"build_ms": median_ms(repeats, build), "query_ms": median_ms(repeats, search)}
    row["query_evaluations"] = tree.get_n_calls() if is_tree else len(points) * len(asked)
    found.astype(np.uint32).tofile(answers)
    return row


def run_engine(arguments, engine, kind, folder, suffix):
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[variable] = "1"
    files = [folder / f"objects.{suffix}", folder / f"queries.{suffix}"]
    answers = folder / f"{engine} {kind}"
    if engine in PEERS:
        command = [sys.executable, __file__, "--peer", engine, *files, arguments.repeats, answers]
    else:
        command = [arguments.timer, engine, kind, *files, K, arguments.repeats, answers]
    done = subprocess.run([str(part) for part in command], env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), answers


def agreement(exact, found):
    """The share of neighbours that two answers have in common."""
    import numpy as np

    pairs = zip(np.fromfile(exact, np.uint32).reshape(-1, K), np.fromfile(found, np.uint32).reshape(-1, K))
    return float(np.mean([len(np.intersect1d(a, b)) / K for a, b in pairs]))


def write_case(rows, queries, folder):
    """The last rows are the queries. Returns what the files are called."""
    import numpy as np

    parts = {"objects": rows[:-queries], "queries": rows[-queries:]}
    is_text = isinstance(rows, list)
    for name, part in parts.items():
        if is_text:
            (folder / f"{name}.txt").write_text("\n".join(part) + "\n", encoding="utf-8")
        else:
            np.save(folder / f"{name}.npy", part)
    return "txt" if is_text else "npy"


def measure_case(arguments, name, queries, rows, folder):
    suffix = write_case(rows, queries, folder)
    is_text = suffix == "txt"
    runs = [("brute", "words"), ("covertree", "words")] if is_text else []
    if not is_text:
        runs = [(engine, kind) for kind in ("f64", "f32") for engine in ("brute", "covertree")] + [("kdtree", "f32")]
        runs += [(peer, "f64" if peer == "BallTree" else "f32") for peer in PEERS]
    exact, measured = {}, []
    for engine, kind in runs:
        row = {"data": name, "points": len(rows) - queries, "queries": queries, "k": K, "engine": engine, "dtype": kind}
        row["dims"] = None if is_text else rows.shape[1]
        figures, answers = run_engine(arguments, engine, kind, folder, suffix)
        if engine == "brute":
            exact[kind] = answers
            figures["query_evaluations"] = (len(rows) - queries) * queries
        elif engine in PEERS:
            figures["agreement"] = agreement(exact[kind], answers)
        elif exact[kind].read_bytes() != answers.read_bytes():
            sys.exit(f"{name}: {engine} does not find what brute force finds")
        row.update(figures)
        measured.append(row)
        print(json.dumps(row), flush=True)
    return measured


def compare(arguments):
    measured = []
    for name, queries, make in CASES:
        if arguments.only and not any(part in name for part in arguments.only):
            continue
        try:
            rows = make(arguments.data)
        except FileNotFoundError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            measured += measure_case(arguments, name, queries, rows, Path(folder))
        write(arguments.out, measured)
    print(f"written to {arguments.out}")


def write(path, rows):
    import importlib.metadata as metadata

    versions = {name: metadata.version(name) for name in ("scikit-learn", "numpy")}
    report = {"what": "cover tree on the CPU, one thread", "machine": machine(), "versions": versions, "rows": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timer", type=Path, default=ROOT / "build/bin/cover_tree_timer")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/cover_tree_cpu.json")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", help="parts of the names of cases to run; all without it")
    parser.add_argument("--peer", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        library, objects, queries, repeats, answers = arguments.peer
        print(json.dumps(time_peer(library, objects, queries, int(repeats), answers)))
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
