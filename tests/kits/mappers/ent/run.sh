#!/usr/bin/env bash
# ent/run.sh write|read ADDRESS: the kit of Ent. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! cmp -s "$here/main.go" "$KIT_HOME/main.go" || ! cmp -s "$here/schema.go" "$KIT_HOME/ent/schema/schema.go" || [ ! -x "$KIT_HOME/kit" ]; then
  mkdir -p "$KIT_HOME/ent/schema"
  cp "$here"/{go.mod,go.sum,main.go} "$KIT_HOME/"
  cp "$here/schema.go" "$KIT_HOME/ent/schema/"
  (cd "$KIT_HOME" && go run -mod=mod entgo.io/ent/cmd/ent generate ./ent/schema && go build -mod=mod -o kit .)
fi
exec "$KIT_HOME/kit" "$@"
