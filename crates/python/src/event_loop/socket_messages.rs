//! The messages of GraphQL over WebSockets for Python servers, which have the socket.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};
use weir_engine::errors::error_text::error_body;
use weir_transport::socket::{
    Close, Dialect, LoginError, Operation, Outcome, SocketSession, Step, Subprotocol, Talk,
};

/// Messages to send, and the end of the socket: code and reason.
type Said = (Vec<String>, Option<(u16, String)>);

fn code_and_reason(close: Close) -> (u16, String) {
    (close.code, close.reason.into_owned())
}

/// One socket.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Socket {
    session: Mutex<SocketSession>,
    talk: Talk,
    /// Name of the subprotocol.
    #[pyo3(get)]
    subprotocol: &'static str,
}

impl Socket {
    fn session(&self) -> MutexGuard<'_, SocketSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Socket {
    /// Speaks the first of the subprotocols that the client offers; `None`: it offers none that is known.
    #[staticmethod]
    fn open(offered: Vec<String>) -> Option<Self> {
        let known = |it: &String| {
            [Subprotocol::Transport, Subprotocol::Legacy].into_iter().find(|known| known.name() == it.trim())
        };
        let subprotocol = offered.iter().find_map(known)?;
        let dialect = Dialect::Standard;
        Some(Self {
            session: Mutex::new(SocketSession::new(subprotocol, dialect)),
            talk: Talk { subprotocol, dialect },
            subprotocol: subprotocol.name(),
        })
    }

    /// True while the login is due.
    fn awaits_init(&self) -> bool {
        self.session().awaits_init()
    }

    /// The close of a client that does not log in.
    #[staticmethod]
    fn init_timeout() -> (u16, String) {
        code_and_reason(Close::INIT_TIMEOUT)
    }

    /// The close of a client that sends bytes where texts are due.
    #[staticmethod]
    fn invalid() -> (u16, String) {
        code_and_reason(Close::INVALID)
    }

    /// The reaction to a message: its kind, and what belongs to it.
    fn hear<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyTuple>> {
        let step = self.session().hear(text.as_bytes());
        match step {
            Step::Nothing => ("nothing",).into_pyobject(py),
            Step::Say(texts) => ("say", texts).into_pyobject(py),
            Step::LogIn(payload) => ("login", payload).into_pyobject(py),
            Step::Run(Operation { id, payload }) => ("run", id, payload).into_pyobject(py),
            Step::Stop(id) => ("stop", id).into_pyobject(py),
            Step::Close(close) => ("close", code_and_reason(close)).into_pyobject(py),
        }
    }

    /// Messages for a login, and the close if it failed: `denied` is the reason.
    #[pyo3(signature = (denied = None))]
    fn logged_in(&self, denied: Option<String>) -> Said {
        let known = denied.map_or(Ok(()), |it| Err(LoginError::Denied(it.into())));
        let (texts, close) = self.session().logged_in(known);
        (texts, close.map(code_and_reason))
    }

    /// The operation is over: its id is free.
    fn ended(&self, id: &str) {
        self.session().end_operation(id);
    }

    /// Messages for an operation beyond the limit.
    fn too_many(&self, id: &str) -> Vec<String> {
        self.session().too_many(id)
    }

    /// Messages for an operation that is refused by this answer.
    fn refused(&self, id: &str, body: &[u8]) -> Vec<String> {
        self.talk.answer(id, Outcome::Refused, body)
    }

    /// Messages for an operation that fails with this message and code.
    fn failed(&self, id: &str, message: &str, code: &str) -> Vec<String> {
        self.talk.answer(id, Outcome::Refused, &error_body(message, code, None))
    }

    /// The message for one result.
    fn result(&self, id: &str, body: &[u8]) -> String {
        self.talk.part(id, body)
    }

    /// The last message of an operation.
    #[staticmethod]
    fn complete(id: &str) -> String {
        Talk::end(id)
    }
}
