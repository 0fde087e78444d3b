"""Two scans, registered

A street as a lidar scanner sees it before and after it has moved, seen from above: as the scans lie, and once the second is moved by the pose that
`kith.register` finds.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import kith

before = kith.generate("lidar", 60_000, 3, seed=4)
angle = np.radians(4)
truth = np.eye(4)
truth[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
truth[:3, 3] = [0.8, -0.4, 0.05]
after = kith.transform(before[::2], truth, inverse=True)  # what the scanner sees now

found = kith.register(after, before, keep=0.9)
print(found)
assert found.converged and np.allclose(found.transformation, truth, atol=1e-3)

figure, axes = plt.subplots(2, 1, figsize=(10, 6), layout="constrained", facecolor="#10151c")
for ax, scan in zip(axes, [after, kith.transform(after, found.transformation)], strict=True):
    for points, colour in [(before, "#4aa8ff"), (scan, "#ffb03a")]:
        near = (np.abs(points[:, 0]) < 30) & (np.abs(points[:, 1]) < 12)
        ax.scatter(points[near, 0], points[near, 1], s=0.4, linewidths=0, color=colour)
    ax.set_aspect("equal")
    ax.set_axis_off()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "register_scans.png", dpi=160)
