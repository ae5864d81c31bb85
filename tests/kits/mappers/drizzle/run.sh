#!/usr/bin/env bash
# drizzle/run.sh write|read ADDRESS: the kit of Drizzle. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e "$KIT_HOME/ready" ]; then
  (cd "$KIT_HOME" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error \
    drizzle-orm@0.45.4 drizzle-kit@0.31.11 @libsql/client@0.18.0 pg@8.23.1)
  touch "$KIT_HOME/ready"
fi
cp "$here/kit.mjs" "$KIT_HOME/"
exec node "$KIT_HOME/kit.mjs" "$@"
