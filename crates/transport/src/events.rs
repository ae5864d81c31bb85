//! Results as they come: server-sent events, and the parts of a multipart response.
//!
//! Sources: the protocol of the npm package graphql-sse; Apollo's multipart protocol for subscriptions.

use crate::media::{IncrementSpec, StreamForm};
use weir_engine::errors::error_text::{error_body, error_object, string};

/// The head of a part.
const PART: &str = "\r\ncontent-type: application/json\r\n\r\n";
/// Delimiter that ends a part. It is written right after the part, as clients hold a part back until its delimiter arrives.
const DELIMITER: &str = "\r\n--graphql";
/// The delimiter of the parts of one answer.
const PARTS_DELIMITER: &str = "\r\n---";

impl StreamForm {
    /// The header's value.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream; charset=utf-8",
            Self::Multipart => "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0",
            Self::Parts(IncrementSpec::Defer2022) => "multipart/mixed; boundary=\"-\"; deferSpec=20220824",
            Self::Parts(IncrementSpec::V01) => "multipart/mixed; boundary=\"-\"; incrementalSpec=v0.1",
            Self::Parts(IncrementSpec::V02) => "multipart/mixed; boundary=\"-\"; incrementalSpec=v0.2",
            Self::Parts(IncrementSpec::Unnamed) => "multipart/mixed; boundary=\"-\"",
        }
    }

    /// The first bytes.
    pub fn head(self) -> Vec<u8> {
        match self {
            Self::Events => Vec::new(),
            Self::Multipart => DELIMITER.into(),
            Self::Parts(_) => PARTS_DELIMITER.into(),
        }
    }

    /// Keep-alive; empty if clients would read it as a part.
    pub fn life(self) -> Vec<u8> {
        match self {
            Self::Events => b":\n\n".to_vec(),
            // Clients would read it as a part.
            Self::Parts(_) => Vec::new(),
            Self::Multipart => format!("{PART}{{}}{DELIMITER}").into(),
        }
    }

    /// One result.
    pub fn result(self, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(body.len() + 80);
        match self {
            Self::Events => {
                out.extend_from_slice(b"event: next\ndata: ");
                for (at, line) in body.split(|it| *it == b'\n').enumerate() {
                    out.extend_from_slice(if at > 0 { b"\ndata: " } else { b"" });
                    out.extend_from_slice(line);
                }
                out.extend_from_slice(b"\n\n");
            }
            Self::Multipart => {
                out.extend_from_slice(format!("{PART}{{\"payload\":").as_bytes());
                out.extend_from_slice(body);
                out.extend_from_slice(format!("}}{DELIMITER}").as_bytes());
            }
            Self::Parts(_) => {
                out.extend_from_slice(PART.as_bytes());
                out.extend_from_slice(body);
                out.extend_from_slice(PARTS_DELIMITER.as_bytes());
            }
        }
        out
    }

    /// Event that ends the session after an error of the transport.
    pub fn failure(self, message: &str, code: &str) -> Vec<u8> {
        let mut error = Vec::new();
        error_object(&mut error, message, code, None);
        let error = String::from_utf8_lossy(&error).into_owned();
        match self {
            Self::Events | Self::Parts(_) => self.result(format!("{{\"errors\":[{error}]}}").as_bytes()),
            Self::Multipart => format!("{PART}{{\"payload\":null,\"errors\":[{error}]}}{DELIMITER}").into(),
        }
    }

    /// The last bytes.
    pub fn end(self) -> Vec<u8> {
        match self {
            Self::Events => b"event: complete\ndata:\n\n".to_vec(),
            Self::Multipart | Self::Parts(_) => b"--\r\n".to_vec(),
        }
    }
}

/// The form of the results of one operation.
pub struct Framing {
    form: StreamForm,
    /// `{"id":"…"` where several operations share the stream.
    tag: Option<Vec<u8>>,
}

impl Framing {
    /// Form of an operation that has the stream to itself.
    pub const fn new(form: StreamForm) -> Self {
        Self { form, tag: None }
    }

    /// The form of the operation `id` in a stream of several.
    pub fn of_operation(id: &str) -> Self {
        let mut tag = b"{\"id\":".to_vec();
        string(&mut tag, id);
        Self { form: StreamForm::Events, tag: Some(tag) }
    }

    /// True if several operations share the stream.
    pub const fn is_shared(&self) -> bool {
        self.tag.is_some()
    }

    /// Keep-alive.
    pub fn life(&self) -> Vec<u8> {
        self.form.life()
    }

    /// One result.
    pub fn result(&self, body: &[u8]) -> Vec<u8> {
        match &self.tag {
            None => self.form.result(body),
            Some(tag) => self.form.result(&[tag, &b",\"payload\":"[..], body, b"}"].concat()),
        }
    }

    /// The end of the operation.
    pub fn end(&self) -> Vec<u8> {
        match &self.tag {
            None => self.form.end(),
            Some(tag) => [b"event: complete\ndata: ", &tag[..], b"}\n\n"].concat(),
        }
    }

    /// End of the operation after an error of the transport.
    pub fn failure(&self, message: &str, code: &str) -> Vec<u8> {
        match self.tag {
            None => self.form.failure(message, code),
            Some(_) => self.result(&error_body(message, code, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: StreamForm, body: &str, expected: &str) {
        assert_eq!(String::from_utf8(form.result(body.as_bytes())).expect("it is UTF-8"), expected);
    }

    #[test]
    fn a_result_is_one_event_or_one_part() {
        check(StreamForm::Events, r#"{"data":1}"#, "event: next\ndata: {\"data\":1}\n\n");
        check(StreamForm::Events, "{\n}", "event: next\ndata: {\ndata: }\n\n");
        check(
            StreamForm::Multipart,
            r#"{"data":1}"#,
            "\r\ncontent-type: application/json\r\n\r\n{\"payload\":{\"data\":1}}\r\n--graphql",
        );
    }
}
