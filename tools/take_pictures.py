#!/usr/bin/env python3
"""Takes docs/pictures/*.webp: pages that kith writes, as Chromium shows them.

Pictures depend on the browser and its fonts, so no test compares them: run this after a change that shows.
"""

import io
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from browser import Browser, find_browser  # noqa: E402

KITH = ROOT / "build" / "bin" / "kith"
PICTURES = ROOT / "docs" / "pictures"
SIZE = (1200, 720)


def kith(folder, *words):
    subprocess.run([KITH, *words, "--quiet"], cwd=folder, check=True)


def scan_page(folder):
    """A street, coloured by height, with a point and its neighbours."""
    kith(folder, "generate", "--shape", "lidar", "--points", "120k", "--seed", "4", "--out", "street.ply")
    kith(folder, "view", "street.ply", "-k", "8", "--color", "z", "--out", "view.html")
    return (
        "kithView.set({range: [-1, 3.2], size: 3, camera: {target: [-3, 7, 0], distance: 40, yaw: -0.9, pitch: 0.42}});"
        "kithView.pick(0, 45210)"
    )


def pair_page(folder):
    """Two scans, half way to where one belongs on the other."""
    kith(folder, "generate", "--shape", "surface", "--points", "60k", "--seed", "1", "--out", "map.ply")
    kith(folder, "transform", "map.ply", "--rotate-z", "25", "--translate", "0.3,0.1,0.1", "--out", "scan.ply")
    kith(folder, "register", "scan.ply", "map.ply", "--initial", "global", "--out", "pose.txt")
    kith(folder, "view", "scan.ply", "map.ply", "--pose", "pose.txt", "--color", "cloud", "--out", "view_pair.html")
    return "kithView.set({slider: 0.35})"


def main():
    PICTURES.mkdir(exist_ok=True)
    browser = Browser(find_browser())
    try:
        for name, make, dark in [("view", scan_page, True), ("view_pair", pair_page, False)]:
            with tempfile.TemporaryDirectory() as folder:
                script = make(folder)
                tab = browser.open(pathlib.Path(folder) / f"{name}.html", size=SIZE, dark=dark)
                tab.run(script)
                tab.rest()
                picture = Image.open(io.BytesIO(tab.picture().data)).convert("RGB")
                tab.close()
            picture.save(PICTURES / f"{name}.webp", quality=86, method=6)
            print(f"docs/pictures/{name}.webp", (PICTURES / f"{name}.webp").stat().st_size)
    finally:
        browser.close()


if __name__ == "__main__":
    main()
