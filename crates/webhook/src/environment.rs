//! Texts with variables of the environment: `{{NAME}}` in addresses and in values of headers.
//!
//! Everything between `{{` and the next `}}` is a name, blanks included. Texts of variables are not read again, so a value cannot
//! name another variable.

use http::{HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;
use weir_metadata::document::webhook::{HeaderEntry, HeaderText, WebhookAddress};

/// The value of a variable, if it is set.
pub type Environment<'e> = dyn Fn(&str) -> Option<String> + 'e;

/// An [`Environment`] that tasks share.
pub type SharedEnvironment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Reason for which an address or header has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentError {
    /// Variables in an address.
    Address(Vec<String>),
    /// Variables in the value of a header.
    Template(Vec<String>),
    /// The variable of `value_from_env` or `webhook_from_env`.
    Variable(String),
    /// A header whose name or value HTTP does not allow.
    Header(String),
}

impl EnvironmentError {
    /// Hasura's code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) | Self::Header(_) => "unexpected",
            Self::Template(_) | Self::Variable(_) => "not-found",
        }
    }
}

/// Hasura's words. They name variables, and no values.
impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(names) => {
                write!(f, "Value for environment variables not found: {}", names.join(", "))
            }
            Self::Template(names) => write!(f, "template cannot be resolved: {}", names.join(", ")),
            Self::Variable(name) => write!(f, "environment variable '{name}' not set"),
            Self::Header(name) => {
                write!(f, "the header `{name}` cannot be sent: its name or value is none of HTTP")
            }
        }
    }
}

impl std::error::Error for EnvironmentError {}

/// Fills the variables of `text`.
/// # Errors
/// The names of those that are not set, each once, in order.
pub fn fill(text: &str, environment: &Environment<'_>) -> Result<String, Vec<String>> {
    let mut filled = String::with_capacity(text.len());
    let mut missing: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((before, name, after)) = next_variable(rest) {
        filled.push_str(before);
        match environment(name) {
            Some(value) => filled.push_str(&value),
            None if missing.iter().any(|it| it == name) => {}
            None => missing.push(name.to_owned()),
        }
        rest = after;
    }
    filled.push_str(rest);
    if missing.is_empty() { Ok(filled) } else { Err(missing) }
}

/// Splits `text` at its first variable: the text before it, the name, the text behind it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// The text of an address.
/// # Errors
/// Variables that are not set.
pub fn resolve_address(
    address: &WebhookAddress,
    environment: &Environment<'_>,
) -> Result<String, EnvironmentError> {
    match address {
        WebhookAddress::Template(text) => fill(text, environment).map_err(EnvironmentError::Address),
        WebhookAddress::FromEnv(name) => {
            environment(name).ok_or_else(|| EnvironmentError::Variable(name.clone()))
        }
    }
}

/// Names and values of `entries`, in their order.
/// # Errors
/// A variable that is not set, or a name or value that HTTP does not allow.
pub fn resolve_headers(
    entries: &[HeaderEntry],
    environment: &Environment<'_>,
) -> Result<Vec<(HeaderName, HeaderValue)>, EnvironmentError> {
    entries.iter().map(|it| resolve_header(it, environment)).collect()
}

fn resolve_header(
    entry: &HeaderEntry,
    environment: &Environment<'_>,
) -> Result<(HeaderName, HeaderValue), EnvironmentError> {
    let text = match &entry.value {
        HeaderText::Template(text) => fill(text, environment).map_err(EnvironmentError::Template)?,
        HeaderText::FromEnv(name) => {
            environment(name).ok_or_else(|| EnvironmentError::Variable(name.clone()))?
        }
    };
    let wrong = || EnvironmentError::Header(entry.name.clone());
    let name = HeaderName::from_bytes(entry.name.as_bytes()).map_err(|_| wrong())?;
    let value = HeaderValue::from_str(&text).map_err(|_| wrong())?;
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "A" => Some("a".into()),
            " A " => Some("blanks".into()),
            "NESTED" => Some("{{A}}".into()),
            "LINES" => Some("a\r\nb: c".into()),
            _ => None,
        }
    }

    fn check(text: &str, expected: Result<&str, &[&str]>) {
        let filled = fill(text, &environment);
        let expected = expected.map(str::to_owned);
        assert_eq!(filled, expected.map_err(|it| it.iter().map(|it| (*it).to_owned()).collect()), "{text}");
    }

    #[test]
    fn names_are_literal() {
        check("http://{{A}}/b/{{A}}", Ok("http://a/b/a"));
        check("{{ A }}", Ok("blanks"));
        check("{{NESTED}}", Ok("{{A}}"));
        check("{{A", Ok("{{A"));
        check("}}{A}", Ok("}}{A}"));
        check("{{A}}}}", Ok("a}}"));
        check("{{{A}}}", Err(&["{A"]));
        check("{{}}", Err(&[""]));
        check("{{B}}{{A}}{{C}}{{B}}", Err(&["B", "C"]));
    }

    fn check_header(name: &str, value: HeaderText, expected: Result<&str, (&str, &str)>) {
        let entry = HeaderEntry { name: name.into(), value };
        match (resolve_headers(std::slice::from_ref(&entry), &environment), expected) {
            (Ok(headers), Ok(expected)) => assert_eq!(headers[0].1, expected),
            (Err(error), Err((code, words))) => {
                assert_eq!((error.code(), error.to_string().as_str()), (code, words));
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn headers_have_values_or_hasura_s_words() {
        check_header("X-Key", HeaderText::Template("k-{{A}}".into()), Ok("k-a"));
        check_header("X-Key", HeaderText::FromEnv("A".into()), Ok("a"));
        let missing = ("not-found", "template cannot be resolved: B");
        check_header("X-Key", HeaderText::Template("{{B}}".into()), Err(missing));
        let missing = ("not-found", "environment variable 'B' not set");
        check_header("X-Key", HeaderText::FromEnv("B".into()), Err(missing));
        let wrong = "the header `X-Key` cannot be sent: its name or value is none of HTTP";
        check_header("X-Key", HeaderText::FromEnv("LINES".into()), Err(("unexpected", wrong)));
        let wrong = "the header `X Key` cannot be sent: its name or value is none of HTTP";
        check_header("X Key", HeaderText::FromEnv("A".into()), Err(("unexpected", wrong)));
    }

    #[test]
    fn addresses_have_hasura_s_words() {
        let text = WebhookAddress::Template("{{B}}/{{A}}/{{C}}".into());
        let error = resolve_address(&text, &environment).expect_err("B is not set");
        assert_eq!(error.code(), "unexpected");
        assert_eq!(error.to_string(), "Value for environment variables not found: B, C");
        let name = WebhookAddress::FromEnv("B".into());
        let error = resolve_address(&name, &environment).expect_err("B is not set");
        assert_eq!(error.to_string(), "environment variable 'B' not set");
        assert_eq!(resolve_address(&WebhookAddress::FromEnv("A".into()), &environment), Ok("a".into()));
    }
}
