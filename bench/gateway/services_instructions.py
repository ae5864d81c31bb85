#!/usr/bin/env python3
"""Instructions per request of two builds of Weir over services: `bench/gateway/services_instructions.py OLD NEW [SHAPE]...`.

Each shape of bench/gateway/services.py has a server of its own under callgrind with one worker thread, and USERS users who ask all the time, each request with
other values and an `X-Request-Id` of its own. Callgrind counts what runs in the process and nothing of the kernel, so a busy machine changes little:
only how many answers one wake-up finds. Beside it stand the calls upstream per request. Builds take turns; a count is the median of PASSES.
Shapes are chosen by a part of their name. Valgrind has to be installed. With `KEEP=folder` the dumps stay, for callgrind_annotate.
"""

import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import services  # noqa: E402
from common import free_port, load, post, table  # noqa: E402

USERS = int(os.environ.get("BENCH_USERS", 16))
PASSES = int(os.environ.get("BENCH_PASSES", 3))
SECONDS = float(os.environ.get("BENCH_SECONDS", 5))
KEEP = os.environ.get("KEEP")


class Counted:
    """A server of one form under callgrind."""

    def __init__(self, binary, form, url, folder):
        self.port = free_port()
        self.folder = folder / f"{binary.name}-{form}-{self.port}"
        self.folder.mkdir()
        self.out = self.folder / "out"
        config = self.folder / "weir.yaml"
        services_file = services.write_sdl(form, url, self.folder)
        config.write_text(f"dev: false\nthreads: 1\nsources:\n  - name: services\n    url: {services_file}\n")
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={self.out}", str(binary), "serve", str(config),
             "--listen", f"127.0.0.1:{self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                post(self.port, {"query": "{__typename}"})
                return
            if self.process.poll() is not None:
                raise SystemExit(f"weir ended with {self.process.returncode}")
            time.sleep(0.1)

    def total(self):
        """Instructions since the last call."""
        before = set(self.folder.glob("out.*"))
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The dump is written when the server runs next, thread by thread.
        while True:
            post(self.port, {"query": "{__typename}"})
            dumps = set(self.folder.glob("out.*")) - before
            counts = [int(it) for dump in dumps for it in re.findall(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)]
            if counts:
                return sum(counts)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        if KEEP:
            shutil.copytree(self.folder, pathlib.Path(KEEP) / self.folder.name, dirs_exist_ok=True)


def count(server, mock, scenario, warm_seconds):
    """Instructions and calls per request."""
    headers = {} if scenario == services.STILL else {"x-request-id": "$(request)"}
    asked = services.asked("Weir", scenario)
    if warm_seconds:
        load(server.port, asked, connections=USERS, seconds=warm_seconds, headers=headers, warm_seconds=0)
    server.total()
    before = mock.calls()
    completed = load(server.port, asked, connections=USERS, seconds=SECONDS, headers=headers, warm_seconds=0)["completed"]
    return server.total() / completed, (mock.calls() - before) / completed


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:3]]
    if len(binaries) != 2:
        raise SystemExit(__doc__)
    parts = sys.argv[3:]
    rows = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        mock = services.Mock(folder)
        stack.callback(mock.stop)
        for scenario, (form, _, latency_ms, _) in services.SCENARIOS.items():
            if parts and not any(part in scenario for part in parts):
                continue
            mock.ask(f"set?latency={latency_ms}ms")
            servers = [Counted(binary, form, mock.url, folder) for binary in binaries]
            found = ([], [])
            for at in range(PASSES):
                for server, counts in zip(servers, found):
                    counts.append(count(server, mock, scenario, 0 if at else SECONDS))
            for server in servers:
                server.stop()
            old, new = ([statistics.median(column) for column in zip(*counts)] for counts in found)
            rows.append([scenario, f"{old[0]:,.0f}", f"{new[0]:,.0f}", f"{new[0] / old[0]:.3f} x", f"{old[1]:.2f}, {new[1]:.2f}"])
            print(rows[-1], flush=True)
    print(table(["instructions per request", "old", "new", "ratio", "calls, old and new"], rows))


if __name__ == "__main__":
    main()
