"""Normals of a closed curve: the line that fits the neighbours, and the three ways to choose a direction."""

import math

from svg_theme import BLUE, BLUE_TINT, FAINT, INK, ORANGE

from .canvas import Drawing, View
from .clouds import Numbers, nearest
from .icp import normal_of

K = 6
SIDE, GAP, LEFT, TOP = 205, 16, 16, 34
VIEWPOINT = (500, 470)
CORNERS = [(170, 200), (500, 120), (830, 210), (880, 520), (700, 620), (720, 860), (440, 890), (230, 720), (130, 470)]


def curve():
    """Points along a closed curve that touches the middles of the sides (quadratic Bezier arcs), each a little off."""
    numbers, points = Numbers(8), []
    for i, corner in enumerate(CORNERS):
        before, after = CORNERS[i - 1], CORNERS[(i + 1) % len(CORNERS)]
        begin = [(before[d] + corner[d]) // 2 for d in (0, 1)]
        end = [(corner[d] + after[d]) // 2 for d in (0, 1)]
        for t in range(8):
            place = [((8 - t) ** 2 * begin[d] + 2 * t * (8 - t) * corner[d] + t * t * end[d]) // 64 for d in (0, 1)]
            x = place[0] + numbers.around(0, 6)
            points.append((x, place[1] + numbers.around(0, 6)))
    return points


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


def turned(normal, ahead):
    return normal if ahead else (-normal[0], -normal[1])


def axis_directions(normals):
    """The largest component is positive."""
    return [turned(n, (n[0] if abs(n[0]) > abs(n[1]) else n[1]) > 0) for n in normals]


def towards_viewpoint(points, normals):
    return [turned(n, dot(n, (VIEWPOINT[0] - p[0], VIEWPOINT[1] - p[1])) > 0) for p, n in zip(points, normals)]


def consistent(points, normals):
    """Passed on from the highest point, which looks upwards, along a spanning tree whose edges differ least (Prim)."""
    edges = {i: set() for i in range(len(points))}
    for i, point in enumerate(points):
        for _, j in nearest(points, point, K):
            edges[i].add(j)
            edges[j].add(i)
    top = max(range(len(points)), key=lambda i: points[i][1])
    found, tree = {top: turned(normals[top], normals[top][1] > 0)}, []
    while len(found) < len(points):
        options = [(1 - abs(dot(normals[i], normals[j])), i, j) for i in found for j in edges[i] if j not in found]
        _, i, j = min(options)
        found[j] = turned(normals[j], dot(found[i], normals[j]) > 0)
        tree.append((i, j))
    return [found[i] for i in range(len(points))], tree


def draw_fit(svg, view, points, normals, i):
    """One point, its neighbours, and the line that fits them."""
    near = nearest(points, points[i], K)
    view.ball(points[i], math.sqrt(near[-1][0]) + 10, BLUE, 1, fill=BLUE_TINT)
    n = normals[i]
    x = y = 0
    for _, j in near:
        x, y = x + points[j][0], y + points[j][1]
    x, y = x / K, y / K
    svg.line([view.at((x - 150 * n[1], y + 150 * n[0])), view.at((x + 150 * n[1], y - 150 * n[0]))], BLUE, 1.6)
    svg.dots(view.all(points[j] for _, j in near), BLUE, 6)


def draw():
    points = curve()
    normals = [normal_of(points, p, K) for p in points]
    passed_on, tree = consistent(points, normals)
    svg = Drawing(
        TOP + SIDE + 38, "Directions of normals",
        f"Normals of {len(points)} points on a closed curve, each across the line that fits {K} points: by axis, viewpoint and consistent.",
    )
    panels = [
        ("axis", axis_directions(normals), f"across the line of {K} points"),
        ("viewpoint", towards_viewpoint(points, normals), "towards the ring"),
        ("consistent", passed_on, "the highest point looks up"),
    ]
    for column, (title, directions, note) in enumerate(panels):
        left = LEFT + column * (SIDE + GAP)
        svg.heading(left, TOP - 10, f"--orient {title}")
        with View(svg, left, TOP, SIDE) as view:
            if column == 0:
                for i in (2, 36):
                    draw_fit(svg, view, points, normals, i)
            if column == 2:
                svg.segments([(view.at(points[i]), view.at(points[j])) for i, j in tree], FAINT, 0.9)
            ends = [(p[0] + 95 * n[0], p[1] + 95 * n[1]) for p, n in zip(points, directions)]
            svg.arrows(zip(view.all(points), view.all(ends)), ORANGE, 1.3, 5)
            svg.dots(view.all(points), INK, 3.6)
            if column == 1:
                svg.circle(*view.at(VIEWPOINT), 6, BLUE, 2.4)
        view.frame(FAINT)
        svg.note(left, TOP + SIDE + 21, note)
    return svg.whole()
