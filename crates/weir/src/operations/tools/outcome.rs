//! The result of a tool: the data of an operation, a text, or what went wrong in words that a model can act on.
//!
//! **Invariant:** data are the bytes that the engine wrote, and no more of them are kept than `answer_bytes_max`.

use std::fmt::Write;
use weir_engine::engine::{Body, Outcome, Response};
use weir_engine::errors::error_text::string;
use weir_language::json::{Json, JsonRef};

/// Errors that one result tells.
const ERRORS_MAX: usize = 10;

/// The result of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolOutcome {
    /// Data as JSON.
    Data(String),
    Text(String),
    /// Message of a failure.
    Failed(String),
}

impl ToolOutcome {
    pub(super) const fn is_error(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Appends the members of a result. `is_structured`: data stand beside their text, as clients of tools with an output schema expect.
    pub(super) fn write(&self, is_structured: bool, out: &mut Vec<u8>) {
        let (Self::Data(text) | Self::Text(text) | Self::Failed(text)) = self;
        out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
        string(out, text);
        out.extend_from_slice(b"}]");
        if let Self::Data(data) = self
            && is_structured
        {
            out.extend_from_slice(b",\"structuredContent\":");
            out.extend_from_slice(data.as_bytes());
        }
        out.extend_from_slice(if self.is_error() { b",\"isError\":true" } else { b",\"isError\":false" });
    }
}

/// The result of an operation whose answer is `response`.
pub(super) async fn read_response(response: Response, bytes_max: u32) -> ToolOutcome {
    match response.outcome {
        Outcome::MethodNotAllowed(_) => return ToolOutcome::Failed("only queries are run here".into()),
        Outcome::Subscription => {
            return ToolOutcome::Failed(
                "a subscription has many answers, and a tool one: send a query".into(),
            );
        }
        Outcome::Executed | Outcome::Refused => {}
    }
    let too_long = || {
        let words = format!(
            "the answer is longer than {bytes_max} bytes: ask for fewer rows (a smaller limit, a narrower filter, the next page by an \
             offset or a cursor) or fewer fields"
        );
        ToolOutcome::Failed(words)
    };
    let bytes = match collect(response.body, bytes_max as usize).await {
        Collected::Whole(bytes) => bytes,
        Collected::TooLong => return too_long(),
        Collected::CutOff => {
            return ToolOutcome::Failed("a source failed in the middle of the answer".into());
        }
    };
    match Json::parse(&bytes, u32::MAX) {
        Ok(answer) => match read_answer(answer.root()) {
            ToolOutcome::Data(data) if data.len() > bytes_max as usize => too_long(),
            outcome => outcome,
        },
        Err(_) => ToolOutcome::Failed("the answer cannot be read".into()),
    }
}

/// The bytes of an answer.
enum Collected {
    Whole(Vec<u8>),
    TooLong,
    CutOff,
}

/// Envelope of the data, in bytes.
const ENVELOPE_BYTES: usize = 64;

async fn collect(body: Body, bytes_max: usize) -> Collected {
    let bytes_max = bytes_max.saturating_add(ENVELOPE_BYTES);
    let (mut all, rest) = match body {
        Body::Whole(bytes) => (bytes, None),
        Body::Shared(bytes) => (bytes.into(), None),
        Body::Stream { head, rest } | Body::Increments { first: head, rest } => (head, Some(rest)),
    };
    if let Some(mut rest) = rest {
        // A stream is read no further once the answer is too large.
        while all.len() <= bytes_max
            && let Some(chunk) = rest.recv().await
        {
            match chunk {
                Ok(chunk) => all.extend_from_slice(&chunk),
                Err(_) => return Collected::CutOff,
            }
        }
    }
    if all.len() > bytes_max { Collected::TooLong } else { Collected::Whole(all) }
}

fn read_answer(answer: JsonRef<'_>) -> ToolOutcome {
    let data = answer.get("data").filter(|it| !it.is_null());
    let Some(errors) = answer.get("errors") else {
        return ToolOutcome::Data(data.map_or("{}", JsonRef::raw).to_owned());
    };
    let mut words = String::new();
    for error in errors.items().take(ERRORS_MAX) {
        let text = |it: Option<JsonRef<'_>>| it.and_then(|it| it.as_str()).unwrap_or_default().into_owned();
        let extensions = error.get("extensions");
        // Writing to a string cannot fail.
        let _ = write!(words, "Error: {}", text(error.get("message")));
        let code = text(extensions.and_then(|it| it.get("code")));
        if !code.is_empty() {
            let _ = write!(words, " [{code}]");
        }
        if let Some(path) = error.get("path") {
            let _ = write!(words, " at {}", path.raw());
        }
        words.push('\n');
    }
    let count = errors.items().count();
    if count > ERRORS_MAX {
        let _ = writeln!(words, "and {} more errors", count - ERRORS_MAX);
    }
    if let Some(data) = data {
        let _ = write!(words, "Data beside the errors: {}", data.raw());
    }
    ToolOutcome::Failed(words.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: ToolOutcome) {
        let tape = Json::parse(answer.as_bytes(), 20).expect("it is JSON");
        assert_eq!(read_answer(tape.root()), expected, "{answer}");
    }

    #[test]
    fn data_keep_their_bytes_and_errors_are_words() {
        let failed = |words: &str| ToolOutcome::Failed(words.into());
        check(
            r#"{"data":{"a":1.10,"b":9007199254740993}}"#,
            ToolOutcome::Data(r#"{"a":1.10,"b":9007199254740993}"#.into()),
        );
        check(
            r#"{"errors":[{"message":"m","path":["a",0],"extensions":{"code":"C"}},{"message":"n"}],"data":{"a":null}}"#,
            failed("Error: m [C] at [\"a\",0]\nError: n\nData beside the errors: {\"a\":null}"),
        );
        check(r#"{"errors":[{"message":"m"}],"data":null}"#, failed("Error: m"));
    }

    #[test]
    fn a_result_has_its_data_twice_and_errors_have_none() {
        let written = |outcome: &ToolOutcome, is_structured| {
            let mut out = Vec::new();
            outcome.write(is_structured, &mut out);
            String::from_utf8(out).expect("it is UTF-8")
        };
        let data = ToolOutcome::Data(r#"{"a":1}"#.into());
        assert_eq!(
            written(&data, true),
            r#""content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1},"isError":false"#
        );
        assert_eq!(
            written(&data, false),
            r#""content":[{"type":"text","text":"{\"a\":1}"}],"isError":false"#
        );
        let failed = ToolOutcome::Failed("no".into());
        assert_eq!(written(&failed, true), r#""content":[{"type":"text","text":"no"}],"isError":true"#);
    }
}
