//! Callers of native sources: claims of tokens described by `# Dgraph.Authorization {…}`, added to the session of the server's own
//! authentication.
//!
//! Each source with a line is an authority: its rules read the token that its own line checks, or that of the session where the
//! request has none for it. Sources without a line, and services, read the token of the session.
//!
//! **Invariant:** the holder of an admin secret is the admin whatever else the request has; a caller without a secret is never.

use super::auth_error::{AuthError, AuthFault};
use super::authorization_line::{MalformedBearer, NativeTokens};
use super::{Session, Variables};
use hyper::HeaderMap;
use std::sync::Arc;
use weir_engine::caller::{Claims, Identity, Token};
use weir_http::cache::Clock;
use weir_native::auth::{TokenVariable, claims};
use weir_native::model::Authorization;

/// Role of a caller with only a native source's token.
const USER: &str = "user";
/// Role of a caller without credentials.
const ANONYMOUS: &str = "anonymous";

/// A native source with an authorization line.
#[derive(Debug)]
struct Authority {
    /// The source's name.
    name: Box<str>,
    tokens: NativeTokens,
}

/// Tokens and rules of all native sources.
#[derive(Debug, Default)]
pub(crate) struct NativeAuth {
    authorities: Vec<Authority>,
    /// Claims that rules use as values.
    variables: Vec<TokenVariable>,
}

/// Tokens that were verified, by authority.
type Tokens = Vec<(Box<str>, Token)>;

/// Tokens of a request, with the earliest expiry in milliseconds since 1970.
type ReadTokens = (Tokens, Option<u64>);

impl NativeAuth {
    /// Adds the source `name` with its line and claims.
    /// # Errors
    /// The line is invalid.
    pub(crate) fn add(
        &mut self,
        name: &str,
        line: Option<&Authorization>,
        variables: &[TokenVariable],
    ) -> Result<(), String> {
        self.variables.extend(variables.iter().cloned());
        self.variables.sort();
        self.variables.dedup();
        if let Some(line) = line {
            let tokens = NativeTokens::new(line, &Clock::system())?;
            self.authorities.push(Authority { name: name.into(), tokens });
        }
        Ok(())
    }

    /// True if no native source affects sessions.
    pub(crate) fn is_idle(&self) -> bool {
        self.authorities.is_empty() && self.variables.is_empty()
    }

    /// Adds the headers of the lines to `known`, the server's headers with credentials.
    pub(crate) fn credentials(&self, known: &str) -> Box<str> {
        if known == "*" {
            return known.into();
        }
        let mut names: Vec<&str> = known.split(", ").filter(|it| !it.is_empty()).collect();
        for Authority { tokens, .. } in &self.authorities {
            let name = tokens.header().as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ").into()
    }

    /// Completes the session `found` by the server's own authentication.
    /// # Errors
    /// The reason for the refusal.
    pub(crate) async fn session(
        &self,
        headers: &HeaderMap,
        found: Result<Session, AuthError>,
    ) -> Result<Session, AuthError> {
        if self.authorities.is_empty() {
            return found.map(|it| self.with_tokens(it, ReadTokens::default()));
        }
        let is_sent = self.authorities.iter().any(|it| it.tokens.is_sent(headers));
        match found {
            // On an open server a caller with a token is the token's user; all others are the admin.
            Ok(session) if session.identity.is_admin() && !(session.identity.is_anonymous && is_sent) => {
                Ok(session)
            }
            Ok(session) if session.identity.is_admin() => {
                let tokens = self.read(headers, false).await?;
                Ok(self.with_tokens(user(USER), tokens))
            }
            Ok(mut session) => {
                session.identity.is_anonymous &= !is_sent;
                let has_own = matches!(session.identity.claims.token(), Token::Claims(_));
                let tokens = self.read(headers, has_own).await?;
                Ok(self.with_tokens(session, tokens))
            }
            Err(AuthError { fault: AuthFault::SecretMissing, .. }) => {
                let tokens = self.read(headers, false).await?;
                Ok(self.with_tokens(user(if is_sent { USER } else { ANONYMOUS }), tokens))
            }
            Err(error) => Err(error),
        }
    }

    /// Tokens of the request; with `only_sent`, only of authorities whose header is present.
    async fn read(&self, headers: &HeaderMap, only_sent: bool) -> Result<ReadTokens, AuthError> {
        let mut all = Tokens::new();
        let mut ends_ms = None;
        for Authority { name, tokens } in &self.authorities {
            if only_sent && !tokens.is_sent(headers) {
                continue;
            }
            let refused = |MalformedBearer(words)| AuthError::new(AuthFault::TokenHeader, words);
            let (token, its_end_ms) = tokens.read(headers).await.map_err(refused)?;
            ends_ms = ends_ms.into_iter().chain(its_end_ms).min();
            all.push((name.clone(), token));
        }
        Ok((all, ends_ms))
    }

    /// `identity` with claims added as values for rules.
    pub(crate) fn with_values(&self, identity: Identity) -> Identity {
        let claims = self.claims(&identity.claims, identity.claims.token().clone(), Tokens::new());
        Identity { claims: Arc::new(claims), ..identity }
    }

    /// `session` with the `tokens`. The token of a single authority becomes the session's token, if it has none.
    fn with_tokens(&self, mut session: Session, (tokens, ends_ms): ReadTokens) -> Session {
        session.expires_ms = session.expires_ms.into_iter().chain(ends_ms).min();
        let claims = &session.identity.claims;
        let token = match (claims.token(), tokens.as_slice()) {
            (Token::Absent, [(_, only)]) if self.authorities.len() == 1 => only.clone(),
            (own, _) => own.clone(),
        };
        if token == Token::Absent && tokens.is_empty() {
            return session;
        }
        session.identity.claims = Arc::new(self.claims(claims, token, tokens));
        session
    }

    /// `claims` with the variables of rules, the session's `token`, and the `tokens` of authorities.
    fn claims(&self, claims: &Claims, token: Token, tokens: Tokens) -> Claims {
        let given = claims.variables().iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let plain = Claims::new([], token.clone()).with_tokens(tokens.iter().cloned());
        let values =
            self.variables.iter().flat_map(|it| claims::variables([it], plain.token_of(&it.authority)));
        Claims::new(values.chain(given), token).with_tokens(tokens)
    }
}

/// A session with only a role.
fn user(role: &str) -> Session {
    let session = Session::new(role, Variables::default(), Token::Absent);
    let is_anonymous = role == ANONYMOUS;
    Session { identity: Identity { is_anonymous, ..session.identity.clone() }, ..session }
}
