//! Resolvers with call hooks. They replace the resolver in a plan, so that resolvers without hooks have no overhead.
//!
//! **Invariant:** a resolver that a hook refuses is not called. A call fails only if all its values fail.

use crate::context::Context;
use crate::context::batch_loader::BoxFuture;
use crate::context::hook::{CallHooks, CallUnderWay, PlannedCall, choose_hooks};
use crate::context::request_data::Event;
use crate::input::{InputBinder, Shape};
use crate::library::Library;
use crate::library::coordinate_lookup::coordinate;
use crate::resolver::answers::{Answers, Failed};
use crate::resolver::{Called, EventSource, ParentType, Resolve, Resolver, Step, StepArguments};
use futures_util::stream::BoxStream;
use std::any::{Any, TypeId as RustType};
use std::sync::Arc;
use weir_engine::memory::{AnswerError, Binder, Spot, Unbound};
use weir_engine::source::FieldError;
use weir_language::schema::{FieldId, Run};

/// Wraps the calls of `resolver` at `field`, and its stream, in the hooks that are chosen for it.
pub(crate) fn with_call_hooks(
    library: &Library,
    field: FieldId,
    resolver: &Resolver,
) -> (Arc<dyn Resolve>, Option<Arc<dyn EventSource>>) {
    let resolve = Arc::clone(&resolver.resolve);
    let stream = resolver.stream.clone();
    if library.call_hooks.is_empty() {
        return (resolve, stream);
    }
    let coordinate = coordinate(&library.schema, field);
    let Some(hooks) = choose_hooks(&library.call_hooks, PlannedCall::Resolver(&coordinate)) else {
        return (resolve, stream);
    };
    let open =
        |source| Arc::new(InterceptedStream { source, hooks: Arc::clone(&hooks) }) as Arc<dyn EventSource>;
    let stream = stream.map(open);
    (Arc::new(InterceptedCall { resolve, hooks }), stream)
}

struct InterceptedCall {
    resolve: Arc<dyn Resolve>,
    hooks: CallHooks,
}

impl Resolve for InterceptedCall {
    fn parent(&self) -> ParentType {
        self.resolve.parent()
    }
    fn loader(&self) -> Option<(RustType, &'static str)> {
        self.resolve.loader()
    }
    fn bind_arguments(&self, binder: &mut InputBinder<'_>, run: Run, owner: String) -> Result<Shape, String> {
        self.resolve.bind_arguments(binder, run, owner)
    }
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        self.resolve.bind(binder, spot)
    }
    fn call(&self, step: Step<'_>) -> Called {
        let rows = step.parents.len();
        let under_way = match CallUnderWay::begin(&self.hooks, step.context.call_scope(rows)) {
            Ok(under_way) => under_way,
            Err(error) => {
                let error = error.field_error(Some(step.host));
                return Called::Ready(Box::new(Failed { error, rows }));
            }
        };
        match self.resolve.call(step) {
            Called::Ready(answers) => {
                under_way.end(answers.error_code());
                Called::Ready(answers)
            }
            Called::Later(answers) => Called::Later(report_end(answers, under_way)),
            Called::AfterLevel(answers) => Called::AfterLevel(report_end(answers, under_way)),
        }
    }
    fn event(&self, event: Box<dyn Any + Send>, rows: usize) -> Box<dyn Answers> {
        self.resolve.event(event, rows)
    }
}

/// Reports the end of the call to its hooks once `answers` are there.
fn report_end(answers: BoxFuture<Box<dyn Answers>>, under_way: CallUnderWay) -> BoxFuture<Box<dyn Answers>> {
    Box::pin(async move {
        let answers = answers.await;
        under_way.end(answers.error_code());
        answers
    })
}

struct InterceptedStream {
    source: Arc<dyn EventSource>,
    hooks: CallHooks,
}

impl EventSource for InterceptedStream {
    fn open(
        &self,
        arguments: StepArguments<'_>,
        context: &Context,
    ) -> Result<BoxStream<'static, Event>, FieldError> {
        let under_way = CallUnderWay::begin(&self.hooks, context.call_scope(1));
        let under_way = under_way.map_err(|error| error.field_error(Some(&*context.host())))?;
        let opened = self.source.open(arguments, context);
        under_way.end(opened.as_ref().err().map(|it| it.code));
        opened
    }
}
