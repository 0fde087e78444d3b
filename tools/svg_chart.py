"""Charts as SVG, mostly with logarithmic axes, by the standard library alone: the same values give the same bytes.

They follow the theme of the page (svg_theme.py), text stays text, and lines differ by marker or dash, not by colour alone.
"""

import math
from xml.sax.saxutils import escape, quoteattr

from svg_theme import BACK, BLUE, FAINT, FINE_GRID, GOLD, GREEN, GRID, INK, ORANGE, PURPLE, SLATE, style_sheet

COLOURS = [BLUE, ORANGE, GREEN, PURPLE, GOLD, SLATE]
MARKERS = ["circle", "square", "triangle", "diamond", "cross"]
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
LETTER = 0.56  # of the font's size: how wide a letter is, about


def number(value):
    """A coordinate in tenths of a pixel."""
    text = f"{value:.1f}"
    return text[:-2].replace("-0", "0") if text.endswith(".0") else text


def short(value):
    """1k, 10M."""
    for scale, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:g}{letter}"
    return f"{value:g}"


class Svg:
    def __init__(self, width, height, title, description):
        self.width, self.height = width, height
        self.head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img" font-family={quoteattr(FONT)}>',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
        ]
        self.parts = [f'<rect width="{width}" height="{height}" fill="{BACK}"/>']

    def text(self, x, y, words, size=12, fill=INK, anchor="start", weight=None, turned=False):
        more = f' font-weight="{weight}"' if weight else ""
        more += f' text-anchor="{anchor}"' if anchor != "start" else ""
        more += f' transform="rotate(-90 {number(x)} {number(y)})"' if turned else ""
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" fill="{fill}"{more}>{escape(words)}</text>'
        )

    def line(self, places, colour, width=2.0, dash=None):
        path = " ".join(f"{number(x)},{number(y)}" for x, y in places)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" stroke-linejoin="round" '
            f'stroke-linecap="round"{more}/>'
        )

    def marker(self, x, y, kind, colour):
        if kind == "circle":
            self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="3.2" fill="{colour}"/>')
        elif kind == "ring":
            self.parts.append(
                f'<circle cx="{number(x)}" cy="{number(y)}" r="6" fill="{BACK}" stroke="{colour}" stroke-width="2"/>'
            )
        elif kind == "cross":
            for side in (-1, 1):
                self.line([(x - 3, y - 3 * side), (x + 3, y + 3 * side)], colour, 1.8)
        else:
            corners = {
                "square": [(-2.9, -2.9), (2.9, -2.9), (2.9, 2.9), (-2.9, 2.9)],
                "triangle": [(0, -4), (3.8, 3), (-3.8, 3)],
                "diamond": [(0, -4.2), (4.2, 0), (0, 4.2), (-4.2, 0)],
            }[kind]
            path = " ".join(f"{number(x + right)},{number(y + down)}" for right, down in corners)
            self.parts.append(f'<polygon points="{path}" fill="{colour}"/>')

    def circle(self, x, y, radius, colour, width=1.0, dash=None, fill="none"):
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" stroke="{colour}" '
            f'stroke-width="{width:g}"{more}/>'
        )

    def path(self, steps, colour, width):
        """Strokes with round ends, so that one without length is a dot."""
        self.parts.append(
            f'<path d="{"".join(steps)}" fill="none" stroke="{colour}" stroke-width="{width:g}" stroke-linecap="round"/>'
        )

    def legend(self, x, y, entries):
        """In one line: (words, colour, what to give `line`, marker or None) each."""
        for words, colour, style, marker in entries:
            if style is not None:
                self.line([(x, y - 4), (x + 26, y - 4)], colour, **style)
            if marker is not None:
                self.marker(x + 13, y - 4, marker, colour)
            self.text(x + 33, y, words)
            x += 33 + 12 * LETTER * len(words) + 20

    def whole(self):
        """The file."""
        return "\n".join([*self.head, style_sheet(self.parts), *self.parts, "</svg>"]) + "\n"


class Chart(Svg):
    """A picture with its title and description above and, below, the machine that was measured."""

    def __init__(self, width, height, title, description):
        super().__init__(width, height, title, description)
        self.text(16, 28, title, size=17, weight="bold")
        self.text(16, 48, description, fill=FAINT)

    def whole(self, caption):
        self.text(16, self.height - 14, caption, size=11, fill=FAINT)
        return super().whole()


class LogAxis:
    def __init__(self, low, high):
        self.low, self.high = math.log10(low), math.log10(high)

    @classmethod
    def around(cls, values):
        """From a value of 1, 2 or 5 times a power of ten below all to one above."""
        steps = [float(f"{step}e{power}") for power in range(-12, 16) for step in (1, 2, 5)]
        low = max(step for step in steps if step <= min(values))
        return cls(low, min(step for step in steps if step > low and step >= max(values)))

    def place(self, value):
        """0 at the low end, 1 at the high one."""
        return (math.log10(value) - self.low) / (self.high - self.low)

    def steps(self, *digits):
        """Those digits times powers of ten within."""
        powers = range(math.floor(self.low) - 1, math.ceil(self.high) + 1)
        values = [float(f"{digit}e{power}") for power in powers for digit in digits]
        return [value for value in values if -1e-9 <= self.place(value) <= 1 + 1e-9]


class LinearAxis:
    def __init__(self, low, high, step):
        self.low, self.high, self.step = low, high, step

    def place(self, value):
        """0 at the low end, 1 at the high one."""
        return (value - self.low) / (self.high - self.low)

    def steps(self, *digits):
        """Where a panel draws its main lines; there are no fine ones."""
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)] if digits == (1,) else []


class Panel:
    """A frame with axes; what is drawn in it is given in values."""

    def __init__(self, svg, left, top, width, height, x_axis, y_axis):
        self.svg, self.left, self.top, self.width, self.height = svg, left, top, width, height
        self.x_axis, self.y_axis = x_axis, y_axis

    def at(self, x, y):
        return (
            self.left + self.width * self.x_axis.place(x),
            self.top + self.height * (1 - self.y_axis.place(y)),
        )

    def frame(self, x_ticks, x_title, y_title, y_label=short):
        """Grid, ticks and titles; without `y_title` the values of y are left to a neighbour."""
        right, bottom = self.left + self.width, self.top + self.height
        for value in self.y_axis.steps(2, 5):
            y = self.at(x_ticks[0], value)[1]
            self.svg.line([(self.left, y), (right, y)], FINE_GRID, 1)
        for value in self.y_axis.steps(1):
            y = self.at(x_ticks[0], value)[1]
            self.svg.line([(self.left, y), (right, y)], GRID, 1)
            if y_title:
                self.svg.text(self.left - 7, y + 4, y_label(value), size=11, anchor="end")
        for value in x_ticks:
            x = self.left + self.width * self.x_axis.place(value)
            self.svg.line([(x, self.top), (x, bottom)], GRID, 1)
            self.svg.text(x, bottom + 15, f"{value:g}", size=11, anchor="middle")
        corners = [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom), (self.left, self.top)]
        self.svg.line(corners, FAINT, 1)
        self.svg.text((self.left + right) / 2, bottom + 33, x_title, anchor="middle")
        if y_title:
            self.svg.text(self.left - 46, (self.top + bottom) / 2, y_title, anchor="middle", turned=True)

    def line(self, values, colour, marker=None, **style):
        places = [self.at(x, y) for x, y in values]
        self.svg.line(places, colour, **style)
        if marker:
            for x, y in places:
                self.svg.marker(x, y, marker, colour)
