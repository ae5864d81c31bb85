//! A Redis of a test's own: behind TLS, and asked past all servers.

#![allow(unreachable_pub, reason = "a module of tests")]

use crate::port_kit::free_port;
pub use crate::redis_server_kit::Redis;
use crate::support::Folder;
use std::io::{Read, Write};
use std::net::TcpStream;

impl Redis {
    /// Starts one behind TLS, with a certificate for `localhost` that it leaves in `folder` as `redis.crt`.
    pub fn start_private(folder: &Folder) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("it can be made");
        let certificate = folder.write("redis.crt", &made.cert.pem()).display().to_string();
        let key = folder.write("redis.key", &made.signing_key.serialize_pem()).display().to_string();
        let port = free_port();
        let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key, "--tls-auth-clients", "no"];
        let ports = ["--port", "0", "--tls-port", &port.to_string()];
        Self::start_on(port, &[&ports[..], &files].concat())
    }

    /// Publishes `message`, past all servers.
    pub fn publish(&self, channel: &str, message: &[u8]) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let mut command = b"*3\r\n".to_vec();
        for word in [&b"PUBLISH"[..], channel.as_bytes(), message] {
            command.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            command.extend_from_slice(&[word, b"\r\n"].concat());
        }
        stream.write_all(&command).expect("it reads");
        let mut answer = [0];
        stream.read_exact(&mut answer).expect("it answers");
        assert_eq!(answer, *b":");
    }

    /// Puts `value` in place of every value whose name fits `pattern`, past all servers. Tells their number.
    pub fn overwrite(&self, pattern: &str, value: &str) -> usize {
        let script = "local names = redis.call('KEYS', ARGV[1]) for _, name in ipairs(names) do redis.call('SET', name, ARGV[2]) end return #names";
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let mut command = b"*5\r\n".to_vec();
        for word in ["EVAL", script, "0", pattern, value] {
            command.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
        }
        stream.write_all(&command).expect("it reads");
        let mut answer = [0; 32];
        let length = stream.read(&mut answer).expect("it answers");
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        answer.trim_start_matches(':').trim().parse().unwrap_or_else(|_| panic!("{answer}"))
    }
}
