//! Authentication of callers: the admin secret; until there are roles, no role but admin.
//!
//! **Invariant:** a caller that asks for another role is refused, never served as admin.

use super::context::RequestContext;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use subtle::ConstantTimeEq;
use weir_engine::caller::Identity;
use weir_engine::source::Caller;

/// Hasura's name of the header.
pub(crate) const HASURA_SECRET: HeaderName = HeaderName::from_static("x-hasura-admin-secret");
/// Ours.
pub(crate) const WEIR_SECRET: HeaderName = HeaderName::from_static("x-weir-admin-secret");
/// The role that is asked for.
const ROLE: HeaderName = HeaderName::from_static("x-hasura-role");

/// Why a caller is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthError {
    /// No secret came.
    Missing,
    /// Another one came.
    Wrong,
    /// The role does not exist.
    Role,
    /// Too many wrong ones came from there.
    TooOften,
}

impl AuthError {
    /// Words for the client, as Hasura says them where it says something.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::Missing => "x-hasura-admin-secret/x-weir-admin-secret required, but not found",
            Self::Wrong => "invalid \"x-hasura-admin-secret\"/\"x-weir-admin-secret\"",
            Self::Role => "your requested role is not in allowed roles",
            Self::TooOften => "too many wrong secrets came from your address: wait a minute",
        }
    }
    /// The stable code.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Missing | Self::Wrong | Self::Role => "ACCESS_DENIED",
            Self::TooOften => "LIMIT_SECRET",
        }
    }
    /// The status on `/graphql`.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::Missing | Self::Wrong => 401,
            Self::Role => 403,
            Self::TooOften => 429,
        }
    }
}

/// Authenticates the caller; an address with too many wrong secrets is refused first.
pub(crate) fn caller(context: &RequestContext, headers: &HeaderMap) -> Result<Caller, AuthError> {
    let secret = context.generation.secret();
    let identity =
        patiently(context, secret.is_some() && sent(headers).is_some(), || identify(headers, secret))?;
    Ok(context.generation.engine.caller(&identity))
}

/// As [`caller`] for the operator's own pages, where the secret may come as a bearer token.
pub(crate) fn operator(context: &RequestContext, headers: &HeaderMap) -> Result<(), AuthError> {
    let secret = context.generation.secret();
    let sent = secret.and_then(|_| sent(headers).or_else(|| bearer(headers)));
    patiently(context, sent.is_some(), || match (secret, sent) {
        (Some(secret), Some(sent)) if equal(sent, secret.as_bytes()) => Ok(()),
        (_, Some(_)) => Err(AuthError::Wrong),
        (_, None) => Err(AuthError::Missing),
    })
}

/// Counts what turns out to be wrong, and does not look at all when there was too much of it.
fn patiently<T>(
    context: &RequestContext,
    sent: bool,
    look: impl FnOnce() -> Result<T, AuthError>,
) -> Result<T, AuthError> {
    let (auth_throttle, per_minute) =
        (&context.worker.auth_throttle, context.generation.config.limits.wrong_secrets_per_minute);
    if sent && auth_throttle.are_too_many(context.peer, per_minute) {
        return Err(AuthError::TooOften);
    }
    let found = look();
    if matches!(found, Err(AuthError::Wrong)) {
        auth_throttle.note(context.peer, per_minute);
    }
    found
}

/// With no `secret` set everyone is admin.
fn identify(headers: &HeaderMap, secret: Option<&str>) -> Result<Identity, AuthError> {
    if let Some(secret) = secret {
        match sent(headers) {
            None => return Err(AuthError::Missing),
            Some(sent) if !equal(sent, secret.as_bytes()) => return Err(AuthError::Wrong),
            Some(_) => {}
        }
    }
    if asks_for_other_role(headers) {
        return Err(AuthError::Role);
    }
    Ok(Identity::admin())
}

/// True if the request asks for a role other than admin.
pub(crate) fn asks_for_other_role(headers: &HeaderMap) -> bool {
    headers.get_all(ROLE).iter().any(|it| it.as_bytes() != b"admin")
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION).and_then(|it| it.as_bytes().strip_prefix(b"Bearer "))
}

/// The admin secret that a client sends, whether it is right or not.
pub(crate) fn sent(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(WEIR_SECRET).or_else(|| headers.get(HASURA_SECRET)).map(HeaderValue::as_bytes)
}

/// Compares in constant time.
fn equal(sent: &[u8], secret: &[u8]) -> bool {
    sent.ct_eq(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        headers: &[(HeaderName, &'static str)],
        secret: Option<&str>,
        expected: Result<Identity, AuthError>,
    ) {
        let map: HeaderMap =
            headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect();
        assert_eq!(identify(&map, secret), expected, "{headers:?}");
    }

    #[test]
    fn without_a_secret_everyone_is_admin() {
        check(&[], None, Ok(Identity::admin()));
        check(&[(ROLE, "admin")], None, Ok(Identity::admin()));
    }

    #[test]
    fn with_a_secret_only_its_holder_is() {
        check(&[], Some("s"), Err(AuthError::Missing));
        check(&[(HASURA_SECRET, "t")], Some("s"), Err(AuthError::Wrong));
        check(&[(HASURA_SECRET, "ss")], Some("s"), Err(AuthError::Wrong));
        check(&[(HASURA_SECRET, "s")], Some("s"), Ok(Identity::admin()));
        check(&[(WEIR_SECRET, "s")], Some("s"), Ok(Identity::admin()));
    }

    #[test]
    fn another_role_is_never_served_as_admin() {
        check(&[(ROLE, "user")], None, Err(AuthError::Role));
        check(&[(ROLE, "Admin")], None, Err(AuthError::Role));
        check(&[(ROLE, "admin"), (HASURA_SECRET, "s")], Some("s"), Ok(Identity::admin()));
        check(&[(ROLE, "user"), (HASURA_SECRET, "s")], Some("s"), Err(AuthError::Role));
    }
}
