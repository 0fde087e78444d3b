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


def fine_milliseconds(value):
    """Three digits: for times where a tenth of a millisecond counts."""
    return f"{value:.2f}" if 1 <= value < 10 else milliseconds(value)


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


def brute_force_short():
    table = brute_force_cpu()
    report = gpu_report("brute_force_gpu")
    if report is None:
        return table
    rows, machine = table.split("\n\n", 1)
    for row in report["rows"]:
        kind = (row["search"], row["cloud"], row["points"], row["queries"], row["dims"], row["dtype"], row["metric"])
        if row["tree_ms"] == 0 and kind == ("knn", "uniform", 1_000_000, 10_000, 128, "f32", "l2"):
            rows += f"\n| 128 | 1,000,000 x 10,000 | {row['k']} | GPU | {fine_milliseconds(row['ms'])} |  |  |  |"
    return f"{rows}\n\n{machine.rstrip()} GPU: {gpu_line(report).strip()}\n"


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


COVER_COLUMNS = [  # what is shown of a case: engine, type, head
    ("covertree", "f32", "cover tree"),
    ("covertree", "f64", "cover tree, f64"),
    ("kdtree", "f32", "k-d tree"),
    ("brute", "f32", "brute force"),
    ("BallTree", "f64", "BallTree, f64"),
    ("scikit-learn brute", "f32", "scikit-learn brute"),
]


def cover_cases():
    """{(data, objects, queries, dims): {(engine, type): row}}; words count as f32."""
    report = json.loads((RESULTS / "cover_tree_cpu.json").read_text())
    cases = {}
    for row in report["rows"]:
        kind = "f32" if row["dtype"] == "words" else row["dtype"]
        cases.setdefault((row["data"], row["points"], row["queries"], row["dims"]), {})[row["engine"], kind] = row
    return report, cases


def cover_tree_cpu():
    report, cases = cover_cases()
    lines = ["| data | objects, queries | what | " + " | ".join(head for _, _, head in COVER_COLUMNS) + " |"]
    lines.append("|" + "---|" * (3 + len(COVER_COLUMNS)))
    jobs = [("build, ms", "build_ms"), ("search, ms", "query_ms"), ("distances per query", "query_evaluations")]
    for (data, points, queries, dims), rows in cases.items():
        for job, field in jobs:
            values = [rows.get((engine, kind), {}).get(field) for engine, kind, _ in COVER_COLUMNS]
            if field == "query_evaluations":
                values = [None if value in (None, 0) else value / queries for value in values]
            shown = ["" if value is None else milliseconds(value) for value in values]
            if field == "query_ms":
                fastest = values.index(min(value for value in values if value is not None))
                shown[fastest] = f"**{shown[fastest]}**"
            where = "" if dims is None else f", {dims} dims"
            lines.append(f"| {data} | {points:,}{where}, {queries:,} | {job} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n" + machine_line(report)


def cover_tree_ratios():
    """How many times faster the cover tree searches and builds, f32 (BallTree: f64, both)."""
    report, cases = cover_cases()
    lines = ["| data | dims | share measured | search: brute force | k-d tree | BallTree, f64 | build: BallTree, f64 |", "|" + "---|" * 7]
    for (data, points, queries, dims), rows in cases.items():
        tree = rows["covertree", "f32"]
        share = tree["query_evaluations"] / queries / points
        others = [("brute", "f32", "query_ms"), ("kdtree", "f32", "query_ms"), ("BallTree", "f64", "query_ms"), ("BallTree", "f64", "build_ms")]
        cells = []
        for engine, kind, field in others:
            if (engine, kind) in rows:
                ratio = rows[engine, kind][field] / rows["covertree", kind][field]
                cells.append(f"{ratio:.{0 if ratio >= 20 else 1 if ratio >= 1 else 2}f}")
            else:
                cells.append("")
        lines.append(f"| {data} | {'' if dims is None else dims} | {100 * share:.{0 if share >= 0.1 else 1}f} % | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" + machine_line(report)


def gpu_report(name):
    """What a timer measured on a GPU, or None before it was run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def gpu_build_report():
    return gpu_report("kd_tree_gpu_build")


def gpu_search_report():
    return gpu_report("kd_tree_gpu_search")


def gpu_searches():
    report = gpu_search_report()
    return [] if report is None else report["rows"]


def gpu_line(report):
    machine = report["machine"]
    return f"\n{machine['gpu']}, CUDA {machine['cuda']}, commit {machine['commit']}.\n"


def kd_tree_short():
    table = kd_tree_cpu(lambda row: row["cloud"] == "uniform" and row["dims"] == 3 and row["points"] == 1_000_000)
    report = gpu_build_report()
    if report is None:
        return table
    rows, machine = table.split("\n\n", 1)
    for row in report["rows"]:
        if (row["cloud"], row["points"], row["dims"], row["dtype"]) == ("uniform", 1_000_000, 3, "f32"):
            rows += f"\n| uniform | 1,000,000 | 3 | GPU | build | {fine_milliseconds(row['build_ms'])} |  |  |  |  |  |"
    for row in gpu_searches():
        if (row["search"], row["cloud"], row["points"], row["dims"], row["dtype"]) == ("self", "uniform", 1_000_000, 3, "f32"):
            time = fine_milliseconds(row["ms"]) + (f" ({row['commit']})" if "commit" in row else "")
            rows += f"\n| uniform | 1,000,000 | 3 | GPU | kNN of all, k={row['k']} | {time} |  |  |  |  |  |"
    searched = "" if not gpu_searches() else f" Searches on it: commit {gpu_search_report()['machine']['commit']}, or as in brackets."
    return f"{rows}\n\n{machine.rstrip()} GPU: {gpu_line(report).strip()}{searched}\n"


def gpu_build():
    report = gpu_build_report()
    if report is None:
        return "Not measured yet.\n"
    lines = ["| cloud | points | dims | type | build, ms | million points/s | times a copy | bytes/point | check, ms |"]
    lines.append("|" + "---|" * 9)
    for row in report["rows"]:
        lines.append(
            f"| {row['cloud']} | {row['points']:,} | {row['dims']} | {row['dtype']} | {fine_milliseconds(row['build_ms'])} "
            f"| {row['points'] / row['build_ms'] / 1e3:,.0f} | {row['build_ms'] / row['copy_ms']:.1f} "
            f"| {row['peak_bytes'] / row['points']:.0f} | {fine_milliseconds(row['check_ms'])} |"
        )
    for row in report["rows"]:
        if row["host_ms"] > 0:
            time = fine_milliseconds(row["host_ms"])
            lines += ["", f"{row['points']:,} {row['cloud']} points from host memory to an index: {time} ms."]
    return "\n".join(lines) + "\n" + gpu_line(report)


def gpu_build_phases():
    report = gpu_build_report()
    if report is None:
        return "Not measured yet.\n"
    lines = ["| cloud | step | ms | GB/s |", "|---|---|---|---|"]
    for row in report["rows"]:
        if row["points"] != 1 << 24 or row["dims"] != 3 or row["dtype"] != "f32":
            continue
        for phase in row["phases"]:
            speed = phase["bytes"] / phase["ms"] / 1e6 if phase["ms"] > 0 else 0
            lines.append(f"| {row['cloud']} | {phase['name']} | {fine_milliseconds(phase['ms'])} | {speed:,.0f} |")
    return "\n".join(lines) + "\n" + gpu_line(report)


def gpu_search():
    report = gpu_search_report()
    if report is None:
        return "Not measured yet.\n"
    lines = ["| search | cloud | points | dims | type | k | queries | ms | million queries/s |", "|" + "---|" * 9]
    for row in report["rows"]:
        rate = row["queries"] / row["ms"] / 1e3
        commit = f" ({row['commit']})" if "commit" in row else ""  # where it is another one
        lines.append(
            f"| {row['search']} | {row['cloud']} | {row['points']:,} | {row['dims']} | {row['dtype']} | {row['k']} "
            f"| {row['queries']:,} | {fine_milliseconds(row['ms'])}{commit} | {rate:,.{0 if rate >= 10 else 2}f} |"
        )
    note = " In brackets: rows of another commit." if any("commit" in row for row in report["rows"]) else ""
    return "\n".join(lines) + "\n" + gpu_line(report).rstrip() + note + "\n"


def gpu_brute():
    report = gpu_report("brute_force_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| search | cloud | points | dims | type | metric | queries | k | ms | billion pairs/s | asked again |"]
    lines.append("|" + "---|" * 11)
    for row in report["rows"]:
        if row["tree_ms"] > 0:
            continue
        rate = row["points"] * row["queries"] / row["ms"] / 1e6
        lines.append(
            f"| {row['search']} | {row['cloud']} | {row['points']:,} | {row['dims']} | {row['dtype']} | {row['metric']} "
            f"| {row['queries']:,} | {row['k']} | {fine_milliseconds(row['ms'])} | {rate:,.{0 if rate >= 10 else 2}f} "
            f"| {row['asked_again']:,} |"
        )
    return "\n".join(lines) + "\n" + gpu_line(report)


def brute_or_tree_rows():
    """Searches that both engines were timed at."""
    report = gpu_report("brute_force_gpu")
    return [] if report is None else [row for row in report["rows"] if row["tree_ms"] > 0]


def gpu_brute_or_tree():
    rows = brute_or_tree_rows()
    if not rows:
        return "Not measured yet.\n"
    points = sorted({row["points"] for row in rows})
    cells = {}
    for row in rows:
        times = [fine_milliseconds(row["ms"]), fine_milliseconds(row["tree_ms"])]
        faster = 0 if row["ms"] <= row["tree_ms"] else 1
        times[faster] = f"**{times[faster]}**"
        cells[row["dims"], row["points"]] = " / ".join(times)
    queries = {row["points"]: row["queries"] for row in rows}
    lines = ["![Queries per second of both over dims](plots/brute_or_tree_gpu.svg)", ""]
    lines.append("| dims | " + " | ".join(f"{count:,} points, {queries[count]:,} queries" for count in points) + " |")
    lines.append("|" + "---|" * (1 + len(points)))
    for dims in sorted({row["dims"] for row in rows}):
        lines.append(f"| {dims} | " + " | ".join(cells.get((dims, count), "") for count in points) + " |")
    note = f"Milliseconds, brute force / tree, k = {rows[0]['k']}; **bold** is the faster."
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(gpu_report("brute_force_gpu"))


def select_cases():
    """Sorted answers of f32 rows, where there are many and where there is one: {(rows, length, k): {strategy: ms}} of each.

    Only lengths that have both.
    """
    report = gpu_report("select_gpu")
    many, single = {}, {}
    for row in [] if report is None else report["rows"]:
        if row["dtype"] == "f32" and row["goal"] == "finish":
            cases = single if row["rows"] == 1 else many
            cases.setdefault((row["rows"], row["length"], row["k"]), {})[row["strategy"]] = row["ms"]
    both = {length for _, length, _ in many} & {length for _, length, _ in single}
    return tuple({case: times for case, times in cases.items() if case[1] in both} for cases in (many, single))


def gpu_bits():
    report = json.loads((RESULTS / "bits_gpu.json").read_text())
    lines = ["| rows | bits | queries | k | ms | pairs of 32-bit words per ns |", "|---|---|---|---|---|---|"]
    for row in report["rows"]:
        lines.append(
            f"| {row['rows']:,} | {row['bits']:,} | {row['queries']:,} | {row['k']} | {fine_milliseconds(row['ms'])} "
            f"| {row['word_pairs_per_ns']:,.0f} |"
        )
    machine = report["machine"]
    return "\n".join(lines) + f"\n\n{machine['gpu']}, CUDA {machine['cuda']}, commit {machine['commit']}.\n"


def gpu_classify():
    report = gpu_report("classify_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| points | new points | dims | classes | k | engine | all, ms | index, ms | search, ms | votes, ms | longest chain | CPU, ms |",
             "|" + "---|" * 12]
    for row in report["rows"]:
        where = " (on a line)" if row["cloud"] == "line" else ""
        times = " | ".join(fine_milliseconds(row[name]) for name in ("ms", "index_ms", "search_ms", "vote_ms"))
        lines.append(
            f"| {row['points']:,} | {row['new']:,}{where} | {row['dims']} | {row['classes']} | {row['k']} | {row['engine']} "
            f"| {times} | {row['depth']:,} | {milliseconds(row['cpu_ms'])} |"
        )
    machine = report["machine"]
    note = f"f32, uniform points and random classes, medians; the CPU: {machine['cpu']}, {machine['cores']} cores, once."
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(report)


def gpu_select():
    many, single = select_cases()
    if not many:
        return "Not measured yet.\n"
    strategies = sorted({name for times in [*many.values(), *single.values()] for name in times} - {"auto"})
    lines = ["![Speed of every strategy over k](plots/select_gpu.svg)"]
    for cases, unit, scale in ((many, "ms", 1), (single, "µs", 1e3)):
        heads = [f"{name}, {unit}" for name in ["auto", *strategies]]
        lines += ["", "| rows | length | k | fastest | " + " | ".join(heads) + " |"]
        lines.append("|" + "---|" * (5 + len(strategies)))
        for (rows, length, k), times in sorted(cases.items(), key=lambda item: item[0][1:]):
            best = min(strategies, key=lambda name: times.get(name, float("inf")))
            shown = {name: fine_milliseconds(time * scale) for name, time in times.items()}
            shown[best] = f"**{shown[best]}**"
            cells = [shown.get(name, "") for name in ["auto", *strategies]]
            lines.append(f"| {rows:,} | {length:,} | {k} | {best} | " + " | ".join(cells) + " |")
    note = "f32, answers sorted. Empty: the strategy does not take such a k, or takes too long to be timed."
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(gpu_report("select_gpu"))


def gpu_cover_build():
    report = gpu_report("cover_tree_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| points | dims | clusters | build, ms | on the CPU, ms | distances per point | nodes | tree, MB |", "|" + "---|" * 8]
    for row in report["builds"]:
        lines.append(
            f"| {row['points']:,} | {row['dims']} | {row['clusters']:,} | {fine_milliseconds(row['build_ms'])} "
            f"| {milliseconds(row['cpu_ms'])} | {row['evaluations_per_point']:,.0f} | {row['nodes']:,} "
            f"| {row['tree_bytes'] / 1e6:.1f} |"
        )
    return "\n".join(lines) + "\n" + gpu_line(report)


def gpu_cover_search():
    report = gpu_report("cover_tree_gpu_search")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| objects | how many | queries | k | build, ms | search, ms | distances per query | brute force, ms | every pair measured, ms |",
             "|" + "---|" * 9]
    for row in report["searches"]:
        calls = row["case"].split(",")[0].split()[0 if row["case"].startswith("words") else 1]
        brute = next(call for call in report["calls"] if call["case"] == f"{calls}, brute force, public calls")
        pairs = fine_milliseconds(row["every_pair_ms"]) if row["every_pair_ms"] > 0 else ""
        lines.append(
            f"| {row['case']} | {row['objects']:,} | {row['queries']:,} | {row['k']} | {fine_milliseconds(row['build_ms'])} "
            f"| {fine_milliseconds(row['search_ms'])} | {row['evaluations_per_query']:,.0f} "
            f"| {fine_milliseconds(brute['search']['device_ms'])} | {pairs} |"
        )
    return "\n".join(lines) + "\n" + gpu_line(report)


def read_csv():
    report = json.loads((RESULTS / "read_csv.json").read_text())
    lines = ["| reader | threads | seconds | MB/s | times numpy.loadtxt |", "|---|---|---|---|---|"]
    reference = next(row["seconds"] for row in report["rows"] if row["reader"] == "numpy.loadtxt")
    for row in report["rows"]:
        speed = report["bytes"] / row["seconds"] / 1e6
        ratio = reference / row["seconds"]
        lines.append(f"| {row['reader']} | {row['threads']} | {row['seconds']:.2f} | {speed:.0f} | {ratio:.1f} |")
    return "\n".join(lines) + "\n" + machine_line(report)


def classify_cpu():
    report = json.loads((RESULTS / "classify_cpu.json").read_text())
    head = ["data", "dims", "train, test", "type", "threads", "kith, ms", "scikit-learn, ms"]
    head += ["times faster", "by the clock", "right: kith, scikit-learn", "differ by a tie"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in report["rows"]:
        ours, theirs = row["kith"], row["scikit-learn"]
        cells = [row["data"], row["dims"], f"{row['train']:,}, {row['test']:,}", row["dtype"], row["threads"]]
        cells += [f"**{milliseconds(ours['processor_ms'])}**", milliseconds(theirs["processor_ms"])]
        cells += [f"{theirs[field] / ours[field]:.1f}" for field in ("processor_ms", "ms")]
        cells += [f"{ours['right']:,}, {theirs['right']:,}", f"{sum(row['differences'].values()):,}"]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n" + machine_line(report)


def scipy_kd_tree():
    report = json.loads((RESULTS / "scipy_kd_tree.json").read_text())
    lines = ["| task | workers | kith, ms | SciPy, ms | times faster |", "|" + "---|" * 5]
    for row in report["rows"]:
        times = f"**{milliseconds(row['kith_ms'])}** | {milliseconds(row['scipy_ms'])} | {row['ratio']:.1f}"
        lines.append(f"| {row['task']} | {row['workers']} | {times} |")
    return "\n".join(lines) + "\n" + machine_line(report)


def python_gpu():
    report = gpu_report("python_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| points | what | Python, ms | C++, ms | cupyx.scipy.spatial.KDTree, ms |", "|" + "---|" * 5]
    for row in report["rows"]:
        for what, ours, native, peer in (
            ("build", "build_ms", None, "cupyx_build_ms"),
            ("k = 8, the points themselves", "self_ms", "self_native_ms", None),
            ("k = 8, as many other points", "other_ms", "other_native_ms", "cupyx_query_ms"),
        ):
            cells = [fine_milliseconds(row[name]) if name and row.get(name) else "" for name in (ours, native, peer)]
            lines.append(f"| {row['points']:,} | {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" + gpu_line(report)


TABLES = {
    "brute_force_cpu": brute_force_cpu,
    "brute_force_short": brute_force_short,
    "classify_cpu": classify_cpu,
    "cover_tree_cpu": cover_tree_cpu,
    "cover_tree_ratios": cover_tree_ratios,
    "gpu_bits": gpu_bits,
    "gpu_brute": gpu_brute,
    "gpu_brute_or_tree": gpu_brute_or_tree,
    "gpu_build": gpu_build,
    "gpu_build_phases": gpu_build_phases,
    "gpu_classify": gpu_classify,
    "gpu_cover_build": gpu_cover_build,
    "gpu_cover_search": gpu_cover_search,
    "gpu_search": gpu_search,
    "gpu_select": gpu_select,
    "kd_tree_cpu": kd_tree_cpu,
    "kd_tree_short": kd_tree_short,
    "python_gpu": python_gpu,
    "read_csv": read_csv,
    "scipy_kd_tree": scipy_kd_tree,
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
