#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure a page in headless Chromium: bench.py PAGE ROUNDS. Prints lines of tests/eval/bench/bench.h."""

import json
import os
import statistics
import sys
from pathlib import Path

from webdriver import Browser

# From an action to the end of the frame that shows it.
TIMED = """
const done = arguments[arguments.length - 1], start = performance.now();
(new Function(arguments[0]))();
requestAnimationFrame(() => { const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - start);
    channel.port2.postMessage(null); });
"""
PAINT = """
const done = arguments[arguments.length - 1];
new PerformanceObserver((list) => done(list.getEntries()[0].startTime))
    .observe({type: "paint", buffered: true});
"""
ACTIONS = {
    "search": "const s = document.getElementById('search'); s.value = s.value === 'a' ? 'e' : 'a';"
              "s.dispatchEvent(new Event('input'));",
    "sort": "document.querySelector('th:nth-child(4) button').click();",
    "range": "dispatchEvent(new KeyboardEvent('keydown', {key: ']'}));",
}


def figure(name, subject, workload, value, unit):
    """Print a figure."""
    print(json.dumps({"name": name, "subject": subject, "workload": workload,
                      "value": round(value, 3), "unit": unit}), flush=True)


def first_paint(browser, url, rounds):
    """Return the median of the times to the first paint, in ms."""
    times = []
    for _ in range(rounds):
        browser.open("about:blank")
        browser.open(url)
        times.append(browser.run_async(PAINT))
    return statistics.median(times)


def ready(browser, url, rounds):
    """Return the median of the times until the overview is shown, in ms."""
    times = []
    for _ in range(rounds):
        browser.open("about:blank")
        browser.open(url)
        browser.until("return document.documentElement.dataset.state === 'ready'")
        times.append(browser.run("return performance.getEntriesByName('dcpi-ready')[0].startTime"))
    return statistics.median(times)


def interaction(browser, action, rounds):
    """Return the median of the times of an action, in ms."""
    return statistics.median(browser.run_async(TIMED, action) for _ in range(rounds))


def main():
    """Measure a page and an empty one."""
    page, rounds = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    empty = page.with_name("empty.html")
    empty.write_text("<!doctype html><title>empty</title><p>empty", encoding="utf-8")
    figure("report_bytes", "dcpireport", "page", os.path.getsize(page), "bytes")
    with Browser("chromium") as browser:
        browser.resize(1280, 800)
        figure("report_first_paint_ms", "an empty page", "load",
               first_paint(browser, empty.as_uri(), rounds), "ms")
        figure("report_interaction_ms", "an empty page", "nothing",
               interaction(browser, "", rounds), "ms")
        figure("report_first_paint_ms", "dcpireport", "load",
               first_paint(browser, page.as_uri(), rounds), "ms")
        figure("report_ready_ms", "dcpireport", "load", ready(browser, page.as_uri(), rounds), "ms")
        browser.open("about:blank")
        browser.open(page.as_uri() + "#/procedures")
        browser.until("return document.documentElement.dataset.parts === 'read'")
        for name, action in ACTIONS.items():
            figure("report_interaction_ms", "dcpireport", name,
                   interaction(browser, action, rounds), "ms")


if __name__ == "__main__":
    main()
