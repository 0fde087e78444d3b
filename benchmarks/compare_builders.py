"""Times the builders of the k-d tree on the CPU, which give the same tree, and writes the times as JSON.

They take turns, so that a busy machine slows all of them; a time is the least of all rounds. Run it with the package kith on
PYTHONPATH and the command kith on PATH, or name it by --kith.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

from machine import ROOT, machine

BUILDERS = ["histogram", "presort", "select", "segsort"]
CLOUDS = [("uniform", 2), ("uniform", 3), ("uniform", 5), ("uniform", 8), ("surface", 3), ("surface", 6), ("lidar", 3)]
CLOUDS += [("grid", 3), ("duplicates", 3)]


def least_times(points, threads, seconds):
    """Milliseconds by builder: at least 5 rounds, more while `seconds` last."""
    import kith

    best = {}
    begin = time.perf_counter()
    rounds = 0
    while rounds < 5 or (rounds < 200 and time.perf_counter() - begin < seconds):
        for builder in BUILDERS:
            start = time.perf_counter()
            index = kith.Index(points, engine="kdtree", device="cpu", builder=builder, threads=threads)
            taken = 1000 * (time.perf_counter() - start)
            best[builder] = min(best.get(builder, taken), taken)
            del index
        rounds += 1
    return {builder: round(taken, 4) for builder, taken in best.items()}, rounds


def main():
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[2000, 20000, 200000, 2000000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2, help="for each cloud and number of threads")
    parser.add_argument("--kith", default="kith", help="the command, which generates the points")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/kd_tree_builders.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        for cloud, dims in CLOUDS:
            for count in arguments.points:
                command = [arguments.kith, "generate", "--shape", cloud, "-n", count, "-d", dims, "-q", "-o", file]
                subprocess.run([str(word) for word in command], check=True)
                points = np.load(file)
                for threads in arguments.threads:
                    times, rounds = least_times(points, threads, arguments.seconds)
                    rows.append({"cloud": cloud, "points": count, "dims": dims, "threads": threads, "ms": times, "rounds": rounds})
                    print(rows[-1], flush=True)
    arguments.out.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
