//! Origins whose pages may call: on loopback local pages, else those of the configuration.
//!
//! The first refused request is logged with the setting that would allow it.

use crate::config;
use crate::config::OriginPattern;
use hyper::header::HeaderValue;
use std::sync::{Mutex, PoisonError};
use weir_transport::parameters::decode_percent;

/// Maximum number of refused origins that are logged, so that invented ones cannot fill the log.
pub(crate) const REFUSED_MAX: usize = 64;
/// Longer origins are cut in the log.
const REFUSED_BYTES_MAX: usize = 200;

/// The rules of one generation.
#[derive(Debug)]
pub(crate) struct CorsRules {
    usual: CorsRule,
    /// Rules of paths of their own, the longest path first.
    paths: Vec<(String, CorsRule)>,
    /// Origins that were refused and logged.
    pub(crate) refused: Mutex<Vec<HeaderValue>>,
}

/// Rule of a path.
#[derive(Debug)]
pub(crate) struct CorsRule {
    allowed: Allowed,
    pub(crate) credentials: bool,
    pub(crate) max_age_s: HeaderValue,
}

/// Origins that may call.
#[derive(Debug)]
enum Allowed {
    Any,
    /// `localhost`, `127.0.0.1` and `[::1]` on any port.
    Loopback,
    /// Origins compared as a whole, and those that match a pattern.
    Listed(Vec<HeaderValue>, Vec<OriginPattern>),
}

impl CorsRules {
    /// Rules of `config`. Without `origins` they depend on `is_local`: only processes of this machine can connect.
    pub(crate) fn new(config: &config::Cors, is_local: bool) -> Self {
        let allowed = match &config.origins {
            None if is_local => Allowed::Loopback,
            listed => Allowed::list(listed.as_deref().unwrap_or_default()),
        };
        let usual = CorsRule::new(allowed, config.credentials, config.max_age_s);
        let rule = |it: &config::CorsPath| {
            let rule = CorsRule::new(Allowed::list(&it.origins), it.credentials, it.max_age_s);
            (it.path.clone(), rule)
        };
        let mut paths: Vec<(String, CorsRule)> = config.paths.iter().map(rule).collect();
        paths.sort_by_key(|it| std::cmp::Reverse(it.0.len()));
        Self { usual, paths, refused: Mutex::new(Vec::new()) }
    }

    /// The rule of requests to `path`.
    pub(crate) fn rule(&self, path: &str) -> &CorsRule {
        self.paths.iter().find(|it| is_at_or_below(path, &it.0)).map_or(&self.usual, |it| &it.1)
    }

    /// Logs once that pages of `origin` may not call.
    pub(crate) fn log_refused_origin(&self, origin: &HeaderValue) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REFUSED_MAX || refused.contains(origin) {
            return;
        }
        refused.push(origin.clone());
        drop(refused);
        let text = origin.to_str().unwrap_or("null");
        let origin = text.get(..REFUSED_BYTES_MAX).unwrap_or(text);
        if !text.contains("://") {
            tracing::warn!(
                "a web page without an origin (a file, or a frame in a sandbox) may not call: serve it from an address, or \
                 let any page call by `cors: {{origins: [\"*\"]}}` in weir.yaml or `--cors '*'`"
            );
        } else {
            tracing::warn!(
                "web pages of {origin} may not call: let them by `cors: {{origins: [\"{origin}\"]}}` in weir.yaml or \
                 `--cors {origin}`"
            );
        }
    }
}

impl CorsRule {
    fn new(allowed: Allowed, credentials: bool, max_age_s: u32) -> Self {
        Self { allowed, credentials, max_age_s: HeaderValue::from(max_age_s) }
    }

    /// Value of `Access-Control-Allow-Origin` for `origin`; `None` if it may not read the answer.
    pub(crate) fn allowed_origin(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        let is_allowed = match &self.allowed {
            Allowed::Any => return Some(HeaderValue::from_static("*")),
            Allowed::Loopback => is_loopback(origin),
            Allowed::Listed(origins, patterns) => {
                let is_of_pattern = |text: &str| patterns.iter().any(|it| it.matches(text));
                origins.contains(origin) || origin.to_str().is_ok_and(is_of_pattern)
            }
        };
        is_allowed.then(|| origin.clone())
    }

    /// True if the answer depends on the origin.
    pub(crate) fn differs(&self) -> bool {
        match &self.allowed {
            Allowed::Any => false,
            Allowed::Loopback => true,
            Allowed::Listed(origins, patterns) => !(origins.is_empty() && patterns.is_empty()),
        }
    }

    /// True if pages of any origin may call.
    pub(crate) fn allows_any(&self) -> bool {
        matches!(self.allowed, Allowed::Any)
    }
}

impl Allowed {
    /// The origins of a configuration.
    fn list(origins: &[String]) -> Self {
        if origins.iter().any(|it| it == "*") {
            return Self::Any;
        }
        let patterns: Vec<OriginPattern> = origins.iter().filter_map(|it| OriginPattern::read(it)).collect();
        let whole = origins.iter().filter(|it| !it.contains('*'));
        Self::Listed(whole.filter_map(|it| HeaderValue::from_str(it).ok()).collect(), patterns)
    }
}

/// True if `path` of a request is `own` or below it, segment by segment: endpoints are found by decoded segments, too.
fn is_at_or_below(path: &str, own: &str) -> bool {
    let mut sent = path.split('/');
    own.split('/').all(|segment| {
        sent.next().is_some_and(|it| it == segment || decode_percent(it, false).as_deref() == Some(segment))
    })
}

/// True for a local page: `localhost` or a loopback address.
fn is_loopback(origin: &HeaderValue) -> bool {
    let text = origin.to_str().unwrap_or_default();
    let Some(authority) = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")) else {
        return false;
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        authority.strip_prefix(name).is_some_and(|rest| match rest.strip_prefix(':') {
            Some(port) => port.parse::<u16>().is_ok(),
            None => rest.is_empty(),
        })
    })
}
