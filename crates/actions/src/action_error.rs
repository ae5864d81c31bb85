//! Errors of a call, in Hasura's words, and what of them callers see.
//!
//! **Invariant:** details of a call reach the admin alone.

use weir_engine::caller::ADMIN;
use weir_engine::source::{AnswerNotes, Caller, Extensions, FieldError, HandlerRefusal, Protocol};
use weir_language::string_value::write_json;

/// A call that gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActionError {
    pub(crate) message: String,
    /// Code over Hasura's protocol.
    pub(crate) code: ActionCode,
    /// Hasura's path.
    pub(crate) path: Box<str>,
    /// JSON that the handler gives as `extensions`, whatever it is.
    pub(crate) extensions: Option<Box<str>>,
    /// Details for the admin, JSON.
    pub(crate) internal: Option<Box<str>>,
    /// Status of a handler that refused.
    pub(crate) status: Option<u16>,
}

/// Code of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ActionCode {
    /// The handler's answer cannot be used: `unexpected`.
    Answer,
    /// The handler cannot be reached: `unexpected`.
    Unavailable,
    /// The handler's words of an error cannot be read: `parse-failed`.
    Unreadable,
    /// A variable of the environment is missing: `not-found`.
    NotFound,
    /// The handler refused, and perhaps says a code.
    Refused(Option<String>),
}

impl ActionCode {
    /// The stable code over `protocol`.
    fn text(&self, protocol: Protocol) -> &'static str {
        match (protocol, self) {
            (Protocol::Hasura, Self::Unreadable) => "parse-failed",
            (Protocol::Hasura, Self::NotFound) => "not-found",
            (Protocol::Hasura, Self::Answer | Self::Unavailable | Self::Refused(_)) => "unexpected",
            (Protocol::GraphqlOverHttp, Self::Answer | Self::Unreadable) => "SOURCE_ANSWER",
            (Protocol::GraphqlOverHttp, Self::Unavailable | Self::NotFound) => "SOURCE_UNAVAILABLE",
            (Protocol::GraphqlOverHttp, Self::Refused(_)) => "ACTION_REFUSED",
        }
    }
}

impl ActionError {
    pub(crate) fn new(code: ActionCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, code, path: "$".into(), extensions: None, internal: None, status: None }
    }

    /// Adds details, if there are any.
    pub(crate) fn with_internal(self, json: Option<String>) -> Self {
        Self { internal: json.map(Into::into), ..self }
    }

    /// The error in the log of asynchronous actions: JSON.
    pub(crate) fn into_stored(self) -> String {
        let code = self.code.text(Protocol::Hasura);
        let code = match self.code {
            ActionCode::Refused(own) => own.unwrap_or_else(|| code.to_owned()),
            _ => code.to_owned(),
        };
        let mut out = String::from("{\"path\":");
        for (key, text) in [("", &*self.path), (",\"error\":", &*self.message), (",\"code\":", &*code)] {
            out.push_str(key);
            write_json(text, &mut out);
        }
        for (key, json) in [("extensions", self.extensions), ("internal", self.internal)] {
            if let Some(json) = json {
                out.push_str(&format!(",\"{key}\":{json}"));
            }
        }
        out.push('}');
        out
    }

    /// The error as `caller` sees it, over `protocol`. A refusal is noted in `notes` with its status.
    pub(crate) fn for_caller(
        self,
        caller: &Caller,
        protocol: Protocol,
        shows_internal: bool,
        notes: Option<&AnswerNotes>,
    ) -> FieldError {
        let code = self.code.text(protocol);
        let own = match self.code {
            ActionCode::Refused(code) => code,
            _ => None,
        };
        if let Some((notes, status)) = notes.zip(self.status) {
            let code = own.as_deref().map(Into::into);
            let extensions = self.extensions.clone();
            let message = self.message.as_str().into();
            notes.add_refusal(HandlerRefusal { message, status, code, extensions });
        }
        let internal = self.internal.filter(|_| shows_internal && caller.role() == ADMIN);
        let extensions = match (self.extensions, own, internal) {
            (Some(whole), _, _) => Some(Extensions { members: whole, has_code: false, is_whole: true }),
            (None, None, None) => None,
            (None, own, internal) => {
                let mut members = String::from("\"code\":");
                write_json(own.as_deref().unwrap_or(code), &mut members);
                if let Some(internal) = internal {
                    members.push_str(",\"internal\":");
                    members.push_str(&internal);
                }
                Some(Extensions { members: members.into(), has_code: true, is_whole: false })
            }
        };
        FieldError {
            code,
            message: self.message.into(),
            hasura_path: Some(self.path),
            extensions: extensions.map(Box::new),
        }
    }
}
