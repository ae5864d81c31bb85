//! The second level in a cluster: of two nodes, and of three with replicas whose slots move and whose nodes die.

use super::kit::{Kit, PATIENCE, observation, settle};
use super::port_kit::free_port;
use super::redis_kit::{Redis, counts, settings, until};
use super::second::{fetch_tagged, grows_old, serves, upstream};
use crate::cache::Clock;
use crate::cache::Outcome::{Hit, HitRemote, Miss};
use std::net::TcpListener;
use std::time::Instant;

/// A cluster. Its servers end with this, and what they wrote down is taken away.
struct Cluster {
    nodes: Vec<Option<Redis>>,
    ports: Vec<u16>,
}

/// A port that is free, as is the one by which nodes of a cluster talk.
fn cluster_port() -> u16 {
    let has_bus = |port: &u16| TcpListener::bind(("127.0.0.1", *port + 10_000)).is_ok();
    std::iter::repeat_with(free_port).find(has_bus).unwrap()
}

fn nodes_file(port: u16) -> String {
    format!("weir-test-nodes-{port}.conf")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.nodes.clear();
        for port in &self.ports {
            let _ = std::fs::remove_file(std::env::temp_dir().join(nodes_file(*port)));
        }
    }
}

impl Cluster {
    /// So many masters, each with so many replicas; the masters come first, then a replica of each in their order.
    fn start(masters: u16, replicas: u16) -> Self {
        let mut cluster = Self { nodes: Vec::new(), ports: Vec::new() };
        for at in 0..masters * (1 + replicas) {
            let port = cluster_port();
            let number = (at + 1).to_string();
            let config = ["--cluster-enabled", "yes", "--cluster-config-file", &nodes_file(port)];
            // Short, so that a replica soon takes over; nobody is left out because it lagged.
            let times = ["--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0"];
            let copies = ["--repl-diskless-sync-delay", "0"];
            let node = Redis::start_on(port, &[&config[..], &times, &copies].concat());
            node.ask::<()>(&[b"CLUSTER", b"SET-CONFIG-EPOCH", number.as_bytes()]);
            cluster.nodes.push(Some(node));
            cluster.ports.push(port);
        }
        cluster.join(masters);
        cluster
    }

    fn join(&self, masters: u16) {
        let mut from = 0;
        for at in 0..masters {
            let to = 16_384 * (u32::from(at) + 1) / u32::from(masters) - 1;
            let [first, last] = [from, to].map(|it| it.to_string());
            self.node(at.into()).ask::<()>(&[
                b"CLUSTER",
                b"ADDSLOTSRANGE",
                first.as_bytes(),
                last.as_bytes(),
            ]);
            from = to + 1;
        }
        let count = self.ports.len();
        for port in &self.ports[1..] {
            self.node(0).ask::<()>(&[b"CLUSTER", b"MEET", b"127.0.0.1", port.to_string().as_bytes()]);
        }
        self.until(|node| info(node, "CLUSTER").contains(&format!("cluster_known_nodes:{count}\r")));
        for at in usize::from(masters)..count {
            let master = self.id(at % usize::from(masters));
            until_done(|| {
                self.node(at).try_ask::<()>(&[b"CLUSTER", b"REPLICATE", master.as_bytes()]).is_ok()
            });
        }
        self.until(|node| info(node, "CLUSTER").contains("cluster_state:ok"));
        for at in usize::from(masters)..count {
            until_done(|| info(self.node(at), "INFO").contains("master_link_status:up"));
        }
    }

    fn node(&self, at: usize) -> &Redis {
        self.nodes[at].as_ref().unwrap()
    }

    fn living(&self) -> impl Iterator<Item = &Redis> {
        self.nodes.iter().flatten()
    }

    fn until(&self, is: impl Fn(&Redis) -> bool) {
        until_done(|| self.living().all(&is));
    }

    fn id(&self, at: usize) -> String {
        self.node(at).ask(&[b"CLUSTER", b"MYID"])
    }

    /// Cache of one process, once it is connected, that knows the nodes at the places `known`.
    async fn process(&self, clock: &Clock, known: &[usize]) -> Kit {
        let hosts: Vec<String> = known.iter().map(|at| format!("127.0.0.1:{}", self.ports[*at])).collect();
        let kit = Kit::with(clock.clone(), Some(settings(&format!("redis-cluster://{}", hosts.join(",")))));
        until(&kit, |it| it.connected).await;
        kit
    }

    /// Begins to move the slot of `name` from one node to another, the value first: who asks the one is sent to the other.
    fn begin_to_move(&self, name: &str, [from, to]: [usize; 2]) -> String {
        let slot: i64 = self.node(from).ask(&[b"CLUSTER", b"KEYSLOT", name.as_bytes()]);
        let slot = slot.to_string();
        let set = |at: usize, word: &[u8], other: usize| {
            let id = self.id(other);
            self.node(at).ask::<()>(&[b"CLUSTER", b"SETSLOT", slot.as_bytes(), word, id.as_bytes()]);
        };
        set(to, b"IMPORTING", from);
        set(from, b"MIGRATING", to);
        let port = self.ports[to].to_string();
        let keys: Vec<String> =
            self.node(from).ask(&[b"CLUSTER", b"GETKEYSINSLOT", slot.as_bytes(), b"1000"]);
        for key in keys {
            let words: [&[u8]; 6] =
                [b"MIGRATE", b"127.0.0.1", port.as_bytes(), key.as_bytes(), b"0", b"5000"];
            self.node(from).ask::<()>(&words);
        }
        slot
    }

    /// All nodes hear that `slot` is the node's.
    fn move_slot(&self, slot: &str, to: usize) {
        let id = self.id(to);
        // The new owner is told first.
        for node in [self.node(to)].into_iter().chain(self.living()) {
            let _replicas_refuse =
                node.try_ask::<()>(&[b"CLUSTER", b"SETSLOT", slot.as_bytes(), b"NODE", id.as_bytes()]);
        }
    }

    /// Ends a node at once.
    fn kill(&mut self, at: usize) {
        self.nodes[at] = None;
    }
}

fn info(node: &Redis, what: &str) -> String {
    match what {
        "CLUSTER" => node.ask(&[b"CLUSTER", b"INFO"]),
        _ => node.ask(&[b"INFO", b"replication"]),
    }
}

fn until_done(is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain");
        std::thread::yield_now();
    }
}

/// Fetches all of `ids`; returns how many were found in the second level. All answers are right, from any source.
async fn count_found(kit: &Kit, prefix: &str, ids: &[u32], text: &str) -> usize {
    let all = kit.get_many(prefix, ids, &upstream(text)).await;
    let mut found = 0;
    for (id, told) in ids.iter().zip(all) {
        let (outcome, status, body) = told.unwrap();
        assert_eq!(status, 200);
        match outcome {
            HitRemote => found += usize::from(body == format!("[{id},0]")),
            Miss => assert_eq!(body, format!("[{id},{text}]")),
            other => panic!("{other:?}"),
        }
    }
    found
}

#[tokio::test]
async fn a_cluster_is_as_good_as_one() {
    let cluster = Cluster::start(2, 0);
    let clock = Clock::new_simulated();
    let one = cluster.process(&clock, &[0, 1]).await;
    let other = cluster.process(&clock, &[0, 1]).await;
    let ids: Vec<u32> = (0..30).collect();
    one.get_many("players", &ids, &upstream("0")).await;
    until(&one, |it| it.written == 30).await;
    assert!(cluster.living().all(|node| !node.keys("test:e*").is_empty()), "entries are on both nodes");
    let found = other.get_many("players", &ids, &upstream("1")).await;
    assert!(found.iter().all(|it| it.as_ref().unwrap().0 == HitRemote));
    fetch_tagged(&one, &upstream("1")).await;
    until(&one, |it| it.written == 31).await;
    assert_eq!(fetch_tagged(&other, &upstream("2")).await, observation(HitRemote, 200, "1"));
    one.cache.invalidate("Album");
    let begun = Instant::now();
    while fetch_tagged(&other, &upstream("2")).await == observation(Hit, 200, "1") {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
    }
}

#[tokio::test]
async fn slots_that_move_take_their_values_with_them() {
    let cluster = Cluster::start(3, 0);
    let clock = Clock::new_simulated();
    let one = cluster.process(&clock, &[0]).await;
    let ids: Vec<u32> = (0..30).collect();
    assert_eq!(count_found(&one, "players", &ids, "0").await, 0);
    until(&one, |it| it.written == 30).await;
    // Two that know where all was.
    let before = cluster.process(&clock, &[1]).await;
    let listens = cluster.process(&clock, &[2]).await;
    let names: Vec<String> = cluster.node(0).keys("test:[et]*").into_iter().take(5).collect();
    let slots: Vec<String> = names.iter().map(|name| cluster.begin_to_move(name, [0, 1])).collect();
    // Half-way a look is sent on; the client does so for one at a time, and a look that it gives up is a miss.
    let part: Vec<u32> = (0..15).collect();
    assert!([0, 15].contains(&count_found(&before, "players", &part, "1").await));
    slots.iter().for_each(|slot| cluster.move_slot(slot, 1));
    let rest: Vec<u32> = (15..30).collect();
    assert_eq!(count_found(&before, "players", &rest, "1").await, 15);
    assert!(names.iter().all(|name| !cluster.node(0).keys("test:*").contains(name)));
    // New entries go to the slots' nodes.
    let held = listens.changes.versions(["Album"]);
    one.cache.invalidate("Album");
    grows_old(&listens, &held).await;
    serves(&one, 100..130).await;
    until(&one, |it| it.written == 60).await;
    assert_eq!(listens.get("129", &upstream("2")).await, Ok(observation(HitRemote, 200, "1")));
    assert!(counts(&one).connected);
}

#[tokio::test]
async fn a_master_that_dies_is_replaced_and_invalidations_reach_everyone_again() {
    let mut cluster = Cluster::start(3, 1);
    let clock = Clock::new_simulated();
    // All listen at the node that will die.
    let one = cluster.process(&clock, &[0, 1, 2]).await;
    let other = cluster.process(&clock, &[0, 1, 2]).await;
    let ids: Vec<u32> = (0..30).collect();
    assert_eq!(count_found(&one, "players", &ids, "0").await, 0);
    assert_eq!(fetch_tagged(&one, &upstream("1")).await, observation(Miss, 200, "1"));
    until(&one, |it| it.written == 31).await;
    assert_eq!(fetch_tagged(&other, &upstream("2")).await, observation(HitRemote, 200, "1"));
    for at in 0..3 {
        let master = cluster.node(at);
        let replica = cluster.node(at + 3);
        let count = |node: &Redis| node.ask::<usize>(&[b"DBSIZE"]);
        until_done(|| count(replica) == count(master));
    }
    cluster.kill(0);
    // All answers are right meanwhile, from any source.
    for key in 1000..1010 {
        assert_eq!(one.get(&key.to_string(), &upstream("1")).await, Ok(observation(Miss, 200, "1")));
        settle().await;
    }
    until_done(|| info(cluster.node(3), "INFO").contains("role:master"));
    cluster.until(|node| info(node, "CLUSTER").contains("cluster_state:ok"));
    // A new process that first tries the dead node finds all entries.
    let third = cluster.process(&clock, &[0, 1]).await;
    assert_eq!(count_found(&third, "players", &ids, "1").await, 30);
    // An older process writes, and finds entries again.
    let begun = Instant::now();
    for key in 2000.. {
        assert!(begun.elapsed() < PATIENCE, "it is not found again: {:?}", counts(&one));
        let before = counts(&one).written;
        serves(&one, key..key + 1).await;
        if counts(&one).connected && counts(&one).written > before {
            let seen = other.get(&key.to_string(), &upstream("2")).await.unwrap();
            if seen == observation(HitRemote, 200, "1") {
                break;
            }
        }
    }
    until(&other, |it| it.connected).await;
    let held = other.changes.versions(["Album"]);
    one.cache.invalidate("Album");
    grows_old(&other, &held).await;
    assert_ne!(fetch_tagged(&other, &upstream("3")).await.2, "1");
}
