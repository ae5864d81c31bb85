//! Errors of resolvers as values: message and code for the client, or a cause that a mapping of the schema translates.
//!
//! A resolver returns [`ResolveError`] for one object or for all; `?` makes one of any error. A cause is never shown to the client:
//! without a mapping ([`crate::SchemaBuilder::map_errors`]) the client gets `Internal error.` and the log gets the cause.
//!
//! **Cost:** nothing until something fails.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use weir_engine::memory::{AnswerError, ProgramError, RecordHost};
use weir_engine::source::{Extensions, FieldError};
use weir_language::json::quote;

/// Code of an error that a resolver gives without one.
pub const RESOLVER_FAILED: &str = "RESOLVER_FAILED";

/// Code of an argument that does not fit.
pub(crate) const BAD_USER_INPUT: &str = "BAD_USER_INPUT";

/// Code of a field that its guard refuses.
pub(crate) const ACCESS_DENIED: &str = "ACCESS_DENIED";

/// Code of a bug: in a resolver, or in Weir.
pub(crate) const INTERNAL: &str = "INTERNAL";

/// Why a resolver has no value.
///
/// ```
/// use weir_runtime::ResolveError;
/// let error = ResolveError::new("the shop is closed").code("CLOSED").with_json("opensAt", "9");
/// assert_eq!(error.message(), "the shop is closed");
/// let error: ResolveError = "x".parse::<i32>().unwrap_err().into();
/// assert_eq!(error.message(), "invalid digit found in string");
/// ```
#[derive(Clone, Debug)]
pub struct ResolveError {
    message: Box<str>,
    code: Cow<'static, str>,
    /// Members of `extensions`, as JSON, each with a comma before it.
    members: String,
    cause: Option<Arc<ProgramError>>,
}

impl ResolveError {
    /// An error with a message for the client.
    #[must_use]
    pub fn new(message: impl Into<Box<str>>) -> Self {
        let code = Cow::Borrowed(RESOLVER_FAILED);
        Self { message: message.into(), code, members: String::new(), cause: None }
    }
    /// Sets `extensions.code`.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }
    /// Adds a text to `extensions`.
    #[must_use]
    pub fn with_text(mut self, name: &str, text: &str) -> Self {
        self.member(name);
        quote(text, &mut self.members);
        self
    }
    /// Adds JSON to `extensions`; the JSON is not checked.
    #[must_use]
    pub fn with_json(mut self, name: &str, json: &str) -> Self {
        self.member(name);
        self.members.push_str(json);
        self
    }
    /// Message for the client; a message of the cause, if there is one, is only logged.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
    /// The program's error from which it was made.
    #[must_use]
    pub fn cause(&self) -> Option<&ProgramError> {
        self.cause.as_deref()
    }

    /// The code of [`FieldError`] for those who count failures: codes that are made while running are one.
    pub(crate) fn stable_code(&self) -> &'static str {
        match (&self.cause, &self.code) {
            (Some(_), _) => INTERNAL,
            (None, Cow::Borrowed(code)) => code,
            (None, Cow::Owned(_)) => RESOLVER_FAILED,
        }
    }

    fn member(&mut self, name: &str) {
        self.members.push(',');
        quote(name, &mut self.members);
        self.members.push(':');
    }

    /// Error for the client.
    pub(crate) fn to_field_error(&self) -> FieldError {
        let (code, own) = match &self.code {
            Cow::Borrowed(code) => (*code, String::new()),
            Cow::Owned(code) => {
                let mut own = String::from(",\"code\":");
                quote(code, &mut own);
                (RESOLVER_FAILED, own)
            }
        };
        let has_code = !own.is_empty();
        let members = own + &self.members;
        let extensions = members
            .strip_prefix(',')
            .map(|members| Box::new(Extensions { members: members.into(), has_code, is_whole: false }));
        FieldError { code, message: self.message.clone(), hasura_path: None, extensions }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ResolveError {
    fn from(cause: E) -> Self {
        let message = cause.to_string();
        Self { cause: Some(Arc::new(cause)), ..Self::new(message) }
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl AnswerError for ResolveError {
    fn field_error(&self, host: Option<&dyn RecordHost>) -> FieldError {
        match (&self.cause, host) {
            (None, _) => self.to_field_error(),
            (Some(cause), Some(host)) => host.field_error(&**cause),
            (Some(_), None) => internal(),
        }
    }
}

/// Error of a bug, without details for the client.
pub(crate) fn internal() -> FieldError {
    field_error(INTERNAL, "Internal error.")
}

pub(crate) fn field_error(code: &'static str, message: impl Into<Box<str>>) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}

/// A mapping of one type of cause.
pub(crate) type ErrorMapping = Box<dyn Fn(&ProgramError) -> Option<ResolveError> + Send + Sync>;

/// The mapping that turns causes of type `E` into errors for clients.
pub(crate) fn mapping<E: Error + 'static>(
    map: impl Fn(&E) -> ResolveError + Send + Sync + 'static,
) -> ErrorMapping {
    Box::new(move |cause| cause.downcast_ref::<E>().map(&map))
}

/// All errors of a schema and its resolvers.
///
/// ```
/// use weir_runtime::{Schema, constant};
/// let schema = Schema::builder("type Query { a: Int }").resolve("Query.a", constant(1)).resolve("Query.b", constant(2));
/// let error = schema.build().err().expect("there is no such field");
/// assert_eq!(error.errors[0].message, "`Query.b` is resolved, but `Query` has no field `b`");
/// assert!(error.to_string().starts_with("error: `Query.b`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// The errors, with places in the SDL where they have one.
    pub errors: Vec<weir_language::error::Error>,
    /// The errors as text, with the lines they refer to.
    text: String,
}

impl BuildError {
    pub(crate) fn new(sdl: &str, errors: Vec<weir_language::error::Error>) -> Self {
        let text = weir_language::report::text("schema", sdl, &errors);
        Self { errors, text }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

impl Error for BuildError {}
