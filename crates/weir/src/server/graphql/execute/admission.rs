//! Admission of an operation: rates and limits of its caller, before anything reads its text for execution.
//!
//! **Invariant:** each operation is counted once, over every transport: each request of a list, each message of a socket, each request for a
//! stream; a subscription when it begins, not when a reload plans it again.

use crate::generation::Generation;
use crate::generation::admission::{Asker, RateRefusal};
use crate::server::request::context::RequestContext;
use crate::server::request::rate_fields::RateRecord;
use weir_engine::engine::{Request, Response};
use weir_engine::source::Caller;

/// The request, with the deadline of its caller.
/// # Errors
/// The response to a request that is not admitted.
pub(super) async fn admit<'r>(
    context: &RequestContext,
    request: Request<'r>,
    caller: &Caller,
) -> Result<Request<'r>, Box<Response>> {
    let asker = find_asker(context, caller, request.query, request.operation_name);
    count(context, &asker).await.map_err(|refusal| refusal.response(request.protocol))?;
    context.generation.admission.limit_request(&asker, request)
}

/// Counts a request that runs the document `text`, or none if that is empty, unless it was counted.
/// # Errors
/// A rate refuses it.
#[cfg(feature = "mcp")]
pub(crate) async fn count_request(
    context: &RequestContext,
    caller: &Caller,
    text: &str,
    operation_name: Option<&str>,
) -> Result<(), RateRefusal> {
    if context.generation.admission.is_idle() {
        return Ok(());
    }
    count(context, &find_asker(context, caller, text, operation_name)).await
}

fn find_asker<'a>(
    context: &RequestContext,
    caller: &'a Caller,
    text: &'a str,
    operation_name: Option<&'a str>,
) -> Asker<'a> {
    let is_proven = !context.generation.authenticator.is_open();
    Asker { caller, address: context.peer, is_proven, text, operation_name }
}

async fn count(context: &RequestContext, asker: &Asker<'_>) -> Result<(), RateRefusal> {
    if !context.rates.borrow().is_counted {
        let Generation { admission, operations, .. } = &*context.generation;
        let mut states = Vec::new();
        let counted = admission.count(asker, &operations.known, &mut states).await;
        if let Err(refusal) = &counted {
            context.worker.metrics.count_rate_refusal(&refusal.name);
        }
        context.rates.replace(RateRecord { is_counted: true, states, refusal: counted.err() });
    }
    context.rates.borrow().refusal.clone().map_or(Ok(()), Err)
}
