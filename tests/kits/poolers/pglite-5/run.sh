#!/usr/bin/env bash
# PGlite's socket server with five connections.
exec "$(dirname "$0")/../pglite.sh" "$1" 5
