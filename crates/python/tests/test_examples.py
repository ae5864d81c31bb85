"""The examples, served on loopback and asked over HTTP."""

import json
import pathlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from websockets.sync.client import connect

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples/python"
QUERY = "query ($first: Int) { products(first: $first) { name reviews { stars } } }"


def served(command, folder=EXAMPLES):
    """Serves on a port that the kernel chose, on a socket that the server inherits; gives the process and the port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.set_inheritable(True)
    command = [part.replace("FD", str(listener.fileno())) for part in command]
    process = subprocess.Popen(command, cwd=folder, pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
    port = listener.getsockname()[1]
    listener.close()
    return process, port


def ask(port, path, body, headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers["content-type"], answer.read().decode()


def post(port, body, user="7"):
    headers = {"content-type": "application/json", "x-user": user}
    kind, text = ask(port, "/graphql", json.dumps(body).encode(), headers)
    return kind, json.loads(text)


def codes(answer):
    return [it["extensions"] for it in answer[1].get("errors", [])]


def events(port, query):
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    return ask(port, "/graphql", json.dumps({"query": query}).encode(), headers)[1]


def messages(port, subprotocol, query):
    """The messages that answer an operation over a WebSocket."""
    begin = {"graphql-transport-ws": "subscribe", "graphql-ws": "start"}[subprotocol]
    with connect(f"ws://127.0.0.1:{port}/graphql", subprotocols=[subprotocol]) as socket:
        socket.send(json.dumps({"type": "connection_init", "payload": {"user": "staff"}}))
        assert json.loads(socket.recv()) == {"type": "connection_ack"}
        socket.send(json.dumps({"type": begin, "id": "1", "payload": {"query": query}}))
        found = []
        while not found or found[-1]["type"] != "complete":
            found.append(json.loads(socket.recv(timeout=60)))
        return [it.get("payload") for it in found]


def get(port, headers, path="/graphql"):
    return ask(port, path, None, headers)[1]


FLASK = "import os, flask_app; from werkzeug.serving import make_server; make_server('127.0.0.1', 0, flask_app.app, fd=FD).serve_forever()"


@pytest.mark.parametrize("command", [
    [sys.executable, "-c", FLASK], [sys.executable, "-m", "uvicorn", "fastapi_app:app", "--fd", "FD", "--log-level", "error"],
], ids=["flask", "fastapi"])
def test_an_example_answers_over_http(command):
    process, port = served(command)
    try:
        kind, answer = post(port, {"query": QUERY, "variables": {"first": 1}})
        assert kind == "application/json; charset=utf-8"
        assert answer == {"data": {"products": [{"name": "Lamp", "reviews": [{"stars": 5}, {"stars": 3}]}]}}
        for broken in ({}, [], {"query": "{ a }", "variables": 7}):
            with pytest.raises(urllib.error.HTTPError) as refused:
                post(port, broken)
            assert refused.value.code == 400
        cost = {"query": "{ products { cost } }"}
        assert [it["code"] for it in codes(post(port, cost))] == ["ACCESS_DENIED"] * 2
        assert codes(post(port, cost, "staff")) == []
        authors = post(port, {"query": "{ products { reviews { author } } }"})[1]["data"]["products"]
        assert authors[0] == {"reviews": [{"author": "Ada"}, {"author": "Bob"}]}
        assert '{"data":{"stars":5}}' in events(port, "subscription { stars }")
        assert "<title>GraphiQL</title>" in get(port, {"accept": "text/html"})
        assert get(port, {}, "/health") == '{"ok":true}\n' or get(port, {}, "/health") == '{"ok":true}'
        if "uvicorn" in command:
            for subprotocol in ("graphql-transport-ws", "graphql-ws"):
                costs = messages(port, subprotocol, "{ products { cost } }")
                assert costs == [{"data": {"products": [{"cost": 7}, {"cost": 30}]}}, None]
                stars = messages(port, subprotocol, "subscription { stars }")
                assert stars[0] == {"data": {"stars": 5}} and len(stars) > 2
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("name", ["flask_app.py", "fastapi_app.py"])
def test_an_example_has_at_most_thirty_lines(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 30
