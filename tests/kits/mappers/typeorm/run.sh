#!/usr/bin/env bash
# typeorm/run.sh write|read ADDRESS: the kit of TypeORM. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e "$KIT_HOME/ready" ]; then
  (cd "$KIT_HOME" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error \
    typeorm@1.1.1 sql.js@1.17.0 pg@8.23.1 reflect-metadata@0.2.2)
  touch "$KIT_HOME/ready"
fi
cp "$here/kit.cjs" "$KIT_HOME/"
exec node "$KIT_HOME/kit.cjs" "$@"
