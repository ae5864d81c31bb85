#!/usr/bin/env python3
"""The native store at full scale: the restaurants with their 4,158,700 dishes, loaded by `weir import`, asked the eight queries of the
published benchmark, one object by its key, a page by an indexed name, and given dishes at 16 connections.

The long answers are read by a client that only counts bytes; beside them stands what a socket and the database could do: the same bytes
through a loopback socket. SCALE=0.01 makes a quick run of it. With `postgres` as its argument the store is in a private PostgreSQL."""

import json
import os
import pathlib
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

for folder in ["", "sql"]:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from cluster import Cluster  # noqa: E402
from common import PASSES, ROOT, WEIR, Weir, listed, load, post, publish, rss_mb, spread, table  # noqa: E402

EXAMPLE = ROOT / "examples/restaurants"
SCALE = float(os.environ.get("SCALE", "1"))
FILES = ["countries", "cities", "cuisines", "addresses", "restaurants", "restaurant_cuisines", "dishes"]
# Name, query, bytes of `data` at full scale, bar in ms.
QUERIES = [
    ("00", "{ queryCuisine { id name } }", 4_206, 1),
    ("10", "{ queryRestaurant { name rating } }", 373_058, 5),
    ("01", "{ queryCuisine { id name restaurants { name rating } } }", 759_024, 12),
    ("11", "{ queryRestaurant { id xid name pic rating costFor2 currency createdAt } }", 1_982_797, 15),
    ("20", "{ queryDish { name price } }", 159_226_509, 1200),
    ("12", "{ queryRestaurant { name rating dishes { name price } } }", 159_692_185, 1200),
    ("21", "{ queryDish { name price cuisine { id name } } }", 347_555_912, 2000),
    ("13", "{ queryRestaurant { name rating dishes { name price cuisine { id name } } } }", 348_021_588, 2000),
]
CHUNK = 1 << 18


def ask(port, query):
    """One request over a socket: seconds to the first and to the last byte, bytes of the body, and its first ones."""
    body = '{"query":"%s"}' % query.replace('"', '\\"')
    head = f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as it:
        buffer = bytearray(CHUNK)
        begun = time.perf_counter()
        it.sendall((head + body).encode())
        count = it.recv_into(buffer)
        first = time.perf_counter() - begun
        start, total = bytes(buffer[:count]), count
        while count := it.recv_into(buffer):
            total += count
        last = time.perf_counter() - begun
    head, _, rest = start.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0] or b'{"data":{"' not in rest[:64]:
        raise SystemExit(f"{query}: {start[:400]!r}")
    return first, last, total - len(head) - 4


def through_a_socket(size):
    """Milliseconds that `size` bytes take through a loopback socket."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        it, _ = server.accept()
        with it:
            block, left = b"x" * CHUNK, size
            while left > 0:
                it.sendall(block[:left])
                left -= CHUNK

    thread = threading.Thread(target=serve)
    thread.start()
    begun = time.perf_counter()
    with socket.create_connection(server.getsockname()) as it:
        buffer = bytearray(CHUNK)
        while it.recv_into(buffer):
            pass
    thread.join()
    server.close()
    return (time.perf_counter() - begun) * 1e3


class Peak:
    """The most memory a process took while the block ran, in MB above what it had before."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        self.before = self.most = rss_mb(self.pid)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(0.005):
            self.most = max(self.most, rss_mb(self.pid))

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.grown = self.most - self.before


def fill(folder, store):
    """Makes the data, imports it, and says how long the import took and for how many objects."""
    data = pathlib.Path(os.environ.get("DATA", folder / "data"))
    if not (data / "dishes.csv").exists():
        subprocess.run([sys.executable, EXAMPLE / "generate.py", "--out", data, "--scale", str(SCALE)], check=True)
    (folder / "schema.graphql").write_text((EXAMPLE / "schema.graphql").read_text())
    begun = time.perf_counter()
    subprocess.run([WEIR, "import", *(data / f"{name}.csv" for name in FILES), "--into", "schema.graphql", "--map", EXAMPLE / "names.yaml", *store],
                   cwd=folder, check=True)
    seconds = time.perf_counter() - begun
    objects = sum(sum(1 for _ in open(data / f"{name}.csv", "rb")) - 1 for name in FILES if name != "restaurant_cuisines")
    return seconds, objects


def answers(weir):
    rows = []
    for name, query, size, bar in QUERIES:
        ask(weir.port, query)
        with Peak(weir.pid) as peak:
            runs = [ask(weir.port, query) for _ in range(PASSES)]
        first, last = (statistics.median(run[at] for run in runs) * 1e3 for at in (0, 1))
        got = runs[0][2]
        if SCALE == 1 and not size <= got <= size * 1.01 + 64:
            raise SystemExit(f"query {name}: {got} bytes, expected {size}")
        rows.append([name, f"{got / 2**20:,.1f}", f"{last:,.1f}", f"{bar:,}", f"{first:,.1f}", f"{peak.grown:,.0f}",
                     f"{last / through_a_socket(got):,.1f} x"])
        print(rows[-1], flush=True)
    return table(["query", "MiB", "ms to the last byte", "bar", "ms to the first byte", "MB more memory", "of the bytes alone through a socket"], rows)


def dish():
    query = ('mutation ($name: String!) { addDish(input: [{ name: $name, price: 8.5, isVeg: true, servedBy: { xid: "16000000" }, cuisine: { name: "%s" } }]) '
             '{ numUids } }' % CUISINE)
    return {"query": query, "variables": {"name": "Leek Pie $(request)"}}


def one_by_one(database, seconds=2.0):
    """Dishes per second, one durable transaction each, straight through SQLite: the two look-ups and the insert, without the upkeep of
    the index of words (this program's SQLite may be too old for it), so rather more than a fair share."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA busy_timeout=5000")
    for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{trigger}"')
    next_id = connection.execute('SELECT max(id) FROM "Dish"').fetchone()[0] + 1_000_000
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        connection.execute("BEGIN IMMEDIATE")
        restaurant = connection.execute('SELECT "id" FROM "Restaurant" WHERE "xid" = ?', ("16000000",)).fetchone()[0]
        cuisine = connection.execute('SELECT "id" FROM "Cuisine" WHERE "name" = ?', (CUISINE,)).fetchone()[0]
        connection.execute('INSERT INTO "Dish" ("id", "name", "price", "isVeg", "servedBy_id", "cuisine_id") VALUES (?, ?, 8.5, 1, ?, ?)',
                           (next_id + done, f"Leek Pie {done}", restaurant, cuisine))
        connection.execute("COMMIT")
        done += 1
    return done / (time.perf_counter() - begun)


def short(weir, database):
    """Requests per second of what applications ask most."""
    loads = {
        "getRestaurant by its key (bar 60,000)": ('{ getRestaurant(xid: "16000000") { id name rating addr { locality } cuisines { name } } }', 64),
        "getRestaurant, own fields only": ('{ getRestaurant(xid: "16000000") { id name rating } }', 64),
        "first 10 of an indexed name (bar 30,000)": ('{ queryDish(filter: { name: { eq: %s } }, first: 10) { id name price } }' % json.dumps(NAME), 64),
    }
    rows, runs = [], {}

    def row(what, asked, connections):
        runs["Weir", what] = [load(weir.port, asked, connections=connections, pid=weir.pid) for _ in range(PASSES)]
        median = lambda key: statistics.median(run[key] for run in runs["Weir", what])  # noqa: E731
        rows.append([what, f"{median('req_s'):,.0f}", f"{median('cpu_us'):.1f}", f"{median('p50_ms'):.2f} / {median('p95_ms'):.2f}", "",
                     spread([run["req_s"] for run in runs["Weir", what]])])
        return median("req_s")

    for what, (query, connections) in loads.items():
        row(what, {"query": query}, connections)
    rate = row("addDish with two links, durable, 16 connections (bar 20,000)", dish(), 16)
    weir.stop()
    if database:
        alone = one_by_one(database)
        rows[-1][4] = f"{rate / alone:.1f} x one transaction each ({alone:,.0f}/s; bar 10 x)"
    return table(["request", "req/s", "server CPU us", "p50 / p95 ms", "ratio", "spread"], rows), runs


def measure(folder, store):
    """The report on a store that is `store`, the arguments that name it."""
    global CUISINE, NAME
    seconds, objects = fill(folder, store)
    weir = Weir("serve", "schema.graphql", *store, cwd=folder)
    started = weir.first_answer_s
    one = lambda query, field: json.loads(post(weir.port, {"query": query}))["data"][field][0]["name"]  # noqa: E731
    CUISINE, NAME = one("{ queryCuisine(first: 1) { name } }", "queryCuisine"), one("{ queryDish(first: 1) { name } }", "queryDish")
    text = (f"{objects:,} objects imported in {seconds:,.1f} s, {objects / seconds:,.0f}/s (bars: 90 s at full scale, 100,000/s); "
            f"start to first answer {started * 1e3:,.0f} ms.\n\n")
    text += answers(weir) + "\n"
    asked, runs = short(weir, None if store else next(folder.glob("*.db")))
    return text + asked, runs


def main():
    with tempfile.TemporaryDirectory() as name:
        if sys.argv[1:] != ["postgres"]:
            text, runs = measure(pathlib.Path(name), [])
            return publish("native", text, listed(runs))
        cluster = Cluster()
        try:
            version = cluster.psql("SHOW server_version").split()[0]
            text, runs = measure(pathlib.Path(name), ["--store", cluster.url])
            publish("native-postgres", text, listed(runs), {"PostgreSQL": version})
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
