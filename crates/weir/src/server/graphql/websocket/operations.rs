//! Operations that run over one socket, each until its answer or until its client wants it no more.
//!
//! **Invariant:** nothing of an operation that was stopped is sent, also if its id is used again.

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, LocalBoxFuture};
use futures_util::stream::FuturesUnordered;
use std::collections::HashMap;

/// An operation that is done.
pub(super) struct Finished {
    pub(super) id: String,
    /// The messages that say so.
    pub(super) texts: Vec<String>,
}

/// The running operations.
pub(super) struct RunningOperations {
    running: FuturesUnordered<Abortable<LocalBoxFuture<'static, Finished>>>,
    handles: HashMap<String, AbortHandle>,
    running_max: usize,
}

impl RunningOperations {
    pub(super) fn new(running_max: usize) -> Self {
        Self { running: FuturesUnordered::new(), handles: HashMap::new(), running_max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// True if no other operation may begin.
    pub(super) fn is_full(&self) -> bool {
        self.handles.len() >= self.running_max
    }

    /// Runs `work` as `id`; an operation that has the id is stopped.
    pub(super) fn start(&mut self, id: String, work: impl Future<Output = Vec<String>> + 'static) {
        self.stop(&id);
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(id.clone(), handle);
        let work: LocalBoxFuture<'static, Finished> =
            Box::pin(async move { Finished { id, texts: work.await } });
        self.running.push(Abortable::new(work, registration));
    }

    pub(super) fn stop(&mut self, id: &str) {
        if let Some(handle) = self.handles.remove(id) {
            handle.abort();
        }
    }

    /// The next that is done; nothing for one that was stopped.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        match self.running.next().await {
            Some(Ok(done)) => {
                self.handles.remove(&done.id);
                Some(done)
            }
            Some(Err(Aborted)) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    fn texts(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    #[tokio::test]
    async fn an_operation_that_was_stopped_says_nothing_under_a_new_one() {
        let mut operations = RunningOperations::new(2);
        operations.start("1".into(), ready(texts("old")));
        operations.start("1".into(), ready(texts("new")));
        let mut said = Vec::new();
        while !operations.is_empty() {
            said.extend(operations.next().await.map(|it| it.texts));
        }
        assert_eq!(said, [texts("new")]);
        operations.stop("unknown");
    }

    #[tokio::test]
    async fn so_many_run_and_no_more() {
        let mut operations = RunningOperations::new(2);
        operations.start("1".into(), pending());
        operations.start("2".into(), pending());
        assert!(operations.is_full());
        operations.stop("1");
        assert!(!operations.is_full());
        assert!(operations.next().await.is_none());
        operations.start("3".into(), ready(texts("a")));
        assert!(operations.is_full());
        assert_eq!(operations.next().await.map(|it| it.texts), Some(texts("a")));
        assert!(!operations.is_full() && !operations.is_empty());
    }
}
