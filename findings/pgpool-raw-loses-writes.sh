#!/usr/bin/env bash
# Pgpool-II 4.3.5 (Debian 12) in raw mode, before PostgreSQL 18.4: a client that begins no transaction and changes a row with parameters,
# as most drivers do, is in one afterwards. Its later statements are part of it, and when the client leaves all of it is undone, although
# each was answered as done. A change without parameters is committed at once.
# Seen: `UPDATE 1`, `simple` to another client, `UPDATE 1`, `extended` to the client itself, and `simple` again to another one.
source "$(dirname "$0")/postgres18.bash"
[ -x /usr/sbin/pgpool ] || { echo "/usr/sbin/pgpool is missing (Debian: apt-get install pgpool2)"; exit 1; }
/usr/sbin/pgpool --version 2>&1 | grep -F 4.3.5
start_postgres pg@8.23.1
pooled=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
control=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >pgpool.conf <<CONF
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = $pooled
socket_dir = '$folder/data'
pcp_listen_addresses = '127.0.0.1'
pcp_port = $control
pcp_socket_dir = '$folder/data'
pid_file_name = '$folder/data/pgpool.pid'
logdir = '$folder/data'
backend_hostname0 = '127.0.0.1'
backend_port0 = $port
pool_passwd = ''
CONF
touch pcp.conf pool_hba.conf
chmod a+r pgpool.conf pcp.conf pool_hba.conf
as_user /usr/sbin/pgpool -n -f "$folder/pgpool.conf" -F "$folder/pcp.conf" -a "$folder/pool_hba.conf" >pgpool.log 2>&1 &
pooler=$!
stop_all() {
  kill -INT "$(tr -d "\0" <"$folder/data/pgpool.pid")" || true
  wait "$pooler" || true
  stop_postgres
}
trap stop_all EXIT
until python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$pooled" 2>/dev/null; do
  kill -0 "$pooler" || { cat pgpool.log; exit 1; }
  sleep 0.1
done
run_sql <<<"create table t (id int primary key, x text); insert into t values (1, 'before')"
node -e '
  const { Client } = require("pg");
  const connect = async (connectionString) => {
    const client = new Client({ connectionString });
    await client.connect();
    return client;
  };
  const show = async (client) => console.log((await client.query("select x from t where id = 1")).rows[0].x);
  const told = ({ command, rowCount }) => console.log(`${command} ${rowCount}`);
  (async () => {
    const [direct, pooled] = process.argv.slice(1);
    const other = await connect(direct);
    const client = await connect(pooled);
    told(await client.query("update t set x = \x27simple\x27 where id = 1"));
    await show(other);
    told(await client.query("update t set x = $1 where id = 1", ["extended"]));
    await show(client);
    await client.end();
    await show(other);
    await other.end();
  })();
' "$url" "postgres://finder@127.0.0.1:$pooled/postgres" >seen.log
cat seen.log
[ "$(paste -sd' ' seen.log)" = "UPDATE 1 simple UPDATE 1 extended simple" ]
echo "as stated: Pgpool-II 4.3.5, PostgreSQL 18.4"
