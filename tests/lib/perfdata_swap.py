#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a perf.data file as a big-endian machine would have written it.

    perfdata_swap.py [--pack] IN OUT

With --pack, the kernel's records of a recording from a pipe are in compressed records there.
Each number is read by its little-endian format and written by its big-endian one, by the layouts of
linux/perf_event.h. Members of bit-fields are taken out and put back one by one.
"""
import struct
import sys

FEATURES_AT, HEADER = 72, 104
SAMPLE_TYPE = {name: 1 << bit for bit, name in enumerate(
    "ip tid time addr read callchain id cpu period stream raw branch regs stack".split())}
IDENTIFIER = 1 << 16
ATTR = "II Q Q Q Q B II Q Q Q Q II Q I HH II Q Q"
RECORDS = {1: "IIQQQ", 2: "QQ", 3: "II", 4: "IIIIQ", 5: "QQQ", 6: "QQQ", 7: "IIIIQ", 8: "II",
           10: "IIQQQIIQQII", 13: "Q", 17: "QIHH", 18: "HHI", 66: "I", 67: "I", 71: "QQQIIII",
           78: "QQ", 83: "Q"}
FLAG_WIDTHS = (1, 1, 1, 1, 16, 4, 2, 4, 3, 31)


class Piece:
    """Bytes that are converted from the beginning to the end."""

    def __init__(self, data):
        self.data, self.at = bytearray(data), 0

    def left(self):
        return len(self.data) - self.at

    def number(self, code):
        size = struct.calcsize("<" + code)
        if self.left() < size:
            self.at = len(self.data)
            return 0
        value, = struct.unpack_from("<" + code, self.data, self.at)
        struct.pack_into(">" + code, self.data, self.at, value)
        self.at += size
        return value

    def skip(self, count):
        self.at = min(self.at + count, len(self.data))

    def members(self, widths):
        """Members of a 64-bit word: the first one has the low bits here, the high bits there."""
        value, = struct.unpack_from("<Q", self.data, self.at)
        there, done = 0, 0
        for width in widths:
            there |= (value >> done & ((1 << width) - 1)) << (64 - done - width)
            done += width
        struct.pack_into(">Q", self.data, self.at, there)
        self.at += 8

    def fields(self, codes):
        for code in codes.replace(" ", ""):
            if code == "B":
                self.members((1,) * 64)
            else:
                self.number(code)

    def words(self, count):
        for _ in range(count):
            self.number("Q")

    def string(self):
        self.skip(self.number("I"))


def attr(data):
    """Return the converted attribute, its sample type, and the rest that decides on layouts."""
    codes = ATTR.replace(" ", "")
    values, at = [], 0
    for code in codes:
        size = 8 if code == "B" else struct.calcsize("<" + code)
        if at + size > len(data):
            break
        values.append(struct.unpack_from("<" + code.replace("B", "Q"), data, at)[0])
        at += size
    piece = Piece(data)
    piece.fields(codes[:len(values)])
    event = {"type": values[4], "read": values[5], "all": values[6] >> 18 & 1,
             "branch": values[11], "regs": values[12] if len(values) > 12 else 0}
    return bytes(piece.data), event


class Recording:
    def __init__(self, data):
        self.data, self.events, self.ids = data, [], {}
        self.out = bytearray(data)

    def put(self, at, data):
        self.out[at:at + len(data)] = data

    def section(self, at):
        offset, size = struct.unpack_from("<QQ", self.data, at)
        self.put(at, struct.pack(">QQ", offset, size))
        return offset, size

    def attrs(self, at, size, entry):
        for where in range(at, at + size, entry):
            converted, event = attr(self.data[where:where + entry - 16])
            self.put(where, converted)
            offset, bytes_ = self.section(where + entry - 16)
            self.add_event(event, self.data[offset:offset + bytes_])
            piece = Piece(self.data[offset:offset + bytes_])
            piece.words(bytes_ // 8)
            self.put(offset, piece.data)

    def add_event(self, event, ids):
        for (number,) in struct.iter_unpack("<Q", ids):
            self.ids[number] = len(self.events)
        self.events.append(event)

    def feature(self, number, data):
        piece = Piece(data)
        if number == 2:
            while piece.left() >= 8:
                start, size = piece.at, struct.unpack_from("<H", piece.data, piece.at + 6)[0]
                piece.fields("IHHI")
                piece.at = start + size
        elif number in (3, 4, 5, 6, 8, 9):
            piece.string()
        elif number == 7:
            piece.fields("II")
        elif number == 11:
            for _ in range(piece.number("I")):
                piece.string()
        elif number == 12:
            count, size = piece.number("I"), piece.number("I")
            for _ in range(count):
                converted, _ = attr(piece.data[piece.at:piece.at + size])
                piece.data[piece.at:piece.at + size] = converted
                piece.skip(size)
                ids = piece.number("I")
                piece.string()
                piece.words(ids)
        return piece.data

    def sample(self, piece):
        first = self.events[0]["type"]
        event = self.events[0]
        if len(self.events) > 1:
            at = piece.at
            if not first & IDENTIFIER:
                at += 8 * bin(first & (SAMPLE_TYPE["ip"] | SAMPLE_TYPE["tid"] |
                                       SAMPLE_TYPE["time"] | SAMPLE_TYPE["addr"])).count("1")
            event = self.events[self.ids[struct.unpack_from("<Q", piece.data, at)[0]]]
        kind = event["type"]
        if kind & IDENTIFIER:
            piece.number("Q")
        for name, codes in (("ip", "Q"), ("tid", "II"), ("time", "Q"), ("addr", "Q"), ("id", "Q"),
                            ("stream", "Q"), ("cpu", "II"), ("period", "Q")):
            if kind & SAMPLE_TYPE[name]:
                piece.fields(codes)
        if kind & SAMPLE_TYPE["read"]:
            words = 1 + (event["read"] >> 2 & 1) + (event["read"] >> 4 & 1)
            if event["read"] & 8:
                words *= piece.number("Q")
            piece.words(words + bin(event["read"] & 3).count("1"))
        if kind & SAMPLE_TYPE["callchain"]:
            piece.words(piece.number("Q"))
        if kind & SAMPLE_TYPE["raw"]:
            piece.string()
        if kind & SAMPLE_TYPE["branch"]:
            entries = piece.number("Q")
            if event["branch"] >> 17 & 1:
                piece.number("Q")
            for _ in range(entries):
                piece.words(2)
                piece.members(FLAG_WIDTHS)
        if kind & SAMPLE_TYPE["regs"] and piece.number("Q"):
            piece.words(bin(event["regs"]).count("1"))
        if kind & SAMPLE_TYPE["stack"]:
            size = piece.number("Q")
            if size:
                piece.skip(size)
                piece.number("Q")

    def trailer(self, data):
        kind = self.events[0]["type"] if self.events and self.events[0]["all"] else 0
        names = [(SAMPLE_TYPE["tid"], "II"), (SAMPLE_TYPE["time"], "Q"), (SAMPLE_TYPE["id"], "Q"),
                 (SAMPLE_TYPE["stream"], "Q"), (SAMPLE_TYPE["cpu"], "II"), (IDENTIFIER, "Q")]
        codes = "".join(code for bit, code in names if kind & bit)
        piece = Piece(data)
        piece.at = len(data) - struct.calcsize("<" + codes)
        piece.fields(codes)
        return piece.data

    def record(self, data):
        kind, misc, _ = struct.unpack_from("<IHH", data)
        piece = Piece(data)
        piece.fields("IHH")
        if kind == 9:
            self.sample(piece)
        elif kind == 64:
            size = struct.unpack_from("<I", data, 12)[0]
            converted, event = attr(data[8:8 + size])
            self.add_event(event, data[8 + size:])
            piece.data[8:8 + size] = converted
            piece.at = 8 + size
            piece.words(piece.left() // 8)
        elif kind == 80:
            number = piece.number("Q")
            piece.data[16:] = self.feature(number, data[16:])
        elif kind == 10 and misc & 1 << 14:
            piece.fields("IIQQQ")
            piece.skip(24)
            piece.fields("II")
        else:
            piece.fields(RECORDS.get(kind, ""))
        if kind < 64 and kind != 9:
            piece.data = self.trailer(piece.data)
        return piece.data

    def records(self, at, end):
        while at + 8 <= end:
            size = struct.unpack_from("<H", self.data, at + 6)[0]
            self.put(at, self.record(self.data[at:at + size]))
            at += size

    def pack(self):
        """Put records into compressed ones: zstd frames of one block that is not compressed."""
        at, packed, waiting = 16, bytearray(self.out[:16]), bytearray()

        while at < len(self.data) or waiting:
            kind, size = 64, 0
            if at + 8 <= len(self.data):
                kind, _, size = struct.unpack_from("<IHH", self.data, at)
            if waiting and (kind >= 64 or len(waiting) + size > 30000):
                frame = struct.pack("<IBI", 0xfd2fb528, 0xa0, len(waiting))
                frame += struct.pack("<I", 1 | len(waiting) << 3)[:3] + waiting
                packed += struct.pack(">IHH", 81, 0, 8 + len(frame)) + frame
                waiting = bytearray()
            if kind >= 64:
                packed += self.out[at:at + size]
            else:
                waiting += self.out[at:at + size]
            at += size
            if size == 0:
                break
        self.out = packed

    def convert(self):
        magic, size = struct.unpack_from("<QQ", self.data)
        self.put(0, struct.pack(">QQ", magic, size))
        if size == 16:
            self.records(16, len(self.data))
            if pack:
                self.pack()
            return
        entry, = struct.unpack_from("<Q", self.data, 16)
        self.put(16, struct.pack(">Q", entry))
        self.attrs(*self.section(24), entry)
        data_at, data_size = self.section(40)
        self.section(56)
        bits = struct.unpack_from("<4Q", self.data, FEATURES_AT)
        self.put(FEATURES_AT, struct.pack(">4Q", *bits))
        at = data_at + data_size
        for number in range(256):
            if bits[number // 64] >> number % 64 & 1:
                offset, bytes_ = self.section(at)
                self.put(offset, self.feature(number, self.data[offset:offset + bytes_]))
                at += 16
        self.records(data_at, data_at + data_size)


pack = sys.argv[1] == "--pack"
source, target = sys.argv[-2:]
with open(source, "rb") as file:
    recording = Recording(file.read())
recording.convert()
with open(target, "wb") as file:
    file.write(recording.out)
