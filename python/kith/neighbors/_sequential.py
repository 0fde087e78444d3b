"""A classifier whose labelled queries become points for those after them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _kith
from .._arguments import as_count
from ._parameters import CONSTRAINTS, TIES, library_metric, searchable, threads_for


class SequentialKNeighborsClassifier(ClassifierMixin, BaseEstimator):
    """Labels one query after the other; each, once labelled, is a point for those after it.

    `predict` gives what a loop over the queries gives that labels one by the vote of its k nearest
    points and then adds it to them. The loop is not run: neighbours do not depend on labels, so all
    are found at once. The order of the queries matters. Every call begins with the fitted points.

    The label with the most weight wins, of several the one that `ties` says. Where fewer than
    `n_neighbors` points are there yet, all of them vote.

    Parameters
    ----------
    n_neighbors, n_jobs, device
        As in `KNeighborsClassifier`.
    engine : {"auto", "brute", "kdtree", "covertree"}, default="auto"
        Which engine searches. The answer does not depend on it.
    weights : {"uniform", "distance"}, default="uniform"
        Whether each vote counts the same or by the inverse of the distance.
    ties : {"nearest", "lowest", "highest"}, default="nearest"
        Which of several labels with the same weight wins: the one whose member comes first in the
        list of neighbours, or the first or last one of `classes_`.
    p : float, default=2
        The exponent of "minkowski", at least 1.
    metric : str, default="minkowski"
        "minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "infinity" or
        "cosine".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_, feature_names_in_, n_samples_fit_
        As in scikit-learn.
    depth_ : int
        Of the last `predict`: the longest chain of queries of which each had a vote on the next.
    rounds_ : int
        Of the last `predict`: how many passes over the queries gave the labels.

    Examples
    --------
    The second query is nearest to the first, which was labelled 1 just before:

    >>> from kith.neighbors import SequentialKNeighborsClassifier
    >>> model = SequentialKNeighborsClassifier(n_neighbors=1).fit([[0], [10]], [0, 1])
    >>> model.predict([[6], [4]])
    array([1, 1])
    >>> model.depth_
    2
    >>> model.predict([[4]])
    array([0])
    """

    _parameter_constraints = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"uniform", "distance"})],
        "ties": TIES,
        "p": [Interval(Real, 1, None, closed="both")],
        "metric": [str],
        "n_jobs": [Integral, None],
        **CONSTRAINTS,
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        ties="nearest",
        p=2,
        metric="minkowski",
        n_jobs=None,
        engine="auto",
        device="auto",
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.ties = ties
        self.p = p
        self.metric = metric
        self.n_jobs = n_jobs
        self.engine = engine
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SequentialKNeighborsClassifier:
        """Keep the points and their labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels.
        """
        self._library_metric()  # raises if there is none
        X, y = validate_data(self, X, y, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._codes = codes.astype(np.uint32)
        self._points = searchable(X)
        self.n_samples_fit_ = len(X)
        self._last: dict[str, int] = {}
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the queries, given in this order.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        check_is_fitted(self)
        queries = searchable(validate_data(self, X, reset=False, order="C"), self._points.dtype)
        found = _kith.classify_sequential(
            self._points,
            self._codes,
            len(self.classes_),
            queries,
            k=as_count(self.n_neighbors, "n_neighbors"),
            weights=self.weights,
            ties=self.ties,
            metric=self._library_metric(),
            engine=self.engine,
            device=self.device,
            threads=threads_for(self.n_jobs),
        )
        self._last.update(depth=found["depth"], rounds=found["rounds"])
        return self.classes_[found["codes"]]

    def _library_metric(self) -> str:
        metric = library_metric(self.metric, self.p, None)
        if metric is None:
            raise ValueError(
                f"metric={self.metric!r} is not one that kith has; take minkowski (with p), "
                "euclidean, manhattan, chebyshev or cosine"
            )
        return metric

    @property
    def depth_(self) -> int:
        return self._of_last_run("depth")

    @property
    def rounds_(self) -> int:
        return self._of_last_run("rounds")

    def _of_last_run(self, name: str) -> int:
        if name not in getattr(self, "_last", {}):
            raise AttributeError(f"{name}_ is there after predict")
        return self._last[name]
