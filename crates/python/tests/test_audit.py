"""The audits of the npm package graphql-http against apps behind real servers. `scripts/test-python.sh` installs it."""

import pathlib
import shutil
import subprocess
import sys

import pytest
from test_examples import served

TESTS = pathlib.Path(__file__).resolve().parent
AUDIT = TESTS.parents[2] / "tests/audit/audit.mjs"

WSGI = "from audited import wsgi; from werkzeug.serving import make_server; make_server('127.0.0.1', 0, wsgi, threaded=True, fd=FD).serve_forever()"
UVICORN = [sys.executable, "-m", "uvicorn", "audited:asgi", "--fd", "FD", "--log-level", "error"]


@pytest.mark.parametrize("command", [[sys.executable, "-c", WSGI], UVICORN], ids=["wsgi", "asgi"])
def test_an_app_passes_all_audits(command):
    assert shutil.which("node") and (AUDIT.parent / "node_modules").exists(), "scripts/test-python.sh installs the audits"
    process, port = served(command, TESTS)
    try:
        url = f"http://127.0.0.1:{port}/graphql"
        audit = subprocess.run(["node", AUDIT, url], capture_output=True, text=True, timeout=120)
        assert audit.stdout.strip() == "audit: 61 passed, 0 failed", audit.stdout + audit.stderr
    finally:
        process.terminate()
        process.wait()
