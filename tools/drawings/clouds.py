"""Made-up points with whole coordinates, the same everywhere: comparisons of distances between them are exact."""

SIZE = 1000  # clouds lie in a square of this side


class Numbers:
    """Pseudo-random whole numbers (a linear congruential generator of 64 bits)."""

    def __init__(self, seed):
        self.state = seed
        for _ in range(4):
            self.below(2)  # small seeds begin alike

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) * end >> 31

    def around(self, centre, spread):
        """Near a value, more often the nearer: by the sum of four numbers."""
        total = 0
        for _ in range(4):
            total += self.below(2 * spread + 1) - spread
        return centre + total // 2

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def uniform(count, seed, low=20, high=SIZE - 20):
    numbers = Numbers(seed)
    points = []
    for _ in range(count):
        x = low + numbers.below(high - low)
        points.append((x, low + numbers.below(high - low)))
    return points


def clusters(count, centres, seed):
    """Points around centres (x, y, spread), as many around each, inside of the square and all different."""
    numbers = Numbers(seed)
    points = []
    while len(points) < count:
        x, y, spread = centres[len(points) % len(centres)]
        right = numbers.around(x, spread)
        point = (right, numbers.around(y, spread))
        if point not in points and all(15 <= value <= SIZE - 15 for value in point):
            points.append(point)
    return points


def squared(a, b):
    """The squared distance of two points."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def nearest(points, query, k, candidates=None):
    """The k nearest as (squared distance, index), in kith's order."""
    numbers = range(len(points)) if candidates is None else candidates
    return sorted((squared(points[i], query), i) for i in numbers)[:k]


def apart(count, seed, gap, others=(), low=60, high=SIZE - 60):
    """Points of the square that are not closer than `gap` to each other, nor to the others."""
    numbers, points = Numbers(seed), []
    while len(points) < count:
        x = low + numbers.below(high - low)
        point = (x, low + numbers.below(high - low))
        if all(squared(point, other) >= gap * gap for other in [*points, *others]):
            points.append(point)
    return points
