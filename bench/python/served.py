"""The ASGI app of the Python package beside those of Strawberry and Ariadne, each behind uvicorn with one process, in alternating turns.

A connection that stays open asks one request after another. The time of the server's process per request is the firm figure; what
uvicorn itself takes is in it. BENCH_PASSES and BENCH_SECONDS make it shorter; PUBLISH=1 writes docs/performance/python.md.
"""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from common import LOAD_CORE, SERVER_CORE, cpu_seconds, free_port, publish, spread, table, turns  # noqa: E402

PASSES = int(os.environ.get("BENCH_PASSES", 5))
SECONDS = float(os.environ.get("BENCH_SECONDS", 2))
APPS = {"Weir": "weir_app", "Strawberry": "strawberry_app", "Ariadne": "ariadne_app"}
OPERATIONS = {
    "the name of a type": "{ __typename }",
    "50 users, 500 posts, 1,500 comments": "{ users { id name posts { id title comments { id text } } } }",
    "list of 1,000 records, 10 fields": "{ records { id name score active note code city height weight visits } }",
}


class Server:
    """A running app, and a connection to it."""

    def __init__(self, app):
        self.port = free_port()
        command = [sys.executable, "-m", "uvicorn", f"apps:{app}", "--port", str(self.port), "--log-level", "error", "--no-access-log"]
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], cwd=FOLDER)
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port))
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{app} ended with {self.process.returncode}")
                time.sleep(0.05)

    def ask(self, request):
        """The body of the answer to a whole request."""
        self.socket.sendall(request)
        found = b""
        while b"\r\n\r\n" not in found:
            found += self.socket.recv(1 << 20)
        head, _, body = found.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        parts, have = [body], len(body)
        while have < length:
            parts.append(self.socket.recv(1 << 20))
            have += len(parts[-1])
        return b"".join(parts)

    def milliseconds_each(self, request):
        """Time of the server's process per request, over about SECONDS."""
        count, begun, before = 0, time.perf_counter(), cpu_seconds(self.process.pid)
        while time.perf_counter() - begun < SECONDS:
            self.ask(request)
            count += 1
        return (cpu_seconds(self.process.pid) - before) / count * 1e3

    def stop(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()


def request_of(query):
    body = json.dumps({"query": query}).encode()
    head = f"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def main():
    os.sched_setaffinity(0, {int(LOAD_CORE)})
    servers = {who: Server(app) for who, app in APPS.items()}
    try:
        found = {}
        for name, query in OPERATIONS.items():
            request = request_of(query)
            answers = {who: json.loads(server.ask(request)) for who, server in servers.items()}
            assert all(it == answers["Weir"] for it in answers.values()), name
            for who in turns(PASSES, list(servers)):
                found.setdefault((who, name), []).append(servers[who].milliseconds_each(request))
    finally:
        for server in servers.values():
            server.stop()
    rows = []
    for name in OPERATIONS:
        median = {who: statistics.median(found[who, name]) for who in servers}
        widest = max((found[who, name] for who in servers), key=lambda it: (max(it) - min(it)) / statistics.median(it))
        others = [it for who in list(servers)[1:] for it in (f"{median[who]:.2f}", f"{median[who] / median['Weir']:.1f} x")]
        rows.append([name, f"{median['Weir']:.3f}", *others, spread(widest)])
    text = table(["ms of the server per request", "Weir", "Strawberry", "ratio", "Ariadne", "ratio", "spread"], rows)
    if os.environ.get("PUBLISH"):
        packages = {"Strawberry": "strawberry-graphql", "Ariadne": "ariadne", "uvicorn": "uvicorn"}
        versions = {who: version(package) for who, package in packages.items()} | {"Python": sys.version.split()[0]}
        runs = [{"who": who, "operation": name, "passes": passes} for (who, name), passes in found.items()]
        publish("python-served", text, runs, versions)
    else:
        print(text)


main()
