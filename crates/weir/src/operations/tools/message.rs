//! A message of an agent: JSON-RPC 2.0, and the era that it belongs to.
//!
//! **Invariant:** arguments stay the bytes that were sent, so numbers keep their digits; an id is answered as it was written.

use super::fault::{Era, RpcFault};
use rmcp::model::{ErrorCode, ProtocolVersion};
use std::borrow::Cow;
use weir_language::json::JsonRef;

/// Key of the protocol's version in `_meta`.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Key of what the client can do in `_meta`.
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// A message that is to be answered.
#[derive(Debug)]
pub(crate) struct AgentRequest<'t> {
    /// The id as written.
    pub(crate) id: &'t str,
    pub(crate) method: Cow<'t, str>,
    /// An object.
    pub(crate) params: Option<JsonRef<'t>>,
}

/// A message.
#[derive(Debug)]
pub(crate) enum AgentMessage<'t> {
    Request(AgentRequest<'t>),
    /// No answer is expected: a notification with its method, or an answer to a question that nobody asked.
    Note {
        method: Cow<'t, str>,
        params: Option<JsonRef<'t>>,
    },
}

/// Reads the message in `json`.
/// # Errors
/// It is no message, with its id if it has one.
pub(crate) fn read(json: JsonRef<'_>) -> Result<AgentMessage<'_>, (Option<&str>, RpcFault)> {
    let fail = |id, message: &'static str| Err((id, RpcFault::new(ErrorCode::INVALID_REQUEST, message)));
    if !json.is_object() {
        return fail(None, "send one JSON-RPC message, which is an object");
    }
    let id = json.get("id");
    let written = id.filter(|it| it.as_str().is_some() || it.as_number().is_some()).map(JsonRef::raw);
    if json.get("jsonrpc").and_then(JsonRef::as_str).as_deref() != Some("2.0") {
        return fail(written, "`jsonrpc` has to be \"2.0\"");
    }
    let params = json.get("params");
    let Some(method) = json.get("method") else {
        if json.get("result").is_some() || json.get("error").is_some() {
            return Ok(AgentMessage::Note { method: Cow::Borrowed(""), params: None });
        }
        return fail(written, "`method` is missing");
    };
    let Some(method) = method.as_str() else { return fail(written, "`method` has to be a string") };
    if params.is_some_and(|it| !it.is_object()) {
        return fail(written, "`params` has to be an object");
    }
    match (id, written) {
        (None, _) => Ok(AgentMessage::Note { method, params }),
        (Some(_), Some(id)) => Ok(AgentMessage::Request(AgentRequest { id, method, params })),
        (Some(_), None) => fail(None, "`id` has to be a string or a number"),
    }
}

impl<'t> AgentRequest<'t> {
    /// The member `name` of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<JsonRef<'t>> {
        self.params.and_then(|it| it.get(name))
    }

    /// The version of the protocol that `_meta` names.
    pub(crate) fn stated_version(&self) -> Option<Cow<'t, str>> {
        self.param("_meta")?.get(VERSION_KEY)?.as_str()
    }

    /// The era of the request.
    /// # Errors
    /// `_meta` names a version that is not served, or lacks what each request has to say.
    pub(crate) fn era(&self) -> Result<Era, RpcFault> {
        let is_stateless_method = self.method == "server/discover";
        let meta = self.param("_meta");
        let Some(version) = meta.and_then(|it| it.get(VERSION_KEY)) else {
            if is_stateless_method {
                return Err(RpcFault::malformed(format!("`_meta` has to have `{VERSION_KEY}`")));
            }
            return Ok(Era::Handshake);
        };
        let Some(version) = version.as_str() else {
            return Err(RpcFault::malformed(format!("`{VERSION_KEY}` has to be a string")));
        };
        if version != ProtocolVersion::V_2026_07_28.as_str() {
            return Err(RpcFault::unsupported_version(&version));
        }
        if !meta.and_then(|it| it.get(CAPABILITIES_KEY)).is_some_and(JsonRef::is_object) {
            return Err(RpcFault::malformed(format!("`_meta` has to have `{CAPABILITIES_KEY}`, an object")));
        }
        Ok(Era::Stateless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    fn check(text: &str, expected: Result<(&str, &str), i32>) {
        let tape = Json::parse(text.as_bytes(), 20).expect("it is JSON");
        match (read(tape.root()), expected) {
            (Ok(AgentMessage::Request(it)), Ok((id, method))) => {
                assert_eq!((it.id, &*it.method), (id, method), "{text}");
            }
            (Ok(AgentMessage::Note { method, .. }), Ok(("", expected))) => {
                assert_eq!(method, expected, "{text}")
            }
            (Err((_, fault)), Err(code)) => assert_eq!(fault.code.0, code, "{text}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn a_message_is_an_object_of_json_rpc() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Ok(("1", "ping")));
        check(r#"{"jsonrpc":"2.0","id":"a\"","method":"ping","params":{}}"#, Ok((r#""a\"""#, "ping")));
        check(r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#, Ok(("9007199254740993", "ping")));
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            Ok(("", "notifications/initialized")),
        );
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Ok(("", "")));
        for wrong in [
            "[]",
            "7",
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            check(wrong, Err(-32600));
        }
    }

    fn check_era(method: &str, meta: &str, expected: Result<Era, i32>) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#);
        let tape = Json::parse(text.as_bytes(), 20).expect("it is JSON");
        let Ok(AgentMessage::Request(request)) = read(tape.root()) else { panic!("{text}") };
        assert_eq!(request.era().map_err(|it| it.code.0), expected, "{text}");
    }

    #[test]
    fn the_era_stands_in_the_message() {
        let modern = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        check_era("tools/list", modern, Ok(Era::Stateless));
        check_era("tools/list", r#"{"progressToken":1}"#, Ok(Era::Handshake));
        check_era("server/discover", "{}", Err(-32602));
        check_era("tools/list", r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#, Err(-32602));
        check_era("tools/list", r#"{"io.modelcontextprotocol/protocolVersion":7}"#, Err(-32602));
        check_era("tools/list", r#"{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}"#, Err(-32022));
    }
}
