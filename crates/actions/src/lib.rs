//! Hasura's actions as a source of the graph: custom types, permissions, calls of handlers.
//!
//! `model` checks the entries of the metadata, `schema` makes root fields and types of them, `action_fetch` calls handlers by `call`
//! and makes columns of their answers by `answer`; `asynchronous` stores calls and makes them later.
//!
//! **Invariant:** a caller sees and calls an action only if a permission of the role names it.
//!
//! Source: `docs/actions.md`.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

mod action_error;
mod action_fetch;
mod actions;
mod answer;
mod asynchronous;
mod call;
mod call_worker;
mod deliver;
mod model;
mod schema;
mod source;

pub use asynchronous::{ActionLog, ActionLogError, LoggedCall, NewCall, TakenCall, WantedCalls};
pub use call::HeaderPrecedence;
pub use call_worker::{CallWorker, StoredActions, WorkerSettings};
pub use model::{ActionsInput, Misfit, OtherNames};
pub use source::{ActionSettings, ActionsSource, SOURCE_NAME};
