//! A Redis of a test's own, on a port of the loopback.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use super::port_kit::free_port;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that keeps nothing on the disk. It ends with this.
pub struct Redis {
    pub port: u16,
    child: Child,
}

impl Redis {
    pub fn start() -> Self {
        Self::start_on(free_port(), &[])
    }

    /// Starts one, with more options, and waits until it says that it is ready.
    pub fn start_on(port: u16, more: &[&str]) -> Self {
        let folder = std::env::temp_dir().to_string_lossy().into_owned();
        let mut child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir", &folder])
            .args(["--save", "", "--appendonly", "no"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed; `scripts/test.sh` does so");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let ready = lines.any(|line| line.is_ok_and(|it| it.contains("Ready to accept connections")));
        assert!(ready, "redis-server did not start");
        // Further output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { port, child }
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{signal}"), &id]).status();
        assert!(status.is_ok_and(|it| it.success()));
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
