//! Cache headers for clients and proxies: `Cache-Control`, `X-TTL`, `ETag`, `Vary`.
//!
//! A million clients that are told one number come back in one second. So each answer's number is drawn from the last fifth of what is
//! left, and never beyond it; a number that the operation asked for itself is told as it is.
//!
//! **Invariant:** nobody is told to keep what failed, or more than what is left of it.
//!
//! Sources: RFC 9111 (5.2.2), RFC 9110 (8.8.3, 13.1.2), RFC 5861; `docs/caching.md`.

use super::content_coding::Coding;
use super::response_body::ResponseBody;
use crate::session;
use foldhash::quality::FixedState;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use std::fmt::Write;
use std::hash::BuildHasher;
use weir_engine::caller::{ROLE_VARIABLE, SESSION_PREFIX, WHOLE_SESSION};
use weir_engine::engine::{self, Body, Kept, Lifetime};
use weir_engine::source::CacheScope;

/// Header with the lifetime in seconds, for simple clients. Source: Dream11's services.
const X_TTL: HeaderName = HeaderName::from_static("x-ttl");
/// The session variable that affects every answer.
const ALWAYS_READ: &str = ROLE_VARIABLE;
/// In dev mode: the cache state and the setting that decided the lifetime.
const X_WEIR_CACHE: HeaderName = HeaderName::from_static("x-weir-cache");

/// Server settings that affect cache headers.
#[derive(Clone, Copy)]
pub(crate) struct ServerMode<'c> {
    /// Names of headers with credentials; empty on an open server.
    pub(crate) credentials: &'c str,
    /// In dev mode answers name the setting that decided their lifetime.
    pub(crate) dev: bool,
}

/// Writes the lifetime of an answer to `headers`. `asked` are the headers of the request.
pub(crate) fn write_lifetime(
    headers: &mut HeaderMap,
    lifetime: &Lifetime,
    asked: &HeaderMap,
    place: ServerMode<'_>,
) {
    let Lifetime { cache_control, wished, vary, claims, kept } = lifetime;
    let claims = if takes_session(asked, place) { claims } else { &[][..] };
    let seconds = match *wished {
        // An answer that depends on the whole session cannot be described by `Vary`.
        _ if claims.iter().any(|it| **it == *WHOLE_SESSION) => 0,
        true => cache_control.remaining_ms.div_ceil(1000),
        false => drawn_s(cache_control.remaining_ms),
    };
    // An answer for one caller is private: shared caches do not check secrets, tokens or sessions.
    let is_personal = !place.credentials.is_empty() || session::has_credentials(asked);
    let scope = if is_personal { CacheScope::Private } else { cache_control.scope };
    let words = match (seconds, scope) {
        (0, _) => "no-store".to_owned(),
        (_, scope) => {
            let mut words = match scope {
                CacheScope::Public => format!("public,max-age={seconds}"),
                CacheScope::Private => format!("private,max-age={seconds}"),
            };
            if cache_control.must_revalidate {
                words.push_str(",must-revalidate");
            } else if cache_control.stale_ms >= 1000 {
                // `write!` to a string cannot fail.
                let _ = write!(words, ",stale-while-revalidate={}", cache_control.stale_ms / 1000);
            }
            words
        }
    };
    insert(headers, CACHE_CONTROL, &words);
    headers.insert(X_TTL, HeaderValue::from(seconds));
    if seconds > 0 {
        differs_by(headers, &session::headers_of(ALWAYS_READ));
        differs_by(headers, place.credentials);
        differs_by(headers, vary);
        let variables = claims.iter().filter(|it| it.starts_with(SESSION_PREFIX));
        variables.for_each(|it| differs_by(headers, &session::headers_of(it)));
    }
    if place.dev {
        let kept = match kept {
            Kept::Hit => "hit",
            Kept::Joined => "joined",
            Kept::Made => "miss",
        };
        let ttl_s = cache_control.remaining_ms / 1000;
        insert(headers, X_WEIR_CACHE, &format!("{kept};ttl={ttl_s};set-by=\"{}\"", cache_control.set_by));
    }
}

/// Settles the headers of an answer to a GET by identifier: one without a lifetime is not kept, as some caches keep whatever has no
/// `Cache-Control`; with `is_public`, caches between server and client may keep it.
pub(crate) fn settle_by_id(headers: &mut HeaderMap, is_public: bool) {
    let Some(words) = headers.get(CACHE_CONTROL).and_then(|it| it.to_str().ok()) else {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return;
    };
    if let Some(rest) = words.strip_prefix("private,").filter(|_| is_public) {
        let words = format!("public,{rest}");
        insert(headers, CACHE_CONTROL, &words);
    }
}

/// True if session variables come from headers, because the caller is trusted. Other callers get them from credentials, and must not learn
/// which ones a policy reads.
fn takes_session(asked: &HeaderMap, place: ServerMode<'_>) -> bool {
    place.credentials.is_empty() || session::has_secret(asked)
}

/// A random lifetime between four fifths and all of the remaining time, at least one second.
fn drawn_s(remaining_ms: u64) -> u64 {
    match remaining_ms {
        0 => 0,
        _ => (fastrand::u64(remaining_ms - remaining_ms / 5..=remaining_ms) / 1000).max(1),
    }
}

/// `ETag` of a complete answer with a lifetime. It is equal in all processes, and weak because compression changes the bytes.
pub(crate) fn tag(made: &engine::Response) -> Option<String> {
    let lives = made.lifetime.as_ref().is_some_and(|it| it.cache_control.remaining_ms > 0);
    match &made.body {
        Body::Whole(bytes) if lives => Some(tag_of(bytes)),
        Body::Shared(bytes) if lives => Some(tag_of(bytes)),
        Body::Whole(_) | Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => None,
    }
}

/// Adds the `ETag` to the answer of a GET, or turns it into 304 if the client has these bytes.
pub(crate) fn mark(tag: &str, asked: &HeaderMap, response: &mut Response<ResponseBody>) {
    if response.status() != StatusCode::OK {
        return;
    }
    insert(response.headers_mut(), ETAG, tag);
    let is_known = |it: &str| it == "*" || opaque(it) == opaque(tag);
    let has = |it: &HeaderValue| it.to_str().is_ok_and(|it| it.split(',').map(str::trim).any(is_known));
    if asked.get_all(IF_NONE_MATCH).iter().any(has) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = ResponseBody::empty();
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_ENCODING);
    }
}

/// A tag without its weakness mark, which caches may drop. Source: RFC 9110, 13.1.2.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

fn tag_of(body: &[u8]) -> String {
    let half = |seed: u64| FixedState::with_seed(seed).hash_one(body);
    format!("W/\"{:016x}{:016x}\"", half(0x77_65_69_72), half(0x72_69_65_77))
}

fn insert(headers: &mut HeaderMap, name: HeaderName, words: &str) {
    if let Ok(value) = HeaderValue::from_str(words) {
        headers.insert(name, value);
    }
}

/// Adds `names`, a lower-case list, to `Vary` without repetition.
pub(crate) fn differs_by(headers: &mut HeaderMap, names: &str) {
    let known = headers.get(VARY).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let is_new = |name: &&str| !name.is_empty() && known.split(", ").all(|it| it != *name);
    let mut line = known.to_owned();
    for name in names.split(", ").filter(is_new) {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(name);
    }
    if line.len() > known.len() {
        insert(headers, VARY, &line);
    }
}

/// Sets `Content-Encoding`.
pub(crate) fn mark_coding(response: &mut Response<ResponseBody>, coding: Option<Coding>) {
    if let Some(coding) = coding {
        let headers = response.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        differs_by(headers, "accept-encoding");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::source::CacheControl;
    use weir_engine::tag_versions::TagSnapshot;

    fn lifetime(remaining_ms: u64, stale_ms: u64, scope: CacheScope, wished: bool) -> Lifetime {
        let cache_control = CacheControl {
            remaining_ms,
            stale_ms,
            scope,
            by_headers: true,
            is_silent: false,
            must_revalidate: false,
            ages: TagSnapshot::default(),
            set_by: "matches".into(),
        };
        Lifetime { cache_control, wished, vary: "x-user-id".into(), claims: [].into(), kept: Kept::Made }
    }

    fn check(lifetime: &Lifetime, expected: &[(&str, &str)]) {
        check_asked(&HeaderMap::new(), lifetime, expected);
    }

    fn check_asked(asked: &HeaderMap, lifetime: &Lifetime, expected: &[(&str, &str)]) {
        let mut headers = HeaderMap::new();
        write_lifetime(&mut headers, lifetime, asked, ServerMode { credentials: "", dev: true });
        let text = |it: &HeaderValue| it.to_str().expect("it is ASCII").to_owned();
        let found: Vec<(String, String)> = headers.iter().map(|it| (it.0.to_string(), text(it.1))).collect();
        let expected: Vec<_> = expected.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_the_operation_asked_for_is_told_as_it_is() {
        check(
            &lifetime(60_000, 0, CacheScope::Public, true),
            &[
                ("cache-control", "public,max-age=60"),
                ("x-ttl", "60"),
                ("vary", "x-hasura-role, x-weir-role, x-user-id"),
                ("x-weir-cache", "miss;ttl=60;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_an_admin_is_answered_is_private() {
        for secret in ["x-hasura-admin-secret", "x-weir-admin-secret"] {
            let mut asked = HeaderMap::new();
            asked.insert(HeaderName::from_static(secret), HeaderValue::from_static("s"));
            check_asked(
                &asked,
                &lifetime(60_000, 0, CacheScope::Public, true),
                &[
                    ("cache-control", "private,max-age=60"),
                    ("x-ttl", "60"),
                    ("vary", "x-hasura-role, x-weir-role, x-user-id"),
                    ("x-weir-cache", "miss;ttl=60;set-by=\"matches\""),
                ],
            );
        }
    }

    #[test]
    fn an_answer_differs_by_the_headers_that_were_read() {
        for (credentials, expected) in [
            ("", "x-hasura-role, x-weir-role, x-user-id"),
            (
                "x-hasura-admin-secret, authorization",
                "x-hasura-role, x-weir-role, x-hasura-admin-secret, authorization, x-user-id",
            ),
        ] {
            let mut headers = HeaderMap::new();
            let known = lifetime(60_000, 0, CacheScope::Public, true);
            write_lifetime(&mut headers, &known, &HeaderMap::new(), ServerMode { credentials, dev: false });
            assert_eq!(headers[VARY], expected);
            assert!(!headers.contains_key(X_WEIR_CACHE));
        }
    }

    #[test]
    fn an_answer_differs_by_the_session_headers_that_a_policy_read() {
        let all = ["x-hasura-role", "x-hasura-user-id", "sub", "token:x"];
        for (secret, credentials, claims, expected) in [
            (
                true,
                "x-s",
                &all[..],
                Some("x-hasura-role, x-weir-role, x-s, x-user-id, x-hasura-user-id, x-weir-user-id"),
            ),
            (
                false,
                "",
                &all,
                Some("x-hasura-role, x-weir-role, x-user-id, x-hasura-user-id, x-weir-user-id"),
            ),
            (false, "authorization", &all, Some("x-hasura-role, x-weir-role, authorization, x-user-id")),
            (true, "x-s", &[WHOLE_SESSION], None),
            (
                false,
                "authorization",
                &[WHOLE_SESSION],
                Some("x-hasura-role, x-weir-role, authorization, x-user-id"),
            ),
        ] {
            let mut asked = HeaderMap::new();
            if secret {
                asked.insert("x-hasura-admin-secret", HeaderValue::from_static("s"));
            }
            let claims = claims.iter().map(|it| Box::from(*it)).collect();
            let told = Lifetime { claims, ..lifetime(60_000, 0, CacheScope::Private, true) };
            let mut headers = HeaderMap::new();
            write_lifetime(&mut headers, &told, &asked, ServerMode { credentials, dev: false });
            assert_eq!(headers.get(VARY).and_then(|it| it.to_str().ok()), expected);
            assert_eq!(headers[CACHE_CONTROL] == "no-store", expected.is_none());
        }
    }

    #[test]
    fn what_is_private_says_so_and_what_may_be_shown_stale_too() {
        check(
            &lifetime(1, 10_000, CacheScope::Private, false),
            &[
                ("cache-control", "private,max-age=1,stale-while-revalidate=10"),
                ("x-ttl", "1"),
                ("vary", "x-hasura-role, x-weir-role, x-user-id"),
                ("x-weir-cache", "miss;ttl=0;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_may_not_be_shown_once_it_is_over_says_so() {
        let mut strict = lifetime(1, 10_000, CacheScope::Public, false);
        strict.cache_control.must_revalidate = true;
        check(
            &strict,
            &[
                ("cache-control", "public,max-age=1,must-revalidate"),
                ("x-ttl", "1"),
                ("vary", "x-hasura-role, x-weir-role, x-user-id"),
                ("x-weir-cache", "miss;ttl=0;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_has_no_time_left_is_not_stored() {
        check(
            &lifetime(0, 0, CacheScope::Public, false),
            &[
                ("cache-control", "no-store"),
                ("x-ttl", "0"),
                ("x-weir-cache", "miss;ttl=0;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_an_answer_differs_by_stands_in_one_line_each_once() {
        let mut headers = HeaderMap::new();
        for names in [
            "accept-encoding",
            "x-hasura-admin-secret",
            "",
            "authorization, x-user-id",
            "accept, accept-encoding",
            "origin",
        ] {
            differs_by(&mut headers, names);
        }
        let lines: Vec<_> = headers.get_all(VARY).iter().collect();
        assert_eq!(
            lines,
            ["accept-encoding, x-hasura-admin-secret, authorization, x-user-id, accept, origin"]
        );
    }

    #[test]
    fn numbers_differ_from_answer_to_answer_within_the_last_fifth() {
        let drawn: Vec<u64> = (0..1000).map(|_| drawn_s(100_000)).collect();
        assert!(drawn.iter().all(|it| (80..=100).contains(it)), "{drawn:?}");
        assert!(drawn.iter().any(|it| *it < 85) && drawn.iter().any(|it| *it > 95), "{drawn:?}");
    }

    #[test]
    fn a_client_that_has_the_bytes_gets_none() {
        let check = |known: &str, body: &str, expected: (StatusCode, u64)| {
            let mut asked = HeaderMap::new();
            insert(&mut asked, IF_NONE_MATCH, known);
            let mut response = Response::new(ResponseBody::whole(body.to_owned()));
            mark(&tag_of(body.as_bytes()), &asked, &mut response);
            assert_eq!((response.status(), response.body().len()), (expected.0, Some(expected.1)));
        };
        let known = tag_of(b"body");
        check("\"other\"", "body", (StatusCode::OK, 4));
        check(&format!("\"other\", {known}"), "body", (StatusCode::NOT_MODIFIED, 0));
        check(&known, "another", (StatusCode::OK, 7));
        check(opaque(&known), "body", (StatusCode::NOT_MODIFIED, 0));
        check("*", "body", (StatusCode::NOT_MODIFIED, 0));
    }
}
