"""Arrays of every layout and type that may come in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kith
from kith import _arrays


def layouts(points):
    """The same numbers in memory laid out in every way."""
    wide = np.full((len(points) * 2, points.shape[1] + 3), np.nan, points.dtype)
    wide[::2, 1 : 1 + points.shape[1]] = points
    backwards = points[::-1].copy()
    raw = np.empty(points.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(points.dtype).reshape(points.shape)
    unaligned[...] = points
    locked = points.copy()
    locked.flags.writeable = False
    return {
        "plain": points,
        "gaps between rows": wide[::2, 1 : 1 + points.shape[1]],
        "Fortran": np.asfortranarray(points),
        "backwards": backwards[::-1],
        "columns apart": np.repeat(points, 2, axis=1)[:, ::2],
        "unaligned": unaligned,
        "read-only": locked,
        "big-endian": points.astype(points.dtype.newbyteorder(">")),
        "list": points.tolist(),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", list(layouts(np.zeros((2, 2)))))
def test_every_layout_gives_the_same_answer(rng, dtype, name):
    points = rng.integers(-9, 9, (60, 3)).astype(dtype) / 2
    wanted = kith.Index(points).knn(points, 4)
    array = layouts(points)[name]
    index = kith.Index(array)
    np.testing.assert_array_equal(index.knn(points.astype(index.dtype), 4)[1], wanted[1])
    np.testing.assert_array_equal(kith.Index(points).knn(array, 4)[1], wanted[1])
    np.testing.assert_array_equal(
        kith.Index(points).radius(array, 1.0).counts, kith.Index(points).count(None, 1.0)
    )
    first = array[0]
    np.testing.assert_array_equal(kith.Index(points).knn(first, 4)[1], wanted[1][0])


def test_rows_with_gaps_are_not_copied(rng):
    wide = rng.random((100, 8))
    rows = wide[::2, 2:5]
    assert np.shares_memory(_arrays.as_rows(rows), rows)
    assert not np.shares_memory(_arrays.as_rows(wide[:, ::2]), wide)
    broadcast = np.broadcast_to(wide[0], (5, 8))
    assert kith.Index(broadcast).knn(wide[0], 5)[1].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (np.float16, np.float32),
        (np.int8, np.float32),
        (np.uint16, np.float32),
        (np.bool_, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
        (np.uint64, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_other_numbers_are_converted_with_a_note(dtype, wanted):
    points = np.array([[0, 1], [1, 1], [0, 0]]).astype(dtype)
    if np.dtype(dtype) == np.float64:  # where long double is the double
        pytest.skip("no longer type here")
    with pytest.warns(kith.DataConversionNote, match="points: .* was converted to float") as notes:
        index = kith.Index(points)
    assert index.dtype == wanted
    assert notes[0].filename == __file__
    np.testing.assert_array_equal(index.points, points.astype(wanted))


def test_the_note_comes_once_per_line():
    points = np.arange(6).reshape(3, 2)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("default")
        for _ in range(3):
            kith.Index(points)
        kith.Index(points)
    assert len(notes) == 2


def test_lists_need_no_note():
    assert kith.Index([[0, 1], [2, 3]]).dtype == np.float64
    assert kith.Index([[0.5, 1]]).knn([0, 1], 1)[0].tolist() == [0.5]


def test_queries_take_the_type_of_the_points(cloud):
    index = kith.Index(cloud.astype(np.float32))
    with pytest.warns(kith.DataConversionNote, match="queries: float64 was rounded to float32"):
        distances, _ = index.knn(cloud, 2)
    assert distances.dtype == np.float32
    with pytest.warns(kith.DataConversionNote, match="rounded"):
        index.knn(cloud[0], 2)
    assert kith.Index(cloud).knn(cloud.astype(np.float32), 2)[0].dtype == np.float64


def test_data_frames_and_subclasses(cloud):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(cloud, columns=["x", "y", "z"])
    wanted = kith.Index(cloud).knn(k=2)[1]
    np.testing.assert_array_equal(kith.Index(frame).knn(frame, 2)[1], wanted)
    matrix = kith.Index(np.asarray(cloud).view(np.recarray))
    np.testing.assert_array_equal(matrix.knn(k=2)[1], wanted)
    np.testing.assert_array_equal(kith.Index(np.ma.array(cloud)).knn(k=2)[1], wanted)


class SharedByDlpack:
    """An array of another library, which knows nothing but DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_by_dlpack(cloud):
    index = kith.Index(SharedByDlpack(cloud))
    np.testing.assert_array_equal(
        index.knn(SharedByDlpack(cloud), 2)[1], kith.Index(cloud).knn(k=2)[1]
    )


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (1, 1)])
def test_empty_and_tiny_arrays(shape):
    points = np.zeros(shape)
    index = kith.Index(points)
    assert len(index) == shape[0] and index.dims == shape[1]
    distances, indices = index.knn(np.zeros((2, shape[1])), 3)
    assert distances.shape == indices.shape == (2, 3)
    assert index.knn(k=2)[0].shape == (shape[0], 2)
    assert len(index.radius(None, 1.0)) == shape[0]
    assert index.points.shape == shape
