//! Addresses of webhooks: absolute, of `http` or `https`.
//!
//! A name and password in an address are sent as `Authorization`, as browsers do.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use std::fmt;

/// The address of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    text: String,
    scheme: Scheme,
    /// Host and port, without a user.
    authority: Authority,
    path_and_query: PathAndQuery,
    authorization: Option<HeaderValue>,
}

impl fmt::Debug for WebhookUrl {
    /// Without the address, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookUrl(…)")
    }
}

impl WebhookUrl {
    /// Reads an address.
    /// # Errors
    /// A message of `Invalid URL: ` and the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::try_parse(text).ok_or_else(|| format!("Invalid URL: {text}"))
    }

    fn try_parse(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|it| *it == Scheme::HTTP || *it == Scheme::HTTPS)?;
        let authority = parts.authority?;
        let (authority, authorization) = match authority.as_str().rsplit_once('@') {
            None => (authority, None),
            Some((user, host)) => (host.parse().ok()?, Some(basic_authorization(user)?)),
        };
        if authority.host().is_empty() {
            return None;
        }
        let path_and_query = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Some(Self { text: text.to_owned(), scheme, authority, path_and_query, authorization })
    }

    /// The address as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port, in lower case.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority.as_str().to_ascii_lowercase())
    }

    /// Path and query, as they are sent.
    pub fn path_and_query(&self) -> &PathAndQuery {
        &self.path_and_query
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query.query()
    }

    /// The header of the user in the address.
    pub fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    /// Replaces the query by `query`; empty for none.
    /// # Errors
    /// See [`Self::parse`].
    pub fn with_query(&self, query: &str) -> Result<Self, String> {
        let end = self.text.find(['?', '#']).unwrap_or(self.text.len());
        let base = &self.text[..end];
        let text = if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") };
        Self::parse(&text)
    }
}

/// `Authorization` of `user`, a name and a password with escapes.
fn basic_authorization(user: &str) -> Option<HeaderValue> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let mut plain: Vec<u8> = percent_encoding::percent_decode_str(name).collect();
    plain.push(b':');
    plain.extend(percent_encoding::percent_decode_str(password));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_absolute() {
        let url = WebhookUrl::parse("https://Shop.test:8443/a/b/?c=d&e#f").expect("it is an address");
        assert_eq!(url.origin(), "https://shop.test:8443");
        assert_eq!((url.path_and_query().as_str(), url.query()), ("/a/b/?c=d&e", Some("c=d&e")));
        assert_eq!(WebhookUrl::parse("http://shop").expect("it is one").path_and_query().as_str(), "/");
        for text in [
            "",
            "/a",
            "shop/a",
            "ftp://shop",
            "http://",
            "http://a b",
            "http://shop/a b",
            "http:///a",
            "mailto:a",
        ] {
            assert_eq!(WebhookUrl::parse(text).err(), Some(format!("Invalid URL: {text}")));
        }
    }

    #[test]
    fn a_user_becomes_a_header() {
        let url = WebhookUrl::parse("http://ada:s%40t@shop/a").expect("it is an address");
        assert_eq!(url.origin(), "http://shop");
        assert_eq!(url.authorization().map(HeaderValue::as_bytes), Some(b"Basic YWRhOnNAdA==".as_slice()));
        assert!(!format!("{url:?}").contains("ada"));
    }

    #[test]
    fn a_query_is_replaced() {
        let check = |text: &str, query: &str, expected: &str| {
            let url = WebhookUrl::parse(text).and_then(|it| it.with_query(query)).expect("it is an address");
            assert_eq!(url.text(), expected);
        };
        check("http://shop/a?b=c#d", "", "http://shop/a");
        check("http://shop/a?b=c", "e=f", "http://shop/a?e=f");
        check("http://shop", "e=f", "http://shop?e=f");
    }
}
