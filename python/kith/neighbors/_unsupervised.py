"""Searches as estimators: neighbours, graphs of neighbours, and outliers."""

from __future__ import annotations

from . import _originals as originals
from ._search import KNeighborsSearch, RadiusNeighborsSearch


class NearestNeighbors(KNeighborsSearch, RadiusNeighborsSearch, originals.NearestNeighbors):
    """Search for neighbours.

    Parameters
    ----------
    n_neighbors, radius
        As in scikit-learn.
    algorithm, leaf_size, metric, p, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Examples
    --------
    >>> from kith.neighbors import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0, 0, 2], [1, 0, 0], [0, 0, 1]])
    >>> model.kneighbors([[0, 0, 1.3]], return_distance=False)
    array([[2, 0]])
    """

    def __init__(
        self, *, n_neighbors=5, radius=1.0, algorithm="auto", leaf_size=30, metric="minkowski", p=2,
        metric_params=None, n_jobs=None, engine="auto", device="auto",
    ):
        self._keep(locals())


class KNeighborsTransformer(KNeighborsSearch, originals.KNeighborsTransformer):
    """Points become rows of a sparse graph of their k nearest neighbours.

    Parameters
    ----------
    mode, n_neighbors
        As in scikit-learn; "distance" takes one neighbour more, because a point is its own.
    algorithm, leaf_size, metric, p, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Examples
    --------
    >>> from kith.neighbors import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0], [1], [3]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    def __init__(
        self, *, mode="distance", n_neighbors=5, algorithm="auto", leaf_size=30, metric="minkowski",
        p=2, metric_params=None, n_jobs=None, engine="auto", device="auto",
    ):
        self._keep(locals())


class RadiusNeighborsTransformer(RadiusNeighborsSearch, originals.RadiusNeighborsTransformer):
    """Points become rows of a sparse graph of all neighbours within a radius.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        What the entries are: distances, or ones.
    radius : float, default=1.0
        Points at exactly this distance are neighbours.
    algorithm, leaf_size, metric, p, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Examples
    --------
    >>> from kith.neighbors import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=1.5).fit_transform([[0], [1], [3]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    def __init__(
        self, *, mode="distance", radius=1.0, algorithm="auto", leaf_size=30, metric="minkowski",
        p=2, metric_params=None, n_jobs=None, engine="auto", device="auto",
    ):
        self._keep(locals())


class LocalOutlierFactor(KNeighborsSearch, originals.LocalOutlierFactor):
    """Outliers: points whose neighbourhood is less dense than those of their neighbours.

    Parameters
    ----------
    n_neighbors, contamination, novelty
        As in scikit-learn.
    algorithm, leaf_size, metric, p, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Attributes
    ----------
    negative_outlier_factor_, n_neighbors_, offset_
        As in scikit-learn.

    Examples
    --------
    >>> from kith.neighbors import LocalOutlierFactor
    >>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    """

    def __init__(
        self, n_neighbors=20, *, algorithm="auto", leaf_size=30, metric="minkowski", p=2,
        metric_params=None, contamination="auto", novelty=False, n_jobs=None, engine="auto",
        device="auto",
    ):
        self._keep(locals())
