//! Work for callers that may be tasks, which may not wait for another event loop.

/// Runs `work` on a thread with an event loop of its own.
pub(crate) fn run_apart<T: Send>(work: impl AsyncFnOnce() -> T + Send) -> Result<T, String> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|it| it.block_on(work())).map_err(|error| error.to_string())
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|_| Err("a bug: it panicked".into()))
}
