"""How far off a start may be: the share of random starts from which kith, small_gicp and Open3D find the known pose.

Of each pair of clouds 5,000 random points each are registered by generalized ICP from the same starts: the known pose, then a
turn about a random axis through the middle of the target, by up to 90 degrees, and a shift in a random direction, by up to a
tenth of the diagonal of the target's box. Pairs may be a tenth of the diagonal apart. A pose is right if it is within 2 degrees
and 2 % of the diagonal of the known one.
"""

import argparse
import importlib.metadata
import json
from pathlib import Path

from machine import ROOT, machine
from registration_peers import LIBRARIES, errors, made_pairs, turned

POINTS = 5000
MOST_DEGREES = 90


def centred(source, target, truth):
    """The pair with the target's middle at the origin, and the known pose between them."""
    import numpy as np

    middle = (target.min(axis=0) + target.max(axis=0)) / 2
    shifted = np.array(truth)
    shifted[:3, 3] -= middle
    return source, target - middle, shifted


def measure(starts, threads):
    import numpy as np

    rows = []
    for name, source, target, truth, _ in made_pairs():
        rng = np.random.default_rng(2)
        source, target, truth = centred(source, target, truth)
        source = source[rng.permutation(len(source))[:POINTS]]
        target = target[rng.permutation(len(target))[:POINTS]]
        diagonal = float(np.linalg.norm(target.max(axis=0) - target.min(axis=0)))
        right = dict.fromkeys(LIBRARIES, 0)
        for _ in range(starts):
            axis, direction = rng.normal(size=3), rng.normal(size=3)
            shift = direction / np.linalg.norm(direction) * rng.random() * diagonal / 10
            start = turned(np.radians(MOST_DEGREES) * rng.random(), axis, shift) @ truth
            for library, register in LIBRARIES.items():
                degrees, shifted = errors(register(source, target, diagonal / 10, threads, start)[0], truth)
                right[library] += degrees is not None and degrees < 2 and shifted < diagonal / 50
        rows.append({"pair": name, "starts": starts, **right})
        print(f"{name:24} " + ", ".join(f"{library} {count} of {starts}" for library, count in right.items()), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/registration_starts.json")
    arguments = parser.parse_args()
    rows = measure(arguments.starts, arguments.threads)
    versions = {name: importlib.metadata.version(name) for name in ("small_gicp", "open3d")}
    report = {"what": f"generalized ICP from starts up to {MOST_DEGREES} degrees off", "machine": machine(), "versions": versions, "rows": rows}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
