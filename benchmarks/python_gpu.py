"""Times kith.Index on CuPy arrays, and cupyx.scipy.spatial.KDTree beside it; a table on stdout, times as JSON.

Usage: python_gpu.py OUT.json [C++ results of gpu_search_timer, to compare with]. Events around whole calls, median of 9.
"""

import json
import sys
from pathlib import Path

import cupy
import numpy as np

import kith
from machine import machine


def median_ms(call, runs=9):
    call()
    times = []
    for _ in range(runs):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end))
    return float(np.median(times))


def native_ms(native, search, points, k):
    for row in native["rows"]:
        if (row["search"], row["cloud"], row["points"], row["dims"], row["dtype"], row["k"]) == (
            search, "uniform", points, 3, "f32", k):
            return row["ms"]
    return None


def peer_ms(points, queries):
    from cupyx.scipy.spatial import KDTree

    build = median_ms(lambda: KDTree(points), 3)
    tree = KDTree(points)
    return build, median_ms(lambda: tree.query(queries, k=8), 3)


def main():
    native = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")) if len(sys.argv) > 2 else {"rows": []}
    rows = []
    for count in (1_000_000, 10_000_000):
        rng = cupy.random.default_rng(1)
        points = rng.random((count, 3), dtype=cupy.float32)
        queries = rng.random((count, 3), dtype=cupy.float32)
        index = kith.Index(points)
        allowed = rng.random(count, dtype=cupy.float32) < 0.5
        radius = (30 / count * 3 / (4 * np.pi)) ** (1 / 3)  # so that a ball holds about 30 points
        radii = cupy.full(count, radius)
        row = {
            "points": count,
            "build_ms": median_ms(lambda: kith.Index(points)),
            "self_ms": median_ms(lambda: index.knn(k=8)),
            "self_native_ms": native_ms(native, "self", count, 8),
            "other_ms": median_ms(lambda: index.knn(queries, 8)),
            "other_native_ms": native_ms(native, "other", count, 8),
            "one_us": 1000 * median_ms(lambda: index.knn(queries[0], 8), 101),
            "eps_ms": median_ms(lambda: index.knn(queries, 8, eps=0.1)),
            "allowed_ms": median_ms(lambda: index.knn(queries, 8, allowed=allowed)),
            "radius_ms": median_ms(lambda: index.radius(radius=radius)),
            "radii_ms": median_ms(lambda: index.radius(queries, radii)),
            "latency_us": {some: 1000 * median_ms(lambda: index.knn(queries[:some], 8), 101) for some in (1, 10, 100, 1000)},
        }
        try:
            row["cupyx_build_ms"], row["cupyx_query_ms"] = peer_ms(points, queries)
        except Exception as error:  # it must not take the figures of kith with it
            row["cupyx_error"] = f"{type(error).__name__}: {error}"[:200]
        rows.append(row)
        print(row, flush=True)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        there = {**native.get("machine", {}), **machine(), "gpu": kith.devices()[1].name, "cupy": cupy.__version__}
        json.dump({"machine": there, "rows": rows}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
