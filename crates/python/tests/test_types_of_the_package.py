"""The package's own types, as a type checker sees them."""

import pathlib
import subprocess
import sys

import weir

CRATE = pathlib.Path(__file__).resolve().parents[1]


def mypy(*arguments):
    return subprocess.run([sys.executable, "-m", "mypy", *arguments], cwd=CRATE, capture_output=True, text=True)


def test_the_package_and_its_uses_are_typed():
    checked = mypy()
    assert checked.returncode == 0, checked.stdout


def test_a_wrong_use_is_seen(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import weir\nweir.Schema(7)\nbody: str = weir.Schema('').execute('{ a }').body\n")
    checked = mypy("--config-file", "pyproject.toml", str(wrong))
    assert checked.stdout.count("error:") == 2, checked.stdout


def test_the_installed_package_says_that_it_is_typed():
    assert (pathlib.Path(weir.__file__).parent / "py.typed").exists()


def test_the_stubs_name_what_the_module_has():
    from weir import _weir

    for name in ("Core", "Feed", "Info", "Reply", "Response", "Run"):
        stub = (pathlib.Path(weir.__file__).parent / "_weir.pyi").read_text().split(f"class {name}:")[1].split("\nclass ")[0]
        members = {line.split("def ")[1].split("(")[0] for line in stub.splitlines() if "def " in line} - {"__init__"}
        assert members == {it for it in vars(getattr(_weir, name)) if not it.startswith("__") or it in members}
