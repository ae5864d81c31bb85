//! The call of a handler: its body and headers, and what its answer means.
//!
//! `merged_headers` chooses headers, `request_body` writes bodies, `handler_call` transforms and makes the call, `handler_error`
//! reads a handler's refusal, `call_report` tells log and admin.

mod call_report;
mod handler_call;
mod handler_error;
mod merged_headers;
mod request_body;

pub(crate) use handler_call::{CallSettings, HandlerCall};
pub use merged_headers::HeaderPrecedence;
pub(crate) use request_body::{BodyParts, session_variables};
