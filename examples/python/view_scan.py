"""A scan to turn and to zoom

A street as a lidar scanner sees it, coloured by how much its surface bends. A click on a point shows its neighbours.
"""

import sys

import kith

scan = kith.generate("lidar", 60_000, 3, seed=4)
surface = kith.normals(scan)
page = kith.view(
    scan,
    columns={"curvature": surface.curvature, "normal": surface.normals},
    k=8,
    color="curvature",
    title="A made-up street",
)
print(page)
page.save(sys.argv[1] if len(sys.argv) > 1 else "view_scan.html")
