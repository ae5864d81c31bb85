//! A service for tests: answers from a list, and keeps what it was asked.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One answer. Of several for one request the first that fits is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// `GET /matches/1`, with the query.
    pub ask: String,
    /// Headers the request has to have.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default)]
    pub answer: Option<serde_json::Value>,
    /// The body as it is.
    #[serde(default)]
    pub text: Option<String>,
}

const fn ok() -> u16 {
    200
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET /matches/1`.
    pub line: String,
    /// But for those that any client sends.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// The service.
pub struct Upstream {
    pub address: SocketAddr,
    answers: Arc<Mutex<Vec<Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Upstream {
    /// Listens on a port of its own.
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let answers = Arc::new(Mutex::new(answers));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = (Arc::clone(&answers), Arc::clone(&asked));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (answers, asked) = shared.clone();
                std::thread::spawn(move || serve(&socket, &answers, &asked));
            }
        });
        Self { address, answers, asked }
    }

    /// Answers each request by `answer`, a status and a body of JSON, with a cookie.
    pub fn start_with(answer: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = (Arc::new(answer), Arc::clone(&asked));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (answer, asked) = shared.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(&socket);
                    while let Some(request) = read(&mut reader) {
                        asked.lock().expect("no test panics with it").push(request.clone());
                        let (status, body) = answer(&request);
                        let length = body.len();
                        let head = "content-type: application/json\r\nset-cookie: shop=1\r\n";
                        let text =
                            format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{head}\r\n{body}");
                        if (&socket).write_all(text.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, answers: Arc::default(), asked }
    }

    /// Answers otherwise from now on.
    pub fn set(&self, answers: Vec<Answer>) {
        *self.answers.lock().expect("no test panics with it") = answers;
    }

    /// Requests since the last call. Concurrent requests arrive in any order, so reads are sorted between the writes.
    pub fn take_requests(&self) -> Vec<Asked> {
        let mut asked = std::mem::take(&mut *self.asked.lock().expect("no test panics with it"));
        let is_read = |it: &Asked| it.line.starts_with("GET ");
        for run in asked.chunk_by_mut(|a, b| is_read(a) && is_read(b)) {
            run.sort_by(|a, b| (&a.line, &a.headers).cmp(&(&b.line, &b.headers)));
        }
        asked
    }
}

/// Reads a list of answers.
pub fn answers(yaml: &str) -> Vec<Answer> {
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("the answers of the service: {error}"))
}

/// Requests of one connection, until it is closed.
fn serve(socket: &TcpStream, answers: &Mutex<Vec<Answer>>, asked: &Mutex<Vec<Asked>>) {
    // A client that goes away is none of its business.
    let mut reader = BufReader::new(socket);
    while let Some(request) = read(&mut reader) {
        let known = answers.lock().expect("no test panics with it").clone();
        asked.lock().expect("no test panics with it").push(request.clone());
        let fits = |it: &&Answer| {
            let sent = |(name, value): (&String, &String)| {
                request.headers.iter().any(|it| (&it.0, &it.1) == (name, value))
            };
            it.ask == request.line && it.when.iter().all(sent)
        };
        let (status, headers, body) = match known.iter().find(fits) {
            Some(it) => {
                let json = || it.answer.as_ref().map(ToString::to_string);
                (it.status, it.headers.clone(), it.text.clone().or_else(json).unwrap_or_default())
            }
            None => (404, BTreeMap::new(), r#"{"message":"there is no such thing"}"#.to_owned()),
        };
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        let mut socket = socket;
        if socket.write_all(format!("{head}\r\n{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Asked> {
    const USUAL: [&str; 5] = ["host", "accept", "accept-encoding", "user-agent", "content-length"];
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        let read = reader.read_line(line).ok()?;
        (read > 0).then_some(())
    };
    next(&mut line)?;
    let request = line.trim_end().strip_suffix(" HTTP/1.1")?.to_owned();
    let mut headers = Vec::new();
    let mut body_len = 0;
    loop {
        next(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            body_len = value.parse().ok()?;
        }
        if !USUAL.contains(&name.as_str()) {
            headers.push((name, value.to_owned()));
        }
    }
    headers.sort();
    let mut body = vec![0; body_len];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line: request, headers, body: String::from_utf8(body).ok()? })
}
