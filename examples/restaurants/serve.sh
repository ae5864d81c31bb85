#!/usr/bin/env bash
# Makes the restaurants, loads them and serves them. SCALE=1 makes all 4.2 million dishes; WEIR names the program.
set -euo pipefail
cd "$(dirname "$0")"
weir=${WEIR:-weir}
if [ ! -e schema.weir.db ]; then
  python3 generate.py --out data --scale "${SCALE:-0.01}"
  "$weir" import data/{countries,cities,cuisines,addresses,restaurants,restaurant_cuisines,dishes}.csv \
    --into schema.graphql --map names.yaml
fi
exec "$weir" serve schema.graphql "$@"
