"""Parameters of estimators as the library's: metric, engine, threads, types of numbers."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.neighbors import VALID_METRICS
from sklearn.utils._param_validation import StrOptions

from .._kith import metric_names
from .._types import Engine

# Of our parameters, for scikit-learn's check of parameters.
CONSTRAINTS: dict[str, list[Any]] = {
    "engine": [StrOptions({"auto", "brute", "kdtree", "covertree"})],
    "device": [str],
}
TIES = [StrOptions({"nearest", "lowest", "highest"})]

# Those of the library's metrics that scikit-learn has, by all their names there; its Bray-Curtis is
# another one where numbers are negative.
_METRICS = {
    name: pattern
    for pattern, aliases in metric_names()
    for name in (pattern, *aliases)
    if name != "braycurtis" and any(name in names for names in VALID_METRICS.values())
}
_ENGINES: dict[str, Engine] = {"auto": "auto", "ball_tree": "auto", "brute": "brute", "kd_tree": "kdtree"}


def library_metric(metric: Any, p: Any, metric_params: dict[str, Any] | None) -> str | None:
    """The library's name of a metric of scikit-learn; None if it does not have it."""
    if not isinstance(metric, str):
        return None
    parameters = dict(metric_params or {})
    needed = {"seuclidean": {"V"}, "mahalanobis": {"VI"}}.get(metric, set())
    if metric != "minkowski":
        return _METRICS.get(metric) if set(parameters) == needed else None
    p = parameters.pop("p", p)
    if set(parameters) - {"w"}:
        return None
    exponent = float(p) if isinstance(p, Real) else math.nan
    if not exponent >= 1:
        return None
    return {1.0: "l1", 2.0: "l2", math.inf: "linf"}.get(exponent) or f"lp:{exponent!r}"


def library_params(metric_params: dict[str, Any] | None) -> Any:
    """The parameters of a metric without the exponent; None if there are no others."""
    others = [value for name, value in (metric_params or {}).items() if name != "p"]
    return others[0] if others else None


def engine_for(engine: Engine, algorithm: str) -> Engine:
    """The engine, by its own name or by that of scikit-learn's algorithm."""
    return _ENGINES[algorithm] if engine == "auto" else engine


def threads_for(n_jobs: int | None) -> int:
    """The library's number of threads: None is 1, or what a context of joblib says."""
    return effective_n_jobs(n_jobs)


def searchable(X: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """Rows of float32 or float64: the type of the index, or else what holds the numbers."""
    if dtype is None:
        dtype = X.dtype if X.dtype == np.float32 else np.dtype(np.float64)
    with np.errstate(over="ignore"):
        return X.astype(dtype, copy=False)


def is_refused(metric: str, X: np.ndarray) -> bool:
    """Whether kith does not search these rows where scikit-learn does."""
    if metric == "haversine":
        return X.shape[1] != 2 or not np.all(np.abs(X) <= [np.pi / 2, 2 * np.pi])
    return metric == "cosine" and has_undirected(X)


def has_undirected(X: np.ndarray) -> bool:
    """Whether a row is zero, or so short or long that its length cannot be told."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    return not np.all(np.isfinite(squares) & (squares >= np.finfo(X.dtype).tiny))
