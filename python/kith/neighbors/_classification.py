"""Classifiers: labels by the votes of neighbours, by scikit-learn's rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.neighbors._base import _get_weights
from sklearn.utils.validation import check_is_fitted

from .. import _kith
from . import _originals as originals
from ._list_weights import inverse_distances, owners_of
from ._parameters import TIES, threads_for
from ._search import KNeighborsSearch, RadiusNeighborsSearch

_NO_WEIGHT = (
    "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this "
    "case if you are using a user-defined function."
)


def _outputs(model: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each output the numbers of the points' classes, and the classes."""
    if not model.outputs_2d_:
        return [(model._y, model.classes_)]
    return [(model._y[:, output], classes) for output, classes in enumerate(model.classes_)]


def _votes(
    owners: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, shape: tuple[int, int]
) -> np.ndarray:
    """The weight of each class for each query; neighbour i votes for `owners[i]`."""
    votes = np.bincount(owners * shape[1] + codes, weights, minlength=shape[0] * shape[1])
    return votes.reshape(shape).astype(np.float64, copy=False)


class KNeighborsClassifier(KNeighborsSearch, originals.KNeighborsClassifier):
    """Labels by the vote of the k nearest points.

    The class with the most weight wins; of several the smallest, as in scikit-learn, unless `ties`
    says otherwise. (`SequentialKNeighborsClassifier` and the command prefer "nearest" by default.)

    Parameters
    ----------
    n_neighbors, weights, p, metric_params, n_jobs
        As in scikit-learn.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Which engine searches, by its name in scikit-learn. The answer does not depend on it.
    leaf_size : int, default=30
        Accepted and not used: kith takes a good size itself.
    metric : str or callable, default="minkowski"
        kith searches by "minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1",
        "chebyshev", "infinity" and "cosine"; all others are left to scikit-learn's own code.
    engine : {"auto", "brute", "kdtree", "covertree"}, default="auto"
        Which engine of kith searches; "auto" does what `algorithm` says.
    device : {"auto", "cpu", "cuda", "cuda:N"}, default="auto"
        Where to search.
    ties : {"lowest", "highest", "nearest"}, default="lowest"
        Which of several classes with the same weight wins: the first or last one of `classes_`, or
        the one whose member comes first in the list of neighbours.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of such arrays
        The labels.
    index_ : kith.Index or None
        What is searched; None if scikit-learn's own code searches.
    effective_metric_, effective_metric_params_, n_features_in_, feature_names_in_, \
n_samples_fit_, outputs_2d_
        As in scikit-learn.

    Examples
    --------
    >>> from kith.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.1]])
    array([0])
    >>> model.predict_proba([[0.9]]).round(2)
    array([[0.67, 0.33]])
    """

    _parameter_constraints = {
        **originals.KNeighborsClassifier._parameter_constraints,
        "ties": TIES,
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", algorithm="auto", leaf_size=30, p=2,
        metric="minkowski", metric_params=None, n_jobs=None, engine="auto", device="auto",
        ties="lowest",
    ):
        self._keep(locals())

    def predict(self, X: Any) -> np.ndarray:
        """The label of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            None takes the fitted points; then a point has no vote on its own label.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        check_is_fitted(self)
        if self.index_ is None and self.ties == "lowest":
            return super().predict(X)
        distances, neighbors = self.kneighbors(X)
        weights = _get_weights(distances, self.weights)
        if weights is not None:
            if np.any(np.all(weights == 0, axis=1)):
                raise ValueError(_NO_WEIGHT)
            weights = np.require(weights, np.float64, ["C", "A"])
        outputs = _outputs(self)
        labels = np.empty((len(neighbors), len(outputs)), dtype=outputs[0][1].dtype)
        for output, (codes, classes) in enumerate(outputs):
            winners = _kith.winning_classes(
                np.require(codes, np.int64, ["C", "A"]),
                len(classes),
                np.require(neighbors, np.int64, ["C", "A"]),
                weights,
                ties=self.ties,
                threads=threads_for(self.n_jobs),
            )
            labels[:, output] = classes.take(winners)
        return labels if self.outputs_2d_ else labels.ravel()

    def predict_proba(self, X: Any) -> Any:
        """The share of the weight that each class has among the neighbours of a query.

        Parameters
        ----------
        X
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_queries, n_classes), or a list of such arrays
        """
        check_is_fitted(self)
        if self.index_ is None:
            return super().predict_proba(X)
        distances, neighbors = self.kneighbors(X)
        weights = _get_weights(distances, self.weights)
        if weights is not None:
            weights = np.ravel(weights)
        count, k = neighbors.shape
        owners = np.repeat(np.arange(count), k)
        shares = []
        for codes, classes in _outputs(self):
            share = _votes(owners, codes[neighbors.ravel()], weights, (count, classes.size))
            total = share.sum(axis=1, keepdims=True)
            if np.any(total == 0):
                raise ValueError(_NO_WEIGHT)
            shares.append(share / total)
        return shares if self.outputs_2d_ else shares[0]


class RadiusNeighborsClassifier(RadiusNeighborsSearch, originals.RadiusNeighborsClassifier):
    """Labels by the vote of all points within a radius.

    The class with the most weight wins; of several the smallest, as in scikit-learn.

    Parameters
    ----------
    radius : float, default=1.0
        Points at exactly this distance vote too.
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs, engine, device
        As in `KNeighborsClassifier`; so are the attributes.
    outlier_label : label, list of labels, "most_frequent" or None
        The label of queries without neighbours; None raises ValueError if there are any.

    Attributes
    ----------
    outlier_label_
        As in scikit-learn.

    Examples
    --------
    >>> from kith.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0])
    """

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2,
        metric="minkowski", outlier_label=None, metric_params=None, n_jobs=None,
        engine="auto", device="auto",
    ):
        self._keep(locals())

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.index_ is None or callable(self.weights):
            return super().predict_proba(X)
        lists = self._lists_within(X)
        outliers = np.flatnonzero(lists.counts == 0)
        if self.outlier_label_ is None and outliers.size > 0:
            raise ValueError(
                f"No neighbors found for test samples {outliers!r}, "
                "you can try using larger radius, "
                "giving a label for outliers, "
                "or considering removing them from your dataset."
            )
        owners = owners_of(lists)
        weights = inverse_distances(lists, owners) if self.weights == "distance" else None
        shares = []
        for output, (codes, classes) in enumerate(_outputs(self)):
            share = _votes(owners, codes[lists.indices], weights, (len(lists), classes.size))
            if outliers.size > 0:
                self._label_outliers(share, outliers, classes, self.outlier_label_[output])
            total = share.sum(axis=1, keepdims=True)
            total[total == 0.0] = 1.0
            shares.append(share / total)
        return shares if self.outputs_2d_ else shares[0]

    predict_proba.__doc__ = KNeighborsClassifier.predict_proba.__doc__

    @staticmethod
    def _label_outliers(
        share: np.ndarray, outliers: np.ndarray, classes: np.ndarray, label: Any
    ) -> None:
        code = np.flatnonzero(classes == label)
        if code.size == 1:
            share[outliers, code[0]] = 1.0
        else:
            warnings.warn(
                f"Outlier label {label} is not in training classes. "
                "All class probabilities of outliers will be assigned with 0.",
                stacklevel=3,
            )
