#!/usr/bin/env bash
# PGlite's socket server with one connection.
exec "$(dirname "$0")/../pglite.sh" "$1" 1
