//! Headers that all webhooks get, and headers as they are logged and stored.

use crate::HASURA_VERSION;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, USER_AGENT};
use http::{HeaderName, HeaderValue};
use weir_language::json::quote;
use weir_metadata::document::webhook::{HeaderEntry, HeaderText};

/// Names of headers whose values are never logged.
const SENSITIVE: [HeaderName; 3] = [AUTHORIZATION, COOKIE, HeaderName::from_static("access-token")];

/// Headers that all webhooks get.
pub fn default_headers() -> [(HeaderName, HeaderValue); 2] {
    let agent = HeaderValue::from_str(&format!("hasura-graphql-engine/{HASURA_VERSION}"));
    [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, agent.unwrap_or_else(|_| HeaderValue::from_static("hasura-graphql-engine"))),
    ]
}

/// Headers of events: the default ones replace those of `configured` that have their names.
pub fn event_headers(configured: Vec<(HeaderName, HeaderValue)>) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers: Vec<_> = default_headers().into();
    headers.extend(configured.into_iter().filter(|it| it.0 != CONTENT_TYPE && it.0 != USER_AGENT));
    headers
}

/// The value of a header as it may be logged.
pub fn loggable_value<'v>(name: &HeaderName, value: &'v HeaderValue) -> &'v str {
    if SENSITIVE.contains(name) || value.is_sensitive() {
        "<REDACTED>"
    } else {
        value.to_str().unwrap_or("<not a text>")
    }
}

/// The value of a configured header as it may be logged.
pub fn loggable_entry(entry: &HeaderEntry) -> String {
    let is_sensitive = SENSITIVE.iter().any(|it| entry.name.eq_ignore_ascii_case(it.as_str()));
    match &entry.value {
        HeaderText::FromEnv(name) => format!("<from_env: {name}>"),
        HeaderText::Template(_) if is_sensitive => "<REDACTED>".to_owned(),
        HeaderText::Template(text) => text.clone(),
    }
}

/// Appends the headers of a call of an event as its invocation row has them: a JSON list of the default headers and of `entries`,
/// with names of variables in place of their values.
pub fn write_event_headers(entries: &[HeaderEntry], out: &mut String) {
    out.push('[');
    for (name, value) in &default_headers() {
        write_member(name.as_str(), "value", value.to_str().unwrap_or_default(), out);
    }
    for entry in entries {
        if CONTENT_TYPE.as_str().eq_ignore_ascii_case(&entry.name)
            || USER_AGENT.as_str().eq_ignore_ascii_case(&entry.name)
        {
            continue;
        }
        match &entry.value {
            HeaderText::Template(text) => write_member(&entry.name, "value", text, out),
            HeaderText::FromEnv(name) => write_member(&entry.name, "value_from_env", name, out),
        }
    }
    out.push(']');
}

fn write_member(name: &str, key: &str, value: &str, out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
    out.push_str("{\"name\":");
    quote(name, out);
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
    quote(value, out);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, value: HeaderText) -> HeaderEntry {
        HeaderEntry { name: name.into(), value }
    }

    #[test]
    fn default_headers_replace_configured_ones() {
        let own = |name: &'static str| (HeaderName::from_static(name), HeaderValue::from_static("own"));
        let headers = event_headers(vec![own("content-type"), own("x-key"), own("user-agent")]);
        let shown: Vec<_> = headers.iter().map(|it| (it.0.as_str(), it.1.to_str().unwrap())).collect();
        let agent = "hasura-graphql-engine/v2.48.0";
        assert_eq!(shown, [("content-type", "application/json"), ("user-agent", agent), ("x-key", "own")]);
    }

    #[test]
    fn secrets_are_not_logged() {
        let secret = HeaderValue::from_static("s");
        for name in ["authorization", "cookie", "access-token"] {
            assert_eq!(loggable_value(&HeaderName::from_static(name), &secret), "<REDACTED>");
            let text = HeaderText::Template("s".into());
            assert_eq!(loggable_entry(&entry(&name.to_uppercase(), text)), "<REDACTED>");
        }
        assert_eq!(loggable_value(&HeaderName::from_static("x-key"), &secret), "s");
        assert_eq!(loggable_entry(&entry("a", HeaderText::FromEnv("KEY".into()))), "<from_env: KEY>");
    }

    #[test]
    fn rows_have_names_of_variables() {
        let mut out = String::new();
        let entries = [
            entry("X-A", HeaderText::FromEnv("KEY".into())),
            entry("Content-Type", HeaderText::Template("text/plain".into())),
            entry("b", HeaderText::Template("{{C}}".into())),
        ];
        write_event_headers(&entries, &mut out);
        let expected = concat!(
            r#"[{"name":"content-type","value":"application/json"},{"name":"user-agent","value":"hasura-graphql-engine/v2.48.0"},"#,
            r#"{"name":"X-A","value_from_env":"KEY"},{"name":"b","value":"{{C}}"}]"#
        );
        assert_eq!(out, expected);
    }
}
