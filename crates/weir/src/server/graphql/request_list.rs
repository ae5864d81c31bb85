//! A list of requests in one body of `/graphql` or `/v1/graphql`.
//!
//! **Invariant:** the requests of a list run one after another, each on its own; their answers leave in the same order.

use super::execute::execute;
use super::hasura_request::hasura_words;
use super::resolve_document::resolve_body;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::{Refusal, error_body};
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::client_headers::ClientHeaders;
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::Media;
use crate::server::request::receive::{Unusable, check_list};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use bytes::Bytes;
use futures_util::FutureExt;
use hyper::{HeaderMap, StatusCode};
use std::panic::AssertUnwindSafe;
use weir_engine::demand::SpentCost;
use weir_engine::engine::{Aborted, Body, Request};
use weir_engine::source::{Caller, Protocol};
use weir_engine::unread;
use weir_language::json::{Json, JsonBuffer, JsonRef};

/// Size at which the buffer of answers is sent, in bytes.
const BATCH_CHUNK_BYTES: usize = 64 * 1024;

/// Endpoint of a batch, with the format of its answer.
#[derive(Clone, Copy)]
pub(super) struct BatchForm {
    pub(super) endpoint: Endpoint,
    pub(super) media: Media,
}

impl BatchForm {
    /// The form of a list on `/v1/graphql`.
    pub(super) const HASURA: Self = Self { endpoint: Endpoint::Hasura, media: Media::Json };

    /// The form of a list on `/graphql`.
    pub(super) const fn of_graphql(media: Media) -> Self {
        Self { endpoint: Endpoint::Graphql, media }
    }

    /// Answer to a request that cannot be used.
    fn refusal(self, unusable: &Unusable) -> Vec<u8> {
        match self.endpoint {
            Endpoint::Hasura => {
                let (message, code) = hasura_words(unusable);
                error_body(message, code, Some("$"))
            }
            Endpoint::Graphql | Endpoint::Mcp | Endpoint::Other => {
                error_body(unusable.message(), unusable.persisted_code().unwrap_or("BAD_REQUEST"), None)
            }
        }
    }

    /// Answer to a list of `count` requests, of which the role of the caller may send `count_max`.
    fn long_list_answer(self, count: usize, count_max: u32) -> Answer {
        let message = format!("{count} requests in one list; {count_max} are allowed to this role");
        let (status, body) = match self.endpoint {
            Endpoint::Hasura => (StatusCode::OK, error_body(&message, "batch-limit-exceeded", Some("$"))),
            Endpoint::Graphql | Endpoint::Mcp | Endpoint::Other => {
                (StatusCode::BAD_REQUEST, error_body(&message, "LIMIT_BATCH", None))
            }
        };
        let response = json(status, self.media, ResponseBody::whole(body));
        Answer { response, endpoint: self.endpoint, verdict: Verdict::Refused, execution: None }
    }

    const fn protocol(self) -> Protocol {
        match self.endpoint {
            Endpoint::Hasura => Protocol::Hasura,
            Endpoint::Graphql | Endpoint::Mcp | Endpoint::Other => Protocol::GraphqlOverHttp,
        }
    }
}

/// A list of requests, as it came.
pub(super) struct RequestList {
    pub(super) text: Bytes,
    /// Number of its requests.
    pub(super) count: usize,
}

/// Sender of a list, and the form of its answer.
#[derive(Clone, Copy)]
struct BatchClient<'b> {
    caller: &'b Caller,
    headers: &'b ClientHeaders<'b>,
    form: BatchForm,
}

/// Answers a list of requests as a stream.
pub(super) fn batch(
    context: &RequestContext,
    headers: &HeaderMap,
    list: RequestList,
    caller: Caller,
    form: BatchForm,
) -> Result<Answer, Refusal> {
    let RequestList { text, count } = list;
    let batch_max = usize::from(context.generation.config.limits.batch_max);
    if let Some(role_max) = context.generation.admission.batch_max(caller.role())
        && count > role_max as usize
    {
        return Ok(form.long_list_answer(count, role_max));
    }
    // Hasura answers a list of none by one.
    if count > 0 || form.endpoint != Endpoint::Hasura {
        check_list(count, batch_max)?;
    }
    context.client(headers)?;
    let (send, rest) = unread::channel(2);
    let context = context.clone_for_task();
    let headers = headers.clone();
    tokio::task::spawn_local(async move {
        // The headers were parsed without an error before.
        let Ok(headers) = context.client(&headers) else { return };
        let client = BatchClient { caller: &caller, headers: &headers, form };
        let work = run_batch(&context, &text, client, &send);
        let work = AssertUnwindSafe(work).catch_unwind();
        // Break the stream off, so that the client does not mistake a part for the whole.
        if work.await.is_err() {
            context.worker.metrics.panics.inc();
            let _ = send.send(Err(Aborted)).await;
        }
    });
    let response = json(StatusCode::OK, form.media, ResponseBody::stream(Vec::new(), rest, None));
    Ok(Answer { response, endpoint: form.endpoint, verdict: Verdict::Executed, execution: None })
}

type Sender = unread::Sender<Result<Vec<u8>, Aborted>>;

/// Runs the requests one after the other, until the last or until the client is gone.
async fn run_batch(context: &RequestContext, text: &[u8], client: BatchClient<'_>, send: &Sender) {
    let nesting_max = context.generation.config.limits.nesting_max;
    // The text was parsed before, to count its requests.
    let Ok(tape) = Json::parse_in(JsonBuffer::default(), text, nesting_max) else { return };
    let mut out = vec![b'['];
    let spent = SpentCost::default();
    for (place, item) in tape.root().items().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        if run_one(context, (item, &spent), client, &mut out, send).await.is_none() {
            return;
        }
        if out.len() >= BATCH_CHUNK_BYTES && send.send(Ok(std::mem::take(&mut out))).await.is_err() {
            return;
        }
    }
    out.push(b']');
    let _ = send.send(Ok(out)).await;
}

/// Appends the answer of one request; `None` if the stream ended.
async fn run_one(
    context: &RequestContext,
    (item, spent): (JsonRef<'_>, &SpentCost),
    client: BatchClient<'_>,
    out: &mut Vec<u8>,
    send: &Sender,
) -> Option<()> {
    let BatchClient { caller, headers, form } = client;
    // Each request of a list is counted.
    context.rates.take();
    let params = match resolve_body(context, caller, form.protocol(), item).await {
        Ok(params) => params,
        Err(unusable) => {
            out.extend_from_slice(&form.refusal(&unusable));
            return Some(());
        }
    };
    let request = engine_request(context, &params, headers, form.protocol(), false);
    let request = Request { spent: Some(spent), ..request };
    let made = execute(context, request, caller).await;
    context.worker.metrics.execution(&made.execution(), context.started.elapsed());
    match made.body {
        Body::Whole(bytes) => out.extend_from_slice(&bytes),
        Body::Shared(bytes) => out.extend_from_slice(&bytes),
        // Requests of a batch do not ask for incremental delivery.
        Body::Stream { head, mut rest } | Body::Increments { first: head, mut rest } => {
            out.extend_from_slice(&head);
            send.send(Ok(std::mem::take(out))).await.ok()?;
            while let Some(chunk) = rest.recv().await {
                let whole = chunk.is_ok();
                send.send(chunk).await.ok().filter(|()| whole)?;
            }
        }
    }
    Some(())
}
