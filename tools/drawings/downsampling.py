"""Three ways to take fewer points: the mean of each voxel, the farthest points, and a least distance."""

from fractions import Fraction

from svg_theme import BLUE, BLUE_TINT, DOT, FAINT, GRID, ORANGE

from .canvas import Drawing, View
from .clouds import clusters, squared

VOXEL, FARTHEST, DISTANCE = 200, 14, 150
CLOUD = clusters(170, [(300, 330, 160), (300, 330, 90), (680, 660, 260), (500, 500, 700)], 21)
SIDE, GAP, LEFT, TOP = 205, 16, 16, 34


def voxel_means():
    """A mean for each voxel, in the order of the first points."""
    voxels = {}
    for x, y in CLOUD:
        voxels.setdefault((x // VOXEL, y // VOXEL), []).append((x, y))
    means = []
    for members in voxels.values():
        across = down = 0
        for x, y in members:
            across, down = across + x, down + y
        means.append((Fraction(across, len(members)), Fraction(down, len(members))))
    return [(float(x), float(y)) for x, y in means]


def farthest_points():
    """Each the farthest from those before it; the first is row 0."""
    taken = [0]
    while len(taken) < FARTHEST:
        gaps = [(min(squared(point, CLOUD[j]) for j in taken), -i) for i, point in enumerate(CLOUD)]
        taken.append(-max(gaps)[1])
    return taken


def no_closer():
    """Points in order, each unless one that was kept is within the distance."""
    kept = []
    for i, point in enumerate(CLOUD):
        if all(squared(point, CLOUD[j]) > DISTANCE**2 for j in kept):
            kept.append(i)
    return kept


def draw():
    means, far, kept = voxel_means(), farthest_points(), no_closer()
    svg = Drawing(
        TOP + SIDE + 38, "Three ways to take fewer points",
        f"Of {len(CLOUD)} points {len(means)} means of voxels, {len(far)} farthest points, {len(kept)} no closer than a distance.",
    )
    titles = [f"--voxel: {len(means)} means", f"--farthest {FARTHEST}", f"--distance: {len(kept)} points"]
    words = ["one for each square in use", "numbers: the order of taking", "circles: one kept in each"]
    for column, (title, note) in enumerate(zip(titles, words)):
        left = LEFT + column * (SIDE + GAP)
        svg.heading(left, TOP - 10, title)
        with View(svg, left, TOP, SIDE) as view:
            if column == 0:
                for corner in sorted({(x // VOXEL, y // VOXEL) for x, y in CLOUD}):
                    low = (corner[0] * VOXEL, corner[1] * VOXEL)
                    view.box(low, (low[0] + VOXEL, low[1] + VOXEL), fill=BLUE_TINT, stroke=GRID)
            if column == 2:
                for i in kept:
                    view.ball(CLOUD[i], DISTANCE, BLUE, 0.8)
            svg.dots(view.all(CLOUD), DOT, 3.4)
            if column == 1:
                for order, i in enumerate(far):
                    x, y = view.at(CLOUD[i])
                    svg.dots([(x, y)], ORANGE, 7)
                    svg.label(x + (9 if x < left + SIDE - 24 else -9), y + (14 if y < TOP + 20 else -4), str(order + 1), size=11)
            else:
                svg.dots(view.all(means) if column == 0 else view.all(CLOUD[i] for i in kept), ORANGE, 7)
        view.frame(FAINT)
        svg.note(left, TOP + SIDE + 21, note)
    return svg.whole()
