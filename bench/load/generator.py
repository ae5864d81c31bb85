#!/usr/bin/env python3
"""The load generator against wrk, and its own ceiling.

A server in C answers a constant (nginx, `return 200`), pinned to one core; the generators take turns on the other, with the same
connections and no pipelining. Three passes, medians. `weir load run --closed` must be within 5 % of wrk where the server is the limit,
or reach 100,000 requests a second where the generator is.

WEIR_BIN names the program; BENCH_SECONDS and BENCH_PASSES make it shorter.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import WEIR, cpu_seconds, free_port, table  # noqa: E402

PASSES = int(os.environ.get("BENCH_PASSES", 3))
SECONDS = int(os.environ.get("BENCH_SECONDS", 4))
SERVER_CORE, LOAD_CORE = "0", "1"
CONNECTIONS = 64

NGINX = """daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; location /small {{ return 200 '{{"data":{{"a":1}}}}'; }}
            location /large {{ root {folder}; }} }} }}
"""


class Nginx:
    def __init__(self, folder):
        self.port = free_port()
        folder = pathlib.Path(folder)
        (folder / "large").write_text(json.dumps({"data": "x" * 20_000}))
        file = folder / "nginx.conf"
        file.write_text(NGINX.format(folder=folder, port=self.port))
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, "nginx", "-c", str(file)], stderr=subprocess.DEVNULL)
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/small").read()
                break
            except (OSError, urllib.error.URLError):
                time.sleep(0.01)

    def worker(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def by_wrk(url):
    line = ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]
    text = subprocess.run(line, capture_output=True, check=True, text=True).stdout
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def by_weir(url):
    base, path = url.rsplit("/", 1)
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        line = ["taskset", "-c", LOAD_CORE, str(WEIR), "load", "run", base, "--get", f"/{path}", "--closed", str(CONNECTIONS),
                "--duration", f"{SECONDS}s", "--out", out.name]
        subprocess.run(line, capture_output=True, check=True)
        result = json.load(open(out.name))
    return result["total"]["completed"] / result["setup"]["duration_s"]


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        nginx = Nginx(folder)
        pid = nginx.worker()
        for name in ["small", "large"]:
            url = f"http://127.0.0.1:{nginx.port}/{name}"
            found = {by_wrk: [], by_weir: []}
            busy = {by_wrk: [], by_weir: []}
            for at in range(PASSES):
                for generator in ([by_wrk, by_weir] if at % 2 == 0 else [by_weir, by_wrk]):
                    before, begun = cpu_seconds(pid), time.perf_counter()
                    found[generator].append(generator(url))
                    busy[generator].append((cpu_seconds(pid) - before) / (time.perf_counter() - begun))
            wrk, weir = (statistics.median(found[it]) for it in [by_wrk, by_weir])
            spread = (max(found[by_weir]) - min(found[by_weir])) / weir
            rows.append([name, f"{wrk:,.0f}", f"{weir:,.0f}", f"{weir / wrk:.3f}", f"{spread:.0%}",
                         f"{statistics.median(busy[by_wrk]):.0%}", f"{statistics.median(busy[by_weir]):.0%}"])
        nginx.stop()
    print(table(["answer", "wrk req/s", "weir load req/s", "ratio", "spread", "server's core under wrk", "under weir load"], rows))


main()
