"""Points that are equal to a kept one, or too close to it."""

from __future__ import annotations

import numpy as np
import pytest
from fake_cupy import STREAM, FakeArray, FakeCupy, install, memory

import kith
from kith import _dedupe, _kith

LEFT_OUT = 2**32 - 1


@pytest.fixture(params=[np.float32, np.float64])
def places(request):
    """Many copies of few places, both zeros among them."""
    points = np.random.default_rng(1).integers(-1, 2, (300, 3)).astype(request.param)
    points[::7] *= -1
    return points


def plain(points, order):
    """The loop itself."""
    kept, stands_for = [], {}
    for row in order:
        equal = [other for other in kept if (points[other] == points[row]).all()]
        stands_for[row] = equal[0] if equal else row
        if not equal:
            kept.append(row)
    kept.sort()
    return kept, [kept.index(stands_for[row]) for row in range(len(points))]


def test_equal_points(places):
    found = kith.dedupe(places)
    kept, represented = plain(places, range(300))
    assert found.kept.tolist() == kept and found.map.tolist() == represented
    assert found.kept.dtype == found.map.dtype == np.int64 and found.skipped == 0
    np.testing.assert_array_equal(places[found.kept][found.map], places)
    assert kith.dedupe(places, return_map=False).map is None
    assert kith.dedupe(places[::-1, ::2]).kept.tolist() == plain(places[::-1, ::2], range(300))[0]


def test_the_best_score_stays(places):
    scores = np.arange(300) % 11
    for prefer_low in (False, True):
        found = kith.dedupe(places, scores=scores, prefer_low=prefer_low)
        order = sorted(range(300), key=lambda row: (scores[row] if prefer_low else -scores[row], row))
        kept, represented = plain(places, order)
        assert found.kept.tolist() == kept and found.map.tolist() == represented


def test_within_a_tolerance():
    assert kith.dedupe([[0], [1], [2], [3.0]], tolerance=1).kept.tolist() == [0, 2]
    assert kith.dedupe([[0, 0], [3, 4.0]], tolerance=5, metric="linf").kept.tolist() == [0]
    assert kith.dedupe([[0, 0], [3, 4.0]], tolerance=5, metric="l1").kept.tolist() == [0, 1]
    found = kith.dedupe([[0, 0], [1, 9.0]], tolerance=1, metric_params=[1, 0])
    assert found.kept.tolist() == [0] and found.map.tolist() == [0, 0]


def test_bad_rows_are_named_or_left_out(places):
    places[5, 2] = np.nan
    with pytest.raises(ValueError, match="row 5, column 2"):
        kith.dedupe(places)
    found = kith.dedupe(places, skip_nonfinite=True)
    assert found.skipped == 1 and found.map[5] == LEFT_OUT


def test_arguments_are_checked(places):
    for options, error in (
        ({"scores": [1, 2]}, ValueError),
        ({"tolerance": -1}, ValueError),
        ({"tolerance": "1"}, TypeError),
        ({"device": "tpu"}, ValueError),
        ({"device": 3}, TypeError),
        ({"threads": -1}, ValueError),
    ):
        with pytest.raises(error):
            kith.dedupe(places, **options)
    with pytest.raises(ValueError, match="shape"):
        kith.dedupe([1, 2, 3])
    assert kith.dedupe(np.empty((0, 2))).kept.shape == (0,)


def dedupe_there(points, scores, kept, map, stream, **options):  # noqa: A002
    """kith::apps::dedupe_on_device, answered by the host."""
    assert stream == STREAM
    rows = len(points.rows)
    scores = memory(scores, np.float64, rows) if scores else None
    found = _kith.dedupe(points.rows, scores, True, "cpu", **options)
    memory(kept, np.uint32, rows)[: len(found[0])] = found[0]
    if map:
        memory(map, np.uint32, rows)[:] = found[1]
    return len(found[0]), found[2]


def test_arrays_on_a_gpu_stay_there(monkeypatch, places):
    install(monkeypatch, [_dedupe], dedupe=_kith.dedupe, dedupe_on_device=dedupe_there)
    scores = np.arange(300) % 5
    places[3] = np.inf
    wanted = kith.dedupe(places, scores=scores, skip_nonfinite=True)
    for given in (scores, FakeArray(scores.astype(np.float32))):
        for device in ("auto", "cuda", "cuda:0"):
            found = kith.dedupe(FakeArray(places), scores=given, skip_nonfinite=True, device=device)
            assert isinstance(found.kept, FakeArray) and found.kept.dtype == np.int64
            np.testing.assert_array_equal(found.kept.values, wanted.kept)
            np.testing.assert_array_equal(found.map.values, wanted.map)
            assert found.skipped == 1
    assert FakeCupy.calls == []
    assert kith.dedupe(FakeArray(places), return_map=False, skip_nonfinite=True).map is None
    through_host = kith.dedupe(FakeArray(places), scores=scores, skip_nonfinite=True, device="cpu")
    np.testing.assert_array_equal(through_host.map.values, wanted.map)
    with pytest.raises(ValueError, match="give one per point"):
        kith.dedupe(FakeArray(places), scores=FakeArray(scores[:7]))
    with pytest.raises(ValueError, match="shape"):
        kith.dedupe(FakeArray(places.reshape(3, 100, 3)))
