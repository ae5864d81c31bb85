//! Actions that are served, as all nodes of all plans share them.

use crate::asynchronous::ActionLog;
use crate::call::CallSettings;
use crate::model::Model;
use std::sync::Arc;

/// The actions, and how they are called.
pub(crate) struct Actions {
    pub(crate) model: Model,
    pub(crate) settings: CallSettings,
    /// Calls of asynchronous actions.
    pub(crate) log: Option<Arc<dyn ActionLog>>,
    /// True if errors have details for the admin.
    pub(crate) shows_internal: bool,
    /// Session variables that reach handlers: all.
    pub(crate) reads_claims: Vec<Box<str>>,
}
