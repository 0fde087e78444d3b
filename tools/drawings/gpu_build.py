"""Six levels of splits on a GPU while no point moves, then one scatter."""

from svg_theme import FAINT, INK, ORANGE, ramp

from .canvas import Drawing
from .clouds import SIZE, clusters
from .planar_tree import build

COUNT, LEVELS, BINS = 192, 6, 19
CLOUD = clusters(COUNT, [(260, 300, 330), (680, 640, 400), (500, 500, 800)], 3)
LEFT, TOP, WIDE, HIGH = 16, 34, 404, 150
STRIP, STEP = 17, 25


def nodes_by_level(root):
    """For each level the number of the node of each point."""
    levels = [[0] * COUNT for _ in range(LEVELS + 1)]
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for i in node.members:
            levels[node.level][i] = node.number
        waiting += node.halves
    return levels


def draw_histogram(svg, dim, value):
    """Counts of the root's points in bins of one dimension; the bin of the median; its candidates one by one."""
    counts = [0] * BINS
    for point in CLOUD:
        counts[point[dim] * BINS // SIZE] += 1
    bin_of_median = value * BINS // SIZE
    before, width, most = sum(counts[:bin_of_median]), WIDE / BINS, max(counts)
    base = TOP + HIGH
    for i, count in enumerate(counts):
        colour = ORANGE if i == bin_of_median else ramp(0, 2) if i < bin_of_median else ramp(1, 2)
        height = (HIGH - 26) * count / most
        svg.rect(LEFT + i * width + 1.5, base - height, width - 3, height, colour)
    svg.line([(LEFT, base), (LEFT + WIDE, base)], FAINT, 1)
    middle = LEFT + (bin_of_median + 0.5) * width
    svg.note(LEFT, base + 20, f"{before} points go left", fill=INK)
    svg.note(LEFT + WIDE, base + 20, f"{COUNT - before - counts[bin_of_median]} go right", anchor="end", fill=INK)
    svg.note(middle, base + 20, "median", anchor="middle", fill=ORANGE)
    candidates = sorted(point[dim] for point in CLOUD if point[dim] * BINS // SIZE == bin_of_median)
    left, right = LEFT + WIDE + 54, svg.width - LEFT
    low, high = bin_of_median * SIZE / BINS, (bin_of_median + 1) * SIZE / BINS
    axis = TOP + 74
    svg.rect(left - 6, axis - 26, right - left + 12, 52, "none", ORANGE, 1.4, round_by=4)
    lane = TOP + 12
    svg.line([(middle, base - (HIGH - 26) * counts[bin_of_median] / most - 4), (middle, lane), (left - 40, lane)], ORANGE, 1.6)
    svg.arrow((left - 40, lane), (left - 8, axis - 16), ORANGE)
    places = [(left + (right - left) * (x - low) / (high - low), axis) for x in candidates]
    rank = COUNT // 2 - before
    split = places[rank][0]
    svg.line([(split, axis - 38), (split, axis + 38)], INK, 2)
    svg.dots(places[:rank], ramp(0, 2), 9)
    svg.dots(places[rank:], ramp(1, 2), 9)
    svg.note((left + right) / 2, axis + 58, f"{len(candidates)} candidates,", anchor="middle", fill=INK)
    svg.note((left + right) / 2, axis + 75, f"the {ordinal(rank + 1)} is the split", anchor="middle", fill=INK)


def ordinal(number):
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def draw_strip(svg, top, owners, level):
    """Points in the order of memory, each in the colour of its node."""
    width = (svg.width - 2 * LEFT - 66) / COUNT
    for node in range(1 << level):
        places = [(LEFT + 66 + i * width, top + STRIP / 2) for i, owner in enumerate(owners) if owner == node]
        svg.cells(places, ramp(node, 1 << level), width, STRIP)


def draw():
    root = build(CLOUD, COUNT >> LEVELS, ((0, 0), (SIZE, SIZE)))
    dim, value = root.split
    levels = nodes_by_level(root)
    strips = TOP + HIGH + 74
    height = strips + LEVELS * STEP + 40 + STRIP + 44
    svg = Drawing(
        height, "Six levels of a build on a GPU before one scatter",
        f"{COUNT} points in the order of memory: after every level each has its node, at the end one scatter puts them in order.",
    )
    svg.heading(LEFT, TOP - 10, "One split: count all points in bins, then look at few")
    draw_histogram(svg, dim, value)
    svg.heading(LEFT, strips - 12, f"Six levels, and {COUNT} points that stay where they are")
    for level in range(1, LEVELS + 1):
        top = strips + (level - 1) * STEP
        svg.note(LEFT, top + 13, f"{1 << level} nodes")
        draw_strip(svg, top, levels[level], level)
    last = strips + LEVELS * STEP
    middle = LEFT + 66 + (svg.width - 2 * LEFT - 66) / 2
    svg.arrow((middle, last + 2), (middle, last + 32), INK, 2, 9)
    svg.note(middle + 14, last + 22, "one scatter", fill=INK)
    svg.note(LEFT, last + 53, "in order")
    draw_strip(svg, last + 40, sorted(levels[LEVELS]), LEVELS)
    svg.note(LEFT + 66, last + 40 + STRIP + 22, "Every node is now one piece of memory; the next six levels work inside of the pieces.")
    return svg.whole()
