#!/usr/bin/env bash
# Serves the database at TENANTS_DATABASE_URL. WEIR names the program.
set -euo pipefail
cd "$(dirname "$0")"
exec "${WEIR:-weir}" serve "$@"
