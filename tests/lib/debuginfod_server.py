# SPDX-License-Identifier: GPL-2.0-only
"""A debuginfod server that works or fails in one way, for tests/cli/cli_debuginfod.sh.

usage: debuginfod_server.py MODE FOLDER LOG

Serves FOLDER/BUILD-ID/KIND on a free port of 127.0.0.1. The first line of LOG is the port; each
request and, in mode "silent", each connection adds a line. Mode "together:N" answers its first
request, and further ones once N of them wait.
"""
import http.server
import os
import socket
import sys
import threading
import time

mode, folder, log_path = sys.argv[1:4]
log = open(log_path, "a", buffering=1)
mode, _, waiters = mode.partition(":")
first = threading.Lock()
barrier = threading.Barrier(int(waiters or 1))


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send_body(self, body, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        log.write(self.path + "\n")
        parts = self.path.strip("/").split("/")
        path = os.path.join(folder, *parts[1:])
        if not os.path.isfile(path) or mode == "missing":
            self.send_error(404)
            return
        body = open(path, "rb").read()
        if mode == "works":
            self.send_body(body, len(body))
        elif mode == "together":
            if not first.acquire(blocking=False):
                barrier.wait()
            self.send_body(body, len(body))
        elif mode == "huge":
            self.send_body(body, 4 << 40)
        elif mode == "truncated":
            self.send_body(body[: len(body) // 2], len(body) // 2)
        elif mode == "closes":
            self.send_body(body[: len(body) // 2], len(body))
        elif mode == "garbage":
            self.send_body(b"x" * 5000, 5000)
        elif mode == "other":
            # Small: after 64 KiB a client decides for the server, and asks for several files at
            # once.
            body = open("/bin/true", "rb").read()
            self.send_body(body, len(body))
        elif mode == "error":
            self.send_error(503)
        elif mode == "stalls":
            self.send_body(b"", len(body))
            self.wfile.flush()
            time.sleep(600)
        elif mode == "drips":
            self.send_body(b"", len(body))
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(1)


def main():
    if mode == "silent":
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen(50)
        log.write(f"{server.getsockname()[1]}\n")
        kept = []
        while True:
            kept.append(server.accept())
            log.write("connection\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    log.write(f"{server.server_address[1]}\n")
    server.serve_forever()


main()
