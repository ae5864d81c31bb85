#!/usr/bin/env python3
"""Event triggers on PostgreSQL and SQLite: one SQL client writes rows at a steady rate, a webhook takes note of their arrival.

    bench/events/events.py [postgres|sqlite]...

2,000 rows a second for 30 seconds (BENCH_SECONDS, BENCH_RATE), ten in each transaction; the rows of the log of calls are written. Everything shares
the cores of the machine. The latency of an event is the time from the moment when the client hears of its commit to the moment when the webhook has
its body. A second table without triggers is written as fast as one client can, by turns beside Weir and while it stands still: what event
triggers of others cost it; these commits wait for no disk. At the end the webhook stops, rows pile up, and requests are made by turns with those of before:
what a receiver that is down costs them.
"""

import asyncio
import json
import multiprocessing
import os
import pathlib
import re
import signal
import socket
import sqlite3
import statistics
import struct
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "sql")]
from cluster import Cluster  # noqa: E402
from common import Weir, cpu_seconds, free_port, load, publish, table  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", 30))
RATE = int(os.environ.get("BENCH_RATE", 2000))
ROWS = 10
PLAIN_SECONDS = 0.4
PLAIN_TURNS = 16
TURNS = 3
REQUEST = {"query": "{ notes(limit: 10, order_by: {id: asc}) { id status } }"}
BACKLOG = 5000
TABLES = "CREATE TABLE {} (id INTEGER PRIMARY KEY, status TEXT, total NUMERIC)"
NEW_ID = re.compile(rb'"new": ?{[^}]*"id": ?(\d+)')


class Hook(asyncio.Protocol):
    """Answers each POST with 200 and notes when the row in it arrived."""

    arrivals = {}

    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        while True:
            head = self.buffer.find(b"\r\n\r\n")
            if head < 0:
                return
            length = int(re.search(rb"content-length: (\d+)", self.buffer[:head].lower())[1])
            if len(self.buffer) < head + 4 + length:
                return
            body, self.buffer = self.buffer[head + 4:head + 4 + length], self.buffer[head + 4 + length:]
            self.arrivals.setdefault(int(NEW_ID.search(body)[1]), time.monotonic())
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")


def receive(port, questions):
    """Serves, and answers questions: `arrivals`, else their number."""

    async def run():
        loop = asyncio.get_running_loop()
        await loop.create_server(Hook, "127.0.0.1", port)
        while True:
            question = await loop.run_in_executor(None, questions.recv)
            if question == "arrivals":
                questions.send(Hook.arrivals)
            else:
                questions.send(len(Hook.arrivals))

    asyncio.run(run())


class PostgresClient:
    """One connection of the simple protocol, without a password."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        names = b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!ii", len(names) + 8, 196608) + names)
        self.reader = self.socket.makefile("rb")
        self.until_ready()

    def until_ready(self):
        while True:
            tag, length = struct.unpack("!ci", self.reader.read(5))
            body = self.reader.read(length - 4)
            if tag == b"E":
                raise SystemExit(body)
            if tag == b"Z":
                return

    def run(self, sql):
        text = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        self.until_ready()

    def set_durable(self, is_durable):
        self.run(f"SET synchronous_commit = {'on' if is_durable else 'off'}")


class SqliteClient:
    """One connection that waits for locks."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=30)

    def run(self, sql):
        self.connection.execute(sql)

    def set_durable(self, is_durable):
        self.run(f"PRAGMA synchronous = {'FULL' if is_durable else 'OFF'}")


def insert(client, name, first):
    client.run(f"INSERT INTO {name} VALUES " + ", ".join(f"({first + at}, 'new', 19.99)" for at in range(ROWS)))


def plain_rate(client, first):
    """Rows a second into a table without triggers."""
    begun, count = time.monotonic(), 0
    while time.monotonic() - begun < PLAIN_SECONDS:
        insert(client, "notes", first + count)
        count += ROWS
    return count / (time.monotonic() - begun), first + count


def by_turns(client, pid):
    """Medians of rows a second while Weir, the process `pid`, stands still, and beside it."""
    rates, first = {False: [], True: []}, 0
    client.set_durable(False)
    for turn in range(2 * PLAIN_TURNS):
        beside = turn % 2 == 1
        os.kill(pid, signal.SIGCONT if beside else signal.SIGSTOP)
        rate, first = plain_rate(client, first)
        rates[beside].append(rate)
    client.set_durable(True)
    return statistics.median(rates[False]), statistics.median(rates[True])


def down_costs(weir, client, receiver, first):
    """Medians of requests a second while the webhook answers and nothing waits, and while it does not and events wait and are tried again."""
    rates = {False: [], True: []}
    for turn in range(2 * TURNS):
        is_down = turn % 2 == 1
        if is_down:
            os.kill(receiver.pid, signal.SIGSTOP)
            for at in range(BACKLOG // ROWS):
                insert(client, "orders", first + at * ROWS)
            first += BACKLOG
        rates[is_down].append(load(weir.port, REQUEST, connections=16, seconds=3.0, path="/v1/graphql", core="0,1")["req_s"])
        if is_down:
            os.kill(receiver.pid, signal.SIGCONT)
            time.sleep(BACKLOG / RATE + 4)
    return statistics.median(rates[False]), statistics.median(rates[True])


def metadata(folder, kind, url, hook):
    trigger = {"name": "told", "definition": {"insert": {"columns": "*"}}, "webhook": f"http://127.0.0.1:{hook}/",
               "retry_conf": {"num_retries": 1000, "interval_sec": 1, "timeout_sec": 2}}
    source = {"name": "default", "kind": kind, "configuration": {"connection_info": {"database_url": url}},
              "tables": [{"table": {"schema": "public", "name": "orders"}, "event_triggers": [trigger]}, {"table": {"schema": "public", "name": "notes"}}]}
    (folder / "metadata.json").write_text(json.dumps({"version": 3, "sources": [source]}))
    (folder / "weir.yaml").write_text("metadata: metadata.json\ndev: true\n")


def measure(kind):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-events-"))
    cluster = Cluster() if kind == "postgres" else None
    if cluster:
        client, url, log = PostgresClient(cluster.port), cluster.url, "hdb_catalog.event_invocation_logs"
    else:
        client, url, log = SqliteClient(folder / "shop.db"), f"sqlite:{folder}/shop.db", "hdb_event_invocation_logs"
        client.run("PRAGMA journal_mode = WAL")
    for name in ["orders", "notes"]:
        client.run(TABLES.format(name))
    hook = free_port()
    questions, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=receive, args=(hook, theirs), daemon=True)
    receiver.start()
    metadata(folder, kind, url, hook)
    weir = Weir("serve", str(folder / "weir.yaml"), core=None)
    # A server that stands still must not hold the lock of a file: it has made its triggers by then.
    time.sleep(2)
    before, beside = by_turns(client, weir.pid)
    commits, late, cpu = {}, 0, cpu_seconds(weir.pid)
    begun = time.monotonic()
    for at in range(int(SECONDS * RATE / ROWS)):
        wait = begun + at * ROWS / RATE - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        late = max(late, -wait)
        insert(client, "orders", at * ROWS)
        heard = time.monotonic()
        commits.update((at * ROWS + row, heard) for row in range(ROWS))
    written = time.monotonic() - begun
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        questions.send(0)
        if questions.recv() >= len(commits):
            break
        time.sleep(0.2)
    cpu = cpu_seconds(weir.pid) - cpu
    time.sleep(1)
    questions.send("arrivals")
    arrivals = questions.recv()
    count = f"SELECT count(*) FROM {log}"
    logged = int(cluster.psql(count)) if cluster else client.connection.execute(count).fetchone()[0]
    up, down = down_costs(weir, client, receiver, len(commits))
    weir.stop()
    receiver.kill()
    if cluster:
        cluster.process.terminate()
    latencies = sorted((arrivals[it] - commits[it]) * 1000 for it in commits if it in arrivals)
    part = statistics.quantiles(latencies, n=100)
    return {"database": kind, "events": len(commits), "delivered": len(latencies), "logged": logged, "rate": len(commits) / written, "late_ms": late * 1000,
            "p50_ms": part[49], "p95_ms": part[94], "p99_ms": part[98], "cpu_us": cpu / len(commits) * 1e6, "plain_before": before, "plain_beside": beside, "req_up": up, "req_down": down}


def main():
    runs = [measure(kind) for kind in sys.argv[1:] or ["postgres", "sqlite"]]
    rows = [[it["database"], f"{it['rate']:,.0f}", f"{it['delivered']:,} of {it['events']:,}", f"{it['logged']:,}", f"{it['p50_ms']:.1f}", f"{it['p95_ms']:.1f}",
             f"{it['p99_ms']:.1f}", f"{it['cpu_us']:.0f}", f"{it['plain_beside'] / it['plain_before'] - 1:+.0%}", f"{it['req_down'] / it['req_up'] - 1:+.0%}"] for it in runs]
    heads = ["database", "events/s", "delivered", "rows of calls", "p50 ms", "p95 ms", "p99 ms", "CPU of Weir, us/event", "rows/s of a table without triggers", "requests/s while the receiver is down"]
    text = table(heads, rows)
    if os.environ.get("BENCH_SECONDS") or sys.argv[1:]:
        print(text)
    else:
        publish("events", text, runs)


if __name__ == "__main__":
    main()
