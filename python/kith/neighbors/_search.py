"""What all estimators share: the index that `fit` builds, and the searches in it."""

from __future__ import annotations

import numbers
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors._base import NeighborsBase
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import note
from .._index import Index
from .._lists import NeighborLists
from . import _originals as originals
from ._parameters import (
    CONSTRAINTS,
    engine_for,
    is_refused,
    library_metric,
    library_params,
    searchable,
    threads_for,
)
from ._radius_lists import as_lists, as_objects, emptied, radii_of
from ._trees import SearchTree

# What scikit-learn's estimators are told how they were fitted; none of their own searches knows it.
_METHOD = "kith"


class _FittedPoints(NeighborsBase):
    """Points that are fitted already: scikit-learn's `_fit` then does all but build a tree."""

    def __init__(self, X: np.ndarray) -> None:
        self._fit_X = X
        self._fit_method = _METHOD
        self._tree = None
        self.n_samples_fit_ = X.shape[0]


class SearchedByKith:
    """Goes before a class of scikit-learn's and takes its searches over.

    Where kith cannot search, `index_` is None and scikit-learn's own code runs.
    """

    index_: Index | None
    _parameter_constraints: dict[str, Any]  # of scikit-learn

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if issubclass(cls, NeighborsBase):  # scikit-learn's checks of parameters, and those of ours
            cls._parameter_constraints = {**CONSTRAINTS, **cls._parameter_constraints}

    def _keep(self: Any, parameters: dict[str, Any]) -> None:
        """Stores the parameters of a constructor, its ``locals()``; all but ours by scikit-learn's."""
        for name in {"engine", "device", "ties"} & parameters.keys():
            setattr(self, name, parameters.pop(name))
        del parameters["self"]
        cast(Any, super()).__init__(**parameters)

    def _fit(self: Any, X: Any, y: Any = None) -> Any:
        if isinstance(X, NeighborsBase):
            cast(Any, super())._fit(X, y)
            self.index_ = getattr(X, "index_", None)
            return self
        metric = library_metric(self.metric, self.p, self.metric_params)
        if isinstance(X, SearchTree):
            return self._fit_tree(X, y)
        trees = (originals.KDTree, originals.BallTree)
        params = library_params(self.metric_params)
        has_none = metric is None or (params is not None and self.algorithm == "kd_tree")
        if has_none or issparse(X) or isinstance(X, trees):
            return self._leave_to_sklearn(X, y)
        how = {"accept_sparse": "csr", "order": "C"}
        if get_tags(self).target_tags.required:
            rows, targets = validate_data(self, X, y, multi_output=True, **how)
        else:
            rows, targets = validate_data(self, X, **how), None
        if issparse(rows):  # a data frame of sparse columns
            return self._leave_to_sklearn(X, y)
        points = searchable(rows)
        if is_refused(metric, points):
            return self._leave_to_sklearn(X, y)
        cast(Any, super())._fit(_FittedPoints(rows), targets)
        self.index_ = Index(
            points,
            engine=engine_for(self.engine, self.algorithm),
            device=self.device,
            metric=metric,
            metric_params=params,
            threads=threads_for(self.n_jobs),
        )
        return self

    def _fit_tree(self: Any, tree: SearchTree, y: Any) -> Any:
        if tree.index is None:
            return self._leave_to_sklearn(tree.original, y)
        cast(Any, super())._fit(_FittedPoints(tree.data), y)
        self.index_ = tree.index
        return self

    def _leave_to_sklearn(self: Any, X: Any, y: Any) -> Any:
        cast(Any, super())._fit(X, y)
        self.index_ = None
        return self

    def _queries(self: Any, X: Any) -> np.ndarray:
        rows = validate_data(self, X, accept_sparse="csr", reset=False, order="C")
        if issparse(rows):
            if self.algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f"{self.algorithm} does not work with sparse matrices. Densify the data, or "
                    "set algorithm='brute'"
                )
            note("X: a sparse matrix was made dense, because the fitted points are dense")
            rows = rows.toarray()
        return searchable(rows, self.index_.dtype)

    def _is_for_sklearn(self: Any, queries: np.ndarray | None) -> bool:
        return queries is not None and is_refused(self.index_.metric, queries)

    def _searched_by_sklearn(self: Any) -> Any:
        """Answers for queries that kith refuses."""
        return originals.NearestNeighbors(
            algorithm="brute", metric=self.metric, n_jobs=self.n_jobs
        ).fit(self._fit_X)


class KNeighborsSearch(SearchedByKith):
    """`kneighbors` in the index."""

    def kneighbors(
        self: Any, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest neighbours, by distance, then by number.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), optional
            The queries. None takes the fitted points; then a point is not its own neighbour.
        n_neighbors, return_distance
            As in scikit-learn.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Only if `return_distance`.
        neigh_ind : ndarray of shape (n_queries, n_neighbors)
            The numbers of the fitted points.

        Examples
        --------
        >>> from kith.neighbors import NearestNeighbors
        >>> NearestNeighbors(n_neighbors=1).fit([[0], [1], [3]]).kneighbors()
        (array([[1.],
               [1.],
               [2.]]), array([[1],
               [0],
               [1]]))
        """
        check_is_fitted(self)
        if self.index_ is None:
            return cast(Any, super()).kneighbors(X, n_neighbors, return_distance)
        if n_neighbors is None:
            n_neighbors = self.n_neighbors
        elif n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        elif not isinstance(n_neighbors, numbers.Integral):
            raise TypeError(
                f"n_neighbors does not take {type(n_neighbors)} value, enter integer value"
            )
        queries = None if X is None else self._queries(X)
        fitted = self.n_samples_fit_
        if n_neighbors > fitted - (queries is None):
            raise ValueError(
                f"Expected n_neighbors {'<' if queries is None else '<='} n_samples_fit, but "
                f"n_neighbors = {n_neighbors}, n_samples_fit = {fitted}, "
                f"n_samples = {fitted if queries is None else len(queries)}"
            )
        if self._is_for_sklearn(queries):
            return self._searched_by_sklearn().kneighbors(queries, n_neighbors, return_distance)
        distances, indices = self.index_.knn(
            queries, n_neighbors, exclude_self=queries is None, threads=threads_for(self.n_jobs)
        )
        if not return_distance:
            return indices
        return distances.astype(np.float64, copy=False), indices


class RadiusNeighborsSearch(SearchedByKith):
    """`radius_neighbors` in the index."""

    def _lists_within(self: Any, X: Any, radius: Any = None) -> NeighborLists:
        if radius is None:
            radius = self.radius
        queries = None if X is None else self._queries(X)
        radii, is_none = radii_of(radius)
        if self._is_for_sklearn(queries):
            lists = as_lists(
                self._searched_by_sklearn().radius_neighbors(queries, radii, sort_results=True)
            )
        else:
            lists = self.index_.radius(
                queries, radii, exclude_self=queries is None, threads=threads_for(self.n_jobs)
            )
        if is_none.any():
            lists = emptied(lists, is_none)
        distances = lists.distances.astype(np.float64, copy=False)
        return NeighborLists(distances, lists.indices, lists.offsets)

    def radius_neighbors(
        self: Any,
        X: Any = None,
        radius: Any = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all neighbours within a radius; those at exactly that distance are among them.

        Parameters
        ----------
        X, return_distance
            As in `kneighbors`.
        radius : float or array-like of shape (n_queries,), optional
            By default the radius given to the constructor. Nothing lies within a negative one or
            NaN.
        sort_results : bool, default=False
            The lists are sorted by distance, then by number, in either case.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries,) of arrays
            Only if `return_distance`.
        neigh_ind : ndarray of shape (n_queries,) of arrays
            The numbers of the fitted points.

        Examples
        --------
        >>> from kith.neighbors import NearestNeighbors
        >>> model = NearestNeighbors(radius=1.6).fit([[0, 0], [0, 1], [1, 1]])
        >>> distances, indices = model.radius_neighbors([[1, 1.5]])
        >>> indices[0]
        array([2, 1])
        """
        check_is_fitted(self)
        if self.index_ is None:
            return cast(Any, super()).radius_neighbors(X, radius, return_distance, sort_results)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        lists = self._lists_within(X, radius)
        indices = as_objects(lists.indices, lists.offsets)
        if not return_distance:
            return indices
        return as_objects(lists.distances, lists.offsets), indices
