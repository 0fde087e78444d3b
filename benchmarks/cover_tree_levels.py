"""Builds the cover tree of a few points in the plane by the command and writes points and nodes as JSON.

tools/make_plots.py draws the picture of docs/cover_tree.md from it. The nodes are read from the index file as docs/file_format.md
describes it.
"""

import argparse
import json
import random
import struct
import subprocess
import tempfile
from pathlib import Path

from machine import ROOT, machine

POINTS = 600
LEAF_SIZE = 8
ROWS, NODES, ORDER = 1, 9, 10  # sections


def clusters():
    """Some wide and some narrow ones, drawn out along one axis."""
    chance = random.Random(4)
    centres = [(chance.random(), chance.random(), chance.uniform(0.02, 0.12), chance.uniform(0.02, 0.12)) for _ in range(9)]
    for _ in range(POINTS):
        x, y, width, height = chance.choice(centres)
        yield chance.gauss(x, width), chance.gauss(y, height)


def sections(data):
    """The bytes of each section by its id."""
    (count,) = struct.unpack_from("<I", data, 120)
    found = {}
    for i in range(count):
        number, element_bytes, elements, offset = struct.unpack_from("<IIQQ", data, 136 + 24 * i)
        found[number] = data[offset : offset + element_bytes * elements]
    return found


def read_tree(path):
    parts = sections(path.read_bytes())
    points = [[round(x, 4) for x in point] for point in struct.iter_unpack("<2f", parts[ROWS])]
    order = [number for (number,) in struct.iter_unpack("<I", parts[ORDER])]
    nodes = []
    for _, _, centre, parent, _, children, first, count, _, level in struct.iter_unpack("<2d7Ii", parts[NODES]):
        node = {"centre": centre, "level": level, "parent": parent, "children": children}
        nodes.append({**node, "objects": order[first : first + count]} if children == 0 else node)
    return {"points": points, "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kith", type=Path, default=ROOT / "build/bin/kith")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/cover_tree_levels.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        points, index = Path(name) / "points.csv", Path(name) / "index.kith"
        points.write_text("".join(f"{x:.4f},{y:.4f}\n" for x, y in clusters()))
        command = [arguments.kith, "build", points, "--dtype", "f32", "--engine", "covertree", "--leaf-size", LEAF_SIZE]
        subprocess.run([str(part) for part in [*command, "--out", index, "--quiet"]], check=True)
        report = {"what": "the cover tree of points in the plane", "machine": machine(), "leaf_size": LEAF_SIZE, **read_tree(index)}
    arguments.out.write_text(json.dumps(report) + "\n")
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
