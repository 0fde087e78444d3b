"""kith.normals, kith.register, kith.register_pairs and kith.RegistrationTarget."""

import threading

import numpy as np
import pytest

import kith
from fake_cupy import STREAM, FakeArray, install
from kith import _kith, _register_pairs, _registration


def pose_of(angle, shift, dims=3):
    pose = np.eye(dims + 1)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[:dims, dims] = shift
    return pose


@pytest.fixture(scope="module")
def surface():
    return kith.generate("surface", 4000, seed=3, dtype=np.float64)


@pytest.fixture(scope="module")
def curve():
    t = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    radius = 1 + 0.2 * np.sin(3 * t) + 0.1 * np.cos(5 * t)
    return np.column_stack([radius * np.cos(t), 0.6 * radius * np.sin(t)])


@pytest.mark.parametrize("method", ["auto", "point", "plane", "gicp"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pose_is_recovered(surface, method, dtype):
    truth = pose_of(0.05, [0.02, -0.01, 0.015])
    target = surface.astype(dtype)
    found = kith.register(kith.transform(target, truth, inverse=True), target, method=method)
    assert found.converged and found.reason == "converged"
    assert found.fitness == 1 and found.inliers == len(surface)
    assert found.transformation.shape == (4, 4) and found.transformation.dtype == np.float64
    atol = 1e-5 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(found.transformation, truth, atol=atol)
    assert found.information.shape == (6, 6)
    np.testing.assert_array_equal(found.information, found.information.T)
    np.testing.assert_array_equal(found.correspondence_set, np.column_stack([range(4000)] * 2))
    assert found.iterations[-1].shifted <= found.iterations[0].shifted
    assert found.weak == [] and found.scale == 1
    assert "converged" in repr(found)


@pytest.mark.parametrize("method", ["point", "plane", "gicp"])
def test_poses_in_a_plane_are_3_by_3(curve, method):
    truth = pose_of(0.05, [0.02, -0.03], 2)
    source = kith.transform(curve, truth, inverse=True)
    found = kith.register(source, curve, method=method)
    assert found.transformation.shape == (3, 3)
    np.testing.assert_allclose(found.transformation, truth, atol=1e-8)
    again = kith.register(source, curve, method=method, initial=found.transformation)
    assert again.iterations[0].shifted < 1e-8
    scaled = kith.register(source * 0.97, curve, method=method, scale=True, initial=truth[:2])
    assert scaled.scale == pytest.approx(1 / 0.97, abs=1e-6)
    assert np.linalg.norm(scaled.transformation[:2, 0]) == pytest.approx(scaled.scale)


def test_the_start(surface):
    truth = pose_of(2.0, [30, 40, -50])
    source = kith.transform(surface, truth, inverse=True)
    lost = kith.register(source, surface)
    assert not lost.converged and "too few" in lost.reason
    np.testing.assert_array_equal(lost.transformation, np.eye(4))
    assert lost.correspondence_set.shape == (0, 2)
    found = kith.register(source, surface, initial=pose_of(0.03, [0.01, 0, 0]) @ truth)
    np.testing.assert_allclose(found.transformation, truth, atol=1e-7)
    shifted = kith.register(surface + [5, 6, 7], surface, initial="centroid")
    np.testing.assert_allclose(shifted.transformation, pose_of(0, [-5, -6, -7]), atol=1e-8)
    np.testing.assert_array_equal(
        kith.register(surface, surface, initial=truth, max_iterations=0).transformation, truth
    )


def test_a_global_start():
    surface = kith.generate("surface", 12_000, seed=1)
    truth = pose_of(2.0, [30, 40, -50])
    source = kith.transform(surface, truth, inverse=True)
    found = kith.register(source, surface, initial="global")
    np.testing.assert_allclose(found.transformation, truth, atol=1e-6)
    start = found.global_start
    assert start.found and start.consistent <= start.matches and 0 <= start.runner_up < start.overlap <= 1
    assert start.pose.shape == (4, 4) and start.voxel > 0
    again = kith.RegistrationTarget(surface, threads=1).align(source, initial="global")
    np.testing.assert_array_equal(again.transformation, found.transformation)
    assert kith.register(source, surface, initial="global", global_voxel=0.05).global_start.voxel == 0.05
    assert kith.register(surface, surface).global_start is None
    flat = kith.register(surface[:, :2], surface[:, :2], initial="global")
    assert flat.global_start.pose.shape == (3, 3)
    with pytest.raises(ValueError, match="no scale"):
        kith.register(source, surface, initial="global", scale=True)
    nothing = kith.register(source[:1], surface, initial="global")
    assert not nothing.global_start.found and np.isfinite(nothing.transformation).all()


def test_a_target_gives_what_register_does(surface):
    source = kith.transform(surface, pose_of(0.03, [0, 0.01, 0]))
    target = kith.RegistrationTarget(surface, threads=1)
    assert len(target) == 4000 and "4000 points" in repr(target)
    results = {}

    def align(method):
        results[method] = target.align(source, method=method, keep=0.9)

    threads = [threading.Thread(target=align, args=[m]) for m in ["point", "plane", "gicp"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for method, found in results.items():
        expected = kith.register(source, surface, method=method, keep=0.9, threads=2)
        np.testing.assert_array_equal(found.transformation, expected.transformation)
        np.testing.assert_array_equal(found.information, expected.information)
        assert found.iterations == expected.iterations
    frame = kith.RegistrationTarget(source, threads=1)
    found = target.align(frame, method="gicp", keep=0.9)
    np.testing.assert_array_equal(found.transformation, results["gicp"].transformation)
    narrow = kith.RegistrationTarget(surface.astype(np.float32))
    with pytest.raises(ValueError, match="they must agree"):
        narrow.align(frame)
    with pytest.warns(kith.DataConversionNote, match="rounded to float32"):
        assert narrow.align(source).converged
    assert kith.register(source.astype(np.float32), surface).converged  # both as float64


def test_coarse_to_fine(surface):
    truth = pose_of(0.15, [0.05, 0.02, 0])
    source = kith.transform(surface, truth, inverse=True)
    found = kith.register(source, surface, voxels=[0.1, 0])
    assert found.iterations[-1].stage > 0 and found.inliers == len(surface)
    np.testing.assert_allclose(found.transformation, truth, atol=1e-7)
    again = kith.RegistrationTarget(surface, voxels=[0.1, 0]).align(source)
    one = kith.register(source, surface, voxels=0.1)
    assert one.iterations == kith.register(source, surface, voxels=[0.1]).iterations
    np.testing.assert_array_equal(again.transformation, found.transformation)


def test_a_plane_is_weak():
    rng = np.random.default_rng(1)
    plane = np.column_stack([rng.random((2000, 2)), np.zeros(2000)])
    weak = kith.register(plane, plane, method="plane").weak
    assert len(weak) == 3 and weak[0].relative < 1e-6
    assert sum(each.turn[2] ** 2 for each in weak) == pytest.approx(1)


def test_bad_rows(surface):
    bad = np.insert(surface, 5, [np.nan, 0, 0], axis=0)
    with pytest.raises(ValueError, match="source: row 5"):
        kith.register(bad, surface)
    with pytest.raises(ValueError, match="target: row 5"):
        kith.register(surface, bad)
    found = kith.register(bad, surface, skip_nonfinite=True)
    assert found.skipped_source == 1 and found.skipped_target == 0
    assert 5 not in found.correspondence_set[:, 0] and 4000 in found.correspondence_set[:, 0]
    assert kith.register(surface, surface, correspondences=False).correspondence_set.shape == (0, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "icp"},
        {"initial": "somewhere"},
        {"initial": np.eye(5)},
        {"initial": 2 * np.diag([1, 2, 3, 0.5])},
        {"max_distance": -1},
        {"keep": 0},
        {"kernel": "huber"},
        {"kernel": "l1", "kernel_scale": 1},
        {"degrees_of_freedom": 5},
        {"neighbors": 1},
        {"voxels": [-1]},
    ],
)
def test_options_that_make_no_sense(surface, options):
    with pytest.raises(ValueError):
        kith.register(surface, surface, **options)


def test_types_of_options(surface):
    for options in [{"method": 1}, {"keep": "a"}, {"neighbors": 1.5}, {"voxels": ["a"]}]:
        with pytest.raises(TypeError):
            kith.register(surface, surface, **options)
    with pytest.raises(ValueError, match="dims"):
        kith.register(surface, surface[:, :2])


def test_normals_of_a_sphere():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    inside = kith.normals(points, viewpoint=[0, 0, 0])
    outside = kith.normals(points, orient="consistent", neighbors=12)
    assert inside.normals.shape == (3000, 3) and inside.curvature.shape == (3000,)
    np.testing.assert_allclose(np.linalg.norm(inside.normals, axis=1), 1)
    assert ((inside.normals * points).sum(axis=1) < -0.98).all()
    assert ((outside.normals * points).sum(axis=1) > 0.98).all()
    assert (inside.curvature >= 0).all() and (inside.curvature < 0.1).all()
    axis = kith.normals(points.astype(np.float32), radius=0.2)
    assert axis.normals.dtype == axis.curvature.dtype == np.float32
    largest = np.abs(axis.normals).argmax(axis=1)
    assert (np.take_along_axis(axis.normals, largest[:, None], 1) > 0).all()


def test_normals_against_numpy(surface):
    found = kith.normals(surface[:300], neighbors=10)
    _, lists = kith.Index(surface[:300]).knn(k=10)
    for normal, curvature, rows in zip(found.normals, found.curvature, lists, strict=True):
        values, vectors = np.linalg.eigh(np.cov(surface[rows].T))
        assert abs(vectors[:, 0] @ normal) == pytest.approx(1, abs=1e-9)
        assert curvature == pytest.approx(values[0] / values.sum(), abs=1e-12)


def test_normals_in_a_plane_and_bad_rows(curve):
    bad = np.insert(curve, 3, np.inf, axis=0)
    with pytest.raises(ValueError, match="row 3"):
        kith.normals(bad)
    found = kith.normals(bad, skip_nonfinite=True, viewpoint=[0, 0])
    assert found.normals.shape == (501, 2)
    np.testing.assert_array_equal(found.normals[3], [0, 0])
    assert ((np.delete(found.normals, 3, axis=0) * curve).sum(axis=1) < 0.2).all()
    for options in [{"neighbors": 1}, {"orient": "up"}, {"viewpoint": [1]}, {"radius": -1}]:
        with pytest.raises(ValueError):
            kith.normals(curve, **options)
    with pytest.raises(ValueError, match="viewpoint"):
        kith.normals(curve, orient="consistent", viewpoint=[0, 0])


def test_progress_and_threads(surface):
    stages = set()
    one = kith.register(surface * 1.01, surface, threads=1)
    many = kith.register(
        surface * 1.01, surface, threads=5, progress=lambda stage, done, total: stages.add(stage)
    )
    np.testing.assert_array_equal(one.transformation, many.transformation)
    assert "registering" in stages


def test_arrays_on_a_gpu_stay_there(monkeypatch, surface):
    seen = []

    def register_there(source, target, stream, progress, **options):
        """kith::apps::register_on_device, answered by the host."""
        assert stream == STREAM
        seen.append(len(source.rows))
        return _kith.register_clouds(source.rows, target.rows, progress, **{**options, "device": "cpu"})

    install(
        monkeypatch, [_registration], register_clouds=_kith.register_clouds, register_on_device=register_there
    )
    source = kith.transform(surface, pose_of(0.02, [0.01, 0, 0]))
    wanted = kith.register(source, surface)
    found = kith.register(FakeArray(source), FakeArray(surface))
    np.testing.assert_array_equal(found.transformation, wanted.transformation)
    assert seen == [len(source)]
    for mixed in ((FakeArray(source), surface), (FakeArray(source), FakeArray(surface.astype(np.float32)))):
        kith.register(*mixed)  # through the host
    assert seen == [len(source)]


def scans_of(surface, count=5):
    rng = np.random.default_rng(4)
    starts = rng.integers(0, 3000, count)
    poses = [pose_of(0.01 * i, [0.002 * i, 0.01, 0]) for i in range(count)]
    return [kith.transform(surface[a : a + 300], p) for a, p in zip(starts, poses, strict=True)]


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.transformation, other.transformation)
        np.testing.assert_array_equal(one.information, other.information)
        np.testing.assert_array_equal(one.correspondence_set, other.correspondence_set)
        assert one.iterations == other.iterations and one.reason == other.reason


def test_pairs_are_what_single_calls_give(surface, curve):
    scans = scans_of(surface)
    targets = [surface[: 500 + 700 * i] for i in range(len(scans))]
    pairs = list(zip(scans, targets, strict=True))
    for options in ({}, {"method": "point", "threads": 3}, {"keep": 0.9, "initial": "centroid"}):
        assert_same(
            kith.register_pairs(scans, targets, **options), [kith.register(*p, **options) for p in pairs]
        )
    one_for_all = [kith.register(scan, surface) for scan in scans]
    assert_same(kith.register_pairs(scans, surface), one_for_all)
    assert_same(kith.register_pairs(scans, [surface] * 5), one_for_all)
    assert_same(kith.register_pairs(np.stack(scans), surface), one_for_all)
    narrow = [scan.astype(np.float32) if i % 2 else scan for i, scan in enumerate(scans)]
    assert_same(kith.register_pairs(narrow, surface), [kith.register(scan, surface) for scan in narrow])
    flat = kith.register_pairs([curve, curve + 0.01], curve, correspondences=False)
    assert [found.transformation.shape for found in flat] == [(3, 3)] * 2
    assert kith.register_pairs([], []) == []


def test_pairs_from_offsets(surface):
    scans = scans_of(surface)[:3] + [surface[:0]]
    wanted = [kith.register(scan, surface) for scan in scans]
    rows, offsets = np.concatenate(scans), [0, 300, 600, 900, 900]
    assert_same(kith.register_pairs(rows, surface, source_offsets=offsets), wanted)
    assert_same(
        kith.register_pairs(
            rows, np.concatenate([surface] * 4), source_offsets=offsets, target_offsets=4000 * np.arange(5)
        ),
        wanted,
    )
    for bad in ([0, 300, 200], [0, 901], [-1, 3], [], [[0, 1]], [0.0, 300.0]):
        with pytest.raises(ValueError, match="source_offsets must"):
            kith.register_pairs(rows, surface, source_offsets=bad)


def test_each_pair_may_have_its_own_start(surface):
    truth = pose_of(2.0, [30, 40, -50])
    far = kith.transform(surface[:600], truth, inverse=True)
    found = kith.register_pairs([far, surface[:600]], surface, initial=[truth, None])
    wanted = [kith.register(far, surface, initial=truth), kith.register(surface[:600], surface)]
    assert_same(found, wanted)
    assert_same(kith.register_pairs([far, far], surface, initial=np.stack([truth] * 2)), wanted[:1] * 2)
    assert_same(kith.register_pairs([far, far], surface, initial=truth.tolist()), wanted[:1] * 2)
    with pytest.raises(ValueError, match="1 initial poses for 2 pairs"):
        kith.register_pairs([far, far], surface, initial=[truth])


def test_pairs_that_fail_are_named(surface):
    bad = surface[:50].copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"pair 1 .*source: row 7"):
        kith.register_pairs([surface[:50], bad, bad], surface)
    found = kith.register_pairs([surface[:50], bad], surface, skip_nonfinite=True)
    assert [each.skipped_source for each in found] == [0, 1]
    with pytest.raises(ValueError, match="2 sources, but 3 targets"):
        kith.register_pairs([bad] * 2, [bad] * 3)
    with pytest.raises(ValueError, match=r"pair 0 .*dims"):
        kith.register_pairs([surface], [surface[:, :2]])


def test_pairs_on_a_gpu_stay_there(monkeypatch, surface):
    seen = []
    real = _kith.register_pairs

    def register_there(sources, targets, starts, stream, progress, **options):
        """kith::apps::register_pairs, answered by the host."""
        seen.append((stream, [hasattr(rows, "rows") for rows in sources]))
        here = [[getattr(rows, "rows", rows) for rows in side] for side in (sources, targets)]
        return real(*here, starts, 0, progress, **{**options, "device": "cpu"})

    install(monkeypatch, [_register_pairs], register_pairs=register_there)
    scans = scans_of(surface)[:3]
    wanted = kith.register_pairs(scans, surface)
    there, model = [FakeArray(scan) for scan in scans], FakeArray(surface)
    assert_same(kith.register_pairs(there, model), wanted)
    rows = FakeArray(np.concatenate(scans))
    assert_same(kith.register_pairs(rows, model, source_offsets=[0, 300, 600, 900]), wanted)
    assert_same(kith.register_pairs([there[0], scans[1], there[2]], model), wanted)
    assert_same(kith.register_pairs(there, model, device="cpu"), wanted)
    on_gpu = (STREAM, [True] * 3)
    assert seen == [(0, [False] * 3), on_gpu, on_gpu, (STREAM, [True, False, True]), (0, [False] * 3)]
