"""SequentialKNeighborsClassifier against the loop that it stands for, and the votes below it."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st

import kith
from kith import neighbors


def winner(votes, ties):
    """The label with the most weight of a dict in the order of the list."""
    order = {"nearest": votes, "lowest": sorted(votes), "highest": sorted(votes, reverse=True)}
    return max(order[ties], key=votes.get)  # the first of several


def loop(X, y, queries, k, weights, ties):
    """What SequentialKNeighborsClassifier promises, one query after the other."""
    points, labels = list(X), list(y)
    for query in queries:
        distances = np.sqrt(((np.array(points) - query) ** 2).sum(axis=1))
        nearest = np.argsort(distances, kind="stable")[:k]
        votes: dict = {}
        for j in nearest:
            if weights == "uniform":
                weight = 1.0
            elif distances[nearest[0]] == 0:
                weight = float(distances[j] == 0)
            else:
                weight = distances[nearest[0]] / distances[j]
            votes[labels[j]] = votes.get(labels[j], 0.0) + weight  # in the order of the list
        labels.append(winner(votes, ties))
        points.append(query)
    return labels[len(X) :]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sequential_labels_are_those_of_the_loop(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    n = data.draw(st.integers(1, 15))
    queries = random.integers(0, 6, (data.draw(st.integers(1, 25)), 2)).astype(np.float64)
    X, y = random.integers(0, 6, (n, 2)).astype(np.float64), random.choice([2, 9, 10], n)
    k = data.draw(st.integers(1, n + len(queries) - 1))
    weights = data.draw(st.sampled_from(["uniform", "distance"]))
    ties = data.draw(st.sampled_from(["nearest", "lowest", "highest"]))
    engine = data.draw(st.sampled_from(["auto", "brute", "kdtree", "covertree"]))
    if data.draw(st.booleans(), label="text"):
        y = y.astype(str)
    model = neighbors.SequentialKNeighborsClassifier(k, weights=weights, ties=ties, engine=engine)
    assert model.fit(X, y).predict(queries).tolist() == loop(X, y, queries, k, weights, ties)
    assert 1 <= model.depth_ <= len(queries) and model.rounds_ >= 1


def test_sequential_attributes_and_errors(cloud):
    y = (cloud[:, 0] > 0.5).astype(int)
    model = neighbors.SequentialKNeighborsClassifier(n_neighbors=3)
    assert not hasattr(model, "depth_")
    model.fit(cloud[:50], y[:50])
    assert not hasattr(model, "depth_")
    labels = model.predict(cloud[50:])
    assert model.depth_ > 1 and model.rounds_ >= 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(cloud[50:]), labels)
    for metric in ("l1", "chebyshev", "cosine"):
        model.set_params(metric=metric).fit(cloud[:50], y[:50]).predict(cloud[50:])
    with pytest.raises(ValueError, match="metric='braycurtis'"):
        model.set_params(metric="braycurtis").fit(cloud, y)
    with pytest.raises(ValueError, match="n_neighbors must be from 0"):
        model.set_params(metric="l2", n_neighbors=2**40).fit(cloud, y).predict(cloud)
    with pytest.raises(ValueError, match="k is 900"):
        model.set_params(metric="l2", n_neighbors=900).fit(cloud[:50], y[:50]).predict(cloud[50:60])


def test_low_level_classify_follows_the_rule_of_the_library(cloud):
    codes = (cloud[:, 0] > 0.5).astype(np.uint32)
    found = kith._kith.classify(cloud, codes, 2, cloud[:20], k=4, shares=True)
    _, indices = kith.Index(cloud).knn(cloud[:20], k=4)
    for query, near in enumerate(codes[indices]):
        ones = int(near.sum())
        assert found["shares"][query].tolist() == [1 - ones / 4, ones / 4]
        assert found["codes"][query] == (near[0] if ones == 2 else ones > 2)
    with pytest.raises(ValueError):
        kith._kith.classify(cloud, codes, 1, cloud[:20], k=4)
    with pytest.raises(ValueError, match='"first"; choose nearest, lowest or highest'):
        kith._kith.classify(cloud, codes, 2, cloud[:20], ties="first")


def test_ties_as_in_scikit_learn_or_otherwise(cloud):
    random = np.random.default_rng(3)
    for classes in (2, 40, 300):
        y = random.permutation(np.arange(len(cloud)) % classes) - 9
        names = y.astype(str)  # another order: "-1", "-2", ..., "0", "1", "10"
        codes = np.unique(y, return_inverse=True)[1].astype(np.uint32)
        for k in (1, 2, 4, 16, 33, 60):
            _, indices = kith.Index(cloud).knn(cloud, k=k)
            theirs = sklearn.neighbors.KNeighborsClassifier(k).fit(cloud, y).predict(cloud)
            same = kith._kith.classify(cloud, codes, classes, cloud, k=k, ties="lowest")["codes"] - 9
            np.testing.assert_array_equal(same, theirs)
            for ties in ("nearest", "lowest", "highest"):
                for labels in (y, names):
                    lists = [dict(Counter(row.tolist())) for row in labels[indices]]
                    expected = [winner(votes, ties) for votes in lists]
                    for metric in ("l2", "sqeuclidean"):  # the second one is scikit-learn's own
                        model = neighbors.KNeighborsClassifier(k, ties=ties, metric=metric)
                        assert model.fit(cloud, labels).predict(cloud).tolist() == expected


def test_votes_are_checked():
    codes, lists = np.array([0, 1, 1]), np.array([[0, 1], [1, 2]])
    assert kith._kith.winning_classes(codes, 2, lists, None).tolist() == [0, 1]
    weights = np.array([[1.0, 1.5], [1.0, 1.0]])
    assert kith._kith.winning_classes(codes, 2, lists, weights).tolist() == [1, 1]
    for ties, expected in (("lowest", [0, 1]), ("highest", [1, 1]), ("nearest", [0, 1])):
        found = kith._kith.winning_classes(codes, 2, lists, None, ties=ties)
        assert found.tolist() == expected
    assert kith._kith.winning_classes(codes, 2, lists[:, ::-1].copy(), None, ties="nearest")[0] == 1
    for wrong in (
        (codes, 1, lists, None),
        (codes, 2, lists + 2, None),
        (codes, 2, lists - 1, None),
        (codes, 2, lists, weights[:1]),
        (codes, 2, lists[:, :0], None),
    ):
        with pytest.raises(ValueError):
            kith._kith.winning_classes(*wrong)
