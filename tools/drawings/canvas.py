"""What drawings are made of: a picture of one width, shapes in the colours of the theme, and views of a cloud."""

import math

from svg_chart import LETTER, Svg, number
from svg_theme import BACK, FAINT, INK

WIDTH = 680  # of every drawing: letters are legible at half of it, on a phone
SIZE, SMALL = 15, 13


class Drawing(Svg):
    def __init__(self, height, title, description):
        super().__init__(WIDTH, height, title, description)
        self.views = 0

    def heading(self, x, y, words, anchor="start"):
        self.text(x, y, words, size=SIZE, weight="bold", anchor=anchor)

    def note(self, x, y, words, anchor="start", fill=FAINT):
        self.text(x, y, words, size=SMALL, fill=fill, anchor=anchor)

    def label(self, x, y, words, fill=INK, anchor="middle", size=SMALL):
        """Words over points or lines: with a margin in the colour of the background."""
        start = len(self.parts)
        self.text(x, y, words, size=size, fill=fill, anchor=anchor, weight="bold")
        more = f'stroke="{BACK}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
        self.parts[start] = self.parts[start].replace("<text ", f"<text {more} ", 1)

    def rect(self, left, top, width, height, fill="none", stroke=None, line_width=1.0, dash=None, round_by=0):
        more = f' stroke="{stroke}" stroke-width="{line_width:g}"' if stroke else ""
        more += f' stroke-dasharray="{dash}"' if dash else ""
        more += f' rx="{round_by}"' if round_by else ""
        place = f'x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}"'
        self.parts.append(f'<rect {place} fill="{fill}"{more}/>')

    def dots(self, places, colour, size=5.0):
        if places:
            self.path([f"M{number(x)} {number(y)}h0" for x, y in places], colour, size)

    def segments(self, pairs, colour, width=1.0):
        if pairs:
            self.path([f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for (a, b), (c, d) in pairs], colour, width)

    def cells(self, places, colour, width, height):
        """Rectangles of one size and colour, by their left ends and middles: one path for all."""
        steps = "".join(f"M{number(x)} {number(y)}h{number(width)}" for x, y in places)
        self.parts.append(f'<path d="{steps}" fill="none" stroke="{colour}" stroke-width="{number(height)}"/>')

    def arrows(self, pairs, colour, width=1.6, head=7.0):
        """Lines with heads that end exactly at the second place of each pair; one path for the lines, one for the heads."""
        shafts, heads = [], []
        for begin, end in pairs:
            across, down = end[0] - begin[0], end[1] - begin[1]
            length = math.sqrt(across * across + down * down)
            across, down = across / length, down / length
            neck = (end[0] - across * head, end[1] - down * head)
            side = head * 0.45
            shafts.append((begin, neck))
            heads.append([end, (neck[0] - down * side, neck[1] + across * side), (neck[0] + down * side, neck[1] - across * side)])
        self.segments(shafts, colour, width)
        steps = "".join("M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners) + "z" for corners in heads)
        self.parts.append(f'<path d="{steps}" fill="{colour}"/>')

    def arrow(self, begin, end, colour, width=1.6, head=7.0):
        self.arrows([(begin, end)], colour, width, head)

    def key(self, x, y, entries):
        """A legend in one line, dots and swatches: (words, colour, "dot", "cell", "line" or "dash")."""
        for words, colour, kind in entries:
            if kind == "dot":
                self.dots([(x + 6, y - 5)], colour, 9)
            elif kind == "ring":
                self.circle(x + 6, y - 5, 5, colour, 2)
            elif kind == "cell":
                self.rect(x, y - 11, 13, 13, colour, FAINT, 0.6)
            else:
                self.line([(x - 1, y - 5), (x + 14, y - 5)], colour, 2.2, dash="4 4" if kind == "dash" else None)
            self.note(x + 20, y, words, fill=INK)
            x += 20 + SMALL * 1.08 * LETTER * len(words) + 16


class View:
    """A square or oblong of a drawing that shows part of the plane; y points upwards."""

    def __init__(self, drawing, left, top, width, height=None, low=(0, 0), span=1000.0):
        self.drawing, self.left, self.top, self.width = drawing, left, top, width
        self.height = width if height is None else height
        self.low, self.scale = low, width / span
        self.name = f"view{drawing.views}"
        drawing.views += 1

    def __enter__(self):
        """What is drawn inside is cut off at the edge."""
        place = f'x="{number(self.left)}" y="{number(self.top)}" width="{number(self.width)}" height="{number(self.height)}"'
        self.drawing.parts.append(f'<clipPath id="{self.name}"><rect {place}/></clipPath><g clip-path="url(#{self.name})">')
        return self

    def __exit__(self, *_):
        self.drawing.parts.append("</g>")

    def at(self, point):
        return (
            self.left + (point[0] - self.low[0]) * self.scale,
            self.top + self.height - (point[1] - self.low[1]) * self.scale,
        )

    def all(self, points):
        return [self.at(point) for point in points]

    def box(self, low, high, fill="none", stroke=None, line_width=1.0, dash=None):
        (left, bottom), (right, top) = self.at(low), self.at(high)
        self.drawing.rect(left, top, right - left, bottom - top, fill, stroke, line_width, dash)

    def ball(self, centre, radius, colour, width=1.5, dash=None, fill="none"):
        self.drawing.circle(*self.at(centre), radius * self.scale, colour, width, dash, fill)

    def frame(self, colour=FAINT):
        self.drawing.rect(self.left, self.top, self.width, self.height, "none", colour)
