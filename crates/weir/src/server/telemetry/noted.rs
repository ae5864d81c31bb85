//! Fields of a request's log line beyond its execution: caller, plan and trace.

use weir_engine::caller::Caller;

/// Data about an operation for logs, beyond its execution.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) caller: Option<Caller>,
    /// Statements and call templates of a slow operation.
    pub(crate) plan: Option<String>,
}

impl Noted {
    /// Role of the caller.
    pub(crate) fn role(&self) -> Option<&str> {
        self.caller.as_ref().map(Caller::role)
    }
}

/// Trace of a request in log lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedTrace {
    pub(crate) trace: u128,
    /// Span of the request; `None` if traces are not recorded.
    pub(crate) span: Option<u64>,
}

impl LoggedTrace {
    /// Trace id in hexadecimal.
    pub(crate) fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// Span id in hexadecimal.
    pub(crate) fn span_id(self) -> Option<String> {
        self.span.map(|it| format!("{it:016x}"))
    }
}
