#!/usr/bin/env python3
"""Instructions of one `by_pk` on SQLite while more and more is switched on: `bench/sql/switched_instructions.py OLD NEW`.

Each step has a server of its own under callgrind: nothing, a secret and a role, a token of RS256, its access log in JSON, traces of one request in
a hundred, traces of all. Every request has another key and names its operation. Each count stands beside that of the first step of its build.
Valgrind and openssl have to be installed.
"""

import base64
import contextlib
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import Weir, table  # noqa: E402
from instructions import Counted  # noqa: E402
from switched_on import QUERY, Collector  # noqa: E402

SECRET = {"x-hasura-admin-secret": "of the benchmark"}
ROLE = {"x-hasura-role": "listener", "x-hasura-least": "0"}
CLAIMS = {"sub": "1", "exp": 4_000_000_000, "https://hasura.io/jwt/claims": {
    "x-hasura-allowed-roles": ["listener"], "x-hasura-default-role": "listener", "x-hasura-least": "0"}}
LOG = "log: {format: json, access: true}\n"


def encode_url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_token(folder):
    """A token of RS256, and its public key in PEM."""
    key = folder / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    public = subprocess.run(["openssl", "rsa", "-in", key, "-pubout"], check=True, capture_output=True, text=True).stdout
    text = ".".join(encode_url(json.dumps(it).encode()) for it in ({"alg": "RS256", "typ": "JWT"}, CLAIMS))
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text.encode(), check=True, capture_output=True).stdout
    return f"{text}.{encode_url(signature)}", public


def steps(folder, collector_port):
    """Name, settings and headers of each step."""
    token, public = sign_token(folder)
    secret = f"admin_secret: {SECRET['x-hasura-admin-secret']}\n"
    jwt = secret + f"auth: {{jwt: [{{type: RS256, key: {json.dumps(public)}}}]}}\n"
    traces = f"tracing: {{endpoint: 'http://127.0.0.1:{collector_port}', ratio: %s}}\n"
    bearer = {"authorization": f"Bearer {token}"}
    return [
        ("plain", "", {}),
        ("role", "", ROLE),
        ("secret and role", secret, {**SECRET, **ROLE}),
        ("token and role", jwt, bearer),
        ("plain, log", LOG, {}),
        ("plain, traces of 1 %", traces % 0.01, {}),
        ("plain, all traces", traces % 1, {}),
        ("token and role, log, all traces", jwt + LOG + traces % 1, bearer),
    ]


def main():
    binaries = [pathlib.Path(it).resolve() for it in sys.argv[1:]]
    if len(binaries) != 2:
        raise SystemExit(__doc__)
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        stack.callback(collector.shutdown)
        Weir("demo", "--data", str(folder), binary=binaries[0]).stop()
        counts, rows = ({}, {}), []
        for label, settings, headers in steps(folder, collector.server_port):
            for binary, counted in zip(binaries, counts):
                server = Counted(binary, folder, folder / "chinook.db", settings, headers)
                counted[label] = server.per_request(QUERY["query"], headers, "id")
                server.stop()
            cells = [f"{it[label]:,.0f} ({it[label] / it['plain']:.2f} x)" for it in counts]
            rows.append([label, *cells, f"{(counts[1][label] / counts[0][label] - 1) * 100:+.1f} %"])
            print(rows[-1], flush=True)
        print(table(["switched on", "old, of its plain", "new, of its plain", "difference"], rows))


if __name__ == "__main__":
    main()
