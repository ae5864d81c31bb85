#!/usr/bin/env bash
# Measures the Python package against graphql-core and Strawberry, and behind uvicorn against Strawberry and Ariadne. PUBLISH=1 writes
# the tables into docs/performance/python.md.
source "$(dirname "$0")/../../scripts/common.sh"
source scripts/python.sh
python_environment
python_wheel release
"$environment/bin/pip" install --quiet -r bench/python/requirements.txt
taskset -c 0 "$environment/bin/python" bench/python/compare.py
"$environment/bin/python" bench/python/served.py
