# SPDX-License-Identifier: GPL-2.0-only
"""A process with an invalid jitdump: bad_jitdump.py KIND MS DIRECTORY"""
import mmap
import os
import struct
import sys
import time

kind, milliseconds, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
machine = {"x86_64": 62, "aarch64": 183}[os.uname().machine]
dump = open(os.path.join(directory, "jit-%d.dump" % os.getpid()), "w+b", buffering=0)
dump.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, os.getpid(), 0, 0))
if kind == "corrupt":
    dump.write(os.urandom(1 << 16))
elif kind == "truncated":
    dump.write(struct.pack("<IIQ", 0, 0xFFFFFFFF, 1) + b"x" * 100)
marker = mmap.mmap(dump.fileno(), 40, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
end = time.monotonic() + milliseconds / 1000
while time.monotonic() < end:
    if kind == "growing":
        dump.write(struct.pack("<IIQ", 2, 16, 1) * 65536)
        if dump.tell() > 1 << 28:
            dump.truncate(40)
            dump.seek(40)
