"""Counts how often registration finds the pose of clouds of which nothing is known, by kith and by Open3D, and how long it takes.

The source of each pair is turned by random rotations, the same for both libraries. kith: `initial="global"`, then its refinement by
generalized ICP. Open3D: FPFH of voxel means and RANSAC as in its tutorial (100 000 iterations, confidence 0.999), with the side of
voxels that kith chose, then its generalized ICP within two of them. Found is a pose that puts every point of the source within a
hundredth of the target's diagonal of where it belongs. Times are medians over the turns, of start and refinement together.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

from machine import ROOT, machine

DATA = ROOT.parent / "shared" / "data"


def random_turn(rng):
    import numpy as np

    w, x, y, z = (quaternion := rng.normal(size=4)) / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def scan(path):
    import kith
    import numpy as np

    points = np.asarray(kith.read_points(DATA / path).points, np.float64)[:, :3]
    return points[np.isfinite(points).all(axis=1)]


def bunny_pose(name):
    """The published one: p_world = R(q)^T p + t."""
    import numpy as np

    words = next(line for line in (DATA / "stanford_bunny/bun.conf").read_text().splitlines() if f" {name} " in line).split()
    *t, x, y, z, w = (float(word) for word in words[2:])
    pose = np.eye(4)
    pose[:3, :3] = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ])
    pose[:3, 3] = t
    return pose


def two_parts(points, rng, noise):
    """Parts on both sides of a random plane that have 40 % of each in common, of 60 % of the points each, with noise."""
    import numpy as np

    axis = rng.normal(size=3)
    order = np.argsort(points @ axis)
    size = int(len(points) / 1.6)
    parts = [points[rows[rng.random(size) < 0.6]] for rows in (order[:size], order[-size:])]
    return [part + rng.normal(0, noise, part.shape) for part in parts]


def made_pairs():
    """(name, source, target, where the source belongs)."""
    import kith
    import numpy as np

    rng = np.random.default_rng(1)
    if DATA.exists():
        for first, second in (("045", "000"), ("090", "045"), ("090", "000")):
            source, target = (scan(f"stanford_bunny/bun{name}.ply") for name in (first, second))
            pose = np.linalg.inv(bunny_pose(f"bun{second}.ply")) @ bunny_pose(f"bun{first}.ply")
            yield f"bunny {first} on {second}", source, target, source @ pose[:3, :3].T + pose[:3, 3]
        target = np.loadtxt(DATA / "libpointmatcher/car_cloud400.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2))
        source = np.loadtxt(DATA / "libpointmatcher/car_cloud401.csv")
        words = (DATA / "libpointmatcher/carCloudList.csv").read_text().splitlines()[2].split(",")[1:]
        pose = np.array([float(word) for word in words]).reshape(4, 4)
        yield "car 401 on 400", source, target, source @ pose[:3, :3].T + pose[:3, 3]
        for name, path, noise in (("bunny", "stanford_bunny/bun_zipper.ply", 1e-4), ("office1", "pcl/office1.pcd", 2e-3)):
            source, target = two_parts(scan(path), rng, noise)
            yield f"{name}, 40 % in common", source, target, source
    source, target = two_parts(np.asarray(kith.generate("surface", 60_000, seed=1), np.float64), rng, 5e-4)
    yield "made-up surface, 40 % in common", source, target, source
    source, target = two_parts(np.asarray(kith.generate("lidar", 100_000, seed=1), np.float64), rng, 0.01)
    yield "made-up street, 40 % in common", source, target, source


def by_kith(source, target, threads, voxel):  # noqa: ARG001: it chooses its own voxels
    import kith

    found = kith.register(source, target, initial="global", threads=threads, device="cpu", correspondences=False)
    return found.transformation, found.global_start


def by_open3d(source, target, threads, voxel):  # noqa: ARG001: OpenMP has the number of threads
    import open3d

    steps = open3d.pipelines.registration
    clouds, means, features = [], [], []
    for points in (source, target):
        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
        few = cloud.voxel_down_sample(voxel)
        few.estimate_normals(open3d.geometry.KDTreeSearchParamHybrid(radius=2 * voxel, max_nn=30))
        clouds.append(cloud)
        means.append(few)
        features.append(steps.compute_fpfh_feature(few, open3d.geometry.KDTreeSearchParamHybrid(radius=5 * voxel, max_nn=100)))
    near = 1.5 * voxel
    checks = [steps.CorrespondenceCheckerBasedOnEdgeLength(0.9), steps.CorrespondenceCheckerBasedOnDistance(near)]
    start = steps.registration_ransac_based_on_feature_matching(
        *means, *features, True, near, steps.TransformationEstimationPointToPoint(False), 3, checks, steps.RANSACConvergenceCriteria(100_000, 0.999)
    )
    for cloud in clouds:
        cloud.estimate_covariances(open3d.geometry.KDTreeSearchParamKNN(16))
    return steps.registration_generalized_icp(*clouds, 2 * voxel, start.transformation).transformation, None


def measure(pair, turns, open3d_turns, threads):
    import numpy as np

    name, source, target, truth = pair
    limit = 0.01 * np.linalg.norm(target.max(axis=0) - target.min(axis=0))
    rng = np.random.default_rng(7)
    row = {"pair": name, "source": len(source), "target": len(target), "threads": threads}
    kith_ms, times, found = [], {"kith": [], "open3d": []}, {"kith": 0, "open3d": 0}
    for number in range(turns):
        turned = source @ random_turn(rng).T
        voxel = None
        for library, register in (("kith", by_kith), ("open3d", by_open3d)):
            if library == "open3d" and number >= open3d_turns:
                continue
            began = time.perf_counter()
            pose, start = register(turned, target, threads, voxel)
            times[library].append(1e3 * (time.perf_counter() - began))
            if start:
                voxel = start.voxel
                kith_ms.append(start.milliseconds)
            off = np.linalg.norm(turned @ pose[:3, :3].T + pose[:3, 3] - truth, axis=1).max()
            found[library] += bool(off < limit)
    row["kith"] = {"turns": turns, "found": found["kith"], "ms": round(statistics.median(times["kith"]), 1), "start_ms": round(statistics.median(kith_ms), 1)}
    if times["open3d"]:
        row["open3d"] = {"turns": len(times["open3d"]), "found": found["open3d"], "ms": round(statistics.median(times["open3d"]), 1)}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--open3d-turns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/global_start.json")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # before Open3D is loaded
    rows = []
    for pair in made_pairs():
        rows.append(measure(pair, arguments.turns, arguments.open3d_turns, arguments.threads))
        print(json.dumps(rows[-1]), flush=True)
    report = {"what": "global start and generalized ICP, f64", "machine": machine(), "versions": {}, "rows": rows}
    if arguments.open3d_turns > 0:
        import importlib.metadata

        report["versions"] = {"open3d": importlib.metadata.version("open3d")}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
