//! Whole servers as sources: GraphQL and gRPC answer in the shape of what was selected, as JSON, so that nothing has to be mapped.
//!
//! Shared parts of both: arguments become JSON, JSON becomes columns, and some headers of the client are forwarded.

pub(crate) mod arguments;
mod audience;
pub(crate) mod columns;
pub(crate) mod keep;
mod made_header;

use crate::cache::Cache;
use crate::call::{Ask, CallError, CallPolicy, Failure, Protocol, milliseconds_left, trace};
use crate::error_report::CallLabel;
use crate::sdl::CacheRule;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Uri};
use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::Caller;
use weir_engine::source::{FetchInput, FieldError, Headers, SourceError};

pub use audience::Audience;
pub(crate) use audience::{Shown, find as find_guarded};
pub use made_header::MadeHeader;

/// A server that answers for all of its types.
#[derive(Clone, Debug)]
pub struct Server {
    /// Name of the source.
    pub name: Box<str>,
    /// Its address, with its path.
    pub url: Uri,
    /// A file of certificates that is trusted besides the system's.
    pub ca: Option<std::path::PathBuf>,
    /// Prefix of its types and root fields, or empty.
    pub prefix: Box<str>,
    /// Headers of every call.
    pub headers: Vec<ForwardedHeader>,
    /// Protocol.
    pub protocol: Protocol,
    /// Limits and retries.
    pub policy: CallPolicy,
    /// The header that tells it how many milliseconds it has.
    pub deadline_header: Option<HeaderName>,
    /// Cache of answers.
    pub cache: Arc<Cache>,
    /// Caching rule beside the answers' headers.
    pub cache_rule: Option<CacheRule>,
    /// Tag that invalidates all of them.
    pub tag: Arc<str>,
    /// Tags of types, which invalidate the answers that show a type: its name in Weir, and the tag.
    pub type_tags: Vec<(Box<str>, Arc<str>)>,
    /// Callers who see it; `None`: the admin alone.
    pub audience: Option<Audience>,
}

/// A header that is sent with every call.
#[derive(Clone, Debug)]
pub struct ForwardedHeader {
    /// Its name.
    pub name: HeaderName,
    /// Its value.
    pub value: ForwardedValue,
}

/// Origin of a header's value.
#[derive(Clone, Debug)]
pub enum ForwardedValue {
    /// The client's header of this name, in lower case; without it nothing is sent.
    From(Box<str>),
    /// Always this.
    Fixed(HeaderValue),
    /// Made of settings and what authentication vouches for; without a value nothing is sent.
    Made(MadeHeader),
}

/// Why a server cannot be a source.
#[derive(Debug)]
pub enum OpenError {
    /// It cannot be asked now. Trying again may help.
    Unavailable(String),
    /// It, or what describes it, cannot be used.
    Unfit(String),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unavailable(words) | Self::Unfit(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for OpenError {}

impl Server {
    /// The names of the client's headers that are passed on.
    pub(crate) fn reads_headers(&self) -> Vec<Box<str>> {
        let from = |it: &ForwardedHeader| match &it.value {
            ForwardedValue::From(name) => Some(name.clone()),
            ForwardedValue::Fixed(_) | ForwardedValue::Made(_) => None,
        };
        self.headers.iter().filter_map(from).collect()
    }

    /// The names of the session variables and claims that its headers are made of.
    pub(crate) fn reads_claims(&self) -> Vec<Box<str>> {
        let made = self.headers.iter().filter_map(|it| match &it.value {
            ForwardedValue::Made(made) => Some(made.reads_claims()),
            ForwardedValue::From(_) | ForwardedValue::Fixed(_) => None,
        });
        let mut names: Vec<Box<str>> = made.flatten().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Refuses a caller whose claims cannot stand in a header, before anything is looked for.
    /// # Errors
    /// In words for clients.
    pub(crate) fn check_caller(&self, caller: &Caller) -> Result<(), FieldError> {
        let is_unfit = |header: &ForwardedHeader| matches!(&header.value, ForwardedValue::Made(made) if made.value(caller).is_err());
        match self.headers.iter().any(is_unfit) {
            true => Err(failed("BAD_USER_INPUT", "A value for a header holds control characters.")),
            false => Ok(()),
        }
    }

    /// Appends what is passed on of `client` and `caller`. A value that no header can hold is left out.
    pub(crate) fn pass(
        &self,
        client: &dyn Headers,
        caller: Option<&Caller>,
        sent: &mut Vec<(HeaderName, HeaderValue)>,
    ) {
        for header in &self.headers {
            match &header.value {
                ForwardedValue::Fixed(value) => sent.push((header.name.clone(), value.clone())),
                ForwardedValue::Made(made) => {
                    let value = caller.and_then(|it| made.value(it).ok().flatten());
                    sent.extend(value.map(|it| (header.name.clone(), it)));
                }
                ForwardedValue::From(name) => client.each(name, &mut |value| {
                    if let Ok(value) = HeaderValue::from_bytes(value) {
                        sent.push((header.name.clone(), value));
                    }
                }),
            }
        }
    }

    /// A POST to `path` with `body`, for the request of `input`.
    pub(crate) fn post(
        &self,
        path: http::uri::PathAndQuery,
        body: Bytes,
        own: &[(HeaderName, HeaderValue)],
        input: Option<&FetchInput<'_>>,
    ) -> Ask {
        let (mut headers, mut span) = (own.to_vec(), None);
        if let Some(input) = input {
            self.pass(input.headers, Some(input.caller), &mut headers);
            let template = || path.path().to_owned();
            span = trace::push(input.span, input.headers, &mut headers, template);
            if let Some(name) = &self.deadline_header {
                headers.push((name.clone(), milliseconds_left(input.deadline, self.policy.timeout).into()));
            }
        }
        Ask {
            method: http::Method::POST,
            path_and_query: path,
            headers,
            body,
            deadline: input.map_or_else(|| Instant::now() + self.policy.timeout, |it| it.deadline),
            timeout: None,
            idempotent: true,
            span,
        }
    }
}

/// An error in words for clients.
pub(crate) fn failed(code: &'static str, message: &str) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}

/// A call without an answer, as all fields that it was to bring have it.
pub(crate) fn no_answer(called: CallLabel<'_>, failure: Failure) -> SourceError {
    called.no_answer(&failure);
    let error = failure.error;
    match &error {
        CallError::Timeout => SourceError::Timeout,
        CallError::Busy => SourceError::Busy,
        CallError::Broken | CallError::Unavailable(..) => SourceError::Unavailable(Box::new(error)),
        CallError::TooLarge { .. }
        | CallError::Coded(_)
        | CallError::Packed(_)
        | CallError::Redirected
        | CallError::Unmade { .. } => {
            SourceError::Rejected { error: failed(error.code(), error.for_client()), field: None }
        }
    }
}

/// An answer that is none.
pub(crate) fn unreadable() -> SourceError {
    SourceError::Rejected {
        error: failed("SOURCE_ANSWER", "The source's answer cannot be read."),
        field: None,
    }
}
