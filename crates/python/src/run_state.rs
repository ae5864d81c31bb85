//! One request as resolvers see it: the caller's context, the objects that are parents of later steps, and coroutines that wait.
//!
//! **Invariant:** no lock is held while Python runs.

use crate::awaitable::AwaitableTypes;
use crate::registry::Registry;
use futures_util::future::BoxFuture;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::ThreadId;
use tokio::sync::oneshot;
use weir_runtime::{Object, Value};

/// Name of the member of an [`Object`](struct@Object) that holds its number in [`RunState`]; no field is called so.
pub(crate) const NUMBER: &str = "";

/// Sender of a coroutine's value.
pub(crate) type ReplySender = oneshot::Sender<PyResult<Py<PyAny>>>;

/// Receiver of a coroutine's value.
pub(crate) type ReplyReceiver = oneshot::Receiver<PyResult<Py<PyAny>>>;

/// A value that a function returned, now or by a coroutine.
pub(crate) type ReturnedValue = BoxFuture<'static, PyResult<Py<PyAny>>>;

/// Keys that loaders were asked for: a dictionary from each to its number, and the list by number.
struct LoaderKeys {
    numbers: Py<PyDict>,
    keys: Py<PyList>,
}

/// State of one request.
pub(crate) struct RunState {
    pub(crate) context: Py<PyAny>,
    /// True if an event loop runs coroutines.
    has_loop: bool,
    objects: Mutex<Vec<Py<PyAny>>>,
    loader_keys: Mutex<Option<Arc<LoaderKeys>>>,
    /// Thread of the event loop, and the way to wake it.
    poller: Mutex<Option<(ThreadId, Waker)>>,
    interrupt: Mutex<Option<PyErr>>,
    coroutines: Mutex<Vec<(Py<PyAny>, ReplySender)>>,
    /// Iterators of events.
    iterators: Mutex<Vec<Py<PyAny>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunState {
    pub(crate) fn new(context: Py<PyAny>, has_loop: bool) -> Self {
        Self {
            context,
            has_loop,
            objects: Mutex::default(),
            loader_keys: Mutex::default(),
            poller: Mutex::default(),
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

    /// Objects that the package keeps for `parents`.
    pub(crate) fn parents<'py>(
        &self,
        py: Python<'py>,
        parents: &[&Object],
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let objects = lock(&self.objects);
        let object = |parent: &&Object| match parent.get(NUMBER) {
            Value::Int(number) => objects.get(usize::try_from(*number).ok()?),
            _ => None,
        };
        parents.iter().map(|it| object(it).map(|it| it.bind(py).clone())).collect()
    }

    fn keys_of_loaders(&self, py: Python<'_>) -> Arc<LoaderKeys> {
        let mut known = lock(&self.loader_keys);
        let keys = known.get_or_insert_with(|| {
            let numbers = PyDict::new(py).unbind();
            let keys = PyList::empty(py).unbind();
            Arc::new(LoaderKeys { numbers, keys })
        });
        Arc::clone(keys)
    }

    /// Number of a key of loaders; equal keys have one.
    /// # Errors
    /// The key has no hash.
    pub(crate) fn key_number(&self, key: &Bound<'_, PyAny>) -> PyResult<u32> {
        let LoaderKeys { numbers, keys } = &*self.keys_of_loaders(key.py());
        let numbers = numbers.bind(key.py());
        let keys = keys.bind(key.py());
        // `1`, `1.0` and `True` are equal in Python, and no keys of one database.
        let known = (key.get_type(), key);
        if let Some(number) = numbers.get_item(&known)? {
            return number.extract();
        }
        let number = keys.len() as u32;
        keys.append(key)?;
        numbers.set_item(known, number)?;
        Ok(number)
    }

    /// The keys with these numbers.
    pub(crate) fn loader_keys<'py>(&self, py: Python<'py>, numbers: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let all = self.keys_of_loaders(py);
        let keys = all.keys.bind(py);
        let keys = numbers.iter().map(|it| keys.get_item(*it as usize)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, keys)
    }

    /// The value of what a function returned: that of a coroutine, when the loop has run it. Without a loop it is run at once.
    /// # Errors
    /// A loop runs on this thread, or the coroutine fails without one.
    pub(crate) fn finish(
        &self,
        py: Python<'_>,
        returned: Bound<'_, PyAny>,
        registry: &Registry,
    ) -> PyResult<ReturnedValue> {
        if !AwaitableTypes::default().has(&returned) {
            return Ok(Box::pin(std::future::ready(Ok(returned.unbind()))));
        }
        if !self.has_loop {
            let value = match registry.run_alone.bind(py).call1((returned,)) {
                Ok(value) => value.unbind(),
                Err(error) if error.is_instance_of::<PyRuntimeError>(py) => {
                    self.interrupt(error.clone_ref(py));
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            return Ok(Box::pin(std::future::ready(Ok(value))));
        }
        let receiver = self.start(registry.awaited.bind(py).call1((returned,))?.unbind());
        Ok(Box::pin(async move {
            match receiver.await {
                Ok(reply) => reply,
                Err(_) => Err(PyRuntimeError::new_err("the event loop ended")),
            }
        }))
    }

    /// Forgets the objects of an event, or of a request that is over. The GIL is held.
    pub(crate) fn forget(&self) {
        let objects = std::mem::take(&mut *lock(&self.objects));
        drop(objects);
        let keys = lock(&self.loader_keys).take();
        drop(keys);
    }

    /// Stores an exception that the whole call has to raise; the first one wins.
    pub(crate) fn interrupt(&self, error: PyErr) {
        let mut interrupt = lock(&self.interrupt);
        if interrupt.is_none() {
            *interrupt = Some(error);
        }
    }

    /// Raises the stored exception, if there is one.
    pub(crate) fn raise_interrupt(&self) -> PyResult<()> {
        lock(&self.interrupt).take().map_or(Ok(()), Err)
    }

    /// Hands a coroutine to the event loop, which looks for it after each poll; work on another thread wakes it.
    fn start(&self, coroutine: Py<PyAny>) -> ReplyReceiver {
        let (sender, receiver) = oneshot::channel();
        lock(&self.coroutines).push((coroutine, sender));
        let poller = lock(&self.poller).clone();
        if let Some((thread, waker)) = poller
            && thread != std::thread::current().id()
        {
            waker.wake();
        }
        receiver
    }

    /// Remembers who polls the request.
    pub(crate) fn polled_by(&self, waker: &Waker) {
        *lock(&self.poller) = Some((std::thread::current().id(), waker.clone()));
    }

    /// Coroutines that the event loop has not seen yet.
    pub(crate) fn take_coroutines(&self) -> Vec<(Py<PyAny>, ReplySender)> {
        std::mem::take(&mut *lock(&self.coroutines))
    }

    /// Remembers an iterator of events.
    pub(crate) fn open(&self, iterator: Py<PyAny>) {
        lock(&self.iterators).push(iterator);
    }

    /// Iterators that were opened.
    pub(crate) fn take_iterators(&self) -> Vec<Py<PyAny>> {
        std::mem::take(&mut *lock(&self.iterators))
    }
}
