//! An error in a text: message, places, stable code.
//!
//! One shape for syntax, validation, schema and coercion errors: each names the places a person has to
//! look at and a code a program can match.

use crate::span::Span;

/// A complaint about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Message for the caller, equal to that of graphql-js where it has one.
    pub message: String,
    /// The places that are meant, first the one to mend.
    pub spans: Vec<Span>,
    /// Stable, for programs.
    pub code: Code,
}

impl Error {
    /// An error at one place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), spans: vec![span], code }
    }
}

/// Declares [`Code`] with the text that goes into `extensions.code`.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident => $text:literal),* $(,)?) => {
        /// The stable codes of this crate. `docs/errors.md` lists them; a test keeps both equal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name),* }
        impl Code {
            /// Every code, for documentation.
            pub const ALL: &[Self] = &[$(Self::$name),*];
            /// The text in `extensions.code`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

codes! {
    /// The text is no GraphQL document.
    Syntax => "GRAPHQL_PARSE_FAILED",
    /// A rule of section 5 of the specification is broken.
    Validation => "GRAPHQL_VALIDATION_FAILED",
    /// A variable's value does not fit its type.
    Variable => "BAD_USER_INPUT",
    /// No operation, or not exactly one, fits `operationName`.
    OperationName => "OPERATION_RESOLUTION_FAILURE",
    /// A schema breaks a rule of section 3 of the specification.
    Schema => "SCHEMA_INVALID",
    /// More bytes than allowed.
    LimitBytes => "LIMIT_BYTES",
    /// More tokens than allowed.
    LimitTokens => "LIMIT_TOKENS",
    /// Selections, values or types nested deeper than allowed.
    LimitNesting => "LIMIT_NESTING",
    /// Fields nested deeper than allowed once fragments are followed.
    LimitDepth => "LIMIT_DEPTH",
    /// More aliases than allowed.
    LimitAliases => "LIMIT_ALIASES",
    /// More directives than allowed, in all or in one place.
    LimitDirectives => "LIMIT_DIRECTIVES",
    /// More fields than allowed once fragments are expanded.
    LimitExpanded => "LIMIT_EXPANDED",
    /// More root fields than allowed once fragments are expanded.
    LimitRootFields => "LIMIT_ROOT_FIELDS",
    /// More variables than allowed.
    LimitVariables => "LIMIT_VARIABLES",
    /// A list in the input longer than allowed.
    LimitList => "LIMIT_LIST",
    /// Introspection nested deeper than allowed.
    LimitIntrospection => "LIMIT_INTROSPECTION",
    /// Introspection is switched off for this caller.
    IntrospectionDisabled => "INTROSPECTION_DISABLED",
}
