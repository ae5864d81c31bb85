#!/usr/bin/env bash
# seaorm/run.sh write|read ADDRESS: the kit of SeaORM. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kit=$KIT_HOME/target/debug/kit
if ! cmp -s "$here/main.rs" "$KIT_HOME/main.rs" || [ ! -x "$kit" ]; then
  cp "$here"/{Cargo.toml,Cargo.lock,main.rs} "$KIT_HOME/"
  CARGO_TARGET_DIR=$KIT_HOME/target cargo build --quiet --locked --manifest-path "$KIT_HOME/Cargo.toml"
fi
# The types that SeaORM itself knows.
source=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path '*/sea-query-1.0.2/*' -name '*.rs' -exec grep -l 'pub enum ColumnType' {} + | head -1)
KNOWN=$(sed -n '/pub enum ColumnType/,/^}/s/^    \([A-Z][A-Za-z]*\).*/\1/p' "$source" | tr '\n' ' ') exec "$kit" "$@"
