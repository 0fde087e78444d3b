"""Pairs of clouds with known poses, and generalized ICP by kith, small_gicp, Open3D and PCL: what comparisons share.

Every library gets the same f64 points, the same start and the same greatest distance of pairs; planes and covariances are
fitted to 16 neighbours, nothing is downsampled, and each stops by its own defaults. PCL keeps points as f32. It has no
Python package: a program of ours (register_with_pcl.cpp) runs it.

A library's function returns the pose, the number of iterations (None: unknown) and the milliseconds of its phases.
"""

import importlib.metadata
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from machine import ROOT

NEIGHBORS = 16
DATA = ROOT.parent / "shared" / "data"
PCL_PROGRAM = Path(os.environ.get("KITH_PCL_REGISTRATION", ROOT / "build/bin/register_with_pcl"))


class Phases:
    """Milliseconds from one call to the next, by the clock of the class."""

    clock = time.perf_counter

    def __init__(self):
        self.ms, self.last = {}, Phases.clock()

    def end(self, phase):
        now = Phases.clock()
        self.ms[phase] = 1e3 * (now - self.last)
        self.last = now


def turned(angle, axis, shift):
    """A pose of 4 x 4: a turn about an axis, then a shift."""
    import numpy as np

    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    pose[:3, 3] = shift
    return pose


def moved(points, pose):
    return points @ pose[:3, :3].T + pose[:3, 3]


def bunny(name):
    """A range scan and its published pose: p_world = R(q)^T p + t."""
    import kith
    import numpy as np

    words = next(line for line in (DATA / "stanford_bunny/bun.conf").read_text().splitlines() if f" {name} " in line).split()
    *t, x, y, z, w = (float(word) for word in words[2:])
    turn = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn.T, t
    return np.asarray(kith.read_points(DATA / "stanford_bunny" / name).points, np.float64), pose


def made_pairs():
    """(name, source, target, true pose, greatest distance of pairs)."""
    import kith
    import numpy as np

    rng = np.random.default_rng(1)
    if DATA.exists():
        first, first_pose = bunny("bun000.ply")
        second, second_pose = bunny("bun045.ply")
        truth = np.linalg.inv(first_pose) @ second_pose
        off = turned(0.1, [1, 2, 3], [0.002, -0.003, 0.001])
        yield "bunny 045 on 000", moved(second, off @ truth), first, np.linalg.inv(off), 0.01
        to = np.loadtxt(DATA / "libpointmatcher/car_cloud400.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2))
        source = np.loadtxt(DATA / "libpointmatcher/car_cloud401.csv")
        words = (DATA / "libpointmatcher/carCloudList.csv").read_text().splitlines()[2].split(",")[1:]
        yield "car 401 on 400", source, to, np.array([float(word) for word in words]).reshape(4, 4), 2.0
        for name in ("office1", "table_scene_mug_stereo_textured"):
            scan = np.asarray(kith.read_points(DATA / f"pcl/{name}.pcd").points, np.float64)
            scan = scan[np.isfinite(scan).all(axis=1)]
            pose = turned(0.05, [0, 1, 1], [0.03, -0.02, 0.01])
            yield f"{name.split('_')[0]}, halves", moved(scan[1::2], np.linalg.inv(pose)), scan[::2], pose, 0.1
    scan = np.asarray(kith.generate("lidar", 200_000, seed=1), np.float64)
    pose = turned(0.02, [0, 0, 1], [0.8, 0.1, 0.02])
    pick = rng.random(len(scan)) < 0.5
    noise = rng.normal(0, 0.01, (int(pick.sum()), 3))
    yield "made-up street, halves", moved(scan[pick] + noise, np.linalg.inv(pose)), scan[~pick], pose, 2.0


def by_kith(source, target, distance, threads, start=None):
    import kith

    phases = Phases()
    same = {"method": "gicp", "neighbors": NEIGHBORS, "threads": threads, "device": "cpu"}
    models = [kith.RegistrationTarget(points, **same) for points in (target, source)]
    phases.end("prepare")  # trees and normals
    found = models[0].align(
        models[1], initial="identity" if start is None else start, max_distance=distance, threads=threads, correspondences=False
    )
    phases.end("register")
    return found.transformation, len(found.iterations), phases.ms


def by_small_gicp(source, target, distance, threads, start=None):
    import numpy as np
    import small_gicp

    phases = Phases()
    clouds = [small_gicp.PointCloud(points) for points in (target, source)]
    trees = [small_gicp.KdTree(cloud, num_threads=threads) for cloud in clouds]
    phases.end("tree")
    for cloud, tree in zip(clouds, trees, strict=True):
        small_gicp.estimate_covariances(cloud, tree, num_neighbors=NEIGHBORS, num_threads=threads)
    phases.end("covariances")
    start = np.eye(4) if start is None else start
    found = small_gicp.align(clouds[0], clouds[1], trees[0], start, max_correspondence_distance=distance, num_threads=threads)
    phases.end("register")
    return found.T_target_source, found.iterations + 1, phases.ms


def by_open3d(source, target, distance, threads, start=None):
    import numpy as np
    import open3d

    phases = Phases()
    clouds = []
    for points in (source, target):
        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
        cloud.estimate_covariances(open3d.geometry.KDTreeSearchParamKNN(NEIGHBORS))
        clouds.append(cloud)
    phases.end("prepare")  # covariances, with a tree for each cloud; that of the target is built again
    found = open3d.pipelines.registration.registration_generalized_icp(*clouds, distance, np.eye(4) if start is None else start)
    phases.end("register")
    return found.transformation, None, phases.ms


def pcl_times(source, target, distance, start=None):
    """What the program says: pose, version and times. It uses one thread."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        command = [PCL_PROGRAM]
        for name, values in (("source", source), ("target", target), ("pose", start)):
            if values is not None:
                path = Path(folder) / name
                np.ascontiguousarray(values, dtype="<f8").tofile(path)
                command.append(path)
            if name == "target":
                command += [repr(float(distance)), str(NEIGHBORS)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def by_pcl(source, target, distance, threads, start=None):
    import numpy as np

    found = pcl_times(source, target, distance, start)
    phases = {phase: found[f"{phase}_ms"] for phase in ("tree", "covariances", "register")}
    return np.reshape(found["pose"], (4, 4)), found["iterations"], phases


LIBRARIES = {"kith": by_kith, "small_gicp": by_small_gicp, "open3d": by_open3d}


def with_pcl():
    """The libraries, PCL among them if its program was built."""
    return {**LIBRARIES, "pcl": by_pcl} if PCL_PROGRAM.exists() else LIBRARIES


def versions(libraries):
    """Of those that kith is compared with."""
    found = {name: importlib.metadata.version(name) for name in ("small_gicp", "open3d")}
    if "pcl" in libraries:
        few = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] * NEIGHBORS
        found["pcl"] = pcl_times(few, few, 1.0)["pcl"]
    return found


def errors(pose, truth):
    """Degrees, and the shift of the origin; None for a pose that is not finite."""
    import numpy as np

    if not np.isfinite(pose).all():
        return None, None
    rest = np.linalg.inv(truth) @ pose
    sine = np.linalg.norm(rest[:3, :3] - np.eye(3)) / (2 * 2**0.5)
    return float(np.degrees(2 * np.arcsin(min(sine, 1)))), float(np.linalg.norm(rest[:3, 3]))
