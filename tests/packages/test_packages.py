"""The packages of a release, installed in clean folders and used. The wheel is tested beside its package: crates/python/tests."""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from album_server import ROOT, serve_an_album


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    if ready := os.environ.get("WEIR_PACKAGES"):
        return Path(ready)
    folder = tmp_path_factory.mktemp("packages")
    binary = folder / "weir"
    # Lines of the source are two thirds of a debug binary.
    run("strip", "--strip-debug", "-o", str(binary), os.environ["WEIR_BIN"])
    variables = {"WEIR_BINARY": str(binary), "WEIR_PACKAGES": str(folder / "out"), "DEB_COMPRESSION": "none", "GZIP": "-1"}
    run(str(ROOT / "scripts/release.sh"), "binary", "deb", "npm", env={**os.environ, **variables})
    return folder / "out"


def find_one(folder, pattern):
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, (pattern, found)
    return found[0]


def commands(binary):
    told = run(str(binary), "--help")
    return re.findall(r"^  ([a-z]+) ", told[told.index("Commands:") : told.index("Options:")], re.M)


def test_the_archive_has_the_command_and_its_extras(packages, tmp_path):
    with tarfile.open(find_one(packages, "weir-*-unknown-linux-gnu.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = find_one(tmp_path, "weir-*")
    assert {it.name for it in folder.iterdir()} == {"weir", "LICENSE", "README.md", "CHANGELOG.md", "extras"}
    manual = (folder / "extras/weir.1").read_text()
    listed = commands(folder / "weir")
    assert "serve" in listed
    assert [it for it in listed if f".B {it}\n" not in manual] == []
    assert serve_an_album([str(folder / "weir")], tmp_path) == 0


def test_the_debian_package_serves_from_a_clean_root(packages, tmp_path):
    package = find_one(packages, "weir_*.deb")
    root = tmp_path / "root"
    run("dpkg-deb", "--extract", str(package), str(root))
    unit = (root / "usr/lib/systemd/system/weir.service").read_text()
    command = re.search(r"^ExecStart=/(\S+) serve", unit, re.M)[1]
    assert serve_an_album([str(root / command)], tmp_path) == 0
    assert (root / "usr/share/man/man1/weir.1.gz").stat().st_size > 0
    assert (root / "usr/share/bash-completion/completions/weir").stat().st_size > 0
    depends = run("dpkg-deb", "--field", str(package), "Depends")
    assert re.match(r"libc6 \(>= 2\.\d+\), libgcc-s1$", depends), depends


def test_the_unit_waits_for_the_drain_of_its_example():
    limits = yaml.safe_load((ROOT / "packaging/deb/weir.yaml").read_text())["limits"]
    stop = re.search(r"^TimeoutStopSec=(\d+)$", (ROOT / "packaging/deb/weir.service").read_text(), re.M)[1]
    assert int(stop) > limits["drain_delay_s"] + limits["drain_s"]


def install_from_tarballs(packages, folder):
    (folder / "package.json").write_text("{}")
    tarballs = [str(find_one(packages, pattern)) for pattern in ("weir-[0-9]*.tgz", "weir-linux-*-gnu-*.tgz")]
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", *tarballs, cwd=folder)


def test_the_packages_of_npm_serve_without_a_script_at_installation(packages, tmp_path):
    install_from_tarballs(packages, tmp_path)
    for manifest in tmp_path.glob("node_modules/weir*/package.json"):
        text = manifest.read_text()
        assert '"scripts"' not in text
        # A name that a package asks for would be fetched from whoever has it.
        assert "ependencies" not in text
    assert serve_an_album([str(tmp_path / "node_modules/.bin/weir")], tmp_path) == 0
    assert run("npx", "--no-install", "weir", "--version", cwd=tmp_path).startswith("weir ")


def test_the_command_of_npm_passes_on_codes_and_names_a_missing_package(packages, tmp_path):
    install_from_tarballs(packages, tmp_path)
    command = [str(tmp_path / "node_modules/.bin/weir")]
    assert subprocess.run([*command, "serve", "absent.db"], stderr=subprocess.PIPE, cwd=tmp_path).returncode == 1
    assert subprocess.run([*command, "serve", "--absent"], stderr=subprocess.PIPE, cwd=tmp_path).returncode == 2
    shutil.rmtree(next(tmp_path.glob("node_modules/weir-linux-*")))
    alone = subprocess.run(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert alone.returncode == 1
    assert re.search(r"the package weir-linux-\w+-\w+ is not installed", alone.stderr), alone.stderr
