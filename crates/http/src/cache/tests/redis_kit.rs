//! A Redis of the test's own, on a free port of the loopback.

use super::kit::{Kit, PATIENCE};
use super::port_kit::free_port;
use crate::cache::{Address, Clock, RemoteCounts, RemoteSettings};
use redis::{Client, FromRedisValue, RedisResult};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server. It ends with this.
pub(crate) struct Redis {
    pub(crate) port: u16,
    child: Child,
}

impl Redis {
    pub(crate) fn start() -> Self {
        Self::start_on(free_port(), &[])
    }

    /// Starts one and waits until it says that it is ready. It keeps nothing on the disk.
    pub(crate) fn start_on(port: u16, more: &[&str]) -> Self {
        let folder = std::env::temp_dir().to_string_lossy().into_owned();
        let port_text = port.to_string();
        let mut child = Command::new("redis-server")
            .args([
                "--bind",
                "127.0.0.1",
                "--port",
                &port_text,
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                &folder,
            ])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed; `scripts/test.sh` does so");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.any(|line| line.unwrap().contains("Ready to accept connections"));
        assert!(ready, "redis-server did not start");
        // Further output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { port, child }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let done = Command::new("kill")
            .args([&format!("-{signal}"), &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(done.success());
    }

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

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
