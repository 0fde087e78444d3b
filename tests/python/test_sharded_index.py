"""ShardedIndex and StoredShards: the bytes of one index."""

from __future__ import annotations

import numpy as np
import pytest

import kith


def same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and one.shape == other.shape


def parts(lists):
    return lists.distances, lists.indices, lists.offsets


def check_queries(index, expected, queries, rng):
    allowed = rng.random(len(expected)) < 0.5
    below = rng.integers(0, len(expected) + 3, len(queries))
    radii = 0.2 * rng.random(len(queries))
    for options in (
        {}, {"squared": True}, {"max_distance": 0.1}, {"allowed": allowed}, {"index_below": below},
    ):
        same(index.knn(queries, 5, **options), expected.knn(queries, 5, **options))
    for radius in (0.15, radii):
        same(parts(index.radius(queries, radius)), parts(expected.radius(queries, radius)))
        same(
            parts(index.radius(queries, radius, max_neighbors=2, allowed=allowed)),
            parts(expected.radius(queries, radius, max_neighbors=2, allowed=allowed)),
        )
        np.testing.assert_array_equal(
            index.count(queries, radius), expected.count(queries, radius)
        )
    cube = queries[:12].reshape(3, 4, -1)
    same(index.knn(cube, 2), expected.knn(cube, 2))
    np.testing.assert_array_equal(index.count(cube, 0.1), expected.count(cube, 0.1))


@pytest.mark.parametrize("devices", ["cpu", ["cpu", "cpu"], ["cpu"] * 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shards_in_memory(devices, dtype, rng):
    points = np.round(rng.random((900, 3)) * 20).astype(dtype) / 20
    queries = rng.random((60, 3)).astype(dtype)
    index, expected = kith.ShardedIndex(points, devices), kith.Index(points)
    assert (len(index), index.dims, index.dtype) == (900, 3, dtype)
    assert index.devices == ["cpu"] * index.shards
    check_queries(index, expected, queries, rng)
    for options in ({}, {"exclude_self": True}, {"earlier_only": True}):
        same(index.knn(k=4, **options), expected.knn(k=4, **options))
        same(
            parts(index.radius(radius=0.1, **options)), parts(expected.radius(radius=0.1, **options))
        )
        np.testing.assert_array_equal(
            index.count(radius=0.1, **options), expected.count(radius=0.1, **options)
        )


def test_shards_on_the_disk(tmp_path, rng):
    points = rng.random((4000, 3)).astype(np.float32)
    queries = rng.random((60, 3)).astype(np.float32)
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for file, rows in zip(files, (points[:1500], points[1500:]), strict=True):
        np.save(file, rows)
    built = kith.StoredShards.build(files, tmp_path / "shards", shards=6)
    opened = kith.StoredShards(tmp_path / "shards", memory="200MB")
    expected = kith.Index(points)
    for index in (built, opened):
        assert (len(index), index.shards, index.dims, index.skipped) == (4000, 6, 3, 0)
        assert index.file_bytes > points.nbytes
        check_queries(index, expected, queries, rng)
        with pytest.raises(ValueError, match="queries are missing"):
            index.knn(k=2)
    with pytest.warns(UserWarning, match="nothing is left to do"):
        kith.StoredShards.build(files, tmp_path / "shards", shards=6)
    assert repr(opened).startswith("kith.StoredShards(")


def test_options_of_a_build(cloud):
    cloud[7] = np.nan
    index = kith.ShardedIndex(cloud, ["cpu"], shards=3, skip_nonfinite=True, metric="l1")
    expected = kith.Index(cloud, skip_nonfinite=True, metric="l1")
    assert index.skipped == 1 and index.metric == "l1" and index.shards == 3
    same(index.knn(cloud[:5], 3, skip_nonfinite=True), expected.knn(cloud[:5], 3, skip_nonfinite=True))
    cloud[7] = 0.5
    index = kith.ShardedIndex(cloud, ["cpu"], shards=3, metric="seuclidean", period=None)
    same(index.knn(cloud[:5], 3), kith.Index(cloud, metric="seuclidean").knn(cloud[:5], 3))
    index = kith.ShardedIndex(cloud, ["cpu"], shards=2, period=2.0)
    same(index.knn(cloud[:5], 3), kith.Index(cloud, period=2.0).knn(cloud[:5], 3))
    assert "2 shards" in index.explain() and "on cpu" in repr(index)
    assert index.memory_bytes > 0


def test_progress_and_stops(cloud):
    stages = []
    index = kith.ShardedIndex(
        cloud, ["cpu"], shards=4, progress=lambda stage, done, total: stages.append(stage)
    )
    assert "building shards" in stages

    def stop(stage, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kith.ShardedIndex(cloud, ["cpu"], shards=4, progress=stop)
    assert len(index) == len(cloud)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"shards": 5000}, ValueError, "shards"),
        ({"devices": ["tpu"]}, ValueError, "tpu"),
        ({"devices": [3]}, TypeError, "a device"),
        ({"metric": "nearest"}, ValueError, "nearest"),
        ({"engine": "fast"}, ValueError, "fast"),
    ],
)
def test_what_makes_no_sense_is_refused(cloud, arguments, kind, words):
    with pytest.raises(kind, match=words):
        kith.ShardedIndex(cloud, **arguments)


def test_folders_that_are_none(tmp_path, cloud):
    with pytest.raises(FileNotFoundError):
        kith.StoredShards(tmp_path / "nothing")
    np.save(tmp_path / "points.npy", cloud)
    with pytest.raises(FileNotFoundError):
        kith.StoredShards.build(tmp_path / "other.npy", tmp_path / "shards")
    with pytest.raises(MemoryError, match="memory"):
        kith.StoredShards.build(tmp_path / "points.npy", tmp_path / "shards", memory="10MB", shards=1)
    with pytest.raises(ValueError, match="memory"):
        kith.StoredShards(tmp_path, memory="much")
    index = kith.ShardedIndex(cloud, ["cpu"])
    with pytest.raises(TypeError, match="a radius is missing"):
        index.count(cloud[:2])
    with pytest.raises(ValueError, match="coordinates"):
        index.knn(cloud[:, :2])
