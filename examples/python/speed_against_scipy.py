"""Speed against SciPy

Build a tree of random points in three dimensions, then find the eight nearest of every point: `kith.spatial.KDTree` and
`scipy.spatial.KDTree`, the same calls with two workers. Measured when this page was made, on the machine that made it.
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.spatial

import kith.spatial


def seconds(tree_class, points):
    """The best of three rounds: build, query."""
    best = [np.inf, np.inf]
    for _ in range(3):
        start = time.perf_counter()
        tree = tree_class(points)
        built = time.perf_counter()
        tree.query(points, k=8, workers=2)
        best = np.minimum(best, [built - start, time.perf_counter() - built])
    return best


rng = np.random.default_rng(1)
sizes = [1_000, 3_000, 10_000, 30_000, 100_000]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for name, tree_class, color in [
    ("kith", kith.spatial.KDTree, "#c8553d"),
    ("SciPy", scipy.spatial.KDTree, "#30475e"),
]:
    times = np.array([seconds(tree_class, rng.random((n, 3))) for n in sizes])
    for ax, column in zip(axes, times.T):
        ax.loglog(sizes, column * 1e3, "o-", color=color, label=name)
for ax, what in zip(axes, ("build", "8 nearest of all points, 2 workers")):
    ax.set(title=what, xlabel="points", ylabel="milliseconds")
    ax.grid(alpha=0.3)
    ax.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "speed_against_scipy.png", dpi=120)
