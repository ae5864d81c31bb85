#!/usr/bin/env python3
"""Two builds of Weir side by side: CPU of the server per request, for the operations of the SQLite, PostgreSQL and native tables.

    bench/compare.py OLD NEW

The builds take turns on each operation, first the one and then the other, and the other way round in the next pass; medians are printed. Each build has
its own SQLite file and its own native store; both ask one PostgreSQL.
"""

import contextlib
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

for folder in ["", "sql", "native"]:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / folder))
import postgres  # noqa: E402
import restaurants  # noqa: E402
import sqlite  # noqa: E402
from cluster import Cluster  # noqa: E402
from common import Weir, load, post, table  # noqa: E402

PASSES = 3
SECONDS = 2
NATIVE = {
    "native, by id": "{ getCuisine(id: %s) { id name } }",
    "native, page": "{ queryRestaurant(first: 20, order: {asc: name}) { id name rating } }",
    "native, edges": "{ queryCuisine(first: 5) { id name restaurants(first: 10) { name rating } } }",
    "native, update": "mutation { updateCuisine(input: {filter: {id: [%s]}, set: {name: \"Same\"}}) { numUids } }",
}
WRITES = ("insert", "update", "native, update")


def measure(weirs, operations, label):
    """A row per operation."""
    runs = {name: ([], []) for name in operations}
    for part in (False, True):
        names = [name for name in operations if name.startswith(WRITES) == part]
        for at in range(PASSES):
            for name in names:
                order = (0, 1) if at % 2 == 0 else (1, 0)
                for which in order:
                    weir, body = weirs[which], operations[name]
                    body = body[which] if isinstance(body, tuple) else body
                    run = load(weir.port, body, seconds=SECONDS, pid=weir.pid, warm_seconds=1 if at == 0 else 0)
                    runs[name][which].append(run["cpu_us"])
    rows = []
    for name, (old, new) in runs.items():
        a, b = statistics.median(old), statistics.median(new)
        spread = (max(old) - min(old)) / a
        rows.append([f"{label}, {name}", f"{a:.1f}", f"{b:.1f}", f"{(b / a - 1) * 100:+.1f} %", f"{spread:.0%}"])
        print(rows[-1], flush=True)
    return rows


def native(binaries, start, folder):
    """The servers of a small native store, a copy for each build, and the operations with its ids."""
    restaurants.SCALE = 0.01
    restaurants.WEIR = binaries[0]
    (folder / "first").mkdir()
    restaurants.fill(folder / "first", [])
    shutil.copytree(folder / "first", folder / "second")
    weirs = [start(Weir("serve", "schema.graphql", cwd=folder / at, binary=binary))
             for at, binary in zip(("first", "second"), binaries)]
    first = post(weirs[0].port, {"query": "{ queryCuisine(first: 1) { id } }"}).decode().split('"id":')[1].split("}")[0]
    return weirs, {name: {"query": query % first if "%s" in query else query} for name, query in NATIVE.items()}


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:3]]
    if len(binaries) != 2:
        raise SystemExit(__doc__)
    rows = []
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        weirs = [start(Weir("demo", "--data", str(folder / f"demo{at}"), binary=binary)) for at, binary in enumerate(binaries)]
        rows += measure(weirs, sqlite.OPERATIONS, "SQLite")
        cluster = start(Cluster())
        sql = [(postgres.CHINOOK / file).read_text() for file in ("postgres-before.sql", "chinook.sql", "postgres-after.sql")]
        cluster.psql(sql[0] + sql[1][sql[1].index("INSERT INTO"):] + sql[2] + postgres.ALBUM)
        weirs = [start(Weir("serve", cluster.url, binary=binary)) for binary in binaries]
        operations = {name: body for name, body in postgres.WEIR.items() if name not in postgres.SHARED}
        rows += measure(weirs, operations, "PostgreSQL")
        weirs, operations = native(binaries, start, folder)
        rows += measure(weirs, operations, "SQLite")
    print(table(["operation", "old, CPU us", "new, CPU us", "difference", "spread of the old"], rows))


if __name__ == "__main__":
    main()
