//! Data of a request of the embedding program, on their way through the engine to its own resolvers.

use crate::data::Data;
use crate::loader::RequestMemory;
use crate::turns::Turns;
use crate::upload::Upload;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// An event of a subscription, with its type forgotten.
pub(crate) type Event = Box<dyn Any + Send>;

/// Data of one request, as it passes through the engine.
pub(crate) struct RequestData {
    pub(crate) data: Arc<Data>,
    pub(crate) memory: Arc<RequestMemory>,
    pub(crate) uploads: Arc<[Upload]>,
    /// If other requests share the memory: their keys are waited for.
    pub(crate) turns: Option<Arc<Turns>>,
    /// In a subscription: the event of this run, until its field takes it.
    pub(crate) event: Mutex<Option<Event>>,
}
