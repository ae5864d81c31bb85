"""Shared by the measuring programs: starting Weir, loading it with wrk, reading CPU and memory of a process.

CPU per request (user + system of the server process) is the firm figure; requests per second the visible one, as load and
server share the machine.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEIR = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "target/dist/weir"))
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def post(port, body, path="/graphql"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


class Weir:
    """A running server; `first_answer_s` is the time from exec to the first answer of `{__typename}`."""

    def __init__(self, *arguments, cwd=None, env=None, binary=WEIR):
        self.port = free_port()
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [str(binary), *arguments, "--listen", f"127.0.0.1:{self.port}"], cwd=cwd,
            env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                post(self.port, {"query": "{__typename}"})
                break
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"weir ended with {self.process.returncode}: {arguments}")
                time.sleep(0.0005)
        self.first_answer_s = time.perf_counter() - begun

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait()


def wrk(port, body, connections=64, seconds=4.0, path="/graphql", pid=None, database=None, counter=None, vary=None, core=None, warm_seconds=1.0):
    """One load of `body`, or of several in turns: requests per second, latencies, errors, and in microseconds per request the CPU
    of process `pid` and of the database, whose seconds `database` tells; per request also what `counter` counts. The header `vary` gets
    another value with each request; wrk stays on `core`."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        bodies = body if isinstance(body, list) else [body]
        file.write("\n".join(map(json.dumps, bodies)))
        file.flush()
        env = {**os.environ, "BODY": file.name, **({"VARY": vary} if vary else {})}
        pinned = ["taskset", "-c", core] if core else []
        command = ["-s", str(ROOT / "bench/sql/report.lua"), "--timeout", "10s", f"http://127.0.0.1:{port}{path}"]

        def load(length):
            line = [*pinned, "wrk", "-t1", f"-c{connections}", f"-d{length:.0f}s", *command]
            return subprocess.run(line, env=env, capture_output=True, check=True, text=True).stdout

        if warm_seconds:
            load(warm_seconds)
        gauges = [lambda: cpu_seconds(pid) if pid else 0, database or (lambda: 0), counter or (lambda: 0)]
        before = [gauge() for gauge in gauges]
        text = load(seconds)
        after = [gauge() for gauge in gauges]
    figures = dict(re.findall(r"(\w+)=([\d.]+)", next(line for line in text.splitlines() if line.startswith("RESULT"))))
    result = {name: float(value) for name, value in figures.items()}
    if result["errors"]:
        raise SystemExit(f"{int(result['errors'])} errors under load: {bodies[0]}\n{text}")
    requests = float(re.search(r"(\d+) requests in", text)[1])
    if not requests:
        raise SystemExit(f"not one answer under load: {bodies[0]}\n{text}")
    for name, begun, ended, gauge, scale in zip(["cpu_us", "db_us", "count"], before, after, [pid, database, counter], [1e6, 1e6, 1]):
        result[name] = (ended - begun) * scale / requests if gauge else None
    return result


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def publish(section, text):
    """Puts `text` between the markers of `section` in docs/performance.md."""
    file = ROOT / "docs/performance.md"
    begin, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    whole = file.read_text()
    head, rest = whole.split(begin, 1)
    tail = rest.split(end, 1)[1]
    file.write_text(f"{head}{begin}\n{text}{end}{tail}")
    print(text)
