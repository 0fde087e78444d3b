"""kith.neighbors: scikit-learn's own checks of estimators."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from kith.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
    SequentialKNeighborsClassifier,
)

ESTIMATORS = [
    NearestNeighbors(),
    KNeighborsClassifier(),
    KNeighborsClassifier(weights="distance", algorithm="kd_tree"),
    KNeighborsRegressor(),
    RadiusNeighborsClassifier(),
    RadiusNeighborsRegressor(),
    KNeighborsTransformer(),
    RadiusNeighborsTransformer(radius=50.0),
    LocalOutlierFactor(),
    LocalOutlierFactor(novelty=True),
    SequentialKNeighborsClassifier(),
]


def not_promised(estimator):
    """Checks that an estimator fails because of what it is for."""
    if isinstance(estimator, SequentialKNeighborsClassifier):
        why = "a query is a point for those after it: order and company matter"
        return {
            "check_methods_sample_order_invariance": why,
            "check_methods_subset_invariance": why,
        }
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_promised)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
