//! What clients and caches before us are told of an answer's lifetime: `Cache-Control`, `X-TTL`, `ETag`, `Vary`.
//!
//! A million clients that are told one number come back in one second. So each answer's number is drawn from the last fifth of what is
//! left, and never beyond it; a number that the operation asked for itself is told as it is.
//!
//! **Invariant:** nobody is told to keep what failed, or more than what is left of it.
//!
//! Sources: RFC 9111 (5.2.2), RFC 9110 (8.8.3, 13.1.2), RFC 5861; `docs/caching.md`.

use super::body::Reply;
use foldhash::quality::FixedState;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use std::fmt::Write;
use std::hash::BuildHasher;
use weir_engine::engine::{self, Body, Kept, Lifetime};
use weir_engine::source::Scope;

/// The seconds, for clients that look no further. Source: Dream11's services.
const X_TTL: HeaderName = HeaderName::from_static("x-ttl");
/// The headers that say who asks: what one was answered is not another's.
const WHO: &str = "authorization, x-hasura-admin-secret, x-hasura-role, x-weir-admin-secret";
/// Whether the whole answer was kept, and what set its lifetime; in dev mode.
const X_WEIR_CACHE: HeaderName = HeaderName::from_static("x-weir-cache");

/// Says in `headers` how long the answer lives; in dev mode also why.
pub(crate) fn tell(headers: &mut HeaderMap, lifetime: &Lifetime, dev: bool) {
    let Lifetime { freshness, wished, vary, kept } = lifetime;
    let seconds =
        if *wished { freshness.remaining_ms.div_ceil(1000) } else { drawn_s(freshness.remaining_ms) };
    let words = match (seconds, freshness.scope) {
        (0, _) => "no-store".to_owned(),
        (_, scope) => {
            let mut words = match scope {
                Scope::Public => format!("public,max-age={seconds}"),
                Scope::Private => format!("private,max-age={seconds}"),
            };
            if freshness.stale_ms >= 1000 {
                // Writing into memory cannot fail.
                let _ = write!(words, ",stale-while-revalidate={}", freshness.stale_ms / 1000);
            }
            words
        }
    };
    insert(headers, CACHE_CONTROL, &words);
    headers.insert(X_TTL, HeaderValue::from(seconds));
    if seconds > 0 {
        headers.append(VARY, HeaderValue::from_static(WHO));
        if !vary.is_empty() {
            append(headers, VARY, vary);
        }
    }
    if dev {
        let kept = match kept {
            Kept::Hit => "hit",
            Kept::Joined => "joined",
            Kept::Made => "miss",
        };
        let ttl_s = freshness.remaining_ms / 1000;
        insert(headers, X_WEIR_CACHE, &format!("{kept};ttl={ttl_s};set-by=\"{}\"", freshness.set_by));
    }
}

/// From four fifths of what is left to all of it; what is not over yet is told as one second at least.
fn drawn_s(remaining_ms: u32) -> u32 {
    match remaining_ms {
        0 => 0,
        _ => (fastrand::u32(remaining_ms - remaining_ms / 5..=remaining_ms) / 1000).max(1),
    }
}

/// The tag of an answer that is whole and lives. The same in every process, and weak: the same bytes may be coded in several ways.
pub(crate) fn tag(made: &engine::Response) -> Option<String> {
    let lives = made.lifetime.as_ref().is_some_and(|it| it.freshness.remaining_ms > 0);
    match &made.body {
        Body::Whole(bytes) if lives => Some(tag_of(bytes)),
        Body::Shared(bytes) if lives => Some(tag_of(bytes)),
        Body::Whole(_) | Body::Shared(_) | Body::Stream { .. } => None,
    }
}

/// Marks the answer to a GET with the tag of its bytes; a client that has them already gets none.
pub(crate) fn mark(tag: &str, asked: &HeaderMap, response: &mut Response<Reply>) {
    if response.status() != StatusCode::OK {
        return;
    }
    insert(response.headers_mut(), ETAG, tag);
    let has = |it: &HeaderValue| it.to_str().is_ok_and(|it| it.split(',').any(|it| it.trim() == tag));
    if asked.get_all(IF_NONE_MATCH).iter().any(has) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Reply::empty();
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_ENCODING);
    }
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

fn append(headers: &mut HeaderMap, name: HeaderName, words: &str) {
    if let Ok(value) = HeaderValue::from_str(words) {
        headers.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::source::Freshness;

    fn lifetime(remaining_ms: u32, stale_ms: u32, scope: Scope, wished: bool) -> Lifetime {
        let freshness =
            Freshness { remaining_ms, stale_ms, scope, by_headers: true, set_by: "matches".into() };
        Lifetime { freshness, wished, vary: "x-user-id".into(), kept: Kept::Made }
    }

    fn check(lifetime: &Lifetime, expected: &[(&str, &str)]) {
        let mut headers = HeaderMap::new();
        tell(&mut headers, lifetime, true);
        let text = |it: &HeaderValue| it.to_str().expect("it is ASCII").to_owned();
        let found: Vec<(String, String)> = headers.iter().map(|it| (it.0.to_string(), text(it.1))).collect();
        let expected: Vec<_> = expected.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_the_operation_asked_for_is_told_as_it_is() {
        check(
            &lifetime(60_000, 0, Scope::Public, true),
            &[
                ("cache-control", "public,max-age=60"),
                ("x-ttl", "60"),
                ("vary", WHO),
                ("vary", "x-user-id"),
                ("x-weir-cache", "miss;ttl=60;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_is_private_says_so_and_what_may_be_shown_stale_too() {
        check(
            &lifetime(1, 10_000, Scope::Private, false),
            &[
                ("cache-control", "private,max-age=1,stale-while-revalidate=10"),
                ("x-ttl", "1"),
                ("vary", WHO),
                ("vary", "x-user-id"),
                ("x-weir-cache", "miss;ttl=0;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn what_has_no_time_left_is_not_stored() {
        check(
            &lifetime(0, 10_000, Scope::Public, false),
            &[
                ("cache-control", "no-store"),
                ("x-ttl", "0"),
                ("x-weir-cache", "miss;ttl=0;set-by=\"matches\""),
            ],
        );
    }

    #[test]
    fn numbers_differ_from_answer_to_answer_within_the_last_fifth() {
        let drawn: Vec<u32> = (0..1000).map(|_| drawn_s(100_000)).collect();
        assert!(drawn.iter().all(|it| (80..=100).contains(it)), "{drawn:?}");
        assert!(drawn.iter().any(|it| *it < 85) && drawn.iter().any(|it| *it > 95), "{drawn:?}");
    }

    #[test]
    fn a_client_that_has_the_bytes_gets_none() {
        let check = |known: &str, body: &str, expected: (StatusCode, u64)| {
            let mut asked = HeaderMap::new();
            insert(&mut asked, IF_NONE_MATCH, known);
            let mut response = Response::new(Reply::whole(body.to_owned()));
            mark(&tag_of(body.as_bytes()), &asked, &mut response);
            assert_eq!((response.status(), response.body().len()), (expected.0, Some(expected.1)));
        };
        let known = tag_of(b"body");
        check("\"other\"", "body", (StatusCode::OK, 4));
        check(&format!("\"other\", {known}"), "body", (StatusCode::NOT_MODIFIED, 0));
        check(&known, "another", (StatusCode::OK, 7));
    }
}
