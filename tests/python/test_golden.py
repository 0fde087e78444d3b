"""The package gives the answers of tests/golden/digests.txt, as the library does."""

from __future__ import annotations

import re

import numpy as np
import pytest
from golden_points import digest_of, golden_points, read_digests

import kith

DTYPES = {"f32": np.float32, "f64": np.float64}
KNN = re.compile(r"(?P<shape>\w+?)_300x(?P<dims>\d+)_(?P<dtype>f\d\d)_(?P<metric>\w+)_k(?P<k>\d+)")
GENERATE = re.compile(r"(?P<shape>\w+)_500x(?P<dims>\d+)_(?P<dtype>f\d\d)")


@pytest.mark.parametrize(
    ("name", "digest"), [line for line in read_digests("knn").items() if KNN.fullmatch(line[0])]
)
def test_knn(name, digest):
    case = KNN.fullmatch(name).groupdict()
    dtype, dims, k = DTYPES[case["dtype"]], int(case["dims"]), int(case["k"])
    are_directions = case["metric"] in ("cosine", "angular")
    points = golden_points(case["shape"], dtype, 300, dims, 1, are_directions)
    queries = golden_points(case["shape"], dtype, 40, dims, 2, are_directions)
    for engine in ["brute"] if case["metric"] == "ip" else ["brute", "kdtree", "covertree"]:
        found = kith.Index(points, engine=engine, metric=case["metric"]).knn(queries, k)
        distances, indices = found[:2]
        sizes = [np.uint64(40), np.uint32(k), np.uint32(300)]
        assert digest_of(*sizes, indices.astype(np.uint32), distances) == digest, engine


@pytest.mark.parametrize(("name", "digest"), read_digests("generate").items())
def test_generated_points(name, digest):
    case = GENERATE.fullmatch(name).groupdict()
    dims = int(case["dims"])
    made = kith.generate(case["shape"], 500, dims, seed=9, dtype=DTYPES[case["dtype"]])
    points, labels = made if case["shape"] == "classes" else (made, np.empty(0))
    sizes = [np.uint64(500), np.uint32(dims)]
    assert digest_of(*sizes, points, labels.astype(np.uint32)) == digest


def test_there_are_cases():
    assert sum(KNN.fullmatch(name) is not None for name in read_digests("knn")) >= 50
    assert len(read_digests("generate")) >= 30
