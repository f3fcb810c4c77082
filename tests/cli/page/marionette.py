# SPDX-License-Identifier: GPL-2.0-only
"""WebDriver requests to Firefox, without geckodriver.

Firefox with -marionette accepts the commands of WebDriver on a TCP port, as "LENGTH:JSON"
(https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html). A command is
[0, NUMBER, NAME, PARAMETERS], its answer [1, NUMBER, ERROR, RESULT].
"""

import json
import re
import socket
import subprocess
from pathlib import Path

# Path of a request of WebDriver, after that of the session: command of Marionette.
COMMANDS = (
    (r"/url", "WebDriver:Navigate"),
    (r"/execute/sync", "WebDriver:ExecuteScript"),
    (r"/execute/async", "WebDriver:ExecuteAsyncScript"),
    (r"/elements", "WebDriver:FindElements"),
    (r"/element/([^/]+)/click", "WebDriver:ElementClick"),
    (r"/element/([^/]+)/value", "WebDriver:ElementSendKeys"),
    (r"/actions", "WebDriver:PerformActions"),
    (r"/window/rect", "WebDriver:SetWindowRect"),
    (r"/screenshot", "WebDriver:TakeScreenshot"),
)
PREFERENCES = {
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


class MarionetteError(Exception):
    """Firefox refused a command."""


class Marionette:
    """A Firefox process, and the connection to it."""

    def __init__(self, folder, port, patience_s, environment):
        self.patience_s = patience_s
        self.port = port
        self.number = 0
        self.stream = None
        profile = Path(folder) / "profile"
        profile.mkdir()
        preferences = dict(PREFERENCES, **{"marionette.port": port})
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences.items()), encoding="utf-8")
        self.process = subprocess.Popen(
            ["firefox-esr", "-headless", "-marionette", "-no-remote", "-profile", str(profile)],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self):
        """Connect, which fails until Firefox listens. Return True."""
        connection = socket.create_connection(("127.0.0.1", self.port), self.patience_s)
        self.stream = connection.makefile("rwb")
        connection.close()
        return self.receive()["marionetteProtocol"] == 3

    def receive(self):
        """Return the next message."""
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                raise MarionetteError("Firefox closed the connection")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def send(self, command, parameters):
        """Send a command, and return its result."""
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.stream.write(b"%d:%s" % (len(text), text))
        self.stream.flush()
        _, number, error, result = self.receive()
        if number != self.number:
            raise MarionetteError(f"an answer to command {number}")
        if error:
            raise MarionetteError(f"{error['error']}: {error['message'].splitlines()[0]}")
        # Results that are no objects are packed into one.
        return result["value"] if isinstance(result, dict) and list(result) == ["value"] else result

    def request(self, path, body):
        """Carry out a request of WebDriver; @path begins after the session."""
        for pattern, command in COMMANDS:
            match = re.fullmatch(pattern, path)
            if match:
                return self.send(command, dict(body or {}, **({"id": match[1]} if match.groups() else {})))
        raise MarionetteError(f"no command for {path}")

    def stop(self):
        """End Firefox."""
        if self.stream:
            self.stream.close()
        self.process.terminate()
        try:
            self.process.wait(self.patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
