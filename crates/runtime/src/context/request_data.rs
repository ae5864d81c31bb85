//! Data of a request of the embedding program, on their way through the engine to its own resolvers.

use super::batch_loader::RequestMemory;
use super::data::Data;
use super::turns::Turns;
use crate::input::uploaded_file::Upload;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// An event of a subscription, with its type forgotten.
pub(crate) type Event = Box<dyn Any + Send>;

/// Loader state shared by queries that are executed together.
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
    /// State shared with requests that are executed together. Only queries use it: a mutation clears loaded values.
    pub(crate) company: Option<Company>,
    /// In a subscription: the event of this run, until its field takes it.
    pub(crate) event: Mutex<Option<Event>>,
}
