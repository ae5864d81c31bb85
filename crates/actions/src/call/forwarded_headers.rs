//! Headers of a call: those of the client that go along, the default ones, and those that the action configures.
//!
//! **Invariant:** no session variable and no admin secret is a header of a call; of several headers of one name the first goes.

use http::header::{HOST, ORIGIN, USER_AGENT};
use http::{HeaderName, HeaderValue};
use weir_engine::source::Headers;

/// Headers of clients that do not go along, unless the action has a list of its own.
const IGNORED: [&str; 14] = [
    "content-length",
    "content-md5",
    "user-agent",
    "host",
    "origin",
    "referer",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-datetime",
    "cache-control",
    "connection",
    "dnt",
    "content-type",
];

/// Prefixes of session variables and admin secrets.
const SESSION: [&str; 2] = ["x-hasura-", "x-weir-"];

/// Headers of clients that go along under names of their own.
const RENAMED: [(HeaderName, HeaderName); 3] = [
    (HOST, HeaderName::from_static("x-forwarded-host")),
    (USER_AGENT, HeaderName::from_static("x-forwarded-user-agent")),
    (ORIGIN, HeaderName::from_static("x-forwarded-origin")),
];

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

/// True for headers of session variables and secrets, by a name in lower case.
pub(crate) fn is_of_session(name: &str) -> bool {
    SESSION.iter().any(|it| name.starts_with(it))
}

/// Headers of the client that go along with a call whose action ignores the names `ignored`.
pub(crate) fn forwarded(client: &dyn Headers, ignored: Option<&[String]>) -> HeaderLines {
    let mut lines = HeaderLines::new();
    for (name, forwarded) in &RENAMED {
        let value = client.get(name.as_str()).and_then(|it| HeaderValue::from_bytes(it).ok());
        lines.extend(value.map(|it| (forwarded.clone(), it)));
    }
    let is_ignored = |name: &str| match ignored {
        Some(own) => own.iter().any(|it| it.eq_ignore_ascii_case(name)),
        None => IGNORED.contains(&name),
    };
    client.each_line(&mut |name, value| {
        if is_of_session(name) || is_ignored(name) {
            return;
        }
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
            lines.push((name, value));
        }
    });
    lines
}

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

    struct Sent(&'static [(&'static str, &'static str)]);

    impl Headers for Sent {
        fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
            self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1.as_bytes()));
        }
        fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
            self.0.iter().for_each(|it| take(it.0, it.1.as_bytes()));
        }
    }

    fn shown(lines: &HeaderLines) -> Vec<String> {
        lines.iter().map(|it| format!("{}: {}", it.0, it.1.to_str().unwrap_or_default())).collect()
    }

    #[test]
    fn the_client_s_headers_go_along_without_those_of_the_session() {
        let sent = Sent(&[
            ("authorization", "Bearer a"),
            ("cookie", "b=c"),
            ("content-type", "application/graphql"),
            ("host", "shop.test"),
            ("user-agent", "curl"),
            ("origin", "https://shop.test"),
            ("x-hasura-admin-secret", "s"),
            ("x-hasura-role", "user"),
            ("x-weir-admin-secret", "s"),
            ("x-own", "d"),
        ]);
        let expected = [
            "x-forwarded-host: shop.test",
            "x-forwarded-user-agent: curl",
            "x-forwarded-origin: https://shop.test",
            "authorization: Bearer a",
            "cookie: b=c",
            "x-own: d",
        ];
        assert_eq!(shown(&forwarded(&sent, None)), expected);
        // A list of the action's own replaces that of Hasura.
        let own = forwarded(&sent, Some(&["Cookie".into(), "X-Own".into(), "host".into()]));
        let expected = [
            "x-forwarded-host: shop.test",
            "x-forwarded-user-agent: curl",
            "x-forwarded-origin: https://shop.test",
            "authorization: Bearer a",
            "content-type: application/graphql",
            "user-agent: curl",
            "origin: https://shop.test",
        ];
        assert_eq!(shown(&own), expected);
    }

    #[test]
    fn a_forged_forwarding_header_loses() {
        let sent = Sent(&[("x-forwarded-host", "forged"), ("host", "true")]);
        let merged = merge(forwarded(&sent, None), [], Vec::new(), HeaderPrecedence::Client);
        assert_eq!(shown(&merged), ["x-forwarded-host: true"]);
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
            shown(&merge(client, lines(&[("b", "default"), ("c", "default")]), configured, precedence))
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
