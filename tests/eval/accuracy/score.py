# SPDX-License-Identifier: GPL-2.0-only
"""Scores of estimates against the truth, the same for all arms of the accuracy table.

Items are (weight, estimate, truth, ...) tuples; an estimate of None is missing, and counts as
wrong. Errors are (estimate - truth) / truth.
"""

LIMITS = (5, 10, 15, 45)


def error(estimate, truth):
    """Return the relative error; infinite without an estimate or truth."""
    if estimate is None or truth <= 0:
        return float("inf")
    return (estimate - truth) / truth


def percent(part, whole):
    return round(100 * part / whole, 2) if whole else None


def within(items):
    """Return {"within5": ..}, the percentage of weight with at most that error, for each limit."""
    total = sum(item[0] for item in items)
    shares = {}
    for limit in LIMITS:
        good = sum(w for w, estimate, truth, *_ in items
                   if abs(error(estimate, truth)) <= limit / 100)
        shares[f"within{limit}"] = percent(good, total)
    return shares


def median_error(items):
    """Return the weighted median of the errors, in percent: the bias."""
    errors = sorted((error(e, t), w) for w, e, t, *_ in items if e is not None and t > 0)
    half = sum(w for _, w in errors) / 2
    for e, w in errors:
        half -= w
        if half <= 0:
            return round(100 * e, 2)
    return None


def scale(items):
    """Return the weighted median of truth / estimate, the scale of estimates without one."""
    ratios = sorted((t / e, w) for w, e, t, *_ in items if e and t > 0)
    half = sum(w for _, w in ratios) / 2
    for ratio, w in ratios:
        half -= w
        if half <= 0:
            return ratio
    return 1.0


def scaled(items, factor):
    """Return the items with all estimates and intervals multiplied by a factor."""
    return [(i[0], i[1] if i[1] is None else i[1] * factor, i[2], *i[3:4],
             *(v if v is None else v * factor for v in i[4:])) for i in items]


def flagged(items, limit=15):
    """Return the percentage of large errors (above the limit), by weight, marked as low confidence.

    Items are (weight, estimate, truth, confidence, low, high). A missing estimate counts as
    marked.
    """
    wrong = [i for i in items if abs(error(i[1], i[2])) > limit / 100]
    marked = sum(i[0] for i in wrong if i[1] is None or i[3] == "low")
    return percent(marked, sum(i[0] for i in wrong))


def held(items):
    """Return the percentage of weight whose interval contains the truth, allowing for rounding."""
    made = [i for i in items if i[1] is not None and i[4] is not None]
    good = sum(i[0] for i in made if i[4] * 0.999 <= i[2] <= i[5] * 1.001)
    return percent(good, sum(i[0] for i in made))


def interval_median(items):
    """Return the weighted median of upper / lower bound; None if it is not finite."""
    widths = sorted((i[5] / i[4] if i[4] else float("inf"), i[0]) for i in items
                    if i[1] is not None and i[5] is not None)
    half = sum(w for _, w in widths) / 2
    for width, w in widths:
        half -= w
        if half <= 0:
            return round(width, 2) if width < float("inf") else None
    return None


def confidences(items):
    """Return {"high": ..}, the percentage of weight by confidence."""
    total = sum(i[0] for i in items)
    return {c: percent(sum(i[0] for i in items if i[3] == c), total)
            for c in ("low", "medium", "high")}


def histogram(items):
    """Return the percentage of weight by error, in steps of 5 from -45, with tails (Figure 8)."""
    total = sum(i[0] for i in items)
    steps = [0.0] * 20
    for item in items:
        e = error(item[1], item[2])
        steps[min(19, max(0, int((e + 0.5) // 0.05)))if e != float("inf") else 19] += item[0]
    return [percent(s, total) for s in steps]


def correlation(pairs):
    """Return Pearson's correlation coefficient."""
    n = len(pairs)
    if n < 3:
        return None
    mean_x = sum(x for x, _ in pairs) / n
    mean_y = sum(y for _, y in pairs) / n
    xy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    xx = sum((x - mean_x) ** 2 for x, _ in pairs)
    yy = sum((y - mean_y) ** 2 for _, y in pairs)
    return round(xy / (xx * yy) ** 0.5, 4) if xx > 0 and yy > 0 else None
