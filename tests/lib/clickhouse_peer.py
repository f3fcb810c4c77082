#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A server with the part of ClickHouse's HTTP interface that dcpiship uses, and with failures.

    clickhouse_peer.py serve SCHEMA STORE [--port N] [--faults FILE] [--pid FILE] [--log FILE]
                       [--tls CERT KEY [--client-ca FILE]]
    clickhouse_peer.py query STORE SQL

SCHEMA is what "dcpiship --schema single" prints. STORE is a SQLite file with a row for each row that
arrives: like ClickHouse before it merges, the server keeps duplicates. So queries are exact only
if they group by the keys, as the views of the schema do. The server prints its port.

Each request to insert takes one line of FAULTS, at its end none:

    ok                   store the rows, and respond with 200
    STATUS [SECONDS]     respond with this status, and Retry-After; store nothing
    500 stored           store the rows, and respond with 500
    close                close the connection; store nothing
    close stored         store the rows, and close the connection
    cut                  store the first half of the rows, and close the connection
    cut unnoticed        store the first half of the rows, and respond with 200
    slow                 store the rows, and respond after a second
    twice                store the rows twice
    kill, kill stored    kill the process of --pid, before or after the rows are stored
"""

import argparse
import gzip
import http.server
import os
import re
import signal
import sqlite3
import ssl
import struct
import sys
import threading
import time
import urllib.parse
import uuid

CREATE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\) ENGINE", re.S)
VIEW = re.compile(r"CREATE VIEW.*?;", re.S)
SIZES = {"UInt8": "<B", "UInt32": "<I", "UInt64": "<Q", "Int64": "<q", "Date": "<H"}


class Row:
    """Read values in the formats RowBinary and Native."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, length):
        if self.at + length > len(self.body):
            raise ValueError("Cannot read all data")
        self.at += length
        return self.body[self.at - length:self.at]

    def length(self):
        length = shift = 0
        while True:
            byte = self.take(1)[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return length

    def text(self):
        return self.take(self.length()).decode("utf-8", "replace")

    def block(self, columns):
        """Read a block in the format Native."""
        width, height = self.length(), self.length()
        lists = []
        for name, kind in columns[:width]:
            if (self.text(), self.text()) != (name, kind):
                raise ValueError("other columns")
            lists.append([self.value(kind) for _ in range(height)])
        return [list(row) for row in zip(*lists)]

    def value(self, kind):
        if kind == "String":
            return self.text()
        if kind == "UUID":
            high, low = struct.unpack("<QQ", self.take(16))
            return str(uuid.UUID(int=(high << 64) | low))
        number = struct.unpack(SIZES[kind], self.take(struct.calcsize(SIZES[kind])))[0]
        # SQLite has no unsigned numbers of 64 bits.
        return number - (1 << 64) if number >= 1 << 63 else number


class ArgMax:
    """The aggregate argMax(value, key): the value with the highest key."""

    def __init__(self):
        self.best = None

    def step(self, value, key):
        if self.best is None or key > self.best[0]:
            self.best = (key, value)

    def finalize(self):
        return self.best and self.best[1]


class Any:
    """The aggregate any(value): an arbitrary value."""

    def __init__(self):
        self.value = None

    def step(self, value):
        self.value = value

    def finalize(self):
        return self.value


def connect(path):
    store = sqlite3.connect(path, check_same_thread=False)
    store.create_aggregate("argMax", 2, ArgMax)
    store.create_aggregate("any", 1, Any)
    store.create_function("toString", 1, str)
    store.create_function("toUUID", 1, lambda text: text)
    store.create_function("toUInt64", 1, lambda number: number)
    return store


class Faults:
    """The failures of a server."""

    def __init__(self, args):
        self.lock = threading.Lock()
        self.faults_path = args.faults
        self.pid_path = args.pid
        self.log = open(args.log, "a", buffering=1) if args.log else None

    def fault(self):
        """Take a line of the file of faults, which outlives the server."""
        if not self.faults_path or not os.path.exists(self.faults_path):
            return "ok"
        with self.lock:
            lines = open(self.faults_path).read().splitlines()
            if not lines:
                return "ok"
            with open(self.faults_path + ".new", "w") as rest:
                rest.write("".join(line + "\n" for line in lines[1:]))
            os.rename(self.faults_path + ".new", self.faults_path)
        return lines[0]

    def kill(self):
        try:
            os.kill(int(open(self.pid_path).read()), signal.SIGKILL)
        except (OSError, ValueError):
            pass


def cell(value):
    """Format a value as in TabSeparated. Rows without a partner in a join have default values."""
    return "" if value is None else re.sub(r"[\t\n\\]", lambda c: "\\" + "tn\\"["\t\n\\".index(c[0])], str(value))


class Peer(Faults):
    def __init__(self, args):
        super().__init__(args)
        schema = open(args.schema).read()
        self.tables = {name: [tuple(line.strip().rstrip(",").split()) for line in text.split("\n") if line.strip()]
                       for name, text in CREATE.findall(schema)}
        self.store = connect(args.store)
        self.store.execute("PRAGMA synchronous = OFF")
        for name, columns in self.tables.items():
            self.store.execute(f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(c[0] for c in columns)})")
        for view in VIEW.findall(schema):
            self.store.execute(view.replace("GLOBAL IN", "IN"))
        self.store.commit()

    def insert(self, query, body, share=1.0):
        table, names, form = re.fullmatch(r"INSERT INTO (\w+) \(([\w, ]+)\) FORMAT (RowBinary|Native)",
                                          query).groups()
        columns = self.tables[table]
        if names.split(", ") != [column[0] for column in columns]:
            raise ValueError("other columns")
        row, rows = Row(body), []
        while row.at < len(body):
            if form == "Native":
                rows += row.block(columns)
            else:
                rows.append([row.value(column[1]) for column in columns])
        rows = rows[:int(len(rows) * share)]
        with self.lock:
            self.store.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", rows)
            self.store.commit()

    def select(self, query):
        query = query.replace("FORMAT TabSeparated", "").replace("ANY LEFT JOIN", "LEFT JOIN")
        query = re.sub(r"USING ([\w, ]+) WHERE", r"USING (\1) WHERE", query)
        with self.lock:
            rows = self.store.execute(query).fetchall()
        return "".join("\t".join(map(cell, row)) + "\n" for row in rows)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are sent together.
    wbufsize = -1
    peer = None

    def log_message(self, *_):
        pass

    def respond(self, status, text="", wait=None):
        body = text.encode()
        self.send_response(status)
        if wait is not None:
            self.send_header("Retry-After", wait)
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
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        try:
            if "query" in query:
                self.do_insert(query["query"][0], body)
            else:
                self.respond(200, self.peer.select(body.decode()))
        except (sqlite3.Error, ValueError, AttributeError) as failure:
            self.respond(500, f"Code: 1, e.displayText() = DB::Exception: {failure}\n")

    def do_insert(self, query, body):
        fault = self.peer.fault()
        if self.peer.log:
            self.peer.log.write(f"{fault}: {query.split()[2]}, authorization "
                                f"{self.headers.get('Authorization', 'none')}, encoding "
                                f"{self.headers.get('Content-Encoding', 'none')}\n")
        words = fault.split()
        if words[0] == "kill" and len(words) == 1:
            self.peer.kill()
            return self.hang_up()
        if words[0].isdigit() and words[1:] != ["stored"]:
            return self.respond(int(words[0]), "Code: 2, a failure\n", *words[1:])
        if fault == "close":
            return self.hang_up()
        self.peer.insert(query, body, 0.5 if words[0] == "cut" else 1.0)
        if fault == "twice":
            self.peer.insert(query, body)
        if words[0] == "kill":
            self.peer.kill()
        if fault in ("cut", "close stored", "kill stored"):
            return self.hang_up()
        if fault == "slow":
            time.sleep(1)
        return self.respond(500 if words[0] == "500" else 200)


def serve(args):
    Handler.peer = Peer(args)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        if args.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(args.client_ca)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("serve")
    verb.add_argument("schema")
    verb.add_argument("store")
    verb.add_argument("--port", type=int, default=0)
    verb.add_argument("--faults")
    verb.add_argument("--pid")
    verb.add_argument("--log")
    verb.add_argument("--tls", nargs=2)
    verb.add_argument("--client-ca")
    verb = verbs.add_parser("query")
    verb.add_argument("store")
    verb.add_argument("sql")
    args = parser.parse_args()
    if args.verb == "serve":
        return serve(args)
    for row in connect(args.store).execute(args.sql):
        print("|".join(str(value) for value in row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
