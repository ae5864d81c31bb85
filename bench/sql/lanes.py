#!/usr/bin/env python3
"""One row by Weir and by pgbench from a PostgreSQL that takes its time: through a proxy that delays each statement of a connection.

By key, requests that wait together are one statement; by a condition each goes alone. Beside Weir as it is stands one with `lanes: 2`.
Passes take turns, medians are printed.
"""

import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import Cluster  # noqa: E402
from common import PASSES, ROOT, WEIR, Weir, free_port, load, publish, spread, table, turns  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", 3))
DELAYS = [int(it) for it in os.environ.get("BENCH_DELAYS", "0 1 5 20").split()]
CLIENTS = [int(it) for it in os.environ.get("BENCH_CLIENTS", "8 32 64").split()]
CHINOOK = ROOT / "examples/chinook"
KEY = {"n": {"random": "1..347"}}
OPERATIONS = {
    "by key": {"query": "query ($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId } }", "variables": {"id": "$(n)"}, "values": KEY},
    "by condition": {"query": "query ($id: Int!) { Album(where: { AlbumId: { _eq: $id } }, limit: 1) { Title AlbumId } }", "variables": {"id": "$(n)"},
                     "values": KEY},
}
# Builds and settings, with what is asked of them. BENCH_OTHER names another build of Weir, which takes turns with this one.
CONTENDERS = {"Weir": (WEIR, ""), "fixed": (WEIR, "lanes: 2")} | ({"other": (os.environ["BENCH_OTHER"], "")} if "BENCH_OTHER" in os.environ else {})
ASKED = [("Weir", "by key"), ("Weir", "by condition"), *((name, "by key") for name in CONTENDERS if name != "Weir")]
SCRIPT = """\\set id random(1, 347)\nSELECT "Title", "AlbumId" FROM "Album" WHERE "AlbumId" = :id;"""


class SlowPostgres:
    """The proxy, as a process of its own."""

    def __init__(self, port, millis):
        self.port = free_port()
        self.process = subprocess.Popen([WEIR.parent / "examples/slow_postgres", str(self.port), str(port), str(millis)])
        time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def connections(cluster, name):
    return int(cluster.psql(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'"))


def serving(url, more, binary):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"sources: [{{name: main, url: '{url}', postgres: {{{more}}}}}]\n")
        file.flush()
        return Weir("serve", file.name, binary=binary, core=None)


def measure(cluster, runs):
    for millis in DELAYS:
        with contextlib.ExitStack() as running:
            start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
            proxy = start(SlowPostgres(cluster.port, millis))
            url = cluster.url.replace(str(cluster.port), str(proxy.port))
            weirs = {name: start(serving(f"{url}?application_name={name}", more, binary)) for name, (binary, more) in CONTENDERS.items()}
            for clients in CLIENTS:
                for who in turns(PASSES, ["pgbench", *ASKED]):
                    if who == "pgbench":
                        run = cluster.pgbench(clients, SCRIPT, SECONDS, proxy.port)
                    else:
                        name, operation = who
                        run = load(weirs[name].port, OPERATIONS[operation], connections=clients, seconds=SECONDS, core="0,1")
                        run["lanes"] = connections(cluster, name)
                    print(millis, clients, who, f"{run['req_s']:,.0f}/s", run.get("lanes", ""), flush=True)
                    runs.setdefault((millis, clients, who), []).append(run)


def report(runs):
    median = lambda of, key="req_s": statistics.median(run[key] for run in runs[of])  # noqa: E731
    rows = []
    for millis in DELAYS:
        for clients in CLIENTS:
            row = [millis, clients, f"{median((millis, clients, 'pgbench')):,.0f}"]
            for asked in ASKED:
                of = millis, clients, asked
                rates = [run["req_s"] for run in runs[of]]
                row += [f"{median(of):,.0f}", f"**{median(of) / median((millis, clients, 'pgbench')):.2f} x**", f"{median(of, 'lanes'):.0f}", spread(rates)]
            rows.append(row)
    heads = ["delay ms", "clients", "pgbench /s"]
    for name, operation in ASKED:
        heads += [f"{'two lanes' if name == 'fixed' else name}, {operation} /s", "of pgbench", "connections", "spread"]
    return table(heads, rows)


def main():
    runs = {}
    with contextlib.ExitStack() as running:
        cluster = Cluster()
        running.callback(cluster.stop)
        sql = [(CHINOOK / file).read_text() for file in ("postgres-before.sql", "chinook.sql", "postgres-after.sql")]
        cluster.psql(sql[0] + sql[1][sql[1].index("INSERT INTO"):] + sql[2] + "VACUUM ANALYZE;")
        version = cluster.psql("SHOW server_version").split()[0]
        measure(cluster, runs)
    listed = [{"delay_ms": millis, "clients": clients, "who": "pgbench" if who == "pgbench" else " ".join(who), "passes": found}
              for (millis, clients, who), found in runs.items()]
    publish("lanes", report(runs), listed, {"PostgreSQL": version})


if __name__ == "__main__":
    main()
