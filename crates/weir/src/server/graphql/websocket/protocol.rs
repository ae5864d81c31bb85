//! The messages of both subprotocols, from text to text. Nothing is served by socket yet: a `subscribe` is answered by an error
//! in words, so that clients show it and do not connect again and again.
//!
//! **Invariant:** nothing here depends on the caller or the schema, so no login is read and nothing can leak.
//!
//! Sources: the protocols of the npm packages graphql-ws (`graphql-transport-ws`) and subscriptions-transport-ws (`graphql-ws`);
//! on `/v1/graphql` Hasura's ways with both.

use crate::server::connection::websocket_terms::Subprotocol;
use crate::server::request::refusal::{error_object, string};
use crate::server::telemetry::metrics::Endpoint;
use weir_language::json::{Json, JsonRef};

/// Brackets open at once in a message; a valid one has few.
const NESTING_MAX: u32 = 200;
/// The error of every operation.
const WORDS: &str = "subscriptions are not supported yet: send queries and mutations by POST";

/// Why a socket is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    pub(super) reason: &'static str,
}

impl Close {
    const DONE: Self = Self { code: 1000, reason: "" };
    pub(super) const GOING_AWAY: Self = Self { code: 1001, reason: "the server ends" };
    pub(super) const PROTOCOL: Self = Self { code: 1002, reason: "a frame breaks RFC 6455" };
    pub(super) const NO_TEXT: Self = Self { code: 1007, reason: "a text is not UTF-8" };
    pub(super) const TOO_BIG: Self =
        Self { code: 1009, reason: "a message is longer than socket_message_bytes_max" };
    pub(super) const INVALID: Self = Self { code: 4400, reason: "Invalid message received" };
    const UNAUTHORIZED: Self = Self { code: 4401, reason: "Unauthorized" };
    pub(super) const INIT_TIMEOUT: Self = Self { code: 4408, reason: "Connection initialisation timeout" };
    const INIT_TWICE: Self = Self { code: 4429, reason: "Too many initialisation requests" };
}

/// The reaction to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    /// These messages are sent.
    Say(Vec<String>),
    Close(Close),
}

/// One socket.
#[derive(Debug)]
pub(super) struct SocketSession {
    subprotocol: Subprotocol,
    endpoint: Endpoint,
    initialised: bool,
}

impl SocketSession {
    pub(super) const fn new(subprotocol: Subprotocol, endpoint: Endpoint) -> Self {
        Self { subprotocol, endpoint, initialised: false }
    }

    /// True while `connection_init` is due. The older protocol has no deadline for it.
    pub(super) fn awaits_init(&self) -> bool {
        !self.initialised && self.subprotocol == Subprotocol::Transport
    }

    /// Takes a message.
    pub(super) fn hear(&mut self, text: &[u8]) -> Step {
        let message = Json::parse(text, NESTING_MAX).ok();
        let root = message.as_ref().map(Json::root).filter(|it| it.is_object());
        let step = match self.subprotocol {
            Subprotocol::Transport => root.and_then(|it| self.transport(it)),
            Subprotocol::Legacy => root.and_then(|it| self.legacy(it)),
        };
        step.unwrap_or_else(|| match self.subprotocol {
            Subprotocol::Transport => Step::Close(Close::INVALID),
            Subprotocol::Legacy => {
                say(r#"{"type":"connection_error","payload":{"message":"the message cannot be read"}}"#)
            }
        })
    }

    /// A message of the newer subprotocol; nothing if it is invalid.
    fn transport(&mut self, message: JsonRef<'_>) -> Option<Step> {
        let payload = message.get("payload").filter(|it| !it.is_null());
        let is_object = payload.is_none_or(JsonRef::is_object);
        let step = match &*message.get("type")?.as_str()? {
            "connection_init" if !is_object => return None,
            "connection_init" if self.initialised => Step::Close(Close::INIT_TWICE),
            "connection_init" => self.acknowledge(),
            "ping" | "pong" if !is_object => return None,
            "ping" => match payload {
                None => say(r#"{"type":"pong"}"#),
                Some(payload) => say(&format!(r#"{{"type":"pong","payload":{}}}"#, payload.raw())),
            },
            "pong" => Step::Nothing,
            "subscribe" => {
                let id = id(message)?;
                payload?.get("query")?.as_str()?;
                if self.initialised { self.refuse(id) } else { Step::Close(Close::UNAUTHORIZED) }
            }
            "complete" => {
                id(message)?;
                Step::Nothing
            }
            _ => return None,
        };
        Some(step)
    }

    /// A message of the older subprotocol; nothing if it is invalid.
    fn legacy(&mut self, message: JsonRef<'_>) -> Option<Step> {
        let step = match &*message.get("type")?.as_str()? {
            "connection_init" => self.acknowledge(),
            "start" => self.refuse(id(message)?),
            "stop" => Step::Nothing,
            "connection_terminate" => Step::Close(Close::DONE),
            _ => return None,
        };
        Some(step)
    }

    fn acknowledge(&mut self) -> Step {
        self.initialised = true;
        say(r#"{"type":"connection_ack"}"#)
    }

    /// The error of the operation `id`, in the form that the subprotocol's clients read.
    fn refuse(&self, id: JsonRef<'_>) -> Step {
        let (code, path) = match self.endpoint {
            Endpoint::Hasura => ("not-supported", Some("$")),
            Endpoint::Graphql | Endpoint::Other => ("SUBSCRIPTIONS_UNSUPPORTED", None),
        };
        let error = written(|out| error_object(out, WORDS, code, path));
        let payload = match (self.subprotocol, self.endpoint) {
            (Subprotocol::Transport, _) => format!("[{error}]"),
            (Subprotocol::Legacy, Endpoint::Hasura) => format!(r#"{{"errors":[{error}]}}"#),
            (Subprotocol::Legacy, Endpoint::Graphql | Endpoint::Other) => error,
        };
        let id = written(|out| string(out, &id.as_str().unwrap_or_default()));
        let mut texts = vec![format!(r#"{{"type":"error","id":{id},"payload":{payload}}}"#)];
        if self.endpoint == Endpoint::Hasura {
            texts.push(format!(r#"{{"type":"complete","id":{id}}}"#));
        }
        Step::Say(texts)
    }
}

fn say(text: &str) -> Step {
    Step::Say(vec![text.to_owned()])
}

/// The id of an operation: a text that is not empty.
fn id(message: JsonRef<'_>) -> Option<JsonRef<'_>> {
    message.get("id").filter(|it| it.as_str().is_some_and(|it| !it.is_empty()))
}

/// The JSON that `write` appends.
fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = r#"{"type":"connection_init"}"#;
    const ACK: &str = r#"{"type":"connection_ack"}"#;
    const SUBSCRIBE: &str = r#"{"type":"subscribe","id":"1","payload":{"query":"subscription { a }"}}"#;

    /// Sends `said` one after another and compares with what the last of them gives.
    fn check(subprotocol: Subprotocol, endpoint: Endpoint, said: &[&str], expected: Step) {
        let mut session = SocketSession::new(subprotocol, endpoint);
        let last = said.iter().map(|it| session.hear(it.as_bytes())).last();
        assert_eq!(last, Some(expected), "{said:?}");
    }

    fn transport(said: &[&str], expected: Step) {
        check(Subprotocol::Transport, Endpoint::Graphql, said, expected);
    }

    #[test]
    fn an_operation_is_answered_by_an_error_in_words() {
        let error = |rest: &str| format!(r#"{{"message":"{WORDS}","extensions":{{{rest}}}}}"#);
        let own = error(r#""code":"SUBSCRIPTIONS_UNSUPPORTED""#);
        let hasura = error(r#""path":"$","code":"not-supported""#);
        let said = |payload: &str| format!(r#"{{"type":"error","id":"1","payload":{payload}}}"#);
        let complete = r#"{"type":"complete","id":"1"}"#.to_owned();
        transport(&[INIT, SUBSCRIBE], Step::Say(vec![said(&format!("[{own}]"))]));
        // The id is free again.
        transport(&[INIT, SUBSCRIBE, SUBSCRIBE], Step::Say(vec![said(&format!("[{own}]"))]));
        let both = Step::Say(vec![said(&format!("[{hasura}]")), complete.clone()]);
        check(Subprotocol::Transport, Endpoint::Hasura, &[INIT, SUBSCRIBE], both);
        let start = SUBSCRIBE.replace("subscribe", "start");
        for said_before in [&[INIT, &*start][..], &[&*start]] {
            check(Subprotocol::Legacy, Endpoint::Graphql, said_before, Step::Say(vec![said(&own)]));
        }
        let both = Step::Say(vec![said(&format!(r#"{{"errors":[{hasura}]}}"#)), complete]);
        check(Subprotocol::Legacy, Endpoint::Hasura, &[INIT, &start], both);
    }

    #[test]
    fn the_newer_subprotocol_closes_with_its_codes() {
        transport(&[INIT], say(ACK));
        transport(&[r#"{"type":"connection_init","payload":{"headers":{"a":"b"}}}"#], say(ACK));
        transport(&[r#"{"type":"connection_init","payload":null}"#], say(ACK));
        transport(&[INIT, INIT], Step::Close(Close::INIT_TWICE));
        transport(&[SUBSCRIBE], Step::Close(Close::UNAUTHORIZED));
        let deep = format!(r#"{{"type":"ping","payload":{{"a":{}"#, "[".repeat(100_000));
        for invalid in [
            "",
            "null",
            "[]",
            "{}",
            "\u{feff}x",
            r#"{"type":7}"#,
            r#"{"type":"start","id":"1","payload":{"query":"{a}"}}"#,
            r#"{"type":"connection_init","payload":"x"}"#,
            r#"{"type":"ping","payload":[]}"#,
            r#"{"type":"subscribe","payload":{"query":"{a}"}}"#,
            r#"{"type":"subscribe","id":"","payload":{"query":"{a}"}}"#,
            r#"{"type":"subscribe","id":1,"payload":{"query":"{a}"}}"#,
            r#"{"type":"subscribe","id":"1"}"#,
            r#"{"type":"subscribe","id":"1","payload":{}}"#,
            r#"{"type":"subscribe","id":"1","payload":{"query":7}}"#,
            r#"{"type":"complete"}"#,
            &deep,
        ] {
            transport(&[INIT, invalid], Step::Close(Close::INVALID));
        }
    }

    #[test]
    fn a_ping_is_answered_at_any_time_with_what_it_holds() {
        transport(&[r#"{"type":"ping"}"#], say(r#"{"type":"pong"}"#));
        let held = r#"{"type":"ping","payload":{"message":"keepalive", "n": [1.50]}}"#;
        transport(&[INIT, held], say(&held.replace("ping", "pong")));
        transport(&[INIT, r#"{"type":"pong","payload":{}}"#], Step::Nothing);
        transport(&[INIT, r#"{"type":"complete","id":"unknown"}"#], Step::Nothing);
    }

    #[test]
    fn the_older_subprotocol_tells_what_it_cannot_read_and_goes_on() {
        let legacy = |said: &[&str], expected| check(Subprotocol::Legacy, Endpoint::Graphql, said, expected);
        legacy(&[INIT, INIT], say(ACK));
        legacy(&[r#"{"type":"stop","id":"1"}"#], Step::Nothing);
        legacy(&[r#"{"type":"connection_terminate"}"#], Step::Close(Close::DONE));
        for invalid in ["x", "[]", SUBSCRIBE, r#"{"type":"start"}"#] {
            legacy(
                &[invalid],
                say(r#"{"type":"connection_error","payload":{"message":"the message cannot be read"}}"#),
            );
        }
    }

    #[test]
    fn reasons_fit_into_a_frame() {
        for close in [Close::GOING_AWAY, Close::PROTOCOL, Close::NO_TEXT, Close::TOO_BIG, Close::INIT_TIMEOUT]
        {
            assert!(close.reason.len() <= 123, "{close:?}");
        }
    }
}
