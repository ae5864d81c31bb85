"""Test binaries of a changed source tree, and their runs: what the scripts behind `make mutants` share."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
RUN_SECONDS_MAX = 1800


def fail(message):
    sys.exit(f"error: {message}")


def build(edited, chosen, into):
    """The test binaries that Cargo builds for the arguments `chosen` while the files of `edited` have other texts, copied into a folder, by
    name. The files are as they were afterwards, with a new time, so that Cargo builds them anew."""
    before = {path: path.read_text() for path in edited}
    try:
        for path, text in edited.items():
            path.write_text(text)
        made = subprocess.run(
            [CARGO, "test", *chosen, "--no-run", "--message-format=json-render-diagnostics"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        for path, text in before.items():
            path.write_text(text)
    if made.returncode != 0:
        fail("the changed code does not build")
    binaries = {}
    for message in map(json.loads, filter(lambda it: it.startswith("{"), made.stdout.splitlines())):
        if message.get("executable") and message["profile"]["test"]:
            name = message["target"]["name"]
            package = Path(message["manifest_path"]).parent
            binaries[name] = (shutil.copy(message["executable"], Path(into) / name), package)
    return binaries


def run(binary, name, arguments, environment):
    """The tests of the binary `name` that failed."""
    path, package = binary
    try:
        done = subprocess.run(
            [path, *arguments],
            cwd=package,
            env={**os.environ, "RUST_BACKTRACE": "0", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=RUN_SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        fail(f"tests of {name} take more than {RUN_SECONDS_MAX} s: {' '.join(arguments)}")
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", done.stdout, re.MULTILINE)
    if not failed and done.returncode != 0:
        fail(f"{name} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return failed
