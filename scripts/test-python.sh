#!/usr/bin/env bash
# The Python package: builds its wheel, installs it into an environment below target/ and runs pytest, which checks types, the
# examples and the audits of GraphQL over HTTP too. ONLY=text runs the tests whose name holds it.
source "$(dirname "$0")/common.sh"
source scripts/python.sh

need_node
audit_packages
python_environment
python_wheel dev
debug_weir
WEIR_BIN=$(realpath "$weir")
export WEIR_BIN
cd crates/python
"$environment/bin/python" -m pytest ${ONLY:+-k "$ONLY"} || { [ $? = 5 ] && [ -n "${ONLY:-}" ]; }
