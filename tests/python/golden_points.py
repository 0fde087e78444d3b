"""Points and digests of the golden cases: golden_points.hpp and digest.hpp of tests/golden/."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DIGESTS = Path(__file__).parents[1] / "golden" / "digests.txt"


def read_digests(section):
    """The lines of a section: what follows the section's name, and the digest."""
    lines = (line.split() for line in DIGESTS.read_text().splitlines() if line[0] != "#")
    prefix = section + "/"
    return {name[len(prefix) :]: digest for name, digest in lines if name.startswith(prefix)}


def golden_words(seed, numbers):
    """64 random bits for each number: the output function of SplitMix64."""
    with np.errstate(over="ignore"):
        count = np.asarray(numbers, np.uint64) + np.uint64(1)
        words = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        words = words + count * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))


def golden_points(shape, dtype, rows, dims, seed, are_directions=False):
    row, d = np.mgrid[:rows, :dims]
    words = golden_words(seed, row * dims + d)
    if shape == "uniform":
        values = (words >> np.uint64(40)) * 2.0**-24
    elif shape == "grid":
        values = (words % np.uint64(6)).astype(np.float64)
    elif shape == "clusters":
        values = row % 7 * (d + 3) % 11 + (words >> np.uint64(48)) * 2.0**-20
    elif shape == "repeats":
        again = golden_words(seed, row % (rows // 4 + 1) * dims + d)
        values = (again >> np.uint64(40)) * 2.0**-24
    elif shape == "offset":
        values = 4194304 + (words % np.uint64(16)) * 0.5
    else:
        exponents = (words % np.uint64(64)).astype(np.int64) - 32
        sizes = np.ldexp(1 + (words >> np.uint64(41)) * 2.0**-23, exponents)
        values = np.where((words & np.uint64(64)) != 0, -sizes, sizes)
    if are_directions:
        values[:, -1] = 1
    return values.astype(dtype)


def digest_of(*arrays):
    """FNV-1a, 64 bits, over the bytes of arrays."""
    state = 0xCBF29CE484222325
    for array in arrays:
        for byte in np.ascontiguousarray(array).tobytes():
            state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{state:016x}"
