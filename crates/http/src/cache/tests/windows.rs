//! Fresh, stale, on error, over: what is served when, and how often the upstream is asked for it.

use super::kit::{Kit, ToldUpstream, observation, says};
use crate::cache::Outcome::{Hit, Miss, Stale, StaleOnError};
use crate::call::CallError;
use std::sync::Arc;

/// Gets one key at each of `steps`: after so many milliseconds more, as the upstream says then what is there.
async fn check(kit: &Kit, steps: &[(u64, super::kit::Says, super::kit::Observed)]) {
    let upstream = ToldUpstream::new(says(200, &[], "0"));
    for (number, (after_ms, says, expected)) in steps.iter().enumerate() {
        kit.clock.advance_ms(*after_ms);
        upstream.now_says(says.clone());
        let told = kit.get("key", &upstream).await.unwrap();
        assert_eq!(&told, expected, "step {number}");
    }
}

#[tokio::test]
async fn what_is_fresh_is_served_and_asked_for_again_when_it_is_not() {
    let ttl = |body| says(200, &["x-ttl: 2"], body);
    let steps = [
        (0, ttl("1"), observation(Miss, 200, "1")),
        (1999, ttl("2"), observation(Hit, 200, "1")),
        (1, ttl("3"), observation(Miss, 200, "3")),
        (1999, ttl("4"), observation(Hit, 200, "3")),
    ];
    check(&Kit::new(), &steps).await;
}

#[tokio::test]
async fn what_is_stale_is_served_while_one_refresh_brings_the_next() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(10_000);
    let ttl = |body| says(200, &["x-ttl: 2"], body);
    let steps = [
        (0, ttl("1"), observation(Miss, 200, "1")),
        (2000, ttl("2"), observation(Stale, 200, "1")),
        (0, ttl("3"), observation(Hit, 200, "2")),
        (11_999, ttl("4"), observation(Stale, 200, "2")),
        (12_000, ttl("5"), observation(Miss, 200, "5")),
    ];
    check(&kit, &steps).await;
}

#[tokio::test]
async fn when_the_upstream_fails_the_last_answer_serves_as_long_as_it_may() {
    let mut kit = Kit::new();
    kit.rule.stale_on_error_ms = Some(60_000);
    let bad = || says(503, &[], "");
    let steps = [
        (0, says(200, &["x-ttl: 2"], "1"), observation(Miss, 200, "1")),
        (2000, bad(), observation(StaleOnError, 200, "1")),
        (999, says(200, &["x-ttl: 2"], "not asked so soon"), observation(StaleOnError, 200, "1")),
        (1, Err(CallError::Timeout), observation(StaleOnError, 200, "1")),
        (58_999, says(200, &["x-ttl: 2"], "<html>"), observation(StaleOnError, 200, "1")),
        (1, bad(), observation(Miss, 503, "")),
        (0, says(200, &["x-ttl: 2"], "2"), observation(Miss, 200, "2")),
    ];
    check(&kit, &steps).await;
}

#[tokio::test]
async fn errors_are_told_and_forgotten() {
    let kit = Kit::new();
    let upstream = ToldUpstream::new(Err(CallError::Busy));
    assert_eq!(kit.get("key", &upstream).await, Err(CallError::Busy));
    for status in [500, 503, 429, 401, 302] {
        upstream.now_says(says(status, &["cache-control: public, max-age=9"], "{}"));
        assert_eq!(kit.get("key", &upstream).await, Ok(observation(Miss, status, "{}")));
    }
    upstream.now_says(says(200, &["x-ttl: 1"], "1"));
    assert_eq!(kit.get("key", &upstream).await, Ok(observation(Miss, 200, "1")));
    assert_eq!((kit.cache.counts().sources[0].failed, upstream.calls()), (1, 7));
}

#[tokio::test]
async fn what_does_not_exist_is_remembered_for_its_own_time() {
    let mut kit = Kit::new();
    kit.rule.negative_ms = 1000;
    kit.rule.default_ms = Some(60_000);
    let gone = || says(404, &[], "");
    let steps = [
        (0, gone(), observation(Miss, 404, "")),
        (999, says(200, &[], "1"), observation(Hit, 404, "")),
        (1, says(200, &[], "1"), observation(Miss, 200, "1")),
    ];
    check(&kit, &steps).await;
    assert_eq!(kit.cache.counts().sources[0].negative, 1);
}

#[tokio::test]
async fn an_answer_that_may_not_be_kept_ends_the_one_before() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(10_000);
    let steps = [
        (0, says(200, &["x-ttl: 2"], "1"), observation(Miss, 200, "1")),
        (2000, says(200, &["x-ttl: 0"], "2"), observation(Stale, 200, "1")),
        (0, says(200, &["x-ttl: 0"], "3"), observation(Miss, 200, "3")),
        (0, says(200, &["x-ttl: 0"], "4"), observation(Miss, 200, "4")),
    ];
    check(&kit, &steps).await;
}

#[tokio::test]
async fn the_remainder_is_what_is_served_on() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(5000);
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 10", "age: 3"], "1"));
    let mut left = Vec::new();
    for after_ms in [0, 2500, 6000, 3499] {
        kit.clock.advance_ms(after_ms);
        let served = kit.serve("key", &[], &upstream).await.unwrap();
        left.push((served.fresh_ms, served.stale_ms));
        super::kit::settle().await;
        if after_ms == 0 {
            upstream.now_says(Err(CallError::Busy));
        }
    }
    assert_eq!(left, [(7000, 5000), (4500, 5000), (0, 3500), (0, 1)]);
}

#[tokio::test]
async fn a_tag_that_is_invalidated_ends_what_has_it_also_what_is_on_its_way() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 60"], "1"));
    upstream.let_through(1);
    kit.serve("kept", &["Album", "Artist"], &upstream).await.unwrap();
    upstream.came(1).await;
    let fetching = kit.serve("fetched", &["Album"], &upstream);
    let invalidated = async {
        upstream.came(1).await;
        kit.cache.invalidate("Album");
        upstream.let_through(1);
    };
    assert_eq!(tokio::join!(fetching, invalidated).0.unwrap().outcome, Miss);
    upstream.let_through(2);
    for key in ["kept", "fetched"] {
        assert_eq!(kit.serve(key, &["Album"], &upstream).await.unwrap().outcome, Miss, "{key}");
        assert_eq!(kit.serve(key, &["Album"], &upstream).await.unwrap().outcome, Hit, "{key}");
    }
}

#[tokio::test]
async fn lifetimes_are_shortened_and_never_lengthened_by_jitter() {
    let mut kit = Kit::new();
    kit.rule.jitter_percent = 10;
    fastrand::seed(7);
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 100"], "1"));
    let mut left = Vec::new();
    for key in 0..200 {
        left.push(kit.serve(&key.to_string(), &[], &upstream).await.unwrap().fresh_ms);
    }
    let least = left.iter().min().unwrap();
    let most = left.iter().max().unwrap();
    assert!((90_000..91_000).contains(least) && (99_000..=100_000).contains(most), "{least} to {most}");
    // A second stays a second.
    upstream.now_says(says(200, &["x-ttl: 1"], "1"));
    assert_eq!(kit.serve("short", &[], &upstream).await.unwrap().fresh_ms, 1000);
}

#[tokio::test]
async fn what_is_asked_for_often_is_replaced_before_it_ends() {
    let kit = Kit::new();
    fastrand::seed(7);
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 10"], "1"));
    let slow = async {
        upstream.came(1).await;
        kit.clock.advance_ms(200);
        upstream.let_through(1);
    };
    let (first, ()) = tokio::join!(kit.get("key", &upstream), slow);
    assert_eq!(first, Ok(observation(Miss, 200, "1")));
    let mut asked_at_ms = 0;
    for at_ms in (200..10_000).step_by(10) {
        assert_eq!(kit.get("key", &upstream).await, Ok(observation(Hit, 200, "1")), "{at_ms}");
        if upstream.calls() == 2 && asked_at_ms == 0 {
            asked_at_ms = at_ms;
        }
        kit.clock.advance_ms(10);
    }
    assert!((8000..10_000).contains(&asked_at_ms), "asked again at {asked_at_ms} ms");
    assert_eq!(upstream.calls(), 2, "one refresh at a time");
}

#[tokio::test]
async fn the_bytes_that_are_kept_have_a_bound() {
    let kit = Kit::new();
    let large = format!("\"{}\"", "x".repeat(100_000));
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 60"], &large));
    for key in 0..200 {
        kit.get(&key.to_string(), &upstream).await.unwrap();
    }
    let counts = kit.cache.counts();
    assert!(counts.bytes <= 8 * 1024 * 1024 && counts.entries > 40, "{counts:?}");
    assert_eq!(Arc::strong_count(&upstream), 1, "nothing holds on to who was asked");
}
