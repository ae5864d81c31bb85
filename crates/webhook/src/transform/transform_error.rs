//! Errors of transforms, as Hasura lists them under `internal`.

use weir_kriti::KritiError;
use weir_language::json::quote;

/// The member with the template of a JSON body, the only template that stands with its quotes.
pub(super) const JSON_BODY: &str = "body";

/// Reason for which one part of a transform has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransformError {
    Template(KritiError),
    /// A result that is no part of a request.
    Result {
        /// The reason.
        message: String,
        /// The result, if there is one.
        value: Option<String>,
    },
}

impl TransformError {
    pub(super) fn result(message: impl Into<String>, value: Option<&str>) -> Self {
        Self::Result { message: message.into(), value: value.map(str::to_owned) }
    }

    /// Appends the error of `template` as JSON.
    fn write_json(&self, template: &str, out: &mut String) {
        match self {
            Self::Template(error) => error.write_json(out),
            Self::Result { message, value } => {
                out.push_str("{\"error_code\":\"TransformationError\",\"message\":");
                quote(message, out);
                if let Some(value) = value {
                    out.push_str(",\"value\":");
                    quote(value, out);
                }
                out.push('}');
            }
        }
        // Hasura's errors do not say which template they are of.
        out.pop();
        out.push_str(",\"template\":");
        quote(template, out);
        out.push('}');
    }
}

impl From<KritiError> for TransformError {
    fn from(error: KritiError) -> Self {
        Self::Template(error)
    }
}

/// Reasons of all parts, each with its template below the transform, as in `url` or `query_params.id`; never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransformErrors(Vec<(String, TransformError)>);

impl TransformErrors {
    /// All of them as a JSON list.
    pub fn to_json(&self) -> String {
        let mut out = "[".to_owned();
        for (at, (template, error)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            error.write_json(template, &mut out);
        }
        out.push(']');
        out
    }

    /// Takes the value of the part `template`, or keeps its error.
    pub(super) fn keep<T, E: Into<TransformError>>(
        &mut self,
        template: &str,
        part: Result<T, E>,
    ) -> Option<T> {
        part.map_err(|error| self.0.push((template.to_owned(), error.into()))).ok()
    }

    /// `value`, unless there are errors.
    pub(super) fn unless_any<T>(self, value: impl FnOnce() -> Option<T>) -> Result<T, Self> {
        if !self.0.is_empty() {
            return Err(self);
        }
        let missing = || {
            let error = TransformError::result("a part has no result", None);
            Self(vec![(String::new(), error)])
        };
        value().ok_or_else(missing)
    }
}

/// Words for operators: the first error.
impl std::fmt::Display for TransformErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.first() {
            Some((template, TransformError::Template(error))) => {
                let mut error = error.clone();
                // The quote in front of other templates is not in the file.
                if template != JSON_BODY && error.start.line == 0 {
                    error.start.column = error.start.column.saturating_sub(1);
                }
                write!(f, "in `{template}`: {error}")
            }
            Some((template, TransformError::Result { message, .. })) => {
                write!(f, "in `{template}`: {message}")
            }
            None => f.write_str("no error"),
        }
    }
}

impl std::error::Error for TransformErrors {}
