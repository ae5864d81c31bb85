"""A server of a package: started by a command, asked, ended by a signal."""

import json
import re
import signal
import sqlite3
import subprocess
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make_database(folder: Path) -> Path:
    path = folder / "chinook.db"
    with sqlite3.connect(path) as database:
        database.executescript((ROOT / "examples/chinook/chinook.sql").read_text())
    return path


def serve_an_album(command: list[str], folder: Path) -> int:
    """Serves Chinook by the command, asks for an album, sends SIGTERM: the exit code."""
    make_database(folder)
    server = subprocess.Popen(
        [*command, "serve", "chinook.db", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        seen = ""
        address = None
        for line in server.stdout:
            seen += line
            if address := re.search(r"http://127\.0\.0\.1:\d+/graphql", line):
                break
        assert address, seen
        query = json.dumps({"query": "{ Album_by_pk(AlbumId: 1) { Title } }"}).encode()
        request = urllib.request.Request(address[0], query, {"content-type": "application/json"})
        answer = json.load(urllib.request.urlopen(request, timeout=60))
        assert answer == {"data": {"Album_by_pk": {"Title": "For Those About To Rock We Salute You"}}}
        server.send_signal(signal.SIGTERM)
        # The pipe ends with the last process that holds it, so a server that was left behind would be seen.
        rest, _ = server.communicate(timeout=60)
        assert "draining" in rest
        return server.returncode
    finally:
        server.kill()
