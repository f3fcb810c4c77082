#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test the page of dcpiweb in Chromium: web_browser.py LIST HOSTILE TIMED TOKEN LIVE GROW PID PATIENCE_SECONDS [PICTURES]

LIST, HOSTILE and TIMED are URLs of servers of the databases of pages.sh; TIMED requires TOKEN. LIVE is the URL
of a server, process PID, of a database that each execution of the command GROW extends. Prints a line for
each test: "ok|NAME" or "not ok|NAME|WHY". PICTURES: folder for screenshots.
"""

import http.server
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from urllib.parse import urlsplit

import webdriver
from results import equal, report
from webdriver import Browser, BrowserError

PARTS = "return document.documentElement.dataset.parts === 'read'"
ROWS = "return [...document.querySelectorAll('table.list tbody th')].map((e) => e.textContent)"


class Site:
    """Another site, evil.example, with one page."""

    def __init__(self, page):
        class Handler(http.server.BaseHTTPRequestHandler):
            """Sends the page."""

            def do_GET(self):
                """Answer a request."""
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                """Print nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://evil.example:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Test:
    """The tests, in one browser."""

    def __init__(self, browser, urls, token, live, pictures):
        self.browser = browser
        self.list, self.hostile, self.timed = urls
        self.token = token
        self.live_url, self.grow, self.live_pid = live
        self.pictures = pictures

    def load(self, url):
        """Load a page and wait until it is complete."""
        self.browser.open("about:blank")
        self.browser.open(url)
        self.browser.until(PARTS)

    def picture(self, name):
        """Take a picture, if they are wanted."""
        if self.pictures:
            self.browser.screenshot(self.pictures / f"{name}.png")

    def page(self):
        """The page works as one in a file, under the policy of the server."""
        browser = self.browser
        browser.console()
        self.load(self.list + "#/")
        equal("the overview has the hottest procedure",
              browser.run("return document.querySelector('main').innerText.includes('walk')"), True)
        self.picture("overview")
        self.load(self.list + "#/procedures")
        equal("the list begins with it", browser.run(ROWS)[0], "walk")
        self.load(self.list + "#/procedure/0")
        browser.until("return document.querySelector('table.source') !== null")
        self.picture("procedure")
        equal("the page requests nothing else", browser.run(
            "return performance.getEntriesByType('resource').map((e) => e.name)"
            ".filter((e) => !e.endsWith('/favicon.ico') && e !== location.origin + '/')"), [])
        equal("no message on the console", browser.console(), [])

    def policy(self):
        """Scripts that get into the page do not run, and nothing can be sent away."""
        browser = self.browser
        self.load(self.list)
        browser.run("const e = document.createElement('script'); e.textContent = 'window.owned = 1'; document.body.append(e);"
                    "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned = 2\">');")
        equal("an injected script does not run", browser.run("return window.owned ?? null"), None)
        equal("no request leaves the server", browser.run_async(
            "const done = arguments[1]; fetch(arguments[0]).then(() => done('sent'), () => done('blocked'))",
            self.hostile + "api/epochs"), "blocked")
        browser.console()

    def names(self):
        """Hostile names neither run nor break the page."""
        browser = self.browser
        for view in ("#/", "#/procedures", "#/procedure/0"):
            self.load(self.hostile + view)
            equal(f"hostile names: {view} runs nothing", browser.run(
                "return [document.title === '1', window.owned ?? null, document.querySelectorAll('main img, main script').length]"),
                  [False, None, 0])
        equal("hostile names: no message on the console", browser.console(), [])
        browser.open(self.hostile + "api/procedures")
        equal("hostile names: JSON is not shown as a document", browser.run(
            "return [window.owned ?? null, document.querySelectorAll('img, body script').length]"), [None, 0])

    def range(self):
        """A range of the time; the token is the password of the address."""
        browser = self.browser
        parts = urlsplit(self.timed)
        with_token = f"{parts.scheme}://user:{self.token}@{parts.netloc}/"
        browser.open(self.timed)
        equal("without a token there is no page", browser.run("return document.documentElement.dataset.state ?? null"), None)
        browser.console()
        self.load(with_token + "?since=@1700001400&until=@1700002600#/procedures")
        equal("the range of the page", browser.run("return document.getElementById('covered').textContent"),
              "2023-11-14 22:36:40 \u2013 22:56:40 UTC")
        self.picture("range")
        self.load(with_token + "?refresh=5")
        browser.run("window.old = true")
        browser.until("return window.old === undefined && document.documentElement.dataset.state === 'ready'")
        report("a page with ?refresh= loads itself again", None)
        equal("no message on the console with a token", browser.console(), [])

    def live(self):
        """The page follows the database, without changes of anything that the reader chose."""
        browser = self.browser
        updates = "return Number(document.documentElement.dataset.updates ?? 0)"
        samples = "return document.querySelector('dl.figures dd').firstChild.textContent"
        browser.console()
        self.load(self.live_url + "#/")
        browser.until("return document.getElementById('live').dataset.state === 'live'")
        before = browser.run(samples)
        browser.run("window.same = true")
        subprocess.run(self.grow, check=True, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser.until("return document.documentElement.dataset.updates === '1'")
        equal("the page shows new samples without loading again", [browser.run(samples) != before, browser.run("return window.same")],
              [True, True])
        self.picture("live")
        self.load(self.live_url + "#/procedures?sort=name")
        browser.until("return document.getElementById('live').dataset.state === 'live'")
        browser.run("const [from] = document.querySelectorAll('#range select'); from.value = 1;"
                    "from.dispatchEvent(new Event('change')); document.getElementById('search').focus()")
        browser.type("#search", "wal")
        covered = browser.run("return document.getElementById('covered').textContent.slice(0, 19)")
        subprocess.run(self.grow, check=True, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser.until("return document.documentElement.dataset.updates === '1'")
        equal("an update keeps the search, the focus, the order and the range", browser.run(
            "return [document.getElementById('search').value, document.activeElement.id, location.hash.includes('sort=name'),"
            "document.getElementById('covered').textContent.slice(0, 19), document.querySelector('table.list th[scope=row]').textContent]"),
              ["wal", "search", True, covered, "walk"])
        self.load(self.live_url + "#/flame")
        browser.until("return document.getElementById('live').dataset.state === 'live'")
        browser.run("document.querySelectorAll('.frame')[1].click()")
        zoom = "return [...document.querySelectorAll('.crumbs button')].map((e) => e.textContent)"
        zoomed = browser.run(zoom)
        browser.click("#live")
        equal("following can be paused", browser.run("return document.getElementById('live').dataset.state"), "paused")
        subprocess.run(self.grow, check=True, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser.run("return new Promise((done) => setTimeout(done, 2500))")
        equal("then nothing changes", browser.run(updates), 0)
        browser.click("#live")
        browser.until("return document.documentElement.dataset.updates === '1'")
        equal("and continued; the flame graph keeps its zoom", [len(zoomed), browser.run(zoom)], [2, zoomed])
        equal("no message on the console of a page that follows", browser.console(), [])
        os.kill(self.live_pid, signal.SIGTERM)
        browser.until("return document.getElementById('live').dataset.state === 'gone'")
        self.picture("gone")
        report("the page states that the server is gone", None)
        browser.console()

    def sites(self):
        """Other sites: a name that leads to this machine, requests from such a page, and frames."""
        browser = self.browser
        port = urlsplit(self.list).port
        browser.open(f"http://evil.example:{port}/api/epochs")
        equal("a name that leads to this machine gets nothing", browser.run(
            "return [document.body.innerText.includes('--host NAME'), document.body.innerText.includes('cpu_model')]"), [True, False])
        with Site(f"<iframe src='{self.list}'></iframe>") as site:
            browser.open(site.url)
            browser.wait(lambda: any("frame-ancestors" in message or "X-Frame-Options" in message for message in browser.console()),
                         "a message about the frame")
            report("the page is not shown in a frame", None)
            equal("a page of another site gets nothing", browser.run_async(
                "const done = arguments[1]; fetch(arguments[0]).then((a) => done(a.status), () => done('blocked'))",
                self.list + "api/epochs"), "blocked")
            browser.command("POST", "/url", {"url": self.list + "metrics"})
            equal("its requests are refused", 'dcpi_web_answers_total{status="403"}' in browser.run("return document.body.innerText"), True)


def main():
    """Run all tests."""
    webdriver.CHROMIUM_OPTIONS.append("--host-resolver-rules=MAP evil.example 127.0.0.1")
    with Browser("chromium", float(sys.argv[8])) as browser:
        browser.resize(1280, 800)
        live = (sys.argv[5], sys.argv[6], int(sys.argv[7]))
        test = Test(browser, sys.argv[1:4], sys.argv[4], live, Path(sys.argv[9]) if len(sys.argv) > 9 else None)
        for one in ("page", "policy", "names", "range", "live", "sites"):
            try:
                getattr(test, one)()
            except (BrowserError, TypeError, IndexError):
                report(one, traceback.format_exc(limit=3).replace("\n", " ")[-700:])


if __name__ == "__main__":
    main()
