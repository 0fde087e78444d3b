"""Dask on workers that are processes of their own, of which one is killed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import kith

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


def test_two_workers_of_which_one_is_killed(rng, tmp_path):
    import kith.dask

    points, queries = rng.random((20000, 3)), rng.random((3000, 3))
    expected = kith.Index(points)
    asked = da.from_array(queries, chunks=(1000, 3))
    settings = {"distributed.scheduler.allowed-failures": 10}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        index = kith.dask.Index(da.from_array(points, chunks=(3000, 3)))
        assert index.shards == 2
        for killed in (False, True):
            if killed:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            for mine, theirs in zip(
                dask.compute(*index.knn(asked, k=6)), expected.knn(queries, k=6), strict=True
            ):
                np.testing.assert_array_equal(mine, theirs)
        found = index.count(radius=0.03).compute(timeout=120)
        np.testing.assert_array_equal(found, expected.count(radius=0.03))
