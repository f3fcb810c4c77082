# SPDX-License-Identifier: GPL-2.0-only
"""Rows and columns of an earlier accuracy page, to keep those that were not measured again."""


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read(path):
    """Return the tables by title, {title: [header, row, ...]}; {} if there is no such page."""
    tables, title = {}, None
    try:
        with open(path, encoding="utf-8") as page:
            for line in page:
                if line.startswith("## "):
                    title = line[3:].strip()
                elif line.startswith("|---"):
                    continue
                elif line.startswith("|") and title is not None:
                    tables.setdefault(title, []).append(cells_of(line))
    except FileNotFoundError:
        return {}
    return tables


def column(table, name):
    """Return a column as {first cell: cell}; {} if there is none."""
    if not table or name not in table[0]:
        return {}
    at = table[0].index(name)
    return {row[0]: row[at] for row in table[1:] if len(row) == len(table[0])}


def with_rows(new, old, keys):
    """Merge tables: the rows of @old, in their order, replaced or extended by those of @new.

    Rows are identified by their first @keys cells. If @old has other columns, it is ignored.
    """
    if not old or len(new) > 1 and old[0] != new[0]:
        return new
    rows = {tuple(row[:keys]): row for row in old[1:]}
    rows.update({tuple(row[:keys]): row for row in new[1:]})
    return [old[0]] + list(rows.values())


def with_columns(new, old, empty):
    """Return @new, with cells equal to @empty copied from @old, by header and first cell."""
    kept = {name: column(old, name) for name in new[0][1:]}
    return [new[0]] + [[row[0]] + [kept[name].get(row[0], cell) if cell == empty else cell
                                   for name, cell in zip(new[0][1:], row[1:])]
                       for row in new[1:]]
