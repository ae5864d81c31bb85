//! A service for tests: answers from a list, and keeps what it was asked.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use crate::service_kit::{self, Service, reply};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
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
    _service: Service,
}

impl Upstream {
    /// Answers from a list.
    pub fn start(answers: Vec<Answer>) -> Self {
        let answers = Arc::new(Mutex::new(answers));
        let known = Arc::clone(&answers);
        Self::serve(answers, move |asked| find_answer(&known.lock().expect("no test panics with it"), asked))
    }

    /// Answers each request by `answer`, a status and a body of JSON, with a cookie.
    pub fn start_with(answer: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        Self::serve(Arc::default(), move |asked| {
            let (status, body) = answer(asked);
            reply(status, "content-type: application/json\r\nset-cookie: shop=1\r\n", body)
        })
    }

    fn serve(
        answers: Arc<Mutex<Vec<Answer>>>,
        answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let service = Service::start(move |request| {
            let request = Asked::new(request);
            kept.lock().expect("no test panics with it").push(request.clone());
            answer(&request)
        });
        Self { address: service.address, answers, asked, _service: service }
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

/// The first of the answers that fits.
fn find_answer(known: &[Answer], request: &Asked) -> Vec<u8> {
    let fits = |it: &&Answer| {
        let sent = |(name, value): (&String, &String)| {
            request.headers.iter().any(|it| (&it.0, &it.1) == (name, value))
        };
        it.ask == request.line && it.when.iter().all(sent)
    };
    let Some(found) = known.iter().find(fits) else {
        return reply(404, "", r#"{"message":"there is no such thing"}"#);
    };
    let json = || found.answer.as_ref().map(ToString::to_string);
    let body = found.text.clone().or_else(json).unwrap_or_default();
    let headers: String = found.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    reply(found.status, &headers, body)
}

impl Asked {
    fn new(request: &service_kit::Asked) -> Self {
        const USUAL: [&str; 5] = ["host", "accept", "accept-encoding", "user-agent", "content-length"];
        let line = format!("{} {}", request.method, request.path);
        let headers = request.headers.iter().filter(|it| !USUAL.contains(&it.0.as_str()));
        let mut headers: Vec<_> = headers.cloned().collect();
        headers.sort();
        Self { line, headers, body: request.text().to_owned() }
    }
}
