//! The timers that the engine needs, and waiting for a future on the calling thread.
//!
//! **Invariant:** a process that was forked has timers of its own, as threads are not copied. Waiting may be nested: a resolver may
//! execute another request.

use pyo3::prelude::*;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// Interval at which a waiting thread looks for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The timers of this process.
/// # Errors
/// There is no thread for them.
pub(crate) fn handle() -> std::io::Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, runtime)) = &*runtime
        && *owner == process
    {
        return Ok(runtime.handle().clone());
    }
    let own =
        Builder::new_multi_thread().worker_threads(1).thread_name("weir-timers").enable_time().build()?;
    let handle = own.handle().clone();
    // The threads of the parent's runtime do not exist here, so nothing can wait for them.
    runtime.replace((process, own)).into_iter().for_each(std::mem::forget);
    Ok(handle)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `future` on this thread without the GIL.
/// # Errors
/// A signal's handler raised an exception.
pub(crate) fn block_on<F: Future + Send>(py: Python<'_>, future: F) -> PyResult<F::Output>
where
    F::Output: Send,
{
    let handle = handle()?;
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    py.detach(|| {
        let _timers = handle.enter();
        let mut future = pin!(future);
        let mut task = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
                return Ok(output);
            }
            std::thread::park_timeout(SIGNALS_EVERY);
            Python::attach(|py| py.check_signals())?;
        }
    })
}
