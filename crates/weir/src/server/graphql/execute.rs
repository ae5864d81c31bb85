//! The only path of client requests to the engine, with admission and the check of the allow list.
//!
//! **Invariant:** no other module of the server asks the engine to execute; a tidy test holds it.

mod admission;
mod offer_to_mirror;

use crate::generation::admission::refusal_response;
use crate::observer::observer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::context::RequestContext;
use crate::server::telemetry::noted::Noted;
use admission::admit;
#[cfg(feature = "mcp")]
pub(super) use admission::count_request;
use hyper::http::request::Parts;
use offer_to_mirror::offer_to_mirror;
use std::future::poll_fn;
use std::pin::pin;
use std::time::{Duration, Instant, SystemTime};
use weir_engine::bound_operation::BoundOperation;
use weir_engine::caller::ADMIN;
use weir_engine::engine::{Explanation, Outcome, Request, Response};
use weir_engine::operation_samples::SlowExecution;
use weir_engine::source::{Caller, Protocol};
use weir_language::ast::OperationKind;

/// Maximum size of a plan in the log, in bytes.
const PLAN_BYTES_MAX: usize = 8 * 1024;

/// Header of clients that want to know the cost of their operation.
const COST: &str = "x-weir-cost";

/// Executes `request`, if `caller` is admitted and the allow list permits its document.
pub(crate) async fn execute(context: &RequestContext, request: Request<'_>, caller: &Caller) -> Response {
    let request = match permit(context, request, caller).await {
        Ok(request) => request,
        Err(response) => return *response,
    };
    let log = &context.generation.config.log;
    if log.access || context.span.is_some() {
        context.noted.borrow_mut().caller = Some(caller.clone());
    }
    let engine = context.engine();
    let request = Request { shows_cost: asks_cost(context, request, caller), ..request };
    // Not moved into a helper function: a future passed as an argument would be stored twice.
    let mut executing = pin!(engine.execute(request, caller));
    let mut busy = Duration::ZERO;
    let (mut response, ended) = poll_fn(|cx| {
        let began = Instant::now();
        let polled = executing.as_mut().poll(cx);
        let ended = Instant::now();
        busy += ended - began;
        polled.map(|response| (response, ended))
    })
    .await;
    // Time for which the request occupied its thread: its CPU time.
    response.timing.busy = busy;
    let is_slow = ended - context.started >= Duration::from_millis(log.slow_ms.into());
    if is_slow && response.outcome == Outcome::Executed {
        let plan = engine.explain(request, caller).ok().map(|it| statements_text(&it));
        *context.noted.borrow_mut() = Noted { caller: Some(caller.clone()), plan };
    }
    let total = ended - context.started;
    if let Some(number) = response.operation.filter(|it| observer().operations.is_slowest(*it, total)) {
        let steps = engine.explain(request, caller).map(|it| it.steps).unwrap_or_default();
        keep_slowest(number, total, &response, SlowStatements { role: caller.role(), steps });
    }
    if let Some(mirror) = &context.generation.mirror {
        Box::pin(offer_to_mirror(context, mirror, request, caller, &response)).await;
    }
    response
}

/// True if the client asks what its operation costs, and may know.
fn asks_cost(context: &RequestContext, request: Request<'_>, caller: &Caller) -> bool {
    let cost = context.generation.config.limits.cost.as_ref();
    cost.is_some_and(|it| request.headers.get(COST).is_some() && it.is_shown_to(caller.role()))
}

/// Role and statements of a slow request.
struct SlowStatements<'r> {
    role: &'r str,
    steps: Vec<(String, String)>,
}

/// Keeps `response`, which took `total`, as the slowest of its operation.
#[cold]
fn keep_slowest(number: u64, total: Duration, response: &Response, statements: SlowStatements<'_>) {
    let SlowStatements { role, steps } = statements;
    let mut room = PLAN_BYTES_MAX;
    let steps = steps.into_iter().map(|(source, mut text)| {
        text.truncate(text.floor_char_boundary(room));
        room -= text.len();
        (source.into(), text.trim_end().into())
    });
    let slow = SlowExecution {
        total_us: u64::try_from(total.as_micros()).unwrap_or(u64::MAX),
        timing: response.timing,
        at: SystemTime::now(),
        role: role.into(),
        steps: steps.collect(),
    };
    observer().operations.keep_slowest(number, slow);
}

/// Refuses a mutation sent by a web page of a foreign origin. Browsers send no preflight before a GET.
pub(crate) async fn check_origin(
    context: &RequestContext,
    head: &Parts,
    request: Request<'_>,
    caller: &Caller,
) -> Result<(), Refusal> {
    if context.generation.cors.may_call(head) {
        return Ok(());
    }
    match context.engine().bind(request, caller).await {
        Ok(bound) if bound.may_change_data() => Err(Refusal::of_another_origin()),
        // Other refusals are reported in the format of the endpoint.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Statements and call templates of a plan. The plan tree is omitted, because it contains literals of the document.
fn statements_text(explanation: &Explanation) -> String {
    let pieces = explanation.steps.iter().map(|(source, text)| format!("{source}: {}", text.trim_end()));
    let mut plan = pieces.collect::<Vec<_>>().join("\n");
    plan.truncate(plan.floor_char_boundary(PLAN_BYTES_MAX));
    plan
}

/// Start of an operation over a transport that can deliver several results.
pub(crate) enum Begun {
    /// Result of a query or mutation, or of a refused operation.
    Answered(Box<Response>),
    /// A subscription.
    Live(BoundOperation),
}

/// Executes `request`, or binds it if it is a subscription.
pub(crate) async fn begin(context: &RequestContext, request: Request<'_>, caller: &Caller) -> Begun {
    let request = match permit(context, request, caller).await {
        Ok(request) => request,
        Err(response) => return Begun::Answered(response),
    };
    match context.engine().bind(request, caller).await {
        Ok(bound) if bound.kind() == OperationKind::Subscription => Begun::Live(bound),
        Ok(_) => Begun::Answered(execute(context, request, caller).await.into()),
        Err(refused) => Begun::Answered(refused.into()),
    }
}

/// The request, if `caller` is admitted and the allow list permits its document.
/// # Errors
/// The response to a request that may not run.
pub(super) async fn permit<'r>(
    context: &RequestContext,
    request: Request<'r>,
    caller: &Caller,
) -> Result<Request<'r>, Box<Response>> {
    let is_limited = !context.generation.admission.is_idle();
    let request = if is_limited { Box::pin(admit(context, request, caller)).await? } else { request };
    if is_text_allowed(context, request.query, caller) {
        return Ok(request);
    }
    let code = match request.protocol {
        Protocol::Hasura => "validation-failed",
        Protocol::GraphqlOverHttp => "QUERY_NOT_ALLOWED",
    };
    Err(refusal_response(request.protocol, "query is not allowed", code))
}

/// True if there is no allow list, or it contains the document.
pub(super) fn is_text_allowed(context: &RequestContext, text: &str, caller: &Caller) -> bool {
    caller.role() == ADMIN || context.generation.operations.allows(text, caller.role())
}
