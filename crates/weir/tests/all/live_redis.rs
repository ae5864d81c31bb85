//! Two servers of one PostgreSQL that does not tell its changes: what one changes, subscribers of the other hear of through Redis, by row.

use crate::live_slow::metric;
use crate::postgres_kit::{Database, database};
use crate::redis_kit::Redis;
use crate::sockets::{ACK, INIT, NEW, begin, hear, say, socket};
use crate::support::{Folder, Weir, body, until};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::WebSocket;

const TABLES: &str = "CREATE TABLE pet (id int PRIMARY KEY, name text NOT NULL);
    INSERT INTO pet VALUES (1, 'Ada'), (2, 'Bob')";

/// A server that never polls, once it is connected to Redis.
fn serve(database: &Database, redis: &Redis) -> Weir {
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{socket_init_s: 60}}\nlive: {{poll_ms: 3600000}}\n\
         cache: {{redis: 'redis://127.0.0.1:{}', namespace: pets, redis_ms_max: 10000}}\nsources: [{{name: main, url: {}}}]\n",
        redis.port,
        database.url()
    );
    let weir = Weir::by_file(&folder.write("weir.yaml", &yaml), folder);
    until("Redis is there", || metric(&weir, "weir_cache_redis_connected") == 1);
    weir
}

/// Subscribers to pet 1 and to pet 2 at `weir`, which have their first results.
fn subscribers(weir: &Weir) -> [WebSocket<TcpStream>; 2] {
    [(1, "Ada"), (2, "Bob")].map(|(id, name)| {
        let mut socket = socket(weir, "/graphql", NEW);
        say(&mut socket, INIT);
        assert_eq!(hear(&mut socket), ACK);
        let operation = body(&format!("subscription {{ pet_by_pk(id: {id}) {{ name }} }}"));
        say(&mut socket, &begin(NEW, "1", &operation));
        assert!(hear(&mut socket).contains(name));
        socket
    })
}

#[test]
fn a_row_that_another_server_changes_is_read_by_its_subscribers_alone() {
    let database = database(TABLES);
    let redis = Redis::start();
    let servers = [serve(&database, &redis), serve(&database, &redis)];
    let mut all: Vec<_> = servers.iter().map(subscribers).collect();
    let reads = || servers.each_ref().map(|it| metric(it, "weir_live_reads_total"));
    assert_eq!(reads(), [2, 2]);
    let rename = |id: usize, name: &str| {
        let mutation = format!(
            "mutation {{ update_pet_by_pk(pk_columns: {{id: {id}}}, _set: {{name: \"{name}\"}}) {{ id }} }}"
        );
        assert!(servers[0].query(&mutation).text().contains("update_pet_by_pk"));
    };
    let renames = [(2, "Eve"), (2, "Fay"), (1, "Gil"), (1, "Hal"), (2, "Ida")];
    for (at, (id, name)) in renames.into_iter().enumerate() {
        rename(id, name);
        for sockets in &mut all {
            assert!(hear(&mut sockets[id - 1]).contains(name), "{name}");
        }
        // Messages come in their order: those of each change before are heard of by now.
        assert_eq!(reads(), [3 + at as u64; 2], "{name}");
    }
    // Rows that nobody names concern both.
    let mutation = "mutation { update_pet(where: {}, _set: {name: \"Kit\"}) { affected_rows } }";
    assert!(servers[0].query(mutation).text().contains("2"));
    for sockets in all.iter_mut().flatten() {
        assert!(hear(sockets).contains("Kit"));
    }
    assert_eq!(reads(), [9, 9]);
}

#[test]
fn messages_of_others_in_redis_are_passed_over_with_one_line_in_the_log() {
    let database = database(TABLES);
    let redis = Redis::start();
    let weir = serve(&database, &redis);
    let [mut one, mut two] = subscribers(&weir);
    let cut = b"8 bytes.8 bytes.\xff\x01\xff\xff\xff\xffpublic.pet";
    for message in [&b"?"[..], b"8 bytes.8 bytes.\xc0\xaf", cut, &[0xff; 100_000]] {
        redis.publish("pets:invalidate", message);
    }
    assert_eq!(metric(&weir, "weir_live_reads_total"), 2);
    // A server of an older release, which names no rows.
    database.run("UPDATE pet SET name = 'Old'");
    redis.publish("pets:invalidate", b"8 bytes.8 bytes.public.pet");
    assert!(hear(&mut one).contains("Old") && hear(&mut two).contains("Old"));
    assert_eq!(metric(&weir, "weir_live_reads_total"), 4);
    assert_eq!(weir.log().matches("ignored a message in Redis").count(), 1, "{}", weir.log());
}
