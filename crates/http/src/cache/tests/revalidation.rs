//! Answers that their service confirms: when it is asked on a condition, and what a 304 renews.

use super::kit::{Kit, Observed, Says, ToldUpstream, observation, says};
use crate::cache::Outcome::{Hit, Miss, Pass, Stale, StaleOnError};
use crate::cache::Sharing;
use http::HeaderName;

/// A cache whose calls are made by GET.
fn kit() -> Kit {
    let mut kit = Kit::new();
    kit.rule.revalidates = true;
    kit
}

/// One moment: milliseconds that pass, what the service says then, what is served, and the condition of the call if there is one.
type Moment = (u64, Says, Observed, Option<Option<&'static str>>);

/// Gets one key at each of `steps`.
async fn check(kit: &Kit, steps: &[Moment]) {
    let upstream = ToldUpstream::new(says(200, &[], "0"));
    for (number, (after_ms, says, expected, condition)) in steps.iter().enumerate() {
        kit.clock.advance_ms(*after_ms);
        upstream.now_says(says.clone());
        upstream.conditions.lock().unwrap().clear();
        assert_eq!(&kit.get("key", &upstream).await.unwrap(), expected, "step {number}");
        let calls = upstream.conditions.lock().unwrap().clone();
        let expected: Vec<_> = condition.iter().map(|it| it.map(str::to_owned)).collect();
        assert_eq!(calls, expected, "step {number}");
    }
}

fn revalidated(kit: &Kit) -> u64 {
    kit.cache.counts().sources[0].revalidated
}

const TAG: Option<Option<&str>> = Some(Some("if-none-match: \"a\""));
const ASKED: Option<Option<&str>> = Some(None);

fn tagged(body: &str) -> Says {
    says(200, &["cache-control: max-age=2", "etag: \"a\""], body)
}

#[tokio::test]
async fn an_answer_that_is_over_is_confirmed_and_renewed() {
    let kit = kit();
    let same = || says(304, &["cache-control: max-age=3"], "");
    let other = || says(200, &["cache-control: max-age=2", "etag: \"b\""], "2");
    check(
        &kit,
        &[
            (0, tagged("1"), observation(Miss, 200, "1"), ASKED),
            (1999, same(), observation(Hit, 200, "1"), None),
            (1, same(), observation(Miss, 200, "1"), TAG),
            (2999, same(), observation(Hit, 200, "1"), None),
            (1, same(), observation(Miss, 200, "1"), TAG),
            (3000, other(), observation(Miss, 200, "2"), TAG),
            (2000, same(), observation(Miss, 200, "2"), Some(Some("if-none-match: \"b\""))),
        ],
    )
    .await;
    assert_eq!(revalidated(&kit), 3);
}

#[tokio::test]
async fn what_says_that_nothing_is_there_is_asked_for_anew() {
    let mut kit = kit();
    kit.rule.negative_ms = 2000;
    let absent = says(404, &["cache-control: max-age=2", "etag: \"a\""], "0");
    check(
        &kit,
        &[
            (0, absent, observation(Miss, 404, "0"), ASKED),
            (1999, tagged("1"), observation(Hit, 404, "0"), None),
            (1, tagged("1"), observation(Miss, 200, "1"), ASKED),
        ],
    )
    .await;
    assert_eq!(revalidated(&kit), 0);
}

#[tokio::test]
async fn what_a_confirmation_leaves_out_stays() {
    let mut kit = kit();
    kit.rule.kept = [HeaderName::from_static("x-total")].into();
    let whole = says(200, &["x-ttl: 2", "last-modified: Thu, 01 Jan 2026 00:00:00 GMT", "x-total: 7"], "1");
    let date = Some(Some("if-modified-since: Thu, 01 Jan 2026 00:00:00 GMT"));
    let bare = || says(304, &[], "");
    check(
        &kit,
        &[
            (0, whole, observation(Miss, 200, "1"), ASKED),
            (2000, bare(), observation(Miss, 200, "1"), date),
            (1999, bare(), observation(Hit, 200, "1"), None),
            (1, bare(), observation(Miss, 200, "1"), date),
        ],
    )
    .await;
    let upstream = ToldUpstream::new(bare());
    let served = kit.serve("key", &[], &upstream).await.unwrap();
    let mut total = None;
    weir_engine::source::Headers::each(&served.entry.headers, "x-total", &mut |it| total = Some(it.to_vec()));
    assert_eq!(total.as_deref(), Some(&b"7"[..]));
}

#[tokio::test]
async fn a_stale_answer_is_confirmed_in_the_background_and_one_of_errors_too() {
    let mut kit = kit();
    kit.rule.stale_ms = Some(1000);
    kit.rule.stale_on_error_ms = Some(60_000);
    let same = || says(304, &[], "");
    check(
        &kit,
        &[
            (0, tagged("1"), observation(Miss, 200, "1"), ASKED),
            (2500, same(), observation(Stale, 200, "1"), TAG),
            (1000, same(), observation(Hit, 200, "1"), None),
            (5000, says(503, &[], ""), observation(StaleOnError, 200, "1"), TAG),
            (1000, same(), observation(Miss, 200, "1"), TAG),
        ],
    )
    .await;
    assert_eq!(revalidated(&kit), 2);
}

#[tokio::test]
async fn a_confirmation_that_makes_the_answer_private_ends_the_sharing() {
    for line in ["cache-control: private", "cache-control: no-store", "set-cookie: a=b", "vary: x-user"] {
        let kit = kit();
        let over = says(304, &[line], "");
        check(
            &kit,
            &[
                (0, tagged("1"), observation(Miss, 200, "1"), ASKED),
                (2000, over, observation(Pass, 200, "1"), TAG),
                (0, tagged("2"), observation(Pass, 200, "2"), ASKED),
            ],
        )
        .await;
    }
}

#[tokio::test]
async fn a_private_answer_is_never_asked_for_on_a_condition() {
    let kit = kit();
    let private = |body| says(200, &["cache-control: private, max-age=2", "etag: \"a\""], body);
    check(
        &kit,
        &[
            (0, private("1"), observation(Pass, 200, "1"), ASKED),
            (2000, private("2"), observation(Pass, 200, "2"), ASKED),
            (20_000, private("3"), observation(Pass, 200, "3"), ASKED),
        ],
    )
    .await;
    // A call that is nobody else's may have the key of an answer that is shared.
    let mut kit = self::kit();
    let upstream = ToldUpstream::new(tagged("1"));
    kit.get("key", &upstream).await.unwrap();
    kit.rule.sharing = Sharing::Never;
    kit.clock.advance_ms(2000);
    upstream.now_says(says(304, &[], ""));
    assert_eq!(kit.get("key", &upstream).await.unwrap(), observation(Pass, 304, ""));
    assert_eq!(*upstream.conditions.lock().unwrap(), [None, None]);
}

#[tokio::test]
async fn an_invalidated_answer_and_one_of_a_rule_without_conditions_are_fetched_whole() {
    let kit = kit();
    let upstream = ToldUpstream::new(tagged("1"));
    let get = async || kit.serve("key", &["shop"], &upstream).await.unwrap();
    get().await;
    kit.cache.invalidate("shop");
    get().await;
    let mut plain = Kit::new();
    plain.rule.revalidates = false;
    plain.serve("key", &[], &upstream).await.unwrap();
    plain.clock.advance_ms(2000);
    plain.serve("key", &[], &upstream).await.unwrap();
    assert_eq!(*upstream.conditions.lock().unwrap(), [None, None, None, None]);
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_an_answer_like_any_other() {
    let kit = kit();
    let upstream = ToldUpstream::new(says(304, &["cache-control: max-age=9"], ""));
    assert_eq!(kit.get("key", &upstream).await.unwrap(), observation(Miss, 304, ""));
    assert_eq!((kit.get("key", &upstream).await.unwrap().0, revalidated(&kit)), (Miss, 0));
}

#[tokio::test]
async fn requests_that_wait_for_a_confirmation_share_it() {
    let kit = kit();
    let upstream = ToldUpstream::with_closed_gate(tagged("1"));
    upstream.let_through(1);
    kit.get("key", &upstream).await.unwrap();
    kit.clock.advance_ms(2000);
    upstream.now_says(says(304, &[], ""));
    let both =
        async { futures_util::future::join(kit.get("key", &upstream), kit.get("key", &upstream)).await };
    let release = async {
        upstream.came(2).await;
        upstream.let_through(1);
    };
    let ((one, other), ()) = futures_util::future::join(both, release).await;
    assert_eq!((one.unwrap().2, other.unwrap().2), ("1".to_owned(), "1".to_owned()));
    assert_eq!((upstream.calls(), revalidated(&kit)), (2, 1));
}
