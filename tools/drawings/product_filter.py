"""The filter of brute force: products in few bits, a proven error, and exact distances for what may be near enough."""

from fractions import Fraction

from svg_theme import BLUE, BLUE_TINT, DOT, FAINT, FINE_GRID, INK, ORANGE

from .canvas import Drawing
from .clouds import Numbers

DIMS, POINTS, K, BITS = 6, 128, 4, 5  # kith has 11 bits on the GPU and 24 on the CPU; with 5 the errors can be seen
LEFT, TOP, HIGH = 52, 40, 300


def made_up():
    """A query and points around it, spread over the order of the scan; whole coordinates."""
    numbers = Numbers(23)
    query = [numbers.below(2001) - 1000 for _ in range(DIMS)]
    return query, [[numbers.around(value // 3, 1300) for value in query] for _ in range(POINTS)]


def rounded(value):
    """A whole number with only its leading bits."""
    size = abs(value)
    spare = max(size.bit_length() - BITS, 0)
    kept = (size + (1 << spare >> 1)) >> spare << spare
    return kept if value >= 0 else -kept


def norm(vector):
    total = 0
    for value in vector:
        total += value * value
    return total


def product(a, b):
    total = 0
    for x, y in zip(a, b):
        total += x * y
    return total


def filtered(rounds):
    """(Round, limit, [(point, approximate, error, exact or None)]) for each round of the scan, and the final answer."""
    query, points = made_up()
    short_query, unit = list(map(rounded, query)), Fraction(1, 1 << BITS)
    found, story = [], []
    for first, last in rounds:
        limit = found[K - 1][0] if len(found) >= K else None
        rows = []
        for i in range(first, last):
            sizes = norm(points[i]) + norm(query)
            approximate = sizes - 2 * product(short_query, map(rounded, points[i]))
            error = (2 * unit + unit * unit) * sizes  # each factor is off by a share of at most `unit`
            exact = norm([x - y for x, y in zip(query, points[i])])
            assert abs(approximate - exact) <= error
            passes = limit is None or approximate - error <= limit
            rows.append((i, approximate, error, exact if passes else None))
            if passes:
                found.append((exact, i))
        found = sorted(found)[:K]
        story.append((first, last, limit, rows))
    assert found == sorted((norm([x - y for x, y in zip(query, point)]), i) for i, point in enumerate(points))[:K]
    return story, found


def draw_rounds(title, rounds, words):
    story, found = filtered(rounds)
    rows = [row for _, _, _, part in story for row in part]
    exact = sum(1 for row in rows if row[3] is not None)
    svg = Drawing(TOP + HIGH + 92, title, f"{POINTS} points, {K} neighbours: {exact} exact distances, {POINTS - exact} points dismissed.")
    most = max(int(approximate + error) for _, approximate, error, _ in rows) * 104 // 100
    step = (svg.width - LEFT - 16) / POINTS
    place = lambda i, value: (LEFT + (i + 0.5) * step, TOP + HIGH - HIGH * float(value) / most)
    svg.heading(16, TOP - 14, f"A bar: a quick distance and its error; {POINTS - exact} of {POINTS} points are dismissed")
    for first, last, limit, _ in story:
        x = LEFT + first * step
        svg.line([(x, TOP), (x, TOP + HIGH)], FINE_GRID, 1)
        if limit is not None:
            svg.rect(x, place(0, limit)[1], (last - first) * step, TOP + HIGH - place(0, limit)[1], BLUE_TINT)
    for passes, colour in ((False, DOT), (True, ORANGE)):
        bars = [row for row in rows if (row[3] is not None) == passes]
        svg.segments([(place(i, a - e), place(i, a + e)) for i, a, e, _ in bars], colour, 2.2 if passes else 1.6)
    for first, last, limit, _ in story:
        if limit is not None:
            x, y = LEFT + first * step, place(0, limit)[1]
            svg.line([(x, y), (LEFT + last * step, y)], BLUE, 2.2)
    svg.dots([place(i, exact) for i, _, _, exact in rows if exact is not None], INK, 4.5)
    for value, i in found:
        svg.circle(*place(i, value), 6, BLUE, 2)
    svg.line([(LEFT, TOP), (LEFT, TOP + HIGH), (svg.width - 16, TOP + HIGH)], FAINT, 1)
    svg.text(30, TOP + HIGH / 2, "squared distance", size=13, fill=FAINT, anchor="middle", turned=True)
    svg.note((LEFT + svg.width - 16) / 2, TOP + HIGH + 20, words, anchor="middle")
    first_line = [("dismissed", DOT, "line"), ("may be nearer than the limit", ORANGE, "line"), ("limit: the 4th so far", BLUE, "line")]
    svg.key(LEFT, TOP + HIGH + 48, first_line)
    svg.key(LEFT, TOP + HIGH + 72, [("exact distance, computed for orange bars alone", INK, "dot"), ("neighbour", BLUE, "ring")])
    return svg.whole()


def draw_gpu():
    """The limit of a query changes between rounds, each of which sees as many points as all before it."""
    rounds, last = [(0, 8)], 8
    while last < POINTS:
        rounds.append((last, 2 * last))
        last *= 2
    return draw_rounds("The filter of brute force on a GPU", rounds, "points in the order of the scan; each round doubles what was seen")


def draw_cpu():
    """The limit changes with every panel of 16 points."""
    panels = [(first, first + 16) for first in range(0, POINTS, 16)]
    return draw_rounds("The filter of brute force on the CPU", panels, "points in the order of the scan, panels of 16")
