"""record.py FOLDER NAME HEADER TARGET: hands requests on to TARGET and keeps each as a case of the golden tests: `FOLDER/NAME_1.graphql`.

HEADER is put before each case, such as `accent: hasura`. Prints its own address. Sockets are handed on and not kept. Ends with its
standard input."""

import contextlib
import http.client
import http.server
import json
import pathlib
import socket
import sys
import threading
from urllib.parse import urlsplit

folder, name, header, target = sys.argv[1:]
upstream = urlsplit(target)
kept = {}


def keep(body):
    request = json.loads(body)
    lines = [f"# {it}" for it in header.split(";") if it]
    if request.get("variables"):
        lines.append(f"# variables: {json.dumps(request['variables'], ensure_ascii=False)}")
    text = "\n".join([*lines, request["query"].strip(), ""])
    if text not in kept:
        kept[text] = pathlib.Path(folder) / f"{name}_{len(kept) + 1}.graphql"
        kept[text].write_text(text)


def pump(source, sink):
    # A side that ends takes the other way with it.
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    sink.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {it: value for it, value in self.headers.items() if it.lower() not in ("host", "content-length")}
        connection = http.client.HTTPConnection(upstream.hostname, upstream.port)
        connection.request("POST", self.path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status == 200:
            keep(body)
        self.send_response(answer.status)
        self.send_header("content-type", answer.getheader("content-type"))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        # A socket: from here on bytes go both ways.
        other = socket.create_connection((upstream.hostname, upstream.port))
        head = f"GET {self.path} HTTP/1.1\r\n" + "".join(f"{it}: {value}\r\n" for it, value in self.headers.items())
        other.sendall((head + "\r\n").encode())
        threading.Thread(target=pump, args=(other, self.connection), daemon=True).start()
        pump(self.connection, other)
        self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_port}{upstream.path}", flush=True)
sys.stdin.read()
