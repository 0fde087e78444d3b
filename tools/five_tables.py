"""Tables of the work of the five systems that kith unites: on a GPU, and in smaller sizes on a CPU."""

import json

from benchmark_reports import RESULTS, fine_milliseconds, gpu_line, gpu_report, machine_line

NOTE = "Milliseconds: the median of ten runs (the least to the most)."


def five_report(device):
    """What five_systems_timer measured on "gpu" or "cpu", or None."""
    return gpu_report(f"five_systems_{device}")


def machine_of(report):
    return (gpu_line if "gpu" in report["machine"] else machine_line)(report).strip()


def spread(times):
    least, median, most = map(fine_milliseconds, times)
    return f"{median} ({least} to {most})"


def from_others(system, row, *keys):
    """What another program took for the work of this row, as a cell; empty if that is not known."""
    others = json.loads((RESULTS / "five_systems_others.json").read_text())[system]
    found = [other for other in others if all(other[key] == row[key] for key in keys)]
    return fine_milliseconds(found[0]["ms"]) if found else ""


def table(heads, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def with_machine(device, make):
    """make(report) -> text, with the note and the machine below it."""
    report = five_report(device)
    return "Not measured yet.\n" if report is None else f"{make(report)}\n{NOTE} {machine_of(report)}\n"


def pivot(rows, down, across, cell):
    """The heads and rows of a table with a row per value of `down` and a column per value of `across`."""
    cells = {(row[down], row[across]): cell(row) for row in rows}
    columns = list(dict.fromkeys(row[across] for row in rows))
    lines = [[f"{value:,}", *(cells.get((value, column), "") for column in columns)] for value in sorted({row[down] for row in rows})]
    return columns, lines


def balanced_trees(report):
    heads = ["points", "dims", "different", "remove equal ones", "build an index", "export nodes", "verify nodes"]
    is_gpu = "gpu" in report["machine"]
    lines = []
    for row in report["balanced_trees"]:
        line = [f"{row['points']:,}", row["dims"], f"{row['kept']:,}"]
        line += [spread(row[name]) for name in ("dedupe_ms", "build_ms", "export_ms", "verify_ms")]
        if is_gpu:
            both = row["dedupe_ms"][1] + row["export_ms"][1]
            line += [fine_milliseconds(both), from_others("balanced_trees", row, "points", "dims")]
        lines.append(line)
    return table(heads + ["equal ones + export", "KdTreeGPU"] * is_gpu, lines)


def knn(report):
    rows = report["knn"]
    names = {"brute": "brute force", "kdtree": "k-d tree"}
    kinds = list(dict.fromkeys((row["engine"], row["queries"]) for row in rows))
    kinds.sort(key=lambda kind: (kind[0] != "brute", kind[1]))
    cells = {(row["points"], row["k"], row["engine"], row["queries"]): spread(row["search_ms"]) for row in rows}
    heads = ["points", "k", *(f"{names[engine]}, {queries:,} quer{'y' if queries == 1 else 'ies'}" for engine, queries in kinds)]
    cases = sorted({(row["points"], row["k"]) for row in rows})
    return table(heads, [[f"{points:,}", k, *(cells.get((points, k, *kind), "") for kind in kinds)] for points, k in cases])


def knn_bytes(report):
    most = max(row["k"] for row in report["knn"])
    lines = []
    for row in sorted((row for row in report["knn"] if row["k"] == most), key=lambda row: (row["engine"], row["points"], row["queries"])):
        sizes = [f"{row[name] / 1e6:,.1f}" for name in ("index_bytes", "held_bytes", "build_bytes", "search_bytes")]
        lines.append([row["engine"], f"{row['points']:,}", f"{row['queries']:,}", *sizes, spread(row["build_ms"])])
    heads = ["engine", "points", "queries", "index, planned, MB", "held, MB", "build, planned, MB", "search, planned, MB", "build, ms"]
    text = table(heads, lines) + f"\nThe searches are for k = {most}.\n"
    for row in report["one_query_from_host"]:
        other = from_others("one_query_from_host", row, "points", "k")
        text += f"\nOne query, k = {row['k']}, by brute force, {row['points']:,} points in host memory that are copied first: {spread(row['ms'])}"
        text += f"; the original, on an NVIDIA H200: {other}.\n" if other else ".\n"
    return text


def scans(report):
    scan_names, lines = pivot(report["scan_builds"], "points", "scan", lambda row: spread(row["build_ms"]))
    heads = ["points", *scan_names]
    if "gpu" in report["machine"]:
        heads.append("cudaKDTree, uniform points")
        for line in lines:
            line.append(from_others("scan_builds", {"points": int(line[0].replace(",", ""))}, "points"))
    return table(heads, lines)


def scan_searches(report):
    columns, lines = pivot(report["scan_searches"], "points", "queries", lambda row: spread(row["search_ms"]))
    return table(["points of the tree", *(f"{queries:,} queries" for queries in columns)], lines)


def cloud_of(row):
    return f"{row['cloud']}, {row['dims']} dims, {row['points']:,} points, {row['queries']:,} queries"


def bounded(report):
    rows = [{**row, "cloud": cloud_of(row)} for row in report["bounded_searches"]]
    columns, lines = pivot(rows, "queue", "cloud", lambda row: f"{spread(row['search_ms'])}, recall {row['recall']:.3f}")
    lines = [*lines[1:], ["exact", *lines[0][1:]]]  # a queue of 0 is none
    return table(["entries", *columns], lines)


def cover_trees(report):
    heads = ["data", "objects", "dims", "queries", "build", "search, k = 5", "brute force", "distances per object, build", "per query", "MB"]
    lines = []
    for row in report["cover_trees"]:
        name = row["data"] if row["is_real"] or "shape" in row["data"] else f"in the shape of {row['data']}"
        lines.append([name, f"{row['objects']:,}", row["dims"] or "", f"{row['queries']:,}",
                      *(spread(row[kind]) for kind in ("build_ms", "search_ms", "brute_ms")),
                      f"{row['build_distances']:,.0f}", f"{row['search_distances']:,.0f}", f"{row['bytes'] / 1e6:.1f}"])
    return table(heads, lines)


def classification(report):
    heads = ["training points", "new points", "dims", "classes", "all of it", "longest chain"]
    is_gpu = "gpu" in report["machine"]
    lines = []
    for row in report["classification"]:
        line = [f"{row['train']:,}", f"{row['new']:,}", row["dims"], row["classes"], spread(row["ms"]), row["depth"]]
        lines.append(line + [from_others("classification", row, "train", "new", "dims", "classes")] * is_gpu)
    return table(heads + ["published, GTX 755M"] * is_gpu, lines)


MAKERS = {
    "five_balanced_trees": balanced_trees,
    "five_knn": knn,
    "five_knn_bytes": knn_bytes,
    "five_scans": scans,
    "five_scan_searches": scan_searches,
    "five_bounded": bounded,
    "five_cover_trees": cover_trees,
    "five_classification": classification,
}
TABLES = {
    f"{name}_{device}": lambda make=make, device=device: with_machine(device, make)
    for name, make in MAKERS.items()
    for device in ("gpu", "cpu")
}
