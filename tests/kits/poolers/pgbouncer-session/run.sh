#!/usr/bin/env bash
# PgBouncer in session mode.
exec "$(dirname "$0")/../pgbouncer.sh" "$1" session
