"""Neighbours of a point

The eight nearest points of three queries, and all points within a radius of them. Lists are ordered by distance, and by number
where distances are equal; points at exactly the radius belong to the list.
"""

import sys

import matplotlib.pyplot as plt

import kith

points = kith.generate("uniform", 400, 2, seed=2)
queries = [[0.2, 0.25], [0.5, 0.75], [0.8, 0.3]]
index = kith.Index(points)
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
kith.plot.neighbors(index, queries, k=8, ax=axes[0]).set_title("the 8 nearest")
kith.plot.neighbors(index, queries, radius=0.12, ax=axes[1]).set_title("all within 0.12")
for ax in axes:
    ax.set_axis_off()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "nearest_points.png", dpi=120)
