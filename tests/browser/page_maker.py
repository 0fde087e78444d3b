"""Writes pages as `kith view` does, from its description alone: an independent check of the format.

The page is one HTML file: a scene in JSON, blocks of deflated byte planes in base64, and the scripts and style of
src/apps/view/page, joined in the order of order.txt and named by hash in the content security policy.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import pathlib
import re
import zlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "src" / "apps" / "view" / "page"
TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "f4": "f32", "f8": "f64"}
NO_ROW = 0xFFFFFFFF


def joined_script():
    """All scripts as one module: what they import from each other and `export` go."""
    texts = []
    for name in (FOLDER / "order.txt").read_text().split():
        lines = (FOLDER / name).read_text().splitlines()
        texts.append("\n".join(line.removeprefix("export ") for line in lines if not line.startswith("import ")))
    return "\n".join(texts) + "\n"


def policy_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class Page:
    """A page that is being put together."""

    def __init__(self, title="page", **scene):
        self.blocks = []
        self.scene = {"version": 1, "title": title, "generator": "page_maker", "notes": [], "clouds": [], **scene}

    def array(self, values, *, delta=False, **extra):
        """The descriptor of an array whose bytes become a block."""
        values = np.ascontiguousarray(values)
        stored = values
        if delta:
            stored = np.diff(values, prepend=values.dtype.type(0))
        size = values.dtype.itemsize
        planes = stored.view(np.uint8).reshape(-1, size).T if len(stored) else b""
        packed = zlib.compress(planes.tobytes() if len(stored) else b"", 6)
        self.blocks.append(base64.b64encode(packed).decode())
        described = {"block": len(self.blocks) - 1, "type": TYPES[values.dtype.str[1:]], "count": len(values)}
        return {**described, **({"delta": True} if delta else {}), **extra}

    def rounded(self, values):
        """Values as one of 65,536 steps of their range."""
        low, high = float(np.min(values)), float(np.max(values))
        step = (high - low) / 65535 or 1.0
        return self.array(np.round((values - low) / step).astype(np.uint16), delta=True, low=low, step=step), step

    def cloud(self, name, points, *, rounded=False, rows=None, columns=(), pose=None):
        """Adds a cloud: n x dims points and columns, each (name, kind, values)."""
        points = np.asarray(points)
        described = {"name": name, "count": len(points), "dims": points.shape[1], "columns": []}
        if rounded:
            arrays, steps = zip(*(self.rounded(axis) for axis in points.T))
            described |= {"axes": list(arrays), "resolution": list(steps)}
        else:
            described["axes"] = [self.array(axis) for axis in points.T]
        if rows is not None:
            rows = np.asarray(rows, np.uint32)
            described["rows"] = self.array(rows - rows.min(), delta=True, low=int(rows.min()), step=1)
        described["columns"] = [self.column(*column) for column in columns]
        if pose is not None:
            described["pose"] = np.asarray(pose, float).reshape(16).tolist()
        self.scene["clouds"].append(described)

    def neighbors(self, lists, of=0):
        """Gives the last cloud neighbours in cloud `of`, without distances: count x k rows, NO_ROW where none."""
        lists = np.asarray(lists, np.uint32)
        indices = self.array(lists.ravel())
        self.scene["clouds"][-1]["neighbors"] = {"k": lists.shape[1], "of": of, "indices": indices}

    def column(self, name, kind, values):
        if kind == "number":
            return {"name": name, "kind": kind, "values": self.array(values)}
        if kind == "label":
            words = list(dict.fromkeys(values))
            codes = np.array([words.index(value) for value in values], np.uint16)
            return {"name": name, "kind": kind, "values": self.array(codes, delta=True), "words": words}
        return {"name": name, "kind": kind, "parts": [self.array(part) for part in np.asarray(values).T]}

    def html(self):
        style, script = (FOLDER / "page.css").read_text(), joined_script()
        policy = (
            f"default-src 'none'; script-src '{policy_hash(script)}'; style-src '{policy_hash(style)}'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        )
        scene = json.dumps(self.scene).replace("<", "\\u003c")
        title = html.escape(re.sub(r"[\x00-\x1f]", " ", self.scene["title"]))
        opening = '<script type="application/octet-stream" class="block">'
        blocks = "".join(f"{opening}{text}</script>\n" for text in self.blocks)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{style}</style></head>\n<body>{(FOLDER / 'body.html').read_text()}"
            f'<script type="application/json" id="scene">{scene}</script>\n{blocks}'
            f'<script type="module">{script}</script></body></html>\n'
        )

    def write(self, path):
        pathlib.Path(path).write_text(self.html(), encoding="utf-8", newline="")
        return path
