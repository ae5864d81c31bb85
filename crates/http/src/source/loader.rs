//! Collects the keys that nodes of a request want from one connector, so that each level makes one call.
//!
//! Each node says its keys before it waits; when the level is complete the first that goes on asks for all keys that are new.
//! This is a DataLoader with a known moment of dispatch: no timer, and no key is missed or waited for in vain.
//!
//! **Invariant:** a key has one place and is asked for once. The keys of a round are settled when its asking begins; who
//! begins and is dropped leaves them to the next who waits.
//!
//! **Cost:** a look-up for each key; distinct keys are stored once, encoded in one buffer.

use crate::cache::{Failure, Served};
use crate::call::{CallError, Cause};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use weir_engine::keys::{Interner, KeyList, KeyRef};
use weir_engine::rows::Column;

pub(super) type CallResult = Result<Served, Failure>;

/// Keys of one connector, with results.
#[derive(Debug)]
pub(super) struct Loader {
    keys: Mutex<LoaderKeys>,
}

#[derive(Debug)]
struct LoaderKeys {
    columns: Vec<Column>,
    distinct: Interner,
    rounds: Vec<Arc<Round>>,
    /// True if the last round accepts more keys.
    is_open: bool,
}

/// Keys fetched together, from this index on.
#[derive(Debug)]
pub(super) struct Round {
    from: u32,
    told: OnceCell<Vec<CallResult>>,
}

/// Location of a node's result.
#[derive(Debug)]
pub(super) struct LoaderPlace {
    round: Arc<Round>,
    at: u32,
    /// True if the key was already requested in this request.
    pub(super) is_again: bool,
}

impl Loader {
    pub(super) fn new(columns: usize) -> Self {
        let columns = vec![Column::default(); columns];
        let distinct = Interner::default();
        let rounds = Vec::new();
        Self { keys: Mutex::new(LoaderKeys { columns, distinct, rounds, is_open: false }) }
    }

    fn keys(&self) -> MutexGuard<'_, LoaderKeys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the keys in `columns`, whose encodings are `ids`.
    pub(super) fn register_keys(&self, columns: &[Column], ids: &KeyList) -> Vec<LoaderPlace> {
        let mut keys = self.keys();
        ids.keys().enumerate().map(|(row, id)| keys.place(columns, row, id)).collect()
    }

    /// Returns the results for `places`. Keys not fetched yet are fetched with `ask`, given their columns and encodings.
    pub(super) async fn load<F: Future<Output = Vec<CallResult>>>(
        &self,
        places: &[LoaderPlace],
        ask: impl Fn(Vec<Column>, KeyList) -> F,
    ) -> Vec<CallResult> {
        let mut told = Vec::with_capacity(places.len());
        for LoaderPlace { round, at, .. } in places {
            let asking = || {
                let (columns, ids) = self.close_round(round);
                ask(columns, ids)
            };
            let known = round.told.get_or_init(asking).await;
            let known = known.get((at - round.from) as usize).cloned();
            told.push(known.unwrap_or_else(|| Err(missing_answer_failure())));
        }
        told
    }

    /// Closes a round and returns its keys.
    fn close_round(&self, round: &Arc<Round>) -> (Vec<Column>, KeyList) {
        let mut keys = self.keys();
        if keys.rounds.last().is_some_and(|it| Arc::ptr_eq(it, round)) {
            keys.is_open = false;
        }
        let after = keys.rounds.iter().map(|it| it.from).find(|&it| it > round.from);
        let places = round.from as usize..after.map_or(keys.distinct.len(), |it| it as usize);
        let some = |column: &Column| {
            let mut some = Column::default();
            places.clone().enumerate().for_each(|(at, row)| some.push_from(at, column, row));
            some
        };
        let mut ids = KeyList::default();
        places.clone().for_each(|at| ids.push(keys.distinct.key(at as u32)));
        (keys.columns.iter().map(some).collect(), ids)
    }
}

/// Every key of a round has a result; if not, that is a bug in Weir. Do not return another key's answer.
fn missing_answer_failure() -> Failure {
    CallError::Unavailable(Cause::Connection, "a key of a batch has no answer".into()).into()
}

impl LoaderKeys {
    fn place(&mut self, columns: &[Column], row: usize, id: KeyRef<'_>) -> LoaderPlace {
        let (at, is_new) = self.distinct.intern(id);
        if !is_new {
            let round = self.rounds.partition_point(|it| it.from <= at) - 1;
            return LoaderPlace { round: Arc::clone(&self.rounds[round]), at, is_again: true };
        }
        for (own, column) in self.columns.iter_mut().zip(columns) {
            own.push_from(at as usize, column, row);
        }
        if !self.is_open {
            self.rounds.push(Arc::new(Round { from: at, told: OnceCell::new() }));
            self.is_open = true;
        }
        let round = Arc::clone(&self.rounds[self.rounds.len() - 1]);
        LoaderPlace { round, at, is_again: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::cell::RefCell;
    use std::future::pending;
    use weir_engine::rows::Data;

    /// Keys that are numbers, as they stand in a column and encoded.
    fn want(loader: &Loader, keys: &[i64]) -> Vec<LoaderPlace> {
        let column = Column { data: Data::Int(keys.to_vec()), ..Column::default() };
        let mut ids = KeyList::default();
        keys.iter().for_each(|it| ids.push(KeyRef::of(&it.to_le_bytes())));
        loader.register_keys(&[column], &ids)
    }

    fn numbers(columns: &[Column]) -> Vec<i64> {
        match &columns[0].data {
            Data::Int(numbers) => numbers.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn says(number: i64) -> CallResult {
        Err(CallError::Unavailable(Cause::Connection, number.to_string().into()).into())
    }

    fn list_failures(told: Option<Vec<CallResult>>) -> Vec<String> {
        let told = told.expect("it is there at once");
        told.into_iter().map(|it| it.expect_err("it is a failure").to_string()).collect()
    }

    #[test]
    fn a_round_asks_for_all_that_were_wanted_by_then_and_each_gets_its_own() {
        let loader = Loader::new(1);
        let asked = RefCell::new(Vec::new());
        let ask = |columns: Vec<Column>, ids: KeyList| {
            let keys = numbers(&columns);
            assert!(ids.keys().map(|it| it.bytes()).eq(keys.iter().map(|it| it.to_le_bytes())));
            asked.borrow_mut().push(keys.clone());
            async move { keys.into_iter().map(says).collect::<Vec<_>>() }
        };
        let check = |places: &[LoaderPlace], expected: &[i64]| {
            let expected: Vec<CallResult> = expected.iter().map(|it| says(*it)).collect();
            assert_eq!(list_failures(loader.load(places, ask).now_or_never()), list_failures(Some(expected)));
        };
        let home = want(&loader, &[1, 2, 3]);
        let away = want(&loader, &[4, 1]);
        check(&away, &[4, 1]);
        check(&home, &[1, 2, 3]);
        let below = want(&loader, &[3, 9, 4]);
        assert_eq!(below.iter().map(|it| it.is_again).collect::<Vec<_>>(), [true, false, true]);
        check(&below, &[3, 9, 4]);
        assert_eq!(*asked.borrow(), [vec![1, 2, 3, 4], vec![9]]);
    }

    #[test]
    fn who_waits_asks_for_all_of_the_round_when_who_began_is_dropped() {
        let loader = Loader::new(1);
        let home = want(&loader, &[1, 2]);
        let away = want(&loader, &[3]);
        let mut first = Box::pin(loader.load(&home, |_, _| pending()));
        let all = |columns: Vec<Column>, _| async move { numbers(&columns).into_iter().map(says).collect() };
        let mut second = Box::pin(loader.load(&away, all));
        assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
        // Keys requested after the start of a call are of the next round.
        let late = want(&loader, &[4]);
        drop(first);
        assert_eq!(list_failures(second.now_or_never()), list_failures(Some(vec![says(3)])));
        assert_eq!(
            list_failures(loader.load(&home, all).now_or_never()),
            list_failures(Some(vec![says(1), says(2)]))
        );
        assert_eq!(list_failures(loader.load(&late, all).now_or_never()), list_failures(Some(vec![says(4)])));
    }
}
