#!/usr/bin/env bash
# Draws docs/performance/*.svg from bench/results/*.json with matplotlib, in an environment of its own.
source "$(dirname "$0")/../scripts/common.sh"
need python3 python3
there=bench/target/plots
if [ ! -x $there/bin/python ]; then
  python3 -m venv $there
  $there/bin/pip install --quiet matplotlib==3.11.2
fi
$there/bin/python bench/plots.py
