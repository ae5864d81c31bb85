//! Usage of a schema: executions of each operation, and by field and argument.
//!
//! An execution is counted at its operation; counts of fields are derived from their operations when they are read.
//!
//! **Cost:** without counts none. With them a lock of the operation's entry per execution, nothing per field.

use std::sync::Arc;
use std::time::Duration;
use weir_engine::engine::Response;
use weir_engine::observer::{
    DatabaseAddress, ObservedCall, ObservedFetch, ObservedOperation, ObservedStage, Observer,
};
use weir_engine::span::SpanContext;
use weir_engine::usage::{OperationTable, Usage};

/// Counts executions, and forwards reports to the settings' own observer.
#[derive(Debug)]
pub(crate) struct UsageObserver {
    operations: OperationTable,
    next: Option<Arc<dyn Observer>>,
}

impl UsageObserver {
    pub(crate) fn new(next: Option<Arc<dyn Observer>>) -> Self {
        Self { operations: OperationTable::default(), next }
    }
    /// Counts an execution.
    pub(crate) fn note(&self, response: &Response, took: Duration) {
        self.operations.note(&response.execution(), took);
    }
    /// The counts so far.
    pub(crate) fn usage(&self) -> Usage {
        self.operations.usage()
    }
}

impl Observer for UsageObserver {
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64 {
        if let Some(next) = &self.next {
            next.operation(operation);
        }
        self.operations.number(operation)
    }
    fn source(&self, name: &str) -> u32 {
        self.next.as_ref().map_or(0, |it| it.source(name))
    }
    fn database(&self, source: u32, database: &DatabaseAddress) {
        if let Some(next) = &self.next {
            next.database(source, database);
        }
    }
    fn stage(&self, stage: &ObservedStage<'_>) {
        if let Some(next) = &self.next {
            next.stage(stage);
        }
    }
    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext> {
        self.next.as_ref()?.fetch_begins(source, request)
    }
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        if let Some(next) = &self.next {
            next.fetch_ended(fetch);
        }
    }
    fn call_begins(&self, fetch: SpanContext) -> Option<SpanContext> {
        self.next.as_ref()?.call_begins(fetch)
    }
    fn call_ended(&self, call: &ObservedCall<'_>) {
        if let Some(next) = &self.next {
            next.call_ended(call);
        }
    }
}
