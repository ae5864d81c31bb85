#!/usr/bin/env bash
# prisma/run.sh write|read ADDRESS: the kit of Prisma. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# The kit makes its tables itself: the engine of migrations, which would be downloaded, is not needed.
export PRISMA_SCHEMA_ENGINE_BINARY=/bin/true PRISMA_HIDE_UPDATE_MESSAGE=1
if [ ! -e "$KIT_HOME/ready" ]; then
  (cd "$KIT_HOME" && npm init -y >/dev/null && npm install --no-audit --no-fund --ignore-scripts --loglevel=error \
    prisma@7.10.1 @prisma/client@7.10.0 @prisma/adapter-pg@7.10.1 @prisma/adapter-libsql@7.10.0 \
    '@prisma/prisma-schema-wasm@7.10.0-7.561d7b42579a2459cc8edf3788918b626c640023' pg@8.23.1 @libsql/client@0.18.0)
  touch "$KIT_HOME/ready"
fi
cp "$here/kit.cjs" "$KIT_HOME/"
cd "$KIT_HOME"
node kit.cjs schema "$2"
npx prisma generate --schema schema.prisma >generate.log 2>&1 || { cat generate.log >&2; exit 1; }
exec node kit.cjs "$@"
