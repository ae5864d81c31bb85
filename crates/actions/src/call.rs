//! The call of a handler: its body and headers, and what its answer means.
//!
//! `forwarded_headers` chooses headers, `request_body` writes bodies, `handler_call` transforms and makes the call, `handler_error`
//! reads a handler's refusal, `call_report` tells log and admin.

mod call_report;
mod forwarded_headers;
mod handler_call;
mod handler_error;
mod request_body;

pub use forwarded_headers::HeaderPrecedence;
pub(crate) use forwarded_headers::{forwarded, is_of_session};
pub(crate) use handler_call::{CallSettings, HandlerCall};
pub(crate) use request_body::{BodyParts, session_variables};
