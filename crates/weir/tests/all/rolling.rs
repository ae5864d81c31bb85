//! Three servers in front of a primary, its replica and a Redis, under load, while each is restarted and reloaded in turn: no request
//! fails, clients that ask for it read their own writes, and a mutation through one server empties the caches of the others.
//!
//! The client does what a load balancer does: it probes `/readyz`, sends nothing to a server that is not ready, and keeps connections
//! until an answer says `connection: close`, or until it sees that they are closed. It repeats nothing.
//!
//! `make fleet` does more rounds (`WEIR_ROUNDS`), with an optimised build (`WEIR_BINARY`).

use crate::cluster_kit::Cluster;
use crate::port_kit::free_port;
use crate::redis_kit::Redis;
use crate::support::{Answer, Folder, Weir, body, command, connect, message, until};
use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const SERVERS: usize = 3;
const CLIENTS: usize = 4;
/// Time from one probe of a server to the next; servers serve for a second after their first 503.
const PROBE_PAUSE: Duration = Duration::from_millis(50);

const TABLES: &str = "
CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO item SELECT i, 0 FROM generate_series(0, 15) AS i;
CREATE VIEW answering AS SELECT pg_is_in_recovery() AS is_replica";

/// A server's address, and what the balancer knows of it.
struct Place {
    address: SocketAddr,
    folder: Folder,
    is_ready: AtomicBool,
    answered: AtomicU64,
}

/// Answers and errors that the clients got.
#[derive(Default)]
struct Seen {
    writes: AtomicU64,
    /// Reads with the position of a write, and those of them that the replica answered.
    own: AtomicU64,
    own_by_replica: AtomicU64,
    /// Reads without it, and those of them that were behind the write.
    plain: AtomicU64,
    behind: AtomicU64,
    slowest_us: AtomicU64,
}

/// One client's connections.
struct Client<'f> {
    places: &'f [Place],
    kept: [Option<BufReader<TcpStream>>; SERVERS],
    turn: usize,
    slowest: Duration,
}

impl Client<'_> {
    fn new(places: &[Place], turn: usize) -> Client<'_> {
        Client { places, kept: [const { None }; SERVERS], turn, slowest: Duration::ZERO }
    }

    /// Sends one request to the next server that is ready. Nothing is repeated: a failure is the test's.
    fn ask(&mut self, headers: &[(&str, &str)], query: &str) -> Answer {
        self.turn += 1;
        let ready = |it: &usize| self.places[*it].is_ready.load(Ordering::Relaxed);
        let at = (0..SERVERS).map(|it| (self.turn + it) % SERVERS).find(ready);
        self.ask_at(at.expect("one server at least is ready"), headers, query)
    }

    fn ask_at(&mut self, at: usize, headers: &[(&str, &str)], query: &str) -> Answer {
        let place = &self.places[at];
        let begun = Instant::now();
        let kept = self.kept[at].take().filter(is_open);
        let mut socket = kept.unwrap_or_else(|| BufReader::new(connect(place.address)));
        let all = [&[("content-type", "application/json")], headers].concat();
        let request = message("POST", "/graphql", &all, Some(body(query).as_bytes()));
        socket.get_mut().write_all(&request).expect("the request can be sent");
        let answer = Answer::read(&mut socket);
        assert_eq!(answer.status, 200, "server {at}: {answer:?}");
        assert!(answer.text().starts_with(r#"{"data":"#), "server {at}: {}", answer.text());
        if answer.header("connection") != Some("close") {
            self.kept[at] = Some(socket);
        }
        place.answered.fetch_add(1, Ordering::Relaxed);
        self.slowest = self.slowest.max(begun.elapsed());
        answer
    }

    /// Adds 1 to the item `id`: its new value, and the position.
    fn add(&mut self, id: usize) -> (u64, String) {
        let add =
            format!("mutation {{ update_item_by_pk(pk_columns: {{id: {id}}}, _inc: {{n: 1}}) {{ n }} }}");
        let answer = self.ask(&[], &add);
        let position = answer.header("x-weir-position").expect("replicas are named").to_owned();
        (answer.json()["data"]["update_item_by_pk"]["n"].as_u64().expect("it is a number"), position)
    }

    /// The value of the item `id`, and whether the replica says so.
    fn read(&mut self, id: usize, headers: &[(&str, &str)]) -> (u64, bool) {
        let query =
            format!("{{ item(where: {{id: {{_eq: {id}}}}}) {{ n }} answering(limit: 1) {{ is_replica }} }}");
        let answer = self.ask(headers, &query).json();
        let n = answer["data"]["item"][0]["n"].as_u64().expect("it is a number");
        (n, answer["data"]["answering"][0]["is_replica"].as_bool().expect("it is a boolean"))
    }

    /// Writes and reads the item `id` until told to stop.
    fn work(&mut self, id: usize, seen: &Seen, is_over: &AtomicBool) -> u64 {
        let (mut n, count) = (0, |it: &AtomicU64, is: bool| it.fetch_add(u64::from(is), Ordering::Relaxed));
        while !is_over.load(Ordering::Relaxed) {
            let (written, position) = self.add(id);
            n += 1;
            assert_eq!(written, n, "each write is done once");
            count(&seen.writes, true);
            for headers in [[("x-weir-position", &*position)], [("x-weir-consistency", "strong")]] {
                let (read, by_replica) = self.read(id, &headers);
                assert_eq!(read, n, "{headers:?}");
                count(&seen.own, true);
                count(&seen.own_by_replica, by_replica);
            }
            for _ in 0..6 {
                let (read, _) = self.read(id, &[]);
                assert!(read <= n, "{read} of {n}");
                count(&seen.plain, true);
                count(&seen.behind, read < n);
            }
            // By now the replica may have it.
            let (read, by_replica) = self.read(id, &[("x-weir-position", &*position)]);
            assert_eq!(read, n);
            count(&seen.own, true);
            count(&seen.own_by_replica, by_replica);
        }
        let us = u64::try_from(self.slowest.as_micros()).unwrap_or(u64::MAX);
        seen.slowest_us.fetch_max(us, Ordering::Relaxed);
        n
    }
}

/// False for a kept connection that the server has closed meanwhile.
fn is_open(socket: &BufReader<TcpStream>) -> bool {
    let socket = socket.get_ref();
    socket.set_nonblocking(true).expect("it is a socket");
    let end = socket.peek(&mut [0]);
    socket.set_nonblocking(false).expect("it is a socket");
    end.is_err_and(|it| it.kind() == std::io::ErrorKind::WouldBlock)
}

/// Starts the server of a place.
fn start(place: &Place) -> Weir {
    let folder = Folder::new();
    let mut command = match std::env::var_os("WEIR_BINARY") {
        Some(binary) => Command::new(binary),
        None => command(),
    };
    Weir::run(command.arg("serve").arg(place.folder.file("weir.yaml")), folder)
}

/// Three places in front of the same databases.
fn places(cluster: &Cluster, replica: &Cluster, redis: &Redis) -> Vec<Place> {
    let place = |_| {
        let folder = Folder::new();
        let port = free_port();
        let yaml = format!(
            "listen: 127.0.0.1:{port}\nthreads: 1\n\
             sources: [{{name: main, url: 'postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable', \
             postgres: {{replicas: ['127.0.0.1:{}'], sessions_max: 8}}}}]\n\
             cache: {{redis: 'redis://127.0.0.1:{}', namespace: rolling}}\nlimits: {{drain_delay_s: 1}}\n",
            cluster.port, replica.port, redis.port
        );
        folder.write("weir.yaml", &yaml);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Place { address, folder, is_ready: AtomicBool::new(false), answered: AtomicU64::new(0) }
    };
    (0..SERVERS).map(place).collect()
}

/// Probes a server until the test is over.
fn probe(place: &Place, is_over: &Receiver<()>) {
    while is_over.recv_timeout(PROBE_PAUSE) == Err(RecvTimeoutError::Timeout) {
        let request = message("GET", "/readyz", &[("connection", "close")], None);
        let status = TcpStream::connect(place.address).ok().and_then(|mut socket| {
            socket.write_all(&request).ok()?;
            Some(Answer::read(&mut BufReader::new(socket)).status)
        });
        place.is_ready.store(status == Some(200), Ordering::Relaxed);
    }
}

/// Lets two servers keep an answer, changes it through the third, and waits until both have dropped it: the longest wait.
fn invalidates(client: &mut Client<'_>, from: usize) -> Duration {
    const ITEM: usize = 15;
    let kept = format!("query @cached(ttl: 60) {{ item(where: {{id: {{_eq: {ITEM}}}}}) {{ n }} }}");
    let n = |answer: &Answer| answer.json()["data"]["item"][0]["n"].as_u64().expect("it is a number");
    let others = [(from + 1) % SERVERS, (from + 2) % SERVERS];
    for at in others {
        until("the answer is kept", || {
            let answer = client.ask_at(at, &[], &kept);
            answer.header("x-weir-cache").is_some_and(|it| it.starts_with("hit"))
        });
    }
    let add = format!("mutation {{ update_item_by_pk(pk_columns: {{id: {ITEM}}}, _inc: {{n: 1}}) {{ n }} }}");
    let answer = client.ask_at(from, &[], &add);
    let written = answer.json()["data"]["update_item_by_pk"]["n"].as_u64().expect("it is a number");
    let position = answer.header("x-weir-position").expect("replicas are named").to_owned();
    let begun = Instant::now();
    for at in others {
        // At once for those who ask for it; without it as soon as Redis has told.
        assert_eq!(n(&client.ask_at(at, &[("x-weir-position", &position)], &kept)), written);
    }
    let before = client.ask_at(from, &[], &add);
    let written = before.json()["data"]["update_item_by_pk"]["n"].as_u64().expect("it is a number");
    assert_eq!(n(&client.ask_at(from, &[], &kept)), written, "the server itself shows the change at once");
    let told = Instant::now();
    for at in others {
        until("the others show the change", || n(&client.ask_at(at, &[], &kept)) == written);
    }
    assert!(begun <= told);
    told.elapsed()
}

/// Restarts one server after another, and reloads the others meanwhile.
fn roll(places: &[Place], servers: &mut [Weir], client: &mut Client<'_>) -> Duration {
    let mut slowest = Duration::ZERO;
    let is_ready = |it: &Place| it.is_ready.load(Ordering::Relaxed);
    for at in 0..SERVERS {
        let old = &mut servers[at];
        old.signal("-TERM");
        assert_eq!(old.child.wait().expect("it ends").code(), Some(0), "{}", old.log());
        client.kept[at] = None;
        until("the balancer noticed", || !is_ready(&places[at]));
        servers[at] = start(&places[at]);
        until("it is ready again", || is_ready(&places[at]));
        for other in (0..SERVERS).filter(|it| *it != at) {
            let reloaded = servers[other].post("/v1/reload", &[], b"");
            assert_eq!(reloaded.status, 200, "{reloaded:?}");
        }
        slowest = slowest.max(invalidates(client, at));
    }
    slowest
}

#[test]
fn no_request_fails_while_servers_are_restarted_one_after_another() {
    let rounds = std::env::var("WEIR_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql(TABLES);
    let replica = cluster.replica();
    let redis = Redis::start();
    let places = places(&cluster, &replica, &redis);
    let mut servers: Vec<Weir> = places.iter().map(start).collect();
    let seen = Seen::default();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stops: Vec<_> = places
            .iter()
            .map(|place| {
                let (stop, stopped) = channel();
                scope.spawn(move || probe(place, &stopped));
                stop
            })
            .collect();
        until("all are ready", || places.iter().all(|it| it.is_ready.load(Ordering::Relaxed)));
        // The clients stop also where this thread fails.
        let over = Over(&is_over);
        let begun = Instant::now();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|id| {
                let places = &places;
                let seen = &seen;
                let is_over = &is_over;
                scope.spawn(move || Client::new(places, id).work(id, seen, is_over))
            })
            .collect();
        let mut client = Client::new(&places, 0);
        let waits = (0..rounds).map(|_| roll(&places, &mut servers, &mut client));
        let slowest_invalidation = waits.max().unwrap_or_default();
        drop(over);
        let written: u64 = clients.into_iter().map(|it| it.join().expect("no request fails")).sum();
        let elapsed = begun.elapsed();
        drop(stops);
        let sql = format!("SELECT sum(n) FROM item WHERE id < {CLIENTS}");
        assert_eq!(cluster.sql(&sql), written.to_string(), "what was acknowledged was done, and once");
        report(&places, &seen, (elapsed, rounds, slowest_invalidation));
    });
}

/// Ends the clients when it goes.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Prints the figures, for those who run it by hand.
fn report(places: &[Place], seen: &Seen, (elapsed, rounds, invalidation): (Duration, u32, Duration)) {
    let of = |it: &AtomicU64| it.load(Ordering::Relaxed);
    let rate = |count: u64| count * 1000 / u64::try_from(elapsed.as_millis()).unwrap_or(1).max(1);
    println!("{} s, {} restarts, {} reloads", elapsed.as_secs(), rounds * 3, rounds * 6);
    for (at, place) in places.iter().enumerate() {
        println!("server {at}: {} requests, {} per second", of(&place.answered), rate(of(&place.answered)));
    }
    let all: u64 = places.iter().map(|it| of(&it.answered)).sum();
    println!("all: {all} requests, {} per second, none failed", rate(all));
    println!("{} writes, each done once", of(&seen.writes));
    println!("{} reads of own writes, {} of them by the replica", of(&seen.own), of(&seen.own_by_replica));
    println!("{} other reads, {} of them behind", of(&seen.plain), of(&seen.behind));
    println!("slowest request: {} ms", of(&seen.slowest_us) / 1000);
    println!("slowest invalidation of another server's cache: {} us", invalidation.as_micros());
}
