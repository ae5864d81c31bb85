//! Streams of results over HTTP: server-sent events and multipart responses.
//!
//! **Invariant:** a client that does not read has at most two results waiting; the next one is the newest then. A sign of life is sent at once, so that
//! proxies and browsers let the first result through, and again while there is nothing else.
//!
//! Sources: the protocol of the npm package graphql-sse, distinct connections; Apollo's multipart protocol for subscriptions.

use super::live_operation;
use super::live_operation::{
    LaterParts, LiveClient, LiveOperation, LiveSession, LiveStart, LiveStep, WholeAnswer,
};
use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::ResponseBody;
use crate::server::request::client_headers::copy_headers;
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::{self, StreamForm};
use crate::server::request::reserved_streams::{EventSender, RESULTS_MAX};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::Session;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::consistency::Positions;
use weir_engine::engine::Execution;
use weir_engine::unread::channel;
use weir_transport::events::Framing;

/// Interval of keep-alive events: less than half the shortest idle timeout of usual proxies.
pub(super) const LIFE: Duration = Duration::from_secs(10);
/// Header that makes nginx forward each event at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A request for a stream.
pub(super) struct StreamRequest<'r> {
    pub(super) headers: &'r HeaderMap,
    /// Members of a POST body, as JSON.
    pub(super) payload: String,
    pub(super) is_get: bool,
    pub(super) endpoint: Endpoint,
    pub(super) session: Session,
}

/// Answers with a stream: of all results for a subscription, of one result for other operations.
pub(super) async fn answer(context: &RequestContext, request: StreamRequest<'_>, form: StreamForm) -> Answer {
    let StreamRequest { headers, payload, is_get, endpoint, session } = request;
    let client = LiveClient {
        worker: Rc::clone(&context.worker),
        watched: Rc::clone(&context.watched),
        peer: context.peer,
        endpoint,
        is_relay: context.is_relay(),
        headers: Rc::new(copy_headers(headers)),
        positions: Arc::new(Positions::default()),
        is_get,
        increments: negotiate::increments(headers).filter(|it| it.1 == form).map(|it| it.0),
    };
    let session = LiveSession { identity: session.identity, expires_ms: session.expires_ms };
    let (body, verdict, execution) =
        match Box::pin(live_operation::start(context, client, session, payload)).await {
            LiveStart::Answered(WholeAnswer { verdict, execution, body, later: Some(rest), .. }) => {
                (parts(form, &body, *rest), verdict, execution)
            }
            LiveStart::Answered(WholeAnswer { verdict, execution, body, .. }) => {
                let mut all = form.head();
                all.extend_from_slice(&form.result(&body));
                all.extend_from_slice(&form.end());
                (ResponseBody::whole(all), verdict, execution)
            }
            LiveStart::Live(operation) => {
                let (sender, receiver) = channel(RESULTS_MAX);
                let mut head = form.head();
                head.extend_from_slice(&form.life());
                tokio::task::spawn_local(async move {
                    pump(operation, &sender, &Framing::new(form)).await;
                });
                (ResponseBody::stream(head, receiver, None), Verdict::Executed, None)
            }
        };
    stream_answer(body, form, endpoint, Executed { verdict, execution })
}

/// Streams the parts of an incremental answer.
pub(super) fn parts(form: StreamForm, first: &[u8], mut rest: LaterParts) -> ResponseBody {
    let (sender, mut receiver) = channel(RESULTS_MAX);
    receiver.fed_by([rest.unread_count().clone()]);
    let mut head = form.head();
    head.extend_from_slice(&form.result(first));
    tokio::task::spawn_local(async move {
        loop {
            let part = tokio::select! {
                part = rest.recv() => part.map(|it| it.map(|it| form.result(&it))),
                () = sender.wait_until_closed() => return,
                () = tokio::time::sleep(LIFE), if form == StreamForm::Events => Some(Ok(form.life())),
            };
            let is_last = part.is_none();
            let sent = sender.send(part.unwrap_or_else(|| Ok(form.end()))).await;
            if is_last || sent.is_err() {
                return;
            }
        }
    });
    ResponseBody::stream(head, receiver, None)
}

/// Counts of an answer.
pub(super) struct Executed {
    pub(super) verdict: Verdict,
    pub(super) execution: Option<Execution>,
}

/// An answer whose body is a stream.
pub(super) fn stream_answer(
    body: ResponseBody,
    form: StreamForm,
    endpoint: Endpoint,
    executed: Executed,
) -> Answer {
    let Executed { verdict, execution } = executed;
    let mut response = Response::new(body);
    let told = response.headers_mut();
    told.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    told.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    told.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Answer { response, endpoint, verdict, execution }
}

/// Sends the results of `operation` until it ends or its client is gone.
pub(super) async fn pump(mut operation: Box<LiveOperation>, sender: &EventSender, framing: &Framing) {
    let mut phase = operation.phase();
    loop {
        let step = tokio::select! {
            step = operation.next() => step,
            () = sender.wait_until_closed() => return,
            // A stream shared by several operations sends its own keep-alive events.
            () = tokio::time::sleep(LIFE), if !framing.is_shared() => {
                if sender.send(Ok(framing.life())).await.is_err() {
                    return;
                }
                continue;
            }
            // At shutdown the client reconnects to another server.
            _ = phase.wait_for(|it| it.is_over()) => {
                let _ = sender.send(Ok(framing.end())).await;
                return;
            }
        };
        let last = match step {
            LiveStep::Result(result) => {
                if sender.send(Ok(framing.result(&result.body))).await.is_err() {
                    return;
                }
                continue;
            }
            LiveStep::Refused(body) => framing.result(&body),
            LiveStep::Denied(error) => framing.failure(&error.message, "ACCESS_DENIED"),
            LiveStep::Expired => framing.failure("the session has ended", "ACCESS_DENIED"),
            LiveStep::Ended => {
                let _ = sender.send(Ok(framing.end())).await;
                return;
            }
        };
        // Without a client there is no need for an end event.
        if sender.send(Ok(last)).await.is_ok() {
            let _ = sender.send(Ok(framing.end())).await;
        }
        return;
    }
}
