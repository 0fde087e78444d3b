"""The estimators of ``sklearn.neighbors``, searched by kith.

>>> from kith.neighbors import KNeighborsClassifier
>>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
>>> model.predict([[1.1]])
array([0])

Every class takes the parameters of the class of the same name in scikit-learn, has its attributes,
raises its errors and gives its results; it is a subclass of it, so pipelines, grid searches and
plots take it. Two parameters are ours: `engine` and `device`.

What differs:

- Neighbours at the same distance come in the order of their numbers, on every engine and device and
  with any number of threads. scikit-learn leaves that order open.
- float32 data is searched in float32, and queries are rounded to it; all other numbers are searched
  in float64. Distances are returned as float64 either way.
- `algorithm` chooses an engine: "brute" brute force, "kd_tree" the k-d tree, "auto" and "ball_tree"
  what is fastest for the data. The answer is the same. `leaf_size` is accepted and not used.
- Lists of neighbours within a radius are always sorted by distance, then by number, also without
  ``sort_results``.
- ``kneighbors()`` without queries leaves each point out of its own list. Where a point has more
  duplicates than neighbours are wanted, scikit-learn leaves out one of those instead.

Metrics that kith does not have (callables, "precomputed", "hamming", …),
sparse matrices and, under "cosine", vectors of zeros are left to scikit-learn's own code; `index_`
is then None. Sparse queries of points that were dense are made dense, with a note; with the
algorithms "kd_tree" and "ball_tree" they are a ValueError, as in scikit-learn.

`SequentialKNeighborsClassifier` is ours. `KernelDensity`, `NearestCentroid`,
`NeighborhoodComponentsAnalysis`, `VALID_METRICS`, `VALID_METRICS_SPARSE` and
`sort_graph_by_row_values` are scikit-learn's own: there is nothing in them that an index speeds up,
or no search of ours for it yet.
"""

from __future__ import annotations

try:
    import sklearn.neighbors  # noqa: F401
except ImportError as error:
    raise ImportError(
        'kith.neighbors needs scikit-learn; install it by pip install "kith[neighbors]"'
    ) from error

from sklearn.neighbors import (
    VALID_METRICS,
    VALID_METRICS_SPARSE,
    KernelDensity,
    NearestCentroid,
    NeighborhoodComponentsAnalysis,
    sort_graph_by_row_values,
)

from ._classification import KNeighborsClassifier, RadiusNeighborsClassifier
from ._graph import kneighbors_graph, radius_neighbors_graph
from ._regression import KNeighborsRegressor, RadiusNeighborsRegressor
from ._sequential import SequentialKNeighborsClassifier
from ._trees import BallTree, KDTree
from ._unsupervised import (
    KNeighborsTransformer,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsTransformer,
)

__all__ = [
    "VALID_METRICS",
    "VALID_METRICS_SPARSE",
    "BallTree",
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "KernelDensity",
    "LocalOutlierFactor",
    "NearestCentroid",
    "NearestNeighbors",
    "NeighborhoodComponentsAnalysis",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "SequentialKNeighborsClassifier",
    "kneighbors_graph",
    "radius_neighbors_graph",
    "sort_graph_by_row_values",
]
