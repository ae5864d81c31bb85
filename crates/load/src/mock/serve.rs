//! Server of a scenario: one thread that answers, delays and fails as configured, and counts.
//!
//! `/__stats` returns the counts per endpoint, `/__reset` resets them, `/__set?latency=5ms&errors=0.1&version=3` overrides the
//! scenario until the same key is set to `own`.
//!
//! **Invariant:** the n-th call of an endpoint since the start or a reset has the same latency and the same outcome in every run.
//!
//! **Cost:** an answer that only its target and version decide is made once; a call then is a look-up and a write.

use super::body_template::Asked;
use super::scenario::{Endpoint, Scenario};
use super::scenario_names::Name;
use crate::notation::expression::Value;
use crate::notation::yaml::{Span, unknown_name};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use percent_encoding::percent_decode_str;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The longest body of a request that is read.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Upper bound of the bodies kept in memory, in bytes.
const KEPT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Answers on `listener` until `stop` is done.
/// # Errors
/// Errors of the listener.
pub fn serve(scenario: Scenario, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let service = Rc::new(Service::new(scenario));
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let accept = async {
            loop {
                // The connection ended before it was accepted, or too many are open: try the next one.
                let Ok((socket, _)) = listener.accept().await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                tokio::task::spawn_local(connection(socket, Rc::clone(&service)));
            }
        };
        tokio::select! {
            () = stop => Ok(()),
            () = accept => Ok(()),
        }
    })
}

/// Serves HTTP/1.1, or HTTP/2 with prior knowledge.
async fn connection(socket: tokio::net::TcpStream, service: Rc<Service>) {
    let _ = socket.set_nodelay(true);
    let mut builder = auto::Builder::new(Here);
    builder.http1().pipeline_flush(true);
    let answer = hyper::service::service_fn(move |request| {
        let service = Rc::clone(&service);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    // A client that goes away is no error of the server.
    let _ = builder.serve_connection(TokioIo::new(socket), answer).await;
}

/// Tasks of HTTP/2 stay on this thread.
#[derive(Clone, Copy)]
struct Here;

impl<F: Future<Output: 'static> + 'static> Executor<F> for Here {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// Settings of `/__set` that overrule the scenario.
#[derive(Clone, Copy, Default)]
struct Overrides {
    latency: Option<Duration>,
    errors: Option<f64>,
    version: Option<i64>,
}

/// Counters of one endpoint.
#[derive(Clone, Default)]
struct EndpointCounts {
    calls: u64,
    ids: u64,
    errors: u64,
}

/// An answer without its latency and outcome.
struct Made {
    endpoint: usize,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    ids: u64,
}

struct Service {
    scenario: Scenario,
    begun: Instant,
    overrides: Cell<Overrides>,
    counts: RefCell<Vec<EndpointCounts>>,
    unmatched: Cell<u64>,
    random: RefCell<Vec<fastrand::Rng>>,
    /// Answers to `GET` that are cached, by target, for one version of the data.
    kept: RefCell<HashMap<String, Rc<Made>>>,
    kept_version: Cell<i64>,
    kept_bytes: Cell<usize>,
}

impl Service {
    fn new(scenario: Scenario) -> Self {
        let service = Self {
            begun: Instant::now(),
            overrides: Cell::default(),
            counts: RefCell::default(),
            unmatched: Cell::default(),
            random: RefCell::default(),
            kept: RefCell::default(),
            kept_version: Cell::new(1),
            kept_bytes: Cell::default(),
            scenario,
        };
        service.reset();
        service
    }

    fn reset(&self) {
        *self.counts.borrow_mut() = vec![EndpointCounts::default(); self.scenario.endpoints.len()];
        *self.random.borrow_mut() =
            self.scenario.endpoints.iter().map(|it| fastrand::Rng::with_seed(it.seed)).collect();
        self.unmatched.set(0);
    }

    /// The version of the data, from 1, and the whole seconds until the next.
    fn version(&self) -> (i64, i64) {
        let Some(each) = self.scenario.version else {
            return (self.overrides.get().version.unwrap_or(1), i64::MAX);
        };
        let elapsed = self.begun.elapsed().as_nanos();
        let passed = elapsed / each.as_nanos();
        let left = (each.as_nanos() - elapsed % each.as_nanos()) / 1_000_000_000;
        let passed = i64::try_from(passed).unwrap_or(i64::MAX - 1);
        (self.overrides.get().version.unwrap_or(passed + 1), i64::try_from(left).unwrap_or(i64::MAX))
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if let Some(control) = request.uri().path().strip_prefix("/__") {
            return self.control(control, request.uri().query().unwrap_or_default());
        }
        let (version, left_s) = self.version();
        if let Some(kept) = self.find_kept(request.method(), request.uri(), version) {
            return self.deliver(&kept).await;
        }
        let (head, body) = request.into_parts();
        let path: Vec<String> = head.uri.path().split('/').skip(1).map(decode_percent).collect();
        let Some((endpoint, parameters)) = self.scenario.find(&head.method, &path) else {
            self.unmatched.set(self.unmatched.get() + 1);
            let words = format!("the scenario has no endpoint for {} {}", head.method, head.uri.path());
            return failure(StatusCode::NOT_FOUND, &words);
        };
        let query = pairs(head.uri.query().unwrap_or_default());
        let known = self.scenario.endpoints[endpoint].known.clone();
        let mut asked = Asking {
            parameters,
            query,
            known,
            version,
            left_s,
            seed: self.scenario.seed,
            ..Asking::default()
        };
        if head.method != Method::GET {
            let Ok(read) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
                return failure(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or was not sent whole");
            };
            let read = read.to_bytes();
            asked.body = match serde_json::from_slice(&read) {
                Ok(body) => body,
                Err(_) if read.is_empty() || !self.scenario.endpoints[endpoint].reads_body => {
                    Default::default()
                }
                Err(error) => {
                    return failure(StatusCode::BAD_REQUEST, &format!("the body is no JSON: {error}"));
                }
            };
        }
        asked.headers = head.headers;
        let made = Rc::new(self.make(endpoint, &asked));
        let Endpoint { method, kept, headers_kept, .. } = &self.scenario.endpoints[endpoint];
        if *kept && *headers_kept && *method == Method::GET {
            self.keep(&head.uri, Rc::clone(&made));
        }
        self.deliver(&made).await
    }

    /// Waits and answers, or fails.
    async fn deliver(&self, made: &Made) -> Response<Full<Bytes>> {
        let endpoint = &self.scenario.endpoints[made.endpoint];
        let overrides = self.overrides.get();
        let (latency, failed) = {
            let random = &mut self.random.borrow_mut()[made.endpoint];
            let drawn = endpoint.latency.draw(random);
            (overrides.latency.unwrap_or(drawn), endpoint.failures.draw(overrides.errors, random))
        };
        {
            let count = &mut self.counts.borrow_mut()[made.endpoint];
            count.calls += 1;
            count.ids += made.ids;
            count.errors += u64::from(failed.is_some());
        }
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        if let Some(status) = failed {
            let mut answer = failure(status, "made up by the scenario");
            if let Some(after) = endpoint.failures.retry_after {
                answer.headers_mut().insert(RETRY_AFTER, after.0.as_secs().into());
            }
            return answer;
        }
        let mut answer = Response::new(Full::new(made.body.clone()));
        *answer.status_mut() = made.status;
        answer.headers_mut().clone_from(&made.headers);
        answer
    }

    fn find_kept(&self, method: &Method, uri: &Uri, version: i64) -> Option<Rc<Made>> {
        if self.kept_version.replace(version) != version {
            self.kept.borrow_mut().clear();
            self.kept_bytes.set(0);
        }
        if *method != Method::GET {
            return None;
        }
        self.kept.borrow().get(uri.path_and_query()?.as_str()).cloned()
    }

    /// Makes the answer of an endpoint.
    fn make(&self, endpoint: usize, asked: &Asking) -> Made {
        let Endpoint { body: template, headers: words, seed, status, id, .. } =
            &self.scenario.endpoints[endpoint];
        let key = || id.and_then(|at| asked.parameters.get(at)).map_or(Value::Null, |it| Value::of_text(it));
        let missing = id.is_some() && !asked.exists(&key());
        let mut body = Vec::new();
        match template {
            _ if missing => body.extend_from_slice(br#"{"error":"there is none of that id"}"#),
            Some(it) => it.write(&self.scenario.objects, asked, key(), *seed, &mut body),
            None => {}
        }
        let mut headers = HeaderMap::with_capacity(words.len() + 1);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in words {
            // A value that comes from the request may contain bytes that a header must not.
            if let Ok(value) = HeaderValue::from_str(&value.write(asked, key(), *seed)) {
                headers.insert(name, value);
            }
        }
        let status = if missing { StatusCode::NOT_FOUND } else { *status };
        Made { endpoint, status, headers, body: body.into(), ids: asked.ids.get() }
    }

    fn keep(&self, uri: &Uri, made: Rc<Made>) {
        let Some(target) = uri.path_and_query() else { return };
        let bytes = self.kept_bytes.get() + made.body.len() + target.as_str().len();
        if bytes <= KEPT_BYTES_MAX {
            self.kept_bytes.set(bytes);
            self.kept.borrow_mut().insert(target.as_str().to_string(), made);
        }
    }

    /// Answers a path below `/__`.
    fn control(&self, what: &str, query: &str) -> Response<Full<Bytes>> {
        match what {
            "stats" => {}
            "reset" => self.reset(),
            "set" => {
                let mut overrides = self.overrides.get();
                for (name, value) in pairs(query) {
                    if let Err(message) = overrides.set(&name, &value) {
                        return failure(StatusCode::BAD_REQUEST, &message);
                    }
                }
                self.overrides.set(overrides);
            }
            _ => {
                return failure(
                    StatusCode::NOT_FOUND,
                    &unknown_name("page", what, &["stats", "reset", "set"]),
                );
            }
        }
        let counts = self.counts.borrow();
        let endpoints: serde_json::Map<String, serde_json::Value> = self
            .scenario
            .endpoints
            .iter()
            .zip(counts.iter())
            .map(|(it, count)| {
                (it.name.clone(), json!({"calls": count.calls, "ids": count.ids, "errors": count.errors}))
            })
            .collect();
        let calls: u64 = counts.iter().map(|it| it.calls).sum();
        let stats = json!({
            "calls": calls, "unmatched": self.unmatched.get(), "version": self.version().0, "endpoints": endpoints,
        });
        json_answer(StatusCode::OK, &stats)
    }
}

impl Overrides {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let own = value == "own";
        match name {
            "latency" if own => self.latency = None,
            "latency" => self.latency = Some(Span::read(value)?.0),
            "errors" if own => self.errors = None,
            "errors" => {
                let rate = value.parse().ok().and_then(super::latency::Probability::of);
                self.errors = Some(
                    rate.ok_or_else(|| format!("`{value}` is no probability; write one from 0 to 1"))?.0,
                );
            }
            "version" if own => self.version = None,
            "version" => {
                self.version = Some(
                    value.parse().map_err(|_| format!("`{value}` is no version; write a whole number"))?,
                );
            }
            _ => return Err(unknown_name("parameter", name, &["latency", "errors", "version"])),
        }
        Ok(())
    }
}

/// One request, as templates see it.
#[derive(Default)]
struct Asking {
    parameters: Vec<String>,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    body: serde_json::Value,
    known: Option<std::ops::RangeInclusive<i64>>,
    version: i64,
    left_s: i64,
    seed: u64,
    /// Number of requested ids.
    ids: Cell<u64>,
}

impl Asking {
    fn exists(&self, id: &Value<'_>) -> bool {
        match (&self.known, id) {
            (None, _) => true,
            (Some(known), Value::Int(id)) => known.contains(id),
            (Some(_), Value::Null | Value::Bool(_) | Value::Decimal(_) | Value::Text(_) | Value::Json(_)) => {
                false
            }
        }
    }

    fn in_body(&self, path: &[String]) -> &serde_json::Value {
        path.iter().fold(&self.body, |it, key| &it[key.as_str()])
    }
}

impl Asked for Asking {
    fn value(&self, name: &Name) -> Value<'_> {
        match name {
            Name::Path(at) => self.parameters.get(*at).map_or(Value::Null, |it| Value::of_text(it)),
            Name::Query(name) => {
                self.query.iter().find(|it| it.0 == *name).map_or(Value::Null, |it| Value::of_text(&it.1))
            }
            Name::Header(name) => {
                self.headers.get(name).and_then(|it| it.to_str().ok()).map_or(Value::Null, Value::of_text)
            }
            Name::Body(path) => of_json(self.in_body(path)),
            Name::Version => Value::Int(self.version),
            Name::VersionLeft => Value::Int(self.left_s),
            Name::Id | Name::At(_) => Value::Null,
        }
    }

    fn ids(&self, name: &Name) -> Vec<Value<'_>> {
        let all: Vec<Value<'_>> = match name {
            Name::Query(name) => {
                let named = |key: &str| key == name || key.strip_suffix("[]") == Some(name);
                let of_pair = |it: &'_ (String, String)| named(&it.0);
                self.query
                    .iter()
                    .filter(|it| of_pair(it))
                    .flat_map(|it| it.1.split(','))
                    .map(Value::of_text)
                    .collect()
            }
            Name::Body(path) => self.in_body(path).as_array().into_iter().flatten().map(of_json).collect(),
            Name::Id | Name::At(_) | Name::Path(_) | Name::Header(_) | Name::Version | Name::VersionLeft => {
                Vec::new()
            }
        };
        self.ids.set(self.ids.get() + all.len() as u64);
        all.into_iter().filter(|it| self.exists(it)).collect()
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

fn of_json(value: &serde_json::Value) -> Value<'_> {
    match value {
        serde_json::Value::Bool(it) => Value::Bool(*it),
        serde_json::Value::Number(it) => match (it.as_i64(), it.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, number) => number.map_or(Value::Null, Value::Decimal),
        },
        serde_json::Value::String(it) => Value::Text(it.as_str().into()),
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => Value::Null,
    }
}

fn decode_percent(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The parameters of a query, decoded.
fn pairs(query: &str) -> Vec<(String, String)> {
    let spaced = |it: &str| decode_percent(&it.replace('+', " "));
    let pair = |it: &str| it.split_once('=').map(|(name, value)| (spaced(name), spaced(value)));
    query.split('&').filter_map(pair).collect()
}

fn failure(status: StatusCode, words: &str) -> Response<Full<Bytes>> {
    json_answer(status, &json!({"error": words}))
}

fn json_answer(status: StatusCode, value: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(format!("{value}\n").into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
