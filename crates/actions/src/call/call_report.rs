//! A call as the log and the admin are told of it.
//!
//! **Invariant:** the log has no bodies; addresses are shown as they are configured.

use super::request_body::BodyParts;
use crate::model::Action;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use std::fmt::Write;
use weir_language::json::Json;
use weir_language::string_value::write_json;
use weir_metadata::document::action::{ActionKind, ActionOperation};
use weir_webhook::{WebhookAnswer, WebhookError};

pub(super) struct CallReport<'r> {
    pub(super) action: &'r Action,
    pub(super) parts: BodyParts<'r>,
    /// The request that a transform made, JSON.
    pub(super) transformed: Option<String>,
    /// Maximum nesting of an answer.
    pub(super) nesting_max: u32,
}

/// The answer in details.
#[derive(Clone, Copy)]
pub(super) struct ReportedAnswer<'r> {
    pub(super) status: StatusCode,
    pub(super) headers: &'r HeaderMap,
    pub(super) body: &'r Bytes,
}

impl CallReport<'_> {
    /// `text` as JSON.
    pub(super) fn quote(text: &str) -> String {
        let mut out = String::new();
        write_json(text, &mut out);
        out
    }

    /// Details for the admin, JSON; `error` is JSON.
    pub(super) fn write(&self, error: &str, answer: Option<ReportedAnswer<'_>>) -> String {
        let mut out = format!("{{\"error\":{error},\"request\":");
        self.parts.write_internal(
            &self.action.entry.definition.handler,
            self.transformed.as_deref(),
            &mut out,
        );
        out.push_str(",\"response\":");
        match answer {
            None => out.push_str("null"),
            Some(answer) => self.write_answer(answer, &mut out),
        }
        out.push('}');
        out
    }

    fn write_answer(&self, answer: ReportedAnswer<'_>, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{{\"status\":{},\"body\":", answer.status.as_u16());
        match Json::parse(answer.body, self.nesting_max) {
            Ok(json) => out.push_str(json.root().raw()),
            Err(_) => write_json(&String::from_utf8_lossy(answer.body), out),
        }
        out.push_str(",\"headers\":[");
        for (at, (name, value)) in answer.headers.iter().enumerate() {
            out.push_str(if at > 0 { ",{\"name\":" } else { "{\"name\":" });
            write_json(name.as_str(), out);
            out.push_str(",\"value\":");
            write_json(&String::from_utf8_lossy(value.as_bytes()), out);
            out.push('}');
        }
        out.push_str("]}");
    }

    /// Logs the call, without bodies.
    pub(super) fn log(&self, request_bytes: usize, answer: Result<&WebhookAnswer, &WebhookError>) {
        let definition = &self.action.entry.definition;
        let kind = match (definition.operation, definition.kind) {
            (ActionOperation::Query, _) => "query",
            (ActionOperation::Mutation, ActionKind::Synchronous) => "mutation-synchronous",
            (ActionOperation::Mutation, ActionKind::Asynchronous) => "mutation-asynchronous",
        };
        let status = answer.map_or(0, |it| it.status.as_u16());
        let response_bytes = answer.map_or(0, |it| it.body.len());
        tracing::info!(
            action_name = %self.parts.action,
            action_type = kind,
            handler = %definition.handler,
            request_bytes,
            response_bytes,
            status,
            "action-handler-log"
        );
    }
}
