//! Callers of native sources: the claims of a token that a line `# Dgraph.Authorization {…}` describes, beside the session that
//! secrets and other tokens give.
//!
//! **Invariant:** the holder of an admin secret is the admin whatever else the request has; a caller without a secret is never.

use super::authorization_line::{AuthorizationKeys, AuthorizationLine, MalformedBearer, NativeTokens};
use super::error::{AuthError, AuthFault};
use super::{Session, Variables};
use hyper::HeaderMap;
use std::sync::Arc;
use weir_engine::caller::{Claims, Identity, Token};
use weir_http::cache::Clock;
use weir_native::auth::{TokenVariable, claims};
use weir_native::model;

/// Role of a caller with a token of a native source and nothing else.
const USER: &str = "user";
/// Role of a caller without any credential.
const ANONYMOUS: &str = "anonymous";

/// The tokens and rules of the native sources of a server.
#[derive(Debug, Default)]
pub(crate) struct NativeAuth {
    tokens: Option<NativeTokens>,
    /// Claims that rules read as values.
    variables: Vec<TokenVariable>,
}

impl NativeAuth {
    /// Adds a source with this line and these claims.
    /// # Errors
    /// The line cannot be used, or another source has one.
    pub(crate) fn add(
        &mut self,
        line: Option<&model::Authorization>,
        variables: &[TokenVariable],
    ) -> Result<(), String> {
        self.variables.extend(variables.iter().cloned());
        self.variables.sort();
        self.variables.dedup();
        let Some(line) = line else { return Ok(()) };
        if self.tokens.is_some() {
            return Err("two native sources have a line `# Dgraph.Authorization`, and a server reads one: \
                        leave it out of one of them"
                .to_owned());
        }
        self.tokens = Some(NativeTokens::new(&read(line), &Clock::system())?);
        Ok(())
    }

    /// `known` headers that say who calls, with that of the line.
    pub(crate) fn credentials(&self, known: &str) -> Box<str> {
        match &self.tokens {
            Some(tokens) if known.is_empty() => tokens.header().as_str().into(),
            Some(tokens) if known != "*" => format!("{known}, {}", tokens.header()).into(),
            Some(_) | None => known.into(),
        }
    }

    /// The session of a caller whom the server's own authentication found to be `found`.
    /// # Errors
    /// The reason for the refusal.
    pub(crate) async fn session(
        &self,
        headers: &HeaderMap,
        found: Result<Session, AuthError>,
    ) -> Result<Session, AuthError> {
        let Some(tokens) = &self.tokens else { return found.map(|it| self.with_claims(it, None)) };
        let is_sent = tokens.is_sent(headers);
        match found {
            // On an open server whoever sends a token is its holder; all others are the admin.
            Ok(session) if session.identity.is_admin() && !(session.identity.is_anonymous && is_sent) => {
                Ok(session)
            }
            Ok(session) if session.identity.is_admin() => {
                let token = read_token(tokens, headers).await?;
                Ok(self.with_claims(user(USER), Some(token)))
            }
            Ok(session) => {
                let has_own = matches!(session.identity.claims.token(), Token::Claims(_));
                let token = match is_sent || !has_own {
                    true => Some(read_token(tokens, headers).await?),
                    false => None,
                };
                Ok(self.with_claims(session, token))
            }
            Err(AuthError { fault: AuthFault::SecretMissing, .. }) => {
                let token = read_token(tokens, headers).await?;
                Ok(self.with_claims(user(if is_sent { USER } else { ANONYMOUS }), Some(token)))
            }
            Err(error) => Err(error),
        }
    }

    /// `session` with the claims of `token`, or of its own, as values for rules.
    fn with_claims(&self, mut session: Session, token: Option<Token>) -> Session {
        let claims = &session.identity.claims;
        let token = token.unwrap_or_else(|| claims.token().clone());
        if token == Token::Absent {
            return session;
        }
        let variables = claims.variables().iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let values = claims::variables(&self.variables, &token);
        session.identity.claims = Arc::new(Claims::new(values.into_iter().chain(variables), token));
        session
    }
}

/// A caller with a role and nothing else.
fn user(role: &str) -> Session {
    let session = Session::new(role, Variables::default(), Token::Absent);
    let is_anonymous = role == ANONYMOUS;
    Session { identity: Identity { is_anonymous, ..session.identity.clone() }, ..session }
}

async fn read_token(tokens: &NativeTokens, headers: &HeaderMap) -> Result<Token, AuthError> {
    let read = tokens.read(headers).await;
    read.map_err(|MalformedBearer(words)| AuthError::new(AuthFault::TokenHeader, words))
}

fn read(line: &model::Authorization) -> AuthorizationLine {
    let keys = match &line.keys {
        model::AuthorizationKeys::Key { text, algorithm } => {
            AuthorizationKeys::Key { text: text.clone(), algorithm: algorithm.clone() }
        }
        model::AuthorizationKeys::Sets(urls) => AuthorizationKeys::Sets(urls.clone()),
    };
    AuthorizationLine {
        header: line.header.clone(),
        namespace: line.namespace.clone(),
        keys,
        audience: line.audience.clone(),
        closed: line.closed,
    }
}
