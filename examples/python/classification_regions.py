"""Classification regions

Where a new point would be given which label, by the vote of its nearest neighbours: one of them follows every outlier, many of
them smooth the border. The classifier is scikit-learn's, searched by kith, so scikit-learn's display takes it.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from kith.neighbors import KNeighborsClassifier

X, y = make_moons(400, noise=0.28, random_state=3)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, k in zip(axes, (1, 25)):
    model = KNeighborsClassifier(n_neighbors=k).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.4, grid_resolution=300, eps=0.2, ax=ax
    )
    ax.scatter(X[:, 0], X[:, 1], c=y, s=12, edgecolors="k", linewidths=0.3)
    ax.set_title("1 neighbour" if k == 1 else f"{k} neighbours")
    ax.set_axis_off()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "classification_regions.png", dpi=120)
