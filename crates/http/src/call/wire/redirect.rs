//! Redirects, which are followed only within the same host.
//!
//! **Invariant:** a followed redirect keeps scheme, host and port. Headers for one host reach no other.

use http::header::LOCATION;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, StatusCode, Uri};

/// Maximum number of followed redirects per call.
pub(crate) const REDIRECTS_MAX: usize = 3;

/// How an answer's status and `Location` are handled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// No redirect.
    None,
    /// Follow to this path on the same host.
    Follow(PathAndQuery),
    /// Refuse: another host, or not followable.
    Refuse,
}

/// A request that was answered.
#[derive(Clone, Copy)]
pub(crate) struct RequestTarget<'r> {
    pub(crate) method: &'r Method,
    pub(crate) scheme: &'r Scheme,
    pub(crate) authority: &'r Authority,
    pub(crate) path: &'r PathAndQuery,
}

/// Decides about `status` and `headers` of the answer to a request.
pub(crate) fn find_redirect(status: StatusCode, headers: &HeaderMap, target: RequestTarget<'_>) -> Redirect {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Redirect::None;
    }
    let location = headers.get(LOCATION).and_then(|it| it.to_str().ok());
    match location.and_then(|it| resolve(it, target)) {
        Some(path) if target.method.is_safe() => Redirect::Follow(path),
        Some(_) | None => Redirect::Refuse,
    }
}

/// Resolves a relative reference. Source: RFC 3986, 5.2.
fn resolve(location: &str, target: RequestTarget<'_>) -> Option<PathAndQuery> {
    let RequestTarget { scheme, authority, path, .. } = target;
    let reference = location.split('#').next().unwrap_or("");
    let first = reference.split(['/', '?']).next().unwrap_or("");
    let absolute = if first.contains(':') {
        Some(reference.to_owned())
    } else {
        reference.strip_prefix("//").map(|it| format!("{scheme}://{it}"))
    };
    if let Some(absolute) = absolute {
        let uri: Uri = absolute.parse().ok()?;
        let is_own = uri.scheme()? == scheme && is_same(scheme, uri.authority()?, authority);
        return is_own.then(|| uri.into_parts().path_and_query.unwrap_or(PathAndQuery::from_static("/")));
    }
    let target = match reference.as_bytes().first() {
        None => path.as_str().to_owned(),
        Some(b'/') => reference.to_owned(),
        Some(b'?') => format!("{}{reference}", path.path()),
        Some(_) => {
            let folder = path.path().rsplit_once('/').map_or("", |it| it.0);
            let (relative, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
            format!("{}{query}", without_dots(&format!("{folder}/{relative}")))
        }
    };
    target.parse().ok()
}

/// Removes `.` and `..` segments. Source: RFC 3986, 5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

fn is_same(scheme: &Scheme, one: &Authority, other: &Authority) -> bool {
    let usual = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    let port = |it: &Authority| it.port_u16().unwrap_or(usual);
    one.host().eq_ignore_ascii_case(other.host()) && port(one) == port(other) && !one.as_str().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the target of a GET of `http://shop:80/a/b?c=d` that is redirected to `location`.
    fn check(location: &str, expected: Option<&str>) {
        let headers = [(LOCATION, location.parse().unwrap())].into_iter().collect();
        let target = RequestTarget {
            method: &Method::GET,
            scheme: &Scheme::HTTP,
            authority: &Authority::from_static("shop:80"),
            path: &PathAndQuery::from_static("/a/b?c=d"),
        };
        let found = find_redirect(StatusCode::FOUND, &headers, target);
        let expected = expected.map_or(Redirect::Refuse, |it| Redirect::Follow(it.parse().unwrap()));
        assert_eq!(found, expected, "{location}");
    }

    #[test]
    fn the_same_host_is_followed() {
        check("/x?y=z", Some("/x?y=z"));
        check("x#part", Some("/a/x"));
        check("?y", Some("/a/b?y"));
        check("../x/./y?q=../r", Some("/x/y?q=../r"));
        check("..", Some("/"));
        check("http://shop/x", Some("/x"));
        check("http://SHOP:80", Some("/"));
        check("//shop:80/x", Some("/x"));
    }

    #[test]
    fn nothing_else_is() {
        for location in
            ["https://shop/x", "http://shop:81/x", "http://shop.evil/x", "//evil/x", "file:///etc/passwd"]
        {
            check(location, None);
        }
        for location in [
            "http://shop@evil/x",
            "http://evil@shop/x",
            "mailto:a@b",
            "javascript:1",
            "file:/etc/passwd",
            "ftp://shop/",
        ] {
            check(location, None);
        }
    }

    #[test]
    fn a_request_that_may_change_something_is_not_sent_elsewhere() {
        let headers = [(LOCATION, "/x".parse().unwrap())].into_iter().collect();
        let authority = Authority::from_static("shop");
        let path = PathAndQuery::from_static("/");
        let ask = |status, method| {
            let target =
                RequestTarget { method: &method, scheme: &Scheme::HTTP, authority: &authority, path: &path };
            find_redirect(status, &headers, target)
        };
        assert_eq!(ask(StatusCode::TEMPORARY_REDIRECT, Method::POST), Redirect::Refuse);
        assert_eq!(ask(StatusCode::NOT_MODIFIED, Method::GET), Redirect::None);
        assert_eq!(ask(StatusCode::OK, Method::GET), Redirect::None);
    }
}
