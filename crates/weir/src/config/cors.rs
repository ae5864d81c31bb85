//! `cors`: the web pages that may call, by their origins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of entries of `cors.paths`: each request of a page looks through them.
const PATHS_MAX: usize = 100;

/// `cors`: web pages of other origins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// `https://app.example.com`, compared as a whole; `https://*.example.com` for any name in place of the `*`, which is one label
    /// and the first; `*` for any, which excludes `credentials`. Without the key pages of `localhost`, `127.0.0.1` and `[::1]` on
    /// any port may call a server that listens on loopback alone, and no page any other server.
    pub origins: Option<Vec<String>>,
    /// True lets browsers send cookies and read the answer.
    pub credentials: bool,
    /// Lifetime of the permission in browsers, in seconds.
    pub max_age_s: u32,
    /// Rules of single paths, instead of the keys above: of those that hold a request's path the longest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<CorsPath>,
}

/// One of `cors.paths`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorsPath {
    /// `/api/rest/public`: this path, and those below it; without percent signs, which requests may have.
    pub path: String,
    /// Origins in the forms of `cors.origins`; `[]` for none.
    pub origins: Vec<String>,
    /// True lets browsers send cookies and read the answer.
    #[serde(default)]
    pub credentials: bool,
    /// Lifetime of the permission in browsers, in seconds.
    #[serde(default = "max_age_s")]
    pub max_age_s: u32,
}

const fn max_age_s() -> u32 {
    600
}

impl Default for Cors {
    fn default() -> Self {
        Self { origins: None, credentials: false, max_age_s: max_age_s(), paths: Vec::new() }
    }
}

impl Cors {
    /// # Errors
    /// An entry that no browser sends as its origin, `*` beside `credentials`, a path that no request has.
    pub(super) fn check(&self) -> Result<(), String> {
        check_origins("cors", self.origins.as_deref().unwrap_or_default(), self.credentials)?;
        if self.paths.len() > PATHS_MAX {
            return Err(format!("`cors.paths` has {} entries; {PATHS_MAX} are allowed", self.paths.len()));
        }
        for (at, rule) in self.paths.iter().enumerate() {
            let key = format!("cors.paths[{at}]");
            check_origins(&key, &rule.origins, rule.credentials)?;
            if !is_path(&rule.path) {
                return Err(format!(
                    "`{key}.path` is no path: write it as a request has it, as `/v1/graphql`, without a `/` at its end"
                ));
            }
            if self.paths[..at].iter().any(|it| it.path == rule.path) {
                return Err(format!("`{key}.path` is that of an earlier entry"));
            }
        }
        Ok(())
    }
}

fn check_origins(key: &str, origins: &[String], credentials: bool) -> Result<(), String> {
    if credentials && origins.iter().any(|it| it == "*") {
        return Err(format!(
            "`{key}.origins: [\"*\"]` together with `{key}.credentials: true` would let every web page act \
             as its visitor; list the origins"
        ));
    }
    // The value may come from the environment, so it is not shown.
    match origins.iter().position(|it| it != "*" && !is_origin(it) && OriginPattern::read(it).is_none()) {
        Some(at) => Err(format!(
            "`{key}.origins[{at}]` is no origin: write scheme, host and, if need be, port, as \
             `https://app.example.com` or `http://localhost:3000`; `https://*.example.com` for one label of any name; \
             or `*` for any"
        )),
        None => Ok(()),
    }
}

/// True for a path as requests have it, below which there may be others.
fn is_path(text: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_graphic() && !b"?#%".contains(&it);
    text.starts_with('/') && !text.ends_with('/') && text.bytes().all(is_plain)
}

/// True for an origin as browsers send it: scheme, host and port in lower case, nothing else.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_part = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-._:[]+".contains(&it);
    !scheme.is_empty() && !host.is_empty() && [scheme, host].iter().all(|it| it.bytes().all(is_part))
}

/// Origins that differ in the first label of their host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OriginPattern {
    /// `https://`
    scheme: String,
    /// `.example.com:8080`
    rest: String,
}

impl OriginPattern {
    /// Reads `https://*.example.com:8080`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://*.")?;
        let pattern = Self { scheme: format!("{scheme}://"), rest: format!(".{rest}") };
        let is_whole = is_origin(&format!("{scheme}://{rest}")) && !rest.starts_with(['.', ':', '[']);
        is_whole.then_some(pattern)
    }

    /// True if `origin` has one label in place of the `*`, and is equal otherwise.
    pub(crate) fn matches(&self, origin: &str) -> bool {
        let is_of_label = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
        origin
            .strip_prefix(&self.scheme)
            .and_then(|it| it.strip_suffix(&self.rest))
            .is_some_and(|label| !label.is_empty() && label.bytes().all(is_of_label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origins: &[&str], credentials: bool, expected: Result<(), &str>) {
        let origins: Vec<String> = origins.iter().map(|it| (*it).to_owned()).collect();
        let path = CorsPath { path: "/a".into(), origins: origins.clone(), credentials, max_age_s: 1 };
        let of_path = Cors { paths: vec![path], ..Cors::default() };
        let of_all = Cors { origins: Some(origins), credentials, ..Cors::default() };
        for cors in [of_all, of_path] {
            check_rules(&cors, expected);
        }
    }

    fn check_rules(cors: &Cors, expected: Result<(), &str>) {
        match (cors.check(), expected) {
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
            "https://*.a.example",
            "https://*.a.example:8080",
            "http://*.localhost",
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
            "https://*",
            "https://*.",
            "https://*.*.example",
            "https://a.*.example",
            "https://a*.example",
            "https://*a.example",
            "*://a.example",
            "*.a.example",
            "https://*.:80",
        ] {
            check(&["https://a.example", wrong], false, Err("is no origin"));
        }
    }

    #[test]
    fn a_pattern_stands_for_one_label() {
        let pattern = OriginPattern::read("https://*.a.example:8080").expect("it is a pattern");
        for origin in ["https://b.a.example:8080", "https://b-2.a.example:8080"] {
            assert!(pattern.matches(origin), "{origin}");
        }
        for origin in [
            "https://a.example:8080",
            "https://.a.example:8080",
            "https://c.b.a.example:8080",
            "http://b.a.example:8080",
            "https://b.a.example",
            "https://b.a.example:80801",
            "https://b.a.example:8080.evil.com",
            "https://evil.com/.a.example:8080",
            "https://evil.com?.a.example:8080",
            "https://x@evil.a.example:8080",
            "https://evil:1.a.example:8080",
            "https://bxa.example:8080",
            "null",
            "",
        ] {
            assert!(!pattern.matches(origin), "{origin}");
        }
    }

    #[test]
    fn a_path_is_one_that_requests_have() {
        let of = |paths: &[&str]| {
            let rule = |it: &&str| CorsPath {
                path: (*it).into(),
                origins: vec!["https://a.example".into()],
                credentials: false,
                max_age_s: 1,
            };
            Cors { paths: paths.iter().map(rule).collect(), ..Cors::default() }
        };
        check_rules(&of(&["/v1/graphql", "/api/rest", "/api/rest/public"]), Ok(()));
        for wrong in ["", "/", "v1", "/v1/", "/a?b", "/a#b", "/a%62", "/a b", "https://a/b"] {
            check_rules(&of(&["/v1", wrong]), Err("`cors.paths[1].path` is no path"));
        }
        check_rules(&of(&["/v1", "/v1"]), Err("is that of an earlier entry"));
        let many: Vec<String> = (0..=PATHS_MAX).map(|it| format!("/{it}")).collect();
        check_rules(&of(&many.iter().map(String::as_str).collect::<Vec<_>>()), Err("101 entries"));
    }
}
