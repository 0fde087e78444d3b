"""What is wrong raises the right exception, which says what to do."""

from __future__ import annotations

import os

import numpy as np
import pytest

import kith


class FakeCudaArray:
    """Says that it lies on a GPU, and nothing more."""

    shape = (3, 2)
    dtype = np.dtype(np.float32)
    __cuda_array_interface__ = {  # noqa: RUF012
        "shape": (3, 2),
        "typestr": "<f4",
        "data": (0xDEAD0000, False),
        "version": 3,
        "stream": 1,
    }


class FakeDlpackArray:
    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise AssertionError("the memory must not be requested")


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        (np.zeros(5), ValueError, r"shape \(n, dims\), not \(5,\).*reshape\(-1, 1\)"),
        (np.zeros((2, 3, 4)), ValueError, r"reshape\(-1, 4\)"),
        (np.float64(3), ValueError, "shape"),
        (np.zeros((4, 0)), ValueError, "without coordinates"),
        (None, TypeError, "array or a list of rows, not NoneType"),
        ({"x": 1}, TypeError, "array or a list of rows, not dict"),
        ([], ValueError, r"numpy\.empty\(\(0, dims\)\)"),
        (np.array([[1, "a"]], object), TypeError, r"not objects.*numpy\.asarray"),
        (np.array([["1", "2"]]), TypeError, "not text"),
        (np.zeros((2, 2), complex), TypeError, "real and imaginary"),
        (np.zeros((2, 2), "M8[s]"), TypeError, "not dates"),
        (np.zeros(3, [("x", "f4"), ("y", "f4")]), TypeError, "records.*structured_to_unstructured"),
        (np.ma.array(np.zeros((2, 2)), mask=[[0, 1], [0, 0]]), TypeError, "masked.*filled"),
        ([[1, 2], [3]], ValueError, "rows of different lengths"),
    ],
)
def test_points_that_cannot_be_searched(points, error, message):
    with pytest.raises(error, match=message):
        kith.Index(points)


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        kith.Index(sparse.eye(3).tocsr())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nonfinite_numbers_are_named(cloud, bad):
    points = cloud.copy()
    points[17, 2] = bad
    with pytest.raises(ValueError, match="row 17, column 2"):
        kith.Index(points)
    index = kith.Index(cloud)
    with pytest.raises(ValueError, match="row 17, column 2"):
        index.knn(points, 2)
    with pytest.raises(ValueError):
        index.knn(points[17], 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda i: i.knn(np.zeros((2, 4)), 1), ValueError, r"shape \(..., 3\).*not \(2, 4\)"),
        (lambda i: i.knn(np.zeros(4), 1), ValueError, r"not \(4,\)"),
        (lambda i: i.knn(5.0, 1), ValueError, "shape"),
        (lambda i: i.knn(k=-1), ValueError, "k must be"),
        (lambda i: i.knn(k=2**32), ValueError, "k must be"),
        (lambda i: i.knn(k=1.5), TypeError, "k must be a whole number"),
        (lambda i: i.knn(k=None), TypeError, "k must be a whole number"),
        (lambda i: i.knn(np.zeros(3), "2"), TypeError, "k must be a whole number"),
        (lambda i: i.knn(k=1, eps=-1), ValueError, "eps"),
        (lambda i: i.knn(k=1, max_distance=np.nan), ValueError, "max_distance"),
        (lambda i: i.knn(k=1, allowed=[1, 2]), TypeError, "bool for each point"),
        (lambda i: i.knn(k=1, allowed=np.ones(3, bool)), ValueError, r"\(500,\)"),
        (lambda i: i.knn(np.zeros((2, 3)), 1, index_below=[1]), ValueError, "index_below"),
        (lambda i: i.knn(np.zeros((1, 3)), 1, index_below=[-1]), ValueError, "negative"),
        (lambda i: i.knn(np.zeros((1, 3)), 1, index_below=[0.5]), TypeError, "whole numbers"),
        (lambda i: i.knn(np.zeros((1, 3)), 1, earlier_only=True), ValueError, "earlier_only"),
        (lambda i: i.radius(None, -1.0), ValueError, "radius"),
        (lambda i: i.radius(None, np.nan), ValueError, "radius"),
        (lambda i: i.radius(np.zeros((2, 3)), [1, 2, 3]), ValueError, "radius has the shape"),
        (lambda i: i.radius(None, "1"), TypeError, "radius must be a number, not str"),
        (lambda i: i.count(None, None), TypeError, "radius must be a number, not NoneType"),
        (lambda i: i.count([[0, 0, 0]], ["1"]), TypeError, "radius must hold numbers"),
        (lambda i: i.box(None, None), TypeError, "lower must be an array of corners"),
        (lambda i: i.box_count([0] * 3, None), TypeError, "upper must be an array of corners"),
        (lambda i: i.knn(k=1, max_distance=np.ones(9)), TypeError, "max_distance must be a number"),
        (lambda i: i.knn(k=1, eps="0.1"), TypeError, "eps must be a number"),
        (lambda i: i.knn(k=1, max_leaves=-1), ValueError, "max_leaves must be from 0"),
        (lambda i: i.knn(k=1, max_leaves=np.ones(9)), TypeError, "max_leaves must be a whole"),
        (lambda i: i.knn(k=1, threads=-1), ValueError, "threads must be at least 0"),
        (lambda i: i.radius(None, 1.0)["a"], TypeError, "give a whole number, not str"),
        (lambda i: i.radius(None, 1.0)[0:2], TypeError, "give a whole number, not slice"),
        (lambda i: i.box([[0] * 3], [[1] * 3])[1.5], TypeError, "give a whole number, not float"),
        (lambda i: i.box([0] * 3, [[1] * 3]), ValueError, "one shape"),
        (lambda i: i.box([0] * 2, [1] * 2), ValueError, "3 coordinates"),
        (lambda i: i.knn(k=1, threads="all"), TypeError, "threads must be"),
    ],
)
def test_wrong_arguments(cloud, call, error, message):
    with pytest.raises(error, match=message):
        call(kith.Index(cloud))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "octree"}, "octree"),
        ({"device": "tpu"}, "tpu"),
        ({"metric": "taxi"}, "taxi"),
        ({"split": "random"}, "random"),
        ({"leaf_size": 5000}, "leaf"),
        ({"engine": "kdtree", "builder": "sort"}, "histogram, presort, select or segsort"),
        ({"engine": "kdtree", "builder": "lists"}, "choose histogram, presort, select or segsort"),
        ({"engine": "covertree", "builder": "select"}, "choose batch or lists"),
        ({"builder": "presort"}, "name the engine, too"),
        ({"period": [1.0]}, "period"),
        ({"metric": "lp:0.5"}, "p"),
    ],
)
def test_wrong_arguments_of_a_build(cloud, arguments, message):
    with pytest.raises(ValueError, match=message):
        kith.Index(cloud, **arguments)


BAD_TYPES = [
    {"engine": None},
    {"device": 0},
    {"metric": b"l2"},
    {"leaf_size": 2.5},
    {"split": 1},
    {"builder": None},
    {"period": "long"},
    {"period": [1, None, 1]},
    {"expected_queries": "many"},
    {"threads": None},
]


@pytest.mark.parametrize("arguments", BAD_TYPES)
def test_arguments_of_a_build_of_a_wrong_type(cloud, arguments):
    (name,) = arguments
    for call in (kith.Index, lambda points, **given: kith.plan(*points.shape, **given)):
        with pytest.raises(TypeError, match=f"{name} must be") as raised:
            call(cloud, **arguments)
        assert "incompatible" not in str(raised.value)


def test_arguments_of_a_build_below_zero(cloud):
    for name in ("leaf_size", "expected_queries", "threads"):
        with pytest.raises(ValueError, match=f"{name} must be"):
            kith.Index(cloud, **{name: -1})
    with pytest.raises(ValueError, match="2 lengths for 3 dimensions"):
        kith.plan(10, 3, period=[1, 1])


def test_numbers_and_bools_of_numpy_are_arguments(cloud):
    index = kith.Index(cloud, leaf_size=np.int64(8), skip_nonfinite=np.True_, threads=np.int32(1))
    found = index.knn(cloud[:2], np.int64(2), max_distance=np.float32(1), exclude_self=np.False_)
    assert found[1].shape == (2, 2)
    words = kith.CoverTree(["a", "b"], metric="edit")
    assert words.knn(k=np.int8(1), exclude_self=np.True_)[1].tolist() == [[1], [0]]
    for kind in "bBhHiIlL":
        bounds = np.array([2, 1], dtype=kind)
        assert index.knn(cloud[:2], 1, index_below=bounds)[1].tolist() == [[0], [0]], kind


def test_advice_is_in_the_words_of_python(cloud):
    if not kith._kith.built_with_cuda():
        with pytest.raises(RuntimeError, match='use device="cpu"'):
            kith.Index(cloud, device="cuda")
        with pytest.raises(RuntimeError, match='use device="cpu"'):
            kith.dedupe(cloud, device="cuda")


@pytest.mark.parametrize("kind", [kith.Index, kith.CoverTree])
def test_what_was_never_built_says_so(kind):
    assert repr(kind.__new__(kind)) == f"kith.{kind.__name__}(not built)"


@pytest.mark.skipif(kith._kith.built_with_cuda(), reason="this build has CUDA")
@pytest.mark.parametrize("array", [FakeCudaArray(), FakeDlpackArray()])
def test_gpu_arrays_without_a_gpu_build(cloud, array):
    index = kith.Index(cloud)
    calls = [
        lambda: kith.Index(array),
        lambda: index.knn(array, 1),
        lambda: index.radius(array, 1.0),
        lambda: index.count(array, 1.0),
        lambda: index.box(array, array),
        lambda: kith.dedupe(array),
        lambda: kith.dedupe(array, tolerance=1, device="cpu"),
        lambda: kith.transform(array, np.eye(4)),
        lambda: kith.downsample(array, voxel=1),
        lambda: kith.outliers(array, neighbors=1),
        lambda: kith.distance(cloud, array),
        lambda: kith.normals(array),
        lambda: kith.register(cloud, array),
        lambda: kith.register_pairs([cloud], [array]),
        lambda: kith.RegistrationTarget(array),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"built without CUDA.*NumPy array"):
            call()


@pytest.mark.parametrize("array", [FakeCudaArray(), FakeDlpackArray()])
def test_gpu_arrays_without_a_gpu(monkeypatch, array):
    monkeypatch.setattr(kith._kith, "built_with_cuda", lambda: True)
    monkeypatch.setattr(kith._kith, "devices", lambda: [("cpu", "cpu", 1, 1)])
    with pytest.raises(RuntimeError, match="kith finds none"):
        kith.Index(array)


@pytest.mark.parametrize("array", [FakeCudaArray(), FakeDlpackArray()])
def test_gpu_arrays_without_a_library_for_answers(monkeypatch, array):
    monkeypatch.setattr(kith._kith, "built_with_cuda", lambda: True)
    monkeypatch.setattr(
        kith._kith, "devices", lambda: [("cpu", "cpu", 1, 1), ("cuda:0", "GPU", 1, 1)]
    )
    monkeypatch.setattr(kith._device_arrays, "_frameworks", {})
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(RuntimeError, match="neither is installed"):
        kith.Index(array)


@pytest.mark.skipif(len(kith.devices()) > 1, reason="there is a GPU")
def test_devices_that_are_missing(cloud):
    with pytest.raises(RuntimeError, match='use device="cpu"'):
        kith.Index(cloud, device="cuda")
    for options in ({}, {"tolerance": 0.1}):
        with pytest.raises(RuntimeError, match='use device="cpu"'):
            kith.dedupe(cloud, device="cuda", **options)
    assert kith.Index(cloud, device="auto").device == "cpu"


def test_too_much_memory(cloud):
    with pytest.raises(MemoryError):
        kith.Index(cloud).knn(np.zeros((100_000, 3)), 2**32 - 1)


def test_files(tmp_path, cloud):
    with pytest.raises(FileNotFoundError):
        kith.Index.load(tmp_path / "missing.kith")
    with pytest.raises(OSError):
        kith.Index(cloud).save(tmp_path / "missing" / "x.kith")
    content = kith.Index(cloud).to_bytes()
    (tmp_path / "cut.kith").write_bytes(content[:-1000])
    with pytest.raises(ValueError):
        kith.Index.load(tmp_path / "cut.kith")
    with pytest.raises(ValueError):
        kith.Index.from_bytes(b"no index")
    with pytest.raises(TypeError):
        kith.Index.load(3)
    for content in (3, "text", None, [1, 2]):
        with pytest.raises(TypeError, match="content must be bytes"):
            kith.Index.from_bytes(content)
    kith.Index(cloud).save(os.fsencode(tmp_path / "bytes.kith"))
    assert len(kith.Index.load(os.fsencode(tmp_path / "bytes.kith"))) == len(cloud)
    kith.CoverTree(["a"], metric="edit").save(os.fsencode(tmp_path / "words.kith"))
    assert kith.Index.load(tmp_path / "words.kith").metric == "edit"
    with pytest.raises(TypeError, match="device must be a str"):
        kith.CoverTree.load(tmp_path / "words.kith", device=None)
    (tmp_path / "bad.csv").write_text("1,2\n3\n")
    with pytest.raises(ValueError, match=r"bad\.csv"):
        kith.read_points(tmp_path / "bad.csv")
    with pytest.raises(FileNotFoundError):
        kith.read_points(tmp_path / "missing.csv")
    with pytest.raises(OSError):
        kith.read_points(tmp_path)
    with pytest.raises(ValueError):
        kith.write_points(tmp_path / "points.unknown", cloud)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda path: kith.read_points(path, format=None), TypeError, "format must be a str"),
        (lambda path: kith.read_points(path, threads=None), TypeError, "threads must be"),
        (lambda path: kith.read_points(path, delimiter=5), TypeError, "delimiter must be a str"),
        (lambda path: kith.write_points(path, np.eye(2), format=1), TypeError, "format must be"),
        (lambda path: kith.read_sequences(path, kind=None), TypeError, "kind must be a str"),
        (lambda path: kith.generate(None), TypeError, "shape must be a str"),
        (lambda path: kith.generate(seed=-1), ValueError, "seed must be from 0"),
        (lambda path: kith.generate(seed=None), TypeError, "seed must be a whole number"),
        (lambda path: kith.generate(seed=2**64), ValueError, "seed must be from 0"),
        (lambda path: kith.generate(threads=-1), ValueError, "threads must be"),
    ],
)
def test_wrong_arguments_of_files(tmp_path, call, error, message):
    path = tmp_path / "points.csv"
    kith.write_points(path, np.eye(2), ascii=np.False_)
    assert len(kith.read_points(path, missing_as_nan=np.True_, header=np.True_).points) == 2
    with pytest.raises(error, match=message):
        call(path)


def test_unknown_attributes():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kith.nonsense  # noqa: B018
