"""A made-up drive of a car with a lidar: the pose of each frame from the last one, by kith, small_gicp and Open3D.

A sensor of 64 beams goes along a street between houses, parked cars and poles, and round a corner, about a metre per frame.
Each frame is thinned out to voxels of 25 cm, gets an index and covariances of 16 neighbours, and is registered by generalized
ICP with the frame before, beginning with the motion of that one. Every library uses its own functions for all of it, keeps what
it made of a frame for the next one as far as its interface allows, and gets f64 points. The error is that of the motion from frame to
frame, and of the whole way.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from machine import ROOT, machine
from registration_peers import NEIGHBORS, errors, turned

VOXEL = 0.25
REACH = 2.0


def street(rng):
    """Boxes (least and greatest corner): houses, parked cars and poles along a street that bends once."""
    import numpy as np

    boxes = []
    for leg in range(2):
        for side in (-1, 1):
            along = -30.0
            while along < 110:
                length, gap = rng.uniform(8, 20), rng.uniform(0.5, 5)
                near = side * rng.uniform(9, 12)
                across = sorted((near, near + side * rng.uniform(6, 12)))
                boxes.append((leg, along, along + length, *across, 0, rng.uniform(4, 15)))
                along += length + gap
            for at in np.arange(-25, 105, 9.0):
                if rng.random() < 0.6:
                    car = at + rng.uniform(-1, 1)
                    across = sorted((side * 5.5, side * 7.3))
                    boxes.append((leg, car, car + 4.3, *across, 0.2, rng.uniform(1.4, 1.9)))
                pole = at + 6 + rng.uniform(-1, 1)
                boxes.append((leg, pole, pole + 0.25, *sorted((side * 8.0, side * 8.25)), 0, 6))
    least, greatest = [], []
    for leg, a0, a1, c0, c1, z0, z1 in boxes:
        # The second leg goes along y, from the end of the first at x = 60.
        low, high = ((a0, c0, z0), (a1, c1, z1)) if leg == 0 else ((60 + c0, a0 + 15, z0), (60 + c1, a1 + 15, z1))
        on_road = leg == 0 and low[0] < 72 and high[0] > 48 and high[1] > -3  # where the other leg begins
        blocks = leg == 1 and low[1] < 12 and low[0] < 60
        if not on_road and not blocks:
            least.append(low)
            greatest.append(high)
    return np.array(least), np.array(greatest)


def way(frames):
    """Poses of the sensor: along x, then round a corner of 12 m radius, then along y."""
    import numpy as np

    poses, speed, radius = [], 1.0, 12.0
    for i in range(frames):
        s = i * speed
        straight = 48.0
        if s < straight:
            x, y, heading = s, 0.0, 0.0
        elif s < straight + radius * np.pi / 2:
            heading = (s - straight) / radius
            x, y = straight + radius * np.sin(heading), radius * (1 - np.cos(heading))
        else:
            x, y, heading = straight + radius, radius + s - straight - radius * np.pi / 2, np.pi / 2
        poses.append(turned(heading, [0, 0, 1], [x, y, 1.8 + 0.03 * np.sin(0.7 * i)]) @ turned(0.01 * np.sin(0.4 * i), [0, 1, 0], [0, 0, 0]))
    return poses


def seen(boxes, pose, rng):
    """What the sensor sees from a pose, in its own coordinates, with 2 cm of noise along the beams."""
    import numpy as np

    beams = np.radians(np.linspace(-24, 4, 64))
    turns = np.radians(np.arange(0, 360, 0.5)) + np.radians(0.25) * rng.random()
    elevation, azimuth = (grid.ravel() for grid in np.meshgrid(beams, turns, indexing="ij"))
    rays = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], axis=1)
    world = rays @ pose[:3, :3].T
    origin = pose[:3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / world
        reach = np.where(world[:, 2] < 0, -origin[2] * inverse[:, 2], np.inf)  # the ground
        for low, high in zip(*boxes, strict=True):
            if np.linalg.norm(np.maximum(0, np.maximum(low - origin, origin - high))[:2]) > 80:
                continue
            one, two = (low - origin) * inverse, (high - origin) * inverse
            enter = np.minimum(one, two).max(axis=1)
            leave = np.maximum(one, two).min(axis=1)
            hit = (enter < leave) & (enter > 0.5) & (enter < reach)
            reach = np.where(hit, enter, reach)
    there = reach < 80
    distances = reach[there] + rng.normal(0, 0.02, int(there.sum()))
    return rays[there] * distances[:, None]


class Kith:
    def __init__(self, threads):
        self.threads = threads

    def prepared(self, points):
        import kith

        thin = kith.downsample(points, voxel=VOXEL, threads=self.threads).points
        return kith.RegistrationTarget(thin, method="gicp", neighbors=NEIGHBORS, threads=self.threads, device="cpu")

    def pose(self, source, target, start):
        return target.align(source, initial=start, max_distance=REACH, threads=self.threads, correspondences=False).transformation


class SmallGicp:
    def __init__(self, threads):
        self.threads = threads

    def prepared(self, points):
        import small_gicp

        return small_gicp.preprocess_points(points, downsampling_resolution=VOXEL, num_neighbors=NEIGHBORS, num_threads=self.threads)

    def pose(self, source, target, start):
        import small_gicp

        return small_gicp.align(
            target[0], source[0], target[1], start, max_correspondence_distance=REACH, num_threads=self.threads
        ).T_target_source


class Open3D:
    def __init__(self, threads):
        pass  # of its process: OMP_NUM_THREADS

    def prepared(self, points):
        import open3d

        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points)).voxel_down_sample(VOXEL)
        cloud.estimate_covariances(open3d.geometry.KDTreeSearchParamKNN(NEIGHBORS))
        return cloud

    def pose(self, source, target, start):
        import open3d

        return open3d.pipelines.registration.registration_generalized_icp(source, target, REACH, start).transformation


LIBRARIES = {"kith": Kith, "small_gicp": SmallGicp, "open3d": Open3D}


def measure(frames, threads, clock):
    import numpy as np

    rng = np.random.default_rng(1)
    boxes = street(rng)
    poses = way(frames)
    scans = [seen(boxes, pose, rng) for pose in poses]
    libraries = {name: library(threads) for name, library in LIBRARIES.items()}
    last = {name: library.prepared(scans[0]) for name, library in libraries.items()}
    motion = dict.fromkeys(libraries)
    whole = dict.fromkeys(libraries)
    found = {name: {"prepare_ms": 0.0, "register_ms": 0.0, "degrees": [], "shift": []} for name in libraries}
    for name in libraries:
        motion[name], whole[name] = np.eye(4), np.eye(4)
    for i in range(1, frames):
        truth = np.linalg.inv(poses[i - 1]) @ poses[i]
        for name, library in libraries.items():
            start = clock()
            prepared = library.prepared(scans[i])
            middle = clock()
            motion[name] = np.array(library.pose(prepared, last[name], motion[name]))
            end = clock()
            last[name] = prepared
            whole[name] = whole[name] @ motion[name]
            degrees, shift = errors(motion[name], truth)
            row = found[name]
            row["prepare_ms"] += 1e3 * (middle - start) / (frames - 1)
            row["register_ms"] += 1e3 * (end - middle) / (frames - 1)
            row["degrees"].append(degrees)
            row["shift"].append(shift)
    for name, row in found.items():
        degrees, shift = errors(whole[name], np.linalg.inv(poses[0]) @ poses[-1])
        row["whole_degrees"], row["whole_shift"] = degrees, shift
        row["degrees"], row["shift"] = float(np.median(row["degrees"])), float(np.median(row["shift"]))
    points = int(np.mean([len(scan) for scan in scans]))
    return {"frames": frames, "points": points, "threads": threads, **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--clock", choices=["elapsed", "cpu"], default="elapsed", help="cpu: where other work runs, with one thread")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/registration_drive.json")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # in a process of its own
    arguments = parser.parse_args()
    if arguments.clock == "cpu" and arguments.threads != [1]:
        sys.exit("--clock cpu measures one thread: add --threads 1")
    if arguments.measure:
        clock = time.process_time if arguments.clock == "cpu" else time.perf_counter
        print(json.dumps(measure(arguments.frames, arguments.measure, clock)))
        return
    rows = []
    for threads in arguments.threads:
        command = [sys.executable, __file__, "--measure", str(threads), "--frames", str(arguments.frames), "--threads", str(threads)]
        command += ["--clock", arguments.clock]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)}, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        for name in LIBRARIES:
            row = rows[-1][name]
            print(f"{threads} threads, {name}: prepare {row['prepare_ms']:.1f} ms, register {row['register_ms']:.1f} ms, "
                  f"{row['degrees']:.4f} deg, {row['shift']:.4f} m a frame, {row['whole_degrees']:.3f} deg, {row['whole_shift']:.3f} m in all")
    versions = {name: importlib.metadata.version(name) for name in ("small_gicp", "open3d")}
    arguments.out.write_text(json.dumps({"what": "a made-up drive", "clock": arguments.clock, "machine": machine(), "versions": versions, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
