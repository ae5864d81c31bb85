//! Interface of a transport for messages of an agent: the caller, the configuration, and the way to the engine.

use super::catalog::ToolCatalog;
use crate::config::Config;
use std::time::{Duration, Instant};
use weir_engine::engine::{Engine, Request, Response};
use weir_engine::source::{Caller, Headers, NoHeaders, Protocol};
use weir_language::json::JsonRef;
use weir_language::schema::SchemaView;

/// An operation that a tool runs.
#[derive(Clone, Copy)]
pub(crate) struct ToolOperation<'r> {
    pub(crate) text: &'r str,
    pub(crate) operation_name: Option<&'r str>,
    pub(crate) variables: Option<JsonRef<'r>>,
    pub(crate) protocol: Protocol,
    pub(crate) queries_only: bool,
}

impl<'r> ToolOperation<'r> {
    /// The request to the engine.
    pub(crate) fn request(self, headers: &'r dyn Headers, deadline: Instant) -> Request<'r> {
        let Self { text, operation_name, variables, protocol, queries_only } = self;
        Request { operation_name, variables, protocol, queries_only, headers, ..Request::new(text, deadline) }
    }
}

/// The side of a transport: one message of one caller.
pub(crate) trait ToolHost {
    fn caller(&self) -> &Caller;
    fn config(&self) -> &Config;
    fn engine(&self) -> &Engine;
    fn catalog(&self) -> &ToolCatalog;

    /// True if the allow list lets the caller send `text`.
    fn allows(&self, text: &str) -> bool;

    /// Counts the message by the rates of the caller, once; `text` is the document that it runs, or empty.
    /// # Errors
    /// A rate refuses it, with words for the agent.
    async fn count(&self, text: &str, operation_name: Option<&str>) -> Result<(), String>;

    /// Runs an operation for the caller, whose message was counted.
    async fn execute(&self, operation: ToolOperation<'_>) -> Response;

    /// True if `operation` is one that may change data, whatever its document calls itself.
    async fn may_change_data(&self, operation: ToolOperation<'_>) -> bool {
        let patience = Duration::from_secs(self.config().limits.request_s.into());
        let request = operation.request(&NoHeaders, Instant::now() + patience);
        let bound = self.engine().bind(request, self.caller()).await;
        bound.is_ok_and(|it| it.may_change_data())
    }

    /// The schema as the caller sees it.
    fn view(&self) -> SchemaView<'_> {
        self.caller().profile().view(self.engine().schema())
    }
}
