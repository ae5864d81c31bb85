//! The mirror: a share of the queries is sent to a canary too, and its answers are compared.
//!
//! Requests hand over what they were asked and what they answered, and go on; one thread calls the canary and compares by the rules of
//! `weir load compare`. It begins with the first such request, and ends with the generation.
//!
//! **Invariant:** nothing of the mirror is awaited by a request, and what waits has limits of number and bytes: beyond them it is dropped
//! and counted. The canary gets no header of the client that the configuration does not name.
//! **Cost:** without a mirror a test of an option; with one a random number, and for what is mirrored a copy of text and answer.

mod compare_job;
mod counts;

use crate::config;
use bytes::Bytes;
use compare_job::Comparer;
pub(crate) use counts::{DifferenceSample, MirrorOutcome, count_outcome, outcome_counts, samples};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel};
use weir_engine::source::Headers;
use weir_webhook::WebhookUrl;

/// Header of mirrored requests, which are never mirrored again.
pub(crate) const MIRROR_MARK: HeaderName = HeaderName::from_static("x-weir-mirror");
/// Number of requests that wait to be mirrored.
const JOBS_MAX: usize = 1024;
/// Headers that each mirrored request passes on: they find it in logs and traces.
const TRACED: [HeaderName; 3] = [
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("baggage"),
];

/// A request to mirror, with its answer.
pub(crate) struct MirrorJob {
    /// Path that the request came to.
    pub(crate) path: &'static str,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The request as JSON.
    pub(crate) body: Bytes,
    pub(crate) answer: Bytes,
    /// Name of the operation; empty for none.
    pub(crate) operation: Box<str>,
    /// The request in logs.
    pub(crate) request_id: Box<str>,
}

impl MirrorJob {
    /// Bytes that the job holds.
    fn bytes(&self) -> usize {
        let of_header = |it: &(HeaderName, HeaderValue)| it.0.as_str().len() + it.1.len();
        let headers: usize = self.headers.iter().map(of_header).sum();
        self.body.len() + self.answer.len() + headers + self.operation.len() + self.request_id.len()
    }
}

/// Bytes of a job, given back when it is dropped.
struct HeldBytes {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A job that waits, until its time is over.
struct WaitingJob {
    job: MirrorJob,
    deadline: Instant,
    _held: HeldBytes,
}

/// The mirror of a generation.
pub(crate) struct ReadMirror {
    settings: config::Mirror,
    url: WebhookUrl,
    /// Names of the client's headers that are passed on.
    passed: Vec<HeaderName>,
    held: Arc<AtomicUsize>,
    jobs: OnceLock<Option<Sender<WaitingJob>>>,
}

impl ReadMirror {
    /// The mirror by `settings`.
    /// # Errors
    /// They have no address or a name that is no header.
    pub(crate) fn new(settings: &config::Mirror) -> Result<Self, String> {
        let url = WebhookUrl::parse(settings.url.expose()).map_err(|_| "`mirror.url` is no address")?;
        let name = |it: &String| HeaderName::from_bytes(it.as_bytes());
        let passed = settings.headers.iter().map(name).collect::<Result<_, _>>();
        Ok(Self {
            settings: settings.clone(),
            url,
            passed: passed.map_err(|cause| format!("`mirror.headers`: {cause}"))?,
            held: Arc::default(),
            jobs: OnceLock::new(),
        })
    }

    /// True if chance chooses a request.
    pub(crate) fn draws(&self) -> bool {
        fastrand::f64() < self.settings.share
    }

    /// True if `headers` are those of a mirrored request.
    pub(crate) fn is_mirrored(headers: &dyn Headers) -> bool {
        headers.get(MIRROR_MARK.as_str()).is_some()
    }

    /// Headers of the mirrored request for one with `headers`.
    pub(crate) fn headers(&self, headers: &dyn Headers) -> Vec<(HeaderName, HeaderValue)> {
        let mut sent = vec![
            (MIRROR_MARK, HeaderValue::from_static("1")),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json")),
        ];
        let id = HeaderValue::from_str(headers.request_id());
        sent.extend(id.ok().map(|it| (HeaderName::from_static("x-request-id"), it)));
        for name in TRACED.iter().chain(&self.passed) {
            if sent.iter().any(|it| it.0 == name) {
                continue;
            }
            headers.each(name.as_str(), &mut |value| {
                sent.extend(HeaderValue::from_bytes(value).ok().map(|it| (name.clone(), it)));
            });
        }
        sent
    }

    /// Has `job` done some time, or drops and counts it.
    pub(crate) fn submit(&self, job: MirrorJob) {
        let bytes = job.bytes();
        let held = HeldBytes { bytes, all: Arc::clone(&self.held) };
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.settings.bytes_max as usize {
            return count_outcome(MirrorOutcome::Dropped);
        }
        let deadline = Instant::now() + Duration::from_millis(u64::from(self.settings.timeout_ms));
        let waiting = WaitingJob { job, deadline, _held: held };
        let jobs = self.jobs.get_or_init(|| self.start());
        if jobs.as_ref().is_none_or(|it| it.try_send(waiting).is_err()) {
            count_outcome(MirrorOutcome::Dropped);
        }
    }

    /// Starts the thread; `None` if it cannot be.
    fn start(&self) -> Option<Sender<WaitingJob>> {
        let (send, jobs) = channel(JOBS_MAX);
        let comparer = Comparer::new(&self.url, usize::from(self.settings.calls_max));
        let thread = std::thread::Builder::new().name("weir-mirror".into());
        match thread.spawn(move || comparer.run(jobs)) {
            Ok(_) => Some(send),
            Err(cause) => {
                tracing::error!(%cause, "nothing is mirrored: its thread cannot be started");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::request::request_headers::NoHeaders;

    fn mirror(share: f64, bytes_max: u32) -> ReadMirror {
        let settings = config::Mirror {
            url: config::Secret::new("http://127.0.0.1:1"),
            share,
            headers: vec!["Authorization".into(), "traceparent".into()],
            timeout_ms: 1000,
            calls_max: 1,
            bytes_max,
        };
        ReadMirror::new(&settings).expect("the settings are right")
    }

    /// Headers of a client.
    struct Sent(&'static [(&'static str, &'static str)]);

    impl Headers for Sent {
        fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
            self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1.as_bytes()));
        }
    }

    #[test]
    fn a_share_is_drawn_without_bias() {
        let drawn = |share| {
            let mirror = mirror(share, 1);
            (0..100_000).filter(|_| mirror.draws()).count()
        };
        assert_eq!((drawn(0.0), drawn(1.0)), (0, 100_000));
        // Six standard deviations.
        assert!((24_178..25_822).contains(&drawn(0.25)));
    }

    #[test]
    fn only_named_headers_and_those_of_traces_are_passed_on() {
        let sent = Sent(&[
            ("authorization", "Bearer t"),
            ("cookie", "session=1"),
            ("x-hasura-admin-secret", "hush"),
            ("x-hasura-role", "user"),
            ("traceparent", "00-1"),
        ]);
        let found = mirror(1.0, 1).headers(&sent);
        let found: Vec<_> =
            found.iter().map(|it| (it.0.as_str(), it.1.to_str().expect("it is text"))).collect();
        let expected = [
            ("x-weir-mirror", "1"),
            ("content-type", "application/json"),
            ("accept", "application/json"),
            ("x-request-id", ""),
            ("traceparent", "00-1"),
            ("authorization", "Bearer t"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_mirrored_request_is_known() {
        assert!(ReadMirror::is_mirrored(&Sent(&[("x-weir-mirror", "1")])));
        assert!(!ReadMirror::is_mirrored(&NoHeaders));
    }

    #[test]
    fn what_waits_has_a_bound_of_bytes_and_gives_them_back() {
        let job = || MirrorJob {
            path: "/graphql",
            headers: Vec::new(),
            body: Bytes::from_static(b"0123456789"),
            answer: Bytes::from_static(b"0123456789"),
            operation: "".into(),
            request_id: "".into(),
        };
        let mirror = mirror(1.0, 50);
        // A thread that never takes a job.
        let (send, mut jobs) = channel(10);
        assert!(mirror.jobs.set(Some(send)).is_ok());
        (0..5).for_each(|_| mirror.submit(job()));
        assert_eq!(mirror.held.load(Ordering::Relaxed), 40);
        drop(jobs.try_recv());
        assert_eq!(mirror.held.load(Ordering::Relaxed), 20);
        mirror.submit(job());
        assert_eq!(mirror.held.load(Ordering::Relaxed), 40);
        assert!(jobs.try_recv().is_ok() && jobs.try_recv().is_ok() && jobs.try_recv().is_err());
    }

    #[test]
    fn what_waits_has_a_bound_of_number() {
        let job = || MirrorJob {
            path: "/graphql",
            headers: Vec::new(),
            body: Bytes::from_static(b"0"),
            answer: Bytes::new(),
            operation: "".into(),
            request_id: "".into(),
        };
        let mirror = mirror(1.0, 1000);
        let (send, mut jobs) = channel(2);
        assert!(mirror.jobs.set(Some(send)).is_ok());
        (0..5).for_each(|_| mirror.submit(job()));
        assert_eq!(mirror.held.load(Ordering::Relaxed), 2);
        assert!(jobs.try_recv().is_ok() && jobs.try_recv().is_ok() && jobs.try_recv().is_err());
    }
}
