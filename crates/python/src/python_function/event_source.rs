//! Subscriptions: the values of an asynchronous iterator as events.

use super::{Call, Function, call_state};
use crate::python_values::python_selection::Place;
use crate::run_state::RunState;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use pyo3::prelude::*;
use std::sync::Arc;
use weir_engine::memory::AnswerError;
use weir_runtime::{AnyArguments, Context, Value};

/// Events of a subscription.
struct Events {
    function: Arc<Function>,
    iterator: Py<PyAny>,
    context: Context,
    state: Arc<RunState>,
}

/// The values of an asynchronous iterator, each converted when it comes; an exception is the last of them.
pub(crate) fn events(
    function: Arc<Function>,
    arguments: &AnyArguments,
    context: &Context,
) -> BoxStream<'static, Value> {
    let opened = call_state(context).and_then(|state| {
        Python::attach(|py| {
            let Call { keywords, .. } = function.prepare(py, None, arguments, context, &state)?;
            let iterator = function.callable(py).call((), Some(&keywords));
            let iterator = iterator.and_then(|it| function.registry().open.bind(py).call1((it,)));
            let iterator = iterator.map_err(|it| function.to_resolve_error(py, it, &state))?.unbind();
            state.open(iterator.clone_ref(py));
            let context = context.clone();
            Ok(Events { function: Arc::clone(&function), iterator, context, state: Arc::clone(&state) })
        })
    });
    match opened {
        Ok(events) => unfold(Some(events), |events| async move {
            let events = events?;
            let (value, goes_on) = events.next().await?;
            Some((value, goes_on.then_some(events)))
        })
        .boxed(),
        Err(error) => {
            let error = Value::Error(error.field_error(None));
            futures_util::stream::iter([error]).boxed()
        }
    }
}

impl Events {
    /// The next event; false with the last. `None`: there is none.
    async fn next(&self) -> Option<(Value, bool)> {
        let begun = Python::attach(|py| {
            self.state.forget();
            let coroutine = self.function.registry().next.call1(py, (&self.iterator,))?;
            self.state.finish(py, coroutine.into_bound(py), self.function.registry())
        });
        let reply = match begun {
            Ok(returned) => returned.await,
            Err(error) => Err(error),
        };
        Python::attach(|py| {
            let place = Place::of(py, self.context.lookahead(), self.function.registry());
            let converter = self.function.converter(&self.state);
            match reply.and_then(|it| it.bind(py).extract::<(bool, Py<PyAny>)>()) {
                Ok((true, value)) => Some((converter.value(&place, value.bind(py)), true)),
                Ok((false, _)) => None,
                Err(error) => Some((converter.error_value(py, &place, error), false)),
            }
        })
    }
}
