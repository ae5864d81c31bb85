"""The wheel of a release: the package and the command, in an environment that has nothing else.

`WEIR_RELEASE_WHEEL` names a ready one; else it is made of the wheel under test and the binary `WEIR_BIN`.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from album_server import serve_an_album

ROOT = Path(__file__).resolve().parents[3]


def add_command(folder: Path) -> Path:
    wheel = next((ROOT / "target/wheels").glob("weir-*.whl"))
    binary = folder / "weir"
    subprocess.run(["strip", "--strip-debug", "-o", binary, os.environ["WEIR_BIN"]], check=True)
    script = ROOT / "scripts/wheel-with-binary.py"
    made = subprocess.run([sys.executable, script, wheel, binary, "2.34", folder], check=True, stdout=subprocess.PIPE, text=True)
    return Path(made.stdout.strip())


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The folder of the programs of a fresh environment with the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = os.environ.get("WEIR_RELEASE_WHEEL") or add_command(folder)
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv/bin"
    subprocess.run([programs / "pip", "install", "--quiet", "--no-index", wheel], check=True)
    return programs


@pytest.mark.parametrize("command", [["python", "-m", "weir"], ["weir"]], ids=["module", "script"])
def test_the_command_of_the_wheel_serves_a_database_until_a_signal(environment, tmp_path, command):
    assert serve_an_album([str(environment / command[0]), *command[1:]], tmp_path) == 0


def test_arguments_and_exit_codes_are_those_of_the_command(environment, tmp_path):
    python = [str(environment / "python"), "-m", "weir"]
    assert subprocess.run([*python, "--version"], stdout=subprocess.PIPE, text=True).stdout.startswith("weir ")
    refused = subprocess.run([*python, "serve", "--no such flag"], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--no such flag" in refused.stderr


def test_the_package_of_the_same_wheel_executes_a_schema(environment):
    program = """
import weir
schema = weir.Schema("type Query { hello: String! }")
schema.resolve("Query.hello")(lambda: "hello")
print(schema.execute("{ hello }").text)
"""
    ran = subprocess.run([str(environment / "python"), "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert ran.stdout == '{"data":{"hello":"hello"}}\n'


def test_a_wheel_without_the_command_says_so():
    alone = subprocess.run([sys.executable, "-m", "weir", "serve"], stderr=subprocess.PIPE, text=True)
    assert alone.returncode == 1
    assert "scripts/release.sh wheel" in alone.stderr
