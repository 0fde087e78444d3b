"""Tables of what was measured on a CPU."""

import json

from benchmark_reports import RESULTS, fine_milliseconds, machine_line, milliseconds


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


def kd_tree_cpu(keep=lambda row: True, results="kd_tree_cpu"):
    report = json.loads((RESULTS / f"{results}.json").read_text())
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


PEER_NAMES = {"kith": "kith", "small_gicp": "small_gicp", "open3d": "Open3D"}
ALL_PEER_NAMES = {**PEER_NAMES, "pcl": "PCL"}


def peer_versions(report):
    return ", ".join(f"{ALL_PEER_NAMES[name]} {version}" for name, version in report["versions"].items())


def downsample_cpu():
    report = json.loads((RESULTS / "downsample_cpu.json").read_text())
    names = list(report["rows"][0]["ms"])
    lines = [f"| cloud | voxel | points left | {', ms | '.join(names)}, ms |", "|" + "---|" * (3 + len(names))]
    for row in report["rows"]:
        cells = " | ".join(milliseconds(row["ms"][name]) for name in names)
        lines.append(f"| {row['cloud']} | {row['voxel']} | {row['left'][names[0]]:,} | {cells} |")
    note = f"1,000,000 points of f64, one thread, best of the rounds. {peer_versions(report)}."
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def view_pages():
    report = json.loads((RESULTS / "view_cpu.json").read_text())
    lines = ["| cloud | points | page, MB | all, s | read | compute | make | write | memory, MB |", "|" + "---|" * 9]
    for row in report["rows"]:
        parts = " | ".join(f"{row[part] / 1e3:.2f}" for part in ("all_ms", "read_ms", "compute_ms", "page_ms", "write_ms"))
        lines.append(f"| {row['cloud']} | {row['points']:,} | {row['bytes'] / 1e6:.1f} | {parts} | {row['memory'] / 1e6:.0f} |")
    note = f"`kith view` of PLY files of f32, {report['rows'][0]['threads']} threads, best of the rounds; memory is the most that the command held."
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def mpi_cpu():
    report = json.loads((RESULTS / "mpi_cpu_x86_64.json").read_text())
    lines = ["| ranks | | ranks, ms | one process, ms | speed of ranks / one process |", "|" + "---|" * 5]
    for row in report["rows"]:
        ms, alone = row["ms"], row["one_process_ms"]
        lines.append(f"| {row['ranks']} | {row['part']} | {milliseconds(ms)} | {milliseconds(alone)} | {alone / ms:.2f} |")
    note = (f"{report['points']:,} uniform points of 3 dims (f32), dealt at random, as many other queries, k = {report['k']}; ranks of one thread each against one process with as many "
            f"threads, best of {report['runs']} runs by `benchmarks/mpi_ratios.py`. More ranks than cores share them.")
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def registration_starts():
    report = json.loads((RESULTS / "registration_starts.json").read_text())
    lines = [f"| pair | {' | '.join(PEER_NAMES.values())} |", "|" + "---|" * (1 + len(PEER_NAMES))]
    for row in report["rows"]:
        cells = [f"{100 * row[name] / row['starts']:.1f} %" for name in PEER_NAMES]
        lines.append(f"| {row['pair']} | {' | '.join(cells)} |")
    note = (f"Of {report['rows'][0]['starts']} random starts per pair, up to 90 degrees and a tenth of the diagonal off, those that ended within 2 degrees and 2 % "
            f"of the diagonal of the known pose. 5,000 random points of each cloud, generalized ICP, the same starts and the same greatest distance for all. {peer_versions(report)}.")
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def clock_note(report):
    """Where other work ran on the machine, the time that processes had a core."""
    return "Times are those of the processor: other work ran on the machine. " if report.get("clock") == "cpu" else ""


def registration_drive(results="registration_drive"):
    report = json.loads((RESULTS / f"{results}.json").read_text())
    lines = ["| library | threads | prepare, ms | register, ms | a frame, ms | error per frame | after the whole way |", "|" + "---|" * 7]
    for row in report["rows"]:
        for name, shown in PEER_NAMES.items():
            of = row[name]
            lines.append(
                f"| {shown} | {row['threads']} | {of['prepare_ms']:.1f} | {of['register_ms']:.1f} | {of['prepare_ms'] + of['register_ms']:.1f} | "
                f"{of['degrees']:.4f}°, {1000 * of['shift']:.1f} mm | {of['whole_degrees']:.2f}°, {of['whole_shift']:.3f} m |"
            )
    row = report["rows"][0]
    note = (f"{row['frames']} frames of a made-up street, about {row['points']:,} points each, thinned out to voxels of 25 cm, each registered with the one before. Prepare: voxels, "
            f"index, covariances of 16 neighbours. f64, means over all frames; errors per frame are medians. {clock_note(report)}{peer_versions(report)}.")
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def registration_cpu(results="registration_cpu"):
    report = json.loads((RESULTS / f"{results}.json").read_text())
    names = {name: shown for name, shown in ALL_PEER_NAMES.items() if any(name in row for row in report["rows"])}
    columns = " | ".join(f"{shown}, ms | error" for shown in names.values())
    lines = [f"| pair | points | threads | {columns} |", "|" + "---|" * (3 + 2 * len(names))]
    has_phases = "phases" in report["rows"][0]["kith"]
    for row in report["rows"]:
        cells = []
        for name in names:
            of = row.get(name)
            if of is None:
                cells.append(" | ")
                continue
            error = "pose of NaN" if of["degrees"] is None else f"{of['degrees']:.4f}°, {1000 * of['shift']:.2f}"
            phases = f" ({' + '.join(milliseconds(ms) for ms in of['phases'].values())})" if has_phases else ""
            cells.append(f"{milliseconds(of['ms'])}{phases} | {error}")
        lines.append(f"| {row['pair']} | {row['source']:,} on {row['target']:,} | {row['threads']} | {' | '.join(cells)} |")
    note = ("Generalized ICP of f64 points, trees and covariances of 16 neighbours included, best of the rounds; each stops by its own defaults. The error is that "
            "against the known pose: a turn, and a shift in thousandths of the unit (metres). ")
    if has_phases:
        note += "In brackets: trees, covariances, registration; kith and Open3D: both of the first, registration. "
    if "pcl" in names:
        note += "PCL keeps points as f32 and uses one thread. "
    return "\n".join([*lines, "", f"{note}{clock_note(report)}{peer_versions(report)}."]) + "\n" + machine_line(report)


def global_start():
    report = json.loads((RESULTS / "global_start.json").read_text())
    lines = ["| pair | points | kith: found | start, ms | all, ms | Open3D: found | all, ms |", "|" + "---|" * 7]
    for row in report["rows"]:
        mine, other = row["kith"], row["open3d"]
        lines.append(
            f"| {row['pair']} | {row['source']:,} on {row['target']:,} | {mine['found']} of {mine['turns']} | {milliseconds(mine['start_ms'])} | {milliseconds(mine['ms'])} "
            f"| {other['found']} of {other['turns']} | {milliseconds(other['ms'])} |"
        )
    note = ("Random rotations of the source, the same for both, on one thread, while other work ran on the machine; medians. Found: every point within a hundredth of the target's diagonal of where it belongs. 40 % in "
            "common: parts on both sides of a random plane, each with points of its own and noise. Open3D: FPFH of means of the same voxels, normals as it estimates "
            "them, RANSAC (100 000 iterations, confidence 0.999), generalized ICP. The radius of descriptors and the number of means were chosen on these scans and "
            "on others made alike.")
    return "\n".join([*lines, "", note]) + "\n" + machine_line(report)


def kd_tree_builders():
    report = json.loads((RESULTS / "kd_tree_builders.json").read_text())
    others = ("presort", "select", "segsort")
    threads = sorted({row["threads"] for row in report["rows"]})
    columns = [f"{count} thread{'s' * (count > 1)}: histogram, ms | {' | '.join(others)}" for count in threads]
    lines = [f"| points | | dims | {' | '.join(columns)} |", "|" + "---|" * (3 + 4 * len(threads))]
    cells = {}
    for row in report["rows"]:
        times = row["ms"]
        ratios = [f"{times[name] / times['histogram']:.1f}" for name in others]
        shape = f"{row['cloud']} | {row['points']:,} | {row['dims']}"
        cells[shape] = " | ".join([cells.get(shape, f"| {shape}"), fine_milliseconds(times["histogram"]), *ratios])
    lines += [f"{row} |" for row in cells.values()]
    return "\n".join(lines) + "\n" + machine_line(report)
