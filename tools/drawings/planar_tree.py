"""The k-d tree of the guarantees for points in the plane, as plainly as possible: building it, and the walk of one query."""

from dataclasses import dataclass, field

from .clouds import squared


@dataclass
class Node:
    level: int
    number: int  # from the left on its level
    members: list  # indices of points
    low: tuple  # the tight box
    high: tuple
    cell: tuple  # (low, high): the part of the plane that splits leave to it
    split: tuple = None  # (dimension, value)
    halves: list = field(default_factory=list)


def build(points, leaf_size, cell):
    """The root. Every level is split until no node has more than `leaf_size` points."""
    levels = 0
    while -(-len(points) >> levels) > leaf_size:
        levels += 1
    return make_node(points, list(range(len(points))), 0, 0, levels, None, cell)


def make_node(points, members, level, number, levels, cut_box, cell):
    low = tuple(min(points[i][d] for i in members) for d in (0, 1))
    high = tuple(max(points[i][d] for i in members) for d in (0, 1))
    node = Node(level, number, members, low, high, cell)
    if level == levels:
        node.members = sorted(members)
        return node
    box = (low, high) if level % 6 == 0 else cut_box
    dim = 1 if box[1][1] - box[0][1] > box[1][0] - box[0][0] else 0
    order = sorted(members, key=lambda i: (points[i][dim], points[i][1 - dim], i))
    # Node j of level l owns floor(j n / 2^l) to floor((j + 1) n / 2^l); the middle is that of the node 2 j + 1 below.
    count, below = len(points), 2 << level
    half = (2 * number + 1) * count // below - number * count // (1 << level)
    value = points[order[half]][dim]
    node.split = (dim, value)
    for side, part in enumerate((order[:half], order[half:])):
        node.halves.append(
            make_node(points, part, level + 1, 2 * number + side, levels, cut(box, dim, value, side), cut(cell, dim, value, side))
        )
    return node


def cut(box, dim, value, side):
    ends = [list(box[0]), list(box[1])]
    ends[1 - side][dim] = value
    return tuple(ends[0]), tuple(ends[1])


def leaves(node):
    return [node] if not node.halves else leaves(node.halves[0]) + leaves(node.halves[1])


def inner_nodes(node):
    return [] if not node.halves else [node, *inner_nodes(node.halves[0]), *inner_nodes(node.halves[1])]


def box_bound(node, query):
    """The squared distance of a point from the tight box of a node."""
    gaps = [max(node.low[d] - query[d], query[d] - node.high[d], 0) for d in (0, 1)]
    return gaps[0] ** 2 + gaps[1] ** 2


def gap_of_boxes(low, high, node):
    """The squared distance between a box and that of a node."""
    gaps = [max(node.low[d] - high[d], low[d] - node.high[d], 0) for d in (0, 1)]
    return gaps[0] ** 2 + gaps[1] ** 2


def path_to_leaf(node, query):
    """The nodes from the root to the leaf in whose cell the query lies."""
    path = [node]
    while node.halves:
        dim, value = node.split
        node = node.halves[query[dim] >= value]
        path.append(node)
    return path


class Walk:
    """One query: its own leaf first, then the other half of ever larger surroundings. `steps` tells what happened."""

    def __init__(self, points, root, query, k):
        self.points, self.query, self.k = points, query, k
        self.found, self.steps = [], []
        path = path_to_leaf(root, query)
        self.scan(path[-1])
        for above, inside in zip(path[-2::-1], path[:0:-1]):
            self.enter(above.halves[above.halves[0] is inside])

    def limit(self):
        return self.found[self.k - 1] if len(self.found) == self.k else (float("inf"), len(self.points))

    def scan(self, leaf):
        here = [(squared(self.points[i], self.query), i) for i in leaf.members]
        self.found = sorted(self.found + here)[: self.k]
        self.steps.append(("scanned", leaf, self.limit()[0]))

    def enter(self, node):
        if (box_bound(node, self.query), min(node.members)) >= self.limit():
            self.steps.append(("skipped", node, self.limit()[0]))
        elif not node.halves:
            self.scan(node)
        else:
            for half in sorted(node.halves, key=lambda half: (box_bound(half, self.query), half.number)):
                self.enter(half)
