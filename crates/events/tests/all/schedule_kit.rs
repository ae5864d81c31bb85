//! Shared parts of tests of schedules: places of the state, a clock that stands still, and a receiver on loopback.

use crate::postgres_kit::{Database, database};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use weir_engine::observer::Observer;
use weir_engine::span::SpanContext;
use weir_events::delivery::{DeliveryTracer, TracedDelivery};
use weir_events::moment::{Clock, Moment};
use weir_events::schedule::{CronTrigger, Scheduler, SchedulerSettings, resolve_triggers};
use weir_events::state::{EventsQuery, InvocationsQuery, ScheduledKind, StateAddress, StateDatabase};
use weir_metadata::document::cron_trigger::CronTriggerEntry;
use weir_metadata::read;
use weir_postgres::Settings;
use weir_webhook::{WebhookClient, WebhookLimits};

/// A database of the state, which ends with its test.
pub(crate) enum Place {
    Postgres(Database),
    Sqlite(PathBuf),
}

impl Place {
    pub(crate) fn postgres() -> Self {
        Self::Postgres(database(""))
    }

    pub(crate) fn sqlite() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::Sqlite(std::env::temp_dir().join(format!("weir-state-{}-{number}", std::process::id())))
    }

    pub(crate) fn open(&self) -> Arc<StateDatabase> {
        Arc::new(StateDatabase::new(match self {
            Self::Postgres(database) => {
                let settings = Settings::parse(&database.socket_url(), |_| None).expect("it is an address");
                StateAddress::Postgres(Box::new(settings))
            }
            Self::Sqlite(folder) => StateAddress::Sqlite(folder.join("state.db")),
        }))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Sqlite(folder) = self {
            // A test that made no file has nothing to remove.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// A clock that a test sets.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment::from_micros(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) fn at(text: &str) -> Moment {
    Moment::parse(text).expect("it is a time")
}

impl ManualClock {
    pub(crate) fn new(text: &str) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(at(text).micros())))
    }

    pub(crate) fn set(&self, text: &str) {
        self.0.store(at(text).micros(), Ordering::SeqCst);
    }

    pub(crate) fn pass(&self, duration: Duration) {
        self.0.store(self.now().after(duration).micros(), Ordering::SeqCst);
    }
}

/// A receiver that answers each request with the next of its answers, and with the last for ever.
pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: Arc<Mutex<VecDeque<(String, Value)>>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer without a body.
pub(crate) fn answer(status: u16, header: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{header}Content-Length: 2\r\nConnection: close\r\n\r\nok")
}

impl Receiver {
    pub(crate) async fn start(answers: &[String]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let requests = Arc::new(Mutex::new(VecDeque::new()));
        let heard = Arc::clone(&requests);
        let mut answers: VecDeque<String> = answers.iter().cloned().collect();
        let task = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let request = read_request(&mut socket).await;
                heard.lock().expect("nobody panicked").push_back(request);
                let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                socket.write_all(answer.unwrap_or_default().as_bytes()).await.expect("the client reads");
            }
        });
        Self { url, requests, task }
    }

    /// Bodies of the requests since the last look.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.requests.lock().expect("nobody panicked").drain(..).map(|it| it.1).collect()
    }

    /// Heads and bodies of the requests since the last look.
    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().expect("nobody panicked").drain(..).collect()
    }
}

async fn read_request(socket: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |it| it.parse().expect("a length is a number")) {
                return (head.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null));
            }
        }
        match socket.read(&mut part).await.expect("the client writes") {
            0 => return (text, Value::Null),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

/// Variables of the tests.
pub(crate) fn environment(name: &str) -> Option<String> {
    (name == "PATH_PART").then(|| "nightly".to_owned())
}

/// A trigger by its members in YAML, beside `include_in_metadata`.
pub(crate) fn trigger(members: &str) -> CronTrigger {
    let entry: CronTriggerEntry =
        read::entry(&format!("include_in_metadata: true\n{members}")).expect("it is a trigger");
    let (mut triggers, wrong) = resolve_triggers(&[entry], &environment);
    assert_eq!(wrong, []);
    triggers.pop().expect("it runs")
}

/// Traces nothing.
#[derive(Debug)]
struct NoTracer;

impl DeliveryTracer for NoTracer {
    fn begin(&self, _: Option<SpanContext>) -> Option<SpanContext> {
        None
    }

    fn end(&self, _: &TracedDelivery<'_>) {}

    fn observer(&self) -> Arc<dyn Observer> {
        unreachable!("nothing is traced")
    }
}

/// A scheduler called `owner` of the events in `database`.
pub(crate) fn scheduler(
    database: &Arc<StateDatabase>,
    clock: &Arc<ManualClock>,
    owner: &str,
) -> Arc<Scheduler> {
    let settings = SchedulerSettings {
        owner: owner.to_owned(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        client: Arc::new(WebhookClient::new(WebhookLimits::USUAL)),
        tracer: Arc::new(NoTracer),
        environment: Arc::new(environment),
        takes_over: false,
    };
    Scheduler::new(Arc::clone(database), settings)
}

/// One look of the scheduler, until nothing is in work.
pub(crate) async fn work(scheduler: &Arc<Scheduler>) {
    while scheduler.step().await.expect("the state is there") == Some(Duration::ZERO) {
        scheduler.drain().await;
    }
    scheduler.drain().await;
}

/// Events of a cron trigger, or one-off events without its name.
pub(crate) async fn events(database: &StateDatabase, trigger: Option<&str>) -> Vec<Value> {
    let kind = trigger.map_or(ScheduledKind::OneOff, |it| ScheduledKind::Cron(Some(it.to_owned())));
    let query = EventsQuery { kind, status: Vec::new(), limit: 5000, offset: 0, with_count: false };
    list(&database.show_events(&query).await.expect("the state is there"), "events")
}

/// Calls of a cron trigger, or of one-off events without its name.
pub(crate) async fn calls(database: &StateDatabase, trigger: Option<&str>) -> Vec<Value> {
    let kind = trigger.map_or(ScheduledKind::OneOff, |it| ScheduledKind::Cron(Some(it.to_owned())));
    let query = InvocationsQuery { kind, event: None, limit: 5000, offset: 0, with_count: false };
    list(&database.show_invocations(&query).await.expect("the state is there"), "invocations")
}

fn list(json: &str, key: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(json).expect("it is JSON");
    value[key].as_array().cloned().expect("it is a list")
}

/// Times and states of `events`, without those ahead.
pub(crate) fn states(events: &[Value]) -> Vec<(String, String, i64)> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let past = events.iter().filter(|it| it["status"] != "scheduled" || it["tries"] != 0);
    past.map(|it| (text(&it["scheduled_time"]), text(&it["status"]), it["tries"].as_i64().unwrap_or(-1)))
        .collect()
}
