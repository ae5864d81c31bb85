//! The document of a request, by its text or by an identifier, over every transport.
//!
//! **Invariant:** no document of a client reaches the engine but through [`resolve`], which also holds `require_id`, or as the text of an
//! agent, whose tool for it only those have who may send any text; what a role may do with a document is decided later, by its text.
//!
//! **Cost:** a look into a table for a stored document, which allocates nothing; nothing for a text without an identifier.

use super::execute::permit;
use crate::log_throttle::LogThrottle;
use crate::operations::SavedOperations;
use crate::server::request::context::RequestContext;
use crate::server::request::receive::{NamedRequest, Params, Unusable};
use crate::server::telemetry::metrics::Lookup;
use std::sync::LazyLock;
use std::time::Duration;
use weir_engine::caller::ADMIN;
use weir_engine::engine::Request;
use weir_engine::source::{Caller, Protocol};
use weir_language::json::JsonRef;
use weir_transport::document_id::{DocumentText, SentId, is_text_hash};
use weir_transport::document_store::Resolution;

/// Throttle of log lines about texts that no store has.
static TEXTS: LazyLock<LogThrottle> = LazyLock::new(LogThrottle::every_minute);

/// Names of the member with an identifier, beside the standard one.
pub(super) fn id_members(context: &RequestContext) -> &[Box<str>] {
    &context.generation.config.operations.persisted.id_members
}

/// The parameters in the object `body`, which `caller` sent.
/// # Errors
/// There is no usable request.
pub(super) async fn resolve_body<'t>(
    context: &RequestContext,
    caller: &Caller,
    protocol: Protocol,
    body: JsonRef<'t>,
) -> Result<Params<'t>, Unusable> {
    let request = NamedRequest::read(body, id_members(context))?;
    resolve(context, caller, protocol, request).await
}

/// The parameters of `request`, with the text of its document.
/// # Errors
/// The identifier is unknown or that of another text, or `caller` may not send a text.
pub(super) async fn resolve<'t>(
    context: &RequestContext,
    caller: &Caller,
    protocol: Protocol,
    request: NamedRequest<'t>,
) -> Result<Params<'t>, Unusable> {
    let metrics = &context.worker.metrics;
    let request = match context.generation.operations.documents.resolve(request) {
        Resolution::Stored(params) => {
            metrics.count_lookup(Lookup::Stored);
            return Ok(params);
        }
        Resolution::OtherText => {
            metrics.count_lookup(Lookup::OtherText);
            return Err(Unusable::OtherHash);
        }
        Resolution::Unknown(request) => request,
    };
    match (&request.id, request.sent_text()) {
        (None, None) => Err(Unusable::NoQuery),
        (None, Some(_)) => {
            check_text(context, caller, &request)?;
            to_params(request)
        }
        (Some(_), None) => Box::pin(find_automatic(context, request)).await,
        (Some(_), Some(_)) => Box::pin(take_text(context, caller, protocol, request)).await,
    }
}

/// The parameters of a request with a text.
fn to_params(mut request: NamedRequest<'_>) -> Result<Params<'_>, Unusable> {
    let text = request.text.take().ok_or(Unusable::NoQuery)?;
    Ok(request.with_text(DocumentText::Sent(text)))
}

/// Refuses a text, counts or logs it, as the configuration says.
fn check_text(context: &RequestContext, caller: &Caller, request: &NamedRequest<'_>) -> Result<(), Unusable> {
    let persisted = &context.generation.config.operations.persisted;
    if !(persisted.require_id || persisted.log_texts) || caller.role() == ADMIN {
        return Ok(());
    }
    context.worker.metrics.count_lookup(Lookup::Text);
    if let Some(count) = TEXTS.note().filter(|_| persisted.log_texts) {
        let operation = request.operation_name.as_deref().unwrap_or_default();
        tracing::warn!(count, role = caller.role(), operation, "requests sent texts that are not stored");
    }
    if persisted.require_id { Err(Unusable::TextAlone) } else { Ok(()) }
}

/// The parameters of a request with nothing but an identifier, which no file has.
async fn find_automatic<'t>(
    context: &RequestContext,
    request: NamedRequest<'t>,
) -> Result<Params<'t>, Unusable> {
    let SavedOperations { documents, automatic, .. } = &context.generation.operations;
    let metrics = &context.worker.metrics;
    let Some(automatic) = automatic else {
        let is_off = documents.is_empty() && !context.generation.config.operations.persisted.require_id;
        metrics.count_lookup(Lookup::Unknown);
        return Err(if is_off { Unusable::PersistedOnly } else { Unusable::UnknownId });
    };
    let hash = request.id.as_ref().and_then(SentId::key).filter(|it| is_text_hash(it));
    let Some(hash) = hash else {
        metrics.count_lookup(Lookup::Unknown);
        return Err(Unusable::UnknownId);
    };
    let known = automatic.find(hash);
    let (text, lookup) = match known {
        Some(text) => (Some(text), Lookup::Automatic),
        None => (automatic.find_shared(hash).await, Lookup::Shared),
    };
    metrics.count_lookup(if text.is_some() { lookup } else { Lookup::Unknown });
    let text = text.ok_or(Unusable::UnknownId)?;
    Ok(request.with_text(DocumentText::Stored(text)))
}

/// The parameters of a request with a text and an identifier, which no file has. A text under its own hash is stored, if its caller may run
/// it.
async fn take_text<'t>(
    context: &RequestContext,
    caller: &Caller,
    protocol: Protocol,
    request: NamedRequest<'t>,
) -> Result<Params<'t>, Unusable> {
    let text = request.sent_text().ok_or(Unusable::NoQuery)?;
    if request.id.as_ref().is_some_and(|it| !it.fits(text)) {
        context.worker.metrics.count_lookup(Lookup::OtherText);
        return Err(Unusable::OtherHash);
    }
    check_text(context, caller, &request)?;
    let automatic = context.generation.operations.automatic.as_ref();
    let hash = request.id.as_ref().and_then(SentId::key).filter(|it| is_text_hash(it));
    if let Some((automatic, hash)) = automatic.zip(hash)
        && automatic.find(hash).is_none()
        && can_run(context, caller, protocol, &request, text).await
    {
        automatic.keep(hash, text);
        context.worker.metrics.count_lookup(Lookup::Registered);
    }
    to_params(request)
}

/// True if `caller` may run `text`: it is admitted, the text is GraphQL, fits the schema, and the allow list has it. Its plan is kept for the
/// request.
async fn can_run(
    context: &RequestContext,
    caller: &Caller,
    protocol: Protocol,
    request: &NamedRequest<'_>,
    text: &str,
) -> bool {
    let patience = Duration::from_secs(u64::from(context.generation.config.limits.request_s));
    let asked = Request {
        operation_name: request.operation_name.as_deref().filter(|it| !it.is_empty()),
        variables: request.variables,
        protocol,
        ..Request::new(text, context.started + patience)
    };
    match permit(context, asked, caller).await {
        Ok(asked) => context.engine().bind(asked, caller).await.is_ok(),
        Err(_) => false,
    }
}
