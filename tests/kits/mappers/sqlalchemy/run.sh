#!/usr/bin/env bash
# sqlalchemy/run.sh write|read ADDRESS: the kit of SQLAlchemy. ADDRESS is `sqlite:PATH` or `postgres://…`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e "$KIT_HOME/ready" ]; then
  python3 -m venv "$KIT_HOME/env"
  "$KIT_HOME/env/bin/pip" install --quiet 'SQLAlchemy==2.1.9' 'psycopg[binary]==3.3.9' 'pysqlite3-binary==0.5.4'
  touch "$KIT_HOME/ready"
fi
exec "$KIT_HOME/env/bin/python" "$here/kit.py" "$@"
