"""Compares voxel downsampling by kith, small_gicp and Open3D in one run: one thread, f64, best of the rounds, as JSON and a table."""

import argparse
import importlib.metadata
import json
import os
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # of Open3D; before it is loaded

from machine import ROOT, machine  # noqa: E402

POINTS = 1_000_000


def ways(points, voxel):
    """Name: a function that returns how many points are left."""
    import kith
    import open3d
    import small_gicp

    legacy = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    tensor = open3d.t.geometry.PointCloud(open3d.core.Tensor(points))
    cloud = small_gicp.PointCloud(points)
    return {
        "kith, mean": lambda: len(kith.downsample(points, voxel=voxel, threads=1).points),
        "kith, first": lambda: len(kith.downsample(points, voxel=voxel, keep="first", threads=1).points),
        "small_gicp": lambda: small_gicp.voxelgrid_sampling(cloud, voxel, num_threads=1).size(),
        "Open3D, legacy": lambda: len(legacy.voxel_down_sample(voxel).points),
        "Open3D, tensor": lambda: len(tensor.voxel_down_sample(voxel).point.positions),
    }


def main():
    import kith
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/downsample_cpu.json")
    arguments = parser.parse_args()
    rows = []
    for shape, voxel in (("uniform", 0.02), ("lidar", 0.5)):
        points = np.asarray(kith.generate(shape, POINTS, seed=1), np.float64)
        best, left = {}, {}
        for _ in range(arguments.rounds):
            for name, run in ways(points, voxel).items():
                start = time.perf_counter()
                left[name] = run()
                took = 1e3 * (time.perf_counter() - start)
                best[name] = min(best.get(name, took), took)
        rows.append({"cloud": shape, "points": POINTS, "voxel": voxel, "left": left, "ms": {name: round(ms, 2) for name, ms in best.items()}})
        print(rows[-1])
    versions = {name: importlib.metadata.version(name) for name in ("small_gicp", "open3d")}
    arguments.out.write_text(json.dumps({"what": "voxel downsampling, f64, one thread", "machine": machine(), "versions": versions, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
