"""What each builder of the k-d tree does to an array on one level: strips of cells, coloured by coordinate."""

from svg_theme import BACK, BLUE, GOLD, INK, ORANGE, ramp

from .canvas import Drawing
from .clouds import Numbers

COUNT = 24
HALF = COUNT // 2
KEYS = Numbers(6).shuffled(range(4, 100, 4))  # x of each point, all different
MEDIAN = sorted(KEYS)[HALF]
OTHERS = Numbers(9).shuffled(range(4, 100, 4))  # y
LIGHT, BLACK, DARK_KEYS = "#fdfdfd", "#171717", 32  # letters on colours that are the same in both themes
LEFT, NAME, CELL, HIGH, STEP = 16, 104, 22, 20, 27


class Strips:
    """Rows of cells, one below the other, each with a name."""

    def __init__(self, svg, top):
        self.svg, self.top = svg, top

    def heading(self, name, words):
        self.svg.heading(LEFT, self.top + 4, name)
        self.svg.note(NAME + LEFT, self.top + 4, words)
        self.top += 14

    def row(self, name, points, colour=None, keys=KEYS, cuts=(), marks=()):
        """Cells for points, in the colour of their key or in that which `colour` gives; gaps at `cuts`."""
        x = LEFT + NAME
        self.svg.note(LEFT, self.top + 15, name, fill=INK)
        for i, point in enumerate(points):
            x += 7 if i in cuts else 0
            fill = colour(point) if colour else ramp(keys[point] // 4 - 1, COUNT)
            self.svg.rect(x + 0.7, self.top, CELL - 1.4, HIGH, fill, INK if point in marks else None, 2.2, round_by=3)
            text = BACK if colour else LIGHT if keys[point] < DARK_KEYS else BLACK
            self.svg.text(x + CELL / 2, self.top + 14.5, str(keys[point]), size=11, fill=text, anchor="middle")
            x += CELL
        self.top += STEP

    def halves(self, name, points, colour=None, keys=KEYS):
        """What a builder leaves behind, which is the same for all but for the order inside of the halves."""
        assert set(points[:HALF]) == {i for i in range(COUNT) if KEYS[i] < MEDIAN}
        self.row(name, points, colour, keys, cuts=[HALF])


def side_of(point):
    return BLUE if KEYS[point] < MEDIAN else ORANGE


def by_histogram(strips):
    """A bracket from a sample, counts, one partition."""
    points = list(range(COUNT))
    sample = sorted(KEYS[i] for i in points[::4])
    low, high = sample[len(sample) // 2 - 2], sample[len(sample) // 2 + 1]
    inside = sorted(KEYS[i] for i in points if low <= KEYS[i] < high)
    below = len([i for i in points if KEYS[i] < low])
    value = inside[HALF - below]
    strips.heading("histogram", f"a sample brackets the median: {low} to {high}; {below} lie below")
    strips.row("counted", points, lambda i: BLUE if KEYS[i] < low else GOLD if KEYS[i] < high else ORANGE, marks=[KEYS.index(value)])
    strips.halves("moved once", partition(points, value), side_of)


def partition(points, value):
    """Two ends move inwards and exchange what stands on the wrong side."""
    order, first, last = list(points), 0, len(points) - 1
    while True:
        while first < len(order) and KEYS[order[first]] < value:
            first += 1
        while last >= 0 and KEYS[order[last]] >= value:
            last -= 1
        if first > last:
            return order
        order[first], order[last] = order[last], order[first]


def by_select(strips):
    """The bucket of the median by its leading digit, then quickselect inside."""
    points = list(range(COUNT))
    digit = lambda i: KEYS[i] // 25
    middle = digit(KEYS.index(MEDIAN))
    lower = [i for i in points if digit(i) < middle]
    bucket = [i for i in points if digit(i) == middle]
    moved = [*lower, *bucket, *(i for i in points if digit(i) > middle)]
    strips.heading("select", "four buckets are counted; only that of the median goes on")
    shade = lambda i: BLUE if digit(i) < middle else GOLD if digit(i) == middle else ORANGE
    strips.row("bucket found", points, shade)
    strips.row("moved aside", moved, shade, cuts=[len(lower), len(lower) + len(bucket)])
    inner = [i for i in bucket if KEYS[i] < MEDIAN] + [i for i in bucket if KEYS[i] >= MEDIAN]
    done = [*lower, *inner, *moved[len(lower) + len(bucket) :]]
    strips.halves("quickselect", done, side_of)


def by_segsort(strips):
    """Sorted, and cut in the middle."""
    order = sorted(range(COUNT), key=KEYS.__getitem__)
    strips.heading("segsort", "all nodes of a level are sorted in one call and cut in the middle")
    strips.row("as it lies", range(COUNT))
    strips.halves("sorted, cut", order)


def by_presort(strips):
    """Two orders that were sorted once; the split of x divides that of y stably."""
    by_x = sorted(range(COUNT), key=KEYS.__getitem__)
    by_y = sorted(range(COUNT), key=OTHERS.__getitem__)
    left = set(by_x[:HALF])
    strips.heading("presort", "sorted once by x and once by y; a split divides both orders stably")
    strips.halves("order by x", by_x, side_of)
    strips.row("order by y", by_y, side_of, OTHERS)
    strips.halves("divided", [i for i in by_y if i in left] + [i for i in by_y if i not in left], side_of, OTHERS)


def draw():
    svg = Drawing(
        4 * 54 + 10 * STEP + 10, "One level by each of the four builders",
        f"{COUNT} points are split at their middle by x: histogram, select, segsort and presort end with the same two halves.",
    )
    strips = Strips(svg, 24)
    for build in (by_histogram, by_select, by_segsort, by_presort):
        build(strips)
        strips.top += 30
    svg.key(LEFT, strips.top, [("left half", BLUE, "cell"), ("right half", ORANGE, "cell"), ("not known yet", GOLD, "cell")])
    return svg.whole()
