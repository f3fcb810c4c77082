#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check pages of dcpireport without a browser: check_html.py [--document JSON] PAGE...

A page has one script and one style, which its policy names by their digests. All other script
elements are data in base64. No attribute refers to anything outside of the page.
"""

import base64
import hashlib
import html.parser
import json
import re
import sys
import zlib


class Page(html.parser.HTMLParser):
    """Gather the elements of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.policy = None
        self.code = []
        self.data = {}
        self.faults = []
        self.inside = None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        for name, value in attrs:
            if name.startswith("on"):
                self.faults.append(f"<{tag}> has {name}")
            if name in ("src", "href") and not (value or "").startswith("#"):
                self.faults.append(f"<{tag}> refers to {value}")
        self.inside = None
        if tag == "style" or (tag == "script" and not attributes):
            self.inside = (tag, None)
        elif tag == "script" and attributes.get("type") == "application/octet-stream":
            self.inside = (tag, attributes["id"])
        elif tag == "script":
            self.faults.append(f"a script element with {attributes}")

    def handle_data(self, data):
        if self.inside is None:
            return
        tag, name = self.inside
        if name is None:
            self.code.append((tag, data))
        else:
            self.data[name] = self.data.get(name, "") + data

    def handle_endtag(self, tag):
        self.inside = None


def decode(text):
    """Return the object that an element contains."""
    if not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", text):
        raise ValueError("not base64")
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))


def check(path):
    """Return the faults of a page, and its document."""
    page = Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    faults = page.faults
    if sorted(tag for tag, _ in page.code) != ["script", "style"]:
        faults.append(f"elements with code: {[tag for tag, _ in page.code]}")
    for tag, text in page.code:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        if f"{tag}-src 'sha256-{digest}'" not in (page.policy or ""):
            faults.append(f"the policy does not name the {tag}: {page.policy}")
    if not (page.policy or "").startswith("default-src 'none';") or "unsafe" in page.policy:
        faults.append(f"policy: {page.policy}")
    parts = {name: decode(text) for name, text in page.data.items()}
    document = parts.pop("data-main", {})
    document["parts"] = [parts.pop(f"data-part-{i}", None)
                         for i in range(len(document.get("details", [])))]
    if parts or None in document["parts"]:
        faults.append(f"parts without an entry: {list(parts)}, or entries without a part")
    return faults, document


def main():
    """Check all pages; exit with 1 if any has a fault."""
    arguments = sys.argv[1:]
    want = None
    if arguments[0] == "--document":
        with open(arguments[1], encoding="utf-8") as file:
            want = json.load(file)
        arguments = arguments[2:]
    failed = False
    for path in arguments:
        faults, document = check(path)
        if want is not None:
            # Both were made at their own time.
            document["generated"] = want["generated"]
            if document != want:
                faults.append("another document")
        for fault in faults:
            print(f"{path}: {fault}")
        failed |= bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
