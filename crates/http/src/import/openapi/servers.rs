//! Base URLs: of the description, and of single paths and operations.

use super::document::{Document, text};
use serde_json::Value;

/// Base URL if the description has no host.
pub(super) const UNKNOWN_HOST: &str = "http://localhost";

/// Base URL of services.
pub(super) struct ServerAddress {
    pub url: String,
    /// True if the description names no host.
    pub is_unknown: bool,
}

impl ServerAddress {
    /// First server of the description, which comes from `origin`.
    pub(super) fn of(document: &Document, origin: &str) -> Self {
        let server = document.get(&["servers"]).and_then(|it| it.get(0));
        Self::of_server(server, origin)
    }

    /// First server of a path or an operation; `None` if it has no servers.
    pub(super) fn first_own(of: &Value, origin: &str) -> Option<Self> {
        Some(Self::of_server(Some(of.get("servers")?.get(0)?), origin))
    }

    fn of_server(server: Option<&Value>, origin: &str) -> Self {
        let url = server.map_or_else(String::new, address);
        if let Some(rest) = url.strip_prefix("//") {
            return Self::from_url(&format!("https://{rest}"));
        }
        if url.starts_with("http://") || url.starts_with("https://") {
            return Self::from_url(&url);
        }
        let path = url.trim_start_matches('/');
        match origin.split_once("://") {
            Some((scheme, rest)) => {
                let host = rest.split('/').next().unwrap_or(rest);
                Self::from_url(&format!("{scheme}://{host}/{path}"))
            }
            None => Self { is_unknown: true, ..Self::from_url(&format!("{UNKNOWN_HOST}/{path}")) },
        }
    }

    fn from_url(url: &str) -> Self {
        let url = url.split(['?', '#']).next().unwrap_or(url);
        Self { url: url.trim_end_matches('/').to_string(), is_unknown: false }
    }
}

/// URL of a server, with each variable's default or first allowed value.
fn address(server: &Value) -> String {
    let mut url = text(server, "url").unwrap_or_default().to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let first = || variable.get("enum").and_then(|it| it.get(0)).and_then(Value::as_str);
        if let Some(value) = text(variable, "default").or_else(first) {
            url = url.replace(&format!("{{{name}}}"), value);
        }
    }
    // An undefined variable is replaced by its name, because braces are invalid in a URL.
    url.replace(['{', '}'], "")
}
