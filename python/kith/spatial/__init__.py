"""The k-d trees of ``scipy.spatial``, on kith.

Write ``from kith.spatial import KDTree`` where you had ``from scipy.spatial import KDTree``;
nothing else changes. `KDTree` tells where it promises more.
"""

from ._kd_tree import KDTree, cKDTree

__all__ = ["KDTree", "cKDTree"]
