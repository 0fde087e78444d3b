"""Arguments of kith.spatial's trees: corner cases, and the errors of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial

import kith.spatial


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_a_bound_is_strict_and_a_ball_is_not(p):
    tree = kith.spatial.KDTree([[0.0, 0.0], [2.0, 0.0]])
    assert tree.query([0, 0], 2, p=p, distance_upper_bound=2)[1].tolist() == [0, 2]
    assert tree.query([0, 0], 2, p=p, distance_upper_bound=2.000001)[1].tolist() == [0, 1]
    assert tree.query_ball_point([0, 0], 2, p=p) == [0, 1]
    for nothing in (0, -1, np.nan):
        assert tree.query([0, 0], distance_upper_bound=nothing, p=p) == (np.inf, 2)


def test_nothing_lies_within_a_negative_radius():
    tree = kith.spatial.KDTree([[0.0], [1.0]])
    assert tree.query_ball_point([0.0], -2) == []
    assert tree.query_ball_point([[0.0], [0.0]], [-1, 2]).tolist() == [[], [0, 1]]
    assert tree.query_ball_point([[0.0], [0.0]], [np.nan, 2], return_length=True).tolist() == [0, 2]
    assert tree.query_ball_point([[0.0], [0.0]], -1, return_length=True).tolist() == [0, 0]
    assert tree.query_ball_tree(tree, -1) == [[], []]
    assert tree.query_pairs(-2) == set()
    assert tree.count_neighbors(tree, [-1, np.nan, 2]).tolist() == [0, 0, 4]
    assert tree.sparse_distance_matrix(tree, -1, output_type="dict") == {}


def test_an_empty_tree():
    tree = kith.spatial.KDTree(np.empty((0, 3)))
    assert tree.query([1, 2, 3]) == (np.inf, 0)
    assert tree.query([[1, 2, 3]], 2)[1].tolist() == [[0, 0]]
    assert tree.query_ball_point([[1, 2, 3]], 5).tolist() == [[]]
    assert tree.query_pairs(1) == set() and tree.query_ball_tree(tree, 1) == []
    assert (tree.size, tree.n, tree.tree.children, tree.maxes.tolist()) == (1, 0, 0, [0, 0, 0])


D = np.arange(10.0).reshape(5, 2)
SAME_ERRORS = {
    "shape of data": lambda m: m.KDTree(np.arange(3.0)),
    "no data": lambda m: m.KDTree([]),
    "nan": lambda m: m.KDTree([[np.nan, 1]]),
    "complex": lambda m: m.KDTree([[1j]]),
    "leafsize": lambda m: m.KDTree(D, leafsize=0),
    "leafsize of text": lambda m: m.KDTree(D, "a"),
    "small box": lambda m: m.KDTree(D, boxsize=5),
    "negative in box": lambda m: m.KDTree(D - 1, boxsize=20),
    "shape of box": lambda m: m.KDTree(D, boxsize=[20, 0, 1]),
    "text": lambda m: m.KDTree([["a"]]),
    "shape of x": lambda m: m.KDTree(D).query([0, 0, 0]),
    "scalar x": lambda m: m.KDTree(D).query(3),
    "nan in x": lambda m: m.KDTree(D).query([0, np.nan]),
    "complex x": lambda m: m.KDTree(D).query([0, 1j]),
    "complex ball": lambda m: m.KDTree(D).query_ball_point([0, 1j], 1),
    "k none": lambda m: m.KDTree(D).query([0, 0], None),
    "p": lambda m: m.KDTree(D).query([0, 0], p=0.5),
    "workers": lambda m: m.KDTree(D).query([0, 0], workers=0),
    "workers -2": lambda m: m.KDTree(D).query_ball_point([0, 0], 1, workers=-2),
    "workers 1.5": lambda m: m.KDTree(D).query([0, 0], workers=1.5),
    "eps of two": lambda m: m.KDTree(D).query([0, 0], eps=[0, 1]),
    "no radius": lambda m: m.KDTree(D).query_pairs(None),
    "complex p": lambda m: m.KDTree(D).query([0, 0], p=2j),
    "eps of text": lambda m: m.KDTree(D).query([0, 0], eps="a"),
    "shape of r": lambda m: m.KDTree(D).query_ball_point([[0, 0], [1, 1]], [0, 9, 1]),
    "nan in ball": lambda m: m.KDTree(D).query_ball_point([0, np.inf], 1),
    "large p": lambda m: m.KDTree(D).query_ball_point([0, 0], 1, p=3000),
    "pairs": lambda m: m.KDTree(D).query_pairs(1, output_type="list"),
    "dims of ball tree": lambda m: m.KDTree(D).query_ball_tree(m.KDTree([[1]]), 1),
    "dims of counts": lambda m: m.KDTree(D).count_neighbors(m.KDTree([[1]]), 1),
    "dims of matrix": lambda m: m.KDTree(D).sparse_distance_matrix(m.KDTree([[1]]), 1),
    "kind of matrix": lambda m: m.KDTree(D).sparse_distance_matrix(m.KDTree(D), 1, output_type="x"),
    "shape of radii": lambda m: m.KDTree(D).count_neighbors(m.KDTree(D), [[1]]),
    "falling radii": lambda m: m.KDTree(D).count_neighbors(m.KDTree(D), [2, 1], cumulative=False),
    "weights of two": lambda m: m.KDTree(D).count_neighbors(m.KDTree(D), 1, weights=np.ones(5)),
    "few weights": lambda m: m.KDTree(D).count_neighbors(
        m.KDTree(D), 1, weights=(np.ones(4), None)
    ),
    "flat weights": lambda m: m.KDTree(D).count_neighbors(
        m.KDTree(D), 1, weights=(np.ones((5, 1)), None)
    ),
}


@pytest.mark.parametrize("name", SAME_ERRORS)
def test_errors_are_those_of_scipy(name):
    with pytest.raises(Exception) as theirs:
        SAME_ERRORS[name](scipy.spatial)
    with pytest.raises(type(theirs.value)) as mine:
        SAME_ERRORS[name](kith.spatial)
    assert type(mine.value) is type(theirs.value)
    words = str(theirs.value).replace("there aren points", "there are n points")  # SciPy before 1.14
    assert str(mine.value) == words


@pytest.mark.parametrize("k", [0, -1, [], [0], [-1, 2], [[1, 2]]])
def test_ranks_below_one_are_refused(k):
    with pytest.raises(ValueError, match="k must be an integer"):
        kith.spatial.KDTree(D).query([0, 0], k)


@pytest.mark.parametrize("other", [None, D])
def test_other_must_be_a_tree(other):
    tree = kith.spatial.KDTree(D)
    given = "NoneType" if other is None else f"{type(other).__module__}.{type(other).__name__}"
    for method in (tree.query_ball_tree, tree.count_neighbors, tree.sparse_distance_matrix):
        with pytest.raises(TypeError, match=f"'other' has incorrect type .*got {given}"):
            method(other, 1)


@pytest.mark.parametrize("arguments", [{"p": 0.5}, {"p": np.nan}, {"eps": -1}, {"eps": np.nan}])
def test_bad_norms_and_eps_are_refused_everywhere(arguments):
    tree = kith.spatial.KDTree(D)
    for search in (
        lambda: tree.query([0, 0], **arguments),
        lambda: tree.query_ball_point([0, 0], 1, **arguments),
        lambda: tree.query_ball_tree(tree, 1, **arguments),
        lambda: tree.query_pairs(1, **arguments),
    ):
        with pytest.raises(ValueError):
            search()


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
@pytest.mark.parametrize("boxsize", [None, 20])
def test_eps_may_be_infinite(p, boxsize):
    tree = kith.spatial.KDTree(D, boxsize=boxsize)
    for k in (1, 2):
        distances, numbers = tree.query([[0, 0], [9, 9]], k, p=p, eps=np.inf)
        exact = tree.query([[0, 0], [9, 9]], k, p=p)[0]
        assert (distances >= exact).all() and (numbers < 5).all()
    assert tree.query_ball_point([0, 1], 0, p=p, eps=np.inf) == [0]
    assert tree.query_pairs(0, p=p, eps=np.inf) == set()
