"""Sequential classification: which new points vote for which later ones, and how long the chains get."""

import math

from svg_theme import BACK, BLUE, FAINT, GRID, INK, ORANGE

from .canvas import Drawing, View
from .clouds import SIZE, apart, nearest

K, NEW = 3, 20
TRAINING = apart(20, 12, 90)
LABELS = [int(x + y > SIZE) for x, y in TRAINING]
QUERIES = apart(NEW, 38, 100, TRAINING)
PANEL, LEFT, RIGHT, TOP = 316, 16, 352, 34


def classified():
    """For each new point its label, the earlier new points among its neighbours, and the length of the longest chain to it."""
    points, labels, waits, depths = TRAINING + QUERIES, list(LABELS), [], []
    for i in range(NEW):
        near = [j for _, j in nearest(points, QUERIES[i], K, range(len(TRAINING) + i))]
        votes = [labels[j] for j in near]
        labels.append(max(votes, key=lambda label: (votes.count(label), -votes.index(label))))
        waits.append([j - len(TRAINING) for j in near if j >= len(TRAINING)])
        depths.append(1 + max((depths[j] for j in waits[-1]), default=0))
    return labels[len(TRAINING) :], waits, depths


def badge(svg, place, words, label):
    """A disc or, of the other class, a square."""
    if label == 0:
        svg.circle(*place, 10.5, BACK, 1.5, fill=BLUE)
    else:
        svg.rect(place[0] - 10, place[1] - 10, 20, 20, ORANGE, BACK, 1.5, round_by=3)
    svg.text(place[0], place[1] + 4.2, words, size=12, fill=BACK, anchor="middle", weight="bold")


def shorter(begin, end, by_begin, by_end):
    """A line without its ends."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    length = math.sqrt(dx * dx + dy * dy)
    dx, dy = dx / length, dy / length
    return (begin[0] + dx * by_begin, begin[1] + dy * by_begin), (end[0] - dx * by_end, end[1] - dy * by_end)


def draw():
    labels, waits, depths = classified()
    depth = max(depths)
    svg = Drawing(
        TOP + PANEL + 62, "New points that wait for each other",
        f"{NEW} new points among {len(TRAINING)} labelled ones, {K} neighbours each: the longest chain of votes has {depth} of them.",
    )
    svg.heading(LEFT, TOP - 10, f"New points 1 to {NEW}, in order")
    with View(svg, LEFT, TOP, PANEL) as view:
        svg.dots(view.all(p for p, label in zip(TRAINING, LABELS) if label == 0), BLUE, 8)
        for p, label in zip(TRAINING, LABELS):
            if label == 1:
                svg.marker(*view.at(p), "square", ORANGE)
        places = view.all(QUERIES)
        for i, earlier in enumerate(waits):
            for j in earlier:
                svg.arrow(*shorter(places[j], places[i], 11, 12), FAINT, 1.4, 7)
        for i, place in enumerate(places):
            badge(svg, place, str(i + 1), labels[i])
    view.frame(GRID)
    svg.heading(RIGHT, TOP - 10, f"Chains of votes: depth {depth}")
    width = (svg.width - 16 - RIGHT) / depth
    spots = {}
    for number in range(1, depth + 1):
        members = [i for i in range(NEW) if depths[i] == number]
        x = RIGHT + (number - 0.5) * width
        svg.rect(x - width / 2 + 3, TOP, width - 6, PANEL, "none", GRID, round_by=6)
        svg.note(x, TOP + 20, f"{number}", anchor="middle", fill=INK)
        for n, i in enumerate(members):
            spots[i] = (x, TOP + 30 + (PANEL - 36) * (2 * n + 1) / (2 * len(members)))
    for i, earlier in enumerate(waits):
        for j in earlier:
            svg.arrow(*shorter(spots[j], spots[i], 11, 12), FAINT, 1.2, 7)
    for i, place in spots.items():
        badge(svg, place, str(i + 1), labels[i])
    keys = [("small: labelled before", BLUE, "dot"), ("arrow: from a new point to one that it votes for", FAINT, "line")]
    svg.key(LEFT, TOP + PANEL + 24, keys)
    svg.note(LEFT, TOP + PANEL + 48, f"All {NEW} searches run at once; only votes wait for each other, from left to right.")
    return svg.whole()
