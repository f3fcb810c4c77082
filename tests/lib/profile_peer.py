#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A server that receives profiles by OTLP or like Pyroscope, with failures.

    profile_peer.py FOLDER [--port N] [--faults FILE] [--pid FILE] [--log FILE]

Each request that arrives becomes a file NUMBER.body in FOLDER, without the compression of HTTP, and
its address NUMBER.path. The server prints its port. Each request takes one line of FAULTS, at its
end none:

    ok                   store the request, and respond with 200
    STATUS [SECONDS]     respond with this status, and Retry-After; store nothing
    500 stored           store the request, and respond with 500
    close, close stored  close the connection, before or after the request is stored
    partial N            store the request, and report N rejected profiles
    garbage              store nothing, and respond with a text that is not a message
    kill, kill stored    kill the process of --pid, before or after the request is stored
"""

import argparse
import gzip
import http.server
import os
import sys

from clickhouse_peer import Faults


class Store(Faults):
    def __init__(self, args):
        super().__init__(args)
        self.folder = args.folder
        os.makedirs(self.folder, exist_ok=True)

    def add(self, path, body):
        with self.lock:
            number = len(os.listdir(self.folder)) // 2
            base = os.path.join(self.folder, f"{number:06}")
            with open(base + ".body", "wb") as stream:
                stream.write(body)
            with open(base + ".path", "w") as stream:
                stream.write(path + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    store = None

    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", wait=None):
        self.send_response(status)
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def hang_up(self):
        self.close_connection = True
        self.connection.close()

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return self.hang_up()
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        fault = self.store.fault()
        if self.store.log:
            self.store.log.write(f"{fault}: {self.path} {self.headers.get('Content-Type')} "
                                 f"{self.headers.get('Content-Encoding', 'none')}\n")
        words = fault.split()
        stored = words[0] in ("ok", "partial") or words[-1] == "stored"
        if stored:
            self.store.add(self.path, body)
        if words[0] == "kill":
            self.store.kill()
        if words[0] in ("close", "kill"):
            return self.hang_up()
        if words[0].isdigit():
            return self.respond(int(words[0]), b"a failure\n", *(words[1:2] if not stored else []))
        if words[0] == "partial":
            # partial_success { rejected_profiles: N error_message: "full" }
            return self.respond(200, bytes([0x0A, 8, 0x08, int(words[1]), 0x12, 4]) + b"full")
        return self.respond(200, b"<html>" if fault == "garbage" else b"")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults")
    parser.add_argument("--pid")
    parser.add_argument("--log")
    args = parser.parse_args()
    Handler.store = Store(args)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
