//! What a transport gives for the messages of an agent: its caller, the configuration, and the way to the engine.

use super::catalog::ToolCatalog;
use crate::config::Config;
use weir_engine::engine::Response;
use weir_engine::source::{Caller, Protocol};
use weir_language::json::JsonRef;
use weir_language::schema::{Schema, SchemaView};

/// An operation that a tool runs.
#[derive(Clone, Copy)]
pub(crate) struct ToolOperation<'r> {
    pub(crate) text: &'r str,
    pub(crate) operation_name: Option<&'r str>,
    pub(crate) variables: Option<JsonRef<'r>>,
    pub(crate) protocol: Protocol,
    pub(crate) queries_only: bool,
}

/// The side of a transport: one message of one caller.
pub(crate) trait ToolHost {
    fn caller(&self) -> &Caller;
    fn config(&self) -> &Config;
    fn schema(&self) -> &Schema;
    fn catalog(&self) -> &ToolCatalog;

    /// True if the allow list lets the caller send `text`.
    fn allows(&self, text: &str) -> bool;

    /// Runs an operation for the caller.
    async fn execute(&self, operation: ToolOperation<'_>) -> Response;

    /// The schema as the caller sees it.
    fn view(&self) -> SchemaView<'_> {
        self.caller().profile().view(self.schema())
    }
}
