"""kith.CoverTree: its files, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kith


def circle_distance(a, b):
    return min(abs(a - b), 24 - abs(a - b))


def test_files(tmp_path):
    tree = kith.CoverTree([{1, 2}, {7}], metric="jaccard")
    tree.save(tmp_path / "sets.kith")
    again = kith.CoverTree.load(tmp_path / "sets.kith")
    assert again.objects == [{1, 2}, {7}] and repr(again).startswith("kith.CoverTree(2 objects")
    with pytest.raises(FileNotFoundError):
        kith.CoverTree.load(tmp_path / "none.kith")
    (tmp_path / "bad.kith").write_bytes(b"no index")
    with pytest.raises(ValueError):
        kith.CoverTree.load(tmp_path / "bad.kith")
    with pytest.raises(TypeError, match="pickle"):
        kith.CoverTree([1], metric=circle_distance).save(tmp_path / "x.kith")
    points = np.random.default_rng(3).random((5000, 3))
    fastest = kith.CoverTree(points, engine="auto")  # a k-d tree
    fastest.save(tmp_path / "points.kith")
    again = kith.CoverTree.load(tmp_path / "points.kith")
    assert again.engine == fastest.engine and again.check() == ""
    assert np.array_equal(again.knn(points[:9])[1], fastest.knn(points[:9])[1])


@pytest.mark.parametrize(
    ("objects", "metric", "error", "message"),
    [
        ("word", "edit", TypeError, "a list of strings"),
        (["a", b"b"], "edit", TypeError, "number 1 must be a str, not bytes"),
        ([b"a", "b"], "edit", TypeError, "number 1 must be bytes, not str"),
        ([[1], [0.5]], "edit", TypeError, "whole numbers"),
        ([[1], {1}], "edit", TypeError, "number 1 is a set, which has no order"),
        ([{1}, {2}], "hamming", TypeError, "number 0 is a set, which has no order"),
        ([{1}, {-1}], "jaccard", ValueError, "number 1 holds -1"),
        ([{2**32}], "jaccard", ValueError, "from 0 to"),
        ([{"a"}], "jaccard", TypeError, "whole numbers"),
        (["ab"], "jaccard", TypeError, "a set of whole numbers, not str"),
        (["a\ud800"], "edit", ValueError, "surrogates"),
        (["ab", "abc"], "hamming", ValueError, "length"),
        (5, "edit", TypeError, "must be a list"),
        (np.eye(3), "hamming", TypeError, "bool or unsigned"),
        (np.zeros((2, 3, 4), bool), "hamming", ValueError, "two dimensions"),
        (np.zeros((2, 0), bool), "hamming", ValueError, "bits"),
        (np.eye(3), "far", ValueError, 'unknown metric "far".*jaccard'),
        (["word"], "l2", TypeError, "edit or hamming for strings"),
        (np.eye(3), 3, TypeError, "a name or a function"),
        ([[0.0], [math.nan]], "l2", ValueError, "row 1"),
    ],
)
def test_what_cannot_be_searched_is_refused(objects, metric, error, message):
    with pytest.raises(error, match=message):
        kith.CoverTree(objects, metric=metric)


def test_what_does_not_go_together_is_refused():
    def metric(a, b):
        return abs(a - b)

    for options in ({"engine": "brute"}, {"device": "cuda"}, {"leaf_size": 3}):
        with pytest.raises(ValueError, match="metric of your own"):
            kith.CoverTree([1], metric=metric, **options)
    with pytest.raises(ValueError, match="rounding"):
        kith.CoverTree([1], metric=metric, rounding=(-1.0, 0.0))
    with pytest.raises(ValueError, match="rounding"):
        kith.CoverTree(["a"], metric="edit", rounding=(0.0, 0.0))
    with pytest.raises(ValueError, match="engine"):
        kith.CoverTree(["a"], metric="edit", engine="kdtree")
    tree = kith.CoverTree([1], metric=metric)
    with pytest.raises(ValueError, match="allowed"):
        tree.knn(1, allowed=[True])
    with pytest.raises(ValueError, match="queries=None"):
        tree.knn(1, exclude_self=True)
    with pytest.raises(ValueError, match="radius"):
        tree.radius(1, -1)
    with pytest.raises(ValueError, match="radius"):
        kith.CoverTree(["a"], metric="edit").radius(["a"], [1, 2])
    with pytest.raises(ValueError, match="8 bits"):
        kith.CoverTree(np.zeros((2, 16), bool), metric="hamming").knn(np.zeros((1, 8), bool))
    with pytest.raises(ValueError, match="eps"):
        tree.knn(1, eps=-1)
    numbers = kith.CoverTree([[1, 2], [3]], metric="edit")
    for queries in ({1}, [{1}]):
        with pytest.raises(TypeError, match="queries: number 0 is a set"):
            numbers.knn(queries, 1)


@pytest.mark.parametrize(
    ("objects", "metric"),
    [
        (["a", "b"], "edit"),
        (np.eye(2) > 0, "hamming"),
        (np.eye(2), "l2"),
        ([1, 2], circle_distance),
    ],
)
def test_arguments_of_a_wrong_type_are_named(objects, metric):
    tree = kith.CoverTree(objects, metric=metric)
    calls = {
        "k": lambda: tree.knn(k="2"),
        "eps": lambda: tree.knn(eps=None),
        "max_distance": lambda: tree.knn(max_distance="1"),
        "radius": lambda: tree.radius(None, "1"),
        "max_neighbors": lambda: tree.radius(None, 1, max_neighbors=None),
    }
    if isinstance(metric, str):
        for name, wrong in {"engine": None, "device": 1, "leaf_size": 1.5, "threads": "1"}.items():
            calls[name] = lambda given={name: wrong}: kith.CoverTree(objects, metric, **given)
    else:
        for wrong in (5, (1,), "ab", (0, "x")):
            with pytest.raises(TypeError, match="rounding must be"):
                kith.CoverTree(objects, metric, rounding=wrong)
        with pytest.raises(TypeError, match="objects must be a list, not NoneType"):
            kith.CoverTree(None, metric)
        with pytest.raises(TypeError, match="index must be a whole number"):
            tree.remove("0")
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"{name} must be"):
            call()
    assert tree.knn(k=True)[1].shape == (2, 1)


def test_read_a_text_column_as_strings_or_shingles(tmp_path):
    table = tmp_path / "firms.csv"
    table.write_text('id,name\n1,Smith Ltd\n2,"Smith, Limited"\n3,Jones\n')
    for column in ("name", 2, "2"):
        assert kith.read_sequences(table, text_column=column).sequences == [
            "Smith Ltd",
            "Smith, Limited",
            "Jones",
        ]
    shingles = kith.read_sequences(table, text_column="name", shingle=3)
    assert shingles.strings[1] == "Smith, Limited"
    assert [len(s) for s in shingles.sequences] == [7, 11, 3]  # "mit" is there twice
    words = kith.read_sequences(table, text_column="name", words=True)
    assert [len(s) for s in words.sequences] == [2, 2, 1]
    distance = kith.CoverTree(words.sequences, metric="jaccard").knn(words.sequences[0], k=1)[0]
    assert distance[0] == 0
    with pytest.raises(ValueError, match="city"):
        kith.read_sequences(table, text_column="city")
    with pytest.raises(ValueError, match="shingle"):
        kith.read_sequences(table, text_column="name", shingle=-1)


def test_read_sequences(tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text("3 1 2\n\n7,7\n")
    file = kith.read_sequences(path, format="sets")
    assert file.sequences == [{1, 2, 3}, set(), {7}] and file.format == "sets" and len(file) == 3
    lines = tmp_path / "lines.txt"
    lines.write_text("naïve\nb\n", encoding="utf-8")
    assert kith.read_sequences(lines).sequences == ["naïve", "b"]
    assert kith.read_sequences(lines, kind="bytes").sequences == ["naïve".encode(), b"b"]
    with pytest.raises(ValueError, match="kind"):
        kith.read_sequences(lines, kind="letters")
    with pytest.raises(FileNotFoundError):
        kith.read_sequences(tmp_path / "none.txt")
    assert "2 sequences" in repr(kith.read_sequences(lines))


def test_a_letter_that_could_be_a_byte_order_mark_is_kept(tmp_path):
    letters = ["b", "\ufeffkith", "\U0001f600", ""]
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(letters) + "\n", encoding="utf-8")
    assert kith.read_sequences(lines).sequences == letters
