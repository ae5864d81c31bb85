#!/usr/bin/env python3
"""The SQLite column: the five published operations over HTTP against the same server answering a constant, and durable
writes against one transaction each; beside it datasette with its GraphQL plugin on the same file.

Passes take turns; medians are printed, with the spread between passes. Every operation is measured with values that differ from request to
request too.
"""

import contextlib
import json
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import PASSES, ROOT, SERVER_CORE, Failed, Weir, free_port, listed, load, post, publish, rss_mb, spread, table, turns  # noqa: E402

JOIN = "{ Album(limit: 30) { Title Album_Artist { Artist_Albums { Title } } Album_Tracks { AlbumId Composer Name } } }"
PAGE = ("query ($from: Int!) { Album(limit: 30, offset: $from) { Title Album_Artist { Artist_Albums { Title } } "
        "Album_Tracks { AlbumId Composer Name } } }")
OPERATIONS = {
    "constant": {"query": "{ __typename }"},
    "by_pk": {"query": "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }"},
    "by_pk, keys differ": {"query": "query ($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId } }", "variables": {"id": "$(n)"},
                           "values": {"n": {"random": "1..347"}}},
    "list 100": {"query": "{ Album(limit: 100) { AlbumId Title ArtistId } }"},
    "list, limits differ": {"query": "query ($n: Int!) { Album(limit: $n) { AlbumId Title ArtistId } }", "variables": {"n": "$(n)"},
                            "values": {"n": {"random": "50..150"}}},
    "join": {"query": JOIN},
    "join, pages differ": {"query": PAGE, "variables": {"from": "$(n)"}, "values": {"n": {"random": "0..100"}}},
    "insert": {"query": 'mutation { insert_Album_one(object: { Title: "Trying now", ArtistId: 1 }) { Title } }'},
    "update": {"query": 'mutation { update_Album_by_pk(pk_columns: { AlbumId: 1000 } _set: { Title: "Trying now 1" }) { Title AlbumId } }'},
}
SINGLE = {
    "insert": 'INSERT INTO "Album"("Title", "ArtistId") VALUES (?, 1)',
    "update": 'UPDATE "Album" SET "Title" = ? WHERE "AlbumId" = 1000',
}
# The same rows by datasette-graphql; it has neither offsets nor writes.
DATASETTE = {
    "by_pk": {"query": "{ Album_row(AlbumId: 1) { Title AlbumId } }"},
    "list 100": {"query": "{ Album(first: 100) { nodes { AlbumId Title } } }"},
    "join": {"query": "{ Album(first: 30) { nodes { Title ArtistId { Album_list(first: 100) { nodes { Title } } } "
                      "Track_list(first: 100) { nodes { Composer Name } } } } }"},
}
DATASETTE_VERSIONS = {"datasette": "0.65.2", "datasette-graphql": "2.2"}


class Datasette:
    """One process of it on the servers' core."""

    def __init__(self, file):
        there = ROOT / "bench/target/datasette"
        if not (there / "bin/datasette").exists():
            subprocess.run([sys.executable, "-m", "venv", there], check=True)
            wanted = [f"{name}=={version}" for name, version in DATASETTE_VERSIONS.items()]
            # Its templates read a version that later releases of setuptools no longer tell.
            subprocess.run([there / "bin/pip", "install", "--quiet", "setuptools<81", *wanted], check=True)
        self.port = free_port()
        # Its limits of time and statements would end the join.
        (there / "metadata.json").write_text(json.dumps({"plugins": {"datasette-graphql": {"time_limit_ms": 60_000, "num_queries_limit": 10_000}}}))
        line = ["taskset", "-c", SERVER_CORE, there / "bin/datasette", file, "-p", self.port, "-m", there / "metadata.json",
                "--setting", "sql_time_limit_ms", 60_000]
        self.process = subprocess.Popen([str(it) for it in line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                post(self.port, {"query": "{ __typename }"}, path="/graphql")
                return
            if self.process.poll() is not None:
                raise SystemExit("datasette does not start")
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait()


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


def check(weir, datasette):
    """Both give the same titles of the join, in whichever order."""
    ours = json.loads(post(weir.port, OPERATIONS["join"]))["data"]["Album"]
    theirs = json.loads(post(datasette.port, DATASETTE["join"]))["data"]["Album"]["nodes"]
    ours = sorted((it["Title"], sorted(a["Title"] for a in it["Album_Artist"]["Artist_Albums"]), sorted(t["Name"] for t in it["Album_Tracks"])) for it in ours)
    theirs = sorted((it["Title"], sorted(a["Title"] for a in it["ArtistId"]["Album_list"]["nodes"]), sorted(t["Name"] for t in it["Track_list"]["nodes"])) for it in theirs)
    if ours != theirs:
        raise SystemExit("Weir and datasette give different rows for the join")


def measure(weir, datasette, database):
    runs = {(who, name): [] for who in ("Weir", "datasette", "alone") for name in OPERATIONS}

    def note(who, name, run):
        print(f"{who}, {name}: {run['req_s']:,.0f}/s", flush=True)
        runs[who, name].append(run)

    def ask(who, name):
        if who == "Weir":
            note(who, name, load(weir.port, OPERATIONS[name], pid=weir.pid))
        elif name in DATASETTE:
            try:
                note(who, name, load(datasette.port, DATASETTE[name], connections=4, pid=datasette.process.pid))
            except Failed as failed:
                print(f"{who}, {name}: {failed}", flush=True)

    # All reads before the first write: the inserted albums are all of one artist, and the join would answer with every one.
    for name in (name for name in OPERATIONS if name not in SINGLE):
        for who in turns(PASSES, ["Weir", "datasette"]):
            ask(who, name)
    for name, statement in SINGLE.items():
        for _ in range(PASSES):
            ask("Weir", name)
            note("alone", name, {"req_s": one_by_one(database, statement)})
    return runs


def report(runs, memory):
    median = lambda of, key: statistics.median(run[key] for run in runs[of])  # noqa: E731
    rows = []
    for name in OPERATIONS:
        of, other = ("Weir", name), ("datasette", name)
        ratio = f"{median(of, 'req_s') / median(('Weir', 'constant'), 'req_s'):.2f} x constant"
        if name in SINGLE:
            alone = median(("alone", name), "req_s")
            ratio = f"{median(of, 'req_s') / alone:.1f} x one transaction each ({alone:,.0f}/s)"
        beside = ""
        if runs[other]:
            beside = (f"{median(other, 'req_s'):,.0f}/s, {median(other, 'cpu_us'):,.0f} us: {median(of, 'req_s') / median(other, 'req_s'):,.0f} x, "
                      f"1/{median(other, 'cpu_us') / median(of, 'cpu_us'):,.0f} of its CPU")
        rows.append([name, f"{median(of, 'req_s'):,.0f}", f"{median(of, 'cpu_us'):.1f}", f"{median(of, 'p50_ms'):.2f} / {median(of, 'p95_ms'):.2f}",
                     ratio, beside, f"{median(of, 'busy'):.0%}", spread([run["req_s"] for run in runs[of]])])
    text = table(["operation", "req/s", "server CPU us", "p50 / p95 ms", "ratio", "datasette-graphql", "its core busy", "spread"], rows)
    return text + f"\nResident memory after the reads: Weir {memory[0]:.0f} MB, datasette {memory[1]:.0f} MB.\n"


def main():
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        folder = running.enter_context(tempfile.TemporaryDirectory())
        weir = start(Weir("demo", "--data", folder))
        database = next(pathlib.Path(folder).rglob("*.db"))
        datasette = start(Datasette(database))
        check(weir, datasette)
        runs = measure(weir, datasette, database)
        memory = rss_mb(weir.pid), rss_mb(datasette.process.pid)
    publish("sqlite", report(runs, memory), listed(runs), DATASETTE_VERSIONS)


if __name__ == "__main__":
    main()
