"""Graphs of neighbours without an estimator."""

from __future__ import annotations

from typing import Any

from sklearn.neighbors._base import KNeighborsMixin, RadiusNeighborsMixin
from sklearn.utils._param_validation import validate_params

from . import _originals as originals
from ._unsupervised import NearestNeighbors


@validate_params(
    originals.kneighbors_graph._skl_parameter_constraints, prefer_skip_nested_validation=False
)
def kneighbors_graph(
    X, n_neighbors, *, mode="connectivity", metric="minkowski", p=2, metric_params=None,
    include_self=False, n_jobs=None,
) -> Any:
    """The graph of the k nearest neighbours of points among themselves.

    Parameters
    ----------
    X, n_neighbors, mode, include_self
        As in scikit-learn.
    metric, p, metric_params, n_jobs
        As in `KNeighborsClassifier`.

    Returns
    -------
    sparse matrix of shape (n_samples, n_samples), CSR

    Examples
    --------
    >>> from kith.neighbors import kneighbors_graph
    >>> kneighbors_graph([[0], [3], [1]], 2, include_self=True).toarray()
    array([[1., 0., 1.],
           [0., 1., 1.],
           [1., 0., 1.]])
    """
    how = {"metric": metric, "p": p, "metric_params": metric_params}
    if not isinstance(X, KNeighborsMixin):
        X = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs, **how).fit(X)
    return originals.kneighbors_graph(
        X, n_neighbors, mode=mode, include_self=include_self, n_jobs=n_jobs, **how
    )


@validate_params(
    originals.radius_neighbors_graph._skl_parameter_constraints, prefer_skip_nested_validation=False
)
def radius_neighbors_graph(
    X, radius, *, mode="connectivity", metric="minkowski", p=2, metric_params=None,
    include_self=False, n_jobs=None,
) -> Any:
    """The graph of the neighbours within a radius of points among themselves.

    Parameters
    ----------
    radius : float
        Points at exactly this distance are neighbours.
    X, mode, include_self, metric, p, metric_params, n_jobs
        As in `kneighbors_graph`.

    Returns
    -------
    sparse matrix of shape (n_samples, n_samples), CSR

    Examples
    --------
    >>> from kith.neighbors import radius_neighbors_graph
    >>> radius_neighbors_graph([[0], [3], [1]], 1.5, mode="distance").toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    how = {"metric": metric, "p": p, "metric_params": metric_params}
    if not isinstance(X, RadiusNeighborsMixin):
        X = NearestNeighbors(radius=radius, n_jobs=n_jobs, **how).fit(X)
    return originals.radius_neighbors_graph(
        X, radius, mode=mode, include_self=include_self, n_jobs=n_jobs, **how
    )
