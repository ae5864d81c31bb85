#!/usr/bin/env python3
"""Live queries: what 10,000 subscribers cost while nothing changes, while 1,000 rows a second do, and when all see one list that changes.

Weir over PostgreSQL, which tells of changes by its log, and over SQLite, Mercurius whose own mutations wake its subscribers, and graphql-ws on graphql-js, which reads each
subscription once a second as Hasura does. Each has one core, the clients have the other, PostgreSQL both. All changes go through the server
that is measured. CLIENTS=1000 makes a quick run of it.
"""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

for folder in ["", "sql"]:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from cluster import Cluster  # noqa: E402
from common import LOAD_CORE, ROOT, SERVER_CORE, WEIR, Weir, cpu_seconds, free_port, post, publish, rss_mb, table  # noqa: E402

CLIENTS = int(os.environ.get("CLIENTS", 10_000))
SHELF = 10
IDLE_SECONDS = 5
SECONDS = int(float(os.environ.get("BENCH_SECONDS", 8)))
ITEMS = "CREATE TABLE item (id INTEGER PRIMARY KEY, shelf INTEGER NOT NULL, count INTEGER NOT NULL)"
FILL = f"INSERT INTO item WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < {CLIENTS}) SELECT at, at / {SHELF}, 0 FROM n"
UPDATE = "mutation ($id: Int!, $n: Int!) { update_item_by_pk(pk_columns: {id: $id}, _set: {count: $n}) { id } }"
BY_PK = "subscription ($id: Int!) { item_by_pk(id: $id) { id shelf count } }"
LISTS = {"Weir": "subscription { item(where: {shelf: {_eq: 1}}, order_by: {id: asc}) { id shelf count } }"}
LIST = "subscription { item(shelf: 1) { id shelf count } }"


class Node:
    """A server in bench/live/node."""

    def __init__(self, name, url):
        here, there = ROOT / "bench/live/node", ROOT / "bench/target/live"
        shutil.copytree(here, there, dirs_exist_ok=True)
        if not (there / "node_modules").exists():
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=there, check=True)
        self.port = free_port()
        env = {**os.environ, "DATABASE_URL": url, "PORT": str(self.port), "NODE_ENV": "production"}
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, shutil.which("node"), there / f"{name}.mjs"], env=env)
        while True:
            with contextlib.suppress(OSError):
                post(self.port, {"query": "{ __typename }"})
                return
            if self.process.poll() is not None:
                raise SystemExit(f"{name} does not start")
            time.sleep(0.1)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait()


def frame(text):
    """A text of a client as one frame; the mask is zero."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
    return b"\x81" + length + b"\0\0\0\0" + data


def subscribe(port, ids):
    """A socket for each id whose subscription has told its first result."""
    for at in ids:
        it = socket.create_connection(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        it.sendall(f"GET /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: {key}\r\n"
                   "sec-websocket-version: 13\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n".encode())
        it.sendall(frame('{"type":"connection_init"}'))
        answer = b""
        while b"connection_ack" not in answer:
            answer += it.recv(4096)
        it.sendall(frame(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": BY_PK, "variables": {"id": at}}})))
        while b'"next"' not in answer:
            part = it.recv(4096)
            if not part:
                raise SystemExit(f"the server closed a socket: {answer!r}")
            answer += part
        yield it


def idle(server, statements):
    """Memory of a subscriber in KB, share of a core and statements per second while nothing changes."""
    before = rss_mb(server.pid)
    with contextlib.ExitStack() as open_:
        for it in subscribe(server.port, range(1, CLIENTS + 1)):
            open_.callback(it.close)
        time.sleep(1)
        memory, cpu, asked = rss_mb(server.pid) - before, cpu_seconds(server.pid), statements()
        time.sleep(IDLE_SECONDS)
        return {"kb": memory * 1024 / CLIENTS, "cpu": (cpu_seconds(server.pid) - cpu) / IDLE_SECONDS,
                "statements_s": (statements() - asked) / IDLE_SECONDS}


def changes(server, live, rate, ids):
    """Time from a change to its pushes, and CPU of the server per push. `ids` are the rows that change."""
    plan = {"target": f"http://127.0.0.1:{server.port}/graphql", "warmup": "3s", "errors_max": "0%",
            "load": {"rate": rate, "duration": f"{SECONDS}s", "arrivals": "poisson"},
            "values": {"n": {"sequence": 1}, "row": ids, "own": {"sequence": f"1..{CLIENTS}"}},
            "operations": {"set": {"query": UPDATE, "variables": {"id": "$(row)", "n": "$(n)"}, "mark": "$(n)"},
                           "live": {**live, "clients": CLIENTS}}}
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder, "load.yaml"), pathlib.Path(folder, "out.json")
        file.write_text(json.dumps(plan))
        line = ["taskset", "-c", LOAD_CORE, WEIR, "load", "run", file, "--watch", server.pid, "--out", out]
        done = subprocess.run([str(it) for it in line], capture_output=True, text=True)
        if not out.exists():
            raise SystemExit(done.stdout + done.stderr)
        result = json.loads(out.read_text())
    push = next(it["push"] for it in result["operations"] if it.get("push"))
    cpu = next(it["cpu_s"] for it in result["processes"] if it["pid"] == server.pid)
    return {"p50_ms": push["p50_us"] / 1e3, "p99_ms": push["p99_us"] / 1e3, "pushes": push["count"], "cpu_us": cpu * 1e6 / max(1, push["count"]),
            "valid": result["verdict"]["valid"], "why": result["verdict"].get("void_because")}


def measure(name, server, statements):
    own = {"query": BY_PK, "variables": {"id": "$(own)"}, "mark": "data.item_by_pk.count"}
    one = {"query": LISTS.get(name.split(",")[0], LIST), "mark": f"data.item[{SHELF - 1}].count"}
    found = {"idle": idle(server, statements), "rows": changes(server, own, CLIENTS // 10, {"random": f"1..{CLIENTS}"}),
             "list": changes(server, one, 2, {"random": f"{2 * SHELF - 1}..{2 * SHELF - 1}"})}
    print(name, json.dumps(found), flush=True)
    return found


def cell(found):
    if not found["pushes"]:
        return "no push came in time"
    late = "" if found["valid"] else " (changes went out late)"
    return f"{found['p50_ms']:,.1f} / {found['p99_ms']:,.1f}, {found['cpu_us']:,.1f}{late}"


def main():
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        with contextlib.closing(sqlite3.connect(folder / "items.db")) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(ITEMS)
            connection.execute(FILL)
            connection.commit()
        cluster = start(Cluster(wal_level="logical"))
        cluster.psql(f"{ITEMS}; {FILL}; ANALYZE;")
        committed = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        transactions = lambda: int(cluster.psql(committed))  # noqa: E731
        servers = {"Weir, SQLite": (lambda: Weir("serve", "sqlite:items.db", cwd=folder), lambda: 0),
                   "Weir, PostgreSQL": (lambda: Weir("serve", cluster.url), transactions),
                   "Mercurius, PostgreSQL": (lambda: Node("mercurius", cluster.url), transactions),
                   "graphql-ws polling, PostgreSQL": (lambda: Node("polling", cluster.url), transactions)}
        found = {}
        for name, (begin, statements) in servers.items():
            if sys.argv[1:] and sys.argv[1] not in name:
                continue
            server = begin()
            try:
                found[name] = measure(name, server, statements)
            finally:
                server.stop()
    rows = []
    for name, it in found.items():
        rows.append([name, f"{it['idle']['kb']:.1f}", f"{it['idle']['cpu']:.1%}", f"{it['idle']['statements_s']:,.0f}", *(cell(it[part]) for part in ("rows", "list"))])
    heads = ["server", "KB a subscriber (bar 10)", "CPU while idle (2 %)", "transactions/s while idle",
             f"{CLIENTS // 10:,} rows/s change: ms from change to push p50 / p99, CPU us per push (10 / 50, 40)",
             "one list of all changes: ms p50 / p99, CPU us per push (5)"]
    packages = json.loads((ROOT / "bench/live/node/package.json").read_text())["dependencies"]
    text = table(heads, rows)
    if sys.argv[1:]:
        return print(text)
    runs = [{"who": name.split(",")[0], "operation": f"{part}, {name.split(', ')[1]}", "passes": [it[part]]}
            for name, it in found.items() for part in ("rows", "list") if it[part]["pushes"]]
    publish("live", text, runs, {name: packages[name] for name in ("mercurius", "graphql-ws", "graphql")})


if __name__ == "__main__":
    main()
