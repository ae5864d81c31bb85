#!/usr/bin/env bash
# Packages of the command and files for deployment: builds packages of a debug binary, installs and uses them, and holds the
# examples to what they name. WEIR_PACKAGES is a folder of ready packages. ONLY=text runs the tests whose name holds it.
source "$(dirname "$0")/common.sh"
source scripts/python.sh

need_node
need dpkg-deb dpkg
python_environment
[ -n "${WEIR_PACKAGES:-}" ] || { debug_weir; WEIR_BIN=$(realpath "$weir"); export WEIR_BIN; }
run_tests() { "$environment/bin/python" -m pytest -q -p no:cacheprovider "$@" ${ONLY:+-k "$ONLY"} || { [ $? = 5 ] && [ -n "${ONLY:-}" ]; }; }
run_tests tests/packages
# A wheel of a debug binary is tested with the rest of the Python package.
if [ -n "${WEIR_PACKAGES:-}" ]; then
  WEIR_RELEASE_WHEEL=$(ls "$(realpath "$WEIR_PACKAGES")"/weir-*.whl)
  export WEIR_RELEASE_WHEEL
  run_tests -c crates/python/pyproject.toml crates/python/tests/test_command.py
fi
