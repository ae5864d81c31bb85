//! HTTP/1.1 services for tests: each request is answered by a function.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request as a service sees it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// Path with the query.
    pub path: String,
    /// Names are in lower case.
    pub headers: Vec<(String, String)>,
    /// Line and headers as they came.
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|it| it.0 == name).map_or("", |it| &it.1)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("it is a text")
    }
}

/// The bytes of an answer with a body of known length; lines of `headers` end in CR LF.
pub fn reply(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A service with a thread for each connection; it ends with this.
pub struct Service {
    pub address: SocketAddr,
    is_ended: Arc<AtomicBool>,
}

impl Service {
    /// Answers each request by the bytes of `answer`: none, or `connection: close`, end the connection.
    pub fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let is_ended = Arc::new(AtomicBool::new(false));
        let answer = Arc::new(answer);
        let ended = Arc::clone(&is_ended);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || converse(&socket, &*answer));
            }
        });
        Self { address, is_ended }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

/// Answers until the client ends. One that goes away ends its connection alone.
fn converse(mut socket: &TcpStream, answer: &dyn Fn(&Asked) -> Vec<u8>) {
    let mut reader = BufReader::new(socket);
    while let Some(asked) = read(&mut reader) {
        let bytes = answer(&asked);
        let is_last = bytes.windows(17).any(|it| it == b"connection: close");
        if bytes.is_empty() || socket.write_all(&bytes).is_err() || is_last {
            return;
        }
    }
}

/// The next request of a connection.
pub fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut head = String::new();
    loop {
        let before = head.len();
        reader.read_line(&mut head).ok().filter(|it| *it > 0)?;
        if head[before..].trim_end().is_empty() {
            break;
        }
    }
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let headers = lines.filter_map(|it| it.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let mut asked = Asked { method, path, headers, head, body: Vec::new() };
    asked.body = vec![0; asked.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}
