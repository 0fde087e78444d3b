"""Compares the time of registration by kith, small_gicp, Open3D and PCL (generalized ICP) in one run, a table on stdout and JSON.

The time of a library is that of trees, covariances and iterations together, the best of the rounds, in which the libraries
take turns; its phases are those of that round. PCL takes part if its program was built (tools/build.sh register_with_pcl). The error is the distance of the pose from the known one: of real scans the published one, of made-up pairs the
exact one.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from machine import ROOT, machine
from registration_peers import Phases, errors, made_pairs, versions, with_pcl


def measure(threads, rounds):
    """Rows of one process, whose number of threads OMP_NUM_THREADS has set."""
    rows = []
    for name, source, target, truth, distance in made_pairs():
        best = {}
        for _ in range(rounds):
            for library, register in with_pcl().items():
                if library == "pcl" and threads > 1:
                    continue  # it uses one thread
                pose, iterations, phases = register(source, target, distance, threads)
                took = sum(phases.values())
                if library not in best or took < best[library]["ms"]:
                    degrees, shift = errors(pose, truth)
                    best[library] = {
                        "ms": round(took, 2),
                        "phases": {phase: round(ms, 2) for phase, ms in phases.items()},
                        "degrees": degrees,
                        "shift": shift,
                        "iterations": iterations,
                    }
        rows.append({"pair": name, "source": len(source), "target": len(target), "threads": threads, **best})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", choices=["elapsed", "cpu"], default="elapsed", help="cpu: where other work runs, with one thread")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/registration_cpu.json")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # in a process of its own
    arguments = parser.parse_args()
    if arguments.clock == "cpu":
        if arguments.threads != [1]:
            sys.exit("--clock cpu measures one thread: add --threads 1")
        Phases.clock = time.process_time
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.rounds)))
        return
    rows = []
    for threads in arguments.threads:
        command = [sys.executable, __file__, "--measure", str(threads), "--rounds", str(arguments.rounds), "--threads", str(threads), "--clock", arguments.clock]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)}, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        rows += json.loads(done.stdout.splitlines()[-1])
    report = {"what": "generalized ICP, f64", "clock": arguments.clock, "machine": machine(), "versions": versions(with_pcl()), "rows": rows}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    for row in rows:
        cells = [f"{name} {row[name]['ms']:.0f} ms, {row[name]['degrees']} deg, {row[name]['shift']}" for name in with_pcl() if name in row]
        print(f"{row['pair']:24} {row['threads']} threads: " + "; ".join(cells))


if __name__ == "__main__":
    main()
