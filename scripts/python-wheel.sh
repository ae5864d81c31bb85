#!/usr/bin/env bash
# Builds the Python package with all optimisations.
source "$(dirname "$0")/common.sh"
source scripts/python.sh

python_environment
python_wheel release
ls target/wheels/weir-*.whl
