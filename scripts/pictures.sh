#!/usr/bin/env bash
# Makes the pictures of README and the manual in the system's Chromium, from the demo.
source "$(dirname "$0")/common.sh"
need_node
need chromium chromium
make --no-print-directory console
debug_weir
WEIR_BIN="$weir" node console/scripts/pictures.mjs
