"""A private PostgreSQL for the measuring programs."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import TICKS, cpu_seconds, free_port  # noqa: E402


class Cluster:
    """A PostgreSQL of our own, durable, on loopback, gone with this program. As root it runs as user `postgres`, whom the
    server wants."""

    def __init__(self, **more):
        """`more`: settings of the server."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-bench-"))
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda it: int(it.parts[-3]))
        self.bin = found[-1].parent if found else pathlib.Path(shutil.which("initdb")).parent
        self.port, data = free_port(), self.folder / "data"
        self.run("initdb", "--no-sync", "--no-instructions", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "-D", data)
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder, "shared_buffers": "512MB",
                    "jit": "off", "fsync": "on", "max_connections": 200, "timezone": "UTC", **more}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen([self.bin / "postgres", "-D", data, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        cwd=self.folder, **self.identity())
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode:
            if self.process.poll() is not None:
                raise SystemExit("PostgreSQL does not start")
            time.sleep(0.05)
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def identity(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}

    def run(self, program, *arguments, **more):
        command = [self.bin / program, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, **self.identity(), **more)
        if done.returncode:
            raise SystemExit(f"{program}: {done.stderr}")
        return done.stdout

    def psql(self, sql):
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url, input=sql)

    def cpu_seconds(self):
        """Of all its processes: those that live, and those that the first one has outlived."""
        first = self.process.pid
        stat = pathlib.Path(f"/proc/{first}/stat").read_text().rsplit(")", 1)[1].split()
        seconds = sum(map(int, stat[11:15])) / TICKS
        for child in pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split():
            # One that ended meanwhile is among the outlived next time.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                seconds += cpu_seconds(child)
        return seconds

    def pgbench(self, connections, script, seconds, port=None):
        """`port`: that of a proxy of ours."""
        url = self.url.replace(str(self.port), str(port or self.port))
        (self.folder / "script.sql").write_text(script)
        for log in self.folder.glob("pgbench_log*"):
            log.unlink()
        before = self.cpu_seconds()
        text = self.run("pgbench", "-n", "-M", "prepared", "-c", connections, "-j", 2, "-T", f"{seconds:.0f}", "-f", self.folder / "script.sql",
                        "-l", "--sampling-rate=0.05", url)
        after = self.cpu_seconds()
        done = int(re.search(r"actually processed: (\d+)", text)[1])
        lines = [line for log in self.folder.glob("pgbench_log*") for line in log.read_text().splitlines()]
        took = statistics.quantiles((int(line.split()[2]) / 1e3 for line in lines), n=20)
        return {"req_s": float(re.search(r"tps = ([\d.]+)", text)[1]), "cpu_us": None, "db_us": (after - before) * 1e6 / done,
                "p50_ms": took[9], "p95_ms": took[18]}

    def stop(self):
        """At once, whoever is connected."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.folder)
