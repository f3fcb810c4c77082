#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read a pprof profile by the wire format and the numbers of profile.proto.

Prints "types", "image" lines (file, build-id) and one line for each procedure: first value, second
value, ..., image, procedure, file. Every reference is followed: a reference to a missing string,
mapping, function or location is an error, and so are two functions with one name and file. Instead,
"stacks" prints a line for each sample, with its procedures from the root separated by semicolons,
and its values. "systems" prints the names of functions and their system names. "lines" also prints
a line for each location: image, procedure, address, file, line. "samples" prints a line for each
sample of the files after it instead: period type and unit, build-id, file, procedure, address, pid,
first value.
"""
import collections
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def message(data):
    """Return the fields of a message: number -> values."""
    at, fields = 0, collections.defaultdict(list)
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length, "truncated"
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")
        fields[tag >> 3].append(value)
    return fields


def one(fields, number):
    return fields[number][-1] if fields[number] else 0


def by_id(messages):
    parsed = [message(data) for data in messages]
    table = {one(fields, 1): fields for fields in parsed}
    assert len(table) == len(parsed) and 0 not in table, "numbers are not unique"
    return table


def print_samples(profile, strings, mappings, locations, functions):
    period = message(profile[11][0]) if profile[11] else message(b"")
    for data in profile[2]:
        sample = message(data)
        location = locations[packed(b"".join(sample[1]))[0]]
        mapping = mappings.get(one(location, 2), message(b""))
        name = strings[one(functions[one(message(location[4][0]), 1)], 2)] if location[4] else ""
        labels = {strings[one(label, 1)]: one(label, 3) for label in map(message, sample[3])}
        print(strings[one(period, 1)], strings[one(period, 2)], strings[one(mapping, 6)],
              strings[one(mapping, 5)], name, one(location, 3), labels.get("pid", -1),
              packed(b"".join(sample[2]))[0], sep="|")


def main():
    if sys.argv[1:2] == ["samples"]:
        for path in sys.argv[2:]:
            with open(path, "rb") as stream:
                read(stream)
    else:
        read(sys.stdin.buffer)


def read(stream):
    profile = message(gzip.decompress(stream.read()))
    strings = [data.decode() for data in profile[6]]
    assert strings[0] == ""
    mappings, locations, functions = (by_id(profile[n]) for n in (3, 4, 5))
    types = [message(data) for data in profile[1]]
    names = [(one(f, 2), one(f, 4)) for f in functions.values()]
    assert len(names) == len(set(names)), "one function twice"
    if "systems" in sys.argv[1:]:
        for f in functions.values():
            print(strings[one(f, 2)], strings[one(f, 3)], sep="\t")
        return
    if "samples" in sys.argv[1:]:
        print_samples(profile, strings, mappings, locations, functions)
        return
    print("types", *(f"{strings[one(t, 1)]}/{strings[one(t, 2)]}" for t in types))
    assert strings[one(profile, 14)] in [strings[one(t, 1)] for t in types]
    for mapping in mappings.values():
        assert one(mapping, 2) < one(mapping, 3)
        print("image", strings[one(mapping, 5)], strings[one(mapping, 6)])
    for location in locations.values() if "lines" in sys.argv[1:] else []:
        line = message(location[4][0])
        function = functions[one(line, 1)]
        print("line", strings[one(mappings[one(location, 2)], 5)], strings[one(function, 2)],
              f"{one(location, 3):#x}", strings[one(function, 4)], one(line, 2), sep="\t")

    def name_of(location):
        function = functions[one(message(locations[location][4][0]), 1)]
        return strings[one(function, 2)]

    for data in profile[2] if "stacks" in sys.argv[1:] else []:
        sample = message(data)
        stack = packed(b"".join(sample[1]))
        print(";".join(name_of(at) for at in reversed(stack)), *packed(b"".join(sample[2])))
    if "stacks" in sys.argv[1:]:
        return
    totals = collections.defaultdict(lambda: [0] * len(types))
    for data in profile[2]:
        sample = message(data)
        values = packed(b"".join(sample[2]))
        assert len(values) == len(types)
        location = locations[packed(b"".join(sample[1]))[0]]
        mapping = mappings[one(location, 2)]
        assert one(mapping, 2) <= one(location, 3) < one(mapping, 3), "outside its mapping"
        function = functions[one(message(location[4][0]), 1)]
        key = (strings[one(mapping, 5)], strings[one(function, 2)], strings[one(function, 4)])
        totals[key] = [a + b for a, b in zip(totals[key], values)]
    for key, values in sorted(totals.items()):
        print("procedure", *values, *key, sep="\t")


main()
