#!/usr/bin/env bash
# gorm/run.sh write|read ADDRESS: the kit of GORM. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! cmp -s "$here/main.go" "$KIT_HOME/main.go" || [ ! -x "$KIT_HOME/kit" ]; then
  cp "$here"/{go.mod,go.sum,main.go,show.go} "$KIT_HOME/"
  (cd "$KIT_HOME" && go build -o kit .)
fi
# The types that GORM itself knows.
source=$(cd "$KIT_HOME" && go list -m -f '{{.Dir}}' gorm.io/gorm)/schema/field.go
KNOWN=$(sed -nE 's/^\t[A-Z][a-z]+ +DataType = "([a-z]+)"$/\1/p' "$source" | tr '\n' ' ') exec "$KIT_HOME/kit" "$@"
