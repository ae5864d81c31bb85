//! Errors of the protocol, and the era that decides how they are told.

use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Form of the protocol that a message is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revisions with `initialize`.
    Handshake,
    /// Revisions whose requests say everything themselves.
    Stateless,
}

/// An error of the protocol; what goes wrong in a tool is a result.
#[derive(Debug)]
pub(crate) struct RpcFault {
    pub(crate) code: ErrorCode,
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Value>,
    /// True if the request lacks what every request has to have.
    is_malformed: bool,
}

impl RpcFault {
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, is_malformed: false }
    }
    /// Parameters that the method does not take.
    pub(crate) fn params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }
    /// A request that lacks what every request has to have.
    pub(crate) fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self { is_malformed: true, ..Self::params(message) }
    }
    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("`{method}` is no method of this server"))
    }
    /// A version that is not served.
    pub(crate) fn unsupported_version(version: &str) -> Self {
        let data = json!({ "supported": supported_versions(), "requested": version });
        let message = "this version of the protocol is not served";
        Self { data: Some(data), ..Self::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, message) }
    }
    /// A header that is missing, or says another thing than the body.
    pub(crate) fn header(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::HEADER_MISMATCH, message)
    }
    /// HTTP status of the error. In the era of handshakes an error is a good answer.
    pub(crate) fn status(&self, era: Era) -> u16 {
        match self.code {
            ErrorCode::PARSE_ERROR
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => 400,
            ErrorCode::INVALID_PARAMS if self.is_malformed => 400,
            ErrorCode::METHOD_NOT_FOUND if era == Era::Stateless => 404,
            _ => 200,
        }
    }
}

/// Versions that are served, oldest first.
pub(crate) fn supported_versions() -> &'static [ProtocolVersion] {
    ProtocolVersion::KNOWN_VERSIONS
}
