//! The second level: what processes share, and what becomes of answers when a Redis is anything but well.

use super::kit::{Kit, PATIENCE, ToldUpstream, observation, says, settle};
use super::port_kit::free_port;
use super::redis_kit::{Redis, counts, settings, until};
use crate::cache::Outcome::{Hit, HitRemote, Miss, Pass, Stale};
use crate::cache::{Clock, RemoteSettings, Sharing};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::tag_versions::TagSnapshot;

const TTL: &str = "x-ttl: 600";

pub(super) fn upstream(text: &str) -> Arc<ToldUpstream> {
    ToldUpstream::new(says(200, &[TTL], text))
}

/// Fetches `key` with tags; returns the outcome.
pub(super) async fn fetch_tagged(kit: &Kit, upstream: &Arc<ToldUpstream>) -> super::kit::Observed {
    let served = kit.serve("key", &["Album", "Artist"], upstream).await.unwrap();
    settle().await;
    super::kit::observe(&served)
}

#[tokio::test]
async fn what_one_process_kept_another_finds_with_what_remains() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    assert_eq!(one.get("key", &upstream("1")).await, Ok(observation(Miss, 200, "1")));
    until(&one, |it| it.written == 1).await;
    clock.advance_ms(1500);
    let theirs = upstream("2");
    let served = other.serve("key", &[], &theirs).await.unwrap();
    assert_eq!((super::kit::observe(&served), served.fresh_ms), (observation(HitRemote, 200, "1"), 598_500));
    assert_eq!(other.get("key", &theirs).await, Ok(observation(Hit, 200, "1")));
    clock.advance_ms(598_500);
    assert_eq!(other.get("key", &theirs).await, Ok(observation(Miss, 200, "2")), "over is over");
    // Another namespace is another's.
    let apart = RemoteSettings { namespace: "apart".into(), ..redis.settings() };
    let apart = Kit::with(clock.clone(), Some(apart));
    until(&apart, |it| it.connected).await;
    assert_eq!(apart.get("key", &upstream("3")).await, Ok(observation(Miss, 200, "3")));
}

#[tokio::test]
async fn a_batch_is_looked_up_by_one_command() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let mut one = redis.process(&clock).await;
    let mut other = redis.process(&clock).await;
    (one.rule.negative_ms, other.rule.negative_ms) = (60_000, 60_000);
    let ours = upstream("0");
    ours.unknown.lock().unwrap().insert(3);
    one.get_many("players", &[1, 2, 3], &ours).await;
    until(&one, |it| it.written == 3).await;
    redis.ask::<()>(&[b"CONFIG", b"RESETSTAT"]);
    let theirs = upstream("1");
    let all = other.get_many("players", &[1, 2, 3, 4], &theirs).await;
    let expected = [
        observation(HitRemote, 200, "[1,0]"),
        observation(HitRemote, 200, "[2,0]"),
        observation(HitRemote, 404, ""),
        observation(Miss, 200, "[4,1]"),
    ];
    assert_eq!(all, expected.map(Ok));
    assert_eq!((redis.calls("mget"), theirs.batches.lock().unwrap().clone()), (1, vec![vec![4]]));
}

#[tokio::test]
async fn several_processes_ask_an_upstream_once() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let mut kits = [redis.process(&clock).await, redis.process(&clock).await, redis.process(&clock).await];
    kits.iter_mut().for_each(|kit| kit.rule.stale_ms = Some(600_000));
    let [one, two, three] = &kits;
    let shared = ToldUpstream::with_closed_gate(says(200, &[TTL], "1"));
    let go = async {
        shared.came(1).await;
        until(two, |it| it.leased == 1).await;
        until(three, |it| it.leased == 1).await;
        shared.let_through(1);
    };
    let first = async {
        let mine = one.get("key", &shared);
        let theirs = async {
            // The first has the lease before the others come.
            while redis.keys("test:l*").is_empty() {
                settle().await;
            }
            tokio::join!(two.get("key", &shared), three.get("key", &shared))
        };
        tokio::join!(mine, theirs)
    };
    let ((mine, theirs), ()) = tokio::join!(first, go);
    assert_eq!(mine, Ok(observation(Miss, 200, "1")));
    assert_eq!(theirs, (Ok(observation(HitRemote, 200, "1")), Ok(observation(HitRemote, 200, "1"))));
    assert_eq!(shared.calls(), 1);
    // A process with a stale entry serves it and leaves the refresh to the first.
    clock.advance_ms(600_000);
    assert_eq!(one.get("key", &shared).await, Ok(observation(Stale, 200, "1")));
    shared.came(1).await;
    assert_eq!(two.get("key", &shared).await, Ok(observation(Stale, 200, "1")));
    until(two, |it| it.leased == 2).await;
    shared.now_says(says(200, &[TTL], "2"));
    shared.let_through(1);
    until(one, |it| it.written == 2).await;
    clock.advance_ms(100);
    assert_eq!(two.get("key", &shared).await, Ok(observation(Stale, 200, "1")));
    until(two, |it| it.found == 3).await;
    settle().await;
    assert_eq!(two.get("key", &shared).await, Ok(observation(Hit, 200, "2")));
    assert_eq!(shared.calls(), 2);
}

#[tokio::test]
async fn a_tag_that_one_process_invalidates_is_invalid_in_all() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    assert_eq!(fetch_tagged(&one, &upstream("1")).await, observation(Miss, 200, "1"));
    until(&one, |it| it.written == 1).await;
    assert_eq!(fetch_tagged(&other, &upstream("unused")).await, observation(HitRemote, 200, "1"));
    one.cache.invalidate("Artist");
    // At once where it was said, whatever there still is in the second level.
    assert_eq!(fetch_tagged(&one, &upstream("2")).await, observation(Miss, 200, "2"));
    let theirs = upstream("3");
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
        match fetch_tagged(&other, &theirs).await {
            (Hit, 200, text) if text == "1" => continue,
            (Miss, 200, text) => break assert_eq!(text, "3"),
            (HitRemote, 200, text) => break assert_eq!(text, "2"),
            told => panic!("{told:?}"),
        }
    }
}

#[tokio::test]
async fn one_of_a_batch_is_invalid_in_all_processes_and_the_others_are_not() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let mut one = redis.process(&clock).await;
    let mut other = redis.process(&clock).await;
    for kit in [&mut one, &mut other] {
        kit.own_tags = [1, 2, 3].map(|it| vec![format!("player-{it}").into()]).into();
    }
    let asked = |upstream: &Arc<ToldUpstream>| std::mem::take(&mut *upstream.batches.lock().unwrap());
    let ours = upstream("1");
    let theirs = upstream("2");
    one.get_many("players", &[1, 2, 3], &ours).await;
    assert_eq!(asked(&ours), [vec![1, 2, 3]]);
    until(&one, |it| it.written == 3).await;
    let found = other.get_many("players", &[1, 2, 3], &theirs).await;
    assert!(found.iter().all(|it| it.as_ref().unwrap().0 == HitRemote) && asked(&theirs).is_empty());
    let before = other.changes.versions(["player-2"]);
    one.cache.invalidate("player-2");
    one.get_many("players", &[1, 2, 3], &ours).await;
    assert_eq!(asked(&ours), [vec![2]]);
    grows_old(&other, &before).await;
    let found = other.get_many("players", &[1, 2, 3], &theirs).await;
    let outcomes: Vec<_> = found.into_iter().map(|it| it.unwrap().0).collect();
    // The first may or may not have written its entry by then.
    assert!(matches!(outcomes[..], [Hit, HitRemote | Miss, Hit]), "{outcomes:?}");
}

/// Waits until what was made at `ages` is old.
pub(super) async fn grows_old(kit: &Kit, ages: &TagSnapshot) {
    let begun = Instant::now();
    while kit.changes.are_current(ages) {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_made_of_answers_is_old_when_another_process_says_so_or_may_have() {
    let port = free_port();
    let clock = Clock::new_simulated();
    let redis = Redis::start_on(port, &[]);
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    // Nothing that is kept there has the tag: a table's, for instance.
    let album = other.changes.versions(["Album"]);
    let genre = other.changes.versions(["Genre"]);
    one.cache.invalidate("Album");
    grows_old(&other, &album).await;
    assert!(other.changes.are_current(&genre));
    // Local changes are known at once.
    let album = one.changes.versions(["Album"]);
    one.cache.invalidate("Album");
    assert!(!one.changes.are_current(&album));
    // A process without a connection may have missed messages.
    let genre = other.changes.versions(["Genre"]);
    redis.ask::<()>(&[b"CLIENT", b"KILL", b"TYPE", b"pubsub"]);
    grows_old(&other, &genre).await;
    drop(redis);
    for kit in [&one, &other] {
        until(kit, |it| !it.connected).await;
    }
    let album = other.changes.versions(["Album"]);
    let genre = other.changes.versions(["Genre"]);
    one.cache.invalidate("Album");
    assert!(other.changes.are_current(&album), "nobody can tell");
    let _redis = Redis::start_on(port, &[]);
    grows_old(&other, &album).await;
    grows_old(&other, &genre).await;
}

#[tokio::test]
async fn a_server_that_lost_what_it_had_makes_all_that_has_tags_a_miss() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    fetch_tagged(&one, &upstream("1")).await;
    one.get("plain", &upstream("1")).await.unwrap();
    until(&one, |it| it.written == 2).await;
    redis.ask::<()>(&[b"FLUSHALL"]);
    assert_eq!(fetch_tagged(&one, &upstream("2")).await, observation(Hit, 200, "1"));
    redis.ask::<()>(&[b"CLIENT", b"KILL", b"TYPE", b"pubsub"]);
    let begun = Instant::now();
    while fetch_tagged(&one, &upstream("2")).await == observation(Hit, 200, "1") {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
    }
    assert_eq!(one.get("plain", &upstream("2")).await, Ok(observation(Hit, 200, "1")));
}

#[tokio::test]
async fn who_could_not_hear_an_invalidation_forgets_all_that_has_tags() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    fetch_tagged(&one, &upstream("1")).await;
    until(&one, |it| it.written == 1).await;
    assert_eq!(fetch_tagged(&other, &upstream("unused")).await, observation(HitRemote, 200, "1"));
    // A message that nobody hears: the version changes, as by a process whose message was lost.
    for name in redis.keys("test:t*") {
        redis.ask::<()>(&[b"SET", name.as_bytes(), b"8 bytes!"]);
    }
    assert_eq!(fetch_tagged(&other, &upstream("2")).await, observation(Hit, 200, "1"));
    redis.ask::<()>(&[b"CLIENT", b"KILL", b"TYPE", b"pubsub"]);
    let begun = Instant::now();
    while fetch_tagged(&other, &upstream("2")).await != observation(Miss, 200, "2") {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
    }
}

#[tokio::test]
async fn a_tag_whose_version_is_lost_makes_what_has_it_a_miss() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    fetch_tagged(&one, &upstream("1")).await;
    until(&one, |it| it.written == 1).await;
    for name in redis.keys("test:t*") {
        redis.ask::<()>(&[b"DEL", name.as_bytes()]);
    }
    assert_eq!(fetch_tagged(&other, &upstream("2")).await, observation(Miss, 200, "2"));
}

#[tokio::test]
async fn an_invalidation_that_could_not_be_told_is_told_later_and_trusted_by_nobody_meanwhile() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = Kit::with(
        clock.clone(),
        Some(RemoteSettings { budget: Duration::from_millis(20), ..redis.settings() }),
    );
    until(&one, |it| it.connected).await;
    fetch_tagged(&one, &upstream("1")).await;
    while redis.keys("test:e*").is_empty() {}
    redis.signal("STOP");
    one.cache.invalidate("Album");
    assert_eq!(fetch_tagged(&one, &upstream("2")).await, observation(Miss, 200, "2"));
    redis.signal("CONT");
    until(&one, |it| it.connected).await;
    let other = redis.process(&clock).await;
    let theirs = upstream("3");
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "it is still believed");
        // Until it is told, another process may find what was there; then it never does again.
        match fetch_tagged(&other, &theirs).await {
            (HitRemote | Hit, 200, text) if text == "1" => continue,
            (Miss, 200, text) => break assert_eq!(text, "3"),
            (HitRemote, 200, text) => break assert_eq!(text, "2"),
            told => panic!("{told:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_for_one_caller_never_goes_there() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let mut one = redis.process(&clock).await;
    let mut other = redis.process(&clock).await;
    let private = |text: &str| ToldUpstream::new(says(200, &["cache-control: private, max-age=600"], text));
    assert_eq!(one.get("key", &private("1")).await, Ok(observation(Pass, 200, "1")));
    // Whose lease it was gives it back without having written anything.
    while !redis.keys("test:l*").is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.get("key", &private("2")).await, Ok(observation(Pass, 200, "2")));
    for sharing in [Sharing::Keyed, Sharing::Never] {
        (one.rule.sharing, other.rule.sharing) = (sharing, sharing);
        let key = format!("{sharing:?}");
        one.get(&key, &private("1")).await.unwrap();
        assert_eq!(other.get(&key, &private("2")).await.unwrap().2, "2");
        other.get_many(&key, &[1, 2], &private("2")).await;
    }
    assert_eq!((counts(&one).written, redis.keys("test:e*").len()), (0, 0));
    // Entries that are public by declaration are hidden from others.
    one.rule.sharing = Sharing::Declared;
    other.rule.sharing = Sharing::ByHeaders;
    one.get("declared", &upstream("1")).await.unwrap();
    until(&one, |it| it.written == 1).await;
    assert_eq!(other.get("declared", &upstream("2")).await, Ok(observation(Miss, 200, "2")));
}

#[tokio::test]
async fn values_that_are_anything_else_are_misses() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let first = upstream("\"first\"");
    let second = upstream("\"second\"");
    one.get("first", &first).await.unwrap();
    until(&one, |it| it.written == 1).await;
    let name = redis.keys("test:e*").remove(0);
    one.get("second", &second).await.unwrap();
    until(&one, |it| it.written == 2).await;
    let other_name = redis.keys("test:e*").into_iter().find(|it| *it != name).unwrap();
    let whole: Vec<u8> = redis.ask(&[b"GET", name.as_bytes()]);
    let others: Vec<u8> = redis.ask(&[b"GET", other_name.as_bytes()]);
    let last = whole.len() - 1;
    let altered = |place: usize| {
        let mut value = whole.clone();
        value[place] ^= 1;
        value
    };
    let values = [b"".to_vec(), b"junk".to_vec(), whole[..last].to_vec(), altered(30), altered(last), others];
    let count = values.len() as u64;
    let other = redis.process(&clock).await;
    for value in values {
        redis.ask::<()>(&[b"SET", name.as_bytes(), &value]);
        let text = format!("\"{}\"", value.len());
        let reader = upstream(&text);
        assert_eq!(other.get("first", &reader).await, Ok(observation(Miss, 200, &text)));
        until(&other, |it| it.written == counts(&other).corrupt).await;
        clock.advance_ms(600_000);
    }
    assert_eq!(counts(&other).corrupt, count);
    // A list where a value should be is no entry either.
    redis.ask::<()>(&[b"DEL", name.as_bytes()]);
    redis.ask::<()>(&[b"LPUSH", name.as_bytes(), b"junk"]);
    assert_eq!(other.get("first", &upstream("7")).await, Ok(observation(Miss, 200, "7")));
}

/// Gets keys that nobody had; each is served by its upstream.
pub(super) async fn serves(kit: &Kit, keys: std::ops::Range<u32>) {
    for key in keys {
        assert_eq!(kit.get(&key.to_string(), &upstream("1")).await, Ok(observation(Miss, 200, "1")));
        assert_eq!(kit.get(&key.to_string(), &upstream("2")).await, Ok(observation(Hit, 200, "1")));
    }
}

#[tokio::test]
async fn without_a_redis_all_is_served_and_with_its_return_it_is_used_again() {
    let port = free_port();
    let clock = Clock::new_simulated();
    let one = Kit::with(clock.clone(), Some(settings(&format!("redis://127.0.0.1:{port}"))));
    serves(&one, 0..10).await;
    assert!(!counts(&one).connected);
    let redis = Redis::start_on(port, &[]);
    until(&one, |it| it.connected).await;
    serves(&one, 10..20).await;
    assert_eq!(fetch_tagged(&one, &upstream("1")).await, observation(Miss, 200, "1"));
    until(&one, |it| it.written == 11).await;
    drop(redis);
    serves(&one, 20..30).await;
    until(&one, |it| !it.connected).await;
    let redis = Redis::start_on(port, &[]);
    until(&one, |it| it.connected).await;
    // Invalidations are lost, so tagged entries are dropped; others stay.
    assert_eq!(fetch_tagged(&one, &upstream("2")).await, observation(Miss, 200, "2"));
    assert_eq!(one.get("20", &upstream("2")).await, Ok(observation(Hit, 200, "1")));
    serves(&one, 30..31).await;
    until(&one, |it| it.written == 13).await;
    let other = redis.process(&clock).await;
    assert_eq!(other.get("30", &upstream("2")).await, Ok(observation(HitRemote, 200, "1")));
}

#[tokio::test]
async fn a_redis_that_hangs_is_waited_for_a_moment_and_then_left_alone() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let budget = RemoteSettings { budget: Duration::from_millis(5), ..redis.settings() };
    let one = Kit::with(clock.clone(), Some(budget));
    until(&one, |it| it.connected).await;
    redis.signal("STOP");
    serves(&one, 0..50).await;
    let late = counts(&one).late;
    assert!((1..50).contains(&late), "{late} looks were late");
    redis.signal("CONT");
    let other = redis.process(&clock).await;
    // As soon as one look is in time, all go there again.
    for key in 100.. {
        serves(&one, key..key + 1).await;
        if counts(&one).written > 0 && !redis.keys("test:e*").is_empty() {
            break;
        }
    }
    serves(&other, 1000..1001).await;
}

#[tokio::test]
async fn a_redis_that_is_full_keeps_nothing_and_hurts_nobody() {
    let redis = Redis::start_on(free_port(), &["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    serves(&one, 0..10).await;
    until(&one, |it| it.failed >= 10).await;
    let counts = counts(&one);
    assert_eq!((counts.written, counts.connected), (0, true), "{counts:?}");
    // Connected processes still receive invalidations.
    let other = redis.process(&clock).await;
    let album = other.changes.versions(["Album"]);
    let genre = other.changes.versions(["Genre"]);
    one.cache.invalidate("Album");
    grows_old(&other, &album).await;
    assert!(other.changes.are_current(&genre), "nobody had to connect again");
}
