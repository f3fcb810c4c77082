#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A TCP proxy that cuts connections, for tests/long/fleet.sh.

    cutting_proxy.py PORT MODE-FILE

Forwards connections to PORT of 127.0.0.1, and prints its own port. While MODE-FILE has the word
"request", a connection is closed after a random part of the request; with "response", the request
is forwarded, and the connection is closed instead of the response. Otherwise all bytes are forwarded.
"""
import random
import socket
import sys
import threading

target, mode_path = int(sys.argv[1]), sys.argv[2]


def mode():
    with open(mode_path) as stream:
        return stream.read().strip()


def forward(source, sink, word, limit):
    passed = 0
    try:
        while True:
            data = source.recv(65536)
            cutting = mode() == word
            if cutting:
                data = data[: max(0, limit - passed)]
            if not data:
                break
            sink.sendall(data)
            passed += len(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    try:
        server = socket.create_connection(("127.0.0.1", target))
    except OSError:
        client.close()
        return
    back = threading.Thread(target=forward, args=(server, client, "response", 0))
    back.start()
    forward(client, server, "request", random.randrange(8192))
    back.join()
    client.close()
    server.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
