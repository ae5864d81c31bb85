//! Headers of services' answers that reach the client: none, but for those that a rule names.
//!
//! **Invariant:** only headers of a call that this request made itself are taken, so an answer from a cache, or one that another request
//! waited for, brings none. Headers of a connection, of the body and of caching are refused by name.
//!
//! **Cost:** without rules a test of an option for each call.

use super::wire::headers::may_be_sent;
use super::{Answer, CallPolicy};
use http::header::{DATE, LOCATION, SERVER, SET_COOKIE, STRICT_TRANSPORT_SECURITY, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue};
use std::sync::{Arc, Mutex, PoisonError};
use weir_engine::source::{AnswerNotes, ForwardedHeader, HeaderMerge};

/// Headers that Weir writes itself, or that mean something else for its own answer.
const NEVER: &[HeaderName] = &[DATE, LOCATION, SERVER, STRICT_TRANSPORT_SECURITY];

/// Prefixes and names of further such headers: of the body, of caching, of ranges, of other origins, and Weir's own.
const NEVER_STARTS: &[&str] = &[
    "content-",
    "cache-control",
    "cdn-cache-control",
    "surrogate-control",
    "age",
    "expires",
    "etag",
    "last-modified",
    "vary",
    "pragma",
    "accept-ranges",
    "access-control-",
    "retry-after",
    "ratelimit",
    "ratelimit-",
    "server-timing",
    "alt-svc",
    "x-request-id",
    "x-weir-",
    "x-content-type-options",
    "x-frame-options",
    "grpc-",
];

/// Maximum number of values that one call brings.
const VALUES_MAX: usize = 100;

/// A header of answers that reaches the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRule {
    /// Name of the header.
    pub name: HeaderName,
    /// Rule for several values.
    pub merge: HeaderMerge,
}

impl AnswerRule {
    /// A rule for the header `name`.
    /// # Errors
    /// The header never reaches clients, or its values cannot be merged so; the reason.
    pub fn new(name: HeaderName, merge: HeaderMerge) -> Result<Self, String> {
        let starts = |it: &&str| *it == name.as_str() || it.ends_with('-') && name.as_str().starts_with(*it);
        if NEVER.contains(&name) || NEVER_STARTS.iter().any(starts) || !may_be_sent(&name) {
            return Err(format!(
                "`{name}` never reaches clients: it belongs to the connection or to the body, or Weir writes it itself"
            ));
        }
        if (name == SET_COOKIE || name == WWW_AUTHENTICATE) && merge == HeaderMerge::Join {
            return Err(format!("values of `{name}` hold commas, so they cannot be joined: write `append`"));
        }
        Ok(Self { name, merge })
    }
}

/// Takes headers from the answers to one request's own calls.
#[derive(Clone)]
pub(crate) struct AnswerTaker {
    rules: Arc<[AnswerRule]>,
    taken: Arc<Mutex<Vec<(AnswerRule, HeaderValue)>>>,
}

impl AnswerTaker {
    /// A taker by the rules of `policy`; `None` if it has none.
    pub(crate) fn new(policy: &CallPolicy) -> Option<Self> {
        let rules = Arc::clone(policy.answer_rules.as_ref()?);
        Some(Self { rules, taken: Arc::default() })
    }

    /// Takes the headers of `answer`.
    pub(crate) fn take(&self, answer: &Answer) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        for rule in &*self.rules {
            let values = answer.headers.get_all(&rule.name).iter().map(|it| (rule.clone(), it.clone()));
            let room = VALUES_MAX - taken.len().min(VALUES_MAX);
            taken.extend(values.take(room));
        }
    }

    /// Notes what was taken for the client. Only for an answer that came from the call itself: `place` is that of its field.
    pub(crate) fn note(&self, notes: Option<&AnswerNotes>, place: u64) {
        let Some(notes) = notes else { return };
        let taken = std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        for (AnswerRule { name, merge }, value) in taken {
            let value =
                if name == SET_COOKIE { without_domain(value.as_bytes()) } else { value.as_bytes().into() };
            notes.add_header(ForwardedHeader { name: name.as_str().into(), value, merge, place });
        }
    }
}

/// Place of the row `row` of the member `member` in the order of headers.
pub(crate) const fn place(member: u32, row: usize) -> u64 {
    ((member as u64) << 32) | (row as u64 & 0xffff_ffff)
}

/// A cookie without its `Domain`, which is that of a host that clients do not see: it becomes one of Weir's host.
fn without_domain(cookie: &[u8]) -> Box<[u8]> {
    let is_domain = |it: &[u8]| {
        let name = it.split(|byte| *byte == b'=').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(b"domain")
    };
    let mut parts = cookie.split(|byte| *byte == b';');
    let value = parts.next().unwrap_or_default();
    let kept = parts.filter(|it| !is_domain(it));
    [value].into_iter().chain(kept).collect::<Vec<_>>().join(&b';').into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, StatusCode};

    fn name(text: &'static str) -> HeaderName {
        HeaderName::from_static(text)
    }

    fn rule(text: &'static str, merge: HeaderMerge) -> Result<AnswerRule, String> {
        AnswerRule::new(name(text), merge)
    }

    #[test]
    fn headers_of_connections_bodies_caches_and_weirs_own_have_no_rule() {
        for refused in [
            "connection",
            "keep-alive",
            "transfer-encoding",
            "upgrade",
            "te",
            "trailer",
            "content-length",
            "content-type",
            "content-encoding",
            "cache-control",
            "vary",
            "etag",
            "access-control-allow-origin",
            "x-request-id",
            "x-weir-cache",
            "date",
            "location",
            "x-forwarded-for",
            "retry-after",
        ] {
            let error = rule(refused, HeaderMerge::Append).unwrap_err();
            assert!(error.starts_with(&format!("`{refused}` never reaches clients")), "{error}");
        }
        for joined in ["set-cookie", "www-authenticate"] {
            assert!(rule(joined, HeaderMerge::Join).unwrap_err().ends_with("write `append`"));
            assert!(rule(joined, HeaderMerge::Append).is_ok());
        }
        assert!(rule("x-total", HeaderMerge::Join).is_ok());
    }

    #[test]
    fn a_cookie_loses_its_domain_and_nothing_else() {
        let check = |cookie: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&without_domain(cookie.as_bytes())), expected);
        };
        check("a=b", "a=b");
        check("a=b; Domain=shop.internal; Path=/; Secure", "a=b; Path=/; Secure");
        check("domain=b; DOMAIN = x;HttpOnly", "domain=b;HttpOnly");
        check("a=b; SameSite=Lax; domain", "a=b; SameSite=Lax");
    }

    #[test]
    fn only_headers_that_rules_name_are_taken_and_once() {
        let rules =
            [rule("x-total", HeaderMerge::Append).unwrap(), rule("set-cookie", HeaderMerge::Append).unwrap()];
        let policy = CallPolicy { answer_rules: Some(rules.into()), ..CallPolicy::USUAL };
        assert!(AnswerTaker::new(&CallPolicy::USUAL).is_none());
        let lines = [("x-total", "7"), ("x-secret", "s"), ("set-cookie", "a=b; Domain=x"), ("x-total", "8")];
        let headers = lines.map(|(text, value)| (name(text), HeaderValue::from_static(value)));
        let answer = Answer {
            status: StatusCode::OK,
            headers: headers.into_iter().collect::<HeaderMap>(),
            body: Default::default(),
            trailers: HeaderMap::new(),
            went: Default::default(),
        };
        let taker = AnswerTaker::new(&policy).unwrap();
        taker.take(&answer);
        let notes = AnswerNotes::default();
        taker.note(None, 0);
        taker.note(Some(&notes), 0);
        taker.note(Some(&notes), 0);
        let seen: Vec<_> = notes
            .take_headers()
            .into_iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(&value)))
            .collect();
        assert_eq!(seen, ["x-total: 7", "x-total: 8", "set-cookie: a=b"]);
    }
}
