#!/usr/bin/env python3
"""The whole product: binary size, start to first answer and idle memory, on Chinook and on a database of 300 tables."""

import pathlib
import sqlite3
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import WEIR, Weir, publish, rss_mb, table  # noqa: E402

TABLES = 300
COLUMNS = 12
# The largest schema: tables, and roles with a permission of their own on each.
MANY_TABLES, ROLES = 5000, 11


def generate(file, tables):
    """Tables of 12 columns, each with a key, an index and a reference to the table before it."""
    connection = sqlite3.connect(file)
    for number in range(tables):
        kinds = ["TEXT NOT NULL", "INTEGER", "NUMERIC(10,2)", "BOOLEAN", "DATETIME", "BIGINT", "REAL"]
        columns = ", ".join(f'"c{at}" {kinds[at % len(kinds)]}' for at in range(COLUMNS - 2))
        target = max(number - 1, 0)
        connection.execute(
            f'CREATE TABLE "table_{number}" ("id" INTEGER PRIMARY KEY, {columns}, '
            f'"parent_id" INTEGER REFERENCES "table_{target}" ("id"))')
        connection.execute(f'CREATE INDEX "index_{number}" ON "table_{number}" ("parent_id")')
    connection.commit()
    connection.close()


def permissions(file, database):
    """A configuration with a select permission of each role on each table, by a filter of its own."""
    lines = ["dev: false", "sources:", "  - name: many", f"    url: sqlite:{database}", "    tables:"]
    for number in range(MANY_TABLES):
        lines += [f"      - table: table_{number}", "        select_permissions:"]
        for role in range(ROLES):
            filter_ = f"{{id: {{_gt: {role}}}, c1: {{_eq: X-Hasura-User-Id}}}}"
            lines += [f"          - {{role: role{role}, permission: {{columns: '*', filter: {filter_}, limit: {role + 10}}}}}"]
    file.write_text("\n".join(lines) + "\n")


def measure(*arguments, cwd=None):
    starts = []
    for _ in range(5):
        weir = Weir(*arguments, cwd=cwd, core=None)
        starts.append(weir.first_answer_s * 1e3)
        time.sleep(1)
        memory = rss_mb(weir.pid)
        weir.stop()
    return statistics.median(starts), memory


def main():
    folder = tempfile.mkdtemp()
    generate(f"{folder}/many.db", TABLES)
    generate(f"{folder}/roles.db", MANY_TABLES)
    permissions(pathlib.Path(folder, "roles.yaml"), "roles.db")
    Weir("demo", "--data", folder).stop()
    size = WEIR.stat().st_size / 1e6
    demo = measure("demo", "--data", folder)
    many = measure("serve", "sqlite:many.db", cwd=folder)
    roles = measure("serve", "roles.yaml", cwd=folder)
    rows = [
        ["binary", f"{size:.1f} MB", "<= 30 MB"],
        ["start to first answer, Chinook (11 tables)", f"{demo[0]:.0f} ms", ""],
        ["idle RSS, Chinook", f"{demo[1]:.0f} MB", ""],
        [f"start to first answer, {TABLES} tables", f"{many[0]:.0f} ms", "<= 50 ms"],
        [f"idle RSS, {TABLES} tables", f"{many[1]:.0f} MB", "<= 60 MB"],
        [f"start to first answer, {MANY_TABLES:,} tables x {ROLES} roles", f"{roles[0]:,.0f} ms", "<= 1,000 ms"],
        [f"idle RSS, {MANY_TABLES:,} tables x {ROLES} roles", f"{roles[1]:.0f} MB", "<= 500 MB"],
    ]
    publish("product", table(["what", "measured", "bar"], rows))


if __name__ == "__main__":
    main()
