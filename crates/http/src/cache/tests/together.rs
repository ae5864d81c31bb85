//! Concurrent requests for the same key.

use super::kit::{Kit, PATIENCE, ToldUpstream, observation, observe, says, settle};
use crate::cache::Outcome::{Coalesced, Hit, Miss, Stale};
use crate::cache::{Key, Wanted};
use crate::call::CallError;
use futures_util::future::join_all;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_thousand_who_ask_at_once_cause_one_call() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 2"], "1"));
    let go = async {
        upstream.came(1).await;
        settle().await;
        upstream.let_through(1_000);
    };
    let (all, ()) = tokio::join!(join_all((0..1000).map(|_| kit.serve("key", &[], &upstream))), go);
    let outcomes: Vec<_> = all.into_iter().map(|it| it.unwrap().outcome).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == Miss).count(), 1);
    assert_eq!(outcomes.iter().filter(|it| **it == Coalesced).count(), 999);
    assert_eq!(upstream.calls(), 1);
}

#[test]
fn threads_that_meet_at_every_expiry_cause_one_call_each_time() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(0);
    let kit = Arc::new(kit);
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 2"], "1"));
    let threads = 8;
    let rounds = 200;
    let barrier = Arc::new(Barrier::new(threads));
    let work = |number: usize| {
        let kit = Arc::clone(&kit);
        let upstream = Arc::clone(&upstream);
        let barrier = Arc::clone(&barrier);
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            for _ in 0..rounds {
                barrier.wait();
                let asked = join_all((0..8).map(|_| kit.serve("key", &[], &upstream)));
                runtime.block_on(asked).into_iter().for_each(|it| drop(it.unwrap()));
                barrier.wait();
                if number == 0 {
                    kit.clock.advance_ms(2000);
                }
            }
        }
    };
    let threads: Vec<_> = (0..threads).map(|number| std::thread::spawn(work(number))).collect();
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(upstream.calls(), rounds);
}

#[tokio::test]
async fn of_many_who_find_it_stale_all_are_served_at_once_and_one_refreshes() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(10_000);
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 2"], "1"));
    upstream.let_through(1);
    kit.get("key", &upstream).await.unwrap();
    kit.clock.advance_ms(3000);
    upstream.now_says(says(200, &["x-ttl: 2"], "2"));
    for _ in 0..100 {
        assert_eq!(kit.get("key", &upstream).await, Ok(observation(Stale, 200, "1")));
    }
    assert_eq!(upstream.calls(), 2);
    upstream.let_through(1);
    settle().await;
    assert_eq!(kit.get("key", &upstream).await, Ok(observation(Hit, 200, "2")));
    let counts = &kit.cache.counts().sources[0];
    assert_eq!((counts.refreshed, counts.lag_ms), (1, 1000));
}

#[tokio::test]
async fn a_failure_reaches_all_who_wait_and_the_next_asks_again() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(Err(CallError::Busy));
    let go = async {
        upstream.came(1).await;
        settle().await;
        upstream.let_through(1);
    };
    let (all, ()) = tokio::join!(join_all((0..10).map(|_| kit.serve("key", &[], &upstream))), go);
    assert!(all.iter().all(|it| it.as_ref().is_err_and(|it| it.error == CallError::Busy)));
    assert_eq!(upstream.calls(), 1);
    upstream.now_says(says(200, &[], "1"));
    upstream.let_through(1);
    assert_eq!(kit.get("key", &upstream).await, Ok(observation(Miss, 200, "1")));
}

/// Fetches `key` with this timeout.
async fn patient(
    kit: &Kit,
    upstream: &Arc<ToldUpstream>,
    patience: Duration,
) -> Result<super::kit::Observed, CallError> {
    let mut key = Key::default();
    key.begin(b"key");
    let rule = Arc::new(kit.rule.clone());
    let wanted = Wanted {
        key: key.to_key_ref(),
        rule: &rule,
        tags: &[],
        own_tags: &[],
        deadline: Instant::now() + patience,
    };
    kit.cache.get(wanted, |_| Arc::clone(upstream).call()).await.map(|it| observe(&it)).map_err(|it| it.error)
}

#[tokio::test]
async fn who_goes_away_or_gives_up_takes_nothing_from_those_who_wait() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 2"], "1"));
    let first = patient(&kit, &upstream, Duration::ZERO).await;
    assert_eq!(first, Err(CallError::Timeout), "who began it does not wait");
    {
        let mut gone = Box::pin(patient(&kit, &upstream, PATIENCE));
        assert!(futures_util::poll!(&mut gone).is_pending());
    }
    let go = async {
        settle().await;
        upstream.let_through(1);
    };
    let (waited, ()) = tokio::join!(patient(&kit, &upstream, PATIENCE), go);
    assert_eq!((waited, upstream.calls()), (Ok(observation(Coalesced, 200, "1")), 1));
}

#[test]
fn a_flight_that_ends_with_its_thread_is_begun_again_by_who_waits() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 2"], "1"));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let second = runtime();
    assert_eq!(first.block_on(patient(&kit, &upstream, Duration::ZERO)), Err(CallError::Timeout));
    second.block_on(async {
        let mut waits = Box::pin(patient(&kit, &upstream, PATIENCE));
        assert!(futures_util::poll!(&mut waits).is_pending());
        first.shutdown_background();
        upstream.let_through(1);
        assert_eq!(waits.await, Ok(observation(Miss, 200, "1")));
    });
    assert_eq!(upstream.calls(), 2);
}

#[tokio::test]
async fn of_a_batch_only_what_is_missing_is_asked_for() {
    let mut kit = Kit::new();
    kit.rule.negative_ms = 1000;
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 2"], "\"a\""));
    upstream.unknown.lock().unwrap().insert(9);
    let first = kit.get_many("players", &[1, 2, 9], &upstream).await;
    assert_eq!(first[1..], [Ok(observation(Miss, 200, "[2,\"a\"]")), Ok(observation(Miss, 404, ""))]);
    let all = kit.get_many("players", &[5, 2, 4, 9, 6, 1, 3, 8], &upstream).await;
    let outcomes: Vec<_> = all.iter().map(|it| it.as_ref().unwrap().0).collect();
    assert_eq!(outcomes, [Miss, Hit, Miss, Hit, Miss, Hit, Miss, Miss]);
    assert_eq!(all[0], Ok(observation(Miss, 200, "[5,\"a\"]")));
    assert_eq!(*upstream.batches.lock().unwrap(), [vec![1, 2, 9], vec![5, 4, 6], vec![3, 8]]);
    // Another prefix is another thing.
    assert_eq!(kit.get_many("teams", &[1], &upstream).await, [Ok(observation(Miss, 200, "[1,\"a\"]"))]);
}

#[tokio::test]
async fn batches_that_overlap_wait_for_each_other_and_ask_for_nothing_twice() {
    let kit = Kit::new();
    let upstream = ToldUpstream::with_closed_gate(says(200, &["x-ttl: 2"], "0"));
    let go = async {
        upstream.came(2).await;
        settle().await;
        upstream.let_through(2);
    };
    let one = kit.get_many("players", &[1, 2, 3], &upstream);
    let other = kit.get_many("players", &[2, 3, 4, 2], &upstream);
    let (one, other, ()) = tokio::join!(one, other, go);
    assert_eq!(one.len(), 3);
    let outcomes: Vec<_> = other.iter().map(|it| it.as_ref().unwrap().0).collect();
    assert_eq!(outcomes, [Coalesced, Coalesced, Miss, Coalesced]);
    assert_eq!(*upstream.batches.lock().unwrap(), [vec![1, 2, 3], vec![4]]);
}

#[tokio::test]
async fn a_batch_that_fails_fails_its_own_ids_and_stale_ones_are_served() {
    let mut kit = Kit::new();
    kit.rule.stale_ms = Some(1000);
    kit.rule.stale_on_error_ms = Some(60_000);
    let upstream = ToldUpstream::new(says(200, &["x-ttl: 2"], "0"));
    kit.get_many("players", &[1, 2], &upstream).await;
    kit.clock.advance_ms(2500);
    upstream.now_says(says(500, &[], "0"));
    let served = kit.get_many("players", &[1, 3], &upstream).await;
    assert_eq!(served, [Ok(observation(Stale, 200, "[1,0]")), Ok(observation(Miss, 500, "0"))]);
    kit.clock.advance_ms(2000);
    let served = kit.get_many("players", &[2, 3], &upstream).await;
    assert_eq!(served[0].as_ref().unwrap().0, crate::cache::Outcome::StaleOnError);
    upstream.now_says(Err(CallError::Timeout));
    assert_eq!(
        kit.get_many("players", &[3, 4], &upstream).await,
        [Err(CallError::Timeout), Err(CallError::Timeout)]
    );
}
