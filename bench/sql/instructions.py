#!/usr/bin/env python3
"""Instructions per request of two builds of Weir, for reads under a role: `bench/sql/instructions.py [--postgres] OLD NEW`.

Callgrind counts them, those of SQLite in the server's process too, so a busy machine changes nothing. Each operation is asked by the admin and by a role whose
filter reads a session variable, with other keys in each request. A count is the least of PASSES of REQUESTS each, after a pass to warm up.
Valgrind has to be installed. With `--postgres` the rows are in a private PostgreSQL, whose own instructions are not counted: what the first build
needs is compared with what the second one does where no source says `session_in_reads`.
"""

import contextlib
import http.client
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import Cluster  # noqa: E402
from common import Weir, free_port, table  # noqa: E402
from switched_on import ROLE  # noqa: E402

REQUESTS = 300
PASSES = 5
OPERATIONS = {
    "by_pk": "query ($n: Int!) { Album_by_pk(AlbumId: $n) { AlbumId Title ArtistId } }",
    "list of 100": "query ($n: Int!) { Album(limit: 100, where: {AlbumId: {_gt: $n}}) { AlbumId Title ArtistId } }",
    "list by a pattern": "query ($n: Int!) { Album(limit: 100, where: {Title: {_like: \"B%\"}, AlbumId: {_gt: $n}}) { AlbumId Title ArtistId } }",
}
# Rows as Chinook has them, for PostgreSQL.
ALBUMS = """CREATE TABLE "Album" ("AlbumId" int4 PRIMARY KEY, "Title" text NOT NULL, "ArtistId" int4 NOT NULL);
INSERT INTO "Album" SELECT i, chr(65 + i % 26) || 'lbum ' || i, i % 275 FROM generate_series(1, 347) AS i; ANALYZE "Album";"""
CALLERS = {"admin": {}, "role": {"x-hasura-role": "listener", "x-hasura-least": "0"}}


class Counted:
    """A server under callgrind."""

    def __init__(self, binary, folder, url, more="", headers=None):
        self.headers = headers or {}
        self.port = free_port()
        self.out = folder / f"out.{self.port}"
        config = folder / f"{self.port}.yaml"
        config.write_text(f"dev: false\nthreads: 1\nsources:\n  - name: chinook\n    url: {url}\n{ROLE}{more}")
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={self.out}", str(binary), "serve", str(config), "--listen", f"127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
            try:
                self.request({"query": "{__typename}"}, self.headers)
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"weir ended with {self.process.returncode}")
                time.sleep(0.1)

    def request(self, body, headers):
        self.connection.request("POST", "/graphql", json.dumps(body), {"content-type": "application/json", **headers})
        return self.connection.getresponse().read()

    def ask(self, body, headers):
        answer = self.request(body, headers)
        if b'"errors"' in answer:
            raise SystemExit(answer.decode())

    def total(self):
        """Instructions since the last call."""
        before = set(self.out.parent.glob(f"{self.out.name}.*"))
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The dump is written when the server runs next, thread by thread.
        while True:
            self.request({"query": "{__typename}"}, self.headers)
            dumps = set(self.out.parent.glob(f"{self.out.name}.*")) - before
            counts = [int(it) for dump in dumps for it in re.findall(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)]
            if counts:
                return sum(counts)

    def per_request(self, query, headers, variable="n"):
        numbers = itertools.cycle(range(1, 200))
        ask = lambda: self.ask({"query": query, "variables": {variable: next(numbers)}}, headers)  # noqa: E731
        counts = []
        for _ in range(1 + PASSES):
            for _ in range(REQUESTS):
                ask()
            counts.append(self.total() / REQUESTS)
        # The first pass warms up. What threads do while they wait for each other is only added.
        return min(counts[1:])

    def stop(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:] if it != "--postgres"]
    if len(binaries) != 2:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        if "--postgres" in sys.argv:
            cluster = Cluster()
            stack.callback(cluster.stop)
            cluster.psql(ALBUMS)
            url = cluster.url
        else:
            Weir("demo", "--data", str(folder), binary=binaries[0]).stop()
            url = folder / "chinook.db"
        counts = []
        for binary in binaries:
            server = Counted(binary, folder, url)
            counts.append({(name, caller): server.per_request(query, headers)
                           for name, query in OPERATIONS.items() for caller, headers in CALLERS.items()})
            server.stop()
        rows = [[name, caller, f"{old:,.0f}", f"{counts[1][name, caller]:,.0f}", f"{(counts[1][name, caller] / old - 1) * 100:+.2f} %"]
                for (name, caller), old in counts[0].items()]
        print(table(["operation", "caller", "old", "new", "difference"], rows))


if __name__ == "__main__":
    main()
