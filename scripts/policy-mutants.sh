#!/usr/bin/env bash
# Takes each part of a policy out of the policy pass, one by one: a test of permissions has to fail each time. Arguments choose
# mutants by a part of their name.
source "$(dirname "$0")/common.sh"
need python3 python3
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
# The mutants are of the plan, which is the same for every release.
export WEIR_POSTGRES=installed
exec python3 scripts/policy-mutants.py "$@"
