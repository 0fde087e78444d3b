"""Arrays of CuPy and PyTorch on a real GPU: the bytes of the CPU, on the caller's device and stream."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kith

if len(kith.devices()) < 2:
    pytest.skip("no GPU, or a build without CUDA", allow_module_level=True)


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")
        self.array_type = self.module.ndarray

    def up(self, values):
        return self.module.asarray(values)

    def down(self, values):
        return self.module.asnumpy(values)

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        self.array_type = self.module.Tensor

    def up(self, values):
        return self.module.from_numpy(np.ascontiguousarray(values)).cuda()

    def down(self, values):
        return values.cpu().numpy()

    def stream(self):
        return self.module.cuda.stream(self.module.cuda.Stream())


@pytest.fixture(params=[Cupy, Torch], ids=["cupy", "torch"])
def library(request):
    return request.param()


@pytest.fixture(params=[np.float32, np.float64], ids=["f32", "f64"])
def points(request):
    return np.random.default_rng(3).random((20_000, 3)).astype(request.param)


def same(library, found, wanted):
    assert isinstance(found, library.array_type)
    found = library.down(found)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_searches_equal_the_cpu(library, points):
    host, device = kith.Index(points, device="cpu"), kith.Index(library.up(points))
    assert device.device == "cuda:0" and device.engine == host.engine == "kdtree"
    queries = points[:777] + points.dtype.type(0.001)
    there = library.up(queries)
    for found, wanted in zip(device.knn(there, 8), host.knn(queries, 8), strict=True):
        same(library, found, wanted)
    for found, wanted in zip(device.knn(k=5, exclude_self=True), host.knn(k=5, exclude_self=True)):
        same(library, found, wanted)
    lists, wanted = device.radius(there, 0.05), host.radius(queries, 0.05)
    same(library, lists.indices, wanted.indices)
    same(library, lists.distances, wanted.distances)
    same(library, lists.offsets, wanted.offsets)
    same(library, device.count(there, 0.05), host.count(queries, 0.05))
    lower, upper = queries - 0.02, queries + 0.02
    boxes = device.box(library.up(lower), library.up(upper))
    same(library, boxes.indices, host.box(lower, upper).indices)
    below = np.arange(777)
    same(library, device.knn(there, 3, index_below=below)[1], host.knn(queries, 3, index_below=below)[1])
    np.testing.assert_array_equal(device.knn(queries, 4)[1], host.knn(queries, 4)[1])


@pytest.mark.parametrize("tolerance", [None, 0.02])
def test_duplicates_equal_the_cpu(library, points, tolerance):
    points[5000:9000] = points[:4000]
    points[17, 1] = np.nan
    scores = np.arange(len(points)) % 7.0
    there = library.up(points)
    for options in ({}, {"scores": scores}, {"scores": library.up(scores), "prefer_low": True}):
        wanted_options = {**options, "scores": scores} if options else {}
        wanted = kith.dedupe(points, tolerance=tolerance, skip_nonfinite=True, **wanted_options)
        found = kith.dedupe(there, tolerance=tolerance, skip_nonfinite=True, **options)
        same(library, found.kept, wanted.kept)
        same(library, found.map, wanted.map)
        assert found.skipped == wanted.skipped == 1
    with pytest.raises(ValueError, match="row 17, column 1"):
        kith.dedupe(there, tolerance=tolerance)
    host = kith.dedupe(points, tolerance=tolerance, skip_nonfinite=True, device="cuda")
    np.testing.assert_array_equal(host.map, kith.dedupe(points, tolerance=tolerance, skip_nonfinite=True).map)


@pytest.mark.parametrize("method", ["point", "plane", "gicp"])
def test_registrations_equal_the_cpu(library, points, method):
    turn = np.array([[840, -41, 0], [41, 840, 0], [0, 0, 841]]) / 841
    source = (points[::2].astype(np.float64) @ turn + 0.003).astype(points.dtype)
    wanted = kith.register(source, points, method=method, device="cpu")
    for found in (
        kith.register(library.up(source), library.up(points), method=method),
        kith.register(source, points, method=method, device="cuda"),
        kith.register(library.up(source), points, method=method),
    ):
        np.testing.assert_array_equal(found.transformation, wanted.transformation)
        np.testing.assert_array_equal(found.correspondence_set, wanted.correspondence_set)
        assert found.iterations == wanted.iterations and found.reason == wanted.reason


@pytest.mark.parametrize("method", ["point", "plane", "gicp"])
def test_pairs_equal_the_cpu(library, points, method):
    offsets = [0, 300, 340, 2000, 8000]  # the last two are more than a block holds
    rows = points[:8000] + np.asarray(0.002, points.dtype)
    targets = [points[:700], points[300:1000], points[:3000], points[:7000]]
    sources = [rows[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]
    wanted = kith.register_pairs(sources, targets, method=method, device="cpu")
    there = [library.up(target) for target in targets]
    for found in (
        kith.register_pairs([library.up(source) for source in sources], there, method=method),
        kith.register_pairs(library.up(rows), there, source_offsets=offsets, method=method),
        kith.register_pairs(sources, targets, method=method, device="cuda"),
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one.transformation, other.transformation)
            np.testing.assert_array_equal(one.correspondence_set, other.correspondence_set)
            assert one.iterations == other.iterations and one.reason == other.reason


@pytest.mark.parametrize("options", [{}, {"split": "cycle", "middle": "left", "unique": True}])
@pytest.mark.parametrize("layout", ["nodes", "inorder"])
def test_exported_trees_equal_the_cpu(library, points, layout, options):
    points[5000:9000] = points[:4000]
    points[17, 1] = np.nan
    options = {**options, "layout": layout, "skip_nonfinite": True}
    wanted = kith.export_tree(points, **options)._asdict()
    for name, found in kith.export_tree(library.up(points), **options)._asdict().items():
        if isinstance(wanted[name], np.ndarray):
            same(library, found, wanted[name])
        else:
            assert found == wanted[name]
    for name, found in kith.export_tree(points, device="cuda", **options)._asdict().items():
        np.testing.assert_array_equal(found, wanted[name])
    with pytest.raises(ValueError, match="row 17, column 1"):
        kith.export_tree(library.up(points))


def test_filters_radii_and_approximation_there_equal_the_cpu(library, points):
    host, device = kith.Index(points, device="cpu"), kith.Index(library.up(points))
    queries = points[:777] + points.dtype.type(0.001)
    there = library.up(queries)
    for options in ({"eps": 0.3}, {"max_leaves": 3}, {"max_leaves": 2, "eps": 0.1}, {}):
        for arrays in ((there, queries), (None, None)):
            found = device.knn(arrays[0], 8, return_exact=True, **options)
            wanted = host.knn(arrays[1], 8, return_exact=True, **options)
            for one, other in zip(found, wanted, strict=True):
                same(library, one, other)
    for dtype in (np.float64, np.float32):
        radii = np.linspace(0, 0.06, len(queries)).astype(dtype)
        lists, wanted = device.radius(there, library.up(radii)), host.radius(queries, radii)
        same(library, lists.indices, wanted.indices)
        same(library, lists.distances, wanted.distances)
        same(library, lists.offsets, wanted.offsets)
        same(library, device.count(there, library.up(radii)), host.count(queries, radii))
        same(library, device.count(there, radii), host.count(queries, radii))
    radii = np.linspace(0, 0.06, len(points))
    same(library, device.count(None, library.up(radii)), host.count(None, radii))
    radii[::2] = -1
    radii[1::4] = np.nan
    found = library.down(device.count(None, library.up(radii)))
    assert not found[::2].any() and not found[1::4].any() and found[3::4].any()
    mask = np.random.default_rng(4).random(len(points)) < 0.3
    for flags in (mask, library.up(mask)):
        same(library, device.knn(there, 5, allowed=flags)[1], host.knn(queries, 5, allowed=mask)[1])
        same(library, device.count(there, 0.05, allowed=flags), host.count(queries, 0.05, allowed=mask))
    for dtype in (np.int64, np.int32, np.uint8):
        below = np.random.default_rng(4).integers(0, 250, len(queries)).astype(dtype)
        wanted = host.knn(queries, 3, index_below=below)[1]
        same(library, device.knn(there, 3, index_below=library.up(below))[1], wanted)


def test_the_callers_stream(library, points):
    device = kith.Index(library.up(points))
    wanted = kith.Index(points, device="cpu").knn(points, 4)[1]
    with library.stream():
        for _ in range(5):
            there = library.up(points)  # made in this stream, used in it, given back in it
            found = device.knn(there, 4)[1]
            del there
        same(library, found, wanted)


def test_rows_with_gaps_and_one_query(library, points):
    wide = np.zeros((len(points), 5), points.dtype)
    wide[:, :3] = points
    device = kith.Index(library.up(wide)[:, :3])
    host = kith.Index(points, device="cpu")
    same(library, device.knn(library.up(points[7]), 3)[1], host.knn(points[7], 3)[1])
    same(library, device.knn(library.up(wide)[::2, :3], 3)[1], host.knn(points[::2], 3)[1])


def test_pickle(library, points):
    device = pickle.loads(pickle.dumps(kith.Index(library.up(points))))
    np.testing.assert_array_equal(device.knn(points[:9], 3)[1], kith.Index(points).knn(points[:9], 3)[1])


def test_nan_raises_while_building(library, points):
    points = points.copy()
    points[11, 1] = np.nan
    with pytest.raises(ValueError, match="11"):
        kith.Index(library.up(points))


def test_brute_force_in_many_dims(library):
    points = np.random.default_rng(5).random((3000, 40)).astype(np.float32)
    device = kith.Index(library.up(points), engine="brute")
    for found, wanted in zip(device.knn(k=9), kith.Index(points, device="cpu").knn(k=9), strict=True):
        same(library, found, wanted)


def test_rows_of_bits(library):
    rows = np.random.default_rng(6).integers(0, 256, (5000, 24), np.uint8)
    host = kith.Index(rows, metric="hamming", device="cpu")
    device = kith.Index(library.up(rows), metric="hamming")
    assert device.device == "cuda:0"
    there = library.up(rows[:300])
    found, wanted = device.knn(there, 7, return_exact=True), host.knn(rows[:300], 7, return_exact=True)
    for one, other in zip(found, wanted, strict=True):
        same(library, one, other)
    same(library, device.knn(k=4, exclude_self=True)[1], host.knn(k=4, exclude_self=True)[1])
    radii = np.linspace(60, 90, 300)
    lists, wanted = device.radius(there, library.up(radii)), host.radius(rows[:300], radii)
    same(library, lists.indices, wanted.indices)
    same(library, lists.distances, wanted.distances)
    bits = np.unpackbits(rows[:50], axis=1).astype(bool)
    same(library, device.knn(library.up(bits), 3)[1], host.knn(bits, 3)[1])


def test_objects_on_the_gpu():
    words = ["kith", "kin", "kind", "king", "kiln", "with", "wit"] * 30
    wanted = kith.CoverTree(words, metric="edit", device="cpu").knn(["kit", "win"], k=5)
    found = kith.CoverTree(words, metric="edit", device="cuda").knn(["kit", "win"], k=5)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_jobs_on_clouds_equal_the_cpu(library, points):
    there = library.up(points)
    other = points[::3] + points.dtype.type(0.001)
    pose = [[0.8, -0.6, 0, 1], [0.6, 0.8, 0, 2], [0, 0, 1, 3]]
    jobs = [
        lambda a, **o: kith.normals(a, **o),
        lambda a, **o: kith.normals(a, neighbors=9, viewpoint=[0, 0, 9], **o),
        lambda a, **o: (kith.transform(a, pose, **o),),
        lambda a, **o: kith.downsample(a, voxel=0.05, return_map=True, **o),
        lambda a, **o: kith.downsample(a, voxel=0.05, keep="nearest", **o),
        lambda a, **o: kith.downsample(a, distance=0.05, **o),
        lambda a, **o: kith.outliers(a, neighbors=8, **o),
        lambda a, **o: kith.outliers(a, radius=0.02, min_neighbors=2, **o),
    ]
    for job in jobs:
        for found, wanted in zip(job(there), job(points, device="cpu"), strict=True):
            if isinstance(wanted, np.ndarray):
                same(library, found, wanted)
            else:
                assert found == wanted
    found = kith.distance(there, library.up(other), symmetric=True, percentiles=[50])
    wanted = kith.distance(points, other, symmetric=True, percentiles=[50], device="cpu")
    assert found[2:] == wanted[2:]
    for way in (0, 1):
        same(library, found[way].distances, wanted[way].distances)
        same(library, found[way].nearest, wanted[way].nearest)
        assert found[way].percentiles == wanted[way].percentiles
