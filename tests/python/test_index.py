"""kith.Index: searches, what it says of itself, files, pickles, threads, progress and Ctrl-C."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import plain_knn
from hypothesis import given, settings
from hypothesis import strategies as st

import kith

ENGINES = ["auto", "brute", "kdtree", "covertree"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_knn_is_what_the_definition_says(rng, engine, dtype):
    points = rng.random((300, 4)).astype(dtype)
    queries = rng.random((40, 4)).astype(dtype)
    distances, indices = kith.Index(points, engine=engine).knn(queries, k=5)
    wanted_distances, wanted = plain_knn(points, queries, 5)
    assert distances.dtype == dtype and indices.dtype == np.int64
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_allclose(distances, wanted_distances, rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_all_engines_give_the_same_bytes(data):
    n = data.draw(st.integers(0, 40))
    dims = data.draw(st.integers(1, 4))
    k = data.draw(st.integers(0, 6))
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    points = random.integers(0, 4, (n, dims)).astype(np.float32)
    queries = random.integers(0, 4, (7, dims)).astype(np.float32)
    answers = [kith.Index(points, engine=engine).knn(queries, k) for engine in ENGINES]
    for distances, indices in answers:
        assert distances.tobytes() == answers[0][0].tobytes()
        assert indices.tobytes() == answers[0][1].tobytes()
    _, wanted = plain_knn(points, queries, k)
    np.testing.assert_array_equal(answers[0][1][:, : wanted.shape[1]], wanted)


def test_missing_neighbours_are_inf_and_n(cloud):
    distances, indices = kith.Index(cloud[:2]).knn(cloud[:1], k=4)
    assert indices[0, 2:].tolist() == [2, 2]
    assert np.isinf(distances[0, 2:]).all()
    distances, indices = kith.Index(cloud[:0]).knn(cloud[:1], k=2)
    assert indices.tolist() == [[0, 0]]


def test_shapes_follow_the_queries(cloud):
    index = kith.Index(cloud)
    one = index.knn(cloud[3], k=2)
    many = index.knn(cloud, k=2)
    grid = index.knn(cloud.reshape(5, 100, 3), k=2)
    itself = index.knn(k=2)
    assert one[0].shape == (2,) and many[0].shape == (500, 2) and grid[1].shape == (5, 100, 2)
    np.testing.assert_array_equal(one[1], many[1][3])
    np.testing.assert_array_equal(one[0], many[0][3])
    np.testing.assert_array_equal(grid[1].reshape(500, 2), many[1])
    np.testing.assert_array_equal(itself[1], many[1])
    assert index.knn(cloud[:0], k=2)[0].shape == (0, 2)
    assert index.knn(cloud, k=0)[0].shape == (500, 0)
    assert index.count(cloud[3], 0.1) == index.count(cloud.reshape(5, 100, 3), 0.1)[0, 3]


@pytest.mark.parametrize("k", [1, 64, 65, 300])
def test_single_queries_of_any_k(cloud, k):
    index = kith.Index(cloud)
    distances, indices = index.knn(cloud[7], k=k)
    wanted = index.knn(cloud[7:8], k=k)
    np.testing.assert_array_equal(indices, wanted[1][0])
    np.testing.assert_array_equal(distances, wanted[0][0])


def test_options_of_knn(cloud):
    index = kith.Index(cloud, engine="kdtree")
    distances, indices = index.knn(k=3, exclude_self=True)
    assert (indices != np.arange(500)[:, None]).all()
    np.testing.assert_allclose(index.knn(k=3, exclude_self=True, squared=True)[0], distances**2)
    np.testing.assert_allclose(
        index.knn(cloud[0], 3, squared=True)[0], index.knn(cloud[0], 3)[0] ** 2
    )
    near = index.knn(k=3, max_distance=0.01)
    assert np.isinf(near[0][:, 1:]).any() and near[1].max() == 500
    mask = np.arange(500) % 3 == 0
    assert mask[index.knn(cloud, 4, allowed=mask)[1]].all()
    assert mask[index.knn(cloud[1], 4, allowed=mask)[1]].all()
    assert index.knn(cloud, 1, allowed=np.zeros(500, bool))[1].max() == 500
    np.testing.assert_array_equal(
        index.knn(cloud, 2, allowed=np.ones(500, bool))[1], index.knn(k=2)[1]
    )
    earlier = index.knn(k=2, earlier_only=True)[1]
    assert earlier[0].tolist() == [500, 500] and (earlier[2:, 0] < np.arange(2, 500)).all()
    below = index.knn(cloud, 2, index_below=np.arange(500))[1]
    np.testing.assert_array_equal(below, earlier)
    *_, exact = index.knn(cloud, 4, max_leaves=1, return_exact=True)
    assert exact.dtype == bool and exact.shape == (500,) and exact.all()  # in few dims that is faster
    many_dims = np.random.default_rng(5).random((500, 8))
    *_, exact = kith.Index(many_dims, engine="kdtree").knn(k=4, max_leaves=1, return_exact=True)
    assert exact.shape == (500,) and not exact.all()
    *_, exact = index.knn(cloud[0], 4, return_exact=True)
    assert exact.shape == () and exact
    approximate, _ = index.knn(cloud, 4, eps=1.0)
    assert (approximate <= 2 * index.knn(cloud, 4)[0] + 1e-12).all()
    np.testing.assert_array_equal(index.knn(k=3, threads=1)[1], index.knn(k=3)[1])


def test_queries_with_nan_find_nothing_if_asked(cloud):
    queries = cloud[:2].copy()
    queries[1, 0] = np.nan
    _, indices = kith.Index(cloud).knn(queries, 2, skip_nonfinite=True)
    assert indices[1].tolist() == [500, 500] and indices[0, 0] == 0
    assert kith.Index(cloud).knn(queries[1], 2, skip_nonfinite=True)[1].tolist() == [500, 500]


def test_radius_count_and_box(cloud):
    index = kith.Index(cloud)
    lists = index.radius(cloud[:20], 0.2)
    assert len(lists) == 20 and lists.offsets.dtype == np.int64 and lists.indices.dtype == np.int64
    distance = np.linalg.norm(cloud[:20, None] - cloud[None], axis=2)
    for q, (distances, indices) in enumerate(lists):
        assert sorted(indices.tolist()) == np.flatnonzero(distance[q] <= 0.2).tolist()
        assert (np.diff(distances) >= 0).all()
    np.testing.assert_array_equal(lists.counts, index.count(cloud[:20], 0.2))
    np.testing.assert_array_equal(lists[-1][1], lists[19][1])
    with pytest.raises(IndexError):
        lists[20]
    radii = np.linspace(0, 0.3, 20)
    np.testing.assert_array_equal(
        index.count(cloud[:20], radii), (distance <= radii[:, None]).sum(axis=1)
    )
    assert (
        index.radius(cloud[:20], radii).counts.tolist() == index.count(cloud[:20], radii).tolist()
    )
    assert index.radius(None, 0.2, max_neighbors=2).counts.max() == 2
    np.testing.assert_array_equal(index.radius(radius=0.2).counts, index.count(None, 0.2))
    np.testing.assert_array_equal(index.count(radius=0.2), index.count(None, 0.2))
    with pytest.raises(TypeError, match="radius must be a number"):
        index.radius(cloud)
    assert (
        index.radius(None, 0.2, exclude_self=True).counts.sum()
        == index.count(None, 0.2).sum() - 500
    )
    distances, indices = index.radius(cloud[0], 0.2)
    np.testing.assert_array_equal(indices, lists[0][1])
    assert isinstance(index.count(cloud[0], 0.2), int)

    inside = np.flatnonzero(((cloud >= 0.2) & (cloud <= 0.5)).all(axis=1))
    np.testing.assert_array_equal(index.box([0.2] * 3, [0.5] * 3), inside)
    boxes = index.box([[0.2] * 3, [5] * 3], [[0.5] * 3, [6] * 3])
    assert boxes.counts.tolist() == [len(inside), 0] and "2 lists" in repr(boxes)
    assert index.box_count([0.2] * 3, [0.5] * 3) == len(inside)
    assert index.box_count([[-np.inf] * 3], [[np.inf] * 3]).tolist() == [500]
    mask = np.arange(500) < 250
    assert (index.box([-1] * 3, [2] * 3, allowed=mask) < 250).all()


def test_metrics_and_periods(rng):
    points = rng.random((200, 2))
    l1 = kith.Index(points, metric="l1").knn(points[:1], 3)[0][0]
    np.testing.assert_allclose(l1, np.sort(np.abs(points - points[0]).sum(axis=1))[:3])
    assert kith.Index(points, metric="lp:3").metric == "lp:3"
    torus = kith.Index(np.array([[0.05], [0.95]]), period=1.0)
    np.testing.assert_allclose(torus.knn([[0.0]], 2)[0], [[0.05, 0.05]])
    torus = kith.Index(np.array([[0.05, 3.0], [0.95, 3.0]]), period=[1.0, 0.0])
    np.testing.assert_allclose(torus.knn([0.05, 3.0], 2)[0], [0.0, 0.1], atol=1e-12)


def test_what_it_says_of_itself(cloud):
    index = kith.Index(cloud.astype(np.float32), engine="kdtree", leaf_size=8, split="cycle")
    assert len(index) == 500 and index.dims == 3 and index.dtype == np.float32
    assert index.engine == "kdtree" and index.device == "cpu" and index.metric == "l2"
    assert index.memory > 500 * 12 and index.skipped == 0
    assert "k-d tree" in index.explain()
    assert "500 points" in repr(index) and "float32" in repr(index)
    np.testing.assert_array_equal(index.points, cloud.astype(np.float32))


def test_rows_left_out_keep_the_numbers_of_others(cloud):
    cloud[3, 1] = np.nan
    index = kith.Index(cloud, skip_nonfinite=True)
    assert index.skipped == 1 and len(index) == 500
    assert index.knn(cloud[4], 1)[1].tolist() == [4]
    assert np.isnan(index.points[3]).all()


def test_save_load_pickle_copy(cloud, tmp_path):
    index = kith.Index(cloud, engine="kdtree")
    wanted = index.knn(k=4)
    index.save(tmp_path / "cloud.kith")
    assert (tmp_path / "cloud.kith").read_bytes() == index.to_bytes()
    others = [
        kith.Index.load(tmp_path / "cloud.kith"),
        kith.Index.load(str(tmp_path / "cloud.kith"), map=True),
        kith.Index.from_bytes(index.to_bytes()),
        pickle.loads(pickle.dumps(index)),
        copy.copy(index),
        copy.deepcopy(index),
    ]
    for other in others:
        assert repr(other) == repr(index)
        np.testing.assert_array_equal(other.knn(k=4)[1], wanted[1])


@pytest.mark.parametrize("builder", ["histogram", "presort", "select", "segsort"])
def test_builders_of_the_kd_tree_give_the_same_bytes(cloud, builder):
    index = kith.Index(cloud, engine="kdtree", builder=builder)
    assert index.to_bytes() == kith.Index(cloud, engine="kdtree").to_bytes()
    assert (f"builder {builder}" in index.explain()) == (builder != "histogram")


def test_answers_outlive_the_index_and_may_be_changed(cloud):
    distances, indices = kith.Index(cloud).knn(k=2)
    distances += 1
    indices[:] = 0
    assert distances.min() == 1 and distances.flags.writeable
    points = kith.Index(cloud).points
    points[:] = 0


def test_threads_share_an_index(cloud):
    index = kith.Index(cloud)
    wanted = index.knn(k=4)[1].tobytes()
    wrong = []

    def work():
        for _ in range(20):
            if index.knn(k=4)[1].tobytes() != wanted or index.knn(cloud[3], 4)[1][0] != 3:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_progress_is_called_and_can_stop_the_work(rng):
    points = rng.random((200_000, 3), dtype=np.float32)
    calls = []
    index = kith.Index(points, progress=lambda *call: calls.append(call))
    assert calls and all(len(call) == 3 and isinstance(call[0], str) for call in calls)
    calls.clear()
    index.knn(points[:50_000], 4, progress=lambda *call: calls.append(call))
    assert calls[-1][1] == calls[-1][2] == 50_000

    def stop(stage, done, total):
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        index.knn(k=4, progress=stop)
    with pytest.raises(ZeroDivisionError):
        kith.Index(points, progress=stop)


def test_progress_bars_go_to_stderr(cloud, capsys, monkeypatch):
    kith.Index(cloud, progress=True).knn(k=3, progress=True)
    with_tqdm = capsys.readouterr()
    assert with_tqdm.out == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    kith.Index(cloud, progress=True).knn(k=3, progress=True)
    plain = capsys.readouterr()
    assert plain.out == "" and "100%" in plain.err and plain.err.endswith("\n")


# A search that no machine finishes while a test waits: 10^10 pairs, each 16 times `pow`.
LONG_WORK = """
import os, signal, threading, time
import numpy as np, kith
signal.signal(signal.SIGINT, signal.default_int_handler)  # a caller in the background may ignore it
points = np.random.default_rng(1).random((100_000, 16), dtype=np.float32)
index = kith.Index(points, engine="brute", metric="lp:2.5")
"""


def run_script(script):
    found = subprocess.run(
        [sys.executable, "-c", LONG_WORK + script], capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_gil_is_released_while_the_library_works():
    # Were the GIL held, the thread could not count before the search has ended.
    script = """
begun = threading.Event()

def count():
    begun.wait()
    for _ in range(50):
        time.sleep(0.002)
    os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=count)
thread.start()
try:
    begun.set()
    index.knn(k=8, threads=1)
    print("the search has ended")
except KeyboardInterrupt:
    print("counted")
thread.join()
"""
    assert run_script(script) == "counted\n"


def test_ctrl_c_becomes_keyboard_interrupt():
    script = """
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    index.knn(k=8, threads=1)
    print("the search has ended")
except KeyboardInterrupt:
    print("interrupted")
index.knn(index.points[:2], k=2)
"""
    assert run_script(script) == "interrupted\n"


def test_plan_and_devices(capsys):
    plan = kith.plan(1_000_000, 3, np.float32, device="cpu")
    assert plan.engine == "kdtree" and plan.device == "cpu"
    assert plan.peak_bytes >= plan.index_bytes >= 12_000_000 and plan.reason
    assert kith.devices()[0].device == "cpu"
    kith.show_config()
    assert kith.__version__ in capsys.readouterr().out


def test_forked_children_may_search(cloud):
    index = kith.Index(cloud)
    wanted = index.knn(k=3)[1]
    child = os.fork()
    if child == 0:
        same = np.array_equal(index.knn(k=3)[1], wanted)
        os._exit(0 if same else 1)
    deadline = time.time() + 300  # only against waiting for ever
    while time.time() < deadline:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child did not end")


def test_index_takes_strings_sets_and_bits(tmp_path):
    words = kith.Index(["cat", "cart", "dog", "do"], metric="edit")
    assert repr(words).startswith("kith.Index(4 strings or sets, metric='edit'")
    assert words.knn(["dot"], k=2)[1].tolist() == [[2, 3]]
    assert words.count(["cat", "dog"], [0, 1]).tolist() == [1, 2]
    assert words.knn(["cat"], k=2, index_below=[1])[1].tolist() == [[0, 4]]
    codes = np.array([[0b0000], [0b0001], [0b1111]], dtype=np.uint8)
    bits = kith.Index(codes, metric="hamming")
    assert bits.dims == 8 and bits.points.tolist() == codes.tolist()
    assert bits.knn(k=1, exclude_self=True)[0].ravel().tolist() == [1, 1, 3]
    sets = kith.Index([{1, 2}, {9}], metric="jaccard")
    assert sets.knn({9}, k=1)[1].tolist() == [1]
    for index, query in ((words, "cat"), (bits, codes[0]), (sets, {1})):
        index.save(tmp_path / "saved.kith")
        expected = index.knn(query, k=2)[1].tolist()
        for again in (
            kith.Index.load(tmp_path / "saved.kith"),
            kith.Index.from_bytes(index.to_bytes()),
            pickle.loads(pickle.dumps(index)),
        ):
            assert again.knn(query, k=2)[1].tolist() == expected
            assert again.metric == index.metric and again.check() == ""
        with pytest.raises(TypeError, match="boxes are for points"):
            index.box([0], [1])
    with pytest.raises(ValueError, match="period is for points"):
        kith.Index(["a"], metric="edit", period=1.0)
    with pytest.raises(TypeError, match='strings.*with metric="edit"'):
        kith.Index(["a", "b"])
    with pytest.raises(TypeError, match='sets.*with metric="jaccard"'):
        kith.Index([{1}, {2}], metric="l1")
    with pytest.raises(TypeError, match="CoverTree"):
        kith.Index([1], metric=lambda a, b: abs(a - b))


def test_explain_says_which_path_a_search_takes(cloud):
    index = kith.Index(cloud, engine="kdtree", device="cpu")
    assert index.explain(k=8).startswith(index.explain())
    assert "search: kdtree on cpu: groups of" in index.explain(k=8)
    assert "groups of" in index.explain(radius=True, queries=9)
    assert "one query" in index.explain(k=8, queries=1)
    mask = np.ones(len(cloud), dtype=bool)
    mask[3] = False
    assert "an exact search is faster" in index.explain(k=8, eps=0.5, exclude_self=True, allowed=mask)
    assert "groups of" in index.explain(k=8, queries=2, index_below=[3, 4])
    assert "walks through the tree" in kith.Index(["a", "b"], engine="covertree", metric="edit").explain(k=1)
    for wrong in ({"queries": 3}, {"eps": 1}, {"k": 1, "radius": True}):
        with pytest.raises(ValueError, match="radius=True"):
            index.explain(**wrong)
    with pytest.raises(ValueError, match="eps"):
        index.explain(k=1, eps=-1.0)
    with pytest.raises(TypeError):
        index.explain(k=1, unknown=2)
