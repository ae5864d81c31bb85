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
    pub call: NewCall,
}

/// An action, and the largest number of its calls that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedCalls<'w> {
    /// Name of the action.
    pub action: &'w str,
    /// Maximum number of calls.
    pub count: u32,
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

/// Reason why the log cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionLogError {
    /// Words for operators.
    pub message: String,
    /// True if the database refuses the values, now and later.
    pub is_about_values: bool,
    /// True if calls wait for what an operator decides; callers are told the message.
    pub waits_for_operator: bool,
}

impl fmt::Display for ActionLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
    /// Takes calls that are `created`, the oldest first, of each action as many as are wanted, and makes them `processing`. No other
    /// taker gets them.
    fn take<'l>(&'l self, wanted: &'l [WantedCalls<'l>]) -> Logged<'l, Vec<TakenCall>>;
    /// Stores the handler's answer, or why there is none: the call is `completed` or has an `error`.
    fn finish<'l>(&'l self, id: &'l str, outcome: Result<&'l str, &'l str>) -> Logged<'l, ()>;
    /// Makes calls that are `processing` `created` again.
    fn give_back<'l>(&'l self, ids: &'l [String]) -> Logged<'l, ()>;
    /// Makes calls of `action` that have been `processing` for longer than `age` `created` again.
    fn release<'l>(&'l self, action: &'l str, age: Duration) -> Logged<'l, u64>;
}
