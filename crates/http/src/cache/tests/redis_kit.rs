//! Caches over a Redis of the test's own, and what that Redis knows.

use super::kit::{Kit, PATIENCE};
pub(crate) use super::redis_server_kit::Redis;
use crate::cache::{Address, Clock, RemoteCounts, RemoteSettings};
use redis::{Client, FromRedisValue, RedisResult};
use std::time::{Duration, Instant};

impl Redis {
    /// Sends one command, past the cache.
    pub(crate) fn ask<T: FromRedisValue>(&self, words: &[&[u8]]) -> T {
        self.try_ask(words).unwrap()
    }

    /// As above, for what may be refused.
    pub(crate) fn try_ask<T: FromRedisValue>(&self, words: &[&[u8]]) -> RedisResult<T> {
        let client = Client::open(format!("redis://127.0.0.1:{}", self.port))?;
        let mut command = redis::Cmd::new();
        words.iter().for_each(|word| {
            command.arg(*word);
        });
        command.query(&mut client.get_connection()?)
    }

    /// The names that match `pattern`.
    pub(crate) fn keys(&self, pattern: &str) -> Vec<String> {
        self.ask(&[b"KEYS", pattern.as_bytes()])
    }

    /// Number of calls of `command`.
    pub(crate) fn calls(&self, command: &str) -> u64 {
        let text: String = self.ask(&[b"INFO", b"commandstats"]);
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
        line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
    }

    pub(crate) fn settings(&self) -> RemoteSettings {
        settings(&format!("redis://127.0.0.1:{}", self.port))
    }

    /// Cache of one process, once it is connected; all processes have one clock.
    pub(crate) async fn process(&self, clock: &Clock) -> Kit {
        let kit = Kit::with(clock.clone(), Some(self.settings()));
        until(&kit, |it| it.connected).await;
        kit
    }
}

/// Patient ones: whatever comes late must be the test's wish.
pub(crate) fn settings(address: &str) -> RemoteSettings {
    let address = Address::parse(address).unwrap();
    RemoteSettings { address, namespace: "test".into(), budget: PATIENCE, patience: PATIENCE }
}

pub(crate) fn counts(kit: &Kit) -> RemoteCounts {
    kit.cache.counts().remote.unwrap()
}

/// Waits until the counts are as they should be.
pub(crate) async fn until(kit: &Kit, is: impl Fn(&RemoteCounts) -> bool) {
    let begun = Instant::now();
    let mut look = tokio::time::interval(Duration::from_millis(2));
    while !is(&counts(kit)) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", counts(kit));
        look.tick().await;
    }
}
