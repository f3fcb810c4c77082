#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the samples of OTLP profiles from the output of "protoc --decode".

    otlp_read.py FILE...    each the text of an ExportProfilesServiceRequest

Prints, separated by "|":

    samples EVENT BUILD-ID FILE PROCEDURE OFFSET PID COUNT     summed over all requests
    lost NAME COUNT
    epoch ID SUM                                               samples and losses
    period EVENT UNIT PERIOD
    resource KEY VALUE
    requests NUMBER, profiles NUMBER, ids NUMBER
    most SAMPLES                                               in a request

Every reference is followed. Tables must begin with an empty item, and have no item twice and none
that is not referred to. Stacks have one location.
"""
import ast
import collections
import re
import sys

TOKEN = re.compile(r'\s*(?:(\w+) \{|(\w+): ("(?:[^"\\]|\\.)*"|\S+)|(\}))')


def parse(text):
    """Return the message of a text: field -> values."""
    root = collections.defaultdict(list)
    stack, at = [root], 0
    text = text.rstrip()
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token, text[at:at + 80]
        at = token.end()
        group, name, value, _ = token.groups()
        if group:
            stack[-1][group].append(collections.defaultdict(list))
            stack.append(stack[-1][group][-1])
        elif name:
            stack[-1][name].append(ast.literal_eval("b" + value).decode("utf-8", "surrogateescape")
                                   if value[0] == '"' else int(value))
        else:
            stack.pop()
    assert len(stack) == 1
    return root


def one(message, field, default=0):
    return message[field][-1] if message[field] else default


def freeze(message):
    if isinstance(message, dict):
        return tuple(sorted((k, tuple(map(freeze, v))) for k, v in message.items() if v))
    return message


def values(attribute):
    value = one(attribute, "value", {})
    return (value.get("string_value") or value.get("int_value") or [None])[0]


class Request:
    def __init__(self, text):
        message = parse(text)
        (self.resource,) = message["resource_profiles"]
        (dictionary,) = message["dictionary"]
        self.tables = {name: dictionary[name + "_table"] for name in
                       ("mapping", "location", "function", "link", "string", "attribute", "stack")}
        self.used = {name: {0} for name in self.tables}
        for name, table in self.tables.items():
            assert table and (table[0] == "" if name == "string" else name == "link" or not table[0]), name
            items = [freeze(item) for item in table]
            assert len(items) == len(set(items)), f"{name}: an item twice"
        self.samples = 0

    def get(self, table, index):
        self.used[table].add(index)
        assert 0 <= index < len(self.tables[table]), (table, index)
        return self.tables[table][index]

    def text(self, message, field):
        return self.get("string", one(message, field))

    def attributes(self, message):
        found = {}
        for index in message["attribute_indices"]:
            attribute = self.get("attribute", index)
            key = self.text(attribute, "key_strindex")
            assert index > 0 and key not in found
            found[key] = values(attribute)
        return found

    def check_used(self):
        for name, table in self.tables.items():
            assert len(self.used[name]) == len(table), f"{name}: items that are not used"


def read_sample(request, profile, sample, event, counts):
    (location,) = request.get("stack", one(sample, "stack_index"))["location_indices"]
    location = request.get("location", location)
    (count,) = sample["values"]
    name = ""
    for line in location["lines"]:
        name = request.text(request.get("function", one(line, "function_index")), "name_strindex")
        request.text(request.get("function", one(line, "function_index")), "system_name_strindex")
    if event is None:
        counts["lost", name] += count
        return count
    mapping = request.get("mapping", one(location, "mapping_index"))
    image = request.attributes(mapping)
    assert request.attributes(location)["profile.frame.type"] in ("native", "kernel")
    address = one(location, "address")
    assert one(mapping, "memory_start") <= address < one(mapping, "memory_limit")
    counts["samples", event, image.get("process.executable.build_id.gnu", ""),
           request.text(mapping, "filename_strindex"), name, address,
           request.attributes(sample).get("process.pid", -1)] += count
    return count


def read_profile(request, profile, counts, periods):
    kind = one(profile, "sample_type")
    assert request.text(kind, "unit_strindex") == "count"
    event = None
    if request.text(kind, "type_strindex") == "samples":
        period = one(profile, "period_type")
        event = request.text(period, "type_strindex")
        periods.add((event, request.text(period, "unit_strindex"), one(profile, "period")))
    else:
        assert request.text(kind, "type_strindex") == "lost_samples"
    assert one(profile, "time_unix_nano") > 0 and one(profile, "duration_nano") > 0
    request.samples += len(profile["samples"])
    return sum(read_sample(request, profile, sample, event, counts) for sample in profile["samples"])


def main():
    counts, epochs = collections.Counter(), collections.Counter()
    periods, resources, ids, most = set(), set(), [], 0
    for path in sys.argv[1:]:
        request = Request(open(path).read())
        resource = {one(a, "key"): values(a) for a in one(request.resource, "resource")["attributes"]}
        resources |= {item for item in resource.items() if item[0] != "dcpi.epoch"}
        (scope,) = request.resource["scope_profiles"]
        assert one(one(scope, "scope"), "name") == "dcpi"
        for profile in scope["profiles"]:
            ids.append(one(profile, "profile_id"))
            epochs[resource["dcpi.epoch"]] += read_profile(request, profile, counts, periods)
        request.check_used()
        most = max(most, request.samples)
    for table in sorted(counts.items()):
        print(*table[0], table[1], sep="|")
    for name, rows in (("epoch", epochs.items()), ("period", periods), ("resource", resources)):
        for row in sorted(rows):
            print(name, *row, sep="|")
    assert all(len(i.encode("utf-8", "surrogateescape")) == 16 for i in ids)
    print("requests", len(sys.argv) - 1, sep="|")
    print("profiles", len(ids), sep="|")
    print("ids", len(set(ids)), sep="|")
    print("most", most, sep="|")


main()
