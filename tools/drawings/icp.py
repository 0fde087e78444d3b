"""Iterative closest points in the plane: pairs, poses and errors, iteration by iteration."""

import math

from svg_chart import LinearAxis, LogAxis, Panel
from svg_theme import BLUE, FAINT, GRID, ORANGE

from .canvas import Drawing, View
from .clouds import Numbers

PANEL, LEFT, GAP, TOP, ROW = 316, 16, 16, 34, 266
HEIGHT = 204
ITERATIONS = 24
NORMAL_NEIGHBOURS = 5

# Corners of a room as a scanner might see it.
WALLS = [(60, 80), (60, 520), (330, 520), (330, 400), (560, 400), (560, 560), (900, 560), (900, 90), (640, 90), (640, 190), (420, 190)]


def scan(first, last, spacing, seed):
    """Points along the walls, each a little off, between two shares of the whole way."""
    numbers, points = Numbers(seed), []
    lengths = [abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in zip(WALLS, WALLS[1:])]
    total, done = sum(lengths), 0  # whole numbers
    for (a, b), length in zip(zip(WALLS, WALLS[1:]), lengths):
        for at in range(0, length, spacing):
            if first * total <= 100 * (done + at) < last * total:
                x = a[0] + (b[0] - a[0]) * at // length + numbers.around(0, 4)
                points.append((float(x), float(a[1] + (b[1] - a[1]) * at // length + numbers.around(0, 4))))
        done += length
    return points


def moved(points, pose):
    cosine, sine, right, up = pose
    return [(cosine * x - sine * y + right, sine * x + cosine * y + up) for x, y in points]


def then(pose, next_pose):
    """One pose after another."""
    a, b, right, up = pose
    c, d, more_right, more_up = next_pose
    return (c * a - d * b, d * a + c * b, c * right - d * up + more_right, d * right + c * up + more_up)


def squared_distance(a, b):
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])


def pairs_of(source, target):
    """For each source point the index of the nearest of the target."""
    return [min(range(len(target)), key=lambda j: (squared_distance(p, target[j]), j)) for p in source]


def mean_of(points):
    x = y = 0.0
    for point in points:
        x, y = x + point[0], y + point[1]
    return x / len(points), y / len(points)


def normal_of(points, query, count=NORMAL_NEIGHBOURS):
    """The direction across the line that fits the nearest points best."""
    near = sorted(points, key=lambda p: (squared_distance(p, query), p))[:count]
    middle = mean_of(near)
    xx = xy = yy = 0.0
    for x, y in near:
        dx, dy = x - middle[0], y - middle[1]
        xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
    least = (xx + yy - math.sqrt((xx - yy) * (xx - yy) + 4 * xy * xy)) / 2
    nx, ny = (xy, least - xx) if abs(least - xx) > abs(least - yy) else (least - yy, xy)
    length = math.sqrt(nx * nx + ny * ny)
    return nx / length, ny / length


def step_to_points(source, partners):
    """The pose that moves points nearest to their partners."""
    a, b = mean_of(source), mean_of(partners)
    cosine = sine = 0.0
    for (px, py), (qx, qy) in zip(source, partners):
        px, py, qx, qy = px - a[0], py - a[1], qx - b[0], qy - b[1]
        cosine, sine = cosine + px * qx + py * qy, sine + px * qy - py * qx
    length = math.sqrt(cosine * cosine + sine * sine)
    cosine, sine = cosine / length, sine / length
    return cosine, sine, b[0] - cosine * a[0] + sine * a[1], b[1] - sine * a[0] - cosine * a[1]


def step_to_lines(source, partners, normals):
    """The same for distances along the normals of the partners, by one step of Gauss and Newton about the middle."""
    middle = mean_of(source)
    matrix, right = [[0.0] * 3 for _ in range(3)], [0.0] * 3
    for p, q, n in zip(source, partners, normals):
        x, y = p[0] - middle[0], p[1] - middle[1]
        row = (x * n[1] - y * n[0], n[0], n[1])
        error = (q[0] - p[0]) * n[0] + (q[1] - p[1]) * n[1]
        for i in range(3):
            right[i] += row[i] * error
            for j in range(3):
                matrix[i][j] += row[i] * row[j]
    turn, shift_x, shift_y = solved(matrix, right)
    half = turn / 2
    cosine, sine = (1 - half * half) / (1 + half * half), turn / (1 + half * half)
    return (
        cosine, sine, middle[0] - cosine * middle[0] + sine * middle[1] + shift_x,
        middle[1] - sine * middle[0] - cosine * middle[1] + shift_y,
    )


def solved(matrix, right):
    """Three equations, by elimination; the matrix is positive definite."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(3):
        for j in range(i + 1, 3):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    found = [0.0] * 3
    for i in (2, 1, 0):
        rest = rows[i][3]
        for j in range(i + 1, 3):
            rest -= rows[i][j] * found[j]
        found[i] = rest / rows[i][i]
    return found


def registered(source, target, method):
    """The pose before each iteration, and the error from the true places of the points in the same moment."""
    normals = [normal_of(target, q) for q in target]
    pose, poses = (1.0, 0.0, 0.0, 0.0), []
    for _ in range(ITERATIONS + 1):
        poses.append(pose)
        here = moved(source, pose)
        partners = pairs_of(here, target)
        step = (
            step_to_points(here, [target[j] for j in partners]) if method == "point"
            else step_to_lines(here, [target[j] for j in partners], [normals[j] for j in partners])
        )
        pose = then(pose, step)
    return poses


def error_of(points, truth):
    total = 0.0
    for p, q in zip(points, truth):
        total += squared_distance(p, q)
    return math.sqrt(total / len(points))


def draw():
    target = scan(0, 95, 24, 4)
    truth = scan(5, 100, 26, 9)
    cosine, sine = 40 / 41, 9 / 41  # a turn by 12.7 degrees, about the middle of the room
    source = moved(truth, (cosine, sine, 480 - cosine * 480 + sine * 320 + 24, 320 - sine * 480 - cosine * 320 - 26))
    poses = {method: registered(source, target, method) for method in ("plane", "point")}
    errors = {method: [error_of(moved(source, pose), truth) for pose in line] for method, line in poses.items()}
    shown = [0, 1, 3]
    height = TOP + 2 * ROW
    svg = Drawing(
        height, "Iterations of a registration",
        f"{len(source)} points are moved onto {len(target)} in the plane by iterative closest points; pairs after 0, 1 and 3 "
        "iterations, and the error over 24.",
    )
    for i, after in enumerate(shown):
        left, top = LEFT + i % 2 * (PANEL + GAP), TOP + i // 2 * ROW
        here = moved(source, poses["plane"][after])
        words = {0: "At the start", 1: "After 1 iteration"}.get(after, f"After {after} iterations")
        svg.heading(left, top - 9, words)
        with View(svg, left, top, PANEL, HEIGHT, low=(-50, -30), span=1110) as view:
            partners = pairs_of(here, target)
            svg.segments([(view.at(p), view.at(target[j])) for p, j in zip(here, partners)], FAINT, 1)
            svg.dots(view.all(target), BLUE, 4.6)
            svg.dots(view.all(here), ORANGE, 4.6)
        view.frame(GRID)
        svg.note(left, top + HEIGHT + 20, f"error {errors['plane'][after]:.1f}")
    left, top = LEFT + PANEL + GAP, TOP + ROW
    svg.heading(left, top - 9, "The error over iterations")
    values = [value for line in errors.values() for value in line]
    panel = Panel(svg, left + 40, top, PANEL - 44, HEIGHT - 22, LinearAxis(0, ITERATIONS, 6), LogAxis.around(values))
    panel.frame(range(0, ITERATIONS + 1, 6), "", "", y_label="{:g}".format)
    for value in panel.y_axis.steps(1, 2, 5):
        y = panel.at(0, value)[1]
        svg.text(left + 34, y + 4, f"{value:g}", size=12, anchor="end")
    panel.line(list(enumerate(errors["point"])), FAINT, width=2, dash="6 4")
    panel.line(list(enumerate(errors["plane"])), ORANGE, width=2.4)
    svg.key(left + 40, top + HEIGHT + 20, [("plane", ORANGE, "line"), ("point", FAINT, "dash")])
    keys = [("target", BLUE, "dot"), ("source", ORANGE, "dot"), ("pair: nearest of the target", FAINT, "line")]
    svg.key(LEFT, TOP + ROW + HEIGHT + 42, keys)
    return svg.whole()
