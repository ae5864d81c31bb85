//! Authentication of a request: `session` says who calls; here are the patience with wrong secrets and the log of headers that
//! do not count.
//!
//! **Invariant:** the engine's caller has exactly the role, the variables and the claims that `session` vouches for.

use super::answer::refusal::Refusal;
use super::context::RequestContext;
use super::hasura_error::RESTRICTED;
use super::known_callers::Authenticated;
use crate::session::auth_error::{AuthError, AuthFault};
use crate::session::secret::sent_secret;
use crate::session::{Session, bearer_of};
use hyper::header::{AUTHORIZATION, HeaderName};
use hyper::{HeaderMap, StatusCode};
use weir_engine::caller::ADMIN;
use weir_engine::source::Caller;

/// Headers that request a role.
pub(crate) const ROLES: [HeaderName; 2] =
    [HeaderName::from_static("x-hasura-role"), HeaderName::from_static("x-weir-role")];

/// Like [`caller`], before the body is read; `None` if the body is needed for authentication.
pub(crate) async fn caller_before_body(
    context: &RequestContext,
    headers: &HeaderMap,
) -> Result<Option<Caller>, AuthError> {
    if context.generation.authenticator.needs_request(headers) {
        Ok(None)
    } else {
        caller(context, headers, None).await.map(Some)
    }
}

/// Authenticates the caller. `request` is the body, if it was read.
pub(crate) async fn caller(
    context: &RequestContext,
    headers: &HeaderMap,
    request: Option<&[u8]>,
) -> Result<Caller, AuthError> {
    let generation = &context.generation;
    let authenticator = &generation.authenticator;
    if !authenticator.is_open() && sent_secret(headers).is_some() {
        reject_if_throttled(context)?;
    }
    // The thread caches callers only for the main engine. Native sources may add claims that headers alone do not determine.
    let is_usual = std::ptr::eq(context.engine(), &raw const generation.engine);
    let is_kept = is_usual && generation.native_auth.is_idle();
    if is_kept && let Some(known) = known_caller(context, headers) {
        return Ok(known);
    }
    let keys = authenticator.key_number();
    // A boxed future: a request's future is moved before it runs, and should not grow by two kilobytes.
    let session = Box::pin(session(context, headers, request)).await?;
    let caller = context.engine().caller(&session.identity);
    if is_kept {
        let generation = generation.number;
        let authenticated = Authenticated { generation, authenticator, session: &session, keys };
        context.worker.callers.borrow_mut().put(&authenticated, headers, &caller);
    }
    Ok(caller)
}

/// A caller that this thread knows by these headers: the admin on an open server, or one that was authenticated before.
fn known_caller(context: &RequestContext, headers: &HeaderMap) -> Option<Caller> {
    let generation = &context.generation;
    let authenticator = &generation.authenticator;
    if !authenticator.is_open() || !authenticator.is_bare_admin(headers) {
        return context.worker.callers.borrow_mut().get(generation.number, authenticator, headers);
    }
    let mut known = context.worker.admin.borrow_mut();
    if known.as_ref().is_none_or(|it| it.0 != generation.number) {
        *known = Some((generation.number, generation.engine.caller(authenticator.admin())));
    }
    known.as_ref().map(|it| it.1.clone())
}

/// Admits the holder of an admin secret, and any caller with the role admin. If `Authorization` contains no tokens, the secret may be sent
/// there as a bearer token.
pub(crate) async fn operator(context: &RequestContext, headers: &HeaderMap) -> Result<(), AuthError> {
    let authenticator = &context.generation.authenticator;
    if authenticator.is_open() {
        return Err(AuthError::secret_missing());
    }
    if sent_secret(headers).is_none()
        && !authenticator.reads_bearer()
        && let Some(secret) = bearer(headers)
    {
        reject_if_throttled(context)?;
        if authenticator.is_secret(secret) {
            return Ok(());
        }
        note_wrong(context);
        return Err(AuthError::secret_wrong());
    }
    let identity = session(context, headers, None).await?.identity;
    if identity.is_admin() {
        return Ok(());
    }
    // The anonymous role does not identify a caller.
    Err(if identity.is_anonymous { AuthError::secret_missing() } else { AuthError::role() })
}

/// Admits callers with the role admin; without a secret, only in dev mode. Errors have Hasura's wording.
pub(crate) async fn admin(context: &RequestContext, headers: &HeaderMap) -> Result<(), Refusal> {
    let denied = |error: AuthError| match error.fault {
        AuthFault::TooOften => Refusal::from_auth_error(error),
        _ => {
            let status = StatusCode::from_u16(error.hasura_status()).unwrap_or(StatusCode::FORBIDDEN);
            Refusal::new(status, error.hasura_code(), error.message)
        }
    };
    if context.generation.authenticator.is_open() && !context.generation.dev {
        return Err(denied(AuthError::secret_missing()));
    }
    if session(context, headers, None).await.map_err(denied)?.identity.is_admin() {
        Ok(())
    } else {
        Err(Refusal::new(StatusCode::BAD_REQUEST, "access-denied", RESTRICTED))
    }
}

/// Authenticates the caller, unless its address sent too many wrong secrets.
pub(crate) async fn session(
    context: &RequestContext,
    headers: &HeaderMap,
    request: Option<&[u8]>,
) -> Result<Session, AuthError> {
    let authenticator = &context.generation.authenticator;
    if !authenticator.is_open() && sent_secret(headers).is_some() {
        reject_if_throttled(context)?;
    }
    let found = authenticator.authenticate(headers, request).await;
    match &found {
        Ok(session) => log_ignored_headers(context, session),
        Err(AuthError { fault: AuthFault::SecretWrong, .. }) => note_wrong(context),
        Err(_) => {}
    }
    let mut session = context.generation.native_auth.session(headers, found).await?;
    context.cookies.borrow_mut().append(&mut session.cookies);
    Ok(session)
}

fn reject_if_throttled(context: &RequestContext) -> Result<(), AuthError> {
    let per_minute = context.generation.config.limits.wrong_secrets_per_minute;
    if context.worker.auth_throttle.are_too_many(context.peer, per_minute) {
        let message = "too many wrong secrets came from your address: wait a minute";
        return Err(AuthError::new(AuthFault::TooOften, message));
    }
    Ok(())
}

fn note_wrong(context: &RequestContext) {
    let per_minute = context.generation.config.limits.wrong_secrets_per_minute;
    context.worker.auth_throttle.note(context.peer, per_minute);
}

/// Logs ignored session headers, at most once a minute.
fn log_ignored_headers(context: &RequestContext, session: &Session) {
    if session.ignored.is_empty() {
        return;
    }
    context.worker.metrics.ignored_session_headers.inc();
    if let Some(requests) = context.worker.ignored_headers.note() {
        let names: Vec<&str> = session.ignored.iter().map(HeaderName::as_str).collect();
        let names = names.join(", ");
        tracing::warn!(%names, requests, "session headers of a caller without an admin secret are ignored");
    }
}

/// True if the request asks for a role other than admin.
pub(crate) fn asks_for_other_role(headers: &HeaderMap) -> bool {
    ROLES.iter().flat_map(|it| headers.get_all(it)).any(|it| it.as_bytes() != ADMIN.as_bytes())
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION).and_then(|it| bearer_of(it.as_bytes()))
}
