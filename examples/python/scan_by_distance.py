"""A scan coloured by distance

A street as a lidar scanner sees it, seen from above. The colour of a point is the mean distance to its 8 nearest neighbours: dense near the
scanner, sparse far away and at the edges of what hides the rest.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import kith

points = kith.generate("lidar", 200_000, 3, seed=4)
distances, _ = kith.Index(points).knn(k=8, exclude_self=True)
mean = distances.mean(axis=1)

near = (np.abs(points[:, 0]) < 45) & (np.abs(points[:, 1]) < 20)
order = np.argsort(-mean[near])  # dense places on top
x, y, z = points[near][order].T
figure, ax = plt.subplots(figsize=(10, 4.6), layout="constrained", facecolor="#10151c")
ax.scatter(x + 0.25 * z, y + 0.6 * z, c=np.log(mean[near][order]), s=0.5, linewidths=0, cmap="viridis_r")
ax.set_aspect("equal")
ax.set_axis_off()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "scan_by_distance.png", dpi=160)
