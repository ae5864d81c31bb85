//! A subscription that Python's event loop drives: opened once, then one run per answer.

use super::{Run, RunFuture, RunOutput};
use crate::run_state::RunState;
use futures_util::stream::{BoxStream, StreamExt};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use weir_runtime::{Request, Schema};

type Answers = BoxStream<'static, weir_runtime::Response>;

/// The request that opens a subscription.
pub(crate) struct Subscription {
    pub(crate) schema: Arc<Schema>,
    pub(crate) query: String,
    pub(crate) variables: Option<String>,
    pub(crate) operation: Option<String>,
    /// Time for each answer.
    pub(crate) patience: Duration,
}

/// A subscription.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Feed {
    subscription: Arc<Subscription>,
    state: Arc<RunState>,
    answers: Arc<Mutex<Option<Answers>>>,
}

impl Feed {
    pub(crate) fn new(subscription: Subscription, state: Arc<RunState>) -> Self {
        Self { subscription: Arc::new(subscription), state, answers: Arc::default() }
    }
}

#[pymethods]
impl Feed {
    /// A run that ends without an answer, or with the refusal.
    fn open(&self) -> Run {
        let subscription = Arc::clone(&self.subscription);
        let answers = Arc::clone(&self.answers);
        let state = Arc::clone(&self.state);
        let future: RunFuture = Box::pin(async move {
            let Subscription { schema, query, variables, operation, patience } = &*subscription;
            let mut request = Request::new(query).data(state);
            if let Some(variables) = variables {
                request = request.variables(variables);
            }
            if let Some(operation) = operation {
                request = request.operation(operation);
            }
            match schema.subscribe(request, *patience).await {
                Ok(opened) => {
                    *answers.lock().await = Some(opened);
                    None
                }
                Err(refused) => Some(Box::new(refused) as Box<dyn RunOutput>),
            }
        });
        Run::new(future, Arc::clone(&self.state))
    }

    /// A run that ends with the next answer, or without one if there is none.
    fn next(&self) -> Run {
        let answers = Arc::clone(&self.answers);
        let future: RunFuture = Box::pin(async move {
            let mut answers = answers.lock().await;
            let answer = answers.as_mut()?.next().await?;
            Some(Box::new(answer) as Box<dyn RunOutput>)
        });
        Run::new(future, Arc::clone(&self.state))
    }

    /// Iterators that are to be closed.
    fn close(&self) -> Vec<Py<PyAny>> {
        if let Ok(mut answers) = self.answers.try_lock() {
            drop(answers.take());
        }
        self.state.forget();
        self.state.take_iterators()
    }
}
