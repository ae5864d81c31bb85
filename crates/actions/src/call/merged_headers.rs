//! Headers of a call: those of the client that go along, the default ones, and those that the action configures.
//!
//! **Invariant:** of several headers of one name the first goes.

use http::{HeaderName, HeaderValue};

/// Which of two headers with one name goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPrecedence {
    /// The client's, then the default one, then the configured one.
    #[default]
    Client,
    /// The configured one, then the default one, then the client's.
    Configured,
}

/// Names and values of headers.
pub(crate) type HeaderLines = Vec<(HeaderName, HeaderValue)>;

/// The headers of a call by `precedence`; of one name the first.
pub(crate) fn merge(
    client: HeaderLines,
    default: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    configured: HeaderLines,
    precedence: HeaderPrecedence,
) -> HeaderLines {
    let (first, last) = match precedence {
        HeaderPrecedence::Client => (client, configured),
        HeaderPrecedence::Configured => (configured, client),
    };
    let mut lines = HeaderLines::new();
    for (name, value) in first.into_iter().chain(default).chain(last) {
        if lines.iter().all(|it| it.0 != name) {
            lines.push((name, value));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_lines(lines: &HeaderLines) -> Vec<String> {
        lines.iter().map(|it| format!("{}: {}", it.0, it.1.to_str().unwrap_or_default())).collect()
    }

    #[test]
    fn of_one_name_the_first_goes() {
        let lines = |lines: &[(&'static str, &'static str)]| -> HeaderLines {
            let line = |it: &(&'static str, &'static str)| {
                (HeaderName::from_static(it.0), HeaderValue::from_static(it.1))
            };
            lines.iter().map(line).collect()
        };
        let merged = |precedence| {
            let client = lines(&[("a", "client"), ("b", "client")]);
            let configured = lines(&[("a", "configured"), ("c", "configured"), ("d", "configured")]);
            list_lines(&merge(client, lines(&[("b", "default"), ("c", "default")]), configured, precedence))
        };
        assert_eq!(
            merged(HeaderPrecedence::Client),
            ["a: client", "b: client", "c: default", "d: configured"]
        );
        assert_eq!(
            merged(HeaderPrecedence::Configured),
            ["a: configured", "c: configured", "d: configured", "b: default"]
        );
    }
}
