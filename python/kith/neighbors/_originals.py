"""scikit-learn's own classes, bound once: with ours in ``sklearn.neighbors`` we must not call ourselves."""

from __future__ import annotations

from sklearn.neighbors import BallTree, KDTree, LocalOutlierFactor, NearestNeighbors
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer
from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from sklearn.neighbors import RadiusNeighborsTransformer, kneighbors_graph, radius_neighbors_graph

__all__ = [
    "BallTree", "KDTree", "LocalOutlierFactor", "NearestNeighbors",
    "KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer",
    "RadiusNeighborsClassifier", "RadiusNeighborsRegressor", "RadiusNeighborsTransformer",
    "kneighbors_graph", "radius_neighbors_graph",
]
