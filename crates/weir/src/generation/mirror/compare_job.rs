//! The thread of the mirror: calls the canary and compares its answers.
//!
//! **Invariant:** each job is counted once; nothing of an answer is kept but the place of its first difference and the kinds of the values.

use super::counts::{DifferenceSample, keep_sample};
use super::{MirrorOutcome, WaitingJob, count_outcome};
use crate::log_throttle::LogThrottle;
use std::sync::{Arc, LazyLock};
use std::time::{Instant, SystemTime};
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use weir_load::{ComparedAnswer, FirstDifference, compare_answers};
use weir_webhook::{WebhookClient, WebhookError, WebhookLimits, WebhookRequest, WebhookUrl};

/// Maximum size of the canary's answer, in bytes: more than Weir sends in one piece.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Status of the answers that are mirrored.
const STATUS: u16 = 200;

/// Throttle of log lines about calls without an answer, for the process.
static FAILURES: LazyLock<LogThrottle> = LazyLock::new(LogThrottle::every_minute);
/// Throttle of log lines about answers that differ, for the process.
static DIFFERENCES: LazyLock<LogThrottle> = LazyLock::new(LogThrottle::every_minute);

/// Calls the canary.
#[derive(Clone)]
pub(super) struct Comparer {
    client: Arc<WebhookClient>,
    url: WebhookUrl,
    calls_max: usize,
}

impl Comparer {
    /// Calls the canary at `url`, at most `calls_max` times at once.
    pub(super) fn new(url: &WebhookUrl, calls_max: usize) -> Self {
        let limits = WebhookLimits { body_bytes_max: ANSWER_BYTES_MAX, calls_max, queue_max: 0 };
        Self { client: Arc::new(WebhookClient::new(limits)), url: url.clone(), calls_max }
    }

    /// Does `jobs` until there are no more.
    pub(super) fn run(self, mut jobs: Receiver<WaitingJob>) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(cause) => {
                return tracing::error!(%cause, "nothing is mirrored: its event loop cannot be started");
            }
        };
        runtime.block_on(async move {
            let mut calls = JoinSet::new();
            while let Some(job) = jobs.recv().await {
                if calls.len() >= self.calls_max {
                    calls.join_next().await;
                }
                let comparer = self.clone();
                calls.spawn(async move { count_outcome(comparer.compare(job).await) });
            }
            while calls.join_next().await.is_some() {}
        });
    }

    /// Calls the canary and compares its answer.
    async fn compare(&self, waiting: WaitingJob) -> MirrorOutcome {
        let WaitingJob { job, deadline, _held } = waiting;
        let timeout = deadline.saturating_duration_since(Instant::now());
        if timeout.is_zero() {
            return MirrorOutcome::Dropped;
        }
        let Some(url) = address(&self.url, job.path) else { return MirrorOutcome::Failed };
        let request = WebhookRequest {
            method: hyper::Method::POST,
            url,
            headers: job.headers,
            body: job.body,
            timeout,
            span: None,
        };
        let answer = match self.client.send(&request, deadline).await {
            Ok(answer) => answer,
            Err(error) => {
                log_failure(&error);
                return MirrorOutcome::Failed;
            }
        };
        let own = ComparedAnswer { status: STATUS, body: &job.answer };
        let other = ComparedAnswer { status: answer.status.as_u16(), body: &answer.body };
        let Some(difference) = compare_answers(own, other) else { return MirrorOutcome::Equal };
        if let Some(count) = DIFFERENCES.note() {
            tracing::warn!(count, "answers of the mirror differ: `/admin/mirror` has samples");
        }
        let FirstDifference { path, a, b } = difference;
        keep_sample(DifferenceSample {
            at: SystemTime::now(),
            operation: job.operation,
            request_id: job.request_id,
            path: hide_data_keys(&path),
            ours: kind(&a),
            theirs: kind(&b),
        });
        MirrorOutcome::Different
    }
}

fn log_failure(error: &WebhookError) {
    if let Some(count) = FAILURES.note() {
        tracing::warn!(count, %error, "the mirror did not answer");
    }
}

/// Address of a request that came to `path`: an address without a path keeps it.
fn address(url: &WebhookUrl, path: &str) -> Option<WebhookUrl> {
    match url.path_and_query().as_str() {
        "/" => WebhookUrl::parse(&format!("{}{path}", url.text().trim_end_matches('/'))).ok(),
        _ => Some(url.clone()),
    }
}

/// The JSON pointer `path` without keys that are no names of GraphQL, as they are data.
fn hide_data_keys(path: &str) -> Box<str> {
    let is_name = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let shown: Vec<&str> = path.split('/').map(|it| if is_name(it) { it } else { "*" }).collect();
    shown.join("/").into()
}

/// Kind of the JSON `text`, in place of its value.
fn kind(text: &str) -> &'static str {
    match text.as_bytes() {
        [b'"', ..] => "string",
        [b'{', ..] => "object",
        [b'[', ..] => "list",
        [b'-' | b'0'..=b'9', ..] => "number",
        b"true" | b"false" => "boolean",
        b"null" => "null",
        _ => "no JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_keeps_that_of_requests() {
        let check = |url: &str, expected: &str| {
            let url = WebhookUrl::parse(url).expect("it is an address");
            assert_eq!(address(&url, "/v1/graphql").expect("it is an address").text(), expected);
        };
        check("http://canary:8080", "http://canary:8080/v1/graphql");
        check("http://canary:8080/", "http://canary:8080/v1/graphql");
        check("http://user:secret@canary", "http://user:secret@canary/v1/graphql");
        check("http://canary:8080/other", "http://canary:8080/other");
    }

    #[test]
    fn a_sample_has_no_values_and_no_keys_of_data() {
        assert_eq!(&*hide_data_keys("/data/pet/0/name"), "/data/pet/0/name");
        assert_eq!(&*hide_data_keys("/data/pet/0/notes/ada@example.org/1"), "/data/pet/0/notes/*/1");
        let found = ["\"hush\"", "{\"a\":1}", "[1]", "-1.5", "7", "true", "null", "<html>", ""].map(kind);
        let expected =
            ["string", "object", "list", "number", "number", "boolean", "null", "no JSON", "no JSON"];
        assert_eq!(found, expected);
    }
}
