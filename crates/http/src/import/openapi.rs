//! OpenAPI 3.0, 3.1 and 3.2 to SDL with `@source` and `@connect`: a text to begin with, to be edited by whoever knows the services.
//!
//! Reading operations become fields of `Query`, the others of `Mutation`. What has no equal in GraphQL is left out and named in a comment at
//! the head, never changed in silence.
//!
//! **Invariant:** the printed text reads as a mapping; every selection in it is finite.
//! Source: OpenAPI specification 3.0.4, 3.1.1 and 3.2.0.

mod answer;
mod body;
mod document;
mod integers;
mod operations;
mod parameters;
mod print_sdl;
mod servers;
mod types;

use super::graphql_names;
use document::Document;
use operations::Operations;
use std::fmt;

/// Maximum number of reasons in an error.
const REASONS_SHOWN_MAX: usize = 5;

/// Reason why a description cannot be imported.
#[derive(Debug, PartialEq, Eq)]
pub enum ImportError {
    /// It is neither JSON nor YAML.
    Unreadable(String),
    /// The document is not OpenAPI, or has an unsupported version.
    Other(String),
    /// No operation can be imported, for these reasons.
    Nothing(Vec<String>),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "is neither JSON nor YAML: {cause}"),
            Self::Other(what) => f.write_str(what),
            Self::Nothing(reasons) => {
                f.write_str("has no operation that can be asked")?;
                let all = reasons.iter().take(REASONS_SHOWN_MAX);
                let mut between = ": ";
                all.into_iter().try_for_each(|it| write!(f, "{}{it}", std::mem::replace(&mut between, "; ")))
            }
        }
    }
}

impl std::error::Error for ImportError {}

/// Converts the description `text` to SDL; `origin` is its file or URL.
/// # Errors
/// The text is no OpenAPI 3 description, or no operation can be imported.
pub fn sdl(text: &str, origin: &str) -> Result<String, ImportError> {
    let document = Document::read(text)?;
    let operations = Operations::read(&document, origin);
    if operations.reading.is_empty() && operations.writing.is_empty() {
        return Err(ImportError::Nothing(operations.left_out));
    }
    Ok(print_sdl::sdl(&document, &operations, origin))
}
