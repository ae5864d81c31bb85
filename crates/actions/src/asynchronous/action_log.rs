//! The border to the database that stores calls of asynchronous actions.

use std::fmt;
use std::time::Duration;
use weir_engine::source::BoxFuture;

/// A call to store. Texts are JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCall {
    /// Name of the action.
    pub action: String,
    /// Object of arguments.
    pub input: String,
    /// Object of headers of the client.
    pub headers: String,
    /// Object of session variables.
    pub session_variables: String,
}

/// A stored call to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenCall {
    /// Id of the call.
    pub id: String,
    /// The call.
    pub call: NewCall,
}

/// A stored call as its result is read. Texts are JSON, but for the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// Time at which it was stored.
    pub created_at: String,
    /// Session variables of the caller.
    pub session_variables: String,
    /// The handler's answer.
    pub response: Option<String>,
    /// Why there is no answer.
    pub errors: Option<String>,
}

/// Reason why the log cannot be used, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionLogError(pub String);

impl fmt::Display for ActionLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ActionLogError {}

/// Result of an operation on the log.
pub(crate) type Logged<'l, T> = BoxFuture<'l, Result<T, ActionLogError>>;

/// The durable log of asynchronous actions. Several servers may share it.
pub trait ActionLog: Send + Sync {
    /// Stores a call as `created`, and returns its id, a UUID, once it is durable.
    fn insert(&self, call: NewCall) -> Logged<'_, String>;
    /// The call with this id, a UUID, of this action.
    fn find<'l>(&'l self, action: &'l str, id: &'l str) -> Logged<'l, Option<LoggedCall>>;
    /// Takes up to `count` calls of `actions` that are `created`, the oldest first, and makes them `processing`. No other taker gets
    /// them.
    fn take<'l>(&'l self, actions: &'l [&'l str], count: u32) -> Logged<'l, Vec<TakenCall>>;
    /// Stores the handler's answer, or why there is none: the call is `completed` or has an `error`.
    fn finish<'l>(&'l self, id: &'l str, outcome: Result<String, String>) -> Logged<'l, ()>;
    /// Makes calls of `action` that have been `processing` for longer than `age` `created` again.
    fn release<'l>(&'l self, action: &'l str, age: Duration) -> Logged<'l, u64>;
}
