//! `cors`: the web pages that may call, by their origins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `cors`: web pages of other origins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// `https://app.example.com`, compared as a whole; `*` for any, which excludes `credentials`. Without the key pages of
    /// `localhost`, `127.0.0.1` and `[::1]` on any port may call a server that listens on loopback alone, and no page any
    /// other server.
    pub origins: Option<Vec<String>>,
    /// True lets browsers send cookies and read the answer.
    pub credentials: bool,
    /// Lifetime of the permission in browsers, in seconds.
    pub max_age_s: u32,
}

impl Default for Cors {
    fn default() -> Self {
        Self { origins: None, credentials: false, max_age_s: 600 }
    }
}

impl Cors {
    /// True if pages of any origin may call.
    pub(crate) fn is_open(&self) -> bool {
        self.origins.iter().flatten().any(|it| it == "*")
    }

    /// # Errors
    /// An entry that no browser sends as its origin, `*` beside `credentials`.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.credentials && self.is_open() {
            return Err("`cors.origins: [\"*\"]` together with `cors.credentials: true` would let every web page act \
                        as its visitor; list the origins"
                .into());
        }
        // The value may come from the environment, so it is not shown.
        match self.origins.iter().flatten().position(|it| it != "*" && !is_origin(it)) {
            Some(at) => Err(format!(
                "`cors.origins[{at}]` is no origin: write scheme, host and, if need be, port, as \
                 `https://app.example.com` or `http://localhost:3000`, or `*` for any"
            )),
            None => Ok(()),
        }
    }
}

/// True for an origin as browsers send it: scheme, host and port in lower case, nothing else.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_part = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-._:[]+".contains(&it);
    !scheme.is_empty() && !host.is_empty() && [scheme, host].iter().all(|it| it.bytes().all(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origins: &[&str], credentials: bool, expected: Result<(), &str>) {
        let origins = Some(origins.iter().map(|it| (*it).to_owned()).collect());
        match (Cors { origins, credentials, max_age_s: 1 }.check(), expected) {
            (Ok(()), Ok(())) => {}
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, _) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn any_origin_excludes_credentials() {
        check(&["*"], true, Err("list the origins"));
        check(&["*"], false, Ok(()));
    }

    #[test]
    fn what_no_browser_sends_is_no_origin() {
        for right in [
            "https://a.example",
            "http://localhost:3000",
            "http://[::1]:8080",
            "app://-",
            "tauri://localhost",
        ] {
            check(&[right], true, Ok(()));
        }
        for wrong in [
            "",
            " ",
            "null",
            "https://a.example/",
            "https://a.example/app",
            "a.example",
            "https://A.example",
            "https://*.a.example",
        ] {
            check(&["https://a.example", wrong], false, Err("is no origin"));
        }
    }
}
