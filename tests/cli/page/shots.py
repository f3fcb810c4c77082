#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Take pictures of a page: shots.py PAGE FOLDER [NAME]...  Each NAME is one of the list below."""

import sys
from pathlib import Path

from webdriver import Browser

SHOTS = {
    "overview": ("#/", 1280, 800, False),
    "overview-dark": ("#/", 1280, 800, True),
    "overview-360": ("#/", 360, 740, False),
    "overview-4k": ("#/", 3840, 2160, False),
    "procedures": ("#/procedures", 1280, 800, False),
    "procedures-360": ("#/procedures", 360, 740, True),
    "flame": ("#/flame", 1280, 800, False),
    "flame-dark": ("#/flame", 1280, 800, True),
    "procedure": ("#/procedure/0", 1280, 1000, False),
    "procedure-dark": ("#/procedure/0", 1280, 1000, True),
    "procedure-360": ("#/procedure/0", 360, 740, False),
    "procedure-4k": ("#/procedure/0", 3840, 2160, True),
    "graph": ("#/procedure/0", 1280, 1000, False),
    "epochs": ("#/procedure/0", 1280, 800, False),
    "timeline": ("#/procedures?range=40-99", 1280, 800, False),
    "timeline-dark": ("#/procedures?range=40-99", 1280, 800, True),
    "timeline-360": ("#/procedures?range=40-99", 360, 740, False),
    "variation": ("#/variation", 1280, 800, False),
    "diff": ("#/diff", 1280, 800, False),
}


def main():
    """Take the pictures that the command line names, or all."""
    page, folder = Path(sys.argv[1]).resolve().as_uri(), Path(sys.argv[2])
    row = next((name[4:] for name in sys.argv[3:] if name.startswith("row=")), "0")
    names = [name for name in sys.argv[3:] if "=" not in name] or list(SHOTS)
    with Browser("chromium") as browser:
        for name in names:
            fragment, width, height, dark = SHOTS[name]
            browser.resize(width, height)
            browser.dark(dark)
            browser.open("about:blank")
            browser.open(page + fragment.replace("procedure/0", f"procedure/{row}"))
            browser.until("return document.documentElement.dataset.parts === 'read'")
            if name in ("graph", "epochs"):
                browser.click(f"#tab-{name}")
            browser.run("return new Promise((done) => requestAnimationFrame(() => "
                        "requestAnimationFrame(done)))")
            browser.screenshot(folder / f"{name}.png")
            for message in browser.console():
                print(f"{name}: {message}")


if __name__ == "__main__":
    main()
