#!/usr/bin/env python3
"""Makes the tables in the documentation from benchmarks/results/*.json.

A table stands between the lines `<!-- table NAME -->` and `<!-- end -->`; with --check nothing is written and a table that
is out of date fails.
"""

import argparse
import re
import sys

import cpu_tables
import five_tables
import gpu_tables
from benchmark_reports import ROOT, fine_milliseconds, gpu_line, gpu_report


def brute_force_short():
    table = cpu_tables.brute_force_cpu()
    report = gpu_report("brute_force_gpu")
    if report is None:
        return table
    rows, machine = table.split("\n\n", 1)
    for row in report["rows"]:
        kind = (row["search"], row["cloud"], row["points"], row["queries"], row["dims"], row["dtype"], row["metric"])
        if row["tree_ms"] == 0 and kind == ("knn", "uniform", 1_000_000, 10_000, 128, "f32", "l2"):
            rows += f"\n| 128 | 1,000,000 x 10,000 | {row['k']} | GPU | {fine_milliseconds(row['ms'])} |  |  |  |"
    return f"{rows}\n\n{machine.rstrip()} GPU: {gpu_line(report).strip()}\n"


def kd_tree_short():
    table = cpu_tables.kd_tree_cpu(lambda row: row["cloud"] == "uniform" and row["dims"] == 3 and row["points"] == 1_000_000)
    report = gpu_tables.gpu_build_report()
    if report is None:
        return table
    rows, machine = table.split("\n\n", 1)
    for row in report["rows"]:
        if (row["cloud"], row["points"], row["dims"], row["dtype"]) == ("uniform", 1_000_000, 3, "f32"):
            rows += f"\n| uniform | 1,000,000 | 3 | GPU | build | {fine_milliseconds(row['build_ms'])} |  |  |  |  |  |"
    for row in gpu_tables.gpu_searches():
        if (row["search"], row["cloud"], row["points"], row["dims"], row["dtype"]) == ("self", "uniform", 1_000_000, 3, "f32"):
            time = fine_milliseconds(row["ms"]) + (f" ({row['commit']})" if "commit" in row else "")
            rows += f"\n| uniform | 1,000,000 | 3 | GPU | kNN of all, k={row['k']} | {time} |  |  |  |  |  |"
    searched = "" if not gpu_tables.gpu_searches() else f" Searches on it: commit {gpu_tables.gpu_search_report()['machine']['commit']}, or as in brackets."
    return f"{rows}\n\n{machine.rstrip()} GPU: {gpu_line(report).strip()}{searched}\n"


TABLES = {
    **five_tables.TABLES,
    "brute_force_cpu": cpu_tables.brute_force_cpu,
    "brute_force_short": brute_force_short,
    "classify_cpu": cpu_tables.classify_cpu,
    "cover_tree_cpu": cpu_tables.cover_tree_cpu,
    "cover_tree_ratios": cpu_tables.cover_tree_ratios,
    "global_start": cpu_tables.global_start,
    "gpu_bits": gpu_tables.gpu_bits,
    "gpu_brute": gpu_tables.gpu_brute,
    "gpu_brute_or_tree": gpu_tables.gpu_brute_or_tree,
    "gpu_build": gpu_tables.gpu_build,
    "gpu_build_phases": gpu_tables.gpu_build_phases,
    "gpu_builders": gpu_tables.gpu_builders,
    "gpu_check": gpu_tables.gpu_check,
    "gpu_classify": gpu_tables.gpu_classify,
    "gpu_cliff_options": gpu_tables.gpu_cliff_options,
    "gpu_cliff_shapes": gpu_tables.gpu_cliff_shapes,
    "gpu_clouds": gpu_tables.gpu_clouds,
    "gpu_cover_build": gpu_tables.gpu_cover_build,
    "gpu_cover_search": gpu_tables.gpu_cover_search,
    "gpu_dedupe": gpu_tables.gpu_dedupe,
    "gpu_register": gpu_tables.gpu_register,
    "gpu_tree": gpu_tables.gpu_tree,
    "gpu_search": gpu_tables.gpu_search,
    "gpu_select": gpu_tables.gpu_select,
    "kd_tree_builders": cpu_tables.kd_tree_builders,
    "kd_tree_cpu": cpu_tables.kd_tree_cpu,
    "kd_tree_cpu_x86_64": lambda: cpu_tables.kd_tree_cpu(results="kd_tree_cpu_x86_64"),
    "kd_tree_short": kd_tree_short,
    "python_gpu": gpu_tables.python_gpu,
    "python_gpu_latency": gpu_tables.python_gpu_latency,
    "read_csv": cpu_tables.read_csv,
    "downsample_cpu": cpu_tables.downsample_cpu,
    "mpi_cpu": cpu_tables.mpi_cpu,
    "view_pages": cpu_tables.view_pages,
    "registration_cpu": cpu_tables.registration_cpu,
    "registration_cpu_x86_64": lambda: cpu_tables.registration_cpu(results="registration_cpu_x86_64"),
    "registration_drive": cpu_tables.registration_drive,
    "registration_drive_x86_64": lambda: cpu_tables.registration_drive(results="registration_drive_x86_64"),
    "registration_starts": cpu_tables.registration_starts,
    "scipy_kd_tree": cpu_tables.scipy_kd_tree,
}


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
