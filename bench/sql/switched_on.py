#!/usr/bin/env python3
"""The cost on `by_pk` of what can be switched on: permissions of a role, everything that watches a server, open subscriptions.

    bench/sql/switched_on.py [WEIR_BEFORE]

One build serves Chinook four times. The first server has no more than its counters; the second one is asked by a role whose filter reads a session
variable of 10,000 values; the third writes an access log in JSON, traces one request of a hundred for a collector, and its metrics are read each second;
100 clients of the fourth are subscribed to other rows. They take turns; medians are printed. WEIR_BEFORE is a build without these features,
asked as the first in a further row.
"""

import contextlib
import http.server
import json
import pathlib
import socket
import statistics
import sys
import tempfile
import threading
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import PASSES, SECONDS, WEIR, Weir, listed, load, publish, spread, table, turns  # noqa: E402

PASSES = 9
SECONDS = 3
QUERY = {"query": "query AlbumById($id: Int!) { Album_by_pk(AlbumId: $id) { AlbumId Title ArtistId } }", "variables": {"id": "$(n)"},
         "values": {"n": {"random": "1..347"}, "least": {"random": "0..9999"}}}
LIVE = {"query": "subscription ($id: Int!) { Track_by_pk(TrackId: $id) { Name } }"}
ROLE = """    tables:
      - table: Album
        select_permissions:
          - role: listener
            permission: {columns: '*', filter: {AlbumId: {_gte: X-Hasura-Least}}}
"""
WATCHED = "log: {format: json, access: true}\ntracing: {endpoint: 'http://127.0.0.1:%d', ratio: 0.01}\n"
# Most that each may cost, by the bars.
BARS = {"a role with a filter": "5 %", "log, traces and metrics read": "3 %", "100 subscriptions open": "0 %"}


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans and forgets them."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve(folder, binary, tables="", more=""):
    """A server of the Chinook that `weir demo` has made in `folder`."""
    config = folder / f"{len(list(folder.iterdir()))}.yaml"
    config.write_text(f"dev: false\nsources:\n  - name: chinook\n    url: {folder}/chinook.db\n{tables}{more}")
    return Weir("serve", str(config), binary=binary)


def scrape(weir, over):
    while not over.wait(1):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{weir.port}/metrics").read()


def subscribe(port, count):
    """Sockets whose subscriptions have told their first result."""
    for at in range(count):
        it = socket.create_connection(("127.0.0.1", port))
        body = json.dumps({**LIVE, "variables": {"id": at + 1}})
        it.sendall(f"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        answer = b""
        while b"event: next" not in answer:
            part = it.recv(4096)
            if not part:
                raise SystemExit(f"the subscription ended: {answer!r}")
            answer += part
        yield it


def main():
    before = [pathlib.Path(it).resolve() for it in sys.argv[1:]]
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        Weir("demo", "--data", str(folder)).stop()
        watched = start(serve(folder, WEIR, more=WATCHED % collector.server_port))
        live = start(serve(folder, WEIR))
        servers = {"nothing": start(serve(folder, WEIR)), "a role with a filter": start(serve(folder, WEIR, tables=ROLE)),
                   "log, traces and metrics read": watched, "100 subscriptions open": live}
        servers |= {f"the build before: {it.name}": start(serve(folder, it)) for it in before}
        for it in subscribe(live.port, 100):
            running.callback(it.close)
        over = threading.Event()
        running.callback(over.set)
        threading.Thread(target=scrape, args=(watched, over), daemon=True).start()
        headers = {"a role with a filter": {"x-hasura-role": "listener", "x-hasura-least": "$(least)"}}
        # A guest's headers are sent to all, so that none has less to read.
        sent = {"x-hasura-least": "$(least)"}
        runs = {("Weir", name): [] for name in servers}
        for name in turns(PASSES, list(servers)):
            weir, is_first = servers[name], not runs["Weir", name]
            more = headers.get(name, {**sent, "x-hasura-role": "admin"})
            runs["Weir", name].append(load(weir.port, QUERY, seconds=SECONDS, pid=weir.pid, headers=more, warm_seconds=1 if is_first else 0))
            print(f"{name}: {runs['Weir', name][-1]['cpu_us']:.2f} us", flush=True)
    median = lambda name: statistics.median(run["cpu_us"] for run in runs["Weir", name])  # noqa: E731
    without = median("nothing")
    rows = [[name, f"{median(name):.2f}", f"{(median(name) / without - 1) * 100:+.1f} %" + (f" (at most {BARS[name]})" if name in BARS else ""),
             spread([run["cpu_us"] for run in runs["Weir", name]])] for name in servers]
    publish("switched-on", table(["switched on", "server CPU us per by_pk", "difference", "spread"], rows), listed(runs))


if __name__ == "__main__":
    main()
