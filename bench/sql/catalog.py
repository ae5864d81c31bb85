#!/usr/bin/env python3
"""What a large PostgreSQL schema costs at the start: from exec to the first answer over 5,000 tables of ten columns, each with a
key and a reference to the one before, and how much of it is Weir's own time. Printed, not published."""

import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import Cluster  # noqa: E402
from common import Weir, cpu_seconds, rss_mb, table  # noqa: E402

TABLES = 5000
STARTS = 5
KINDS = ["text NOT NULL", "int8", "numeric(10, 2)", "boolean", "timestamptz", "uuid", "jsonb", "float8"]


def tables():
    columns = ", ".join(f"c{at} {kind}" for at, kind in enumerate(KINDS))
    for number in range(TABLES):
        if number % 500 == 0:
            yield "COMMIT; BEGIN;" if number else "BEGIN;"
        yield f"CREATE TABLE t{number} (id int PRIMARY KEY, {columns}, parent_id int REFERENCES t{max(number - 1, 0)});"
    yield "COMMIT; ANALYZE;"


def main():
    cluster = Cluster()
    try:
        cluster.psql("\n".join(tables()))
        wall, own, server, memory = [], [], [], []
        for _ in range(STARTS):
            before = cluster.cpu_seconds()
            weir = Weir("serve", cluster.url, env={"PGSSLMODE": "disable"})
            wall.append(weir.first_answer_s * 1e3)
            own.append(cpu_seconds(weir.pid) * 1e3)
            memory.append(rss_mb(weir.pid))
            weir.stop()
            server.append((cluster.cpu_seconds() - before) * 1e3)
        rows = [["start to first answer", f"{statistics.median(wall):.0f} ms"], ["CPU of Weir in it", f"{statistics.median(own):.0f} ms"],
                ["CPU of PostgreSQL in it", f"{statistics.median(server):.0f} ms"], ["RSS after it", f"{statistics.median(memory):.0f} MB"]]
        print(table([f"{TABLES} tables, median of {STARTS} starts, load {os.getloadavg()[0]:.1f}", "measured"], rows))
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
