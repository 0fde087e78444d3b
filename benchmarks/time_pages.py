"""Times kith view: pages of large clouds, how large they are, and the memory that the command takes, as JSON."""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from machine import ROOT, machine

CASES = [  # name, words of kith generate, words of kith view
    ("uniform", ["--shape", "uniform", "--points", "2M", "--dims", "3"], []),
    ("lidar", ["--shape", "lidar", "--points", "2M"], []),
    ("lidar, exact", ["--shape", "lidar", "--points", "2M"], ["--exact"]),
    ("lidar, with 8 neighbours", ["--shape", "lidar", "--points", "2M"], ["-k", "8"]),
    ("lidar, normals and curvature", ["--shape", "lidar", "--points", "2M"], ["--color", "curvature"]),
    ("lidar", ["--shape", "lidar", "--points", "10M"], []),
]


def run(command, words):
    """What a command took, its JSON report, and the most memory it had, in bytes."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen([command, *words], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # it is gone: nothing is left to wait for
        took = 1e3 * (time.perf_counter() - start)
        if process.returncode != 0:
            raise SystemExit(f"kith {' '.join(words)} ended with {process.returncode}")
        out.seek(0)
        text = out.read()
    return took, json.loads(text) if text else None, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=ROOT / "build/bin/kith")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/view_cpu.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cloud, page = f"{folder}/cloud.ply", f"{folder}/page.html"
        for name, generate, view in CASES:
            run(arguments.command, ["generate", *generate, "--seed", "1", "--out", cloud, "--quiet"])
            best = None
            for _ in range(arguments.rounds):
                took, report, memory = run(arguments.command, ["view", cloud, *view, "--json", "--quiet", "--out", page])
                if best is None or took < best["all_ms"]:
                    parts = {key: round(report[key], 1) for key in ("read_ms", "compute_ms", "page_ms", "write_ms")}
                    best = {"all_ms": round(took, 1), **parts, "memory": memory, "bytes": report["bytes"], "threads": report["threads"]}
            rows.append({"cloud": name, "points": report["points"], "cloud_bytes": os.path.getsize(cloud), **best})
            print(rows[-1])
    arguments.out.write_text(json.dumps({"what": "kith view", "machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
