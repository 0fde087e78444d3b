"""The k-d tree of a cloud, and what one query looks at: its own leaf, then only what its circle reaches."""

import math

from svg_theme import BACK, BLUE, BLUE_TINT, DOT, FAINT, GREY_TINT, GRID, INK, ORANGE

from .canvas import Drawing, View
from .clouds import SIZE, clusters, nearest
from .planar_tree import Walk, build, inner_nodes, leaves

K, LEAF_SIZE = 5, 6
QUERY = (480, 720)
CLOUD = clusters(176, [(300, 300, 250), (720, 680, 260), (500, 500, 700), (480, 520, 700)], 7)
PANEL, LEFT, GAP, TOP, ROW = 316, 16, 16, 34, 384


def draw_splits(svg, view, root):
    for node in sorted(inner_nodes(root), key=lambda node: -node.level):
        dim, value = node.split
        ends = [list(node.cell[0]), list(node.cell[1])]
        ends[0][dim] = ends[1][dim] = value
        svg.line([view.at(ends[0]), view.at(ends[1])], INK if node.level < 2 else FAINT, max(0.7, 2.6 - 0.55 * node.level))


def draw_progress(svg, view, walk, root, count):
    """The first `count` steps of a walk: leaves scanned, parts skipped, the circle and what is found."""
    steps = walk.steps[:count]
    scanned = [node for what, node, _ in steps if what == "scanned"]
    for what, node, _ in steps:
        if what == "skipped":
            view.box(*node.cell, fill=GREY_TINT)
    for node in scanned:
        view.box(*node.cell, fill=BLUE_TINT)
    for node in leaves(root):
        view.box(*node.cell, stroke=GRID, line_width=0.8)
    for what, node, _ in steps:
        if what == "skipped":
            view.box(*node.cell, stroke=FAINT, line_width=1.3)
    seen = {i for node in scanned for i in node.members}
    svg.dots(view.all(CLOUD[i] for i in range(len(CLOUD)) if i not in seen), DOT, 3.6)
    svg.dots(view.all(CLOUD[i] for i in sorted(seen)), BLUE, 5)
    radii = []
    for what, _, limit in steps:
        if what == "scanned" and math.isfinite(limit) and limit not in radii:
            radii.append(limit)
    for limit in radii[:-1]:
        view.ball(QUERY, math.sqrt(limit), ORANGE, 1, "3 4")
    found = [i for _, i in nearest(CLOUD, QUERY, K, seen)]
    svg.segments([(view.at(QUERY), view.at(CLOUD[i])) for i in found], ORANGE, 1.6)
    svg.dots(view.all(CLOUD[i] for i in found), ORANGE, 7)
    view.ball(QUERY, math.sqrt(radii[-1]), ORANGE, 2)
    svg.circle(*view.at(QUERY), 4.5, BACK, 1.5, fill=INK)


def draw():
    root = build(CLOUD, LEAF_SIZE, ((0, 0), (SIZE, SIZE)))
    walk = Walk(CLOUD, root, QUERY, K)
    assert walk.found == nearest(CLOUD, QUERY, K)
    scans = [i for i, (what, _, _) in enumerate(walk.steps) if what == "scanned"]
    svg = Drawing(
        TOP + 2 * ROW - 16, "The walk of one query through a k-d tree",
        f"{len(CLOUD)} points, leaves of at most {LEAF_SIZE}; a search for {K} neighbours scans {len(scans)} of "
        f"{len(leaves(root))} leaves.",
    )
    stages = [scans[0] + 1, scans[2] + 1, len(walk.steps)]
    skipped = sum(len(node.members) for what, node, _ in walk.steps if what == "skipped")
    seen = len(CLOUD) - skipped
    titles = [
        f"The tree: {len(leaves(root))} leaves", "1  The query's own leaf", "2  After three leaves",
        f"3  Done: {seen} of {len(CLOUD)} points seen",
    ]
    for i, title in enumerate(titles):
        left, top = LEFT + i % 2 * (PANEL + GAP), TOP + i // 2 * ROW
        svg.heading(left, top - 9, title)
        with View(svg, left, top, PANEL) as view:
            if i == 0:
                for leaf in leaves(root):
                    view.box(leaf.low, leaf.high, fill=BLUE_TINT)
                draw_splits(svg, view, root)
                svg.dots(view.all(CLOUD), INK, 4)
            else:
                draw_progress(svg, view, walk, root, stages[i - 1])
        view.frame()
    keys = [
        ("scanned", BLUE_TINT, "cell"), ("skipped unseen", GREY_TINT, "cell"), ("found so far", ORANGE, "dot"),
        ("earlier circles", ORANGE, "dash"),
    ]
    svg.key(LEFT, TOP + ROW + PANEL + 24, keys)
    svg.key(LEFT, TOP + PANEL + 24, [("a leaf's tight box", BLUE_TINT, "cell")])
    svg.key(LEFT + PANEL + GAP, TOP + PANEL + 24, [(f"the circle that holds the {K} best so far", ORANGE, "ring")])
    return svg.whole()
