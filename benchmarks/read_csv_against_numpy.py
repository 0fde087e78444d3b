"""Times reading a CSV file with kith, numpy.loadtxt and, where it is there, pandas.read_csv.

    python benchmarks/read_csv_against_numpy.py --timer build/bin/read_points_timer --megabytes 200

The file is made in a temporary directory and read from the page cache by all, each its best of several runs.
Prints JSON; with --out it is written to a file too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from machine import machine


def write_csv(path, megabytes, columns, decimals, seed):
    """Rows of uniform numbers with a header, until the file is large enough. Returns the number of rows."""
    random = np.random.default_rng(seed)
    pattern = ",".join([f"%.{decimals}f"] * columns)
    rows = 0
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
        while file.tell() < megabytes * 1e6:
            block = random.uniform(-100, 100, (20_000, columns))
            file.write("\n".join(pattern % tuple(row) for row in block) + "\n")
            rows += len(block)
    return rows


def best_seconds(work, repeats):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timer", required=True, help="the program read_points_timer")
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--decimals", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="also write the JSON to this file")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "points.csv")
        rows = write_csv(path, arguments.megabytes, arguments.columns, arguments.decimals, arguments.seed)
        size = os.path.getsize(path)

        results = []
        for threads in dict.fromkeys(arguments.threads):
            command = [arguments.timer, path, str(threads), str(arguments.repeats)]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            if result["rows"] != rows:
                sys.exit(f"kith read {result['rows']} rows of {rows}")
            results.append({"reader": "kith", "threads": threads, "seconds": result["seconds"]})
        versions = {"numpy": np.__version__}
        seconds = best_seconds(lambda: np.loadtxt(path, delimiter=",", skiprows=1), 1)
        results.append({"reader": "numpy.loadtxt", "threads": 1, "seconds": seconds})
        try:
            import pandas
        except ImportError:
            print("pandas is not installed; left out", file=sys.stderr)
        else:
            versions["pandas"] = pandas.__version__
            seconds = best_seconds(lambda: pandas.read_csv(path), arguments.repeats)
            results.append({"reader": "pandas.read_csv", "threads": 1, "seconds": seconds})

    report = {"what": "reading a CSV of uniform numbers", "machine": machine(), "versions": versions}
    report |= {"csv_rows": rows, "columns": arguments.columns, "bytes": size, "rows": results}
    text = json.dumps(report, indent=1)
    print(text)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
