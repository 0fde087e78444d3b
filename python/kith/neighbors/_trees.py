"""The trees of ``sklearn.neighbors``: their interface over an index of kith."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from .._index import Index
from .._types import Engine
from . import _originals as originals
from ._parameters import library_metric, library_params
from ._radius_lists import as_objects, emptied, radii_of


class SearchTree:
    """What `KDTree` and `BallTree` share. Other metrics and densities are left to scikit-learn's tree."""

    _engine: Engine = "auto"
    _original: Any = None
    valid_metrics: list[str] = []

    def __init__(
        self,
        X: Any,
        leaf_size: int = 40,
        metric: Any = "minkowski",
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> None:
        self.data = check_array(X, dtype=np.float64, order="C")
        if leaf_size < 1:
            raise ValueError("leaf_size must be greater than or equal to 1")
        self._metric = metric
        self._arguments = {"leaf_size": leaf_size, "sample_weight": sample_weight, **kwargs}
        self.index: Index | None = None
        name = None
        if isinstance(metric, str) and metric in self.valid_metrics:
            name = library_metric(
                metric, kwargs.get("p", 2), kwargs if metric == "minkowski" else kwargs or None
            )
        params = library_params(kwargs)
        if name in (None, "haversine") or (params is not None and self._engine == "kdtree"):
            self.original  # raises if there is no such metric
        else:
            self.index = Index(self.data, engine=self._engine, metric=name, metric_params=params)

    @cached_property
    def original(self) -> Any:
        """scikit-learn's tree of the same points, built on first use."""
        return self._original(self.data, metric=self._metric, **self._arguments)

    def _queries(self, X: Any) -> np.ndarray:
        queries = check_array(X, dtype=np.float64, order="C")
        if queries.shape[1] != self.data.shape[1]:
            raise ValueError("query data dimension must match training data dimension")
        return queries

    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
    ) -> Any:
        """The k nearest points of each query, by distance, then by number.

        Parameters
        ----------
        X, k, return_distance
            As in scikit-learn.
        dualtree, breadth_first, sort_results : bool
            Accepted and not used: the answer is the same, and always sorted.

        Returns
        -------
        d : ndarray of shape (n_queries, k)
            Only if `return_distance`.
        i : ndarray of shape (n_queries, k)
        """
        if self.index is None:
            return self.original.query(
                X, k, return_distance, dualtree, breadth_first, sort_results
            )
        queries = self._queries(X)
        if k > len(self.data):
            raise ValueError("k must be less than or equal to the number of training points")
        distances, numbers = self.index.knn(queries, k)
        return (distances, numbers) if return_distance else numbers

    def query_radius(
        self,
        X: Any,
        r: Any,
        return_distance: bool = False,
        count_only: bool = False,
        sort_results: bool = False,
    ) -> Any:
        """All points within a radius of each query, those at exactly that distance included.

        Parameters
        ----------
        X, r, return_distance, count_only
            As in scikit-learn.
        sort_results : bool, default=False
            The lists are sorted by distance, then by number, in either case.

        Returns
        -------
        count : ndarray of int of shape (n_queries,)
            If `count_only`.
        ind : ndarray of shape (n_queries,) of arrays
            Else.
        dist : ndarray of shape (n_queries,) of arrays
            If `return_distance`, behind `ind`.
        """
        if self.index is None:
            return self.original.query_radius(X, r, return_distance, count_only, sort_results)
        if count_only and return_distance:
            raise ValueError("count_only and return_distance cannot both be true")
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True")
        queries = self._queries(X)
        radii, is_none = radii_of(r)
        if np.ndim(radii) > 0 and np.shape(radii) != (len(queries),):
            raise ValueError("r must be broadcastable to X.shape")
        if count_only:
            counts = self.index.count(queries, radii)
            counts[np.broadcast_to(is_none, counts.shape)] = 0
            return counts
        lists = self.index.radius(queries, radii)
        if is_none.any():
            lists = emptied(lists, is_none)
        numbers = as_objects(lists.indices, lists.offsets)
        if not return_distance:
            return numbers
        return numbers, as_objects(lists.distances, lists.offsets)

    def two_point_correlation(self, X: Any, r: Any, dualtree: bool = False) -> np.ndarray:
        """How many pairs of a query and a point lie within each of the radii.

        Arguments are those of scikit-learn; `dualtree` is not used.
        """
        if self.index is None:
            return self.original.two_point_correlation(X, r, dualtree)
        queries = self._queries(X)
        radii = np.asarray(r, dtype=np.float64).ravel()
        within = [self.index.count(queries, each).sum() if each >= 0 else 0 for each in radii]
        return np.array(within, dtype=np.intp)

    def kernel_density(self, X: Any, h: float, **options: Any) -> np.ndarray:
        """A density by scikit-learn's own tree, which is built on first use; arguments as there."""
        return self.original.kernel_density(X, h, **options)

    def get_arrays(self) -> Any:
        """Of scikit-learn's own tree: points, their order, nodes and bounds."""
        return self.original.get_arrays()

    def get_tree_stats(self) -> Any:
        """Of scikit-learn's own tree: trims, leaves and splits."""
        return self.original.get_tree_stats()

    def __repr__(self) -> str:
        return f"kith.neighbors.{type(self).__name__}({len(self.data)} points, metric={self._metric!r})"


class KDTree(SearchTree):
    """The interface of ``sklearn.neighbors.KDTree``, searched by kith's k-d tree.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points, searched as float64.
    leaf_size : int, default=40
        Accepted and used only by scikit-learn's own tree.
    metric, sample_weight, kwargs
        As in scikit-learn.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points.
    index : kith.Index or None
        What is searched; None if scikit-learn's own tree searches.
    original : sklearn.neighbors.KDTree
        scikit-learn's tree of the same points, built on first use.
    valid_metrics : list of str

    Examples
    --------
    >>> from kith.neighbors import KDTree
    >>> tree = KDTree([[0.0], [1.0], [3.0]])
    >>> distances, numbers = tree.query([[0.9]], k=2)
    >>> numbers
    array([[1, 0]])
    >>> tree.query_radius([[0.9]], 2.5, count_only=True)
    array([3])
    """

    _engine = "kdtree"
    _original = originals.KDTree
    valid_metrics = originals.KDTree.valid_metrics


class BallTree(SearchTree):
    """The interface of ``sklearn.neighbors.BallTree``, searched by the engine that is fastest for the points.

    Metrics that kith does not have, and "haversine", which takes latitudes beyond the poles here, are left to scikit-learn's own tree.

    Parameters
    ----------
    X, leaf_size, metric, sample_weight, kwargs
        As in `KDTree`.

    Examples
    --------
    >>> from kith.neighbors import BallTree
    >>> BallTree([[0.0], [1.0], [3.0]], metric="manhattan").query([[2.5]], return_distance=False)
    array([[2]])
    """

    _original = originals.BallTree
    valid_metrics = originals.BallTree.valid_metrics
