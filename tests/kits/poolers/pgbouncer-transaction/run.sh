#!/usr/bin/env bash
# PgBouncer in transaction mode.
exec "$(dirname "$0")/../pgbouncer.sh" "$1" transaction
