"""The examples, served on loopback and asked over HTTP."""

import json
import pathlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples/python"
QUERY = "query ($first: Int) { products(first: $first) { name reviews { stars } } }"


def served(command):
    """Serves on a port that the kernel chose, on a socket that the server inherits; gives the process and the port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.set_inheritable(True)
    command = [part.replace("FD", str(listener.fileno())) for part in command]
    process = subprocess.Popen(command, cwd=EXAMPLES, pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
    port = listener.getsockname()[1]
    listener.close()
    return process, port


def post(port, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", json.dumps(body).encode(), {"content-type": "application/json", "x-user": "7"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers["content-type"], json.load(answer)


FLASK = "import os, flask_app; from werkzeug.serving import make_server; make_server('127.0.0.1', 0, flask_app.app, fd=FD).serve_forever()"


@pytest.mark.parametrize("command", [
    [sys.executable, "-c", FLASK], [sys.executable, "-m", "uvicorn", "fastapi_app:app", "--fd", "FD", "--log-level", "error"],
], ids=["flask", "fastapi"])
def test_an_example_answers_over_http(command):
    process, port = served(command)
    try:
        kind, answer = post(port, {"query": QUERY, "variables": {"first": 1}})
        assert kind.startswith("application/graphql-response+json")
        assert answer == {"data": {"products": [{"name": "Lamp", "reviews": [{"stars": 5}, {"stars": 3}]}]}}
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(port, {"query": "{ nothing }"})
        assert refused.value.code == 400
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("name", ["flask_app.py", "fastapi_app.py"])
def test_an_example_has_at_most_thirty_lines(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 30
