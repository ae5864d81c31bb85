//! One request as resolvers see it: the caller's context, the objects that are parents of later steps, and coroutines that wait.
//!
//! **Invariant:** no lock is held while Python runs.

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Sender of a coroutine's value.
pub(crate) type ReplySender = oneshot::Sender<PyResult<Py<PyAny>>>;

/// Receiver of a coroutine's value.
pub(crate) type ReplyReceiver = oneshot::Receiver<PyResult<Py<PyAny>>>;

/// State of one request.
pub(crate) struct RunState {
    pub(crate) context: Py<PyAny>,
    objects: Mutex<Vec<Py<PyAny>>>,
    interrupt: Mutex<Option<PyErr>>,
    coroutines: Mutex<Vec<(Py<PyAny>, ReplySender)>>,
    /// Iterators of events.
    iterators: Mutex<Vec<Py<PyAny>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunState {
    pub(crate) fn new(context: Py<PyAny>) -> Self {
        Self {
            context,
            objects: Mutex::default(),
            interrupt: Mutex::default(),
            coroutines: Mutex::default(),
            iterators: Mutex::default(),
        }
    }

    /// Keeps an object for steps below, and gives its number.
    pub(crate) fn keep(&self, object: Py<PyAny>) -> i64 {
        let mut objects = lock(&self.objects);
        objects.push(object);
        objects.len() as i64 - 1
    }

    /// The objects with these numbers.
    pub(crate) fn kept<'py>(
        &self,
        py: Python<'py>,
        numbers: impl Iterator<Item = Option<i64>>,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let objects = lock(&self.objects);
        let object = |number: Option<i64>| objects.get(usize::try_from(number?).ok()?);
        numbers.map(|it| object(it).map(|it| it.bind(py).clone())).collect()
    }

    /// Forgets the objects of an event, or of a request that is over. The GIL is held.
    pub(crate) fn forget(&self) {
        let objects = std::mem::take(&mut *lock(&self.objects));
        drop(objects);
    }

    /// Remembers an exception that the whole call has to raise; the first stays.
    pub(crate) fn interrupt(&self, error: PyErr) {
        let mut interrupt = lock(&self.interrupt);
        if interrupt.is_none() {
            *interrupt = Some(error);
        }
    }

    /// Raises what was remembered.
    pub(crate) fn raised(&self) -> PyResult<()> {
        lock(&self.interrupt).take().map_or(Ok(()), Err)
    }

    /// Hands a coroutine to the event loop.
    pub(crate) fn start(&self, coroutine: Py<PyAny>) -> ReplyReceiver {
        let (sender, receiver) = oneshot::channel();
        lock(&self.coroutines).push((coroutine, sender));
        receiver
    }

    /// Coroutines that the event loop has not seen yet.
    pub(crate) fn started(&self) -> Vec<(Py<PyAny>, ReplySender)> {
        std::mem::take(&mut *lock(&self.coroutines))
    }

    /// Remembers an iterator of events.
    pub(crate) fn open(&self, iterator: Py<PyAny>) {
        lock(&self.iterators).push(iterator);
    }

    /// Iterators that were opened.
    pub(crate) fn opened(&self) -> Vec<Py<PyAny>> {
        std::mem::take(&mut *lock(&self.iterators))
    }
}
