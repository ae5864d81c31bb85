//! The cache against an oracle that is slow and obvious: it keeps everything that ever came and decides anew each time.

use super::kit::{Kit, Observed, Says, ToldUpstream, observe, settle};
use crate::cache::Outcome;
use crate::call::CallError;
use proptest::prelude::*;
use std::sync::Arc;

/// Answers of an upstream.
#[derive(Clone, Debug)]
enum Word {
    /// With lifetime, time stale and time on error, in seconds.
    Good(u64, u64, u64),
    Absent,
    Private,
    Bad,
    Down,
}

#[derive(Clone, Debug)]
enum CacheAction {
    Wait(u64),
    Get(usize),
    GetMany(Vec<u32>),
    Invalidate(usize),
    Says(usize, Word),
}

/// Keys are asked for one by one, or as the ids of batches, which go by number 3.
const KEYS: usize = 3;

/// Something that came.
#[derive(Clone, Debug)]
struct Came {
    key: String,
    at_ms: u64,
    word: Word,
    value: String,
    invalid: bool,
}

#[derive(Default)]
struct Oracle {
    now_ms: u64,
    came: Vec<Came>,
    asked: usize,
}

const NEGATIVE_MS: u64 = 1500;

impl Oracle {
    /// Answer for `key`, if its upstream answers a call with `word` and `value`. A value fetched in the background is there
    /// for the next request.
    fn get(&mut self, key: &str, word: &Word, value: &str) -> Result<Observed, CallError> {
        // The latest answer that was no failure.
        let failure = |it: &&Came| matches!(it.word, Word::Bad | Word::Down);
        let of_key = || self.came.iter().filter(|it| it.key == key);
        let last = of_key().rfind(|it| !failure(it)).cloned();
        let age_ms = last.as_ref().map_or(0, |it| self.now_ms - it.at_ms);
        let failed_lately = of_key().filter(failure).any(|it| {
            self.now_ms - it.at_ms < 1000
                && last.as_ref().is_none_or(|last| last.at_ms <= it.at_ms && age_ms >= self.now_ms - it.at_ms)
        });
        let last = last.filter(|it| !it.invalid);
        let (fresh, stale, on_error) = match last.as_ref().map(|it| &it.word) {
            Some(Word::Good(fresh_s, stale_s, error_s)) => {
                let fresh_ms = fresh_s * 1000;
                (age_ms < fresh_ms, age_ms < fresh_ms + stale_s * 1000, age_ms < fresh_ms + error_s * 1000)
            }
            Some(Word::Absent) => (age_ms < NEGATIVE_MS, age_ms < NEGATIVE_MS, age_ms < NEGATIVE_MS),
            Some(Word::Private | Word::Bad | Word::Down) | None => (false, false, false),
        };
        let passing = last.as_ref().is_some_and(|it| matches!(it.word, Word::Private)) && age_ms < 10_000;
        let of_last = |outcome| {
            let last = last.as_ref().unwrap();
            let status = if matches!(last.word, Word::Absent) { 404 } else { 200 };
            Ok((outcome, status, last.value.clone()))
        };
        if fresh {
            return of_last(Outcome::Hit);
        }
        if (stale || on_error) && failed_lately {
            return of_last(if stale { Outcome::Stale } else { Outcome::StaleOnError });
        }
        self.asked += 1;
        // A private answer is cached only if allowed.
        if !passing || matches!(word, Word::Good(1.., ..) | Word::Absent) {
            let came = Came {
                key: key.into(),
                at_ms: self.now_ms,
                word: word.clone(),
                value: value.into(),
                invalid: false,
            };
            self.came.push(came);
        }
        if stale {
            return of_last(Outcome::Stale);
        }
        let outcome = if passing { Outcome::Pass } else { Outcome::Miss };
        match word {
            Word::Bad | Word::Down if on_error => of_last(Outcome::StaleOnError),
            Word::Good(..) => Ok((outcome, 200, value.into())),
            Word::Private => Ok((Outcome::Pass, 200, value.into())),
            Word::Absent => Ok((outcome, 404, value.into())),
            Word::Bad => Ok((outcome, 503, value.into())),
            Word::Down => Err(CallError::Busy),
        }
    }

    fn invalidate(&mut self, key: &str) {
        // The note that answers are private cannot become stale.
        let answers = self.came.iter_mut().filter(|it| it.key == key && !matches!(it.word, Word::Private));
        answers.for_each(|it| it.invalid = true);
    }
}

fn write_answer(word: &Word, value: &str) -> Says {
    let with = |status, lines: Vec<(&'static str, String)>, body: &str| Ok((status, lines, body.to_owned()));
    match word {
        Word::Good(fresh_s, stale_s, error_s) => {
            let control =
                format!("max-age={fresh_s}, stale-while-revalidate={stale_s}, stale-if-error={error_s}");
            with(200, vec![("cache-control", control)], value)
        }
        Word::Absent => with(404, vec![], ""),
        Word::Private => with(200, vec![("cache-control", "private".into())], value),
        Word::Bad => with(503, vec![], ""),
        Word::Down => Err(CallError::Busy),
    }
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        6 => (0u64..4, 0u64..4, 0u64..6).prop_map(|(fresh, stale, error)| Word::Good(fresh, if fresh == 0 { 0 } else { stale }, if fresh == 0 { 0 } else { error })),
        1 => Just(Word::Absent),
        1 => Just(Word::Private),
        2 => Just(Word::Bad),
        2 => Just(Word::Down),
    ]
}

fn step() -> impl Strategy<Value = CacheAction> {
    prop_oneof![
        3 => prop_oneof![Just(1u64), Just(499), Just(500), Just(1000), Just(2000), Just(9000)].prop_map(CacheAction::Wait),
        5 => (0..KEYS).prop_map(CacheAction::Get),
        2 => prop::collection::vec(0u32..5, 1..5).prop_map(CacheAction::GetMany),
        1 => (0..KEYS).prop_map(CacheAction::Invalidate),
        3 => (0..=KEYS, word()).prop_map(|(key, word)| CacheAction::Says(key, word)),
    ]
}

async fn check(steps: &[CacheAction]) {
    let mut kit = Kit::new();
    kit.rule.negative_ms = NEGATIVE_MS;
    let mut oracle = Oracle::default();
    let mut words = vec![Word::Good(2, 1, 3); KEYS + 1];
    let upstreams: Vec<Arc<ToldUpstream>> =
        (0..=KEYS).map(|_| ToldUpstream::new(Err(CallError::Busy))).collect();
    for (number, step) in steps.iter().enumerate() {
        match step {
            CacheAction::Wait(ms) => {
                kit.clock.advance_ms(*ms);
                oracle.now_ms += ms;
            }
            CacheAction::Says(key, word) => words[*key] = word.clone(),
            CacheAction::Invalidate(key) => {
                kit.cache.invalidate(&format!("tag {key}"));
                oracle.invalidate(&key.to_string());
            }
            CacheAction::Get(key) => {
                upstreams[*key].now_says(write_answer(&words[*key], &number.to_string()));
                let tag = format!("tag {key}");
                let served = kit.serve(&key.to_string(), &[&tag], &upstreams[*key]).await;
                settle().await;
                let text = if matches!(words[*key], Word::Absent | Word::Bad) {
                    String::new()
                } else {
                    number.to_string()
                };
                let expected = oracle.get(&key.to_string(), &words[*key], &text);
                let served = served.map(|it| observe(&it)).map_err(|it| it.error);
                assert_eq!(served, expected, "step {number} of {steps:?}");
            }
            CacheAction::GetMany(ids) => {
                let mut ids = ids.clone();
                ids.sort_unstable();
                ids.dedup();
                upstreams[KEYS].now_says(write_answer(&words[KEYS], &number.to_string()));
                let served = kit.get_many("batch", &ids, &upstreams[KEYS]).await;
                for (id, served) in ids.iter().zip(served) {
                    let text = match words[KEYS] {
                        Word::Absent | Word::Bad => String::new(),
                        Word::Good(..) | Word::Private | Word::Down => format!("[{id},{number}]"),
                    };
                    let expected = oracle.get(&format!("id {id}"), &words[KEYS], &text);
                    assert_eq!(served, expected, "step {number} of {steps:?}");
                }
            }
        }
    }
    let batched: usize = upstreams[KEYS].batches.lock().unwrap().iter().map(Vec::len).sum();
    let asked: usize = upstreams[..KEYS].iter().map(|it| it.calls()).sum::<usize>() + batched;
    assert_eq!(asked, oracle.asked, "the upstreams are asked as often as need be");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_served_as_the_oracle_says(steps in prop::collection::vec(step(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(check(&steps));
    }
}
