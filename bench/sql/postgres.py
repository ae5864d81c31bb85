#!/usr/bin/env python3
"""The PostgreSQL column: the five published operations by Weir and by PostGraphile 5 over one private database, beside the
rate at which pgbench gets the same rows or makes the same changes.

Passes take turns, reads before writes; medians are printed, with the spread of Weir's passes. Weir and PostGraphile have one core, the load the
other, PostgreSQL and pgbench both. Identical requests let
Weir send one statement for all that wait, so every operation is measured with values that differ from request to request
too: those of by_pk are merged into one statement, all others each go alone. Writes are measured once more on a server with
`batch_mutations`.
"""

import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import Cluster  # noqa: E402
from common import PASSES, ROOT, SERVER_CORE, Weir, free_port, listed, load, post, publish, rss_mb, spread, table, turns  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", 3))
CHINOOK = ROOT / "examples/chinook"
ALBUM = """INSERT INTO "Album"("AlbumId", "Title", "ArtistId") VALUES (1000, 'Trying', 1);
SELECT setval(pg_get_serial_sequence('"Album"', 'AlbumId'), 1000); VACUUM ANALYZE; CHECKPOINT;"""

BY_PK = "query ($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId } }"
LIST = "query ($count: Int!) { Album(limit: $count) { AlbumId Title ArtistId } }"
JOIN = "{ Album(limit: 30) { Title Album_Artist { Artist_Albums { Title } } Album_Tracks { AlbumId Composer Name } } }"
PAGE = ("query ($from: Int!) { Album(limit: 30, offset: $from) { Title Album_Artist { Artist_Albums { Title } } "
        "Album_Tracks { AlbumId Composer Name } } }")
INSERT = 'mutation { insert_Album_one(object: { Title: "Trying now", ArtistId: 1 }) { Title } }'
UPDATE = 'mutation { update_Album_by_pk(pk_columns: { AlbumId: 1000 } _set: { Title: "Trying now 1" }) { Title AlbumId } }'
ROW = "mutation ($title: String!, $artist: Int!) { insert_Album_one(object: { Title: $title, ArtistId: $artist }) { Title } }"
CHANGE = ("mutation ($id: Int!, $title: String!) { update_Album_by_pk(pk_columns: { AlbumId: $id } _set: { Title: $title }) "
          "{ Title AlbumId } }")
KEY, ARTIST, LIMIT, OFFSET = ({"n": {"random": it}} for it in ("1..347", "1..275", "50..150", "0..100"))
# Values are random, so that few requests in flight are equal; limits are 100 on the average.
WEIR = {
    "by_pk": {"query": "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }"},
    "by_pk, keys differ": {"query": BY_PK, "variables": {"id": "$(n)"}, "values": KEY},
    "list 100": {"query": "{ Album(limit: 100) { AlbumId Title ArtistId } }"},
    "list, limits differ": {"query": LIST, "variables": {"count": "$(n)"}, "values": LIMIT},
    "join": {"query": JOIN},
    "join, pages differ": {"query": PAGE, "variables": {"from": "$(n)"}, "values": OFFSET},
    "insert": {"query": INSERT},
    "insert, rows differ": {"query": ROW, "variables": {"title": "Trying $(request)", "artist": "$(n)"}, "values": ARTIST},
    "update": {"query": UPDATE},
    "update, rows differ": {"query": CHANGE, "variables": {"id": "$(n)", "title": "Trying $(request)"}, "values": KEY},
}
# The same writes on a server that lets mutations share a commit.
SHARED = {f"{name}, shared commits": name for name in WEIR if name.startswith(("insert", "update"))}
WEIR |= {name: WEIR[same] for name, same in SHARED.items()}
WRITES = [name for name in WEIR if name.startswith(("insert", "update"))]
# What an operation is compared with that the others have not.
SAME = {"by_pk, keys differ": "by_pk", "list, limits differ": "list 100", "join, pages differ": "join", "insert, rows differ": "insert",
        "update, rows differ": "update", **SHARED}
POSTGRAPHILE = {
    "by_pk": "{ albumByAlbumId(albumId: 1) { title albumId } }",
    "list 100": "{ allAlbumsList(first: 100) { albumId title artistId } }",
    "join": "{ allAlbumsList(first: 30) { title artistByArtistId { albumsByArtistIdList { title } } tracksByAlbumIdList { albumId composer name } } }",
    "insert": 'mutation { createAlbum(input: { album: { title: "Trying now", artistId: 1 } }) { album { title } } }',
    "update": 'mutation { updateAlbumByAlbumId(input: { albumId: 1000, albumPatch: { title: "Trying now 1" } }) { album { title albumId } } }',
}
# The join's rows in one trip, levels told apart by a number.
LEVELS = """WITH a AS MATERIALIZED (SELECT "AlbumId", "ArtistId", "Title" FROM "Album" LIMIT 30 OFFSET :from)
 SELECT 0::int2, "AlbumId", "Title", NULL::varchar, "ArtistId" FROM a
 UNION ALL SELECT 1::int2, r."ArtistId", l."Title", NULL, NULL FROM "Artist" r LEFT JOIN "Album" l ON l."ArtistId" = r."ArtistId"
 WHERE r."ArtistId" = ANY(ARRAY(SELECT "ArtistId" FROM a))
 UNION ALL SELECT 2::int2, "AlbumId", "Composer", "Name", NULL FROM "Track" WHERE "AlbumId" = ANY(ARRAY(SELECT "AlbumId" FROM a));"""
# The bound of each operation: connections and script.
PGBENCH = {
    "by_pk": (8, """\\set id random(1, 347)\nSELECT "Title", "AlbumId" FROM "Album" WHERE "AlbumId" = :id;"""),
    "list 100": (8, """SELECT "AlbumId", "Title", "ArtistId" FROM "Album" LIMIT 100;"""),
    "join": (8, LEVELS.replace(" OFFSET :from", "")),
    "join, pages differ": (8, f"\\set from random(0, 100)\n{LEVELS}"),
    "insert": (64, """INSERT INTO "Album"("Title", "ArtistId") VALUES ('Trying now', 1) RETURNING "Title";"""),
    "insert, rows differ": (64, """\\set artist random(1, 275)
INSERT INTO "Album"("Title", "ArtistId") VALUES ('Trying ' || :artist, :artist) RETURNING "Title";"""),
    "update": (64, """UPDATE "Album" SET "Title" = 'Trying now 1' WHERE "AlbumId" = 1000 RETURNING "Title", "AlbumId";"""),
    "update, rows differ": (64, """\\set id random(1, 347)
UPDATE "Album" SET "Title" = 'Trying ' || :id WHERE "AlbumId" = :id RETURNING "Title", "AlbumId";"""),
}
# What has to be reached: of pgbench's rate, of PostGraphile's rate, CPU of the server per request in microseconds.
BARS = {
    "by_pk": (1.0, 12, 10), "by_pk, keys differ": (1.0, 12, 10), "list 100": (0.8, 12, 25), "list, limits differ": (0.8, 12, 25),
    "join": (0.8, 10, 90), "join, pages differ": (0.8, 10, 90), "insert": (0.9, None, None), "insert, rows differ": (0.9, None, None),
    "update": (1.0, None, None), "update, rows differ": (1.0, None, None), **{name: (None, None, None) for name in SHARED},
}


class PostGraphile:
    """One process of it, by the Node that its package brings."""

    def __init__(self, url):
        here, there = ROOT / "bench/sql/postgraphile", ROOT / "bench/target/postgraphile"
        there.mkdir(parents=True, exist_ok=True)
        for file in here.iterdir():
            shutil.copy(file, there)
        if not (there / "node_modules/node/bin/node").exists():
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=there, check=True)
        self.port = free_port()
        env = {**os.environ, "DATABASE_URL": url, "PORT": str(self.port), "NODE_ENV": "production", "GRAPHILE_ENV": "production"}
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, there / "node_modules/node/bin/node", "server.mjs"], cwd=there, env=env, stdout=subprocess.DEVNULL)
        while True:
            try:
                post(self.port, {"query": "{ __typename }"})
                break
            except OSError as error:
                if self.process.poll() is not None:
                    raise SystemExit("PostGraphile does not start") from error
                time.sleep(0.1)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait()


def versions(database):
    package = json.loads((ROOT / "bench/target/postgraphile/node_modules/postgraphile/package.json").read_text())
    return {"PostgreSQL": database, "PostGraphile": package["version"]}


def check(weir, postgraphile):
    """Both give the same albums, with the same albums of their artists and the same tracks, in whichever order."""
    flat = lambda rows: sorted(json.dumps(list(row.values()) if isinstance(row, dict) else row) for row in rows)  # noqa: E731
    ours = json.loads(post(weir.port, WEIR["join"]))["data"]["Album"]
    theirs = json.loads(post(postgraphile.port, {"query": POSTGRAPHILE["join"]}))["data"]["allAlbumsList"]
    ours = flat([it["Title"], flat(it["Album_Artist"]["Artist_Albums"]), flat(it["Album_Tracks"])] for it in ours)
    theirs = flat([it["title"], flat(it["artistByArtistId"]["albumsByArtistIdList"]), flat(it["tracksByAlbumIdList"])] for it in theirs)
    if ours != theirs:
        raise SystemExit("Weir and PostGraphile give different rows for the join")


def sharing(url):
    """A server that lets mutations share a commit."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"sources: [{{name: main, url: {url}, postgres: {{batch_mutations: true}}}}]\n")
        file.flush()
        return Weir("serve", file.name)


def passes(cluster, weirs, postgraphile, names, runs):
    def note(who, name, run):
        print(f"{who}, {name}: {run['req_s']:,.0f}/s", flush=True)
        runs[who, name].append(run)

    def ask(who, name):
        more = {"connections": 100 if name in WRITES else 64, "seconds": SECONDS, "database": cluster.cpu_seconds}
        if who == "pgbench" and name in PGBENCH:
            note(who, name, cluster.pgbench(*PGBENCH[name], SECONDS))
        elif who == "Weir":
            weir = weirs[name in SHARED]
            note(who, name, load(weir.port, WEIR[name], pid=weir.pid, **more))
        elif who == "PostGraphile" and name in POSTGRAPHILE:
            note(who, name, load(postgraphile.port, {"query": POSTGRAPHILE[name]}, pid=postgraphile.pid, **more))

    for name in names:
        for who in turns(PASSES, ["pgbench", "Weir", "PostGraphile"]):
            ask(who, name)


def report(runs, memory):
    median = lambda of, key: statistics.median(run[key] for run in runs[of])  # noqa: E731
    rows, beside = [], []
    def beside_it(who, name):
        return (who, name) if runs[who, name] else beside_it(who, SAME[name])

    for name, (of_pgbench, of_peer, cpu_most) in BARS.items():
        ours, bound, peer = ("Weir", name), beside_it("pgbench", name), beside_it("PostGraphile", name)
        rates = [run["req_s"] for run in runs[ours]]
        cpu, rate = median(ours, "cpu_us"), median(ours, "req_s")
        to_bound, to_peer = rate / median(bound, "req_s"), rate / median(peer, "req_s")
        rows.append([
            name, f"{rate:,.0f}", f"{cpu:.1f}" + (f" ({cpu_most})" if cpu_most else ""), f"{median(ours, 'db_us'):.1f}",
            f"{median(ours, 'p50_ms'):.2f} / {median(ours, 'p95_ms'):.2f}", f"**{to_bound:.2f} x**" + (f" ({of_pgbench})" if of_pgbench else ""),
            f"**{to_peer:.1f} x**" + (f" ({of_peer})" if of_peer else ""), f"1/{median(peer, 'cpu_us') / cpu:.0f}",
            spread(rates)])
    for name in PGBENCH:
        for who in ("pgbench", "PostGraphile"):
            of = (who, name)
            if not runs[of]:
                continue
            cpu = f"{median(of, 'cpu_us'):.0f}" if runs[of][0]["cpu_us"] else ""
            beside.append([f"{name}, {who}", f"{median(of, 'req_s'):,.0f}", cpu, f"{median(of, 'db_us'):.1f}",
                           f"{median(of, 'p50_ms'):.2f} / {median(of, 'p95_ms'):.2f}"])
    heads = ["Weir (bars in brackets)", "req/s", "server CPU us", "database CPU us", "p50 / p95 ms", "of pgbench", "of PostGraphile's rate",
             "of its server CPU", "spread"]
    text = table(heads, rows) + "\n" + table(["beside it", *heads[1:5]], beside)
    return text + f"\nResident memory after the reads: Weir {memory[0]:.0f} MB, PostGraphile {memory[1]:.0f} MB.\n"


def main():
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        cluster = start(Cluster())
        cluster_version = cluster.psql("SHOW server_version").split()[0]
        sql = [(CHINOOK / file).read_text() for file in ("postgres-before.sql", "chinook.sql", "postgres-after.sql")]
        cluster.psql(sql[0] + sql[1][sql[1].index("INSERT INTO"):] + sql[2] + ALBUM)
        weir, postgraphile = start(Weir("serve", cluster.url)), start(PostGraphile(cluster.url))
        weirs = weir, start(sharing(cluster.url))
        check(weir, postgraphile)
        runs = {(who, name): [] for who in ("pgbench", "Weir", "PostGraphile") for name in WEIR}
        passes(cluster, weirs, postgraphile, [name for name in WEIR if name not in WRITES], runs)
        memory = rss_mb(weir.pid), rss_mb(postgraphile.pid)
        passes(cluster, weirs, postgraphile, WRITES, runs)
    publish("postgres", report(runs, memory), listed(runs), versions(cluster_version))


if __name__ == "__main__":
    main()
