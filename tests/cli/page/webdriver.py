# SPDX-License-Identifier: GPL-2.0-only
"""A small WebDriver client (https://www.w3.org/TR/webdriver2/) on urllib, and for Firefox on Marionette.

    with Browser("chromium") as browser:
        browser.open("file:///tmp/page.html")
        browser.run("return document.title")

A browser has a new, empty profile and no network beyond its driver.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from marionette import Marionette, MarionetteError

CHROMIUM_OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
]
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "Shift": "\ue008"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class BrowserError(Exception):
    """A command failed."""


def free_port():
    """Return a port of the loopback interface that nobody uses now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Browser:
    """A browser and its driver."""

    def __init__(self, name, patience_s=120):
        self.name = name
        self.patience_s = patience_s
        self.folder = tempfile.mkdtemp(prefix="dcpi-browser-")
        self.session = None
        self.driver = None
        self.firefox = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Start the browser, its driver if it has one, and a session."""
        self.port = free_port()
        environment = dict(os.environ, HOME=self.folder, TMPDIR=self.folder)
        if self.name == "firefox":
            self.firefox = Marionette(self.folder, self.port, self.patience_s, environment)
            self.driver = self.firefox.process
            self.wait(self.firefox.connect, "Firefox")
            self.session = self.firefox.send("WebDriver:NewSession", {})["sessionId"]
            return
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], env=environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait(lambda: self.request("GET", "/status")["ready"], "the driver")
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": {
                "binary": shutil.which("chromium"),
                "args": CHROMIUM_OPTIONS + [f"--user-data-dir={self.folder}/profile"]},
            "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.request("POST", "/session",
                            {"capabilities": {"alwaysMatch": capabilities}})
        self.session = made["sessionId"]

    def stop(self):
        """End the browser and its driver."""
        try:
            if self.session and not self.firefox:
                self.command("DELETE", "")
        except (BrowserError, OSError):
            pass
        if self.firefox:
            self.firefox.stop()
        elif self.driver:
            self.driver.terminate()
            self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def request(self, method, path, body=None):
        """Send a request to the driver, and return its value."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            # The driver is on this host: no proxy.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=self.patience_s) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise BrowserError(f"{value['error']}: {value['message'].splitlines()[0]}") from error

    def command(self, method, path, body=None):
        """Send a command of the session."""
        if self.firefox:
            try:
                return self.firefox.request(path, body)
            except MarionetteError as error:
                raise BrowserError(str(error)) from error
        return self.request(method, f"/session/{self.session}{path}", body)

    def wait(self, condition, what):
        """Repeat a condition until it is true; return its value."""
        end = time.monotonic() + self.patience_s
        while True:
            try:
                value = condition()
                if value:
                    return value
            except (BrowserError, OSError):
                if self.driver and self.driver.poll() is not None:
                    raise
            if time.monotonic() > end:
                raise BrowserError(f"{what}: not within {self.patience_s} s")
            time.sleep(0.05)

    def open(self, url):
        """Load a page."""
        self.command("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Run a script in the page, and return its result."""
        return self.command("POST", "/execute/sync", {"script": script, "args": arguments})

    def run_async(self, script, *arguments):
        """Run a script that calls its last argument."""
        return self.command("POST", "/execute/async", {"script": script, "args": arguments})

    def until(self, script, *arguments):
        """Wait until a script returns a true value."""
        return self.wait(lambda: self.run(script, *arguments), script)

    def find(self, selector):
        """Return the first element that a CSS selector matches."""
        found = self.wait(lambda: self.command("POST", "/elements",
                                               {"using": "css selector", "value": selector}),
                          selector)
        return found[0][ELEMENT]

    def click(self, selector):
        """Click on the first element that a CSS selector matches."""
        self.command("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        """Type a text into an element."""
        self.command("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def key(self, name, *modifiers):
        """Press and release a key, wherever the focus is, while other keys are held."""
        held = [KEYS.get(key, key) for key in [*modifiers, name]]
        self.command("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard",
             "actions": [{"type": "keyDown", "value": value} for value in held] +
                        [{"type": "keyUp", "value": value} for value in reversed(held)]}]})

    def drag(self, selector, start, end):
        """Drag the pointer across an element; both ends are parts of its width, 0 .. 1."""
        box = self.run("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                       "return [r.left, r.top, r.width, r.height]", selector)
        y = int(box[1] + box[3] / 2)

        def move(part):
            return {"type": "pointerMove", "duration": 50, "x": int(box[0] + part * box[2]), "y": y}

        self.command("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": [move(start), {"type": "pointerDown", "button": 0},
                         move((start + end) / 2), move(end), {"type": "pointerUp", "button": 0}]}]})

    def resize(self, width, height):
        """Set the size of the page."""
        if self.name == "chromium":
            self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=1, mobile=False)
        else:
            self.command("POST", "/window/rect", {"width": width, "height": height})

    def devtools(self, name, **parameters):
        """Send a command of Chromium's developer tools."""
        return self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def dark(self, dark):
        """Emulate a system with a dark or light theme."""
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        """Write a picture of the visible page."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    def console(self):
        """Return the console's messages since the last call: warnings and errors."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("WARNING", "SEVERE")]
