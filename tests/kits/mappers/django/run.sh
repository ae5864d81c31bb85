#!/usr/bin/env bash
# django/run.sh write|read ADDRESS: the kit of Django. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e "$KIT_HOME/ready" ]; then
  python3 -m venv "$KIT_HOME/env"
  "$KIT_HOME/env/bin/pip" install --quiet 'Django==5.2.19' 'psycopg[binary]==3.3.9'
  touch "$KIT_HOME/ready"
fi
exec "$KIT_HOME/env/bin/python" "$here/kit.py" "$@"
