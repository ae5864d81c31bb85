//! The log of asynchronous actions: the state of the server, as actions see it.
//!
//! A generation is made before the server says where its state is kept, so its log is connected later.
//!
//! **Invariant:** tables that another server made are not written to before an operator says so.

use arc_swap::ArcSwapOption;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use weir_actions::{
    ActionLog, ActionLogError, CallWorker, LoggedCall, NewCall, StoredActions, TakenCall, WantedCalls,
};
use weir_engine::source::BoxFuture;
use weir_events::identifier::random_id;
use weir_events::moment::{Clock, Moment, SystemClock};
use weir_events::shared_schema::foreign_words;
use weir_events::state::{
    ActionLog as StateLog, ActionOutcome, NewAction, Ownership, StateDatabase, StateError,
};

/// Result of an operation.
type Logged<'l, T> = BoxFuture<'l, Result<T, ActionLogError>>;

/// The asynchronous actions of a generation.
pub(crate) struct StoredCalls {
    pub(crate) log: Arc<CallLog>,
    pub(crate) actions: StoredActions,
}

/// Calls in the database of the state. All work is done on the runtime of its connections.
#[derive(Clone, Debug)]
pub(crate) struct StateCalls(Arc<StateParts>);

#[derive(Debug)]
struct StateParts {
    database: Arc<StateDatabase>,
    runtime: Handle,
    takes_over: bool,
    /// True once the tables were seen to be Weir's.
    is_own: AtomicBool,
    /// True once the operator was told that they are another server's.
    is_told: AtomicBool,
}

fn log_error(error: StateError) -> ActionLogError {
    let StateError { message, is_about_values } = error;
    ActionLogError { message, is_about_values, waits_for_operator: false }
}

fn failed(message: &str) -> ActionLogError {
    ActionLogError { message: message.to_owned(), is_about_values: false, waits_for_operator: false }
}

impl StateParts {
    /// True if the tables are Weir's; missing ones are made if `makes`.
    async fn are_own(&self, makes: bool) -> Result<bool, StateError> {
        if self.is_own.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let found = match self.database.look().await? {
            Ownership::Own => Ownership::Own,
            Ownership::Absent if !makes => Ownership::Absent,
            Ownership::Absent | Ownership::Foreign => self.database.prepare(self.takes_over).await?,
        };
        if found == Ownership::Own {
            // Files get the tables that an earlier version did not have.
            self.database.prepare(self.takes_over).await?;
            self.is_own.store(true, Ordering::Relaxed);
        }
        if found == Ownership::Foreign && !self.is_told.swap(true, Ordering::Relaxed) {
            tracing::warn!("{}", foreign_words("calls of asynchronous actions", ""));
        }
        Ok(found == Ownership::Own)
    }
}

impl StateCalls {
    pub(crate) fn new(database: Arc<StateDatabase>, runtime: Handle, takes_over: bool) -> Self {
        let is_own = AtomicBool::new(false);
        let is_told = AtomicBool::new(false);
        Self(Arc::new(StateParts { database, runtime, takes_over, is_own, is_told }))
    }

    /// Runs `work` on the log; `None` if the tables are missing or another server's.
    fn ask<T: Send + 'static, F: Future<Output = Result<T, StateError>> + Send>(
        &self,
        makes: bool,
        work: impl FnOnce(StateLog, Moment) -> F + Send + 'static,
    ) -> Logged<'static, Option<T>> {
        let parts = Arc::clone(&self.0);
        let task = self.0.runtime.spawn(async move {
            if !parts.are_own(makes).await? {
                return Ok(None);
            }
            let log = StateLog::new(Arc::clone(&parts.database));
            let done = work(log, SystemClock.now()).await;
            if done.as_ref().is_err_and(|it| !it.is_about_values) {
                parts.is_own.store(false, Ordering::Relaxed);
            }
            done.map(Some)
        });
        Box::pin(async move {
            match task.await {
                Ok(done) => done.map_err(log_error),
                Err(_) => Err(failed("the state is not kept any more")),
            }
        })
    }

    /// Runs `work`, whose result is nothing where there are no tables.
    fn ask_or_default<T: Default + Send + 'static, F: Future<Output = Result<T, StateError>> + Send>(
        &self,
        work: impl FnOnce(StateLog, Moment) -> F + Send + 'static,
    ) -> Logged<'static, T> {
        let asked = self.ask(false, work);
        Box::pin(async move { Ok(asked.await?.unwrap_or_default()) })
    }
}

/// A time as PostgreSQL writes it in JSON.
fn write_time(time: Moment) -> String {
    let text = time.to_text();
    let digits = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    // Seconds end with zeros, too.
    let seconds = text.find('.').unwrap_or(text.len());
    format!("{}+00:00", text.get(..digits.len().max(seconds)).unwrap_or(&text))
}

impl ActionLog for StateCalls {
    fn insert(&self, call: NewCall) -> Logged<'_, String> {
        let id = random_id();
        let NewCall { action, input, headers: request_headers, session_variables } = call;
        let new = NewAction { id: id.clone(), action, input, request_headers, session_variables };
        let stored = self.ask(true, move |log, now| async move { log.insert(new, now).await });
        Box::pin(async move {
            let foreign = || ActionLogError {
                message: foreign_words("calls of asynchronous actions", ""),
                is_about_values: false,
                waits_for_operator: true,
            };
            stored.await?.ok_or_else(foreign)?;
            Ok(id)
        })
    }

    fn find<'l>(&'l self, action: &'l str, id: &'l str) -> Logged<'l, Option<LoggedCall>> {
        let action = action.to_owned();
        let id = id.to_owned();
        let found = self.ask_or_default(move |log, _| async move { log.read(&id, &action).await });
        Box::pin(async move {
            Ok(found.await?.map(|row| LoggedCall {
                created_at: write_time(row.created_at),
                session_variables: row.session_variables,
                response: row.response,
                errors: row.errors,
            }))
        })
    }

    fn take<'l>(&'l self, wanted: &'l [WantedCalls<'l>]) -> Logged<'l, Vec<TakenCall>> {
        let wanted: Vec<_> = wanted.iter().map(|it| (it.action.to_owned(), it.count)).collect();
        let taken = self.ask_or_default(move |log, now| async move { log.take(&wanted, now).await });
        Box::pin(async move {
            let calls = taken.await?.into_iter().map(|it| {
                let NewAction { id, action, input, request_headers: headers, session_variables } = it;
                TakenCall { id, call: NewCall { action, input, headers, session_variables } }
            });
            Ok(calls.collect())
        })
    }

    fn finish<'l>(&'l self, id: &'l str, outcome: Result<&'l str, &'l str>) -> Logged<'l, ()> {
        let id = id.to_owned();
        let outcome = match outcome {
            Ok(answer) => ActionOutcome::Completed(answer.to_owned()),
            Err(errors) => ActionOutcome::Failed(errors.to_owned()),
        };
        self.ask_or_default(move |log, now| async move { log.finish(&id, outcome, now).await })
    }

    fn give_back<'l>(&'l self, ids: &'l [String]) -> Logged<'l, ()> {
        let ids = ids.to_vec();
        self.ask_or_default(move |log, _| async move { log.release(&ids).await })
    }

    fn release<'l>(&'l self, action: &'l str, age: Duration) -> Logged<'l, u64> {
        let action = action.to_owned();
        self.ask_or_default(move |log, now| async move { log.reclaim(&action, age, now).await })
    }
}

/// The log of one generation.
#[derive(Default)]
pub(crate) struct CallLog(ArcSwapOption<CallConnection>);

/// Where the calls of a log are kept and who makes them.
pub(crate) struct CallConnection {
    pub(crate) calls: StateCalls,
    /// `None` if no calls are made here.
    pub(crate) worker: Option<Arc<CallWorker>>,
}

impl CallLog {
    /// Keeps calls by `connection` from now on.
    pub(crate) fn connect(&self, connection: CallConnection) {
        self.0.store(Some(Arc::new(connection)));
    }

    fn connection(&self) -> Result<Arc<CallConnection>, ActionLogError> {
        self.0.load_full().ok_or_else(|| failed("only a server keeps the calls of asynchronous actions"))
    }
}

impl ActionLog for CallLog {
    fn insert(&self, call: NewCall) -> Logged<'_, String> {
        Box::pin(async move {
            let connection = self.connection()?;
            let id = connection.calls.insert(call).await?;
            if let Some(worker) = &connection.worker {
                worker.notice();
            }
            Ok(id)
        })
    }

    fn find<'l>(&'l self, action: &'l str, id: &'l str) -> Logged<'l, Option<LoggedCall>> {
        Box::pin(async move { self.connection()?.calls.find(action, id).await })
    }

    fn take<'l>(&'l self, wanted: &'l [WantedCalls<'l>]) -> Logged<'l, Vec<TakenCall>> {
        Box::pin(async move { self.connection()?.calls.take(wanted).await })
    }

    fn finish<'l>(&'l self, id: &'l str, outcome: Result<&'l str, &'l str>) -> Logged<'l, ()> {
        Box::pin(async move { self.connection()?.calls.finish(id, outcome).await })
    }

    fn give_back<'l>(&'l self, ids: &'l [String]) -> Logged<'l, ()> {
        Box::pin(async move { self.connection()?.calls.give_back(ids).await })
    }

    fn release<'l>(&'l self, action: &'l str, age: Duration) -> Logged<'l, u64> {
        Box::pin(async move { self.connection()?.calls.release(action, age).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_postgresql_does() {
        for (time, expected) in [
            ("2024-05-01T10:20:30Z", "2024-05-01T10:20:30+00:00"),
            ("2024-05-01T00:00:00.5Z", "2024-05-01T00:00:00.5+00:00"),
            ("2024-05-01T00:00:00.000120Z", "2024-05-01T00:00:00.00012+00:00"),
        ] {
            let time = Moment::parse(time).expect("it is a time");
            assert_eq!(write_time(time), expected);
        }
    }
}
