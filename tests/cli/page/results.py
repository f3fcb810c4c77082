# SPDX-License-Identifier: GPL-2.0-only
"""Prints results of tests for a shell test: "ok|NAME", "not ok|NAME|WHY"."""

# The beginning of the names of all tests.
context = ""


def begin(text):
    """Begin the names of the tests that follow with a text."""
    global context
    context = text


def report(name, fault):
    """Print the result of a test; fault: None if it passed."""
    print(f"not ok|{context}{name}|{fault}" if fault else f"ok|{context}{name}", flush=True)


def equal(name, got, want):
    """Test that two values are equal."""
    report(name, None if got == want else f"got {got!r}, want {want!r}"[:1500])


def true(name, got):
    """Test that a value is true."""
    report(name, None if got else f"got {got!r}")
