//! Answers to messages of agents, as JSON-RPC.
//!
//! **Invariant:** results are written around the bytes that the engine made, which are not read as numbers.

use super::fault::{Era, RpcFault};
use rmcp::model::Implementation;
use serde::Serialize;
use serde_json::json;
use weir_engine::errors::error_text::string;

/// Key of the server's name in `_meta`.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// This server.
pub(crate) fn server_info() -> Implementation {
    Implementation::new("weir", env!("CARGO_PKG_VERSION")).with_title("Weir")
}

/// The error `fault` as the answer to the request `id`.
pub(crate) fn error_reply(id: Option<&str>, fault: &RpcFault) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + fault.message.len());
    open(&mut out, id.unwrap_or("null"));
    out.extend_from_slice(format!("\"error\":{{\"code\":{},\"message\":", fault.code.0).as_bytes());
    string(&mut out, &fault.message);
    if let Some(data) = &fault.data {
        out.extend_from_slice(format!(",\"data\":{data}").as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

/// The answer to the request `id` whose result is `result`.
pub(super) fn value_reply(id: &str, result: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    open(&mut out, id);
    out.extend_from_slice(b"\"result\":");
    // Types of the protocol have text keys alone, so they can be written.
    out.extend_from_slice(&serde_json::to_vec(result).unwrap_or_default());
    out.push(b'}');
    out
}

/// The answer to the request `id` whose result has the members that `write` appends, beside those that results of `era` always have.
pub(super) fn members_reply(id: &str, era: Era, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    open(&mut out, id);
    out.extend_from_slice(b"\"result\":{");
    write(&mut out);
    if era == Era::Stateless {
        let info = json!({ SERVER_KEY: server_info() });
        out.extend_from_slice(format!(",\"resultType\":\"complete\",\"_meta\":{info}").as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

fn open(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.push(b',');
}
