"""Compares kith.spatial.KDTree with scipy.spatial.KDTree in one run, a table on stdout and times as JSON.

Both get the same f64 points in random order. They take turns, a round of every task each, so that a busy machine slows
both; the time of a task is its best of all rounds. Wall time is what counts; processor time stands beside it, because it
does not suffer from other work. A build takes no number of workers: SciPy's has one thread, kith's all cores.
"""

import argparse
import gc
import json
import sys
import time
from pathlib import Path

from machine import ROOT, machine

TASKS = ["build", "query k=8, the points", "query k=8, other points", "query_ball_point", "count of query_ball_point"]


def make_tasks(library, data, others, radius):
    """Functions (tree, workers) by name; the first makes the tree."""
    return {
        "build": lambda tree, workers: library.KDTree(data),
        "query k=8, the points": lambda tree, workers: tree.query(data, 8, workers=workers),
        "query k=8, other points": lambda tree, workers: tree.query(others, 8, workers=workers),
        "query_ball_point": lambda tree, workers: tree.query_ball_point(others, radius, workers=workers),
        "count of query_ball_point": lambda tree, workers: tree.query_ball_point(
            others, radius, workers=workers, return_length=True
        ),
    }


def timed(task, tree, workers):
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    result = task(tree, workers)
    times = time.perf_counter() - wall, time.process_time() - processor
    return result, times


def same(name, ours, theirs):
    """Whether two answers agree; a benchmark of wrong answers is none."""
    import numpy as np

    if name == "query_ball_point":
        return all(a == b for a, b in zip(ours, theirs))
    if name.startswith("query"):
        return np.allclose(ours[0], theirs[0], rtol=1e-12, atol=0)
    return bool((ours == theirs).all())


def compare(arguments):
    import numpy as np
    import scipy
    import scipy.spatial

    import kith
    import kith.spatial

    rng = np.random.default_rng(1)
    n = arguments.points
    data, others = rng.random((n, 3)), rng.random((n, 3))
    radius = (arguments.neighbors / n * 3 / 4 / np.pi) ** (1 / 3)
    tasks = {
        "kith": make_tasks(kith.spatial, data, others, radius),
        "scipy": make_tasks(scipy.spatial, data, others, radius),
    }
    rows = []
    for workers in arguments.workers:
        best = {}
        for _ in range(arguments.rounds):
            trees = {}
            for name in TASKS:
                results = []
                for library in ("kith", "scipy"):
                    result, times = timed(tasks[library][name], trees.get(library), workers)
                    key = (name, library)
                    best[key] = [min(pair) for pair in zip(best.get(key, times), times)]
                    if name == "build":
                        trees[library] = result
                    results.append(result)
                if name != "build" and not same(name, *results):
                    sys.exit(f"{name}: the answers differ")
                del result, results
        for name in TASKS:
            row = {"task": name, "workers": workers}
            for library in ("kith", "scipy"):
                row[f"{library}_ms"], row[f"{library}_processor_ms"] = [
                    round(1e3 * seconds, 1) for seconds in best[(name, library)]
                ]
            row["ratio"] = round(row["scipy_ms"] / row["kith_ms"], 2)
            row["processor_ratio"] = round(row["scipy_processor_ms"] / row["kith_processor_ms"], 2)
            rows.append(row)
    report = {
        "what": f"kith.spatial.KDTree and scipy.spatial.KDTree, f64, {n} points of 3 dims",
        "machine": machine(),
        "versions": {"kith": kith.__version__, "scipy": scipy.__version__, "numpy": np.__version__},
        "radius": radius,
        "rows": rows,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print_table(rows)
    print(f"written to {arguments.out}")


def print_table(rows):
    print(f"{'':27}{'workers':>8}{'kith ms':>10}{'scipy ms':>10}{'ratio':>7}{'processor time':>16}")
    for row in rows:
        times = f"{row['kith_ms']:>10.0f}{row['scipy_ms']:>10.0f}{row['ratio']:>7.1f}{row['processor_ratio']:>16.1f}"
        print(f"{row['task']:27}{row['workers']:>8}{times}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--neighbors", type=float, default=30, help="points in a ball")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/scipy_kd_tree.json")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
