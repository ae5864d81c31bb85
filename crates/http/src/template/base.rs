//! Base URL of a service, which determines its origin.

/// A parsed base URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// True for `https`.
    pub tls: bool,
    /// Host, and port if written.
    pub authority: Box<str>,
    /// The path, without a final slash.
    pub path: Box<str>,
    /// The query without `?`; may be empty. The query of every call starts with it.
    pub query: Box<str>,
}

impl Base {
    /// Parses `https://host:port/path?query`.
    ///
    /// # Errors
    /// The cause and how to fix it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| form(text))?;
        let tls = match scheme {
            "http" => false,
            "https" => true,
            _ => return Err(form(text)),
        };
        if rest.contains(['{', '}']) {
            return Err(
                "no value can stand in a base URL: write the host out, and put the rest into the paths"
                    .into(),
            );
        }
        if rest.contains('#') {
            return Err("a base URL has no `#`: write `%23` for the letter".into());
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], rest[at..].trim_end_matches('/')),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err("no name or password can stand in a base URL: send a header".into());
        }
        let sound = authority.parse::<http::uri::Authority>().is_ok_and(|it| !it.host().is_empty());
        let sound = sound && path.parse::<http::uri::PathAndQuery>().is_ok() | path.is_empty();
        let sound = sound && format!("/?{query}").parse::<http::uri::PathAndQuery>().is_ok();
        if !sound || path.split('/').any(|it| it == "." || it == "..") {
            return Err(form(text));
        }
        let authority = authority.to_ascii_lowercase().into();
        Ok(Self { tls, authority, path: path.into(), query: query.into() })
    }

    /// The origin: `https://host:port`.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.authority)
    }
}

fn form(text: &str) -> String {
    format!("`{text}` is no base URL: write it as `https://host/path`")
}
