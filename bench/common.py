"""Shared by the measuring programs: starting servers, loading them with `weir load`, reading CPU and memory of a process, publishing.

A server that is measured has core 0 for itself, the load has core 1; a database has both. CPU per request (user + system of the server
process) is the firm figure, requests per second the visible one. BENCH_SECONDS and BENCH_PASSES make all of it shorter.
"""

import json
import os
import pathlib
import platform
import re
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEIR = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "target/dist/weir"))
TICKS = os.sysconf("SC_CLK_TCK")
SERVER_CORE, LOAD_CORE = "0", "1"
PASSES = int(os.environ.get("BENCH_PASSES", 3))
SECONDS = float(os.environ.get("BENCH_SECONDS", 4))
# A figure whose passes differ by more is called unsteady.
SPREAD_MOST = 0.15
LOAD_BEFORE = os.getloadavg()[0]


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
    """A running server on the servers' core; `first_answer_s` is the time from exec to the first answer of `{__typename}`."""

    def __init__(self, *arguments, cwd=None, env=None, binary=WEIR, core=SERVER_CORE):
        self.port = free_port()
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [*(["taskset", "-c", core] if core else []), str(binary), *arguments, "--listen", f"127.0.0.1:{self.port}"], cwd=cwd,
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


class Failed(Exception):
    """A load that a server did not bear, in words."""


def load(port, asked, connections=64, seconds=4.0, path="/graphql", pid=None, database=None, counter=None, headers=None, core=LOAD_CORE,
         warm_seconds=1.0):
    """One closed loop of `weir load` with `asked`: a query, its `variables`, and the `values` that these are made of.

    Requests per second, latencies, and in microseconds per request the CPU of process `pid` and of the database, whose seconds `database` tells;
    per request also what `counter` counts. In variables and headers `$(request)` is the number of the request. `busy` is the share of its time in which `pid` had a core. The load stays on `core`."""
    operation = {key: value for key, value in asked.items() if key in ("query", "variables")}
    plan = {"target": f"http://127.0.0.1:{port}{path}", "timeout": "10s", "errors_max": "0%", "headers": headers or {},
            "values": {"request": {"sequence": 1}, **asked.get("values", {})}, "operations": {"asked": operation}}
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder, "load.yaml"), pathlib.Path(folder, "out.json")
        file.write_text(json.dumps(plan))

        def run(length):
            line = ["taskset", "-c", core, WEIR, "load", "run", file, "--closed", connections, "--duration", f"{length * 1000:.0f}ms", "--out", out]
            done = subprocess.run([str(it) for it in line], capture_output=True, text=True)
            if done.returncode:
                raise Failed(f"{asked['query'][:200]}: {(done.stdout + done.stderr)[-1500:]}")
            return json.loads(out.read_text())

        if warm_seconds:
            run(warm_seconds)
        gauges = [lambda: cpu_seconds(pid) if pid else 0, database or (lambda: 0), counter or (lambda: 0)]
        before = [gauge() for gauge in gauges]
        result = run(seconds)
        after = [gauge() for gauge in gauges]
    total, length = result["total"], result["setup"]["duration_s"]
    requests = total["completed"]
    if not requests:
        raise Failed(f"not one answer to {asked['query'][:200]}")
    found = {"completed": requests, "req_s": requests / length, "p50_ms": total["latency"]["p50_us"] / 1e3, "p95_ms": total["latency"]["p95_us"] / 1e3,
             "p99_ms": total["latency"]["p99_us"] / 1e3, "bytes": total["bytes_received"] / requests,
             "busy": (after[0] - before[0]) / length if pid else None}
    for name, begun, ended, gauge, scale in zip(["cpu_us", "db_us", "count"], before, after, [pid, database, counter], [1e6, 1e6, 1]):
        found[name] = (ended - begun) * scale / requests if gauge else None
    return found


def spread(values):
    """The distance of the extremes over the median, as a cell: above 15 % it says that the figure is unsteady."""
    share = (max(values) - min(values)) / statistics.median(values)
    return f"{share:.0%}" + (" (unsteady)" if share > SPREAD_MOST else "")


def turns(passes, contenders):
    """The contenders of each pass, in alternating order."""
    for at in range(passes):
        yield from contenders if at % 2 == 0 else reversed(contenders)


def machine():
    """The machine in one line."""
    model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    kernel = platform.release().split("-")[0]
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / 2**20
    return f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}, {memory:.0f} GiB, Linux {kernel}"


def built():
    """Weir's version, with the commit that is checked out."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    version = subprocess.run([WEIR, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{version} ({commit})"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def page_of(section):
    """The page with the markers of `section`: docs/performance.md or one in docs/performance."""
    pages = [ROOT / "docs/performance.md", *sorted((ROOT / "docs/performance").glob("*.md"))]
    found = [page for page in pages if f"<!-- {section} -->" in page.read_text()]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} pages of docs/performance have the markers of `{section}`")
    return found[0]


def publish(section, text, runs=None, versions=None):
    """Puts `text` between the markers of `section` in its page of docs/performance, and it, with `runs` and where they were made,
    into bench/results/SECTION.json and .md. `versions` are those of the others."""
    others = ", ".join(f"{name} {version}" for name, version in (versions or {}).items())
    made = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "weir": built(), "others": versions or {}, "load_before": LOAD_BEFORE}
    line = f"Measured on {made['date']}: {made['weir']}{', ' + others if others else ''}; {made['machine']}; load of the machine before it {LOAD_BEFORE:.1f}."
    text = f"{text}\n{line}\n"
    results = ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    (results / f"{section}.md").write_text(text)
    (results / f"{section}.json").write_text(json.dumps({"section": section, **made, "runs": runs or []}, indent=1) + "\n")
    file = page_of(section)
    begin, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    whole = file.read_text()
    head, rest = whole.split(begin, 1)
    tail = rest.split(end, 1)[1]
    file.write_text(f"{head}{begin}\n{text}{end}{tail}")
    print(text)


def listed(runs):
    """Runs by contender and operation, as rows for the JSON of a suite."""
    return [{"who": who, "operation": name, "passes": found} for (who, name), found in runs.items() if found]
