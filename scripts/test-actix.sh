#!/usr/bin/env bash
# The example with actix-web, a package of its own: its server answers what the other examples of servers answer, over real sockets.
# ONLY=text runs the tests whose name holds it.
source "$(dirname "$0")/common.sh"
beside test examples/actix --locked -- ${ONLY:+"$ONLY"}
