#!/usr/bin/env bash
# The Python package: builds its wheel, installs it into an environment below target/ and runs pytest, which checks types and the
# examples too. ONLY=text runs the tests whose name holds it.
source "$(dirname "$0")/common.sh"
source scripts/python.sh

python_environment
python_wheel dev
cd crates/python
"$environment/bin/python" -m pytest ${ONLY:+-k "$ONLY"} || { [ $? = 5 ] && [ -n "${ONLY:-}" ]; }
