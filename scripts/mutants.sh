#!/usr/bin/env bash
# Takes parts out of the code that tests have to miss: each part of a policy, then mends one by one. Arguments choose by a part of a name.
source "$(dirname "$0")/common.sh"
need python3 python3
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
need redis-server redis-server
scripts/postgres18.sh
status=0
# Mutants of policies are of the plan, which is the same for every release.
WEIR_POSTGRES=installed python3 scripts/policy-mutants.py "$@" || status=1
python3 scripts/reverts.py "$@" || status=1
exit "$status"
