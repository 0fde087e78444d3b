"""Cells of a k-d tree

A k-d tree cuts the plane at median points until few are left in each cell. Where points are dense, cells are small, so that
every cell holds about as many. A search looks into a few cells only.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import kith

points = np.random.default_rng(4).standard_normal((600, 2))
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, leaf_size in zip(axes, (64, 8)):
    kith.plot.tree(points, leaf_size=leaf_size, ax=ax)
    ax.set_title(f"cells of up to {leaf_size} points")
    ax.set_axis_off()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tree_cells.png", dpi=120)
