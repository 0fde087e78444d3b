#!/usr/bin/env python3
"""Makes the tables in the documentation from benchmarks/results/*.json.

A table stands between the lines `<!-- table NAME -->` and `<!-- end -->`; with --check nothing is written and a table that
is out of date fails.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results"


def milliseconds(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def machine_line(report):
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in report.get("versions", {}).items())
    line = f"{machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}"
    return f"\n{line}{'; ' + versions if versions else ''}.\n"


def brute_force_cpu():
    report = json.loads((RESULTS / "brute_force_cpu.json").read_text())
    libraries = ["kith", "faiss-cpu", "scikit-learn", "numpy"]
    cases = {}
    for row in report["rows"]:
        key = (row["dims"], row["points"], row["queries"], row["k"], row["threads"])
        cases.setdefault(key, {})[row["library"]] = row
    lines = ["| dims | points x queries | k | threads | " + " | ".join(f"{name}, ms" for name in libraries) + " |"]
    lines.append("|" + "---|" * (4 + len(libraries)))
    for (dims, points, queries, k, threads), rows in cases.items():
        best = min(rows[name]["query_ms"] for name in libraries)
        cells = []
        for name in libraries:
            time = rows[name]["query_ms"]
            cells.append(f"**{milliseconds(time)}**" if time == best else milliseconds(time))
        lines.append(f"| {dims} | {points:,} x {queries:,} | {k} | {threads} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" + machine_line(report)


def kd_tree_cpu(keep=lambda row: True):
    report = json.loads((RESULTS / "kd_tree_cpu.json").read_text())
    libraries = ["kith", "nanoflann", "nanoflann-sorted", "pykdtree", "scipy", "scikit-learn"]
    cases = {}
    for row in report["rows"]:
        key = (row["cloud"], row["points"], row["dims"], row["threads"])
        if keep(row):
            cases.setdefault(key, {})[row["library"]] = row["ms"]
    lines = ["| cloud | points | dims | threads | job | " + " | ".join(f"{name}, ms" for name in libraries) + " |"]
    lines.append("|" + "---|" * (5 + len(libraries)))
    for (cloud, points, dims, threads), times in cases.items():
        for job in times["kith"]:
            best = min(ms[job] for ms in times.values() if job in ms)
            cells = []
            for name in libraries:
                value = times.get(name, {}).get(job)
                text = "" if value is None else milliseconds(value)
                cells.append(f"**{text}**" if value == best else text)
            lines.append(f"| {cloud} | {points:,} | {dims} | {threads} | {job} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" + machine_line(report)


def kd_tree_short():
    return kd_tree_cpu(lambda row: row["cloud"] == "uniform" and row["dims"] == 3 and row["points"] == 1_000_000)


def read_csv():
    report = json.loads((RESULTS / "read_csv.json").read_text())
    lines = ["| reader | threads | seconds | MB/s | times numpy.loadtxt |", "|---|---|---|---|---|"]
    reference = next(row["seconds"] for row in report["rows"] if row["reader"] == "numpy.loadtxt")
    for row in report["rows"]:
        speed = report["bytes"] / row["seconds"] / 1e6
        ratio = reference / row["seconds"]
        lines.append(f"| {row['reader']} | {row['threads']} | {row['seconds']:.2f} | {speed:.0f} | {ratio:.1f} |")
    return "\n".join(lines) + "\n" + machine_line(report)


TABLES = {"brute_force_cpu": brute_force_cpu, "kd_tree_cpu": kd_tree_cpu, "kd_tree_short": kd_tree_short, "read_csv": read_csv}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    arguments = parser.parse_args()
    stale = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        made = re.sub(
            r"<!-- table (\w+) -->\n.*?<!-- end -->",
            lambda match: f"<!-- table {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
        if made != text:
            stale.append(page.relative_to(ROOT))
            if not arguments.check:
                page.write_text(made)
    if arguments.check and stale:
        sys.exit(f"tables are out of date: {', '.join(map(str, stale))}; run tools/make_tables.py")


if __name__ == "__main__":
    main()
