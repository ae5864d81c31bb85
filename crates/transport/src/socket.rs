//! The messages of both subprotocols, from text to text.
//!
//! **Invariant:** nothing here depends on the schema; an operation is run only after the login was taken, and its id is free again
//! when its last message is made.
//!
//! Sources: the protocols of the npm packages graphql-ws (`graphql-transport-ws`) and subscriptions-transport-ws (`graphql-ws`);
//! in Hasura's dialect its ways with both.

use crate::parameters::NamedRequest;
pub use crate::subprotocol::{Dialect, Subprotocol};
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::HashSet;
use weir_engine::engine;
use weir_engine::errors::error_text::{error_body, error_object, string};
use weir_language::json::{Json, JsonRef};

/// Brackets open at once in a message; a valid one has few.
const NESTING_MAX: u32 = 200;
/// Longest reason of a close frame, in bytes. Source: RFC 6455, section 5.5.
const REASON_BYTES_MAX: usize = 123;
/// A message that the older subprotocol cannot read.
const UNREADABLE: &str = r#"{"type":"connection_error","payload":{"message":"the message cannot be read"}}"#;
/// An operation before the login, over the older subprotocol.
const TOO_EARLY: &str = "start received before the connection is initialised";

/// Why a login fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginError {
    /// The payload cannot be read.
    Payload,
    /// The login is denied, with a message for the client.
    Denied(Cow<'static, str>),
}

/// Why a socket is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Close code.
    pub code: u16,
    /// Reason in the close frame.
    pub reason: Cow<'static, str>,
}

impl Close {
    const DONE: Self = Self::new(1000, "");
    /// The server drains.
    pub const GOING_AWAY: Self = Self::new(1001, "the server ends");
    /// The client breaks the protocol of WebSockets.
    pub const PROTOCOL: Self = Self::new(1002, "a frame breaks RFC 6455");
    /// A message that cannot be decoded.
    pub const NO_TEXT: Self = Self::new(1007, "a text is not UTF-8");
    /// A message beyond the limit.
    pub const TOO_BIG: Self = Self::new(1009, "a message is longer than socket_message_bytes_max");
    const LOGIN_FAILED: Self = Self::new(1011, "the login failed");
    /// A message that the subprotocol does not know.
    pub const INVALID: Self = Self::new(4400, "Invalid message received");
    const UNAUTHORIZED: Self = Self::new(4401, "Unauthorized");
    /// The login is refused.
    pub const FORBIDDEN: Self = Self::new(4403, "Forbidden");
    /// The login has come to its end.
    pub const EXPIRED: Self = Self::new(4403, "Forbidden: the session has ended");
    /// No login came in time.
    pub const INIT_TIMEOUT: Self = Self::new(4408, "Connection initialisation timeout");
    const INIT_TWICE: Self = Self::new(4429, "Too many initialisation requests");

    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    /// Another running operation has the id. The reason contains as much of the id as fits.
    fn duplicate_id(id: &str) -> Self {
        let front = "Subscriber for ";
        let rear = " already exists";
        let end = id.floor_char_boundary(REASON_BYTES_MAX - front.len() - rear.len());
        Self { code: 4409, reason: Cow::Owned(format!("{front}{}{rear}", &id[..end])) }
    }
}

/// An operation that a client starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The client's name for it.
    pub id: String,
    /// JSON: the members that the body of a POST has.
    pub payload: String,
}

/// The reaction to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// No reaction.
    Nothing,
    /// These messages are sent.
    Say(Vec<String>),
    /// The client logs in with a JSON object, or with an empty payload.
    LogIn(Option<String>),
    /// Starts the operation; it replaces a running one with the same id.
    Run(Operation),
    /// Stops the operation with this id.
    Stop(String),
    /// The socket is closed.
    Close(Close),
}

/// Outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran; fields may have failed.
    Executed,
    /// Only errors, before anything was executed.
    Refused,
}

impl Outcome {
    /// The outcome over a socket of an answer of the engine.
    pub fn of(outcome: engine::Outcome) -> Self {
        if outcome == engine::Outcome::Executed { Self::Executed } else { Self::Refused }
    }
}

/// Formats messages of one socket.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    /// The subprotocol that was chosen.
    pub subprotocol: Subprotocol,
    /// Dialect of the server.
    pub dialect: Dialect,
}

impl Talk {
    /// The messages for the answer `body` to the operation `id`: its last.
    pub fn answer(self, id: &str, outcome: Outcome, body: &[u8]) -> Vec<String> {
        let id = json_text(|out| string(out, id));
        let body = String::from_utf8_lossy(body);
        let complete = || complete(&id);
        let is_hasura = self.dialect == Dialect::Hasura;
        // Hasura sends no data beside errors of an executed operation.
        let is_error = outcome == Outcome::Refused || (is_hasura && !body.starts_with("{\"data\""));
        match self.subprotocol {
            Subprotocol::Transport if is_error => {
                let error = format!(r#"{{"type":"error","id":{id},"payload":{}}}"#, errors(&body));
                if is_hasura { vec![error, complete()] } else { vec![error] }
            }
            Subprotocol::Transport => {
                vec![format!(r#"{{"type":"next","id":{id},"payload":{body}}}"#), complete()]
            }
            Subprotocol::Legacy if is_hasura && outcome == Outcome::Refused => {
                vec![format!(r#"{{"type":"error","id":{id},"payload":{body}}}"#), complete()]
            }
            Subprotocol::Legacy => {
                vec![format!(r#"{{"type":"data","id":{id},"payload":{body}}}"#), complete()]
            }
        }
    }

    /// The last message of the operation `id`, whose answer came in parts.
    pub fn end(id: &str) -> String {
        complete(&json_text(|out| string(out, id)))
    }

    /// Message for a part of the answer to the operation `id`, which continues.
    pub fn part(self, id: &str, body: &[u8]) -> String {
        let id = json_text(|out| string(out, id));
        let body = String::from_utf8_lossy(body);
        format!(r#"{{"type":"{}","id":{id},"payload":{body}}}"#, self.kind_of_result())
    }

    /// Type and payload of the message for a result of a subscription, which continues.
    pub fn next(self, body: Bytes, has_errors: bool) -> (&'static str, Bytes) {
        let kind = self.kind_of_result();
        // Hasura sends no data beside errors of an executed operation.
        if has_errors && self.dialect == Dialect::Hasura && !body.starts_with(b"{\"data\"") {
            let alone = format!(r#"{{"errors":{}}}"#, errors(&String::from_utf8_lossy(&body)));
            return (kind, alone.into());
        }
        (kind, body)
    }

    const fn kind_of_result(self) -> &'static str {
        match self.subprotocol {
            Subprotocol::Transport => "next",
            Subprotocol::Legacy => "data",
        }
    }

    /// The messages for an operation of the older subprotocol that comes before the login.
    fn too_early(self, id: &str) -> Vec<String> {
        let (code, path) = match self.dialect {
            Dialect::Hasura => ("start-failed", Some("$")),
            Dialect::Standard => ("FORBIDDEN", None),
        };
        let id = json_text(|out| string(out, id));
        let error = json_text(|out| error_object(out, TOO_EARLY, code, path));
        vec![
            format!(r#"{{"type":"error","id":{id},"payload":{error}}}"#),
            format!(r#"{{"type":"complete","id":{id}}}"#),
        ]
    }
}

/// The message that ends the operation with the written `id`.
fn complete(id: &str) -> String {
    format!(r#"{{"type":"complete","id":{id}}}"#)
}

/// The list of errors in the answer `body`.
fn errors(body: &str) -> String {
    let tape = Json::parse(body.as_bytes(), NESTING_MAX).ok();
    let errors = tape.as_ref().and_then(|it| it.root().get("errors")).map(|it| it.raw().to_owned());
    errors.unwrap_or_else(|| "[]".to_owned())
}

/// Progress of the login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Login {
    Awaited,
    /// The login is being checked; the next message is read afterwards.
    Asked,
    Done,
}

/// One socket.
#[derive(Debug)]
pub struct SocketSession {
    talk: Talk,
    login: Login,
    running: HashSet<String>,
}

impl SocketSession {
    /// State of a socket before its first message.
    pub fn new(subprotocol: Subprotocol, dialect: Dialect) -> Self {
        Self { talk: Talk { subprotocol, dialect }, login: Login::Awaited, running: HashSet::new() }
    }

    /// True while `connection_init` is due. The older protocol has no deadline for it.
    pub fn awaits_init(&self) -> bool {
        self.login == Login::Awaited && self.talk.subprotocol == Subprotocol::Transport
    }

    /// Ends an operation after its last message: the id is free again.
    pub fn end_operation(&mut self, id: &str) {
        self.running.remove(id);
    }

    /// The messages for an operation beyond the limit.
    pub fn too_many(&mut self, id: &str) -> Vec<String> {
        self.end_operation(id);
        let message =
            "so many operations run over this socket that no other may begin: socket_operations_max";
        let path = (self.talk.dialect == Dialect::Hasura).then_some("$");
        self.talk.answer(id, Outcome::Refused, &error_body(message, "LIMIT_OPERATIONS", path))
    }

    /// The messages for a login, and the end if it failed.
    pub fn logged_in(&mut self, known: Result<(), LoginError>) -> (Vec<String>, Option<Close>) {
        let is_legacy = self.talk.subprotocol == Subprotocol::Legacy;
        match known {
            Ok(()) => {
                self.login = Login::Done;
                (vec![r#"{"type":"connection_ack"}"#.to_owned()], None)
            }
            Err(LoginError::Payload) if is_legacy => {
                self.login = Login::Awaited;
                (vec![UNREADABLE.to_owned()], None)
            }
            Err(LoginError::Payload) => (Vec::new(), Some(Close::INVALID)),
            Err(LoginError::Denied(message)) if is_legacy => {
                let words = json_text(|out| string(out, &message));
                let (payload, close) = match self.talk.dialect {
                    Dialect::Hasura => (words, Close::INVALID),
                    Dialect::Standard => (format!(r#"{{"message":{words}}}"#), Close::LOGIN_FAILED),
                };
                (vec![format!(r#"{{"type":"connection_error","payload":{payload}}}"#)], Some(close))
            }
            Err(LoginError::Denied(_)) => (Vec::new(), Some(Close::FORBIDDEN)),
        }
    }

    /// Takes a message.
    pub fn hear(&mut self, text: &[u8]) -> Step {
        let message = Json::parse(text, NESTING_MAX).ok();
        let root = message.as_ref().map(Json::root).filter(|it| it.is_object());
        let step = match self.talk.subprotocol {
            Subprotocol::Transport => root.and_then(|it| self.transport(it)),
            Subprotocol::Legacy => root.and_then(|it| self.legacy(it)),
        };
        step.unwrap_or_else(|| match self.talk.subprotocol {
            Subprotocol::Transport => Step::Close(Close::INVALID),
            Subprotocol::Legacy => say(UNREADABLE),
        })
    }

    /// A message of the newer subprotocol; nothing if it is invalid.
    fn transport(&mut self, message: JsonRef<'_>) -> Option<Step> {
        let payload = message.get("payload").filter(|it| !it.is_null());
        let is_object = payload.is_none_or(JsonRef::is_object);
        let step = match &*message.get("type")?.as_str()? {
            "connection_init" | "ping" | "pong" if !is_object => return None,
            "connection_init" if self.login != Login::Awaited => Step::Close(Close::INIT_TWICE),
            "connection_init" => self.log_in(payload),
            "ping" => match payload {
                None => say(r#"{"type":"pong"}"#),
                Some(payload) => say(&format!(r#"{{"type":"pong","payload":{}}}"#, payload.raw())),
            },
            "pong" => Step::Nothing,
            "subscribe" => {
                let id = id(message)?;
                is_subscribable(payload?).then_some(())?;
                match self.login {
                    Login::Awaited | Login::Asked => Step::Close(Close::UNAUTHORIZED),
                    Login::Done if self.running.contains(&id) => Step::Close(Close::duplicate_id(&id)),
                    Login::Done => self.begin(id, payload?),
                }
            }
            "complete" => self.stop(id(message)?),
            _ => return None,
        };
        Some(step)
    }

    /// A message of the older subprotocol; nothing if it is invalid.
    fn legacy(&mut self, message: JsonRef<'_>) -> Option<Step> {
        let payload = message.get("payload").filter(|it| !it.is_null());
        let step = match &*message.get("type")?.as_str()? {
            "connection_init" if payload.is_none_or(JsonRef::is_object) => self.log_in(payload),
            "start" => {
                let id = id(message)?;
                match self.login {
                    Login::Done => self.begin(id, payload.filter(|it| it.is_object())?),
                    Login::Awaited | Login::Asked => Step::Say(self.talk.too_early(&id)),
                }
            }
            "stop" => id(message).map_or(Step::Nothing, |it| self.stop(it)),
            "connection_terminate" => Step::Close(Close::DONE),
            _ => return None,
        };
        Some(step)
    }

    fn log_in(&mut self, payload: Option<JsonRef<'_>>) -> Step {
        self.login = Login::Asked;
        Step::LogIn(payload.map(|it| it.raw().to_owned()))
    }

    fn begin(&mut self, id: String, payload: JsonRef<'_>) -> Step {
        self.running.insert(id.clone());
        Step::Run(Operation { id, payload: payload.raw().to_owned() })
    }

    fn stop(&mut self, id: String) -> Step {
        if self.running.remove(&id) { Step::Stop(id) } else { Step::Nothing }
    }
}

fn say(text: &str) -> Step {
    Step::Say(vec![text.to_owned()])
}

/// The id of an operation: a text that is not empty.
fn id(message: JsonRef<'_>) -> Option<String> {
    message.get("id")?.as_str().filter(|it| !it.is_empty()).map(Cow::into_owned)
}

/// True for a payload with a text, or with the identifier of a document in place of one. The server knows the names of the members that may
/// hold an identifier, so that any text is taken for one here.
fn is_subscribable(payload: JsonRef<'_>) -> bool {
    match payload.get("query").filter(|it| !it.is_null()) {
        Some(text) => text.as_str().is_some(),
        None => {
            let is_named = |(name, value): (Cow<'_, str>, JsonRef<'_>)| {
                name != "operationName" && value.as_str().is_some()
            };
            NamedRequest::read(payload, &[]).is_ok_and(|it| it.id.is_some())
                || payload.members().any(is_named)
        }
    }
}

/// JSON text that `write` appends.
fn json_text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = r#"{"type":"connection_init"}"#;
    const ACK: &str = r#"{"type":"connection_ack"}"#;
    const SUBSCRIBE: &str = r#"{"type":"subscribe","id":"1","payload":{"query":"{ a }"}}"#;
    const DATA: &str = r#"{"data":{"a":1.50}}"#;
    const ERRORS: &str = r#"{"errors":[{"message":"m"}]}"#;

    /// Sends `said` one after another, each login taken, and compares with what the last of them gives.
    fn check(subprotocol: Subprotocol, dialect: Dialect, said: &[&str], expected: Step) {
        let mut session = SocketSession::new(subprotocol, dialect);
        let mut last = None;
        for text in said {
            last = Some(match session.hear(text.as_bytes()) {
                Step::LogIn(_) => Step::Say(session.logged_in(Ok(())).0),
                step => step,
            });
        }
        assert_eq!(last, Some(expected), "{said:?}");
    }

    fn transport(said: &[&str], expected: Step) {
        check(Subprotocol::Transport, Dialect::Standard, said, expected);
    }

    fn run(id: &str) -> Step {
        Step::Run(Operation { id: id.into(), payload: r#"{"query":"{ a }"}"#.into() })
    }

    #[test]
    fn an_operation_runs_under_its_id_until_it_ends() {
        transport(&[INIT, SUBSCRIBE], run("1"));
        let complete = r#"{"type":"complete","id":"1"}"#;
        transport(&[INIT, SUBSCRIBE, complete], Step::Stop("1".into()));
        transport(&[INIT, SUBSCRIBE, complete, complete], Step::Nothing);
        transport(&[INIT, SUBSCRIBE, complete, SUBSCRIBE], run("1"));
        let taken = Close { code: 4409, reason: "Subscriber for 1 already exists".into() };
        transport(&[INIT, SUBSCRIBE, SUBSCRIBE], Step::Close(taken));
        let start = SUBSCRIBE.replace("subscribe", "start");
        check(Subprotocol::Legacy, Dialect::Standard, &[INIT, &start, &start], run("1"));
        check(
            Subprotocol::Legacy,
            Dialect::Standard,
            &[INIT, &start, r#"{"type":"stop","id":"1"}"#],
            Step::Stop("1".into()),
        );
    }

    #[test]
    fn nothing_runs_before_the_login() {
        let start = SUBSCRIBE.replace("subscribe", "start");
        let said = |error: &str| {
            let error = format!(
                r#"{{"type":"error","id":"1","payload":{{"message":"{TOO_EARLY}","extensions":{{{error}}}}}}}"#
            );
            Step::Say(vec![error, r#"{"type":"complete","id":"1"}"#.into()])
        };
        check(Subprotocol::Legacy, Dialect::Standard, &[&start], said(r#""code":"FORBIDDEN""#));
        check(Subprotocol::Legacy, Dialect::Hasura, &[&start], said(r#""path":"$","code":"start-failed""#));
        let mut session = SocketSession::new(Subprotocol::Transport, Dialect::Standard);
        assert_eq!(session.hear(INIT.as_bytes()), Step::LogIn(None));
        assert_eq!(session.hear(SUBSCRIBE.as_bytes()), Step::Close(Close::UNAUTHORIZED));
    }

    #[test]
    fn a_login_that_fails_is_told_in_each_protocol_s_way() {
        let told = |subprotocol, dialect| {
            let mut session = SocketSession::new(subprotocol, dialect);
            let denied = LoginError::Denied("another secret".into());
            let (texts, close) = session.logged_in(Err(denied));
            (texts.concat(), close.map(|it| it.code))
        };
        assert_eq!(told(Subprotocol::Transport, Dialect::Standard), (String::new(), Some(4403)));
        let (text, code) = told(Subprotocol::Legacy, Dialect::Standard);
        assert!(
            text.starts_with(r#"{"type":"connection_error","payload":{"message":""#) && code == Some(1011),
            "{text}"
        );
        let (text, code) = told(Subprotocol::Legacy, Dialect::Hasura);
        assert!(
            text.starts_with(r#"{"type":"connection_error","payload":""#) && code == Some(4400),
            "{text}"
        );
    }

    #[test]
    fn an_answer_has_the_form_of_its_protocol() {
        let check = |subprotocol, dialect, outcome, body: &str, expected: &[&str]| {
            let found = Talk { subprotocol, dialect }.answer("1", outcome, body.as_bytes());
            let expected: Vec<String> = expected.iter().map(|it| it.replace("ID", r#""id":"1""#)).collect();
            assert_eq!(found, expected);
        };
        let complete = r#"{"type":"complete",ID}"#;
        for dialect in [Dialect::Standard, Dialect::Hasura] {
            let next = r#"{"type":"next",ID,"payload":{"data":{"a":1.50}}}"#;
            check(Subprotocol::Transport, dialect, Outcome::Executed, DATA, &[next, complete]);
            let data = next.replace("next", "data");
            check(Subprotocol::Legacy, dialect, Outcome::Executed, DATA, &[&data, complete]);
        }
        let error = r#"{"type":"error",ID,"payload":[{"message":"m"}]}"#;
        let data = r#"{"type":"data",ID,"payload":{"errors":[{"message":"m"}]}}"#;
        check(Subprotocol::Transport, Dialect::Standard, Outcome::Refused, ERRORS, &[error]);
        check(Subprotocol::Legacy, Dialect::Standard, Outcome::Refused, ERRORS, &[data, complete]);
        for outcome in [Outcome::Refused, Outcome::Executed] {
            check(Subprotocol::Transport, Dialect::Hasura, outcome, ERRORS, &[error, complete]);
        }
        check(Subprotocol::Legacy, Dialect::Hasura, Outcome::Executed, ERRORS, &[data, complete]);
        let error = r#"{"type":"error",ID,"payload":{"errors":[{"message":"m"}]}}"#;
        check(Subprotocol::Legacy, Dialect::Hasura, Outcome::Refused, ERRORS, &[error, complete]);
    }

    #[test]
    fn the_newer_subprotocol_closes_with_its_codes() {
        transport(&[INIT], say(ACK));
        transport(&[r#"{"type":"connection_init","payload":{"headers":{"a":"b"}}}"#], say(ACK));
        let mut session = SocketSession::new(Subprotocol::Transport, Dialect::Standard);
        let login = session.hear(br#"{"type":"connection_init","payload":{"headers":{"a":"b"}}}"#);
        assert_eq!(login, Step::LogIn(Some(r#"{"headers":{"a":"b"}}"#.into())));
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
        let legacy = |said: &[&str], expected| check(Subprotocol::Legacy, Dialect::Standard, said, expected);
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
        let taken = Close::duplicate_id(&"é".repeat(100));
        for close in
            [Close::GOING_AWAY, Close::PROTOCOL, Close::NO_TEXT, Close::TOO_BIG, Close::EXPIRED, taken]
        {
            assert!(close.reason.len() <= REASON_BYTES_MAX, "{close:?}");
        }
    }
}
