"""What helm makes of the chart; run by `make lint`, as it needs helm."""

import os
import re
import subprocess

import pytest
import yaml
from album_server import ROOT, make_database

CHART = ROOT / "examples/deploy/helm/weir"


def render(*arguments, check=True):
    command = ["helm", "template", "shop", str(CHART), "--kube-version", "1.31.0", *arguments]
    return subprocess.run(command, check=check, capture_output=True, text=True)


def objects(*arguments):
    found = {}
    for it in yaml.safe_load_all(render(*arguments).stdout):
        if it:
            found[it["kind"], it["metadata"]["name"]] = it
    return found


def values(name):
    return ["--values", str(CHART / f"ci/{name}-values.yaml")]


def test_by_default_two_pods_serve_and_one_at_a_time_may_go():
    found = objects()
    assert sorted(kind for kind, _ in found) == ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service", "Service", "ServiceAccount"]
    assert found["Deployment", "shop-weir"]["spec"]["replicas"] == 2


@pytest.mark.parametrize("arguments", [[], values("file"), values("public")], ids=["default", "file", "public"])
def test_the_pod_is_locked_down_and_ends_after_its_drain(arguments):
    found = objects(*arguments)
    pod = found["Deployment", "shop-weir"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }
    settings = yaml.safe_load(found["ConfigMap", "shop-weir"]["data"]["weir.yaml"])
    limits = settings["limits"]
    assert pod["terminationGracePeriodSeconds"] > limits["drain_delay_s"] + limits["drain_s"]
    probe = container["readinessProbe"]
    assert limits["drain_delay_s"] >= probe["periodSeconds"] * probe["failureThreshold"]
    ports = {it["name"]: it["containerPort"] for it in container["ports"]}
    assert settings["listen"].endswith(f":{ports['http']}")
    assert settings["admin_listen"].endswith(f":{ports['admin']}")
    mounted = {it["name"] for it in container["volumeMounts"]}
    assert mounted == {it["name"] for it in pod["volumes"]}


@pytest.mark.parametrize("arguments", [[], values("file"), values("public")], ids=["default", "file", "public"])
def test_weir_takes_the_rendered_configuration(arguments, tmp_path):
    text = objects(*arguments)["ConfigMap", "shop-weir"]["data"]["weir.yaml"]
    database = make_database(tmp_path)
    # Nothing of a cluster is here: neither its volume, nor its Redis, nor its keys of tokens.
    settings = yaml.safe_load(text.replace("sqlite:/data/shop.db", f"sqlite:{database}"))
    settings.get("cache", {}).pop("redis", None)
    settings.pop("auth", None)
    path = tmp_path / "weir.yaml"
    path.write_text(yaml.safe_dump(settings))
    variables = {"WEIR_ADMIN_SECRET": "hush", "DATABASE_URL": f"sqlite:{database}"}
    subprocess.run([os.environ["WEIR_BIN"], "check", str(path)], env={**os.environ, **variables}, check=True)


def test_all_that_is_off_by_default_can_be_switched_on():
    found = objects(*values("public"))
    kinds = {kind for kind, _ in found}
    assert {"Ingress", "HorizontalPodAutoscaler", "ServiceMonitor", "PodDisruptionBudget"} <= kinds
    deployment = found["Deployment", "shop-weir"]["spec"]
    assert "replicas" not in deployment
    monitor = found["ServiceMonitor", "shop-weir"]["spec"]
    wanted = monitor["selector"]["matchLabels"].items()
    matching = [it for (kind, _), it in found.items() if kind == "Service" and wanted <= it["metadata"]["labels"].items()]
    assert [it["metadata"]["name"] for it in matching] == ["shop-weir-admin"]
    assert monitor["endpoints"][0]["port"] in {it["name"] for it in matching[0]["spec"]["ports"]}
    labels = deployment["template"]["metadata"]["labels"].items()
    for (kind, _), it in found.items():
        if kind == "Service":
            assert it["spec"]["selector"].items() <= labels
    assert yaml.safe_load(found["ConfigMap", "shop-weir"]["data"]["weir.yaml"])["limits"]["connections_max"] == 50000


def test_a_file_has_one_process():
    found = objects(*values("file"))
    assert found["Deployment", "shop-weir"]["spec"]["strategy"] == {"type": "Recreate"}
    assert ("PersistentVolumeClaim", "shop-weir") in found
    assert "PodDisruptionBudget" not in {kind for kind, _ in found}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "persistence.enabled=true"], "a file belongs to one process"),
        (["--set", "secret="], "the name of an existing Secret"),
        (["--set", "ingress.enabled=true"], "at least one name"),
        (["--set", "serviceMonitor.enabled=true"], "a token of the role admin"),
    ],
)
def test_values_that_cannot_work_are_refused(arguments, message):
    refused = render(*arguments, check=False)
    assert refused.returncode != 0
    assert re.search(message, refused.stderr), refused.stderr
