//! Authentication errors: messages, codes and statuses of Hasura's endpoints and of `/graphql`.
//!
//! **Invariant:** no message holds a secret, or tells which of several secrets or keys was nearly right.

use std::borrow::Cow;

/// Reason why a caller is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthError {
    /// Kind of the error.
    pub fault: AuthFault,
    /// Message for the client.
    pub message: Cow<'static, str>,
}

/// Kinds of [`AuthError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthFault {
    /// No credentials.
    SecretMissing,
    /// Wrong secret.
    SecretWrong,
    /// Too many wrong secrets from this address.
    TooOften,
    /// The caller may not use the role.
    Role,
    /// The token is missing, or its header has no token.
    TokenHeader,
    /// The token is invalid, forged, expired, or for another server.
    Token,
    /// The claims have another type.
    Claims,
    /// The claims have no roles.
    RoleClaims,
    /// A session header is invalid.
    SessionHeader,
    /// The webhook denied the request.
    HookDenied,
    /// The webhook returned no role.
    HookRole,
    /// The webhook or the key set is unavailable.
    Unavailable,
}

impl AuthError {
    /// An error with its message.
    pub(crate) fn new(fault: AuthFault, message: impl Into<Cow<'static, str>>) -> Self {
        Self { fault, message: message.into() }
    }
    /// The secret is missing.
    pub(crate) const fn secret_missing() -> Self {
        let message = "\"x-hasura-admin-secret\"/\"x-hasura-access-key\" required, but not found";
        Self { fault: AuthFault::SecretMissing, message: Cow::Borrowed(message) }
    }
    /// The secret is wrong.
    pub(crate) const fn secret_wrong() -> Self {
        let message = "invalid \"x-hasura-admin-secret\"/\"x-hasura-access-key\"";
        Self { fault: AuthFault::SecretWrong, message: Cow::Borrowed(message) }
    }
    /// The caller may not use the role.
    pub(crate) const fn role() -> Self {
        let message = "Your requested role is not in allowed roles";
        Self { fault: AuthFault::Role, message: Cow::Borrowed(message) }
    }
    /// A refused token, with Hasura's message.
    pub(crate) fn token(cause: &str) -> Self {
        Self::new(AuthFault::Token, format!("Could not verify JWT: {cause}"))
    }

    /// Code in `extensions.code` on Hasura's endpoints.
    pub const fn hasura_code(&self) -> &'static str {
        match self.fault {
            AuthFault::SecretMissing
            | AuthFault::SecretWrong
            | AuthFault::TooOften
            | AuthFault::Role
            | AuthFault::HookDenied => "access-denied",
            AuthFault::TokenHeader => "invalid-headers",
            AuthFault::Token => "invalid-jwt",
            AuthFault::Claims => "jwt-invalid-claims",
            AuthFault::RoleClaims => "jwt-missing-role-claims",
            AuthFault::SessionHeader => "bad-request",
            AuthFault::HookRole => "invalid-params",
            AuthFault::Unavailable => "unexpected",
        }
    }

    /// Status on those Hasura endpoints that use statuses.
    pub const fn hasura_status(&self) -> u16 {
        match self.fault {
            AuthFault::SecretMissing | AuthFault::SecretWrong | AuthFault::HookDenied => 401,
            AuthFault::TooOften => 429,
            AuthFault::Role
            | AuthFault::TokenHeader
            | AuthFault::Token
            | AuthFault::Claims
            | AuthFault::RoleClaims
            | AuthFault::SessionHeader
            | AuthFault::HookRole => 400,
            AuthFault::Unavailable => 500,
        }
    }

    /// Stable code on all other endpoints.
    pub const fn code(&self) -> &'static str {
        match self.fault {
            AuthFault::SecretMissing | AuthFault::SecretWrong | AuthFault::Role | AuthFault::HookDenied => {
                "ACCESS_DENIED"
            }
            AuthFault::TooOften => "LIMIT_SECRET",
            AuthFault::TokenHeader | AuthFault::Token | AuthFault::Claims | AuthFault::RoleClaims => {
                "INVALID_TOKEN"
            }
            AuthFault::SessionHeader => "BAD_REQUEST",
            AuthFault::HookRole | AuthFault::Unavailable => "AUTH_UNAVAILABLE",
        }
    }

    /// Status on all other endpoints.
    pub const fn status(&self) -> u16 {
        match self.fault {
            AuthFault::SecretMissing
            | AuthFault::SecretWrong
            | AuthFault::HookDenied
            | AuthFault::TokenHeader
            | AuthFault::Token
            | AuthFault::Claims
            | AuthFault::RoleClaims => 401,
            AuthFault::Role => 403,
            AuthFault::TooOften => 429,
            AuthFault::SessionHeader => 400,
            AuthFault::HookRole | AuthFault::Unavailable => 503,
        }
    }
}
