#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Attack a running dcpiweb over TCP: web_attacks.py PORT PATIENCE_SECONDS CONNECTIONS

The server has the option --request-timeout 1 and serves CONNECTIONS at a time. Prints a line for each
test: "ok|NAME" or "not ok|NAME|WHY".
"""

import re
import socket
import sys
import time

from results import report

PORT, PATIENCE_S, CONNECTIONS = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])


def connect():
    """Connect to the server."""
    return socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE_S)


def read_all(connection):
    """Read until the server closes the connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def status(raw):
    """Send raw bytes, and return the status of the answer; 0: the connection was closed."""
    with connect() as connection:
        try:
            connection.sendall(raw)
        except (BrokenPipeError, ConnectionResetError):
            pass
        found = re.match(rb"HTTP/1\.[01] (\d+)", read_all(connection))
        return int(found[1]) if found else 0


def get(path, *headers, host="localhost", method="GET", version="HTTP/1.1"):
    """Make a request."""
    lines = [f"{method} {path} {version}", *([f"Host: {host}"] if host is not None else []),
             "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def expect(name, raw, *wanted):
    """Test the status of the answer to a request."""
    got = status(raw)
    report(name, None if got in wanted else f"got {got}, want {wanted}")


def hosts():
    """Requests whose Host is another machine, as after DNS rebinding."""
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80@evil.example",
                 "", " ", "[::1", "[::2]", "127.0.0.2", "localhost:", "localhost:x", "localhost/", "xn--localhost", "\xff"):
        # An empty port is the default port: RFC 9110.
        expect(f"Host '{host!a}'", get("/api/epochs", host=host), *((200,) if host == "localhost:" else (400, 403)))
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:65000", "[::1]:8197"):
        expect(f"Host '{host}' is answered", get("/api/epochs", host=host), 200)
    expect("no Host", get("/api/epochs", host=None), 400, 403)
    expect("no Host, HTTP/1.0", get("/api/epochs", host=None, version="HTTP/1.0"), 400, 403)
    expect("two Hosts", get("/api/epochs", "Host: evil.example"), 400, 403)
    expect("a request of another site", get("/api/epochs", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), 403)
    expect("a request of another port", get("/", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"), 403)
    expect("a link on another site", get("/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"), 200)


def paths():
    """Requests for files, and paths that are no resources."""
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/../../etc/passwd", "/api/procedures/",
                 "/api/procedures%00", "/api", "/index.html", "/etc/passwd", "/%2fetc%2fpasswd", "http://evil.example/etc/passwd", "*",
                 "/..%5c..%5cetc", "/" + "a" * 4000):
        expect(f"path {path[:40]}", get(path), 400, 404)


def methods():
    """Methods that would change something, and bodies."""
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 200):
        expect(f"method {method[:10]}", get("/api/epochs", method=method), 400, 405)
    expect("CONNECT", get("localhost:1", method="CONNECT"), 400, 405)
    expect("a body", get("/api/epochs", "Content-Length: 5") + b"hello", 413)
    expect("a body in chunks", get("/api/epochs", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n", 400, 413)
    expect("a huge body", get("/api/epochs", "Content-Length: 99999999999999999999"), 400, 413, 0)
    expect("a second request in the body", get("/api/epochs", "Content-Length: 48", "Transfer-Encoding: chunked") + get("/api/epochs"),
           400, 413)
    with connect() as connection:
        connection.sendall(get("/api/epochs", method="HEAD"))
        answer = read_all(connection)
    report("HEAD has no body", None if answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"\r\n\r\n") else repr(answer[-80:]))


def sizes():
    """Requests that are too large, or no HTTP."""
    expect("a long path", get("/" + "a" * 100000), 400, 404, 414, 431, 0)
    expect("a long header", get("/api/epochs", "X: " + "a" * 100000), 400, 413, 431, 0)
    expect("many headers", get("/api/epochs", *[f"X{i}: {i}" for i in range(20000)]), 400, 413, 431, 0)
    expect("many parameters", get("/api/procedures?" + "&".join(f"a{i}=1" for i in range(500))), 400, 413, 414, 431, 0)
    expect("a long value", get("/api/procedure?name=" + "a" * 2000), 400)
    for name, raw in (("zeros", bytes(5000)), ("no HTTP", b"\x16\x03\x01" + bytes(range(256)) * 20),
                      ("a line without an end", b"G" * 200000), ("no version", b"GET /\r\n\r\n"),
                      ("spaces", b"GET  /api/epochs  HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")):
        got = status(raw)
        report(f"{name}: nothing is revealed", None if got in (0, 400, 403, 404, 405, 413, 414, 431, 505) else f"got {got}")


def parameters():
    """Parameters that would be options, files or commands of a report."""
    for query in ("db=/etc/passwd", "output=/tmp/x", "o=x", "debuginfod=1", "--db=x", "since=", "since=yesterday", "since=@1&since=@2",
                  "since=%00", "image=a%0a--db=x", "limit=0", "limit=-1", "limit=1e9", "epoch", "pid=x%00", "refresh=9", "=x", "%00=x",
                  "sort=%7f"):
        expect(f"procedures?{query}", get(f"/api/procedures?{query}"), 400, 422)
    for name in ("--db=/etc/passwd", "-h", "--version", "--help", "--all", "/etc/passwd", "../../../etc/passwd", "$(id)", "a%0ab", "%ff%fe",
                 "'%20OR%201=1", "%f0%9f%92%a9"):
        expect(f"procedure?name={name}", get(f"/api/procedure?name={name}"), 400, 404, 422)


def alive(name):
    """Test that the server answers."""
    expect(f"{name}: the server answers", get("/api/epochs"), 200)


def slow():
    """Clients that send or read slowly are disconnected, and do not keep others waiting."""
    with connect() as silent, connect() as partial, connect() as dripping:
        partial.sendall(b"GET /api/epochs HTTP/1.1\r\nHost: loc")
        alive("slow clients")
        begin, ended = time.monotonic(), False
        dripping.settimeout(0.05)
        dripping.sendall(b"GET /api/epochs HTTP/1.1\r\nHost: localhost\r\nX: ")
        while not ended and time.monotonic() < begin + PATIENCE_S:
            try:
                dripping.sendall(b"a")
                ended = dripping.recv(1) == b""
            except TimeoutError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                ended = True
        report("a client that sends a byte now and then is disconnected", None if ended else "still connected")
        for name, connection in (("a silent client", silent), ("half a request", partial)):
            try:
                answer = read_all(connection)
                report(f"{name} is disconnected", None if b"200 OK" not in answer else repr(answer[:60]))
            except TimeoutError:
                report(f"{name} is disconnected", "still connected")


def many():
    """More connections than the server has: each gets its turn."""
    idle = [connect() for _ in range(3 * CONNECTIONS)]
    alive(f"{len(idle)} idle connections")
    for connection in idle:
        connection.close()
    with connect() as connection:
        for _ in range(50):
            connection.sendall(get("/nothing").replace(b"close", b"keep-alive"))
        connection.sendall(get("/api/epochs"))
        answers = read_all(connection)
    got = len(re.findall(rb"HTTP/1.1 404", answers)), len(re.findall(rb"HTTP/1.1 200", answers))
    report("requests in a pipeline are answered in order", None if got == (50, 1) else f"got {got}")


def main():
    """Run all attacks."""
    for attack in (hosts, paths, methods, sizes, parameters, slow, many):
        try:
            attack()
        except (OSError, TimeoutError) as error:
            report(attack.__name__, repr(error))
        alive(attack.__name__)


if __name__ == "__main__":
    main()
