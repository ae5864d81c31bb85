//! Authentication: from the headers of a request to role, session variables and claims.
//!
//! Modes, by the configuration: no secret (everyone on this machine is trusted), admin secrets alone, secrets and JSON Web
//! Tokens, secrets and a webhook. A secret that is sent decides alone, in every mode.
//!
//! **Invariant:** only the holder of a secret, or anyone where none is set, says by headers who he is. The session headers of
//! others are never read, but for the role they ask for among those they have; their names are in [`Session::ignored`].
//!
//! Source: Hasura v2's documentation of authentication; the differences are in `docs/auth.md`.

pub mod auth_error;
pub mod authorization_line;
mod jwt;
pub(crate) mod native_auth;
mod remote_document;
pub mod secret;
mod session_headers;
#[cfg(test)]
pub(crate) mod tests;
mod webhook;

use crate::config::{Config, Secret};
use auth_error::{AuthError, AuthFault};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use jwt::TokenKinds;
use secret::Secrets;
use std::collections::BTreeMap;
use std::sync::Arc;
use webhook::Webhook;
use weir_engine::caller::{ADMIN, Claims, Identity, SESSION_PREFIX, Token};
use weir_http::cache::Clock;
use weir_language::json::JsonRef;
use weir_relational::catalog::ConfigStep;

/// Variable with the role, without prefix.
const ROLE: &str = "role";
/// Session variable with the role.
const ROLE_VARIABLE: &str = "x-hasura-role";
/// Claim with the allowed roles.
const ALLOWED_ROLES: &str = "x-hasura-allowed-roles";
/// Claim with the default role.
const DEFAULT_ROLE: &str = "x-hasura-default-role";
/// Prefix of session variables.
const VARIABLE_START: &str = "x-hasura-";

/// Number of the token keys in use: see [`Authenticator::key_number`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyNumber(u64);

#[cfg(test)]
impl KeyNumber {
    pub(crate) const fn of(number: u64) -> Self {
        Self(number)
    }
}

/// Session variables: lower-case names starting with `x-hasura-`, with text values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables(BTreeMap<Box<str>, Box<str>>);

/// The credentials of an `Authorization` with the scheme `Bearer`, in any case. Source: RFC 9110, section 11.1.
pub(crate) fn bearer_of(line: &[u8]) -> Option<&[u8]> {
    let (scheme, credentials) = line.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(credentials)
}

impl Variables {
    /// Sets a variable; false if it was set before.
    fn set(&mut self, name: &str, value: &str) -> bool {
        self.0.insert(name.into(), value.into()).is_none()
    }
    /// Value of `name`, given in lower case.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|it| &**it)
    }
    /// All variables by name.
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Role, session variables and claims.
    pub identity: Identity,
    /// Expiry of the session, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// Values of `Set-Cookie` for the client.
    pub cookies: Vec<HeaderValue>,
    /// Session headers that were ignored because the caller is not trusted.
    pub ignored: Vec<HeaderName>,
}

impl Session {
    /// Session of a caller with credentials, without expiry.
    fn new(role: &str, mut variables: Variables, token: Token) -> Self {
        variables.set(ROLE_VARIABLE, role);
        let variables = variables.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let identity = Identity {
            role: role.into(),
            is_backend: role == ADMIN,
            is_anonymous: false,
            claims: Arc::new(Claims::new(variables, token)),
        };
        Self::of(identity)
    }

    /// A session without expiry.
    const fn of(identity: Identity) -> Self {
        Self { identity, expires_ms: None, cookies: Vec::new(), ignored: Vec::new() }
    }
}

/// Authentication of callers without a secret.
#[derive(Debug)]
enum Mode {
    Secret,
    Jwt(TokenKinds),
    Webhook(Box<Webhook>),
}

/// Identity of the command line and of embedding programs: the admin.
pub fn owner() -> Identity {
    Identity::admin()
}

/// Identity for an admin who tests a role: `role`, with the members of the JSON object `claims`. Names starting with `x-hasura-` or
/// `x-weir-` are session variables, whose values are strings; all others are claims of a token.
/// # Errors
/// `claims` is not such an object.
pub fn assume_identity(role: Option<&str>, claims: Option<JsonRef<'_>>) -> Result<Identity, String> {
    let mut variables = Variables::default();
    let mut token = Vec::new();
    let claims = claims.filter(|it| !it.is_null());
    if claims.is_some_and(|it| !it.is_object()) {
        return Err("the claims are no JSON object".into());
    }
    for (name, value) in claims.into_iter().flat_map(JsonRef::members) {
        let lower = name.to_ascii_lowercase();
        let rest = session_headers::STARTS.iter().find_map(|it| lower.strip_prefix(it));
        match (rest, value.as_str()) {
            (Some(rest), Some(text)) => _ = variables.set(&format!("{VARIABLE_START}{rest}"), &text),
            (Some(_), None) => return Err(format!("the session variable `{name}` has to be a text")),
            (None, _) => token.push((name.into_owned(), value.raw().to_owned())),
        }
    }
    let named = variables.get(ROLE_VARIABLE).filter(|it| !it.is_empty()).map(str::to_owned);
    let role = role.map(str::to_owned).or(named).unwrap_or_else(|| ADMIN.to_owned());
    let is_backend = variables.get("x-hasura-use-backend-only-permissions") == Some("true");
    let token = if token.is_empty() { Token::Absent } else { Token::of(token) };
    let mut identity = Session::new(&role, variables, token).identity;
    identity.is_backend |= is_backend;
    Ok(identity)
}

/// True if the request has a secret or a session header, valid or not.
pub(crate) fn has_credentials(headers: &HeaderMap) -> bool {
    secret::sent_secret(headers).is_some() || headers.keys().any(session_headers::is_session)
}

/// True if the request has a secret, valid or not.
pub(crate) fn has_secret(headers: &HeaderMap) -> bool {
    secret::sent_secret(headers).is_some()
}

/// Headers with which a trusted caller sets the session variable `name`, separated by commas.
pub(crate) fn headers_of(name: &str) -> String {
    let rest = name.strip_prefix(SESSION_PREFIX).unwrap_or(name);
    session_headers::STARTS.map(|it| format!("{it}{rest}")).join(", ")
}

/// Authenticates callers by one configuration.
pub struct Authenticator {
    /// Empty: every caller is trusted.
    secrets: Secrets,
    mode: Mode,
    unauthorized_role: Option<Box<str>>,
    /// Identity of a trusted caller without session headers.
    admin: Identity,
    /// Value for `Vary`.
    credentials: Box<str>,
}

/// An invalid setting with its path.
#[derive(Debug)]
pub(crate) struct ConfigFault {
    path: Vec<ConfigStep>,
    message: String,
}

impl ConfigFault {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { path: vec!["auth".into(), key.into()], message: message.into() }
    }
    fn secret(at: usize, message: &str) -> Self {
        let path = vec!["auth".into(), "admin_secrets".into(), at.into()];
        Self { path, message: message.into() }
    }
    fn jwt(at: usize, key: &'static str, message: String) -> Self {
        Self { path: vec!["auth".into(), "jwt".into(), at.into(), key.into()], message }
    }
}

impl Authenticator {
    /// Reads the settings without calling any service.
    /// # Errors
    /// An invalid setting, its location, and how to fix it.
    pub fn new(config: &Config) -> Result<Self, String> {
        Self::with_clock(config, &Clock::system())
            .map_err(|it| format!("{}: {}", config.places.words(&it.path), it.message))
    }

    fn with_clock(config: &Config, clock: &Clock) -> Result<Self, ConfigFault> {
        let auth = &config.auth;
        if let Some(at) = auth.admin_secrets.iter().position(|it| it.expose().trim().is_empty()) {
            return Err(ConfigFault::secret(at, "the secret is blank; leave it out, or give it a value"));
        }
        let all = config.admin_secret.iter().chain(&auth.admin_secrets);
        let secrets = Secrets::new(all.map(Secret::expose));
        let is_set = [
            ("jwt", !auth.jwt.is_empty()),
            ("webhook", auth.webhook.is_some()),
            ("unauthorized_role", auth.unauthorized_role.is_some()),
        ];
        if let Some((key, _)) = is_set.iter().find(|it| it.1 && secrets.is_empty()) {
            let message = "needs an admin secret, because without one everyone is admin; set `admin_secret` \
                           (or WEIR_ADMIN_SECRET)";
            return Err(ConfigFault::new(key, message));
        }
        let mode = match &auth.webhook {
            Some(_) if !auth.jwt.is_empty() => {
                let message =
                    "excludes `auth.jwt`: either tokens or the webhook say who calls; leave one out";
                return Err(ConfigFault::new("webhook", message));
            }
            Some(_) if auth.unauthorized_role.is_some() => {
                let message =
                    "excludes `auth.webhook`, which names the role of callers without credentials itself";
                return Err(ConfigFault::new("unauthorized_role", message));
            }
            Some(hook) => Mode::Webhook(Box::new(Webhook::new(hook, clock).map_err(|(key, message)| {
                ConfigFault { path: vec!["auth".into(), "webhook".into(), key.into()], message }
            })?)),
            None if auth.jwt.is_empty() => Mode::Secret,
            None => Mode::Jwt(TokenKinds::new(auth, clock)?),
        };
        match auth.unauthorized_role.as_deref() {
            Some(ADMIN) => {
                let message = "is `admin`, which would make everyone admin; name another role";
                Err(ConfigFault::new("unauthorized_role", message))
            }
            Some(blank) if blank.trim().is_empty() => {
                Err(ConfigFault::new("unauthorized_role", "is blank; leave it out, or name a role"))
            }
            role => {
                let credentials = credentials(&secrets, &mode);
                let admin = Session::new(ADMIN, Variables::default(), Token::Absent).identity;
                let admin = Identity { is_anonymous: secrets.is_empty(), ..admin };
                Ok(Self { secrets, mode, unauthorized_role: role.map(Box::from), admin, credentials })
            }
        }
    }

    /// True if no secret is set, so every caller is trusted.
    pub fn is_open(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Headers with credentials, separated by commas; empty if every caller is trusted. A webhook may read any header: `*`.
    pub fn credentials(&self) -> &str {
        &self.credentials
    }

    /// True if `secret` is an admin secret.
    pub fn is_secret(&self, secret: &[u8]) -> bool {
        self.secrets.is_right(secret)
    }

    /// True if `Authorization: Bearer` contains tokens, and therefore no secret.
    pub fn reads_bearer(&self) -> bool {
        matches!(&self.mode, Mode::Jwt(kinds) if kinds.reads_bearer())
    }

    /// True if authentication of a request with these headers also needs its body.
    pub fn needs_request(&self, headers: &HeaderMap) -> bool {
        let takes_request = matches!(&self.mode, Mode::Webhook(hook) if hook.takes_request());
        takes_request && !self.is_open() && secret::sent_secret(headers).is_none()
    }

    /// Identity of a trusted caller without session headers.
    pub(crate) const fn admin(&self) -> &Identity {
        &self.admin
    }

    /// True if `headers` contain a valid secret, or none is configured, and no session header: the caller is [`Self::admin`].
    pub(crate) fn is_bare_admin(&self, headers: &HeaderMap) -> bool {
        let is_trusted =
            || self.is_open() || secret::sent_secret(headers).is_some_and(|it| self.is_secret(it));
        !headers.keys().any(session_headers::is_session) && is_trusted()
    }

    /// True if the caller is trusted, so could be admin, but asks for another role.
    pub(crate) fn is_admin_in_role(&self, headers: &HeaderMap) -> bool {
        let is_trusted = self.is_open() || secret::sent_secret(headers).is_some_and(|it| self.is_secret(it));
        is_trusted && session_headers::role(headers).is_ok_and(|it| it.is_some_and(|role| role != ADMIN))
    }

    /// Reuses key sets that `before` fetched from the same URLs.
    pub fn keep_keys_of(&mut self, before: &Self) {
        if let (Mode::Jwt(kinds), Mode::Jwt(before)) = (&mut self.mode, &before.mode) {
            kinds.keep_keys_of(before);
        }
    }

    /// Passes each header that identifies the caller to `take`, in request order. False for a webhook, because then headers alone do not
    /// decide.
    pub(crate) fn deciding_headers<'h>(
        &self,
        headers: &'h HeaderMap,
        mut take: impl FnMut(&'h HeaderName, &'h HeaderValue),
    ) -> bool {
        if matches!(self.mode, Mode::Webhook(_)) && !self.is_open() && secret::sent_secret(headers).is_none()
        {
            return false;
        }
        let is_token = |name: &HeaderName| matches!(&self.mode, Mode::Jwt(kinds) if kinds.reads(name));
        for (name, value) in headers {
            if session_headers::is_session(name) || secret::SECRET_HEADERS.contains(name) || is_token(name) {
                take(name, value);
            }
        }
        true
    }

    /// Changes whenever the token keys in use change. `None` while keys are unknown.
    pub(crate) fn key_number(&self) -> Option<KeyNumber> {
        match &self.mode {
            Mode::Jwt(kinds) => kinds.key_number(),
            Mode::Secret | Mode::Webhook(_) => Some(KeyNumber::default()),
        }
    }

    /// Current time for token checks, in milliseconds since 1970.
    pub(crate) fn wall_ms(&self) -> u64 {
        match &self.mode {
            Mode::Jwt(kinds) => kinds.wall_ms(),
            Mode::Secret | Mode::Webhook(_) => 0,
        }
    }

    /// Authenticates a request with these headers; `request` is its body, if it is GraphQL.
    /// # Errors
    /// The reason for the refusal.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        request: Option<&[u8]>,
    ) -> Result<Session, AuthError> {
        if self.is_open() {
            return self.trusted_session(headers);
        }
        if let Some(sent) = secret::sent_secret(headers) {
            return if self.is_secret(sent) {
                self.trusted_session(headers)
            } else {
                Err(AuthError::secret_wrong())
            };
        }
        match &self.mode {
            Mode::Secret => self.unauthorized_session(headers).ok_or(AuthError::secret_missing()),
            // A boxed future: most requests have no token, and without the box every request would reserve its memory.
            Mode::Jwt(kinds) => match Box::pin(kinds.session(headers)).await? {
                Some(session) => Ok(session),
                None => self.unauthorized_session(headers).ok_or_else(|| {
                    let message = "Missing 'Authorization' or 'Cookie' header in JWT authentication mode";
                    AuthError::new(AuthFault::TokenHeader, message)
                }),
            },
            Mode::Webhook(hook) => Box::pin(hook.session(headers, request)).await,
        }
    }

    /// Session of a trusted caller.
    fn trusted_session(&self, headers: &HeaderMap) -> Result<Session, AuthError> {
        if !headers.keys().any(session_headers::is_session) {
            return Ok(Session::of(self.admin.clone()));
        }
        let role = session_headers::role(headers)?.unwrap_or(ADMIN);
        let mut session = Session::new(role, session_headers::variables(headers)?, Token::Absent);
        session.identity.is_backend |= session_headers::backend_only(headers)?;
        Ok(session)
    }

    /// Session of a caller without credentials, if a role for them is configured.
    fn unauthorized_session(&self, headers: &HeaderMap) -> Option<Session> {
        let role = self.unauthorized_role.as_deref()?;
        let mut session = Session::new(role, Variables::default(), Token::Absent);
        session.identity.is_anonymous = true;
        Some(Session { ignored: session_headers::ignored_names(headers, false), ..session })
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Names of headers with credentials.
fn credentials(secrets: &Secrets, mode: &Mode) -> Box<str> {
    if secrets.is_empty() {
        return Box::default();
    }
    let secret_headers = secret::SECRET_HEADERS;
    let mut names: Vec<&str> = secret_headers.iter().map(HeaderName::as_str).collect();
    match mode {
        Mode::Secret => {}
        Mode::Jwt(kinds) => names.extend(kinds.headers()),
        Mode::Webhook(_) => return "*".into(),
    }
    names.join(", ").into()
}
