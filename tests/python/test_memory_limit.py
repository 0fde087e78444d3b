"""kith.memory_limit: builds and searches obey it, or say how much they need."""

import re
import threading

import numpy as np
import pytest

import kith
from kith._config import bytes_of


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


@pytest.mark.parametrize("text", ["", "GB", "1 litre", "-1GB", "5iBB", "5iB", "1.2.3GB", ".", "9" * 400, "1e300", "20000000TiB"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="memory_limit"), kith.memory_limit(text):
        pass


@pytest.mark.parametrize(("size", "count"), [("2 T", 2 * 10**12), ("1.5Gi", 3 * 2**29), ("1e3", 1000), (2e9, 2 * 10**9), (np.int32(7), 7)])
def test_sizes(size, count):
    assert bytes_of(size) == count


@pytest.mark.parametrize("limit", [2**64, 1.5, float("inf"), -1, 10**400])
def test_numbers_that_are_no_sizes(limit):
    with pytest.raises(ValueError, match="memory_limit"), kith.memory_limit(limit):
        pass


def test_types_that_are_no_sizes():
    with pytest.raises(TypeError, match="memory_limit.*NoneType"), kith.memory_limit(None):
        pass


def test_limits_end_in_any_order():
    points = np.zeros((1000, 3))

    def limited(bytes_):
        with kith.memory_limit(bytes_):
            yield

    small, large = limited(10), limited("1GB")
    next(small), next(large)
    with pytest.raises(MemoryError):
        kith.Index(points, device="cpu")
    small.close()
    kith.Index(points, device="cpu")
    large.close()
    next(small := limited(10)), next(large := limited("1GB"))
    large.close()
    with pytest.raises(MemoryError):
        kith.Index(points, device="cpu")
    small.close()
    kith.Index(points, device="cpu")


def test_a_limit_ends_on_its_thread():
    limit = kith.memory_limit("1GB")
    thread = threading.Thread(target=limit.__enter__)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="thread on which it began"):
        limit.__exit__(None, None, None)


def test_less_than_a_byte():
    with pytest.raises(ValueError, match="at least 1 byte"), kith.memory_limit(0):
        pass
