#!/usr/bin/env bash
# Builds the console into console/dist, compressed, ready to be embedded.
source "$(dirname "$0")/common.sh"
need_node
say "building the console"
cd console
# The stamp holds the lock file the modules were installed from.
cmp -s package-lock.json node_modules/.installed-lock || { npm ci --no-audit --no-fund --loglevel=error; cp package-lock.json node_modules/.installed-lock; }
npm run --silent build
[ -f dist/index.html.br ] || die "the console did not build: run 'cd console && npm run build' to see why"
