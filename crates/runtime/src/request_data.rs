//! Data of a request of the embedding program, on their way through the engine to its own resolvers.

use crate::data::Data;
use crate::loader::RequestMemory;
use crate::turns::Turns;
use crate::upload::Upload;
use futures_util::stream::BoxStream;
use std::any::Any;
use std::sync::{Arc, Mutex};
use weir_engine::source::FieldError;

/// An event of a subscription, with its type forgotten.
pub(crate) type Event = Box<dyn Any + Send>;

/// Data of one request, as it passes through the engine.
pub(crate) struct RequestData {
    pub(crate) data: Arc<Data>,
    pub(crate) memory: Arc<RequestMemory>,
    pub(crate) uploads: Arc<[Upload]>,
    /// If other requests share the memory: their keys are waited for.
    pub(crate) turns: Option<Arc<Turns>>,
    pub(crate) subscription: Mutex<SubscriptionStep>,
}

/// What a request does at a field of the subscription root.
#[derive(Default)]
pub(crate) enum SubscriptionStep {
    /// Nothing: it is no subscription.
    #[default]
    None,
    /// It opens the stream.
    Opening(Option<Result<BoxStream<'static, Event>, FieldError>>),
    /// It answers an event.
    Event(Option<Event>),
}
