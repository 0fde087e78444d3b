#!/usr/bin/env python3
"""Draws docs/plots/*.svg from benchmarks/results/*.json.

With --check nothing is written and a plot that is out of date fails. A plot whose results are not there is left out.
"""

import argparse
import json
import math
import sys

from benchmark_reports import RESULTS, ROOT, gpu_line, gpu_report
from five_tables import cloud_of, five_report, machine_of
from gpu_tables import brute_or_tree_rows, select_cases
from svg_chart import COLOURS, MARKERS, Chart, LinearAxis, LogAxis, Panel, number, short
from svg_theme import BACK, FAINT, INK, PALE

PLOTS = ROOT / "docs/plots"
DASHES = "7 5"
ENTRY_BYTES = 8  # of f32: the distance and the number of a point


def caption(report):
    return gpu_line(report).strip().rstrip(".")


def one_or_range(values):
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def crossing(brute, tree):
    """Where two lines over the same x meet, between them as they are drawn; None if they do not."""
    for (x, a), (_, b), (next_x, next_a), (_, next_b) in zip(brute, tree, brute[1:], tree[1:]):
        before, after = math.log(a / b), math.log(next_a / next_b)
        if before < 0 <= after:
            part = before / (before - after)
            return x * (next_x / x) ** part, a * (next_a / a) ** part
    return None


def brute_or_tree_gpu():
    rows = brute_or_tree_rows()
    if not rows:
        return None
    dims = sorted({row["dims"] for row in rows})
    points = sorted({row["points"] for row in rows})
    k = one_or_range([row["k"] for row in rows])
    queries = one_or_range([row["queries"] for row in rows])
    svg = Chart(
        860, 530, "Where brute force wins on a GPU",
        f"Uniform f32 points, L2, k = {k}, {queries} queries at a time, all in GPU memory; time of the search alone",
    )
    speeds = {
        field: {
            count: sorted((row["dims"], row["queries"] / row[field] * 1e3) for row in rows if row["points"] == count)
            for count in points
        }
        for field in ("ms", "tree_ms")
    }
    panel = Panel(
        svg, 76, 92, 764, 360, LogAxis(dims[0] / 1.08, dims[-1] * 1.08),
        LogAxis.around([speed for lines in speeds.values() for line in lines.values() for _, speed in line]),
    )
    panel.frame(dims, "dims", "queries per second")
    colours = {count: COLOURS[i % len(COLOURS)] for i, count in enumerate(points)}
    for count in points:
        brute, tree = speeds["ms"][count], speeds["tree_ms"][count]
        panel.line(tree, colours[count], "circle", dash=DASHES)
        panel.line(brute, colours[count], "circle", width=2.4)
        meeting = crossing(brute, tree)
        if meeting is not None:
            svg.marker(*panel.at(*meeting), "ring", colours[count])
    entries = [(f"{short(count)} points", colours[count], {}, None) for count in points]
    entries += [("brute force", INK, {}, None), ("k-d tree", INK, {"dash": DASHES}, None)]
    svg.legend(76, 76, [*entries, ("even", INK, None, "ring")])
    return svg.whole(caption(gpu_report("brute_force_gpu")))


def select_gpu():
    many, single = select_cases()
    if not many:
        return None
    lengths = sorted({length for _, length, _ in many})
    ks = sorted({k for _, _, k in many})
    strategies = sorted({name for times in [*many.values(), *single.values()] for name in times} - {"auto"})
    svg = Chart(
        1000, 640, "Selecting the k least of a row on a GPU",
        f"f32 entries of {ENTRY_BYTES} bytes in GPU memory, answers sorted; the bytes of the rows, read once, over the time",
    )
    looks = {name: (COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(strategies)}
    entries = [("auto", PALE, {"width": 8}, None)]
    svg.legend(76, 78, entries + [(name, looks[name][0], {}, looks[name][1]) for name in strategies])
    width, gap, height = 205, 20, 180
    for top, cases in ((118, many), (388, single)):
        speeds = {
            (rows, length, k): {name: rows * length * ENTRY_BYTES / ms / 1e6 for name, ms in times.items()}
            for (rows, length, k), times in cases.items()
        }
        y_axis = LogAxis.around([speed for by_name in speeds.values() for speed in by_name.values()])
        for column, length in enumerate(lengths):
            x_axis = LogAxis(ks[0] / 1.25, ks[-1] * 1.25)
            panel = Panel(svg, 76 + column * (width + gap), top, width, height, x_axis, y_axis)
            panel.frame(ks, "k", "GB/s" if column == 0 else "", y_label="{:,g}".format)
            rows = next(rows for rows, of, _ in cases if of == length)
            words = f"{rows:,} row{'' if rows == 1 else 's'} of {length:,}"
            svg.text(panel.left + width / 2, top - 8, words, anchor="middle", weight="bold")
            for name in ["auto", *strategies]:  # auto lies below the one that it took
                here = {k: by_name for (_, of, k), by_name in speeds.items() if of == length and name in by_name}
                line = [(k, here[k][name]) for k in sorted(here)]
                if line and name == "auto":
                    panel.line(line, PALE, width=8)
                elif line:
                    panel.line(line, *looks[name])
    return svg.whole(caption(gpu_report("select_gpu")))


def cells_of(tree, level):
    """(Node, the objects found below it) for each centre that there is when a level is done."""
    nodes = tree["nodes"]
    objects = [list(node.get("objects", ())) for node in nodes]
    for i in range(len(nodes) - 1, 0, -1):  # parents come before children
        objects[nodes[i]["parent"]] += objects[i]
    below = {node["parent"]: node["level"] for node in nodes[1:]}
    cells = [
        (node, objects[i]) for i, node in enumerate(nodes) if node["level"] >= level > below.get(i, -math.inf)
    ]
    return cells


def cover_tree_levels():
    path = RESULTS / "cover_tree_levels.json"
    if not path.exists():
        return None
    tree = json.loads(path.read_text())
    points = tree["points"]
    levels = sorted({node["level"] for node in tree["nodes"]}, reverse=True)
    shown = levels[2:5]
    side, gap, top = 300, 20, 112
    svg = Chart(
        16 + len(shown) * (side + gap), top + side + 46, "Three levels of a cover tree",
        f"{len(points)} points in the plane, leaves of {tree['leaf_size']}; a line from each point to the centre "
        "that it is found below, circles with the radius of the level",
    )
    low = [min(point[axis] for point in points) for axis in (0, 1)]
    span = max(max(point[axis] for point in points) - low[axis] for axis in (0, 1))
    scale = side / (1.16 * span)
    for column, level in enumerate(shown):
        left = 16 + column * (side + gap)
        place = lambda object_: (
            left + (points[object_][0] - low[0] + 0.08 * span) * scale,
            top + side - (points[object_][1] - low[1] + 0.08 * span) * scale,
        )
        cells = cells_of(tree, level)
        words = f"level {level}: radius {2.0 ** level:g}, {len(cells)} centres"
        svg.text(left + side / 2, top - 8, words, anchor="middle", weight="bold")
        svg.parts.append(f'<clipPath id="panel{column}"><rect x="{left}" y="{top}" width="{side}" height="{side}"/></clipPath>')
        svg.parts.append(f'<g clip-path="url(#panel{column})">')
        spokes = [(place(node["centre"]), place(member)) for node, members in cells for member in members]
        svg.path([f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for (a, b), (c, d) in spokes], PALE, 0.8)
        for node, _ in cells:
            is_leaf = node["children"] == 0
            radius = 2.0 ** (node["level"] if is_leaf else level)
            svg.circle(*place(node["centre"]), radius * scale, COLOURS[is_leaf], 1, "4 3" if is_leaf else None)
        svg.path([f"M{number(x)} {number(y)}h0" for x, y in map(place, range(len(points)))], FAINT, 2.4)
        for node, _ in cells:
            svg.circle(*place(node["centre"]), 3, BACK, 0.8, fill=COLOURS[node["children"] == 0])
        svg.parts.append("</g>")
        svg.line([(left, top), (left + side, top), (left + side, top + side), (left, top + side), (left, top)], FAINT, 1)
    entries = [("centre of a cell that is split further", COLOURS[0], None, "circle"), ("centre of a leaf", COLOURS[1], None, "circle")]
    svg.legend(16, 78, entries)
    return svg.whole(f"made by kith build, commit {tree['machine']['commit']}")


def kd_tree_speed():
    """Bars of searches per second: kith and others with one thread, and kith on a GPU."""
    path = RESULTS / "kd_tree_cpu.json"
    gpu = gpu_report("kd_tree_gpu_search")
    if not path.exists():
        return None
    report = json.loads(path.read_text(encoding="utf-8"))
    wanted = {"cloud": "uniform", "points": 1_000_000, "dims": 3}
    fits = [row for row in report["rows"] if all(row[key] == value for key, value in wanted.items()) and row["threads"] == 1]
    bars = [(f"{row['library']}, 1 thread", wanted["points"] / row["ms"]["knn 8"] * 1e3) for row in fits if "knn 8" in row["ms"]]
    for row in gpu["rows"] if gpu else []:
        if row["search"] == "self" and row["k"] == 8 and all(row[key] == value for key, value in wanted.items()):
            bars.append((f"kith, {gpu['machine']['gpu']}", row["queries"] / row["ms"] * 1e3))
    bars.sort(key=lambda bar: -bar[1])
    left, top, step, width = 200, 78, 30, 540
    svg = Chart(
        860, top + step * len(bars) + 46, "Neighbour searches per second, logarithmic scale",
        "The 8 nearest neighbours of each of 1,000,000 uniform f32 points in 3 dims, in random order; time of the search alone",
    )
    axis = LogAxis.around([speed for _, speed in bars])
    axis = LogAxis(10**axis.low / 4, 10**axis.high)  # so that the shortest bar has a length
    for i, (name, speed) in enumerate(bars):
        y, length = top + step * i, width * axis.place(speed)
        svg.text(left - 16, y + 15, name, anchor="end", weight="bold" if name.startswith("kith") else None)
        svg.line([(left, y + 10), (left + length, y + 10)], COLOURS[0] if name.startswith("kith") else FAINT, 16)
        svg.text(left + length + 16, y + 15, f"{speed / 1e6:,.3g} million" if speed < 1e9 else f"{speed / 1e9:,.3g} billion")
    machine = report["machine"]
    return svg.whole(f"{machine['cpu']}, commit {machine['commit']}" + (f"; {caption(gpu)}" if gpu else ""))


def five_knn():
    """Time over k, of the GPU if it was measured, else of the CPU."""
    report = five_report("gpu") or five_report("cpu")
    if report is None:
        return None
    rows = [row for row in report["knn"] if row["queries"] > 1]
    batch = {engine: max(row["queries"] for row in rows if row["engine"] == engine) for engine in ("brute", "kdtree")}
    points, ks = (sorted({row[name] for row in rows}) for name in ("points", "k"))
    svg = Chart(
        860, 440, "Time of a search over k", "Uniform f32 points in 3 dims, L2; a line from the least to the most of ten runs through each median"
    )
    y_axis = LogAxis.around([ms for row in rows if row["queries"] == batch[row["engine"]] for ms in row["search_ms"]])
    x_axis = LogAxis(ks[0] / 1.25, ks[-1] * 1.25)
    for left, engine, name in ((76, "brute", "brute force"), (470, "kdtree", "k-d tree")):
        panel = Panel(svg, left, 118, 370, 250, x_axis, y_axis)
        panel.frame(ks, "k", "ms" if engine == "brute" else "")
        svg.text(left + 185, 110, f"{name}, {batch[engine]:,} queries", anchor="middle", weight="bold")
        for i, count in enumerate(points):
            here = [row for row in rows if (row["engine"], row["points"], row["queries"]) == (engine, count, batch[engine])]
            panel.line([(row["k"], row["search_ms"][1]) for row in here], COLOURS[i], MARKERS[i])
            for row in here:
                panel.line([(row["k"], row["search_ms"][end]) for end in (0, 2)], COLOURS[i], width=1)
    svg.legend(76, 78, [(f"{count:,} points", COLOURS[i], {}, MARKERS[i]) for i, count in enumerate(points)])
    return svg.whole(machine_of(report).rstrip("."))


def five_bounded():
    """Recall and time of searches with a bounded queue, of the GPU if it was measured, else of the CPU."""
    report = five_report("gpu") or five_report("cpu")
    if report is None:
        return None
    clouds = {}
    for row in report["bounded_searches"]:
        clouds.setdefault(cloud_of(row), {})[row["queue"]] = row
    queues = sorted({row["queue"] for row in report["bounded_searches"]} - {0})
    svg = Chart(
        900, 500, "Searches with a bounded queue",
        "The 10 nearest neighbours; the least of ten runs. In 3 dims exact searches are faster, so that kith answers exactly",
    )
    times = {name: {queue: rows[queue]["search_ms"][0] / rows[0]["search_ms"][0] for queue in queues} for name, rows in clouds.items()}
    least = min(row["recall"] for rows in clouds.values() for row in rows.values())
    low = math.floor(least * 10) / 10 if least < 1 else 0.9
    x_axis = LogAxis(queues[0] / 1.15, queues[-1] * 1.15)
    recall = Panel(svg, 76, 150, 370, 270, x_axis, LinearAxis(low, 1, 0.1))
    recall.frame(queues, "entries of the queue", "recall", y_label="{:.1f}".format)
    ratio = Panel(svg, 516, 150, 370, 270, x_axis, LogAxis.around([ms for line in times.values() for ms in line.values()]))
    ratio.frame(queues, "entries of the queue", "time / time of an exact search", y_label="{:g}".format)
    for i, (name, rows) in enumerate(clouds.items()):
        recall.line([(queue, rows[queue]["recall"]) for queue in queues], COLOURS[i], MARKERS[i])
        ratio.line(list(times[name].items()), COLOURS[i], MARKERS[i])
        svg.legend(76 + i % 2 * 430, 78 + i // 2 * 22, [(name, COLOURS[i], {}, MARKERS[i])])
    return svg.whole(machine_of(report).rstrip("."))


DRAWN = {
    "brute_or_tree_gpu": brute_or_tree_gpu,
    "cover_tree_levels": cover_tree_levels,
    "five_bounded": five_bounded,
    "five_knn": five_knn,
    "kd_tree_speed": kd_tree_speed,
    "select_gpu": select_gpu,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    arguments = parser.parse_args()
    stale = []
    for name, draw in DRAWN.items():
        path = PLOTS / f"{name}.svg"
        drawn = draw()
        if drawn is None:
            print(f"{path.relative_to(ROOT)} is left out: its results are not there", file=sys.stderr)
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            stale.append(path.relative_to(ROOT))
            if not arguments.check:
                PLOTS.mkdir(exist_ok=True)
                path.write_text(drawn, encoding="utf-8", newline="\n")
    if arguments.check and stale:
        sys.exit(f"plots are out of date: {', '.join(map(str, stale))}; run tools/make_plots.py")


if __name__ == "__main__":
    main()
