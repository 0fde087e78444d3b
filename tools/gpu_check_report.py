#!/usr/bin/env python3
"""Notes the steps of tools/gpu_check.sh, a JSON row each, and joins them.

gpu_check_report.py machine RESULTS                       notes commit and machine
gpu_check_report.py row RESULTS PART STEP CODE SECONDS    a row of a step that ended with CODE; counts are read from STEP.log
gpu_check_report.py took RESULTS PART SECONDS             adds to the time that a part took
gpu_check_report.py passed RESULTS PART                   exit code 0 if all steps of a part that were noted passed
gpu_check_report.py join RESULTS                          writes gpu_check.json, prints a table; exit code 1 if a step failed
"""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

PARTS = ["build", "bench", "tests", "python", "memcheck", "racecheck", "initcheck"]
COUNTS = ["passed", "failed", "skipped", "errors"]
TIMED_OUT = (124, 137)


def said(*command):
    """The first line that a program prints; empty if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""


def machine():
    gpu, _, rest = said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").partition(", ")
    release = re.search(r"release ([\d.]+)", subprocess.getoutput("nvcc --version"))
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").exists() else None
    return {
        "commit": os.environ.get("KITH_COMMIT") or said("git", "rev-parse", "--short", "HEAD") or "unknown",
        "machine": {
            "gpu": gpu or "none",
            "driver": rest or "none",
            "cuda": release.group(1) if release else "none",
            "cpu": cpu.group(1).strip() if cpu else platform.machine(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
        },
    }


def counts_in(log):
    """Tests that passed, failed and were skipped, and errors of compute-sanitizer, as far as a log tells."""
    counts = {}

    def add(name, pattern):
        found = re.findall(pattern, log, re.MULTILINE)
        if found:
            counts[name] = counts.get(name, 0) + sum(int(number) for number in found)

    # GoogleTest counts skipped tests apart, and names those that failed once more behind their number.
    add("passed", r"^\[  PASSED  \] (\d+) tests?\.")
    add("failed", r"^\[  FAILED  \] (\d+) tests?, listed below")
    add("skipped", r"^\[  SKIPPED \] (\d+) tests?, listed below")
    if "passed" not in counts:  # pytest
        last = next((line for line in reversed(log.splitlines()) if re.search(r"\d+ passed|\d+ failed", line)), "")
        for name in ("passed", "failed", "skipped"):
            number = re.search(rf"(\d+) {name}", last)
            if number and " in " in last:
                counts[name] = int(number.group(1))
    add("errors", r"^========= ERROR SUMMARY: (\d+) errors?")
    add("errors", r"^========= RACECHECK SUMMARY: (\d+) hazards?")
    return counts


def note_row(results, part, step, code, seconds):
    log = (results / f"{step}.log").read_text(errors="replace")
    result = "ok" if code == 0 else "timed out" if code in TIMED_OUT else "failed"
    row = {"part": part, "step": step, "result": result, "exit_code": code, "seconds": seconds, **counts_in(log)}
    (results / "rows" / f"{part}.{step}.json").write_text(json.dumps(row) + "\n")


def rows_of(results, part):
    rows = [json.loads(path.read_text()) for path in (results / "rows").glob(f"{part}.*.json")]
    return sorted(rows, key=lambda row: [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", row["step"])])


def note_time(results, part, seconds):
    noted = results / "rows" / part
    noted.write_text(str(seconds + (int(noted.read_text()) if noted.exists() else 0)))


def joined(rows, seconds):
    outcomes = [row["result"] for row in rows]
    part = {
        "result": "ok" if set(outcomes) == {"ok"} else "failed" if "failed" in outcomes else "timed out",
        "seconds": seconds,
    }
    for name in COUNTS:
        if any(name in row for row in rows):
            part[name] = sum(row.get(name, 0) for row in rows)
    part["steps"] = [{key: value for key, value in row.items() if key != "part"} for row in rows]
    return part


def join(results):
    noted = results / "machine.json"
    report = {"what": "tools/gpu_check.sh", **(json.loads(noted.read_text()) if noted.exists() else machine())}
    report["parts"] = {
        part: joined(rows, int((results / "rows" / part).read_text())) for part in PARTS if (rows := rows_of(results, part))
    }
    bench = results / "bench.json"
    if bench.exists():
        try:
            measured = json.loads(bench.read_text())
            report["rows"] = measured["rows"] if isinstance(measured, dict) and "rows" in measured else measured
        except json.JSONDecodeError:
            pass  # a run that was ended; its row says so
    (results / "gpu_check.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"{report['commit']}: {', '.join(str(value) for value in report['machine'].values())}")
    print(f"{'part':<12} {'result':<10} {'time':>7} " + " ".join(f"{name:>8}" for name in COUNTS))
    for name, part in report["parts"].items():
        counts = " ".join(f"{part.get(count, '-'):>8}" for count in COUNTS)
        print(f"{name:<12} {part['result']:<10} {part['seconds']:>5} s {counts}")
        for row in part["steps"]:
            if row["result"] != "ok":
                print(f"  {row['step']}: {row['result']} ({row['exit_code']})")
    return all(part["result"] == "ok" for part in report["parts"].values())


def main():
    task, results = sys.argv[1], Path(sys.argv[2])
    if task == "machine":
        (results / "machine.json").write_text(json.dumps(machine(), indent=1) + "\n")
    elif task == "row":
        part, step, code, seconds = sys.argv[3:]
        note_row(results, part, step, int(code), int(seconds))
    elif task == "took":
        note_time(results, sys.argv[3], int(sys.argv[4]))
    elif task == "passed":
        sys.exit(0 if all(row["result"] == "ok" for row in rows_of(results, sys.argv[3])) else 1)
    elif task == "join":
        sys.exit(0 if join(results) else 1)
    else:
        sys.exit(f"gpu_check_report.py: unknown task {task}")


if __name__ == "__main__":
    main()
