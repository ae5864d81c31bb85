#!/usr/bin/env python3
"""The load generator against wrk, and its own ceiling.

A server in C answers a constant (nginx, `return 200`), pinned to one core; the generators take turns on the other, with the same
connections and no pipelining; medians. `weir load run --closed` must be within 5 % of wrk where the server is the limit,
or reach 100,000 requests a second where the generator is.
"""

import json
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
from common import LOAD_CORE, PASSES, SECONDS, SERVER_CORE, WEIR, cpu_seconds, free_port, publish, spread, table, turns  # noqa: E402

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
    line = ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS:.0f}s", url]
    text = subprocess.run(line, capture_output=True, check=True, text=True).stdout
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def by_weir(url):
    base, path = url.rsplit("/", 1)
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        line = ["taskset", "-c", LOAD_CORE, str(WEIR), "load", "run", base, "--get", f"/{path}", "--closed", str(CONNECTIONS),
                "--duration", f"{SECONDS:.0f}s", "--out", out.name]
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
            for generator in turns(PASSES, [by_wrk, by_weir]):
                before, begun = cpu_seconds(pid), time.perf_counter()
                found[generator].append(generator(url))
                busy[generator].append((cpu_seconds(pid) - before) / (time.perf_counter() - begun))
            wrk, weir = (statistics.median(found[it]) for it in [by_wrk, by_weir])
            rows.append([name, f"{wrk:,.0f}", f"{weir:,.0f}", f"{weir / wrk:.3f}", spread(found[by_wrk]), spread(found[by_weir]),
                         f"{statistics.median(busy[by_wrk]):.0%}", f"{statistics.median(busy[by_weir]):.0%}"])
        nginx.stop()
    version = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout.split()[1]
    heads = ["answer", "wrk req/s", "weir load req/s", "ratio", "spread of wrk", "of weir load", "server's core under wrk", "under weir load"]
    publish("load", table(heads, rows), versions={"wrk": version})


main()
