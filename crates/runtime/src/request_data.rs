//! Data of a request of the embedding program, on their way through the engine to its own resolvers.

use crate::data::Data;
use crate::loader::RequestMemory;
use crate::turns::Turns;
use crate::upload::Upload;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// An event of a subscription, with its type forgotten.
pub(crate) type Event = Box<dyn Any + Send>;

/// State that queries share with those that are answered together with them.
#[derive(Clone, Default)]
pub(crate) struct Company {
    pub(crate) memory: Arc<RequestMemory>,
    pub(crate) turns: Arc<Turns>,
}

/// Data of one request, as it passes through the engine.
pub(crate) struct RequestData {
    pub(crate) data: Arc<Data>,
    /// Memory of the request alone.
    pub(crate) memory: Arc<RequestMemory>,
    pub(crate) uploads: Arc<[Upload]>,
    /// Other requests that are answered together with it. Only queries load with them: a mutation drops loaded values.
    pub(crate) company: Option<Company>,
    /// In a subscription: the event of this run, until its field takes it.
    pub(crate) event: Mutex<Option<Event>>,
}
