//! Subscriptions: a root field gives a stream of events, and the operation runs once per event with the event as the field's value.
//!
//! **Invariant:** the plan is made once; an event that comes while the one before is answered waits in the stream.
//!
//! **Cost:** per event that of a request whose plan is known.

use crate::context::Context;
use crate::context::data::Data;
use crate::context::request_data::{Event, RequestData};
use crate::input::uploaded_file::Upload;
use crate::input::{InputFields, InputObject};
use crate::library::schema_usage::UsageObserver;
use crate::request::Response;
use crate::resolve_error::internal;
use crate::resolver::answers::Answers;
use crate::resolver::{EventSource, Outcome, Resolve, Resolver, StepArguments, TypedResolver};
use futures_util::Stream;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weir_engine::bound_operation::BoundOperation;
use weir_engine::engine::Engine;
use weir_engine::memory::Answer;
use weir_engine::source::{EventStream, FetchInput, FieldError};
use weir_language::ast::OperationKind;

struct Events<F, I, A> {
    open: F,
    types: std::marker::PhantomData<fn() -> (I, A)>,
}

impl<F, I, A, S> EventSource for Events<F, I, A>
where
    F: Fn(&I, &Context) -> S + Send + Sync,
    I: InputObject,
    S: Stream<Item = A> + Send + 'static,
    A: Send + 'static,
{
    fn open(
        &self,
        arguments: StepArguments<'_>,
        context: &Context,
    ) -> Result<BoxStream<'static, Event>, FieldError> {
        let StepArguments { scope, shape, literals, slots } = arguments;
        let fields = InputFields::of_arguments(scope, shape, literals, slots);
        let arguments = I::read_fields(&fields).map_err(|it| it.to_field_error())?;
        let opened = std::panic::catch_unwind(AssertUnwindSafe(|| (self.open)(&arguments, context)));
        let events = opened.map_err(|_| internal())?;
        Ok(events.map(|event| Box::new(event) as Event).boxed())
    }
}

/// A field of the subscription root: each item of the stream is its value in one result.
///
/// ```
/// use weir_runtime::{Context, stream};
/// let ticks = stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2, 3]));
/// # let _ = ticks;
/// ```
pub fn stream<I, A, S>(open: impl Fn(&I, &Context) -> S + Send + Sync + 'static) -> TypedResolver<I, A>
where
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
    S: Stream<Item = A> + Send + 'static,
{
    let alone = |_: &[&()], _: &I, _: &Context| -> Outcome<A> {
        Outcome::Ready(Err(std::io::Error::other("a subscription was executed as a query").into()))
    };
    let resolver = Resolver::of_objects(None, alone);
    let source = Events { open, types: std::marker::PhantomData::<fn() -> (I, A)> };
    Resolver { stream: Some(Arc::new(source)), ..resolver }.into()
}

/// The answer of a field of the subscription root for the event of this run; `None` if the run has no event.
pub(crate) fn event(input: FetchInput<'_>, resolve: &dyn Resolve) -> Option<Box<dyn Answers>> {
    if input.parent_keys.is_some() {
        return None;
    }
    let data = input.headers.data()?.downcast_ref::<RequestData>()?;
    let event = data.event.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some(resolve.event(event, 1))
}

/// Events as data of the runs that answer them, with what the request has that subscribes.
pub(crate) fn runs(events: BoxStream<'static, Event>, of: Option<&RequestData>) -> EventStream {
    let data = of.map(|it| Arc::clone(&it.data)).unwrap_or_default();
    let uploads = of.map(|it| Arc::clone(&it.uploads)).unwrap_or_default();
    // A stream that panics ends: the client sees what came before.
    let events = AssertUnwindSafe(events).catch_unwind().take_while(|it| std::future::ready(it.is_ok()));
    let run = move |event| {
        let data = Arc::clone(&data);
        let uploads = Arc::clone(&uploads);
        let event = Mutex::new(Some(event));
        let run = RequestData { data, memory: Arc::default(), uploads, company: None, event };
        Arc::new(run) as Arc<dyn Any + Send + Sync>
    };
    events.filter_map(|it| std::future::ready(it.ok())).map(run).boxed()
}

/// State that all results of one subscription share.
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) operation: BoundOperation,
    pub(crate) data: Arc<Data>,
    pub(crate) uploads: Arc<[Upload]>,
    /// Time for the first byte of each response.
    pub(crate) patience: Duration,
    pub(crate) usage: Option<Arc<UsageObserver>>,
}

impl Shared {
    /// The data of the request.
    fn request(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(RequestData {
            data: Arc::clone(&self.data),
            memory: Arc::default(),
            uploads: Arc::clone(&self.uploads),
            company: None,
            event: Mutex::default(),
        })
    }

    async fn run(&self, data: Arc<dyn Any + Send + Sync>) -> Response {
        let began = Instant::now();
        let response = self.engine.run_with_data(&self.operation, data, began + self.patience).await;
        if let Some(usage) = &self.usage {
            usage.note(&response, began.elapsed());
        }
        Response::collect(response).await
    }
}

/// Opens the stream of the operation; each item of it is a response. A query or mutation has one.
pub(crate) async fn open(shared: Shared) -> Result<BoxStream<'static, Response>, FieldError> {
    let request = shared.request();
    if shared.operation.kind() != OperationKind::Subscription {
        return Ok(stream::iter([shared.run(request).await]).boxed());
    }
    let events = shared.operation.events(Some(request)).ok_or_else(internal)??;
    let shared = Arc::new(shared);
    let answer = move |data| {
        let shared = Arc::clone(&shared);
        async move { shared.run(data).await }
    };
    Ok(events.then(answer).boxed())
}
