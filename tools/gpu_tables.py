"""Tables of what was measured on a GPU."""

import json

from benchmark_reports import RESULTS, fine_milliseconds, gpu_line, gpu_report, milliseconds


def gpu_build_report():
    return gpu_report("kd_tree_gpu_build")


def gpu_search_report():
    return gpu_report("kd_tree_gpu_search")


def gpu_searches():
    report = gpu_search_report()
    return [] if report is None else report["rows"]


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


def gpu_builders():
    report = gpu_report("kd_tree_builders_gpu")
    if report is None:
        return "Not measured yet.\n"
    others = ("presort", "select", "segsort")
    lines = [f"| points | | dims | histogram, ms | {' | '.join(others)} | bytes per point: histogram | {' | '.join(others)} |"]
    lines.append("|" + "---|" * (5 + 2 * len(others)))
    for row in report["rows"]:
        builders = {builder["name"]: builder for builder in row["builders"]}
        default = builders["histogram"]
        ratios = [f"{builders[name]['ms'] / default['ms']:.1f}" if name in builders else "" for name in others]
        memory = [f"{builders[name]['peak_bytes'] / row['points']:.0f}" if name in builders else "" for name in ("histogram", *others)]
        cells = [row["cloud"], f"{row['points']:,}", row["dims"], fine_milliseconds(default["ms"]), *ratios, *memory]
        lines.append(f"| {' | '.join(map(str, cells))} |")
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


def gpu_cliffs():
    """Rows of the report on what lies beside the fast paths, and a note about the machine."""
    report = gpu_report("kd_tree_gpu_cliffs")
    return ([], "Not measured yet.\n") if report is None else (report["rows"], gpu_line(report))


def times_plain(row):
    """How many times as long as plain, and the milliseconds."""
    return f"{row['ratio']:.{2 if row['ratio'] < 10 else 1}f} ({fine_milliseconds(row['ms'])})"


def gpu_cliff_options():
    rows, machine = gpu_cliffs()
    cells, order, dims_of = {}, [], []
    seen = set()
    for row in rows:
        key = (row["search"], row["queries"], row["dims"])
        if row["cloud"] != "uniform" or row["dtype"] != "f32" or row["k"] != 8 or key in seen:
            continue
        seen.add(key)
        dense = "" if row["queries"] >= 1_000_000 or row["dims"] >= 8 and row["queries"] >= 100_000 else ", a tenth of the queries"
        name = row["search"] + dense
        if name not in order:
            order.append(name)
        if row["dims"] not in dims_of:
            dims_of.append(row["dims"])
        cells[name, row["dims"]] = times_plain(row)
    if not order:
        return machine
    lines = ["| search | " + " | ".join(f"{dims} dims" for dims in dims_of) + " |", "|" + "---|" * (1 + len(dims_of))]
    for name in order:
        lines.append(f"| {name} | " + " | ".join(cells.get((name, dims), "") for dims in dims_of) + " |")
    return "\n".join(lines) + "\n" + machine


def gpu_cliff_shapes():
    rows, machine = gpu_cliffs()
    shapes = [row for row in rows if row["points"] == row["queries"] and row["dims"] == 3 and row["search"] in ("self", "other")]
    if not shapes:
        return machine
    lines = ["| cloud | type | search | k | times uniform, k = 8 (ms) |", "|" + "---|" * 5]
    seen = set()
    for row in shapes:
        key = (row["cloud"], row["dtype"], row["search"], row["k"])
        if key in seen:
            continue
        seen.add(key)
        lines.append(f"| {row['cloud']} | {row['dtype']} | {row['search']} | {row['k']} | {times_plain(row)} |")
    return "\n".join(lines) + "\n" + machine


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


def gpu_check():
    """What tools/gpu_check.sh found, part by part."""
    report = gpu_report("gpu_check")
    lines = ["| part | result | s | tests passed | failed | skipped | errors of compute-sanitizer | commit |", "|" + "---|" * 8]
    for name, part in report["parts"].items():
        counts = (part.get(count, "") for count in ("passed", "failed", "skipped", "errors"))
        cells = [name, part["result"], part["seconds"], *counts, part.get("commit", report["commit"])]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    machine = report["machine"]
    return "\n".join(lines) + f"\n\n{machine['gpu']}, CUDA {machine['cuda']}, {machine['cores']} cores.\n"


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


def gpu_dedupe():
    report = gpu_report("dedupe_gpu")
    if report is None:
        return "Not measured yet.\n"
    phases = ["scores", "keys", "sort", "compare", "number", "map"]
    lines = ["| points | dims | what | all, ms (least to most) | " + " | ".join(f"{name}, ms" for name in phases) + " | CPU, ms |",
             "|" + "---|" * (5 + len(phases))]
    for row in report["rows"]:
        what = "copies of 1000 points" if row["cloud"] == "places" else "one in ten is a copy"
        cells = [fine_milliseconds(row["phases"][name]) if name in row["phases"] else "" for name in phases]
        lines.append(
            f"| {row['points']:,} | {row['dims']} | {what}{', with scores' if row['scores'] else ''} | {fine_milliseconds(row['ms'])} "
            f"({fine_milliseconds(row['least_ms'])} to {fine_milliseconds(row['most_ms'])}) | {' | '.join(cells)} | {milliseconds(row['cpu_ms'])} |"
        )
    machine = report["machine"]
    note = f"f32, kept rows and map, medians of ten calls; phases measured apart; the CPU: {machine['cpu']}, {machine['cores']} cores, once."
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(report)


def gpu_register():
    report = gpu_report("register_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| clouds | points of the source | of the target | method | iterations | all, ms (least to most) | CPU, ms |", "|" + "---|" * 7]
    for row in report["rows"]:
        lines.append(
            f"| {row['case']} | {row['source']:,} | {row['target']:,} | {row['method']} | {row['iterations']} | {fine_milliseconds(row['ms'])} "
            f"({fine_milliseconds(row['least_ms'])} to {fine_milliseconds(row['most_ms'])}) | {milliseconds(row['cpu_ms'])} |"
        )
    machine = report["machine"]
    note = (f"f32, medians of ten calls with trees and normals of both clouds; a wavy sheet seen twice with other points, noise, a turn of 1.7 degrees and a "
            f"shift; 20 or 40 iterations (a stage of 20 with a sample first) are forced. The CPU: {machine['cpu']}, {machine['cores']} cores, once.")
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(report)


def gpu_clouds():
    report = gpu_report("clouds_gpu")
    if report is None:
        return "Not measured yet.\n"
    lines = ["| job | cloud | points | all, ms (least to most) | CPU, ms |", "|" + "---|" * 5]
    for row in report["rows"]:
        lines.append(
            f"| {row['job']} | {row['cloud']} | {row['points']:,} | {fine_milliseconds(row['ms'])} "
            f"({fine_milliseconds(row['least_ms'])} to {fine_milliseconds(row['most_ms'])}) | {milliseconds(row['cpu_ms'])} |"
        )
    machine = report["machine"]
    note = (f"f32 in 3-D, medians of ten calls, indexes included. Surface: a wavy sheet; uniform: anywhere in a cube; rows in any order. Voxels have a side of 1/400 of the cloud's. "
            f"The CPU: {machine['cpu']}, {machine['cores']} cores, once.")
    return "\n".join([*lines, "", note]) + "\n" + gpu_line(report)


def gpu_tree():
    report = gpu_report("tree_gpu")
    if report is None:
        return "Not measured yet.\n"
    phases = ["take points", "boxes", "middles", "moves", "finish", "link"]
    lines = ["| points | dims | cloud, split | all, ms (least to most) | " + " | ".join(f"{name}, ms" for name in phases) + " | check, ms | CPU, ms |",
             "|" + "---|" * (6 + len(phases))]
    for row in report["rows"]:
        cells = [fine_milliseconds(row["phases"][name]) if name in row["phases"] else "" for name in phases]
        lines.append(
            f"| {row['points']:,} | {row['dims']} | {row['cloud']}, {row['split']} | {fine_milliseconds(row['ms'])} "
            f"({fine_milliseconds(row['least_ms'])} to {fine_milliseconds(row['most_ms'])}) | {' | '.join(cells)} "
            f"| {fine_milliseconds(row['check_ms'])} | {milliseconds(row['cpu_ms'])} |"
        )
    machine = report["machine"]
    note = (f"f32, medians of ten calls; phases measured apart; the check without copies to the GPU; the CPU: {machine['cpu']}, "
            f"{machine['cores']} cores, once. grid: 64 values per axis; wide: coordinates from 2^-50 to 2^50.")
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
    lines = ["| points | dims | clusters | builder | build, ms | on the CPU, ms | distances per point | nodes | tree, MB |", "|" + "---|" * 9]
    for row in report["builds"]:
        lines.append(
            f"| {row['points']:,} | {row['dims']} | {row['clusters']:,} | {row.get('builder', 'batch')} "
            f"| {fine_milliseconds(row['build_ms'])} | {milliseconds(row['cpu_ms'])} | {row['evaluations_per_point']:,.0f} | {row['nodes']:,} "
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
            ("the same with `eps=0.1`", "eps_ms", None, None),
            ("the same, half of the points `allowed`", "allowed_ms", None, None),
            ("all within a radius, about 30 each", "radius_ms", None, None),
            ("the same with a radius per point", "radii_ms", None, None),
        ):
            if not row.get(ours):
                continue
            cells = [fine_milliseconds(row[name]) if name and row.get(name) else "" for name in (ours, native, peer)]
            lines.append(f"| {row['points']:,} | {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" + gpu_line(report)


def python_gpu_latency():
    report = gpu_report("python_gpu")
    rows = [] if report is None else [row for row in report["rows"] if "latency_us" in row]
    if not rows:
        return "Not measured yet.\n"
    counts = list(rows[0]["latency_us"])
    lines = ["| points | " + " | ".join(f"{count} queries" for count in counts) + " |", "|" + "---|" * (1 + len(counts))]
    for row in rows:
        lines.append(f"| {row['points']:,} | " + " | ".join(f"{row['latency_us'][count]:.0f}" for count in counts) + " |")
    return "\n".join([*lines, "", "Microseconds for all of them, k = 8, between two events in the stream."]) + "\n" + gpu_line(report)
