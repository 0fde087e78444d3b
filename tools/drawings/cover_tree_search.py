"""A search in a cover tree: level by level, the balls that the triangle inequality rules out."""

import math
from dataclasses import dataclass, field

from svg_theme import BACK, BLUE, BLUE_TINT, DOT, FAINT, INK, ORANGE

from .canvas import Drawing, View
from .clouds import Numbers, clusters, nearest, squared

K, LEAF_SIZE = 6, 8
CLOUD = clusters(150, [(240, 250, 190), (700, 720, 230), (760, 270, 150), (290, 720, 180), (500, 500, 600)], 5)
QUERY = (640, 610)
SIDE, GAP, LEFT, TOP = 205, 16, 16, 56


@dataclass
class Node:
    centre: int
    level: int  # its radius is 2^level
    members: list
    children: list = field(default_factory=list)
    reach: float = 0.0  # exactly how far its objects are


def distance(a, b):
    return math.sqrt(squared(CLOUD[a], CLOUD[b]))


def build():
    """The rules of docs/cover_tree.md, without cells that are not worth splitting. Returns the root."""
    order = Numbers(2).shuffled(range(len(CLOUD)))
    place = {i: n for n, i in enumerate(order)}
    first = order[0]
    farthest = max(squared(CLOUD[i], CLOUD[first]) for i in order)
    level = 0
    while 4 ** (level + 1) < farthest:
        level += 1
    owner = {i: first for i in order}
    root = Node(first, level + 1, order)
    open_nodes = {first: root}
    while open_nodes:
        limit = 4**level
        new = []
        for i in sorted((i for i in order if owner[i] in open_nodes), key=place.get):
            if squared(CLOUD[i], CLOUD[owner[i]]) > limit and all(squared(CLOUD[i], CLOUD[c]) > limit for c in new):
                new.append(i)
        before = dict(owner)
        for i in order:
            if before[i] in open_nodes:
                owner[i] = min([before[i], *new], key=lambda c: (squared(CLOUD[i], CLOUD[c]), c != before[i], c))
        opened = {}
        for centre in [*open_nodes, *new]:
            members = [i for i in order if owner[i] == centre and before[i] in open_nodes]
            child = Node(centre, level, members)
            open_nodes[before[centre]].children.append(child)
            if len(members) > LEAF_SIZE:
                opened[centre] = child
        open_nodes, level = opened, level - 1
    settle_reach(root)
    return root


def settle_reach(node):
    """Objects may have moved to other cells: a node's are those found below it."""
    if node.children:
        node.members = [i for child in node.children for i in settle_reach(child)]
    node.reach = max(distance(node.centre, i) for i in node.members)
    return node.members


def search(root):
    """Nearest children first. Returns what happened to each node that was met, and the neighbours."""
    fates, found = [], []

    def from_query(i):
        return math.sqrt(squared(CLOUD[i], QUERY))

    def limit():
        return found[K - 1][0] if len(found) == K else math.inf

    def enter(node):
        nonlocal found
        fates.append((node, True))
        if not node.children:
            found = sorted(found + [(from_query(i), i) for i in node.members])[:K]
            return
        for child in sorted(node.children, key=lambda child: (from_query(child.centre), child.centre)):
            if from_query(child.centre) - child.reach > limit():
                fates.append((child, False))
            else:
                enter(child)

    enter(root)
    return fates, found


def draw():
    fates, found = search(build())
    assert [i for _, i in found] == [i for _, i in nearest(CLOUD, QUERY, K)]
    levels = sorted({node.level for node, _ in fates}, reverse=True)
    shown = levels[1:4]
    scanned = sum(len(node.members) for node, entered in fates if entered and not node.children)
    svg = Drawing(
        TOP + SIDE + 122, "A search in a cover tree",
        f"{len(CLOUD)} points, {K} neighbours: nodes of three levels that are entered or skipped; {scanned} points are in leaves "
        "that are scanned.",
    )
    svg.heading(LEFT, 24, f"A search for {K} neighbours: {scanned} of {len(CLOUD)} points are in leaves that it enters")
    radius = found[-1][0]
    for column, level in enumerate(shown):
        left = LEFT + column * (SIDE + GAP)
        here = [(node, entered) for node, entered in fates if node.level == level]
        entered = sum(1 for _, inside in here if inside)
        svg.text(left, TOP - 8, f"balls of radius {2**level}", size=13, weight="bold")
        with View(svg, left, TOP, SIDE, span=1000) as view:
            for node, inside in here:
                if inside:
                    view.ball(CLOUD[node.centre], node.reach, BLUE, 1.4, fill=BLUE_TINT)
            inside = {i for node, entered_ in here if entered_ for i in node.members}
            svg.dots(view.all(CLOUD[i] for i in range(len(CLOUD)) if i not in inside), DOT, 2.8)
            svg.dots(view.all(CLOUD[i] for i in sorted(inside)), BLUE, 3.4)
            for node, within in here:
                if not within:
                    view.ball(CLOUD[node.centre], max(node.reach, 12), FAINT, 1, "4 3")
            for node, within in here:
                svg.circle(*view.at(CLOUD[node.centre]), 3.4, BLUE if within else FAINT, 1.4, fill=BACK)
            view.ball(QUERY, radius, ORANGE, 2)
            svg.dots(view.all(CLOUD[i] for _, i in found), ORANGE, 5)
            svg.dots([view.at(QUERY)], INK, 6)
        view.frame()
        svg.note(left, TOP + SIDE + 20, f"{entered} entered, {len(here) - entered} skipped")
    row = TOP + SIDE + 50
    svg.key(LEFT, row, [("entered: the ball reaches into the circle", BLUE_TINT, "cell"), ("neighbours", ORANGE, "dot")])
    svg.key(LEFT, row + 24, [("skipped: distance of the centre - reach > the limit", FAINT, "dash"), ("query", INK, "dot")])
    svg.key(LEFT, row + 48, [("the circle of the answer; a ball is drawn as far as its points reach", ORANGE, "ring")])
    return svg.whole()
