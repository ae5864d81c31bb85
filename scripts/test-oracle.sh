#!/usr/bin/env bash
# The language crate against apollo-compiler: verdicts of two corpora and of random documents. ONLY=text runs the tests whose name
# holds it.
source "$(dirname "$0")/common.sh"
beside test bench/language -- ${ONLY:+"$ONLY"}
