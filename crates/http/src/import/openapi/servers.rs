//! Addresses of a description: its own, and those of single paths and operations.

use super::document::{Document, text};
use serde_json::Value;

/// The host of a description that does not say one.
pub(super) const UNKNOWN_HOST: &str = "http://localhost";

/// The address of the services.
pub(super) struct ServerAddress {
    pub url: String,
    /// True if nothing says the host.
    pub is_unknown: bool,
}

impl ServerAddress {
    /// The first server of the description, which is from `origin`.
    pub(super) fn of(document: &Document, origin: &str) -> Self {
        let server = document.get(&["servers"]).and_then(|it| it.get(0));
        Self::of_server(server, origin)
    }

    /// The first of the servers of a path or an operation, if it has its own.
    pub(super) fn own(of: &Value, origin: &str) -> Option<Self> {
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

/// The URL of a server, with the defaults of its variables, or the first of their values.
fn address(server: &Value) -> String {
    let mut url = text(server, "url").unwrap_or_default().to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let first = || variable.get("enum").and_then(|it| it.get(0)).and_then(Value::as_str);
        if let Some(value) = text(variable, "default").or_else(first) {
            url = url.replace(&format!("{{{name}}}"), value);
        }
    }
    // A variable that nothing defines is named like its value: no brace can stand in an address.
    url.replace(['{', '}'], "")
}
