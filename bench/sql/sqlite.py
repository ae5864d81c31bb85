#!/usr/bin/env python3
"""The SQLite column: the five published operations over HTTP against the same server answering a constant, and durable
writes against one transaction each. Three interleaved passes; medians are printed, with the spread between passes."""

import pathlib
import sqlite3
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import Weir, post, publish, table, wrk  # noqa: E402

OPERATIONS = {
    "constant": "{ __typename }",
    "by_pk": "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }",
    "list 100": "{ Album(limit: 100) { AlbumId Title ArtistId } }",
    "join": "{ Album(limit: 30) { Title Album_Artist { Artist_Albums { Title } } Album_Tracks { AlbumId Composer Name } } }",
    "insert": 'mutation { insert_Album_one(object: { Title: "Trying now", ArtistId: 1 }) { Title } }',
    "update": 'mutation { update_Album_by_pk(pk_columns: { AlbumId: 1000 } _set: { Title: "Trying now 1" }) { Title AlbumId } }',
}
PASSES = 3


def one_by_one(database, statement, seconds=2.0):
    """Durable statements per second, one transaction each at synchronous=FULL, straight through SQLite."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA busy_timeout=5000")
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        connection.execute(statement, (f"Trying {done}",))
        done += 1
    return done / (time.perf_counter() - begun)


def main():
    folder = tempfile.mkdtemp()
    weir = Weir("demo", "--data", folder)
    print(post(weir.port, {"query": OPERATIONS["by_pk"]}).decode())
    runs = {name: [] for name in OPERATIONS}
    singles = {"insert": [], "update": []}
    database = next(pathlib.Path(folder).rglob("*.db"))
    load = lambda name: runs[name].append(wrk(weir.port, {"query": OPERATIONS[name]}, connections=64, pid=weir.pid))  # noqa: E731
    # All reads before the first write: the inserted albums are all of one artist, and the join would answer with every one.
    for _ in range(PASSES):
        for name in OPERATIONS:
            if name not in singles:
                load(name)
    for _ in range(PASSES):
        for name in singles:
            load(name)
        singles["insert"].append(one_by_one(database, 'INSERT INTO "Album"("Title", "ArtistId") VALUES (?, 1)'))
        singles["update"].append(one_by_one(database, 'UPDATE "Album" SET "Title" = ? WHERE "AlbumId" = 1000'))
    weir.stop()
    median = lambda name, key: statistics.median(run[key] for run in runs[name])  # noqa: E731
    rows = []
    for name in OPERATIONS:
        rates = [run["req_s"] for run in runs[name]]
        ratio = f"{median(name, 'req_s') / median('constant', 'req_s'):.2f} x constant"
        if name in singles:
            alone = statistics.median(singles[name])
            ratio = f"{median(name, 'req_s') / alone:.1f} x one transaction each ({alone:,.0f}/s)"
        rows.append([name, f"{median(name, 'req_s'):,.0f}", f"{median(name, 'cpu_us'):.1f}", f"{median(name, 'p50_ms'):.2f} / {median(name, 'p95_ms'):.2f}",
                     ratio, f"{(max(rates) - min(rates)) / statistics.median(rates):.0%}"])
    publish("sqlite", table(["operation", "req/s", "server CPU us", "p50 / p95 ms", "ratio", "spread"], rows))


if __name__ == "__main__":
    main()
