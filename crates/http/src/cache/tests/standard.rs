//! Lifetimes as the standard has them: by table, and against another implementation.

use super::kit::{Kit, answer};
use crate::cache::freshness::{Fate, assess};
use crate::cache::{Rule, Sharing};
use crate::call::Answer;
use http::header::{AGE, AUTHORIZATION, DATE, HeaderName};
use http_cache_semantics::{CacheOptions, CachePolicy};
use proptest::prelude::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The year 2026, at its begin.
const NOW_S: u64 = 1_767_225_600;

fn answer_with(status: u16, headers: &[String]) -> Answer {
    const NAMES: [&str; 10] = [
        "age",
        "cache-control",
        "cdn-cache-control",
        "date",
        "expires",
        "set-cookie",
        "vary",
        "x-ttl",
        "x-life",
        "pragma",
    ];
    let split = |line: &String| {
        let (name, value) = line.split_once(": ").unwrap();
        (*NAMES.iter().find(|it| **it == name).unwrap(), value.to_owned())
    };
    answer(status, &headers.iter().map(split).collect::<Vec<_>>(), String::new())
}

/// Fresh, stale and on-error times in milliseconds of what is kept; nothing if it is not.
fn read_kept_times(rule: &Rule, status: u16, headers: &[&str]) -> Option<(u64, u64, u64)> {
    let answer = answer_with(status, &headers.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    let verdict = assess(rule, answer.status, &answer.headers, NOW_S * 1000);
    (verdict.fate == Fate::Keep).then_some((verdict.fresh_ms, verdict.stale_ms, verdict.error_ms))
}

fn rule() -> Rule {
    let mut rule = Kit::new().rule;
    rule.default_ms = Some(7000);
    rule
}

#[test]
fn silence_is_no_lifetime_of_nothing_and_only_of_what_may_be_shared() {
    let check = |sharing: Sharing, held: &[HeaderName], status: u16, headers: &[&str], expected: bool| {
        let rule = Rule { sharing, held: held.into(), ..Kit::new().rule };
        let answer = answer_with(status, &headers.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let verdict = assess(&rule, answer.status, &answer.headers, NOW_S * 1000);
        assert_eq!((verdict.is_silent, verdict.fresh_ms), (expected, 0), "{status} {headers:?}");
        assert_ne!(verdict.fate, Fate::Keep, "{status} {headers:?}");
    };
    let by_headers =
        |status, headers: &[&str], expected| check(Sharing::ByHeaders, &[], status, headers, expected);
    by_headers(200, &[], true);
    by_headers(204, &["cache-control: public"], true);
    by_headers(200, &["x-ttl: soon"], true);
    for said in ["x-ttl: 0", "cache-control: max-age=0", "expires: 0", "cache-control: no-cache"] {
        by_headers(200, &[said], false);
    }
    for private in
        ["cache-control: private", "cache-control: no-store", "set-cookie: a=b", "vary: cookie", "vary: *"]
    {
        by_headers(200, &[private], false);
    }
    for status in [201, 206, 404, 410, 301, 400, 429, 500] {
        by_headers(status, &[], false);
    }
    check(Sharing::ByHeaders, &[AUTHORIZATION], 200, &[], false);
    check(Sharing::ByHeaders, &[AUTHORIZATION], 200, &["cache-control: public"], true);
    check(Sharing::Declared, &[AUTHORIZATION], 200, &[], true);
    check(Sharing::Keyed, &[AUTHORIZATION], 200, &[], true);
    check(Sharing::Never, &[], 200, &[], false);
}

#[test]
fn the_first_header_of_the_list_decides_and_the_standard_ones_follow() {
    let rule = rule();
    let check = |headers: &[&str], fresh_ms: Option<u64>| {
        assert_eq!(read_kept_times(&rule, 200, headers).map(|it| it.0), fresh_ms, "{headers:?}");
    };
    check(&[], Some(7000));
    check(&["x-ttl: 2", "cache-control: max-age=9"], Some(2000));
    check(&["x-ttl: 2.5"], Some(2500));
    check(&["x-ttl: 0.2"], Some(1000));
    check(&["x-ttl: soon", "cache-control: max-age=9"], Some(9000));
    check(&["x-ttl: 0", "cache-control: max-age=9"], None);
    check(&["x-ttl: -1"], None);
    check(&["cdn-cache-control: max-age=3", "cache-control: s-maxage=9"], Some(3000));
    check(&["cache-control: max-age=9, s-maxage=4", "expires: Thu, 01 Jan 2026 00:01:00 GMT"], Some(4000));
    check(&["cache-control: public", "expires: Thu, 01 Jan 2026 00:01:00 GMT"], Some(60_000));
    check(&["date: Thu, 01 Jan 2026 00:00:30 GMT", "expires: Thu, 01 Jan 2026 00:01:00 GMT"], Some(30_000));
    check(&["expires: 0"], None);
    check(&["cache-control: max-age=\"9\""], Some(9000));
    check(&["cache-control: max-age=x"], None);
    check(&["cache-control: max-age=9, max-age=3"], Some(3000));
    check(&["cache-control: max-age=10", "age: 4"], Some(6000));
    check(&["x-ttl: 10", "age: 4"], Some(6000));
    check(&["x-ttl: 10", "age: 10"], None);
    check(&["cache-control: max-age=5", "date: Wed, 31 Dec 2025 00:00:00 GMT"], None);
    check(&["cache-control: max-age=5", "date: Wed, 31 Dec 2025 23:59:58 GMT"], Some(3000));
    check(&["cache-control: max-age=5", "date: Wed, 31 Dec 2025 23:59:58 GMT", "age: 1"], Some(3000));
    check(&["cache-control: max-age=5", "date: Wed, 31 Dec 2025 23:59:58 GMT", "age: 4"], Some(1000));
    check(&["cache-control: max-age=5", "date: Thu, 01 Jan 2026 00:05:00 GMT"], Some(5000));
    check(&["cache-control: max-age=5", "date: yesterday"], Some(5000));
    check(&["date: Wed, 31 Dec 2025 23:59:30 GMT", "expires: Thu, 01 Jan 2026 00:00:10 GMT"], Some(10_000));
    check(&["x-ttl: 10", "age: x"], Some(10_000));
    check(&["x-ttl: 99999999999999999999"], Some(365 * 86_400_000));
    check(&["cache-control: no-cache, max-age=9"], None);
    check(&["x-ttl: 9", "cache-control: no-cache"], None);
}

#[test]
fn a_named_standard_header_stands_where_it_is_named() {
    let mut rule = rule();
    rule.cache_control = ["x-life", "cache-control", "x-ttl"].map(HeaderName::from_static).into();
    assert_eq!(read_kept_times(&rule, 200, &["x-ttl: 2", "cache-control: max-age=9"]).unwrap().0, 9000);
    assert_eq!(
        read_kept_times(&rule, 200, &["x-ttl: 2", "cache-control: max-age=9", "x-life: 4"]).unwrap().0,
        4000
    );
}

#[test]
fn stale_answers_serve_as_the_rule_says_or_else_the_answer_and_never_where_that_is_forbidden() {
    let mut rule = rule();
    let windows = "cache-control: max-age=9, stale-while-revalidate=5, stale-if-error=50";
    assert_eq!(read_kept_times(&rule, 200, &[windows]), Some((9000, 5000, 50_000)));
    assert_eq!(read_kept_times(&rule, 200, &["x-ttl: 9"]), Some((9000, 0, 0)));
    assert_eq!(
        read_kept_times(&rule, 200, &["x-ttl: 1"]),
        Some((1000, 1000, 0)),
        "a second is too short to wait for"
    );
    assert_eq!(
        read_kept_times(&rule, 200, &["x-ttl: 9", "cache-control: must-revalidate"]),
        Some((9000, 0, 0))
    );
    assert_eq!(
        read_kept_times(&rule, 200, &["cache-control: max-age=0, stale-while-revalidate=5"]),
        Some((0, 5000, 0))
    );
    rule.stale_ms = Some(2000);
    rule.stale_on_error_ms = Some(3000);
    assert_eq!(read_kept_times(&rule, 200, &[windows]), Some((9000, 2000, 3000)));
    assert_eq!(
        read_kept_times(&rule, 200, &["x-ttl: 9", "age: 10"]),
        Some((0, 1000, 2000)),
        "its age comes off everything"
    );
    assert_eq!(
        read_kept_times(&rule, 200, &["x-ttl: 9", "cache-control: proxy-revalidate"]),
        Some((9000, 0, 0))
    );
}

#[test]
fn only_what_exists_or_certainly_does_not_is_kept() {
    let mut rule = rule();
    for status in [201, 206, 301, 302, 304, 400, 401, 403, 404, 410, 429, 500, 503] {
        assert_eq!(read_kept_times(&rule, status, &["cache-control: public, max-age=9"]), None, "{status}");
    }
    rule.negative_ms = 1500;
    assert_eq!(read_kept_times(&rule, 404, &[]), Some((1500, 0, 0)));
    assert_eq!(read_kept_times(&rule, 410, &["x-ttl: 60"]), Some((1500, 0, 0)));
    assert_eq!(read_kept_times(&rule, 404, &["x-ttl: 1"]), Some((1000, 0, 0)));
    assert_eq!(read_kept_times(&rule, 404, &["cache-control: no-store"]), None);
    assert_eq!(read_kept_times(&rule, 500, &[]), None);
}

/// A list of directives as upstreams send them.
fn cache_control() -> impl Strategy<Value = String> {
    let seconds = prop_oneof![Just(0u32), Just(1), Just(60), 2u32..100_000];
    let one = prop_oneof![
        3 => seconds.clone().prop_map(|s| format!("max-age={s}")),
        2 => seconds.prop_map(|s| format!("s-maxage={s}")),
        1 => Just("public".to_owned()),
        1 => Just("private".to_owned()),
        1 => Just("no-cache".to_owned()),
        1 => Just("no-store".to_owned()),
        1 => Just("must-revalidate".to_owned()),
        1 => Just("stale-while-revalidate=30".to_owned()),
        1 => Just("immutable-not".to_owned()),
    ];
    prop::collection::vec(one, 0..4).prop_map(|all| all.join(", "))
}

fn headers() -> impl Strategy<Value = Vec<String>> {
    let line = |name: &'static str, value: BoxedStrategy<String>| {
        prop::option::weighted(0.4, value.prop_map(move |value| format!("{name}: {value}")))
    };
    let date = |past_s: u64, future_s: u64| {
        (NOW_S - past_s..NOW_S + future_s)
            .prop_map(|s| httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(s)))
            .boxed()
    };
    let made = prop_oneof![date(0, 10), date(100, 10), date(200_000, 200_000)].boxed();
    (
        prop::option::weighted(0.8, cache_control().prop_map(|it| format!("cache-control: {it}"))),
        line("age", (0u32..100).prop_map(|s| s.to_string()).boxed()),
        line("expires", date(100, 1000)),
        line("date", made),
        prop::option::weighted(0.1, Just("set-cookie: a=b".to_owned())),
        prop::option::weighted(0.1, Just("vary: *".to_owned())),
    )
        .prop_map(|(a, b, c, d, e, f)| [a, b, c, d, e, f].into_iter().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is kept that `http-cache-semantics` would not store, nor longer; and all that it stores is kept as long,
    /// but for what is written here.
    #[test]
    fn lifetimes_are_those_of_another_implementation(
        headers in headers(), authorized: bool, keyed: bool, status in prop_oneof![9 => Just(200u16), 1 => Just(203), 1 => Just(302), 1 => Just(500)],
    ) {
        let mut rule = Kit::new().rule;
        rule.sharing = if keyed { Sharing::Keyed } else { Sharing::ByHeaders };
        rule.held = if authorized { [AUTHORIZATION].into() } else { [].into() };
        let answer = answer_with(status, &headers);
        let now = UNIX_EPOCH + Duration::from_secs(NOW_S);
        let ours = assess(&rule, answer.status, &answer.headers, NOW_S * 1000);
        let ours_ms = if ours.fate == Fate::Keep { ours.fresh_ms } else { 0 };
        let theirs_ms = theirs_ms(&answer, authorized, !keyed, now);
        prop_assert!(ours_ms <= theirs_ms, "ours {ours_ms}, theirs {theirs_ms}");
        let has = |text: &str| headers.iter().any(|it| it.contains(text));
        // Redirects hold no data. A cookie is never kept, whatever else is said. Where `must-revalidate` alone lets an
        // authorized answer be shared, the rule asks for more. Of two lifetimes ours is the shorter, theirs the first.
        let twice = |name: &str| headers.iter().any(|it| it.matches(name).count() > 1);
        let stricter = status == 302 || has("set-cookie") || authorized && has("must-revalidate")
            || twice("max-age=") || twice("s-maxage=");
        prop_assert!(stricter || ours_ms == theirs_ms, "ours {ours_ms}, theirs {theirs_ms}");
    }
}

fn theirs_ms(answer: &Answer, authorized: bool, shared: bool, now: SystemTime) -> u64 {
    let mut request = http::Request::get("http://service/").body(()).unwrap();
    if authorized {
        request.headers_mut().insert(AUTHORIZATION, "Bearer x".parse().unwrap());
    }
    let mut response = http::Response::new(());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers.clone();
    // Theirs counts `Age` alone.
    let made = answer.headers.get(DATE).and_then(|it| httpdate::parse_http_date(it.to_str().ok()?).ok());
    let apparent_s = made.and_then(|it| now.duration_since(it).ok()).map_or(0, |it| it.as_secs());
    let said_s = answer.headers.get(AGE).and_then(|it| it.to_str().ok()?.parse().ok()).unwrap_or(0);
    response.headers_mut().insert(AGE, apparent_s.max(said_s).into());
    let options = CacheOptions { shared, cache_heuristic: 0.0, ..CacheOptions::default() };
    let policy = CachePolicy::new_options(&request, &response, now, options);
    if policy.is_storable() { policy.time_to_live(now).as_millis() as u64 } else { 0 }
}
