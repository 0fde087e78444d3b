"""kith.memory_limit: builds and searches obey it, or say how much they need."""

import re

import numpy as np
import pytest

import kith


def needed_of(work):
    with pytest.raises(MemoryError) as error:
        work()
    return int(re.search(r"needs (\d+) bytes", str(error.value))[1])


def test_a_build_is_refused_with_the_number():
    points = np.random.default_rng(1).random((20000, 3), dtype=np.float32)

    def build():
        return kith.Index(points, engine="kdtree", device="cpu")

    with kith.memory_limit("100kB"):
        needed = needed_of(build)
    assert needed == kith.plan(20000, 3, dtype=np.float32, engine="kdtree", device="cpu").peak_bytes
    with kith.memory_limit(needed - 1), pytest.raises(MemoryError):
        build()
    with kith.memory_limit(needed), kith.memory_limit("1TB"):
        build()


def test_a_search_works_in_chunks():
    random = np.random.default_rng(2)
    points, queries = random.random((5000, 3)), random.random((50000, 3))
    index = kith.Index(points, engine="kdtree", device="cpu")
    distances, indices = index.knn(queries, 4)
    with kith.memory_limit(index.memory + 50000 * 4 * 12 + 200000):
        limited_distances, limited_indices = index.knn(queries, 4)
    assert np.array_equal(limited_distances, distances) and np.array_equal(limited_indices, indices)


@pytest.mark.parametrize("text", ["", "GB", "1 litre", "-1GB", "5iBB"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="memory_limit"), kith.memory_limit(text):
        pass


def test_less_than_a_byte():
    with pytest.raises(ValueError, match="at least 1 byte"), kith.memory_limit(0):
        pass
