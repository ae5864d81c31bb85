//! `mirror`: a share of the reads, sent to a canary too.

use crate::config::Secret;
use hyper::header::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_webhook::WebhookUrl;

/// Headers that the mirror sets itself.
const OWN_HEADERS: [&str; 13] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-weir-mirror",
];

/// `mirror`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// Address of the canary: `http://canary:8080`, where requests keep their path, or one path for all, `http://canary:8080/graphql`.
    pub url: Secret,
    /// Share of the queries that are mirrored, from 0 to 1.
    pub share: f64,
    /// Headers of the client that are passed on, as `authorization`; without the key none, so the canary gets no credentials.
    #[serde(default)]
    pub headers: Vec<String>,
    /// A mirrored request ends after so many milliseconds, its wait included.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
    /// Mirrored requests in flight; further ones wait.
    #[serde(default = "default_calls_max")]
    pub calls_max: u16,
    /// Bytes of requests and answers that wait to be mirrored; beyond it requests are not mirrored.
    #[serde(default = "default_bytes_max")]
    pub bytes_max: u32,
}

const fn default_timeout_ms() -> u32 {
    5000
}

const fn default_calls_max() -> u16 {
    8
}

const fn default_bytes_max() -> u32 {
    16 << 20
}

impl Mirror {
    /// # Errors
    /// The first key with a value that means nothing, with the way out.
    pub(in crate::config) fn check(&self) -> Result<(), String> {
        if WebhookUrl::parse(self.url.expose()).is_err() {
            return Err("`mirror.url` is no address: write `http://canary:8080`".into());
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err("`mirror.share` is a share from 0 (nothing) to 1 (every query)".into());
        }
        for name in &self.headers {
            let name = name.to_ascii_lowercase();
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(format!(
                    "`mirror.headers`: {name:?} is no name of a header; `authorization` is one"
                ));
            }
            if OWN_HEADERS.contains(&&*name) {
                return Err(format!("`mirror.headers`: the mirror sets `{name}` itself; leave it out"));
            }
        }
        if self.timeout_ms == 0 || self.calls_max == 0 || self.bytes_max == 0 {
            return Err("`mirror`: `timeout_ms`, `calls_max` and `bytes_max` are above 0; set `share: 0` to mirror nothing".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut Mirror), expected: Option<&str>) {
        let mut mirror = Mirror {
            url: Secret::new("http://canary:8080"),
            share: 0.01,
            headers: vec!["Authorization".into()],
            timeout_ms: 5000,
            calls_max: 8,
            bytes_max: 1000,
        };
        change(&mut mirror);
        let found = mirror.check().err();
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
    }

    #[test]
    fn a_mirror_has_an_address_a_share_and_headers() {
        check(|_| (), None);
        check(|it| it.url = Secret::new("https://user:secret@canary/graphql"), None);
        check(|it| it.url = Secret::new("canary:8080"), Some("`mirror.url`"));
        check(|it| it.share = 0.0, None);
        for share in [-0.1, 1.1, f64::NAN] {
            check(|it| it.share = share, Some("`mirror.share`"));
        }
        check(|it| it.headers = vec!["a b".into()], Some("`mirror.headers`: \"a b\""));
        check(|it| it.headers = vec!["X-Weir-Mirror".into()], Some("sets `x-weir-mirror` itself"));
        check(|it| it.timeout_ms = 0, Some("`timeout_ms`"));
    }
}
