//! Subscription of one client over any transport, until the client leaves, the session expires, or reading fails for good.
//!
//! **Invariant:** it outlives the generation it began with: under the next one its caller is authenticated and its operation planned anew, so that no
//! result follows the permissions of yesterday. Nothing here keeps the old generation.

use super::execute::{Begun, begin};
use super::hasura_request::{hasura_verdict, hasura_words};
use super::push_cause;
use super::push_cause::{Beginning, PushCause};
use super::resolve_document::resolve_body;
use crate::server::connection::timeouts::ConnectionState;
use crate::server::request::answer::refusal::{Refusal, error_body};
use crate::server::request::auth;
use crate::server::request::context::{RequestContext, ServerPhase, WorkerContext};
use crate::server::request::engine_request::engine_request;
use crate::server::request::rate_fields::RateRecord;
use crate::server::request::receive;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::Session;
use crate::session::auth_error::AuthError;
use bytes::Bytes;
use hyper::HeaderMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use weir_engine::bound_operation::BoundOperation;
use weir_engine::caller::Identity;
use weir_engine::consistency::Positions;
use weir_engine::engine::{Aborted, Body, Execution, IncrementForm, Outcome, Request, Response};
use weir_engine::live::{LiveResult, SubscribeError, Subscription};
use weir_engine::source::Protocol;
use weir_engine::unread::Receiver;
use weir_language::json::JsonBuffer;

/// Client of an operation and its transport.
#[derive(Clone)]
pub(super) struct LiveClient {
    pub(super) worker: Rc<WorkerContext>,
    pub(super) watched: Rc<ConnectionState>,
    pub(super) peer: IpAddr,
    pub(super) endpoint: Endpoint,
    /// True for Relay's API.
    pub(super) is_relay: bool,
    /// Headers with credentials, and headers that sources read.
    pub(super) headers: Rc<HeaderMap>,
    /// Log positions that reads of the operation must have reached.
    pub(super) positions: Arc<Positions>,
    /// True for a GET, which must not change data.
    pub(super) is_get: bool,
    /// Format of incremental parts, if the transport supports them.
    pub(super) increments: Option<IncrementForm>,
}

impl LiveClient {
    pub(super) fn context(&self) -> RequestContext {
        RequestContext::over_socket(&self.worker, &self.watched, self.peer)
    }
}

/// Complete answer of a query, a mutation or a refused operation.
pub(super) struct WholeAnswer {
    pub(super) outcome: Outcome,
    pub(super) verdict: Verdict,
    pub(super) execution: Option<Execution>,
    pub(super) body: Vec<u8>,
    /// Later parts, if `body` is the first of several.
    pub(super) later: Option<Box<LaterParts>>,
}

/// Later parts of an incremental answer.
pub(super) type LaterParts = Receiver<Result<Vec<u8>, Aborted>>;

impl WholeAnswer {
    /// An error before execution.
    pub(super) fn new_error(endpoint: Endpoint, message: &str, code: &str, verdict: Verdict) -> Self {
        let path = (endpoint == Endpoint::Hasura).then_some("$");
        let body = error_body(message, code, path);
        Self { outcome: Outcome::Refused, verdict, execution: None, body, later: None }
    }
}

/// Start of an operation.
pub(super) enum LiveStart {
    Answered(WholeAnswer),
    Live(Box<LiveOperation>),
}

/// One result for one client.
pub(super) struct Push {
    /// JSON of the response.
    pub(super) body: Bytes,
    pub(super) has_errors: bool,
}

/// Next event of a subscription.
pub(super) enum LiveStep {
    Result(Push),
    /// Errors that end it.
    Refused(Vec<u8>),
    /// The caller is refused under the current settings.
    Denied(AuthError),
    /// The session expired.
    Expired,
    /// There are no more events.
    Ended,
}

/// A running subscription.
pub(super) struct LiveOperation {
    client: LiveClient,
    /// Members of a POST body, as JSON.
    payload: String,
    subscription: Subscription,
    serving: watch::Receiver<u64>,
    /// Expiry of the session, in milliseconds since 1970.
    expires_ms: Option<u64>,
    /// True if results include their cause.
    tells_cause: bool,
    /// Present until the first result after the start.
    beginning: Option<Beginning>,
}

/// A planned subscription.
struct Planned {
    operation: BoundOperation,
    /// True if the client asked for causes and may see them.
    tells_cause: bool,
}

/// Parts of a session that a subscription keeps.
pub(super) struct LiveSession {
    pub(super) identity: Identity,
    /// When it ends, in milliseconds since 1970.
    pub(super) expires_ms: Option<u64>,
}

impl LiveSession {
    pub(super) fn of(session: &Session) -> Self {
        Self { identity: session.identity.clone(), expires_ms: session.expires_ms }
    }
}

/// Starts the operation in `payload` for `client`.
pub(super) async fn start(
    context: &RequestContext,
    client: LiveClient,
    session: LiveSession,
    payload: String,
) -> LiveStart {
    let LiveSession { identity, expires_ms } = session;
    // Subscribe before reading the generation, so that no reload is missed.
    let serving = client.worker.live.subscribe_generation();
    let Planned { operation, tells_cause } = match bind(context, &client, &identity, &payload).await {
        Ok(planned) => planned,
        Err(answered) => return LiveStart::Answered(answered),
    };
    let beginning = Some(Beginning { at: Instant::now(), is_renewed: false });
    match context.live().subscribe(operation) {
        Ok(subscription) => LiveStart::Live(Box::new(LiveOperation {
            client,
            payload,
            subscription,
            serving,
            expires_ms,
            tells_cause,
            beginning,
        })),
        Err(error) => LiveStart::Answered(full(client.endpoint, &error)),
    }
}

/// Answer to a subscription beyond the engine's limits.
fn full(endpoint: Endpoint, error: &SubscribeError) -> WholeAnswer {
    let (message, code) = match error {
        SubscribeError::Mutation => ("a mutation cannot be subscribed to", "BAD_REQUEST"),
        SubscribeError::Full => (
            "so many subscriptions run that no other may begin: live.subscriptions_max",
            "LIMIT_SUBSCRIPTIONS",
        ),
        SubscribeError::NoThread => ("the server cannot start a thread for subscriptions", "INTERNAL"),
        SubscribeError::Refused(error) => (&*error.message, error.code),
    };
    WholeAnswer::new_error(endpoint, message, code, Verdict::Failed)
}

/// Plans the operation in `payload`. Any other operation, and any refusal, yields an answer.
async fn bind(
    context: &RequestContext,
    client: &LiveClient,
    identity: &Identity,
    payload: &str,
) -> Result<Planned, WholeAnswer> {
    let endpoint = client.endpoint;
    let refused = |message: &str, code, verdict| WholeAnswer::new_error(endpoint, message, code, verdict);
    if context.generation.is_waiting {
        let Refusal { message, code, .. } = Refusal::no_sources();
        return Err(refused(&message, code, Verdict::Failed));
    }
    let is_configured = endpoint == Endpoint::Graphql && context.generation.config.relay.graphql;
    if (client.is_relay || is_configured)
        && let Err(refusal) = context.take_connections().await
    {
        return Err(refused(&refusal.message, refusal.code, Verdict::Failed));
    }
    let limits = &context.generation.config.limits;
    let tape = receive::json(JsonBuffer::default(), payload.as_bytes(), limits)
        .map_err(|refusal| refused(&refusal.message, refusal.code, Verdict::Rejected))?;
    let protocol = match endpoint {
        Endpoint::Hasura => Protocol::Hasura,
        Endpoint::Graphql | Endpoint::Mcp | Endpoint::Other => Protocol::GraphqlOverHttp,
    };
    let caller = context.engine().caller(identity);
    let params = resolve_body(context, &caller, protocol, tape.root()).await.map_err(|unusable| {
        let (message, code) = match endpoint {
            Endpoint::Hasura => hasura_words(&unusable),
            Endpoint::Graphql | Endpoint::Mcp | Endpoint::Other => {
                (unusable.message(), unusable.persisted_code().unwrap_or("BAD_REQUEST"))
            }
        };
        refused(message, code, Verdict::Rejected)
    })?;
    let headers = context
        .client(&client.headers)
        .map_err(|refusal| refused(&refusal.message, refusal.code, Verdict::Rejected))?
        .share_positions(&client.positions);
    let request = engine_request(context, &params, &headers, protocol, client.is_get);
    let request = Request { increments: client.increments, ..request };
    match begin(context, request, &caller).await {
        Begun::Live(operation) => {
            let tells_cause = push_cause::is_wanted(tape.root())
                && push_cause::may_see_causes(context, &client.headers, identity);
            Ok(Planned { operation, tells_cause })
        }
        Begun::Answered(response) => {
            Err(collect_answer(*response, endpoint, limits.unread_connection_bytes_max).await)
        }
    }
}

/// Collects `response` to a complete answer.
async fn collect_answer(response: Response, endpoint: Endpoint, bytes_max: u64) -> WholeAnswer {
    let outcome = response.outcome;
    let verdict = hasura_verdict(response.outcome);
    let execution = Some(response.execution());
    if let Body::Increments { first: body, rest } = response.body {
        return WholeAnswer { outcome, verdict, execution, body, later: Some(rest.into()) };
    }
    match whole(response.body, bytes_max).await {
        Ok(body) => WholeAnswer { outcome, verdict, execution, body, later: None },
        Err(message) => WholeAnswer::new_error(endpoint, &message, "LIMIT_UNREAD", Verdict::Failed),
    }
}

/// Collects an answer of at most `bytes_max`, since a message cannot be split.
async fn whole(body: Body, bytes_max: u64) -> Result<Vec<u8>, String> {
    let (mut out, mut rest) = match body {
        Body::Whole(bytes) => return Ok(bytes),
        Body::Shared(bytes) => return Ok(bytes.to_vec()),
        Body::Stream { head, rest } | Body::Increments { first: head, rest } => (head, rest),
    };
    while let Some(part) = rest.recv().await {
        out.extend_from_slice(
            &part.map_err(|_| "the source broke off in the middle of the answer".to_owned())?,
        );
        if out.len() as u64 > bytes_max {
            let limit = "unread_connection_bytes_max";
            return Err(format!("the answer is longer than {limit}, {bytes_max} bytes: ask by POST"));
        }
    }
    Ok(out)
}

impl LiveOperation {
    /// Lifecycle phase of the server.
    pub(super) fn phase(&self) -> watch::Receiver<ServerPhase> {
        self.client.worker.phase.clone()
    }

    /// Next result or the end. Safe to cancel.
    ///
    /// **Memory:** every subscriber holds this future while it waits, so rare steps are boxed.
    pub(super) async fn next(&mut self) -> LiveStep {
        loop {
            let expired = expiry(self.expires_ms);
            tokio::select! {
                biased;
                _ = self.serving.changed() => {
                    if let Some(end) = Box::pin(self.renew()).await {
                        return end;
                    }
                }
                () = expired => return LiveStep::Expired,
                result = self.subscription.next() => match result {
                    Some(result) => return LiveStep::Result(self.push(&result)),
                    None if self.subscription.has_ended() => return LiveStep::Ended,
                    // The engine was replaced; the next one is in service already.
                    None => {
                        if let Some(end) = Box::pin(self.renew()).await {
                            return end;
                        }
                    }
                },
            }
        }
    }

    /// Body of `result` for the client.
    fn push(&mut self, result: &LiveResult) -> Push {
        let beginning = self.beginning.take();
        let body = if self.tells_cause {
            push_cause::add_cause(
                &result.body,
                PushCause { cause: &result.cause, due: result.due },
                beginning,
            )
        } else {
            result.body.clone()
        };
        Push { body, has_errors: result.has_errors }
    }

    /// Plans again under the current settings; returns the end if that fails.
    async fn renew(&mut self) -> Option<LiveStep> {
        let context = self.client.context();
        context.rates.replace(RateRecord::of_counted());
        let session = match Box::pin(auth::session(&context, &self.client.headers, None)).await {
            Ok(session) => session,
            Err(error) => return Some(LiveStep::Denied(error)),
        };
        self.expires_ms = session.expires_ms;
        let planned = bind(&context, &self.client, &session.identity, &self.payload).await;
        let Planned { operation, tells_cause } = match planned {
            Ok(planned) => planned,
            Err(answered) => return Some(LiveStep::Refused(answered.body)),
        };
        self.tells_cause = tells_cause;
        let is_renewed = self.beginning.is_none_or(|it| it.is_renewed);
        self.beginning = Some(Beginning { at: Instant::now(), is_renewed });
        match context.live().subscribe_after(operation, &self.subscription) {
            Ok(subscription) => {
                self.subscription = subscription;
                None
            }
            Err(error) => Some(LiveStep::Refused(full(self.client.endpoint, &error).body)),
        }
    }
}

/// Waits until `expires_ms`.
async fn expiry(expires_ms: Option<u64>) {
    let Some(expires_ms) = expires_ms else { return std::future::pending().await };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    tokio::time::sleep(Duration::from_millis(expires_ms).saturating_sub(since)).await;
}
