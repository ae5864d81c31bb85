//! A request that Python's event loop drives: the loop polls it, and runs its coroutines.
//!
//! **Invariant:** everything happens on the thread of the loop; other threads only wake it.
//!
//! **Cost:** a request whose resolvers do not wait is answered by its first poll.

pub(crate) mod feed;
pub(crate) mod http_answer;
pub(crate) mod json_response;
pub(crate) mod socket_messages;
pub(crate) mod tokio_runtime;

use crate::run_state::{ReplySender, RunState};
use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::ThreadId;

/// A value that a run ends with.
pub(crate) trait RunOutput: Send {
    /// The Python object.
    fn into_object(self: Box<Self>, py: Python<'_>) -> PyResult<Py<PyAny>>;
}

/// A run of a request, which may end without a value.
pub(crate) type RunFuture = BoxFuture<'static, Option<Box<dyn RunOutput>>>;

/// The loop that is woken: its thread, `call_soon_threadsafe`, and the function that wakes.
struct Armed {
    thread: ThreadId,
    call_soon_threadsafe: Py<PyAny>,
    wake: Py<PyAny>,
}

#[derive(Default)]
struct Alarm(Mutex<Option<Armed>>);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        // A loop of an interpreter that ends has nothing to wake for.
        Python::try_attach(|py| {
            let armed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let parts = armed
                .as_ref()
                .map(|it| (it.thread, it.call_soon_threadsafe.clone_ref(py), it.wake.clone_ref(py)));
            drop(armed);
            let Some((thread, call_soon_threadsafe, wake)) = parts else { return };
            let woken = if thread == std::thread::current().id() {
                wake.call0(py)
            } else {
                call_soon_threadsafe.call1(py, (wake,))
            };
            if let Err(error) = woken {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// A request on its way.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Run {
    future: Mutex<Option<RunFuture>>,
    state: Arc<RunState>,
    alarm: Arc<Alarm>,
}

impl Run {
    pub(crate) fn new(future: RunFuture, state: Arc<RunState>) -> Self {
        Self { future: Mutex::new(Some(future)), state, alarm: Arc::default() }
    }

    /// State of the request.
    pub(crate) fn state(&self) -> Arc<RunState> {
        Arc::clone(&self.state)
    }

    fn take(&self) -> Option<RunFuture> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl Run {
    /// Says how to wake the loop of this thread.
    fn arm(&self, call_soon_threadsafe: Py<PyAny>, wake: Py<PyAny>) {
        let armed = Armed { thread: std::thread::current().id(), call_soon_threadsafe, wake };
        *self.alarm.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(armed);
    }

    /// Polls as far as possible: true and the answer once it is there.
    fn poll(&self, py: Python<'_>) -> PyResult<(bool, Option<Py<PyAny>>)> {
        let Some(mut future) = self.take() else { return Ok((true, None)) };
        let handle = tokio_runtime::handle()?;
        let waker = Waker::from(Arc::clone(&self.alarm));
        self.state.polled_by(&waker);
        let polled = py.detach(|| {
            let _timers = handle.enter();
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                *self.future.lock().unwrap_or_else(PoisonError::into_inner) = Some(future);
            }
            polled
        });
        self.state.raise_interrupt()?;
        Ok(match polled {
            Poll::Ready(output) => (true, output.map(|it| it.into_object(py)).transpose()?),
            Poll::Pending => (false, None),
        })
    }

    /// Coroutines that wait for the loop, each with the callback of its task.
    fn started(&self) -> Vec<(Py<PyAny>, Reply)> {
        let started = self.state.take_coroutines().into_iter();
        started.map(|(coroutine, sender)| (coroutine, Reply(Mutex::new(Some(sender))))).collect()
    }

    /// Cancels the request.
    fn close(&self) {
        drop(self.take());
        *self.alarm.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Callback of a task.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Reply(Mutex<Option<ReplySender>>);

#[pymethods]
impl Reply {
    fn __call__(&self, task: &Bound<'_, PyAny>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The receiver of an ended request is gone.
        let _ = sender.map(|it| it.send(task.call_method0("result").map(Bound::unbind)));
    }
}
