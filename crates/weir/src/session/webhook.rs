//! Authentication webhook: a service that receives the client's headers and returns the session.
//!
//! An answer with a lifetime in its HTTP `Cache-Control` or `Expires` is kept for requests with equal headers; equal requests
//! in flight share one call. A POST that holds the GraphQL request is neither kept nor shared.
//!
//! **Invariant:** the key of what is kept or shared is made of every header that is sent, but for those that number or trace
//! a request ([`UNKEYED`]). Answers with cookies and denials are never kept.

use super::auth_error::{AuthError, AuthFault};
use super::jwt::token::NESTING_MAX;
use super::remote_document::{Flight, RemoteUrl, cache_control_ms, lifetime_ms, until_ms};
use super::{ROLE_VARIABLE, Session, VARIABLE_START, Variables, session_headers};
use crate::config::{AuthWebhook, WebhookMode};
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE};
use hyper::{HeaderMap, Method};
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weir_engine::caller::Token;
use weir_http::cache::Clock;
use weir_http::call::Answer;
use weir_http::passthrough::IGNORED_HEADERS;
use weir_language::json::{Json, JsonRef};

/// Headers that are sent but not part of the cache key.
const UNKEYED: [&str; 4] = ["content-length", "traceparent", "tracestate", "x-request-id"];
/// Maximum number of cached answers.
const ANSWERS_MAX: usize = 10_000;
/// Maximum lifetime of a cached answer, in milliseconds.
const LIFETIME_MS_MAX: u64 = 3_600_000;

/// The webhook of a configuration.
pub(super) struct Webhook {
    remote: Arc<RemoteUrl>,
    mode: WebhookMode,
    send_request: bool,
    clock: Clock,
    shared: Arc<SharedAnswers>,
}

/// Cache of answers, and calls in flight. A call removes itself when it ends.
struct SharedAnswers {
    kept: Cache<CallKey, Arc<HookAnswer>>,
    flights: Mutex<HashMap<CallKey, Flight<HookResult>>>,
}

/// Digest of the sent headers.
type CallKey = [u8; 32];
/// Result of a call.
type HookResult = Result<Arc<HookAnswer>, AuthError>;

/// The webhook's answer.
#[derive(Debug)]
struct HookAnswer {
    role: Box<str>,
    variables: Variables,
    /// Expiry of the session, in milliseconds since 1970.
    expires_ms: Option<u64>,
    cookies: Vec<HeaderValue>,
    /// End of the cache lifetime on the clock's monotonic time.
    fresh_until_ms: u64,
}

impl Webhook {
    /// Reads the settings without calling the service.
    /// # Errors
    /// The invalid key and the reason.
    pub(super) fn new(hook: &AuthWebhook, clock: &Clock) -> Result<Self, (&'static str, String)> {
        if hook.timeout_ms == 0 {
            return Err(("timeout_ms", "is 0, which would refuse every request".into()));
        }
        let timeout = Duration::from_millis(hook.timeout_ms.into());
        let remote = RemoteUrl::new(&hook.url, timeout).map_err(|cause| ("url", cause))?;
        Ok(Self {
            remote: Arc::new(remote),
            mode: hook.mode,
            send_request: hook.send_request,
            clock: clock.clone(),
            shared: Arc::new(SharedAnswers { kept: Cache::new(ANSWERS_MAX), flights: Mutex::default() }),
        })
    }

    /// True if calls contain the GraphQL request.
    pub(super) fn takes_request(&self) -> bool {
        self.mode == WebhookMode::Post && self.send_request
    }

    /// Session of a request with these headers; `request` is its body, if it is GraphQL.
    pub(super) async fn session(
        &self,
        headers: &HeaderMap,
        request: Option<&[u8]>,
    ) -> Result<Session, AuthError> {
        let request = request.filter(|_| self.takes_request()).and_then(request_member);
        let answer = match request {
            Some(_) => self.call(headers, request).await?,
            None => self.shared_answer(headers).await?,
        };
        Ok(Session {
            expires_ms: answer.expires_ms,
            cookies: answer.cookies.clone(),
            ignored: session_headers::ignored_names(headers, true),
            ..Session::new(&answer.role, answer.variables.clone(), Token::Absent)
        })
    }

    /// Answer for `headers`: cached, in flight, or fetched.
    async fn shared_answer(&self, headers: &HeaderMap) -> HookResult {
        let key = self.key(headers);
        if let Some(kept) = self.shared.kept.get(&key).filter(|it| self.clock.now_ms() < it.fresh_until_ms) {
            return Ok(kept);
        }
        let flight = {
            let mut flights = self.shared.flights.lock().unwrap_or_else(PoisonError::into_inner);
            match flights.get(&key).filter(|it| !it.is_over()) {
                Some(under_way) => under_way.clone(),
                None => {
                    let begun = self.begin(headers, key);
                    flights.insert(key, begun.clone());
                    begun
                }
            }
        };
        flight.wait().await.unwrap_or_else(|| Err(unreachable()))
    }

    /// Starts a shared call.
    fn begin(&self, headers: &HeaderMap, key: CallKey) -> Flight<HookResult> {
        let call = self.call(headers, None);
        let shared = Arc::clone(&self.shared);
        let clock = self.clock.clone();
        Flight::begin(async move {
            let done = call.await;
            if let Ok(answer) = &done
                && answer.fresh_until_ms > clock.now_ms()
            {
                shared.kept.insert(key, Arc::clone(answer));
            }
            shared.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            done
        })
    }

    /// Number of shared calls in flight.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.shared.flights.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Calls the service.
    fn call(
        &self,
        headers: &HeaderMap,
        request: Option<String>,
    ) -> impl Future<Output = HookResult> + Send + 'static {
        let remote = Arc::clone(&self.remote);
        let clock = self.clock.clone();
        let (method, sent, body) = match self.mode {
            WebhookMode::Get => (Method::GET, forwarded_headers(headers), Bytes::new()),
            WebhookMode::Post => {
                let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
                (Method::POST, vec![json], Bytes::from(body(headers, request.as_deref())))
            }
        };
        async move {
            match remote.call(method, sent, body).await {
                Ok(answer) => read(&answer, &clock).map(Arc::new),
                Err(cause) => {
                    tracing::warn!("the authentication webhook gives no answer: {cause}");
                    Err(unreachable())
                }
            }
        }
    }

    /// Cache key of a call for `headers`.
    fn key(&self, headers: &HeaderMap) -> CallKey {
        let is_sent = |name: &HeaderName| match self.mode {
            WebhookMode::Get => !IGNORED_HEADERS.contains(&name.as_str()),
            WebhookMode::Post => true,
        };
        let lines = headers.iter().filter(|it| is_sent(it.0) && !UNKEYED.contains(&it.0.as_str()));
        let mut lines: Vec<(&str, &[u8])> = lines.map(|it| (it.0.as_str(), it.1.as_bytes())).collect();
        lines.sort_unstable();
        let mut digest = Sha256::new();
        for part in lines.iter().flat_map(|(name, value)| [name.as_bytes(), value]) {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("mode", &self.mode).finish_non_exhaustive()
    }
}

fn unreachable() -> AuthError {
    AuthError::new(AuthFault::Unavailable, "webhook authentication request failed")
}

fn unusable(cause: &str) -> AuthError {
    tracing::warn!("the authentication webhook gives no usable answer: {cause}");
    AuthError::new(AuthFault::Unavailable, "Invalid response from authorization hook")
}

/// Client headers that a GET forwards.
fn forwarded_headers(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let lines = headers.iter().filter(|it| !IGNORED_HEADERS.contains(&it.0.as_str()));
    lines.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Body of a POST: `{"headers": {…}, "request": …}`.
fn body(headers: &HeaderMap, request: Option<&str>) -> String {
    let mut all = serde_json::Map::new();
    for name in headers.keys() {
        let lines = headers.get_all(name).iter().map(|it| String::from_utf8_lossy(it.as_bytes()));
        all.insert(name.as_str().into(), lines.collect::<Vec<_>>().join(",").into());
    }
    let headers = serde_json::Value::Object(all);
    match request {
        Some(request) => format!("{{\"headers\":{headers},\"request\":{request}}}"),
        None => format!("{{\"headers\":{headers}}}"),
    }
}

/// The member `request`: the three GraphQL members of the body, or of each request in a list.
fn request_member(body: &[u8]) -> Option<String> {
    let json = Json::parse(body, NESTING_MAX * 4).ok()?;
    let one = |it: JsonRef<'_>| {
        let parts = ["query", "variables", "operationName"]
            .into_iter()
            .filter_map(|name| it.get(name).map(|value| format!("\"{name}\":{}", value.raw())));
        format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
    };
    let root = json.root();
    if root.is_array() {
        return Some(format!("[{}]", root.items().map(one).collect::<Vec<_>>().join(",")));
    }
    root.is_object().then(|| one(root))
}

/// Parses the service's answer.
fn read(answer: &Answer, clock: &Clock) -> Result<HookAnswer, AuthError> {
    match answer.status.as_u16() {
        200 => {}
        401 => {
            let message = "Authentication hook unauthorized this request";
            return Err(AuthError::new(AuthFault::HookDenied, message));
        }
        other => return Err(unusable(&format!("status {other}"))),
    }
    let json = Json::parse(&answer.body, NESTING_MAX).map_err(|cause| unusable(&cause.to_string()))?;
    if !json.root().is_object() {
        return Err(unusable("no JSON object"));
    }
    let wall_ms = clock.wall_ms();
    let mut variables = Variables::default();
    let mut expires_ms = None;
    for (name, value) in json.root().members() {
        let text = value.as_str().ok_or_else(|| unusable(&format!("`{name}` is no text")))?;
        match &*name {
            "Cache-Control" => {
                let lives_ms = cache_control_ms(&text);
                expires_ms = lives_ms.map(|it| wall_ms.saturating_add(it)).or(expires_ms);
            }
            "Expires" => {
                expires_ms = expires_ms.or_else(|| Some(wall_ms.saturating_add(until_ms(&text, wall_ms))));
            }
            _ => {
                let name = name.to_ascii_lowercase();
                if name.starts_with(VARIABLE_START) && !variables.set(&name, &text) {
                    return Err(unusable(&format!("`{name}` is there twice")));
                }
            }
        }
    }
    let role = variables.get(ROLE_VARIABLE).filter(|it| !it.is_empty()).map(Box::from);
    let role = role.ok_or_else(|| {
        let message = "\"x-hasura-role\" not found in session variables";
        AuthError::new(AuthFault::HookRole, message)
    })?;
    let cookies: Vec<HeaderValue> = answer.headers.get_all(SET_COOKIE).iter().cloned().collect();
    let lives_ms = match lifetime_ms(&answer.headers, wall_ms) {
        Some(lives_ms) if cookies.is_empty() => lives_ms.min(LIFETIME_MS_MAX),
        Some(_) | None => 0,
    };
    let lives_ms = expires_ms.map_or(lives_ms, |it| lives_ms.min(it.saturating_sub(wall_ms)));
    let fresh_until_ms = clock.now_ms().saturating_add(lives_ms);
    Ok(HookAnswer { role, variables, expires_ms, cookies, fresh_until_ms })
}
