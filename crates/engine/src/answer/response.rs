//! The response to a request: its bytes, and what the transport, counters and caches have to know about it.

use super::unread::{Aborted, Receiver};
use crate::caching::cache_control::CacheControl;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use weir_language::ast::OperationKind;

/// Outcome of a request, as far as the transport's status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed: there is a `data` member, perhaps null, perhaps with errors beside it.
    Executed,
    /// The request failed before execution: the response has only `errors`.
    Refused,
    /// An operation of this kind came by a transport that only takes queries.
    MethodNotAllowed(OperationKind),
    /// Refused, as a subscription has many results and [`Engine::execute`](crate::engine::Engine::execute) gives one: see [`crate::live`].
    Subscription,
}

/// Capacity of the sources during a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Enough.
    Enough,
    /// One had nothing: the client should wait before it asks again.
    Exhausted,
}

/// The answer.
#[derive(Debug)]
pub struct Response {
    /// For the transport's status.
    pub outcome: Outcome,
    /// For the transport's advice when to come again.
    pub capacity: Capacity,
    /// Lifetime of the answer, if known.
    pub lifetime: Option<Lifetime>,
    /// The JSON.
    pub body: Body,
    /// Duration of each stage.
    pub timing: Timing,
    /// Token of the log positions after its changes ([`crate::request::consistency`]).
    pub position: Option<String>,
    /// Number of the operation, if it was executed and an observer knows it.
    pub operation: Option<u64>,
}

impl Response {
    /// Facts of it for counters and logs.
    pub fn execution(&self) -> Execution {
        let is_complete = matches!(self.body, Body::Whole(_) | Body::Shared(_));
        Execution {
            operation: self.operation,
            timing: self.timing,
            kept: self.lifetime.as_ref().map(|it| it.kept),
            has_errors: is_complete && !self.body.is_sound(),
            code: self.body.first_code().filter(|_| is_complete).map(Into::into),
            path: self.body.first_path().filter(|_| is_complete).map(Into::into),
        }
    }
}

/// An executed operation, for counters and logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// Number that an observer gave the operation.
    pub operation: Option<u64>,
    /// Duration of each stage.
    pub timing: Timing,
    /// Origin of an answer with a lifetime.
    pub kept: Option<Kept>,
    /// True if the answer has errors. Those of an answer that is streamed are not seen.
    pub has_errors: bool,
    /// Code of the first error.
    pub code: Option<Box<str>>,
    /// Response names that lead to the first error, with dots between them and without positions in lists.
    pub path: Option<Box<str>>,
}

/// Cache metadata of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// How long the answer stays valid; zero if a part of it failed.
    pub cache_control: CacheControl,
    /// True if the operation set the lifetime.
    pub wished: bool,
    /// Headers by which the answer varies, for `Vary`: names with commas, or nothing.
    pub vary: Arc<str>,
    /// Session variables and claims that the answer depends on, by the names of [`crate::source::PreparedFetch::reads_claims`]: a server
    /// that takes some of them from headers has to name these headers too.
    pub claims: Arc<[Box<str>]>,
    /// Origin of the answer.
    pub kept: Kept,
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was kept whole.
    Hit,
    /// It was made for an equal request in flight.
    Joined,
    /// It was made for this request.
    Made,
}

/// Longest reported error code, in bytes.
const CODE_BYTES_MAX: usize = 64;
/// Longest reported path of an error, in bytes.
const PATH_BYTES_MAX: usize = 256;

/// The bytes of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// All of it, shared with others.
    Shared(Bytes),
    /// The bytes that are ready and the channel for the rest. A channel closed by an `Err` means: abort the connection.
    Stream {
        /// First bytes.
        head: Vec<u8>,
        /// Then these.
        rest: Receiver<Result<Vec<u8>, Aborted>>,
    },
    /// Several results, each a JSON object of its own.
    Increments {
        /// The first.
        first: Vec<u8>,
        /// Later results.
        rest: Receiver<Result<Vec<u8>, Aborted>>,
    },
}

impl Body {
    /// Code of the first error. Known errors come first.
    fn first_code(&self) -> Option<&str> {
        const MEMBER: &str = "\"code\":\"";
        let errors = self.errors()?;
        // Quotes within a text have a backslash before them, so this is the member and no message.
        let at = errors.windows(MEMBER.len()).position(|it| it == MEMBER.as_bytes())? + MEMBER.len();
        let code = errors[at..].split(|it| *it == b'"').next()?;
        let is_code = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
        let is_fit = code.len() <= CODE_BYTES_MAX && code.iter().all(is_code);
        std::str::from_utf8(code).ok().filter(|_| is_fit)
    }

    /// The path of the first error, as GraphQL or as Hasura writes it.
    fn first_path(&self) -> Option<String> {
        const MEMBER: &[u8] = b"\"path\":";
        let errors = self.errors()?;
        let find = |member: &[u8]| errors.windows(member.len()).position(|it| it == member);
        // The code stands behind the path, so a path behind it is that of another error; Hasura's stands before it, too.
        let at = find(MEMBER).filter(|at| find(b"\"code\":").is_none_or(|code| *at < code))?;
        let rest = &errors[at + MEMBER.len()..];
        let last = if rest.starts_with(b"\"") { b'"' } else { b']' };
        let end = rest.iter().skip(1).position(|it| *it == last).filter(|it| *it <= PATH_BYTES_MAX)?;
        let text = std::str::from_utf8(&rest[1..=end]).ok()?;
        let names = text.split(|it: char| !(it == '_' || it.is_ascii_alphanumeric()));
        let is_name = |it: &&str| it.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic());
        let names: Vec<&str> = names.filter(is_name).filter(|it| *it != "selectionSet").collect();
        Some(names.join(".")).filter(|it| !it.is_empty())
    }

    /// The bytes behind the beginning of an answer with errors, which come first.
    fn errors(&self) -> Option<&[u8]> {
        let bytes: &[u8] = match self {
            Self::Whole(bytes) => bytes,
            Self::Shared(bytes) => bytes,
            Self::Stream { .. } | Self::Increments { .. } => return None,
        };
        bytes.strip_prefix(b"{\"errors\":")
    }

    /// True if the answer is complete and without errors: known errors come first.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Shared(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Stream { .. } | Self::Increments { .. } => false,
        }
    }
}

/// Time per stage. `plan` stages are zero on a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// True if the plan was in the cache.
    pub plan_hit: bool,
    /// Time to lex and parse.
    pub parse: Duration,
    /// Validation.
    pub validate: Duration,
    /// Time to plan and prepare nodes.
    pub plan: Duration,
    /// Time to coerce variables.
    pub bind: Duration,
    /// Time to wait for the sources and write their answers.
    pub execute: Duration,
    /// Fetches from sources; 0 without an observer.
    pub fetches: u32,
    /// Time for which the request held its thread in the engine; set by who polls it.
    pub busy: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_its_code_and_the_names_that_lead_to_it() {
        for (errors, code, path) in [
            (
                r#"[{"message":"\"path\":[\"no\"]","path":["boats",3,"crew","name"],"extensions":{"code":"A_B"}}]"#,
                Some("A_B"),
                Some("boats.crew.name"),
            ),
            (
                r#"[{"message":"x","extensions":{"code":"A"}},{"path":["other"],"extensions":{"code":"B"}}]"#,
                Some("A"),
                None,
            ),
            (
                r#"[{"message":"x","extensions":{"path":"$.selectionSet.boat.args.objects[0].name","code":"c-d"}}]"#,
                Some("c-d"),
                Some("boat.args.objects.name"),
            ),
            (r#"[{"message":"x","extensions":{"path":"$","code":"c-d"}}]"#, Some("c-d"), None),
            (r#"[{"message":"x"}]"#, None, None),
        ] {
            let body = Body::Whole(format!("{{\"errors\":{errors},\"data\":null}}").into_bytes());
            assert_eq!((body.first_code(), body.first_path().as_deref()), (code, path), "{errors}");
        }
        assert_eq!(Body::Whole(br#"{"data":{"path":["a"]}}"#.to_vec()).first_path(), None);
    }
}
