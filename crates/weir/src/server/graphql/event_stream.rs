//! Results over HTTP as they come: server-sent events, and the parts of a multipart response.
//!
//! **Invariant:** a client that does not read has at most two results waiting; the next one is the newest then. A sign of life is sent at once, so that
//! proxies and browsers let the first result through, and again while there is nothing else.
//!
//! Sources: the protocol of the npm package graphql-sse, distinct connections; Apollo's multipart protocol for subscriptions.

use super::live::{self, LaterParts, LiveClient, LiveOperation, LiveStart, LiveStep, WholeAnswer};
use crate::server::request::client_headers::kept;
use crate::server::request::context::{Answer, RequestContext};
use crate::server::request::negotiate::{self, StreamForm};
use crate::server::request::reserved_streams::{EventSender, RESULTS_MAX};
use crate::server::request::response_body::ResponseBody;
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

/// Time between two signs of life: less than half of the shortest idle limit of usual proxies.
pub(super) const LIFE: Duration = Duration::from_secs(10);
/// Tells nginx to pass each event on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A request for a stream.
pub(super) struct StreamRequest<'r> {
    pub(super) headers: &'r HeaderMap,
    /// JSON: the members that the body of a POST has.
    pub(super) payload: String,
    pub(super) is_get: bool,
    pub(super) endpoint: Endpoint,
    pub(super) session: Session,
}

/// Answers by a stream: of a subscription until one side ends it, of anything else its one result.
pub(super) async fn answer(context: &RequestContext, request: StreamRequest<'_>, form: StreamForm) -> Answer {
    let StreamRequest { headers, payload, is_get, endpoint, session } = request;
    let client = LiveClient {
        worker: Rc::clone(&context.worker),
        watched: Rc::clone(&context.watched),
        peer: context.peer,
        endpoint,
        is_relay: context.is_relay(),
        headers: Rc::new(kept(headers)),
        positions: Arc::new(Positions::default()),
        is_get,
        increments: negotiate::increments(headers).filter(|it| it.1 == form).map(|it| it.0),
    };
    let session = (session.identity, session.expires_ms);
    let (body, verdict, execution) = match Box::pin(live::start(context, client, session, payload)).await {
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
    answered(body, form, endpoint, (verdict, execution))
}

/// The parts of an answer as they come, the first at once.
pub(super) fn parts(form: StreamForm, first: &[u8], mut rest: LaterParts) -> ResponseBody {
    let (sender, mut receiver) = channel(RESULTS_MAX);
    receiver.fed_by([rest.waiting().clone()]);
    let mut head = form.head();
    head.extend_from_slice(&form.result(first));
    tokio::task::spawn_local(async move {
        loop {
            let part = tokio::select! {
                part = rest.recv() => part.map(|it| it.map(|it| form.result(&it))),
                () = sender.gone() => return,
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

/// The answer whose body is a stream.
pub(super) fn answered(
    body: ResponseBody,
    form: StreamForm,
    endpoint: Endpoint,
    (verdict, execution): (Verdict, Option<Execution>),
) -> Answer {
    let mut response = Response::new(body);
    let told = response.headers_mut();
    told.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    told.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    told.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Answer { response, endpoint, verdict, execution }
}

/// Sends the results of `operation` until it ends, or its client is gone.
pub(super) async fn pump(mut operation: Box<LiveOperation>, sender: &EventSender, framing: &Framing) {
    let mut phase = operation.phase();
    loop {
        let step = tokio::select! {
            step = operation.next() => step,
            () = sender.gone() => return,
            // A stream of several operations has its own.
            () = tokio::time::sleep(LIFE), if !framing.is_shared() => {
                if sender.send(Ok(framing.life())).await.is_err() {
                    return;
                }
                continue;
            }
            // The client comes again, to a server that goes on.
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
        // A client that is gone needs no end.
        if sender.send(Ok(last)).await.is_ok() {
            let _ = sender.send(Ok(framing.end())).await;
        }
        return;
    }
}
