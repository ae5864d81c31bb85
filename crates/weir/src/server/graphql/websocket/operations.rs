//! Operations running over one socket, until they end or the client stops them.
//!
//! **Invariant:** nothing of an operation that was stopped is sent, also if its id is used again.

use super::result_frame::ResultFrame;
use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, LocalBoxStream, Stream, StreamFuture};
use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use weir_transport::socket::Close;

/// Next output of an operation.
pub(super) enum OperationStep {
    /// Messages of an answer.
    Say(Vec<String>),
    /// One result of a subscription that continues.
    Result(ResultFrame),
    /// The socket must be closed.
    Close(Close),
}

/// An event of an operation.
pub(super) enum Happened {
    Step(OperationStep),
    /// The operation with this id ended.
    Ended(String),
}

/// Messages of one operation, with its id and index.
struct Running {
    id: String,
    number: u64,
    steps: Abortable<LocalBoxStream<'static, OperationStep>>,
}

impl Stream for Running {
    type Item = OperationStep;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<OperationStep>> {
        self.steps.poll_next_unpin(cx)
    }
}

/// Stops an operation.
struct Handle {
    number: u64,
    abort: AbortHandle,
    /// True after it sent a result that is not its last.
    is_live: bool,
}

/// The running operations.
pub(super) struct RunningOperations {
    running: FuturesUnordered<StreamFuture<Running>>,
    handles: HashMap<String, Handle>,
    running_max: usize,
    started: u64,
}

impl RunningOperations {
    pub(super) fn new(running_max: usize) -> Self {
        Self { running: FuturesUnordered::new(), handles: HashMap::new(), running_max, started: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// True if all running operations are subscriptions, which end only with the socket.
    pub(super) fn are_live(&self) -> bool {
        self.handles.values().all(|it| it.is_live)
    }

    /// True if the limit of operations is reached.
    pub(super) fn is_full(&self) -> bool {
        self.handles.len() >= self.running_max
    }

    /// Runs `steps` as `id`, and stops an operation with this id.
    pub(super) fn start(&mut self, id: String, steps: LocalBoxStream<'static, OperationStep>) {
        self.stop(&id);
        self.started += 1;
        let (abort, registration) = AbortHandle::new_pair();
        let number = self.started;
        self.handles.insert(id.clone(), Handle { number, abort, is_live: false });
        self.running.push(Running { id, number, steps: Abortable::new(steps, registration) }.into_future());
    }

    pub(super) fn stop(&mut self, id: &str) {
        if let Some(handle) = self.handles.remove(id) {
            handle.abort.abort();
        }
    }

    /// Next event; `None` for an operation that was stopped.
    pub(super) async fn next(&mut self) -> Option<Happened> {
        let (step, running) = self.running.next().await?;
        let handle = self.handles.get_mut(&running.id).filter(|it| it.number == running.number)?;
        match step {
            Some(step) => {
                handle.is_live |= matches!(step, OperationStep::Result(_));
                self.running.push(running.into_future());
                Some(Happened::Step(step))
            }
            None => {
                self.handles.remove(&running.id);
                Some(Happened::Ended(running.id))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::result_frame::tests::read;
    use super::*;
    use futures_util::stream;

    fn result(text: &str) -> ResultFrame {
        ResultFrame::new("next", "1", text.to_owned().into())
    }

    /// The payload of the message in `frame`, as a client reads it.
    async fn payload(frame: ResultFrame) -> String {
        let text = read(frame, true).await;
        let payload = text.strip_prefix(r#"{"type":"next","id":"1","payload":"#);
        payload.and_then(|it| it.strip_suffix('}')).expect("it is a result").to_owned()
    }

    fn says(texts: &[&str]) -> LocalBoxStream<'static, OperationStep> {
        let steps: Vec<_> = texts.iter().map(|it| OperationStep::Result(result(it))).collect();
        stream::iter(steps).boxed_local()
    }

    /// All that is said until nothing runs, and the ids of those that ended.
    async fn hear_all(operations: &mut RunningOperations) -> Vec<String> {
        let mut heard = Vec::new();
        while !operations.is_empty() {
            match operations.next().await {
                Some(Happened::Step(OperationStep::Say(texts))) => heard.extend(texts),
                Some(Happened::Step(OperationStep::Result(frame))) => heard.push(payload(frame).await),
                Some(Happened::Step(OperationStep::Close(close))) => heard.push(close.code.to_string()),
                Some(Happened::Ended(id)) => heard.push(format!("end of {id}")),
                None => {}
            }
        }
        heard
    }

    #[tokio::test]
    async fn an_operation_that_was_stopped_says_nothing_under_a_new_one() {
        let mut operations = RunningOperations::new(2);
        operations.start("1".into(), says(&["old"]));
        operations.start("1".into(), says(&["new", "newer"]));
        assert_eq!(hear_all(&mut operations).await, ["new", "newer", "end of 1"]);
        operations.stop("unknown");
    }

    #[tokio::test]
    async fn so_many_run_and_no_more() {
        let mut operations = RunningOperations::new(2);
        operations.start("1".into(), stream::pending().boxed_local());
        operations.start("2".into(), stream::pending().boxed_local());
        assert!(operations.is_full());
        operations.stop("1");
        assert!(!operations.is_full());
        assert!(operations.next().await.is_none());
        operations.start("3".into(), says(&["a"]));
        assert!(operations.is_full());
        let Some(Happened::Step(OperationStep::Result(frame))) = operations.next().await else {
            panic!("a result")
        };
        assert_eq!(payload(frame).await, "a");
        assert!(matches!(operations.next().await, Some(Happened::Ended(id)) if id == "3"));
        assert!(!operations.is_full() && !operations.is_empty());
    }

    #[tokio::test]
    async fn subscriptions_are_told_from_what_ends_by_itself() {
        let mut operations = RunningOperations::new(2);
        operations.start("1".into(), says(&["a"]).chain(stream::pending()).boxed_local());
        assert!(!operations.are_live());
        assert!(operations.next().await.is_some());
        assert!(operations.are_live());
        operations.start("2".into(), stream::pending().boxed_local());
        assert!(!operations.are_live());
    }
}
