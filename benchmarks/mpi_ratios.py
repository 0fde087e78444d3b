#!/usr/bin/env python3
"""Ranks of one thread each against one process with as many threads, as ratios of their speeds: 1 is the same.

  benchmarks/mpi_ratios.py [--timer build/bin/mpi_timer] [--ranks 1 2 4] [--points 1000000] [-k 8] [--runs 3] [--out FILE]

Goals: 0.6 for builds, in which most points move to another rank, 0.8 for kNN. Both are run in turn, and the shortest time counts.
"""
import argparse
import json
import os
import subprocess

from machine import machine

PARTS = {"build": "build_ms", "kNN": "knn_ms", "kNN of the points": "knn_self_ms"}
# More ranks than cores, perhaps as root: a rank that waits leaves its core to others.
SETTINGS = {
    "OMP_NUM_THREADS": "64",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def run(words):
    done = subprocess.run(words, env={**os.environ, **SETTINGS}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timer", default="build/bin/mpi_timer")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("-k", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", help="a JSON file for the result")
    given = parser.parse_args()
    rows = []
    work = [str(given.points), str(given.k), "1"]
    for ranks in given.ranks:
        together, alone = [], []
        for _ in range(given.runs):
            together.append(run(["mpirun", "-n", str(ranks), given.timer, *work]))
            alone.append(run([given.timer, "--alone", str(ranks), *work]))
        for name, key in PARTS.items():
            of_ranks, of_one = min(t[key] for t in together), min(t[key] for t in alone)
            rows.append({"ranks": ranks, "part": name, "ms": of_ranks, "one_process_ms": of_one})
            print(f"{ranks} ranks, {name}: {of_ranks:.0f} ms, one process {of_one:.0f} ms, ratio {of_one / of_ranks:.2f}")
    if given.out:
        report = {"machine": machine(), "points": given.points, "k": given.k, "runs": given.runs, "rows": rows}
        with open(given.out, "w", encoding="utf-8") as file:
            file.write(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
