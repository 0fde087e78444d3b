"""The two rules for outliers: mean distances against a threshold, and neighbours in a circle."""

import math

from svg_theme import BLUE, FAINT, INK, ORANGE

from .canvas import Drawing, View
from .clouds import clusters, nearest, squared

NEIGHBORS, RADIUS, LEAST = 6, 110, 3
CLOUD = clusters(110, [(330, 360, 210), (650, 640, 190), (420, 440, 260)], 4) + clusters(9, [(500, 500, 900)], 17)
SIDE, GAP, LEFT, TOP = 205, 16, 16, 34
BINS = 21


def mean_distances():
    """To the nearest others, nearest first."""
    means = []
    for point in CLOUD:
        total = 0.0
        for square, _ in nearest(CLOUD, point, NEIGHBORS + 1)[1:]:
            total += math.sqrt(square)
        means.append(total / NEIGHBORS)
    return means


def threshold_of(means, ratio):
    total = squares = 0.0
    for value in means:
        total += value
    mean = total / len(means)
    for value in means:
        squares += (value - mean) * (value - mean)
    return mean + ratio * math.sqrt(squares / (len(means) - 1))


def draw_histogram(svg, left, means, threshold):
    most = max(means) * 1.02
    counts = [[0, 0] for _ in range(BINS)]
    for value in means:
        counts[int(value / most * BINS)][value > threshold] += 1
    width, high = SIDE / BINS, max(sum(both) for both in counts)
    base = TOP + SIDE
    for i, (kept, out) in enumerate(counts):
        tall, x = (SIDE - 30) / high, left + i * width
        if kept:
            svg.rect(x + 1, base - kept * tall, width - 2, kept * tall, BLUE)
        if out:
            svg.rect(x + 1, base - (kept + out) * tall, width - 2, out * tall, ORANGE)
    svg.line([(left, base), (left + SIDE, base)], FAINT, 1)
    place = left + SIDE * threshold / most
    svg.line([(place, TOP + 26), (place, base)], INK, 1.6, "4 3")
    svg.note(place, TOP + 16, "threshold", anchor="middle", fill=INK)


def draw():
    means = mean_distances()
    threshold = threshold_of(means, 2)
    far = [i for i, value in enumerate(means) if value > threshold]
    counts = [len([j for j, other in enumerate(CLOUD) if j != i and squared(point, other) <= RADIUS**2]) for i, point in enumerate(CLOUD)]
    few = [i for i, count in enumerate(counts) if count < LEAST]
    svg = Drawing(
        TOP + SIDE + 38, "Two rules for outliers",
        f"Of {len(CLOUD)} points {len(far)} are outliers by their mean distance to {NEIGHBORS} neighbours and {len(few)} by fewer "
        f"than {LEAST} others near them.",
    )
    second = LEFT + SIDE + GAP
    svg.heading(LEFT, TOP - 10, f"--neighbors {NEIGHBORS}")
    with View(svg, LEFT, TOP, SIDE) as view:
        svg.segments(
            [(view.at(CLOUD[i]), view.at(CLOUD[j])) for i in far for _, j in nearest(CLOUD, CLOUD[i], NEIGHBORS + 1)[1:]], ORANGE, 0.9
        )
        draw_points(svg, view, far)
    view.frame(FAINT)
    svg.note(LEFT, TOP + SIDE + 21, f"{len(far)} outliers, lines to neighbours")
    svg.heading(second, TOP - 10, "mean distances")
    draw_histogram(svg, second, means, threshold)
    svg.note(second, TOP + SIDE + 21, "mean + 2 deviations of all")
    third = second + SIDE + GAP
    svg.heading(third, TOP - 10, f"--min-neighbors {LEAST}")
    with View(svg, third, TOP, SIDE) as view:
        for i in few:
            view.ball(CLOUD[i], RADIUS, ORANGE, 1)
        draw_points(svg, view, few)
    view.frame(FAINT)
    svg.note(third, TOP + SIDE + 21, f"{len(few)} with fewer than {LEAST} in --radius")
    return svg.whole()


def draw_points(svg, view, out):
    svg.dots(view.all(p for i, p in enumerate(CLOUD) if i not in out), BLUE, 4)
    svg.dots(view.all(CLOUD[i] for i in out), ORANGE, 7)
