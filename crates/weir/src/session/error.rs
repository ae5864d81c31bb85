//! Refusals of callers: the words of Hasura with its codes and statuses, and those of `/graphql`.
//!
//! **Invariant:** no message holds a secret, or tells which of several secrets or keys was nearly right.

use std::borrow::Cow;

/// A caller that is turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthError {
    /// The fault.
    pub fault: AuthFault,
    /// Words for the client.
    pub message: Cow<'static, str>,
}

/// Kinds of [`AuthError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthFault {
    /// Nothing that says who calls.
    SecretMissing,
    /// Another secret.
    SecretWrong,
    /// Too many wrong secrets came from the address.
    TooOften,
    /// The role is not one of the caller's.
    Role,
    /// No token, or a header that holds none.
    TokenHeader,
    /// A token that is forged, over, not for this server, or no token.
    Token,
    /// Claims of another form.
    Claims,
    /// Claims without roles.
    RoleClaims,
    /// A session header that cannot be read.
    SessionHeader,
    /// The webhook denies.
    HookDenied,
    /// The webhook names no role.
    HookRole,
    /// The webhook gives no usable answer, or the keys of tokens cannot be fetched.
    Unavailable,
}

impl AuthError {
    /// An error with its words.
    pub(crate) fn new(fault: AuthFault, message: impl Into<Cow<'static, str>>) -> Self {
        Self { fault, message: message.into() }
    }
    /// The secret is missing.
    pub(crate) const fn secret_missing() -> Self {
        let message = "\"x-hasura-admin-secret\"/\"x-hasura-access-key\" required, but not found";
        Self { fault: AuthFault::SecretMissing, message: Cow::Borrowed(message) }
    }
    /// The secret is another one.
    pub(crate) const fn secret_wrong() -> Self {
        let message = "invalid \"x-hasura-admin-secret\"/\"x-hasura-access-key\"";
        Self { fault: AuthFault::SecretWrong, message: Cow::Borrowed(message) }
    }
    /// The role is not one of the caller's.
    pub(crate) const fn role() -> Self {
        let message = "Your requested role is not in allowed roles";
        Self { fault: AuthFault::Role, message: Cow::Borrowed(message) }
    }
    /// A token that is not accepted, in Hasura's words.
    pub(crate) fn token(cause: &str) -> Self {
        Self::new(AuthFault::Token, format!("Could not verify JWT: {cause}"))
    }

    /// The code in `extensions.code` on Hasura's addresses.
    #[must_use]
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

    /// The status on Hasura's addresses that have one.
    #[must_use]
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

    /// The stable code on all other addresses.
    #[must_use]
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

    /// The status on all other addresses.
    #[must_use]
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
