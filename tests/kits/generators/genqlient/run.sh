#!/usr/bin/env bash
# genqlient/run.sh SCHEMAS TABLES NATIVE RELAY: generates clients for the schemas in the folder SCHEMAS and the operations of the kits,
# compiles them, and asks at the three addresses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/{go.mod,go.sum,main.go} "$KIT_HOME/"
cd "$KIT_HOME"
for schema in tables native relay; do
  mkdir -p "$schema"
  cat >"$schema/genqlient.yaml" <<YAML
schema: $1/$schema.graphql
operations: [$here/../operations/$schema.graphql]
generated: generated.go
package: $schema
use_struct_references: true
optional: pointer
bindings:
  numeric: {type: encoding/json.Number}
  timestamp: {type: string}
  DateTime: {type: time.Time}
YAML
  (cd "$schema" && go run -mod=mod github.com/Khan/genqlient genqlient.yaml)
done
go build -mod=mod -o kit .
exec ./kit "${@:2}"
