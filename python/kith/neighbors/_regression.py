"""Regressors: values by the mean of neighbours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _originals as originals
from ._list_weights import inverse_distances, owners_of
from ._search import KNeighborsSearch, RadiusNeighborsSearch


class KNeighborsRegressor(KNeighborsSearch, originals.KNeighborsRegressor):
    """Values by the mean of the k nearest points.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours count.
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Examples
    --------
    >>> from kith.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    def __init__(
        self, n_neighbors=5, *, weights="uniform", algorithm="auto", leaf_size=30, p=2,
        metric="minkowski", metric_params=None, n_jobs=None, engine="auto", device="auto",
    ):
        self._keep(locals())


class RadiusNeighborsRegressor(RadiusNeighborsSearch, originals.RadiusNeighborsRegressor):
    """Values by the mean of all points within a radius; NaN, with a warning, where there are none.

    Parameters
    ----------
    radius : float, default=1.0
        Points at exactly this distance count too.
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes, except `classes_` and `outputs_2d_`.

    Examples
    --------
    >>> from kith.neighbors import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2,
        metric="minkowski", metric_params=None, n_jobs=None, engine="auto", device="auto",
    ):
        self._keep(locals())

    def predict(self, X: Any) -> np.ndarray:
        """The value of each query.

        Parameters
        ----------
        X
            As in `KNeighborsClassifier.predict`.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        check_is_fitted(self)
        is_plain = isinstance(self._y, np.ndarray) and self._y.dtype.kind in "fiub"
        if self.index_ is None or callable(self.weights) or not is_plain:
            return super().predict(X)
        lists = self._lists_within(X)
        owners = owners_of(lists)
        known = self._y.reshape(len(self._y), -1)
        if self.weights == "distance":
            weights = inverse_distances(lists, owners)
            total = np.bincount(owners, weights, minlength=len(lists))
        else:
            weights = None
            total = lists.counts
        is_float = weights is None and known.dtype.kind == "f"
        means = np.empty((len(lists), known.shape[1]), known.dtype if is_float else np.float64)
        for output in range(known.shape[1]):
            values = known[lists.indices, output]
            sums = np.bincount(
                owners, values if weights is None else values * weights, minlength=len(lists)
            )
            with np.errstate(invalid="ignore"):
                means[:, output] = sums / total
        if np.any(total == 0):
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                stacklevel=2,
            )
        return means if self._y.ndim > 1 else means.ravel()
