//! Two users: what is for one never reaches the other, whichever way it could.
//!
//! The upstream answers each call with who it was made for. A key holds all headers that are sent, so two users have one key
//! only where the service tells them apart by something else, or where a rule is wrong; then headers have to save them.

use super::kit::{Kit, Says, ToldUpstream, observation, says, settle};
use crate::cache::Outcome::{Coalesced, Hit, Miss, Pass};
use crate::cache::{Outcome, Overruled, Sharing};
use futures_util::future::join_all;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};
use std::sync::Arc;

/// Asks for one key as users, first one after the other, then at once: what each got. The upstream says `of_user(n)` to
/// the n-th user's own call.
async fn two_users(kit: &Kit, of_user: impl Fn(usize) -> Says) -> Vec<(Outcome, String)> {
    let upstreams: Vec<_> = (0..6).map(|user| ToldUpstream::new(of_user(user))).collect();
    let mut got = Vec::new();
    for upstream in &upstreams[..2] {
        got.push(kit.serve("in turn", &[], upstream).await.unwrap());
        settle().await;
    }
    let held: Vec<Arc<ToldUpstream>> =
        (2..6).map(|user| ToldUpstream::with_closed_gate(of_user(user))).collect();
    let go = async {
        held[0].came(1).await;
        settle().await;
        held.iter().for_each(|it| it.let_through(1));
    };
    let (all, ()) = tokio::join!(join_all(held.iter().map(|it| kit.serve("at once", &[], it))), go);
    got.extend(all.into_iter().map(Result::unwrap));
    got.iter().map(|it| (it.outcome, super::kit::observe(it).2)).collect()
}

/// Nobody gets another's.
async fn check_apart(kit: &Kit, headers: &[&'static str]) {
    let got = two_users(kit, |user| says(200, headers, &user.to_string())).await;
    for (user, (outcome, text)) in got.iter().enumerate() {
        assert_eq!(*text, user.to_string(), "{headers:?}: {got:?}");
        assert_eq!(*outcome, Pass, "{headers:?}: {got:?}");
    }
    assert_eq!(kit.cache.counts().sources[0].of(Hit), 0);
}

/// One answer serves all.
async fn check_shared(kit: &Kit, headers: &[&'static str]) {
    let got = two_users(kit, |user| says(200, headers, &user.to_string())).await;
    let texts: Vec<_> = got.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["0", "0", "2", "2", "2", "2"], "{headers:?}");
    let outcomes: Vec<_> = got.iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [Miss, Hit, Miss, Coalesced, Coalesced, Coalesced], "{headers:?}");
}

#[tokio::test]
async fn what_headers_make_private_is_nobody_elses() {
    for headers in [
        &["cache-control: private, max-age=60"][..],
        &["cache-control: no-store, max-age=60"],
        &["cache-control: private=\"x-user, x-other\", max-age=60"],
        &["cache-control: max-age=60", "cache-control: Private"],
        &["x-ttl: 60", "set-cookie: session=1"],
        &["x-ttl: 60", "cache-control: no-store"],
        &["x-ttl: 60", "vary: *"],
        &["x-ttl: 60", "vary: accept-encoding, Cookie"],
        &["x-ttl: 60", "vary: traceparent"],
        &["cdn-cache-control: private, max-age=60", "cache-control: public, max-age=60"],
    ] {
        check_apart(&Kit::new(), headers).await;
    }
}

#[tokio::test]
async fn what_nothing_makes_private_is_shared() {
    for headers in [
        &["x-ttl: 60"][..],
        &["cache-control: max-age=60"],
        &["x-ttl: 60", "vary: Accept-Encoding, Origin"],
        &["cdn-cache-control: max-age=60", "cache-control: private, no-store"],
    ] {
        check_shared(&Kit::new(), headers).await;
    }
}

#[tokio::test]
async fn answers_to_calls_with_an_authorization_are_shared_only_if_that_is_declared() {
    let mut kit = Kit::new();
    kit.rule.held = [AUTHORIZATION].into();
    check_apart(&kit, &["x-ttl: 60"]).await;
    check_apart(&kit, &["cache-control: max-age=60"]).await;
    for headers in [["cache-control: public, max-age=60"], ["cache-control: s-maxage=60"]] {
        let mut kit = Kit::new();
        kit.rule.held = [AUTHORIZATION].into();
        check_shared(&kit, &headers).await;
    }
    let mut kit = Kit::new();
    kit.rule.held = [AUTHORIZATION].into();
    kit.rule.sharing = Sharing::Declared;
    check_shared(&kit, &["x-ttl: 60"]).await;
    // A declaration does not overrule the headers of an answer.
    check_apart(&kit_with(Sharing::Declared), &["cache-control: private, max-age=60"]).await;
}

#[tokio::test]
async fn who_sends_no_authorization_shares_where_others_send_one() {
    let anonymous = || {
        let mut kit = Kit::new();
        kit.rule.held = [AUTHORIZATION].into();
        kit.rule.anonymous = true;
        kit
    };
    check_shared(&anonymous(), &["x-ttl: 60"]).await;
    check_shared(&anonymous(), &["x-ttl: 60", "vary: Authorization"]).await;
    check_apart(&anonymous(), &["cache-control: private, max-age=60"]).await;
}

#[tokio::test]
async fn what_is_overruled_does_not_count_and_nothing_else() {
    let kit = |no_store, no_cache, private| {
        let mut kit = Kit::new();
        kit.rule.overruled = Overruled { no_store, no_cache, private };
        kit.rule.default_ms = Some(60_000);
        kit
    };
    for headers in [
        &["cache-control: no-store"][..],
        &["cache-control: no-store, max-age=0, must-revalidate", "expires: 0"],
        &["cdn-cache-control: no-store, max-age=0"],
    ] {
        check_shared(&kit(true, false, false), headers).await;
        check_apart(&kit(false, true, true), headers).await;
    }
    for headers in [&["cache-control: private"][..], &["cache-control: private, max-age=60"]] {
        check_shared(&kit(false, false, true), headers).await;
        check_apart(&kit(true, true, false), headers).await;
    }
    check_shared(&kit(true, true, true), &["cache-control: private, no-cache, no-store, max-age=0"]).await;
    check_apart(&kit(true, true, false), &["cache-control: private, no-store, max-age=60"]).await;
    check_apart(&kit(true, true, true), &["cache-control: no-store", "set-cookie: session=1"]).await;
    check_apart(&kit(true, true, true), &["x-ttl: 60", "vary: *"]).await;
    let mut authorized = kit(true, true, true);
    authorized.rule.held = [AUTHORIZATION].into();
    check_apart(&authorized, &["cache-control: private, max-age=60"]).await;
}

#[tokio::test]
async fn what_is_overruled_leaves_the_lifetimes_that_are_not() {
    let upstream = ToldUpstream::new(says(200, &["cache-control: private, max-age=5"], "1"));
    let mut kit = Kit::new();
    kit.rule.overruled = Overruled { private: true, ..Overruled::default() };
    kit.rule.default_ms = Some(60_000);
    assert_eq!(kit.serve("key", &[], &upstream).await.unwrap().fresh_ms, 5000);
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 7", "cache-control: no-store, max-age=0"], "1"));
    kit.rule.overruled = Overruled { no_store: true, ..Overruled::default() };
    assert_eq!(kit.serve("other", &[], &upstream).await.unwrap().fresh_ms, 7000);
}

fn kit_with(sharing: Sharing) -> Kit {
    let mut kit = Kit::new();
    kit.rule.sharing = sharing;
    kit
}

#[tokio::test]
async fn an_answer_may_vary_on_what_its_key_holds() {
    let mut kit = Kit::new();
    kit.rule.held = [ACCEPT_LANGUAGE, http::HeaderName::from_static("x-tenant")].into();
    check_shared(&kit, &["x-ttl: 60", "vary: X-Tenant, accept-language"]).await;
    check_apart(&Kit::new(), &["x-ttl: 60", "vary: X-Tenant"]).await;
    check_shared(&kit_with(Sharing::Declared), &["x-ttl: 60", "vary: Cookie"]).await;
}

#[tokio::test]
async fn what_is_private_without_a_key_is_asked_for_by_each() {
    let kit = kit_with(Sharing::Never);
    check_apart(&kit, &["x-ttl: 60", "cache-control: public"]).await;
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 60"], "0"));
    for _ in 0..3 {
        let all = kit.get_many("players", &[1, 2], &upstream).await;
        assert_eq!(all, [Ok(observation(Pass, 200, "[1,0]")), Ok(observation(Pass, 200, "[2,0]"))]);
    }
    assert_eq!((upstream.calls(), kit.cache.counts().entries), (3, 0));
}

#[tokio::test]
async fn what_is_private_with_a_key_is_kept_for_whom_the_key_names() {
    let kit = kit_with(Sharing::Keyed);
    let of_user =
        |user: &str| ToldUpstream::new(says(200, &["cache-control: private, max-age=60, s-maxage=9"], user));
    let ann = of_user("1");
    let bob = of_user("2");
    for outcome in [Miss, Hit] {
        assert_eq!(kit.get("wallet of Ann", &ann).await, Ok(observation(outcome, 200, "1")));
        assert_eq!(kit.get("wallet of Bob", &bob).await, Ok(observation(outcome, 200, "2")));
    }
    let served = kit.serve("wallet of Ann", &[], &ann).await.unwrap();
    assert_eq!((served.fresh_ms, served.entry.scope), (60_000, crate::cache::Scope::Private));
    check_apart(&kit_with(Sharing::Keyed), &["x-ttl: 60", "cache-control: no-store"]).await;
}

#[tokio::test]
async fn a_batch_that_is_private_is_nobody_elses() {
    let kit = Kit::new();
    let of_user =
        |user: &str| ToldUpstream::with_closed_gate(says(200, &["cache-control: private, max-age=60"], user));
    let ann = of_user("\"Ann\"");
    let bob = of_user("\"Bob\"");
    let go = async {
        ann.came(1).await;
        settle().await;
        ann.let_through(9);
        bob.let_through(9);
    };
    let (of_ann, of_bob, ()) =
        tokio::join!(kit.get_many("wallets", &[1, 2], &ann), kit.get_many("wallets", &[2, 3], &bob), go);
    assert_eq!(of_ann[1], Ok(observation(Pass, 200, "[2,\"Ann\"]")));
    assert_eq!(
        of_bob,
        [Ok(observation(Pass, 200, "[2,\"Bob\"]")), Ok(observation(Pass, 200, "[3,\"Bob\"]"))]
    );
    assert_eq!(kit.get_many("wallets", &[1, 2], &bob).await[0], Ok(observation(Pass, 200, "[1,\"Bob\"]")));
}

#[tokio::test]
async fn private_traffic_does_not_queue_and_is_shared_again_when_it_is_public() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["cache-control: private"], "1"));
    upstream.let_through(1);
    kit.get("key", &upstream).await.unwrap();
    upstream.came(1).await;
    let go = async {
        // Nobody waits for another: all three calls are there before any is answered.
        upstream.came(3).await;
        upstream.now_says(says(200, &["x-ttl: 60"], "2"));
        upstream.let_through(3);
    };
    let (all, ()) = tokio::join!(join_all((0..3).map(|_| kit.serve("key", &[], &upstream))), go);
    assert!(all.iter().all(|it| it.as_ref().unwrap().outcome == Pass));
    assert_eq!(kit.get("key", &upstream).await, Ok(observation(Hit, 200, "2")));
}

#[tokio::test]
async fn a_private_failure_tells_others_that_it_failed_and_not_what_it_said() {
    let kit = Kit::new();
    let got = two_users(&kit, |user| says(500, &["set-cookie: session=1"], &user.to_string())).await;
    let texts: Vec<_> = got.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["0", "1", "2", "", "", ""]);
}
