//! Whole servers as sources: GraphQL and gRPC answer in the shape of what was selected, as JSON, so that nothing has to be mapped.
//!
//! Shared parts of both: arguments become JSON, JSON becomes columns, and some headers of the client are forwarded.

pub(crate) mod answer_columns;
pub(crate) mod answer_keeper;
pub(crate) mod argument_json;
mod audience;
mod client_headers;
mod made_header;
mod naming;
mod remote_schema;

use crate::cache::Cache;
use crate::call::{Ask, CallError, CallPolicy, Failure, Peer, Protocol, TlsFiles, milliseconds_left, trace};
use crate::error_report::CallLabel;
use crate::sdl::CacheRule;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Uri};
use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::Caller;
use weir_engine::source::{FetchInput, FieldError, Headers, SourceError};

pub use argument_json::Arguments;
pub use audience::Audience;
pub(crate) use audience::{Shown, find as find_guarded};
pub use client_headers::{IGNORED_HEADERS, collect_forwarded_headers, is_of_session};
pub use made_header::MadeHeader;
pub use naming::{NameRule, Naming};
pub use remote_schema::{
    FieldLookup, InheritedSdl, KEY_PREFIX, LookupKey, LookupStep, RemoteSchema, RoleSdl,
};

/// A remote server that resolves all of its types.
#[derive(Clone, Debug)]
pub struct Server {
    /// Name of the source.
    pub name: Box<str>,
    /// URL of the server.
    pub url: Uri,
    /// Files of certificates.
    pub tls: TlsFiles,
    /// Prefix of the server's types and root fields; may be empty.
    pub prefix: Box<str>,
    /// Headers of every call.
    pub headers: Vec<ForwardedHeader>,
    pub protocol: Protocol,
    /// Limits and retries.
    pub policy: CallPolicy,
    /// Name of the header with the time left, in milliseconds.
    pub deadline_header: Option<HeaderName>,
    /// Cache of answers.
    pub cache: Arc<Cache>,
    /// Cache rule, in addition to the answers' headers.
    pub cache_rule: Option<CacheRule>,
    /// Tag that invalidates all answers of the server.
    pub tag: Arc<str>,
    /// Tags of types: name in Weir, and tag. A tag invalidates the answers whose selection has the type.
    pub type_tags: Vec<(Box<str>, Arc<str>)>,
    /// Callers who see the server; `None`: only the admin.
    pub audience: Option<Audience>,
    /// Differences of a remote schema of Hasura's metadata; `None` for other servers.
    pub remote: Option<Arc<RemoteSchema>>,
}

/// A header that is sent with every call.
#[derive(Clone, Debug)]
pub struct ForwardedHeader {
    pub name: HeaderName,
    /// Value of the header.
    pub value: ForwardedValue,
}

/// Origin of a header's value.
#[derive(Clone, Debug)]
pub enum ForwardedValue {
    /// The value of this client header (lower case); not sent if it is absent.
    From(Box<str>),
    /// A constant.
    Fixed(HeaderValue),
    /// A template of settings and authenticated claims; not sent if a value is missing.
    Made(MadeHeader),
}

/// Reason why a server cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The server is unreachable; a retry may help.
    Unavailable(String),
    /// The server or its description is invalid.
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
    /// Client headers that are forwarded.
    pub(crate) fn reads_headers(&self) -> Vec<Box<str>> {
        let from = |it: &ForwardedHeader| match &it.value {
            ForwardedValue::From(name) => Some(name.clone()),
            ForwardedValue::Fixed(_) | ForwardedValue::Made(_) => None,
        };
        self.headers.iter().filter_map(from).collect()
    }

    /// Session variables and claims used in headers.
    pub(crate) fn reads_claims(&self) -> Vec<Box<str>> {
        let made = self.headers.iter().filter_map(|it| match &it.value {
            ForwardedValue::Made(made) => Some(made.reads_claims()),
            ForwardedValue::From(_) | ForwardedValue::Fixed(_) => None,
        });
        let mut names: Vec<Box<str>> = made.flatten().collect();
        names.extend(self.remote.iter().flat_map(|_| RemoteSchema::reads_claims()));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Refuses a caller whose claims are not valid in a header, before any lookup.
    /// # Errors
    /// The message for clients.
    pub(crate) fn check_caller(&self, caller: &Caller) -> Result<(), FieldError> {
        let is_unfit = |header: &ForwardedHeader| matches!(&header.value, ForwardedValue::Made(made) if made.value(caller).is_err());
        if self.headers.iter().any(is_unfit) {
            Err(client_error("BAD_USER_INPUT", "A value for a header holds control characters."))
        } else {
            Ok(())
        }
    }

    /// Appends the headers for `client` and `caller`. Values that are not valid in a header are dropped.
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
        if let Some(remote) = &self.remote {
            remote.pass(client, caller, sent);
        }
    }

    /// Builds a POST to `path` with `body`, for the fetch of `input`.
    pub(crate) fn post(
        &self,
        path: http::uri::PathAndQuery,
        body: Bytes,
        own: &[(HeaderName, HeaderValue)],
        input: Option<&FetchInput<'_>>,
    ) -> Ask {
        let mut headers = own.to_vec();
        let mut span = None;
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
            peer: if self.remote.is_some() { Peer::Webhook } else { Peer::Service },
        }
    }
}

pub(crate) fn client_error(code: &'static str, message: &str) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}

/// Logs a call without an answer, and returns the error of its fields.
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
            SourceError::Rejected { error: client_error(error.code(), error.for_client()), field: None }
        }
    }
}

/// The error for an answer that cannot be parsed.
pub(crate) fn unreadable() -> SourceError {
    SourceError::Rejected {
        error: client_error("SOURCE_ANSWER", "The source's answer cannot be read."),
        field: None,
    }
}
