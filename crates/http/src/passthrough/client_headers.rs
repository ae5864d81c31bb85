//! Headers of clients that go along with calls of webhooks and remote schemas of Hasura's metadata.
//!
//! **Invariant:** no session variable, no secret of Weir's and no header of the connection is among them.

use crate::call::{Peer, may_be_sent_to};
use http::header::{HOST, ORIGIN, USER_AGENT};
use http::{HeaderName, HeaderValue};
use weir_engine::caller::SESSION_PREFIX;
use weir_engine::source::Headers;

/// Headers of clients that do not go along by default. Source: Hasura v2, ignored headers of actions, remote schemas and webhooks.
pub const IGNORED_HEADERS: [&str; 14] = [
    "accept",
    "accept-datetime",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-length",
    "content-md5",
    "content-type",
    "dnt",
    "host",
    "origin",
    "referer",
    "user-agent",
];

/// Headers that go along under names of their own.
const RENAMED: [(HeaderName, HeaderName); 3] = [
    (HOST, HeaderName::from_static("x-forwarded-host")),
    (USER_AGENT, HeaderName::from_static("x-forwarded-user-agent")),
    (ORIGIN, HeaderName::from_static("x-forwarded-origin")),
];

/// True for headers of session variables and secrets, by a name in lower case.
pub fn is_of_session(name: &str) -> bool {
    name.starts_with(SESSION_PREFIX) || name.starts_with("x-weir-")
}

/// Headers of `client` that go along, without those of the names `ignored`; `None`: Hasura's list. Values that are not valid in a header
/// are dropped.
pub fn collect_forwarded_headers(
    client: &dyn Headers,
    ignored: Option<&[String]>,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut lines = Vec::new();
    for (name, forwarded) in &RENAMED {
        let value = client.get(name.as_str()).and_then(|it| HeaderValue::from_bytes(it).ok());
        lines.extend(value.map(|it| (forwarded.clone(), it)));
    }
    let renamed = lines.len();
    let is_ignored = |name: &str| match ignored {
        Some(own) => own.iter().any(|it| it.eq_ignore_ascii_case(name)),
        None => IGNORED_HEADERS.contains(&name),
    };
    client.each_line(&mut |name, value| {
        if is_of_session(name) || is_ignored(name) {
            return;
        }
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value))
            && may_be_sent_to(Peer::Webhook, &name)
            && lines[..renamed].iter().all(|it| it.0 != name)
        {
            lines.push((name, value));
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    struct SentHeaders(&'static [(&'static str, &'static str)]);

    impl Headers for SentHeaders {
        fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
            self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1.as_bytes()));
        }
        fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
            self.0.iter().for_each(|it| take(it.0, it.1.as_bytes()));
        }
    }

    fn check(sent: &SentHeaders, ignored: Option<&[String]>, expected: &[&str]) {
        let lines = collect_forwarded_headers(sent, ignored);
        let shown: Vec<String> =
            lines.iter().map(|it| format!("{}: {}", it.0, it.1.to_str().unwrap_or_default())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_client_s_headers_go_along_without_those_of_session_and_connection() {
        let sent = SentHeaders(&[
            ("authorization", "Bearer a"),
            ("cookie", "b=c"),
            ("content-type", "application/graphql"),
            ("content-length", "7"),
            ("transfer-encoding", "chunked"),
            ("keep-alive", "1"),
            ("host", "shop.test"),
            ("user-agent", "curl"),
            ("origin", "https://shop.test"),
            ("x-hasura-admin-secret", "s"),
            ("x-hasura-role", "user"),
            ("x-weir-admin-secret", "s"),
            ("x-own", "d"),
        ]);
        let renamed = [
            "x-forwarded-host: shop.test",
            "x-forwarded-user-agent: curl",
            "x-forwarded-origin: https://shop.test",
            "authorization: Bearer a",
        ];
        check(&sent, None, &[&renamed[..], &["cookie: b=c", "x-own: d"]].concat());
        // A list of one's own replaces that of Hasura.
        let own = ["Cookie".to_owned(), "X-Own".to_owned()];
        let more = ["content-type: application/graphql", "user-agent: curl", "origin: https://shop.test"];
        check(&sent, Some(&own), &[&renamed[..], &more].concat());
    }

    #[test]
    fn a_forged_forwarding_header_loses() {
        let sent = SentHeaders(&[("x-forwarded-host", "forged"), ("host", "true")]);
        check(&sent, None, &["x-forwarded-host: true"]);
        check(&SentHeaders(&[("x-forwarded-host", "a proxy")]), None, &["x-forwarded-host: a proxy"]);
    }
}
