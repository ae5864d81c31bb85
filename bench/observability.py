#!/usr/bin/env python3
"""The cost of being watched: CPU of the server per `by_pk` request with everything that a configuration can switch on, and without.

    bench/observability.py [WEIR] [WEIR_BEFORE]

One build serves Chinook twice. The first server has no more than its counters; the second one writes an access log in JSON, traces one request of a hundred for a
collector, and its metrics are read each second. They take turns, the order changes with each pass, and medians are printed with the spread of the
first. WEIR_BEFORE is a build without counters, served as the first in a second table.
"""

import contextlib
import http.server
import pathlib
import statistics
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from common import WEIR, Weir, table, wrk  # noqa: E402

PASSES = 9
SECONDS = 3
QUERY = {"query": "query AlbumById($id: Int!) { Album_by_pk(AlbumId: $id) { AlbumId Title ArtistId } }", "variables": {"id": 7}}
ON = "log: {format: json, access: true}\ntracing: {endpoint: 'http://127.0.0.1:%d', ratio: 0.01}\n"


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


def serve(folder, binary, yaml):
    """A server of the Chinook that `weir demo` has made in `folder`."""
    config = folder / f"{len(list(folder.iterdir()))}.yaml"
    config.write_text(f"dev: false\nsources: [{{name: chinook, url: {folder}/chinook.db}}]\n{yaml}")
    return Weir("serve", str(config), binary=binary)


def scrape(weir, over):
    while not over.wait(1):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{weir.port}/metrics").read()


def measure(weirs):
    """CPU per request of both, in microseconds, by pass."""
    runs = ([], [])
    for at in range(PASSES):
        for which in (0, 1) if at % 2 == 0 else (1, 0):
            run = wrk(weirs[which].port, QUERY, connections=64, seconds=SECONDS, pid=weirs[which].pid, warm_seconds=1 if at == 0 else 0)
            runs[which].append(run["cpu_us"])
    return runs


def row(label, runs):
    a, b = map(statistics.median, runs)
    return [label, f"{a:.2f}", f"{b:.2f}", f"{(b / a - 1) * 100:+.1f} %", f"{(max(runs[0]) - min(runs[0])) / a:.0%}"]


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:]] or [WEIR]
    rows = []
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with contextlib.ExitStack() as running:
        start = lambda it: (running.callback(it.stop), it)[1]  # noqa: E731
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        Weir("demo", "--data", str(folder), binary=binaries[0]).stop()
        on = start(serve(folder, binaries[0], ON % collector.server_port))
        over = threading.Event()
        running.callback(over.set)
        threading.Thread(target=scrape, args=(on, over), daemon=True).start()
        rows.append(row("log, traces and metrics read", measure((start(serve(folder, binaries[0], "")), on))))
        if len(binaries) > 1:
            before = start(serve(folder, binaries[1], ""))
            rows.append(row("as above, against the build before", measure((before, on))))
        time.sleep(0.1)
    print(table(["switched on", "without, CPU us", "with, CPU us", "difference", "spread without"], rows))


if __name__ == "__main__":
    main()
