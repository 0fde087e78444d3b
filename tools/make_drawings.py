#!/usr/bin/env python3
"""Draws docs/drawings/*.svg: what the engines do, computed by small versions of their algorithms in tools/drawings/.

With --check nothing is written; a drawing that is out of date fails, and so does a picture that docs/gallery.md does not show.
Names after it draw only those. The same bytes come from every machine and version of Python: coordinates are whole numbers where
order depends on them, and other arithmetic is by +, -, *, / and square roots, without `sum`, whose rounding has changed.
"""

import argparse
import importlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRAWINGS = ROOT / "docs/drawings"
GALLERY = ROOT / "docs/gallery.md"
MOST_BYTES = 60_000  # of a picture on a page

DRAWN = {
    "brute_force": "product_filter.draw_cpu",
    "brute_force_gpu": "product_filter.draw_gpu",
    "builders": "builder_strips.draw",
    "cover_tree_search": "cover_tree_search.draw",
    "downsampling": "downsampling.draw",
    "gpu_build": "gpu_build.draw",
    "gpu_packets": "gpu_packets.draw",
    "icp": "icp.draw",
    "kd_tree_search": "kd_tree_search.draw",
    "normal_directions": "normal_directions.draw",
    "outlier_rules": "outlier_rules.draw",
    "search_path": "search_path.draw",
    "sequential_votes": "sequential_votes.draw",
}


def drawing(name):
    module, _, function = DRAWN[name].partition(".")
    return getattr(importlib.import_module(f"drawings.{module}"), function)()


def missing_in_gallery():
    """The pictures of docs/ that the gallery does not show."""
    text = GALLERY.read_text(encoding="utf-8") if GALLERY.exists() else ""
    pictures = [*(f"drawings/{name}.svg" for name in DRAWN), *(f"plots/{path.name}" for path in (ROOT / "docs/plots").glob("*.svg"))]
    return [picture for picture in sorted(pictures) if f"]({picture})" not in text]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="draw only these")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in DRAWN]
    if unknown:
        parser.error(f"no drawing is called {unknown[0]}; there are {', '.join(DRAWN)}")
    problems = []
    for name in arguments.names or DRAWN:
        path = DRAWINGS / f"{name}.svg"
        drawn = drawing(name)
        if len(drawn) > MOST_BYTES:
            problems.append(f"{path.relative_to(ROOT)} has {len(drawn):,} bytes; at most {MOST_BYTES:,} are wanted")
        if path.exists() and path.read_text(encoding="utf-8") == drawn:
            continue
        if arguments.check:
            problems.append(f"{path.relative_to(ROOT)} is out of date; run tools/make_drawings.py")
        else:
            DRAWINGS.mkdir(exist_ok=True)
            path.write_text(drawn, encoding="utf-8", newline="\n")
    if arguments.check:
        stray = sorted(path.relative_to(ROOT) for path in DRAWINGS.glob("*.svg") if path.stem not in DRAWN)
        problems += [f"{path} is drawn by nothing" for path in stray]
        problems += [f"docs/gallery.md does not show {picture}" for picture in missing_in_gallery()]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
