"""Files for deployment name what exists: folders, scripts, values, versions, settings that Weir takes."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from album_server import ROOT, make_database

DEPLOY = ROOT / "examples/deploy"
COMPOSE = DEPLOY / "compose"
CHART = DEPLOY / "helm/weir"
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read_yaml(path: Path):
    return yaml.safe_load(path.read_text())


def test_compose_names_what_exists():
    compose = read_yaml(COMPOSE / "compose.yaml")
    services = compose["services"]
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (COMPOSE / source).is_file() if source.startswith(".") else source in compose["volumes"], volume
    weir = services["weir"]
    assert weir["image"] == f"weir:{VERSION}"
    assert (COMPOSE / weir["build"]["context"] / "Dockerfile").resolve() == ROOT / "Dockerfile"
    needed = set(re.findall(r"\$\{(\w+)", (COMPOSE / "compose.yaml").read_text()))
    assert needed == set(re.findall(r"^(\w+)=", (COMPOSE / ".env.example").read_text(), re.M))


def test_compose_waits_for_the_drain():
    limits = read_yaml(COMPOSE / "weir.yaml")["limits"]
    grace = int(read_yaml(COMPOSE / "compose.yaml")["services"]["weir"]["stop_grace_period"].removesuffix("s"))
    assert grace > limits["drain_s"] + limits.get("drain_delay_s", 0)


@pytest.mark.parametrize("path", [COMPOSE / "weir.yaml", ROOT / "packaging/deb/weir.yaml"], ids=["compose", "deb"])
def test_weir_takes_the_configuration(path, tmp_path):
    settings = tmp_path / "weir.yaml"
    settings.write_text(path.read_text())
    variables = {"WEIR_ADMIN_SECRET": "hush", "DATABASE_URL": f"sqlite:{make_database(tmp_path)}"}
    weir = os.environ.get("WEIR_BIN")
    if weir is None:
        weir = tmp_path / "weir"
        archive = next(Path(os.environ["WEIR_PACKAGES"]).glob("weir-*-unknown-linux-gnu.tar.gz"))
        subprocess.run(["tar", "-xzf", archive, "-C", tmp_path, "--strip-components=1"], check=True)
    subprocess.run([str(weir), "check", str(settings)], env={**os.environ, **variables}, check=True)


def test_the_chart_has_the_version_of_weir():
    assert read_yaml(CHART / "Chart.yaml")["appVersion"] == VERSION


def test_templates_and_values_of_the_chart_name_the_same():
    values = read_yaml(CHART / "values.yaml")
    templates = "\n".join(it.read_text() for it in (CHART / "templates").iterdir())
    named = set(re.findall(r"\.Values\.([A-Za-z.]+)", templates))
    # Keys of `config` are Weir's.
    for path in named - {"config.limits"}:
        value = values
        for key in path.rstrip(".").split("."):
            assert key in value, path
            value = value[key]
    assert set(values) == {it.split(".")[0] for it in named}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda it: it.stem)
def test_a_workflow_names_what_exists_and_holds_few_rights(path):
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "timeout-minutes" in job, name
        for step in job["steps"]:
            # A value that GitHub pastes into a script is code; variables of the environment are not.
            assert "${{" not in step.get("run", ""), step
            for script in re.findall(r"scripts/[\w-]+\.sh", step.get("run", "")):
                assert os.access(ROOT / script, os.X_OK), script
            if uses := step.get("uses"):
                assert re.fullmatch(r"actions/[\w-]+@v\d+", uses), uses


def test_the_workflow_builds_for_each_platform_on_its_machine():
    build = read_yaml(ROOT / ".github/workflows/release.yml")["jobs"]["build"]
    built = set()
    for row in build["strategy"]["matrix"]["include"]:
        cpu, libc = re.fullmatch(r"(\w+)-unknown-linux-(\w+)", row["target"]).groups()
        built.add(f"linux-{ {'x86_64': 'x64', 'aarch64': 'arm64'}[cpu]}-{libc}")
        assert "npm" in row["parts"].split()
        assert row["runner"].endswith("-arm") == (cpu == "aarch64")
    assert built == {f"linux-{cpu}-{libc}" for cpu in ("x64", "arm64") for libc in ("gnu", "musl")}
    # A tag of another version ends the run before anything is built or pushed.
    assert "Cargo.toml" in build["steps"][1]["run"]


def test_alerts_name_metrics_of_the_manual():
    """A test of Rust holds the manual to what `/metrics` tells."""
    manual = "".join((ROOT / "docs" / it).read_text() for it in ["observability.md", "caching.md", "live.md", "live/postgresql.md"])
    named = re.findall(r"\bweir_[a-z][a-z_]+", (ROOT / "docs/operations.md").read_text())
    metrics = {it.removesuffix("_bucket") for it in named}
    assert len(metrics) > 8
    assert {it for it in metrics if f"`{it}`" not in manual} == set()
