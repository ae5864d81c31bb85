//! Event streams reserved by clients of this process, by token.
//!
//! **Invariant:** a token is 128 random bits and finds nothing for another session; a stream ends with all its operations.

use super::answer::refusal::Refusal;
use foldhash::HashMap;
use futures_util::future::AbortHandle;
use hyper::StatusCode;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_engine::caller::Identity;
use weir_engine::engine::Aborted;
use weir_engine::unread::{Receiver, Sender, channel};

/// Maximum number of streams, which bounds their memory.
const STREAMS_MAX: usize = 100_000;
/// Capacity of a stream's queue of results.
pub(crate) const RESULTS_MAX: usize = 1;

/// The end of a stream that takes results.
pub(crate) type EventSender = Sender<Result<Vec<u8>, Aborted>>;
/// The end that a response reads.
pub(crate) type EventReceiver = Receiver<Result<Vec<u8>, Aborted>>;

/// The reserved streams of the process, by token.
#[derive(Default)]
pub(crate) struct ReservedStreams(Mutex<HashMap<Box<str>, Arc<ReservedStream>>>);

/// One stream, reserved or open.
pub(crate) struct ReservedStream {
    /// Caller who reserved it.
    identity: Identity,
    pub(crate) sender: Arc<EventSender>,
    /// The end for the response until the stream is opened; it buffers the first results.
    unopened: Mutex<Option<EventReceiver>>,
    /// Handles that stop operations, by id.
    operations: Mutex<HashMap<Box<str>, AbortHandle>>,
}

fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReservedStreams {
    /// The stream of `token`, if it belongs to `identity`.
    pub(crate) fn find(&self, token: &str, identity: &Identity) -> Option<Arc<ReservedStream>> {
        lock_unpoisoned(&self.0).get(token).filter(|it| it.identity == *identity).cloned()
    }

    /// Reserves a stream for `identity`; returns its token.
    pub(crate) fn reserve(&self, identity: Identity) -> Result<Box<str>, Refusal> {
        let (sender, receiver) = channel(RESULTS_MAX);
        let sender = Arc::new(sender);
        let unopened = Mutex::new(Some(receiver));
        let stream = Arc::new(ReservedStream { identity, sender, unopened, operations: Mutex::default() });
        let mut bytes = [0; 16];
        let unable =
            || Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "there are no random numbers");
        SystemRandom::new().fill(&mut bytes).map_err(|_| unable())?;
        let token = bytes.iter().fold(String::with_capacity(32), |mut token, byte| {
            let _ = write!(token, "{byte:02x}");
            token
        });
        let token: Box<str> = token.into();
        let mut streams = lock_unpoisoned(&self.0);
        if streams.len() >= STREAMS_MAX {
            let message = "so many streams are reserved that no other may be";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "LIMIT_SUBSCRIPTIONS", message));
        }
        streams.insert(token.clone(), stream);
        Ok(token)
    }

    /// Ends the stream of `token` and all its operations.
    pub(crate) fn end(&self, token: &str) {
        let Some(stream) = lock_unpoisoned(&self.0).remove(token) else { return };
        lock_unpoisoned(&stream.operations).drain().for_each(|it| it.1.abort());
    }

    /// Ends the stream of `token` if it was not opened.
    pub(crate) fn end_unopened(&self, token: &str) {
        let is_unopened =
            lock_unpoisoned(&self.0).get(token).is_some_and(|it| lock_unpoisoned(&it.unopened).is_some());
        if is_unopened {
            self.end(token);
        }
    }
}

impl ReservedStream {
    /// Takes the receiving end; only one response gets it.
    pub(crate) fn open(&self) -> Option<EventReceiver> {
        lock_unpoisoned(&self.unopened).take()
    }

    /// Registers the operation `id`, which `abort` stops; the limit is `operations_max`.
    pub(crate) fn begin(&self, id: &str, abort: AbortHandle, operations_max: usize) -> Result<(), Refusal> {
        let mut operations = lock_unpoisoned(&self.operations);
        if operations.contains_key(id) {
            let message = format!("an operation `{id}` runs already");
            return Err(Refusal::new(StatusCode::CONFLICT, "CONFLICT", message));
        }
        if operations.len() >= operations_max {
            let message =
                "so many operations run over this stream that no other may begin: socket_operations_max";
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_OPERATIONS", message));
        }
        operations.insert(id.into(), abort);
        Ok(())
    }

    /// Stops and removes the operation `id`.
    pub(crate) fn stop(&self, id: &str) {
        if let Some(operation) = lock_unpoisoned(&self.operations).remove(id) {
            operation.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_role(role: &str) -> Identity {
        Identity { role: role.into(), ..Identity::admin() }
    }

    #[test]
    fn a_token_finds_nothing_for_another_session_and_is_gone_with_its_stream() {
        let streams = ReservedStreams::default();
        let Ok(token) = streams.reserve(of_role("one")) else { panic!("there is room") };
        assert_eq!(token.len(), 32);
        assert!(streams.find(&token, &of_role("other")).is_none());
        let stream = streams.find(&token, &of_role("one")).expect("it is reserved");
        assert!(stream.open().is_some() && stream.open().is_none());
        streams.end_unopened(&token);
        assert!(streams.find(&token, &of_role("one")).is_some());
        streams.end(&token);
        assert!(streams.find(&token, &of_role("one")).is_none());
    }

    #[test]
    fn an_id_is_taken_once_and_the_end_stops_its_operation() {
        let streams = ReservedStreams::default();
        let Ok(token) = streams.reserve(of_role("one")) else { panic!("there is room") };
        let stream = streams.find(&token, &of_role("one")).expect("it is reserved");
        let begin = |id: &str| {
            let (abort, registration) = AbortHandle::new_pair();
            let begun = stream.begin(id, abort, 2).map_err(|it| it.code);
            (begun, registration.handle())
        };
        let (first, running) = begin("1");
        assert_eq!((first, begin("1").0), (Ok(()), Err("CONFLICT")));
        assert_eq!((begin("2").0, begin("3").0), (Ok(()), Err("LIMIT_OPERATIONS")));
        stream.stop("2");
        assert_eq!(begin("3").0, Ok(()));
        streams.end(&token);
        assert!(running.is_aborted());
    }
}
