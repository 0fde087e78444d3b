"""A packet of the search on a GPU: 32 queries that lie together, the leaves they reach, and their pairs dealt out to lanes."""

import math

from svg_theme import BLUE_TINT, DOT, FAINT, FINE_GRID, GRID, ORANGE, ramp

from .canvas import Drawing, View
from .clouds import SIZE, clusters, nearest
from .planar_tree import box_bound, build, gap_of_boxes, leaves

QUERIES, LEAF_SIZE, K = 32, 8, 8
PACKET = 11  # which 32 points of the tree's order
SPARE = 2  # neighbours more than wanted that the estimated radius holds
CLOUD = clusters(512, [(300, 320, 420), (700, 660, 380), (500, 500, 800)], 11)
PANEL, LEFT, RIGHT, TOP = 316, 16, 348, 34


def outward(first, last, count):
    """Ranges of leaves: the packet's own, then its sibling, that of both together, and so on."""
    yield from range(first, last)
    while last - first < count:
        size = last - first
        other = range(last, last + size) if first // size % 2 == 0 else range(first - size, first)
        yield from other
        first, last = min(first, other[0]), max(last, other[-1] + 1)


def pairs_of_packet():
    """The tree's leaves, the queries, the radius, the leaves that are reached, and the (leaf, query) pairs."""
    tree = leaves(build(CLOUD, LEAF_SIZE, ((0, 0), (SIZE, SIZE))))
    own = QUERIES // LEAF_SIZE
    queries = [i for leaf in tree[PACKET * own : (PACKET + 1) * own] for i in leaf.members]
    middle = CLOUD[queries[QUERIES // 2]]
    radius = nearest(CLOUD, middle, K + 1 + SPARE)[-1][0]
    low, high = box_of(queries)
    order = outward(PACKET * own, (PACKET + 1) * own, len(tree))
    reached = [tree[i] for i in order if gap_of_boxes(low, high, tree[i]) <= radius]
    pairs = [
        (column, row) for column, leaf in enumerate(reached) for row, query in enumerate(queries)
        if box_bound(leaf, CLOUD[query]) <= radius
    ]
    return tree, queries, radius, reached, pairs


def box_of(members):
    places = [CLOUD[i] for i in members]
    return tuple(min(p[d] for p in places) for d in (0, 1)), tuple(max(p[d] for p in places) for d in (0, 1))


def draw_cloud(svg, tree, queries, radius, reached):
    low, high = box_of(queries)
    reach = math.sqrt(radius)
    middle = [(low[d] + high[d]) / 2 for d in (0, 1)]
    span = 2.2 * max(high[0] - low[0], high[1] - low[1])
    corner = tuple(min(max(middle[d] - span / 2, 0), SIZE - span) for d in (0, 1))
    with View(svg, LEFT, TOP, PANEL, low=corner, span=span) as view:
        for leaf in reached:
            view.box(*leaf.cell, fill=BLUE_TINT)
        for leaf in tree:
            view.box(*leaf.cell, stroke=GRID, line_width=0.8)
        (left, bottom), (right, top) = view.at(low), view.at(high)
        grown = reach * view.scale
        svg.rect(left - grown, top - grown, right - left + 2 * grown, bottom - top + 2 * grown, "none", ORANGE, 1.4, "5 4", round(grown))
        svg.rect(left, top, right - left, bottom - top, "none", ORANGE, 2)
        taken = set(queries)
        svg.dots(view.all(p for i, p in enumerate(CLOUD) if i not in taken), DOT, 4.2)
        for row, i in enumerate(queries):
            svg.dots([view.at(CLOUD[i])], ramp(row, QUERIES), 7.5)
    view.frame()


def draw_pairs(svg, reached, pairs):
    width, height = PANEL / len(reached), PANEL / QUERIES
    for column in range(0, len(reached) + 1):
        svg.line([(RIGHT + column * width, TOP), (RIGHT + column * width, TOP + PANEL)], FINE_GRID, 1)
    for row in range(QUERIES):
        y = TOP + (row + 0.5) * height
        svg.cells([(RIGHT + c * width + 1, y) for c, r in pairs if r == row], ramp(row, QUERIES), width - 2, height - 2)
    svg.rect(RIGHT, TOP, PANEL, PANEL, "none", FAINT)


def draw_lanes(svg, top, pairs):
    """Pair i goes to lane i mod 32, in round i // 32."""
    width, height = (svg.width - 2 * LEFT) / QUERIES, 15
    rounds = -(-len(pairs) // QUERIES)
    for row in range(QUERIES):
        places = [(i % QUERIES, i // QUERIES) for i, (_, query) in enumerate(pairs) if query == row]
        svg.cells(
            [(LEFT + lane * width + 1, top + (turn + 0.5) * height) for lane, turn in places], ramp(row, QUERIES), width - 2, height - 2
        )
    svg.rect(LEFT - 2, top - 2, svg.width - 2 * LEFT + 4, rounds * height + 4, "none", FAINT)
    return top + rounds * height


def draw():
    tree, queries, radius, reached, pairs = pairs_of_packet()
    rounds = -(-len(pairs) // QUERIES)
    most = max(sum(1 for _, row in pairs if row == query) for query in range(QUERIES))
    lanes = TOP + PANEL + 72
    svg = Drawing(
        lanes + rounds * 15 + 42, "A packet of 32 queries on a GPU",
        f"{QUERIES} queries reach {len(reached)} of {len(tree)} leaves together and form {len(pairs)} pairs of query and leaf, "
        f"which 32 lanes take in {rounds} rounds; a lane per query would take {most}.",
    )
    svg.heading(LEFT, TOP - 10, "32 queries, one walk")
    draw_cloud(svg, tree, queries, radius, reached)
    svg.key(LEFT, TOP + PANEL + 22, [("packet's box", ORANGE, "line"), ("reached", BLUE_TINT, "cell"), ("radius", ORANGE, "dash")])
    svg.heading(RIGHT, TOP - 10, f"{len(pairs)} pairs that are near enough")
    draw_pairs(svg, reached, pairs)
    svg.note(RIGHT, TOP + PANEL + 22, f"across: the {len(reached)} leaves reached; down: 32 queries")
    svg.heading(LEFT, lanes - 12, f"The pairs dealt out to 32 lanes: {rounds} rounds")
    bottom = draw_lanes(svg, lanes, pairs)
    svg.note(LEFT, bottom + 26, f"A lane for each query would need {most} rounds: as many as the query with the most leaves.")
    return svg.whole()
