//! CORS: the headers of answers to pages, by the rules of the generation.
//!
//! **Invariant:** `Access-Control-Allow-Origin` names the origin of the request, or `*` where any was configured.

use super::answer::cache_headers;
use crate::generation::cors_rules::CorsRules;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderName, HeaderValue, ORIGIN,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method};

/// Browser header with the relation of a page to the server, which pages cannot set. Source: W3C Fetch Metadata, 2.3.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl CorsRules {
    /// True unless `head` comes from a page that may not call. Needed where browsers send no preflight, as for a WebSocket handshake. A
    /// page with an unknown origin may call only if any may.
    pub(crate) fn may_call(&self, head: &Parts) -> bool {
        let is_allowed = || {
            let rule = self.rule(head.uri.path());
            match head.headers.get(ORIGIN) {
                Some(origin) => rule.allowed_origin(origin).is_some(),
                None => rule.allows_any(),
            }
        };
        !is_of_another_origin(head) || is_allowed()
    }

    /// Adds the CORS headers of an answer.
    pub(crate) fn mark(&self, head: &Parts, answer: &mut HeaderMap) {
        let origin = head.headers.get(ORIGIN);
        let rule = self.rule(head.uri.path());
        // Caches between server and client store only answers to GET.
        if rule.differs() && (origin.is_some() || head.method == Method::GET) {
            cache_headers::differs_by(answer, "origin");
        }
        let Some(origin) = origin else { return };
        let Some(allowed) = rule.allowed_origin(origin) else {
            if is_of_another_origin(head) {
                self.log_refused_origin(origin);
            }
            return;
        };
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        answer.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("x-request-id, server-timing, x-weir-position"),
        );
        if rule.credentials {
            answer.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
    }

    /// Answers a preflight; false if `head` is none, or its origin may not call.
    pub(crate) fn preflight(&self, head: &Parts, methods: &'static str, answer: &mut HeaderMap) -> bool {
        let request = &head.headers;
        let rule = self.rule(head.uri.path());
        let may_call = request.get(ORIGIN).is_some_and(|it| rule.allowed_origin(it).is_some());
        if !request.contains_key(ACCESS_CONTROL_REQUEST_METHOD) || !may_call {
            return false;
        }
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
        // Sources may use any header, so only the origin decides.
        if let Some(headers) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
            cache_headers::differs_by(answer, "access-control-request-headers");
        }
        answer.insert(ACCESS_CONTROL_MAX_AGE, rule.max_age_s.clone());
        true
    }
}

/// True if a browser sends the request for a page of another origin. Without a preflight browsers send GET, HEAD, and POST with an empty
/// body, a form or plain text. A GET for an image, script or link has no `Origin`.
pub(crate) fn is_of_another_origin(head: &Parts) -> bool {
    let site = head.headers.get(&SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if matches!(site, Some(b"cross-site" | b"same-site")) {
        return true;
    }
    let Some(origin) = head.headers.get(ORIGIN) else { return false };
    let sent = || head.headers.get(HOST).and_then(|it| it.to_str().ok());
    let host = head.uri.authority().map(Authority::as_str).or_else(sent);
    let own = origin.to_str().ok().and_then(|it| it.split_once("://")).map(|it| it.1);
    own.is_none() || own != host
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::generation::cors_rules::REFUSED_MAX;
    use hyper::Request;

    fn head(origin: &'static str) -> Parts {
        let request = Request::builder().header(HOST, "localhost:8080").header(ORIGIN, origin);
        request.body(()).expect("it is a request").into_parts().0
    }

    fn check(origins: Option<&[&str]>, is_local: bool, origin: &'static str, expected: Option<&str>) {
        let origins = origins.map(|it| it.iter().map(|it| (*it).to_string()).collect());
        let cors = CorsRules::new(&config::Cors { origins, ..config::Cors::default() }, is_local);
        let head = head(origin);
        let mut answer = HeaderMap::new();
        cors.mark(&head, &mut answer);
        let found = answer.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(|it| it.to_str().expect("it is ASCII"));
        assert_eq!(found, expected, "{origin}");
        assert_eq!(cors.may_call(&head), expected.is_some() || origin == "http://localhost:8080");
        let refused = cors.refused.lock().expect("nobody panicked").len();
        assert_eq!(refused == 0, cors.may_call(&head), "{origin}");
    }

    #[test]
    fn only_an_exact_origin_is_allowed() {
        let good: Option<&[&str]> = Some(&["https://good.com"]);
        for is_local in [true, false] {
            check(good, is_local, "https://good.com", Some("https://good.com"));
            for other in ["https://good.com.evil.com", "http://good.com", "null", "http://localhost:3000"] {
                check(good, is_local, other, None);
            }
            check(Some(&[]), is_local, "http://localhost:3000", None);
            check(Some(&["*"]), is_local, "https://any.example", Some("*"));
        }
    }

    #[test]
    fn pages_of_this_machine_may_call_a_server_of_this_machine() {
        for origin in [
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:8443",
            "http://127.0.0.1:5173",
            "http://[::1]:1",
            "http://localhost:8080",
        ] {
            check(None, true, origin, Some(origin));
            check(None, false, origin, None);
        }
        for origin in [
            "null",
            "",
            "http://localhost.evil.com",
            "http://localhost:3000.evil.com",
            "http://127.0.0.1.nip.io",
            "http://127.0.0.10",
            "http://192.168.0.1:3000",
            "file://localhost",
            "http://evil.com",
        ] {
            check(None, true, origin, None);
        }
    }

    #[test]
    fn the_browser_s_word_on_the_site_counts_where_no_origin_is_told() {
        let rules = |origins: Option<&[&str]>| {
            let origins = origins.map(|it| it.iter().map(|it| (*it).to_string()).collect());
            CorsRules::new(&config::Cors { origins, ..config::Cors::default() }, true)
        };
        for (site, is_other) in
            [("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false), ("x", false)]
        {
            let request = Request::builder().header(HOST, "localhost:8080").header(SEC_FETCH_SITE, site);
            let head = request.body(()).expect("it is a request").into_parts().0;
            assert_eq!(is_of_another_origin(&head), is_other, "{site}");
            assert_eq!(rules(None).may_call(&head), !is_other, "{site}");
            assert!(rules(Some(&["*"])).may_call(&head), "{site}");
        }
        let mut good = head("https://good.com");
        good.headers.insert(SEC_FETCH_SITE, HeaderValue::from_static("cross-site"));
        assert!(rules(Some(&["https://good.com"])).may_call(&good) && !rules(None).may_call(&good));
    }

    #[test]
    fn the_longest_path_decides() {
        let rule = |path: &str, origins: &[&str], credentials| config::CorsPath {
            path: path.into(),
            origins: origins.iter().map(|it| (*it).into()).collect(),
            credentials,
            max_age_s: 7,
        };
        let paths = vec![
            rule("/api", &["https://*.good.com"], true),
            rule("/api/open", &["*"], false),
            rule("/shut", &[], false),
        ];
        let usual = Some(vec!["https://good.com".into()]);
        let cors = CorsRules::new(&config::Cors { origins: usual, paths, ..config::Cors::default() }, true);
        for (path, origin, expected) in [
            ("/v1/graphql", "https://good.com", Some("https://good.com")),
            ("/v1/graphql", "https://app.good.com", None),
            ("/apis", "https://good.com", Some("https://good.com")),
            ("/api", "https://app.good.com", Some("https://app.good.com")),
            ("/api/pets", "https://app.good.com", Some("https://app.good.com")),
            ("/api/pets", "https://good.com", None),
            ("/api/pets", "null", None),
            ("/api/open", "https://any.example", Some("*")),
            ("/api/open/pets", "null", Some("*")),
            ("/api/opened", "https://any.example", None),
            ("/sh%75t", "https://good.com", None),
            ("/api/%6Fpen", "https://any.example", Some("*")),
            ("/shut", "https://good.com", None),
            ("/shut/door", "http://localhost:3000", None),
        ] {
            let mut head = head(origin);
            head.uri = path.parse().expect("it is a path");
            head.headers.insert(ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST"));
            let mut answer = HeaderMap::new();
            cors.mark(&head, &mut answer);
            let found = answer.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(|it| it.to_str().expect("it is ASCII"));
            assert_eq!(found, expected, "{path} {origin}");
            let has_credentials = answer.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS);
            assert_eq!(has_credentials, expected == Some("https://app.good.com"), "{path} {origin}");
            assert_eq!(cors.may_call(&head), expected.is_some(), "{path} {origin}");
            assert_eq!(cors.preflight(&head, "POST", &mut HeaderMap::new()), expected.is_some(), "{path}");
        }
    }

    #[test]
    fn a_refused_origin_is_told_once_and_a_flood_of_them_is_not() {
        let cors = CorsRules::new(&config::Cors::default(), true);
        let refused = || cors.refused.lock().expect("nobody panicked").len();
        for _ in 0..3 {
            cors.mark(&head("http://evil.com"), &mut HeaderMap::new());
        }
        assert_eq!(refused(), 1);
        for number in 0..1000 {
            cors.log_refused_origin(
                &HeaderValue::from_str(&format!("http://{number}.evil.com")).expect("it is ASCII"),
            );
        }
        assert_eq!(refused(), REFUSED_MAX);
    }
}
