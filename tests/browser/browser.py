"""A small driver for Chromium: the DevTools protocol over a pipe, with nothing but the standard library."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --remote-debugging-pipe "
    "--hide-scrollbars --no-first-run --no-default-browser-check --disable-gpu-watchdog --disable-extensions "
    "--disable-background-networking --disable-component-update --disable-sync --force-color-profile=srgb "
    "--disable-dev-shm-usage"
).split()
LIMIT = 120  # seconds that anything may take
KEY_CODES = {  # of keys that do something in the browser itself
    "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip


def find_browser():
    """The browser to use, None if there is none. KITH_BROWSER names one."""
    chosen = os.environ.get("KITH_BROWSER")
    if chosen:
        return shutil.which(chosen)
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    pass


class Browser:
    """One process for any number of pages."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="kith-browser-")
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()
        # The browser reads file 3 and writes file 4: the shell puts them there, so theirs must not be in the way.
        theirs = [fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in (to_browser, from_browser)]
        command = [path, *FLAGS, f"--user-data-dir={self.folder}/profile", "about:blank"]
        script = f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", *command],
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "HOME": self.folder},
                start_new_session=True,
            )
        for number in (to_browser, from_browser, *theirs):
            os.close(number)
        self.number = 0
        self.pending = b""
        self.answers = {}
        self.pages = {}

    def close(self):
        with contextlib.suppress(BrowserError, OSError):
            self.send("Browser.close")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, session=None, **parameters):
        """Runs a method of the protocol and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self.to_browser, data) :]
        wanted = self.number
        end = time.monotonic() + LIMIT
        while wanted not in self.answers:
            self.read(end, method)
        answer = self.answers.pop(wanted)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def read(self, end, what):
        """Takes in what the browser says next."""
        ready, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
        chunk = os.read(self.from_browser, 1 << 20) if ready else b""
        if not chunk:
            log = pathlib.Path(self.folder, "log").read_text(errors="replace")[-2000:]
            raise BrowserError(f"{what}: {'no answer' if not ready else 'the browser ended'}\n{log}")
        *messages, self.pending = (self.pending + chunk).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].events.append((message["method"], message["params"]))

    def open(self, path, **options):
        return Tab(self, path, **options)


class Tab:
    """A page in a tab of its own. Every request, console message and exception is kept."""

    def __init__(self, browser, path, *, size=(1100, 720), ratio=1, dark=False, touch=False, before=None):
        self.browser = browser
        self.events = []
        self.url = pathlib.Path(path).absolute().as_uri()
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(*size, ratio, touch)
        self.emulate(dark)
        if before:
            self.send("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.send("Page.navigate", url=self.url)
        self.wait_for("['ready', 'failed'].includes(document.documentElement?.dataset.state)")

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]

    def resize(self, width, height, ratio=1, touch=False):
        screen = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": touch}
        self.send("Emulation.setDeviceMetricsOverride", **screen)
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch, maxTouchPoints=2 if touch else 1)

    def emulate(self, dark=False, reduced_motion=True):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}
        self.send("Emulation.setEmulatedMedia", features=[scheme, motion])

    def run(self, expression):
        """The value of an expression, or of what it promises."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, condition):
        """Waits until an expression is true."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                if self.run(condition):
                    return
            except BrowserError as error:  # between two documents
                if "context" not in str(error):
                    raise
            if time.monotonic() > end:
                raise BrowserError(f"in vain: {condition}")
            time.sleep(0.02)

    def rest(self):
        """Waits until all points are drawn and the picture is on the screen."""
        self.wait_for("kithView.isResting()")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    # --- input

    def mouse(self, kind, x, y, button="none", buttons=0, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, "left", 1, clickCount=number)
            self.mouse("mouseReleased", x, y, "left", 0, clickCount=number)

    def drag(self, start, end, button="left", steps=5, **more):
        held = {"left": 1, "right": 2, "middle": 4}[button]
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button, held, clickCount=1, **more)
        for step in range(1, steps + 1):
            place = [a + (b - a) * step / steps for a, b in zip(start, end)]
            self.mouse("mouseMoved", *place, button, held, **more)
        self.mouse("mouseReleased", *end, button, 0, clickCount=1, **more)

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def touch(self, kind, *places):
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def key(self, key, code=None, modifiers=0, text=None):
        """Presses a key; modifiers: 8 is shift."""
        code = code or (f"Key{key.upper()}" if key.isalpha() and len(key) == 1 else key)
        common = {"key": key, "code": code, "modifiers": modifiers, "windowsVirtualKeyCode": KEY_CODES.get(key, 0)}
        if len(key) == 1 or text:
            common["text"] = text or key
        self.send("Input.dispatchKeyEvent", type="keyDown", **common)
        common.pop("text", None)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    # --- what is there

    def picture(self):
        """What the window shows."""
        shot = self.send("Page.captureScreenshot", format="png", optimizeForSpeed=True)
        return Picture(base64.b64decode(shot["data"]))

    def complaints(self):
        """Everything that a page should not do: messages, exceptions, requests beyond the page itself."""
        found = []
        for method, parameters in self.events:
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                found.append((method, json.dumps(parameters)[:600]))
            elif method == "Network.requestWillBeSent" and parameters["request"]["url"] != self.url:
                if not parameters["request"]["url"].startswith("blob:"):
                    found.append((method, parameters["request"]["url"][:200]))
        return found


class Picture:
    """The pixels of a PNG of 8 bits per channel, without interlacing."""

    def __init__(self, data):
        self.data = data
        place, packed = 8, b""
        while place < len(data):
            length, kind = struct.unpack(">I4s", data[place : place + 8])
            body = data[place + 8 : place + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, color = struct.unpack(">IIBB", body[:10])
                self.channels = {2: 3, 6: 4}[color]
                assert depth == 8 and body[12] == 0
            elif kind == b"IDAT":
                packed += body
            place += 12 + length
        self.rows = self._unfiltered(zlib.decompress(packed))

    def _unfiltered(self, data):
        import numpy as np

        step, width = self.channels, self.width * self.channels
        rows = np.zeros((self.height, self.width, step), np.uint8)
        above = np.zeros((self.width, step), np.int64)
        for number in range(self.height):
            start = number * (width + 1)
            kind = data[start]
            row = np.frombuffer(data, np.uint8, width, start + 1).reshape(-1, step).astype(np.int64)
            if kind == 1:
                row = np.cumsum(row, axis=0) & 255
            elif kind == 2:
                row = (row + above) & 255
            elif kind in (3, 4):
                row = self._by_neighbors(row.tolist(), above.tolist(), kind)
            rows[number] = row
            above = row
        return rows

    def _by_neighbors(self, row, above, kind):
        import numpy as np

        left = corner = [0] * self.channels
        for place, (values, up) in enumerate(zip(row, above)):
            if kind == 3:
                now = [(v + (a + b) // 2) & 255 for v, a, b in zip(values, left, up)]
            else:
                now = []
                for v, a, b, c in zip(values, left, up, corner):
                    pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                    now.append((v + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255)
            row[place] = now
            left, corner = now, up
        return np.array(row)

    def at(self, x, y):
        return tuple(int(part) for part in self.rows[round(y), round(x), :3])

    def save(self, path):
        pathlib.Path(path).write_bytes(self.data)
