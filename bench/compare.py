#!/usr/bin/env python3
"""Two builds of Weir side by side, in parts: `sql`, `services`, `answers`, `pushes`, `start`. Without a part all are run.

    bench/compare.py OLD NEW [PART]...

The builds take turns on each operation, first the one and then the other, and the other way round in the next pass; medians are printed, with the spread
of the old build. Each build has its own SQLite file and its own native store; both ask one PostgreSQL, and one mock of services.
`sql` and `services` are CPU of the server per request; `answers` milliseconds of big native answers; `pushes` CPU per push of subscriptions; `start` is
from exec to the first answer over 5,000 tables, with and without roles, and their introspection. BENCH_PASSES and BENCH_SECONDS make it shorter.
What is switched on is counted by bench/sql/switched_instructions.py; the libraries have no binary: bench/exec and bench/python measure a checkout.
"""

import contextlib
import os
import pathlib
import shutil
import statistics
import sqlite3
import sys
import tempfile
import time

for folder in ["", "sql", "native", "gateway", "live", "product"]:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / folder))
import live  # noqa: E402
import postgres  # noqa: E402
import product  # noqa: E402
import restaurants  # noqa: E402
import services  # noqa: E402
import sqlite  # noqa: E402
from catalog import KINDS, TABLES  # noqa: E402
from cluster import Cluster  # noqa: E402
from common import Weir, cpu_seconds, load, post, rss_mb, table  # noqa: E402

PASSES = int(os.environ.get("BENCH_PASSES", 5))
SECONDS = float(os.environ.get("BENCH_SECONDS", 2))
# Share of the restaurants whose answers are compared.
SHARE = float(os.environ.get("BENCH_SCALE", 0.25))
NATIVE = {
    "native, by id": "{ getCuisine(id: %s) { id name } }",
    "native, page": "{ queryRestaurant(first: 20, order: {asc: name}) { id name rating } }",
    "native, edges": "{ queryCuisine(first: 5) { id name restaurants(first: 10) { name rating } } }",
    "native, update": "mutation { updateCuisine(input: {filter: {id: [%s]}, set: {name: \"Same\"}}) { numUids } }",
}
WRITES = ("insert", "update", "native, update")


def take_turns(names, run):
    """Rows of what `run(name, which)` measures, a dictionary of figures by unit, for each build."""
    found = {name: ([], []) for name in names}
    for at in range(PASSES):
        for name in names:
            for which in (0, 1) if at % 2 == 0 else (1, 0):
                found[name][which].append(run(name, which))
    rows = []
    for name, runs in found.items():
        for unit in runs[0][0]:
            old, new = ([it[unit] for it in side] for side in runs)
            a, b = statistics.median(old), statistics.median(new)
            ratio, spread = (f"{b / a:.2f} x", f"{(max(old) - min(old)) / a:.0%}") if a else ("-", "-")
            rows.append([f"{name}, {unit}", f"{a:,.1f}", f"{b:,.1f}", ratio, spread])
            print(rows[-1], flush=True)
    return rows


def measure(weirs, operations, label):
    """A row per operation."""
    warm = set()

    def run(name, which):
        body = operations[name]
        body = body[which] if isinstance(body, tuple) else body
        is_first = (name, which) not in warm
        warm.add((name, which))
        found = load(weirs[which].port, body, seconds=SECONDS, pid=weirs[which].pid, warm_seconds=1 if is_first else 0)
        return {"CPU us": found["cpu_us"]}

    # Writes come last, so that all reads see the same rows.
    rows = []
    for is_write in (False, True):
        rows += take_turns([name for name in operations if name.startswith(WRITES) == is_write], run)
    return [[f"{label}, {row[0]}", *row[1:]] for row in rows]


def native(binaries, start, folder, scale=0.01):
    """The servers of a small native store, a copy for each build, and the operations with its ids."""
    restaurants.SCALE = scale
    restaurants.WEIR = binaries[0]
    (folder / "first").mkdir(parents=True)
    restaurants.fill(folder / "first", [])
    shutil.copytree(folder / "first", folder / "second")
    weirs = [start(Weir("serve", "schema.graphql", cwd=folder / at, binary=binary))
             for at, binary in zip(("first", "second"), binaries)]
    first = post(weirs[0].port, {"query": "{ queryCuisine(first: 1) { id } }"}).decode().split('"id":')[1].split("}")[0]
    return weirs, {name: {"query": query % first if "%s" in query else query} for name, query in NATIVE.items()}


def compare_sql(binaries, start, folder):
    weirs = [start(Weir("demo", "--data", str(folder / f"demo{at}"), binary=binary)) for at, binary in enumerate(binaries)]
    rows = measure(weirs, sqlite.OPERATIONS, "SQLite")
    cluster = start(Cluster())
    sql = [(postgres.CHINOOK / file).read_text() for file in ("postgres-before.sql", "chinook.sql", "postgres-after.sql")]
    cluster.psql(sql[0] + sql[1][sql[1].index("INSERT INTO"):] + sql[2] + postgres.ALBUM)
    weirs = [start(Weir("serve", cluster.url, binary=binary)) for binary in binaries]
    operations = {name: body for name, body in postgres.WEIR.items() if name not in postgres.SHARED}
    rows += measure(weirs, operations, "PostgreSQL")
    weirs, operations = native(binaries, start, folder / "native")
    return rows + measure(weirs, operations, "SQLite")


def compare_services(binaries, start, folder):
    mock = start(services.Mock(folder))
    servers = {}

    def server(form, which):
        if (form, which) not in servers:
            services.WEIR = binaries[which]
            there = folder / f"services{which}"
            there.mkdir(exist_ok=True)
            servers[form, which] = start(services.weir(form, mock.url, there))
        return servers[form, which]

    def run(scenario, which):
        form, _, latency_ms, _ = services.SCENARIOS[scenario]
        mock.ask(f"set?latency={latency_ms}ms")
        headers = {} if scenario == services.STILL else {"x-request-id": "$(request)"}
        it = server(form, which)
        found = load(it.port, services.asked("Weir", scenario), seconds=SECONDS, pid=it.pid, counter=mock.calls, headers=headers)
        return {"CPU us": found["cpu_us"], "calls": found["count"]}

    return take_turns(list(services.SCENARIOS), run)


def compare_answers(binaries, start, folder):
    weirs, _ = native(binaries, start, folder / "answers", SHARE)
    queries = {f"big answer {name}": query for name, query, _, _ in restaurants.QUERIES}

    def run(name, which):
        weir = weirs[which]
        before = cpu_seconds(weir.pid)
        with restaurants.Peak(weir.pid) as peak:
            first, last, _ = restaurants.ask(weir.port, queries[name])
        return {"ms": last * 1e3, "ms to the first byte": first * 1e3, "CPU ms": (cpu_seconds(weir.pid) - before) * 1e3, "MB more": peak.grown}

    return take_turns(list(queries), run)


def compare_pushes(binaries, start, folder):
    with contextlib.closing(sqlite3.connect(folder / "items.db")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(live.ITEMS)
        connection.execute(live.FILL)
        connection.commit()
    shelf = live.SHELF
    asked = {"pushes by key": ({"query": live.BY_PK, "variables": {"id": "$(own)"}, "mark": "data.item_by_pk.count"}, live.CLIENTS // 10,
                               {"random": f"1..{live.CLIENTS}"}),
             "pushes of one list": ({"query": live.LISTS["Weir"], "mark": f"data.item[{shelf - 1}].count"}, 2,
                                    {"random": f"{2 * shelf - 1}..{2 * shelf - 1}"})}

    def run(name, which):
        # A server alone: subscribers of the other one would be told, too.
        weir = Weir("serve", "sqlite:items.db", cwd=folder, binary=binaries[which])
        try:
            found = live.changes(weir, *asked[name])
            return {"CPU us a push": found["cpu_us"], "p50 ms": found["p50_ms"], "MB": rss_mb(weir.pid)}
        finally:
            weir.stop()

    return take_turns(list(asked), run)


def compare_start(binaries, start, folder):
    columns = ", ".join(f"c{at} {kind}" for at, kind in enumerate(KINDS))
    with contextlib.closing(sqlite3.connect(folder / "tables.db")) as connection:
        for number in range(TABLES):
            connection.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, {columns}, parent_id int REFERENCES t{max(number - 1, 0)})")
        connection.commit()
    product.generate(folder / "roles.db", product.MANY_TABLES)
    product.permissions(folder / "roles.yaml", "roles.db")
    product.generate(folder / "few.db", 50)
    introspection = (pathlib.Path(__file__).parent / "introspection.graphql").read_text()
    plain = f"{TABLES:,} tables"
    served = {plain: "sqlite:tables.db", f"{product.MANY_TABLES:,} tables with an index each": "sqlite:roles.db",
              f"{product.MANY_TABLES:,} tables x {product.ROLES} roles": "roles.yaml", "50 tables": "sqlite:few.db"}

    def run(name, which):
        weir = Weir("serve", served[name], cwd=folder, binary=binaries[which])
        try:
            found = {"start, ms": weir.first_answer_s * 1e3, "start, CPU ms": cpu_seconds(weir.pid) * 1e3, "start, MB": rss_mb(weir.pid)}
            if name != plain:
                return found
            before, begun = cpu_seconds(weir.pid), time.perf_counter()
            post(weir.port, {"query": introspection})
            took = time.perf_counter() - begun
            return found | {"introspection, ms": took * 1e3, "introspection, CPU ms": (cpu_seconds(weir.pid) - before) * 1e3,
                            "introspection, MB": rss_mb(weir.pid)}
        finally:
            weir.stop()

    return take_turns(list(served), run)


PARTS = {"sql": compare_sql, "services": compare_services, "answers": compare_answers, "pushes": compare_pushes, "start": compare_start}


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:3]]
    names = sys.argv[3:] or list(PARTS)
    if len(binaries) != 2 or not set(names) <= set(PARTS):
        raise SystemExit(__doc__)
    rows = []
    for name in names:
        with contextlib.ExitStack() as running:
            start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
            folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
            rows += PARTS[name](binaries, start, folder)
    print(table(["operation", "old", "new", "new to old", "spread of the old"], rows))


if __name__ == "__main__":
    main()
