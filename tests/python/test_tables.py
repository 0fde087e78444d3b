"""Tables of pandas, polars and Arrow: columns by name, missing values, notes on what was converted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kith

NUMBERS = np.arange(24.0).reshape(8, 3) % 7


def pandas_table(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_table(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


def arrow_batch(columns):
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


TABLES = pytest.mark.parametrize("make", [pandas_table, polars_table, arrow_table, arrow_batch])


def xyz(dtype=np.float64, names=("x", "y", "z")):
    return {name: np.ascontiguousarray(NUMBERS[:, i], dtype) for i, name in enumerate(names)}


@TABLES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_is_searched_as_its_numbers(make, dtype):
    table = make(xyz(dtype))
    index = kith.Index(table)
    assert index.dtype == dtype
    assert index.columns == ["x", "y", "z"]
    wanted = kith.Index(NUMBERS.astype(dtype)).knn(k=3)
    for found in (index.knn(k=3), index.knn(table, k=3)):
        assert isinstance(found[0], np.ndarray)
        np.testing.assert_array_equal(found[0], wanted[0])
        np.testing.assert_array_equal(found[1], wanted[1])


@TABLES
def test_columns_are_taken_by_name(make):
    columns = {**xyz(), "city": ["a"] * 8}
    index = kith.Index(make(columns), columns=["z", "x"])
    assert index.columns == ["z", "x"]
    np.testing.assert_array_equal(index.points, NUMBERS[:, [2, 0]])
    queries = make({"x": [1.0], "name": ["here"], "z": [2.0]})  # another order, and more columns
    np.testing.assert_array_equal(index.knn(queries, k=2)[0], index.knn([[2.0, 1.0]], k=2)[0])
    np.testing.assert_array_equal(index.count(queries, 2.0), index.count([[2.0, 1.0]], 2.0))
    again = pickle.loads(pickle.dumps(index))
    assert again.columns == ["z", "x"]
    with pytest.raises(ValueError, match="queries has no column 'z'; it has 'x', 'y'"):
        index.knn(make({"x": [1.0], "y": [2.0]}))
    with pytest.raises(ValueError, match="points has no column 'w'"):
        kith.Index(make(columns), columns=["x", "w"])


@TABLES
def test_columns_of_text_are_all_named(make):
    columns = {"id": ["a"] * 8, **xyz(), "kind": ["b"] * 8}
    with pytest.raises(TypeError, match=r"these columns do not: 'id' \(.*\), 'kind' \(.*\); take the"):
        kith.Index(make(columns))


@TABLES
def test_conversions_of_columns_are_noted(make):
    columns = xyz()
    columns["x"] = np.arange(8)
    with pytest.warns(kith.DataConversionNote, match=r"points: converted to float64: x \([Ii]nt64\)"):
        index = kith.Index(make(columns))
    np.testing.assert_array_equal(index.points[:, 0], np.arange(8))
    index = kith.Index(make(xyz(np.float32)))
    with pytest.warns(kith.DataConversionNote, match="queries: rounded to float32, the type of"):
        index.knn(make(xyz()))
    mixed = {**xyz(), "y": xyz(np.float32)["y"]}
    assert kith.Index(make(mixed)).dtype == np.float64  # without a note: nothing is lost


@TABLES
def test_missing_values_are_nan(make):
    columns = {"x": [0.0, 1.0, 2.0], "y": [None, 1.0, 2.0]}
    if make is pandas_table:
        pandas = pytest.importorskip("pandas")
        columns["y"] = pandas.array(columns["y"], dtype="Float64")
    with pytest.raises(ValueError, match="NaN"):
        kith.Index(make(columns))
    index = kith.Index(make(columns), skip_nonfinite=True)
    assert index.skipped == 1


@pytest.mark.filterwarnings("ignore::kith.DataConversionNote")
@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "Float32", "UInt8", "boolean", "int64[pyarrow]", "double[pyarrow]"]
)
def test_pandas_nullable_types(dtype):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    values = [0, 1, 1, 0]
    frame = pandas.DataFrame({"x": pandas.array(values, dtype=dtype), "y": [0.0, 1.0, 2.0, 3.0]})
    index = kith.Index(frame)
    np.testing.assert_array_equal(index.points[:, 0], values)
    assert index.knn(frame["x"].iloc[:2], k=1)[1].shape == (1,)
    frame.loc[2, "x"] = pandas.NA
    assert kith.Index(frame, skip_nonfinite=True).skipped == 1


def test_notes_point_to_the_caller():
    frame = pandas_table({"x": np.arange(3), "y": np.arange(3)})
    with pytest.warns(kith.DataConversionNote) as notes:
        kith.Index(frame)
    assert len(notes) == 1
    assert notes[0].filename == __file__


def test_numbered_columns_have_no_names():
    frame = pytest.importorskip("pandas").DataFrame(NUMBERS)
    index = kith.Index(frame)
    assert index.columns is None
    assert index.knn(pandas_table(xyz()), k=1)[1].ravel().tolist() == list(range(7)) + [0]
    with pytest.raises(TypeError, match="points have no names"):
        kith.Index(frame, columns=["x"])
    with pytest.raises(TypeError, match="points have no names"):
        kith.Index(NUMBERS, columns=["x"])


def test_equal_names_are_refused_where_they_matter():
    frame = pytest.importorskip("pandas").DataFrame(NUMBERS, columns=["x", "y", "x"])
    with pytest.raises(ValueError, match="several columns are called 'x'"):
        kith.Index(frame, columns=["x", "y"])


def test_tables_are_written_with_their_names(tmp_path):
    path = tmp_path / "points.csv"
    kith.write_points(path, pandas_table(xyz(names=("lon", "lat", "height"))))
    assert path.read_text().splitlines()[0] == "lon,lat,height"
    file = kith.read_points(path)
    np.testing.assert_array_equal(file.points, NUMBERS)


def test_parquet_through_arrow(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(arrow_table(xyz()), path)
    index = kith.Index(pyarrow.parquet.read_table(path, columns=["x", "y"]))
    np.testing.assert_array_equal(index.points, NUMBERS[:, :2])


def test_torch_tensors_on_the_cpu_give_torch_answers():
    torch = pytest.importorskip("torch")
    points = torch.tensor(NUMBERS)
    index = kith.Index(points)
    wanted = kith.Index(NUMBERS)
    for found in (index.knn(k=3), index.knn(points, 3), wanted.knn(points, 3)):
        assert all(isinstance(each, torch.Tensor) for each in found)
        assert found[1].dtype == torch.int64
        np.testing.assert_array_equal(found[1].numpy(), wanted.knn(k=3)[1])
    distances, indices = index.knn(points[0], 3)
    assert distances.shape == indices.shape == (3,)
    lists = index.radius(points, 2.0)
    assert isinstance(lists.offsets, torch.Tensor)
    assert isinstance(lists[0][0], torch.Tensor)
    assert isinstance(index.count(points, 2.0), torch.Tensor)
    assert isinstance(index.box(points[:2], points[:2]).indices, torch.Tensor)
    assert isinstance(index.knn(NUMBERS, 3)[0], np.ndarray)
    assert isinstance(index.count(points[0], 2.0), int)
    learnt = points.clone().requires_grad_()
    assert isinstance(index.knn(learnt, 3)[0], torch.Tensor)
    with pytest.warns(kith.DataConversionNote, match="bfloat16 was converted to float32"):
        assert kith.Index(points.to(torch.bfloat16)).dtype == np.float32


@pytest.mark.parametrize("what", ["index", "words", "bits", "vectors", "estimator"])
def test_pickle_protocol_5_is_out_of_band(what):
    if what == "estimator":
        pytest.importorskip("sklearn")
        from kith.neighbors import NearestNeighbors

        held = NearestNeighbors(n_neighbors=2).fit(NUMBERS)
    else:
        held = {
            "index": lambda: kith.Index(NUMBERS),
            "words": lambda: kith.CoverTree(["cat", "dog"], metric="edit"),
            "bits": lambda: kith.CoverTree(np.eye(8, dtype=bool), metric="hamming"),
            "vectors": lambda: kith.CoverTree(NUMBERS),
        }[what]()
    buffers = []
    content = pickle.dumps(held, protocol=5, buffer_callback=buffers.append)
    sizes = [buffer.raw().nbytes for buffer in buffers]
    assert max(sizes) > 64
    assert len(content) < 4000
    for again in (
        pickle.loads(content, buffers=buffers),
        pickle.loads(content, buffers=[bytearray(buffer.raw()) for buffer in buffers]),
        pickle.loads(pickle.dumps(held, protocol=5)),
        pickle.loads(pickle.dumps(held, protocol=2)),
    ):
        if what == "estimator":
            np.testing.assert_array_equal(again.kneighbors(NUMBERS)[1], held.kneighbors(NUMBERS)[1])
        else:
            np.testing.assert_array_equal(again.knn(k=2)[1], held.knn(k=2)[1])


@pytest.mark.parametrize("kind", ["KDTree", "cKDTree"])
@pytest.mark.parametrize("boxsize", [None, 7.5])
def test_trees_of_scipy_as_the_other_tree(kind, boxsize):
    scipy_spatial = pytest.importorskip("scipy.spatial")
    from kith.spatial import KDTree

    ours = KDTree(NUMBERS, boxsize=boxsize)
    theirs = scipy_spatial.KDTree(NUMBERS, boxsize=boxsize)
    other = getattr(scipy_spatial, kind)(NUMBERS[:5] + 0.5)
    same_for_them = getattr(scipy_spatial, kind)(NUMBERS[:5] + 0.5, boxsize=boxsize)
    assert ours.query_ball_tree(other, 2.0) == theirs.query_ball_tree(same_for_them, 2.0)
    assert ours.count_neighbors(other, 2.0) == theirs.count_neighbors(same_for_them, 2.0)
    weights = (np.arange(8.0), np.arange(5.0))
    assert ours.count_neighbors(other, 2.0, weights=weights) == pytest.approx(
        theirs.count_neighbors(same_for_them, 2.0, weights=weights)
    )
    np.testing.assert_allclose(
        ours.sparse_distance_matrix(other, 2.0).toarray(),
        theirs.sparse_distance_matrix(same_for_them, 2.0).toarray(),
    )
    with pytest.raises(TypeError, match="incorrect type"):
        ours.count_neighbors("tree", 1.0)
