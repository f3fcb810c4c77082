#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test the page in real browsers: browser_test.py FOLDER PATIENCE_SECONDS

FOLDER has list.html and hostile.html (pages.sh). Prints a line for each test:
"ok|NAME", "not ok|NAME|WHY" or "not measured|NAME|WHY".
"""

import shutil
import sys
import traceback
from pathlib import Path

from results import begin, equal, report, true
from webdriver import Browser, BrowserError

READY = "return document.documentElement.dataset.state === 'ready'"
PARTS = "return document.documentElement.dataset.parts === 'read'"
ROWS = "return [...document.querySelectorAll('table.list tbody th')].map((e) => e.textContent)"

LIST = ("return [...document.querySelectorAll('table.list tbody tr')].map((row) => "
        "['Count', 'Samples', 'Sum', 'Procedure'].map((label) => "
        "row.querySelector(`[data-label=${label}]`).textContent.replaceAll(',', '').trim()))")
RANGE = "return new URLSearchParams(location.hash.split('?')[1]).get('range')"


class Test:
    """The tests of one browser."""

    def __init__(self, browser, folder):
        self.browser = browser
        self.folder = folder

    def load(self, page, fragment="#/"):
        """Load a page and wait until it is shown."""
        self.browser.open("about:blank")
        self.browser.open((self.folder / page).as_uri() + fragment)
        self.browser.until(READY)

    def fits(self):
        """Return true if the page is not wider than the window."""
        return self.browser.run("return document.documentElement.scrollWidth <= innerWidth")

    def overview(self):
        """Load the page, and read the overview."""
        self.load("list.html")
        self.browser.until(PARTS)
        text = self.browser.run("return document.querySelector('main').innerText")
        true("the overview has losses and unknown samples", "Lost" in text and "Unknown" in text)
        true("and the accounting", "exact" in text)
        true("and the hottest procedure", "walk" in text)
        true("and what it waits for", "D-cache miss" in text)
        equal("the title", self.browser.run("return document.title"), "host \u2013 DCPI profile")

    def idle(self):
        """The idle kernel is not the hottest procedure; shares leave it out, or include it on request."""
        self.load("idle.html")
        hot = self.browser.run("return [...document.querySelectorAll('ol.hot')][0].innerText").split("\n")
        equal("the hottest procedure is not the idle kernel's", hot[0], "walk")
        true("which is not listed", not any("default_idle" in line for line in hot))
        self.browser.until(PARTS)
        waits = self.browser.run("return [...document.querySelectorAll('ol.hot')][1].innerText")
        true("nor among the longest waits", "walk" in waits and "default_idle" not in waits)
        without, included = (self.folder / "idle.share").read_text(encoding="utf-8").split()
        true("the shares of dcpiprof differ", without != included)
        true(f"the share of the hottest procedure is that of dcpiprof, {without}", without in hot[:4])
        self.browser.click("#idle")
        hot = self.browser.run("return [...document.querySelectorAll('ol.hot')][0].innerText").split("\n")
        true(f"and that of dcpiprof --idle, {included}", included in hot[:4])
        self.browser.open("about:blank")
        self.load("idle.html", "#/procedures")
        true("the list leaves it out", not any("default_idle" in row for row in self.browser.run(ROWS)))
        self.browser.key("i")
        true("or has it", any("default_idle" in row for row in self.browser.run(ROWS)))
        self.load("idle.html")
        true("the share of the idle kernel is stated", "the kernel waited for work" in
             self.browser.run("return document.querySelector('main').innerText"))

    def search(self):
        """Search and sort the list of procedures."""
        browser = self.browser
        self.load("list.html", "#/procedures")
        rows = browser.run(ROWS)
        true("the list has the procedures", "walk" in rows and len(rows) > 2)
        equal("the hottest is first", rows[0], "walk")
        browser.key("/")
        browser.run("return new Promise((done) => requestAnimationFrame(done))")
        browser.key("c")
        browser.type("#search", "hain")
        browser.until("return document.querySelectorAll('table.list tbody tr').length < arguments[0]", len(rows))
        names = browser.run("return [...document.querySelectorAll('table.list tbody tr')].map((e) => e.innerText)")
        true("the key / searches", names and all("chain" in name for name in names))
        true("the search is in the address", "q=chain" in browser.run("return location.hash"))
        self.load("list.html", "#/procedures?q=chain")
        equal("such a link finds the same", len(browser.run(ROWS)), len(names))
        self.load("list.html", "#/procedures")
        browser.click("table.list thead th:nth-child(4) button")
        rows = browser.run(ROWS)
        equal("rows are sorted by name", rows, sorted(rows, key=str.lower))
        browser.click("table.list thead th:nth-child(4) button")
        equal("and backwards", browser.run("return document.querySelector('th[aria-sort]').ariaSort"), "descending")
        browser.run("[...document.querySelectorAll('.segments button')].find((e) => e.textContent === 'image').click()")
        true("samples by image", browser.run("return document.querySelectorAll('table.list tbody tr').length") == 2)

    def flame(self):
        """Zoom and search the flame graph with mouse and keys."""
        browser = self.browser
        self.load("list.html", "#/flame")
        browser.until(PARTS)
        frames = "return document.querySelectorAll('.frame').length"
        width = ("return [...document.querySelectorAll('.frame.procedure')].find("
                 "(e) => e.textContent.includes('walk')).getBoundingClientRect().width")
        before = browser.run(width)
        true("the flame graph has source lines", browser.run("return document.querySelector('.frame.line') !== null"))
        browser.run("[...document.querySelectorAll('.frame.procedure')].find("
                    "(e) => e.textContent.includes('walk')).click()")
        browser.until(width.replace("return", "return arguments[0] <") , before)
        true("a click enlarges a frame", browser.run(width) > before)
        browser.key("Escape")
        browser.key("Escape")
        browser.until("return document.querySelectorAll('.crumbs button').length === 1")
        browser.key("Down")
        browser.key("Enter")
        browser.until("return document.querySelectorAll('.crumbs button').length === 2")
        report("keys move and enlarge", None)
        count = browser.run(frames)
        browser.type("#search", "walk")
        browser.until("return document.querySelectorAll('.frame.match').length > 0")
        true("a search marks frames", count > 0 and "match" in browser.run("return document.querySelector('main').innerText"))

    def range(self):
        """Select a range of epochs."""
        browser = self.browser
        self.load("list.html", "#/procedures")
        whole = browser.run(ROWS)
        share = "return document.querySelector('table.list tbody tr td').innerText"
        browser.drag("#range .u-over", 0.05, 0.3)
        browser.until("return location.hash.includes('range=0-0')")
        rows = browser.run(ROWS)
        true("dragging selects the first epoch", "walk" in rows and len(rows) < len(whole))
        equal("shares are of the range", browser.run(share).strip(), "89.5%")
        browser.key("]")
        browser.until("return location.hash.includes('range=1-1')")
        true("the key ] selects the next", browser.run("return document.querySelector('.range-text').innerText.includes('1 epoch')"))
        self.load("list.html", "#/procedures?range=1-1")
        equal("a link contains the range", [browser.run(ROWS)[0], browser.run(share).strip()], ["divide", "51.8%"])
        browser.key("a")
        browser.until("return !location.hash.includes('range')")
        equal("the key a selects all", browser.run(ROWS), whole)

    def timeline(self):
        """Select ranges of slices, and compare the list with dcpiprof."""
        browser = self.browser
        self.load("timed.html", "#/procedures")
        whole = browser.run(LIST)
        equal("the list has all samples", whole, self.expected("whole"))
        covered = "return document.getElementById('covered').textContent"
        equal("the header states the time", browser.run(covered), "2023-11-14 22:13:20 \u2013 23:13:20 UTC")
        browser.drag("#range .u-over", 0.45, 0.6)
        browser.until("return location.hash.includes('range=')")
        dragged = browser.run(LIST)
        true("dragging changes the list", dragged != whole and len(dragged) > 2)
        self.select_range("40-99")
        equal("counts and shares are dcpiprof's", browser.run(LIST), self.expected("range"))
        true("the list states what is of the whole time", "CPI, best case and variation are of the whole time" in
             browser.run("return document.getElementById('found').textContent"))
        equal("the header states the range", browser.run(covered), "2023-11-14 22:36:40 \u2013 22:56:40 UTC")
        like = browser.run("return document.querySelector('.range-controls code').textContent")
        equal("the options of other reports", like, "--since @1700001400 --until @1700002600")
        browser.run("document.getElementById('chart').focus()")
        for key, want in (("Right", "41-100"), ("Left", "40-99"), ("Home", "0-59"), ("End", "90-149"), ("Right", "90-149")):
            browser.key(key)
            equal(f"the key {key} moves the range", browser.run(RANGE), want)
        browser.key("Left", "Shift")
        equal("with Shift, its end", browser.run(RANGE), "90-148")
        true("the slider has a text", "samples" in browser.run("return document.getElementById('chart').ariaValueText"))
        browser.key("Escape")
        equal("Escape selects all", [browser.run(RANGE), browser.run(LIST)], [None, whole])
        self.select_range("40-99")
        browser.click("#range-all")
        equal("so does the button", [browser.run(RANGE), browser.run(LIST)], [None, whole])
        self.load("timed.html", "#/procedures?range=40-99")
        equal("a link has the range", browser.run(LIST), self.expected("range"))
        true("it is marked", browser.run("return document.querySelector('.u-select').clientWidth > 50"))
        self.load("timed.html", "#/?range=40-99")
        true("the overview has the samples of the range", "Samples in the range" in
             browser.run("return document.querySelector('main').innerText"))
        browser.resize(360, 740)
        self.load("timed.html", "#/procedures?range=40-99")
        true("the timeline fits a window of 360 pixels", self.fits())
        browser.resize(1280, 800)

    def expected(self, name):
        """Return rows that dcpiprof lists: count, share, sum and name."""
        text = (self.folder / f"timed.{name}").read_text(encoding="utf-8")
        return [line.split("|") for line in text.splitlines()]

    def select_range(self, text):
        """Select a range with the two lists."""
        for number, index in enumerate(text.split("-")):
            self.browser.run("const list = document.querySelectorAll('.range-controls select')[arguments[0]];"
                             "list.value = arguments[1]; list.dispatchEvent(new Event('change'));", number, index)

    def procedure(self):
        """Open a procedure, follow an arrow to a culprit, see its graph."""
        browser = self.browser
        self.load("list.html", "#/procedures")
        browser.click("table.list tbody th a")
        browser.until("return document.querySelector('tr.insn') !== null")
        text = browser.run("return document.querySelector('.explain').innerText")
        true("the explanation", "The worst stall is at 0x401008" in text)
        true("source next to assembly", browser.run("return document.querySelectorAll('.pane').length === 2 && "
                                                    "document.querySelector('table.source').innerText.includes('movq (%rdi), %rdi')"))
        browser.until("return document.querySelector('path.arrow[data-from=\"0x401008\"][data-to=\"0x401005\"]') !== null")
        report("an arrow leads from the stall to its culprit", None)
        browser.click("tr.insn[data-address='0x401008'] td")
        browser.click("button.culprit[data-from='0x401005']")
        browser.until("return document.querySelector('tr.insn.selected')?.dataset.address === '0x401005'")
        report("its button selects the culprit", None)
        true("the source line of the culprit is marked",
             "movq" in browser.run("return document.querySelector('table.source tr.selected').innerText"))
        true("the instruction is in the address", browser.run("return location.hash").endswith("/0x401005"))
        browser.click("#tab-graph")
        browser.until("return document.querySelectorAll('svg.graph .node').length === 3")
        equal("edges of the graph", browser.run("return document.querySelectorAll('svg.graph .edge').length"), 3)
        browser.run("document.querySelectorAll('svg.graph .node')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        browser.until("return document.querySelector('tr.insn.selected')?.dataset.address === '0x401005'")
        report("a block of the graph leads to its instructions", None)
        browser.click("#tab-epochs")
        browser.until("return document.querySelectorAll('.sets li').length === 2")
        report("counts by epoch", None)

    def comparisons(self):
        """See variation and differences."""
        browser = self.browser
        self.load("list.html", "#/diff")
        true("the differences", "Before" in browser.run("return document.querySelector('main').innerText")
             and "walk" in browser.run(ROWS))
        self.load("list.html", "#/variation")
        true("the variation", len(browser.run(ROWS)) > 0)
        browser.key("1")
        browser.until("return document.querySelector('.figures') !== null")
        report("keys choose views", None)
        browser.key("?")
        browser.until("return document.getElementById('help').open")
        browser.key("Escape")
        browser.until("return !document.getElementById('help').open")
        report("the key ? shows all keys", None)

    def sizes(self):
        """Test narrow and wide windows, and both themes."""
        browser = self.browser
        for width, height in ((360, 740), (3840, 2160)):
            browser.resize(width, height)
            for view in ("#/", "#/procedures", "#/flame", "#/procedure/0", "#/variation", "#/diff"):
                self.load("list.html", view)
                browser.until(PARTS)
                true(f"{view} fits a window of {width} pixels", self.fits())
        browser.resize(1280, 800)
        color = "return getComputedStyle(document.body).backgroundColor"
        browser.dark(False)
        self.load("list.html")
        light = browser.run(color)
        browser.dark(True)
        true("the system's theme applies", browser.run(color) != light)
        browser.run("localStorage.clear()")
        browser.click("#theme")
        equal("a light page on a dark system", browser.run(color), light)
        browser.run("localStorage.clear()")
        browser.dark(False)

    def hostile(self):
        """Test that names, labels and sources neither run nor break the page."""
        browser = self.browser
        for view in ("#/", "#/procedures", "#/flame", "#/procedure/0", "#/procedure/1"):
            self.load("hostile.html", view)
            browser.until(PARTS)
            equal(f"hostile names: {view} runs nothing", browser.run(
                "return [document.title === '1', window.owned ?? null, document.querySelectorAll('main img, main script, #range img, #range script').length]"),
                  [False, None, 0])
            true(f"hostile names: {view} fits", self.fits())
        self.load("hostile.html", "#/procedure/0")
        browser.until("return document.querySelector('table.source') !== null")
        true("a line of a megabyte is shortened", browser.run(
            "return Math.max(...[...document.querySelectorAll('table.source td.text')].map((e) => e.textContent.length))") <= 400)
        true("right-to-left text is isolated", browser.run(
            "return getComputedStyle(document.querySelector('.name')).unicodeBidi") == "isolate")

    def network(self):
        """Test that the page asks for nothing."""
        self.load("list.html")
        self.browser.until(PARTS)
        equal("no request", self.browser.run("return performance.getEntriesByType('resource').map((e) => e.name)"), [])
        if self.browser.name == "chromium":
            equal("no message on the console", self.browser.console(), [])


def run(name, folder, patience_s, tests):
    """Run some tests in a browser."""
    with Browser(name, patience_s) as browser:
        test = Test(browser, folder)
        if name == "chromium":
            browser.resize(1280, 800)
        for one in tests:
            try:
                getattr(test, one)()
            except (BrowserError, TypeError, IndexError):
                report(f"{name}: {one}", traceback.format_exc(limit=3).replace("\n", " ")[-700:])


def main():
    """Run all tests."""
    folder, patience_s = Path(sys.argv[1]), float(sys.argv[2])
    run("chromium", folder, patience_s, ["overview", "idle", "search", "flame", "range", "timeline", "procedure",
                                         "comparisons", "sizes", "hostile", "network"])
    if shutil.which("firefox-esr"):
        begin("Firefox: ")
        run("firefox", folder, patience_s, ["overview", "search", "procedure", "hostile", "network"])
    else:
        print("not measured|the page in Firefox|no firefox-esr")


if __name__ == "__main__":
    main()
