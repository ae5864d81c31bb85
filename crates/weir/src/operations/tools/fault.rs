//! Errors of the protocol, and the era that decides how they are told.

use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Code of a message beyond a limit of how much is asked. Source: JSON-RPC 2.0, section 5.1, the codes of servers.
const CROWDED: ErrorCode = ErrorCode(-32000);

/// Versions that are served, oldest first. 2025-03-26 is none of them, as its servers have to take lists of messages.
const SUPPORTED: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

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
    /// A message beyond a limit of how much is asked.
    pub(crate) fn crowded(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CROWDED, message)
    }
    /// HTTP status of the error. In the era of handshakes an error is a good answer.
    pub(crate) fn status(&self, era: Era) -> u16 {
        match self.code {
            ErrorCode::PARSE_ERROR
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => 400,
            ErrorCode::INVALID_PARAMS if self.is_malformed => 400,
            CROWDED => 429,
            ErrorCode::METHOD_NOT_FOUND if era == Era::Stateless => 404,
            _ => 200,
        }
    }
}

/// Versions that are served, oldest first.
pub(crate) const fn supported_versions() -> &'static [ProtocolVersion] {
    SUPPORTED
}

/// The version that a handshake agrees on: `asked` if it is served and has handshakes, else the newest that has.
pub(crate) fn agree_on_version(asked: &str) -> ProtocolVersion {
    // The version left out is nearest to the next one.
    if asked == ProtocolVersion::V_2025_03_26.as_str() {
        return ProtocolVersion::V_2025_06_18;
    }
    let agreed = SUPPORTED.iter().find(|it| it.as_str() == asked && it.has_initialize());
    agreed.unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_whose_lists_are_not_taken_is_not_agreed_on() {
        for (asked, agreed) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-06-18"),
            ("2025-06-18", "2025-06-18"),
            ("2026-07-28", "2025-11-25"),
            ("1999-01-01", "2025-11-25"),
        ] {
            assert_eq!(agree_on_version(asked).as_str(), agreed, "{asked}");
        }
        assert!(!supported_versions().contains(&ProtocolVersion::V_2025_03_26));
    }
}
