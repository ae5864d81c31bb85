#!/usr/bin/env bash
# ariadne-codegen/run.sh SCHEMAS TABLES NATIVE RELAY: generates clients with ariadne-codegen and asks at the three addresses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e "$KIT_HOME/ready" ]; then
  python3 -m venv "$KIT_HOME/env"
  "$KIT_HOME/env/bin/pip" install --quiet 'ariadne-codegen[subscriptions]==0.19.0'
  touch "$KIT_HOME/ready"
fi
cp "$here/kit.py" "$KIT_HOME/"
cd "$KIT_HOME"
for schema in tables native relay; do
  cat >"$schema.toml" <<TOML
[tool.ariadne-codegen]
schema_path = "$1/$schema.graphql"
queries_path = "$here/../operations/$schema.graphql"
target_package_name = "${schema}_client"
[tool.ariadne-codegen.scalars.numeric]
type = "decimal.Decimal"
[tool.ariadne-codegen.scalars.timestamp]
type = "datetime.datetime"
[tool.ariadne-codegen.scalars.DateTime]
type = "datetime.datetime"
TOML
  rm -rf "${schema}_client"
  env/bin/ariadne-codegen --config "$schema.toml" >"$schema.log" || { cat "$schema.log" >&2; exit 1; }
done
exec env/bin/python kit.py "${@:2}"
