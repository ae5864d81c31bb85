//! Asynchronous actions: their calls are stored at once and made later.
//!
//! `action_log` is the border to the database that stores them, `crate::call_worker` takes stored calls and `crate::deliver` makes one,
//! `stored_result` says who may read what of them.
//!
//! **Invariant:** a call that was stored is made once; a result is read by callers with the session that asked for it, and the admin.

mod action_log;
mod stored_headers;
mod stored_result;

pub use action_log::{ActionLog, ActionLogError, LoggedCall, NewCall, TakenCall, WantedCalls};
pub(crate) use stored_headers::{StoredHeaders, write_headers};
pub(crate) use stored_result::write_result;
