//! Which web pages of other origins may call: exact origins, compared as a whole.

use super::lifetime;
use crate::config;
use hyper::HeaderMap;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN,
};

/// The request headers a page may set.
const ALLOWED_HEADERS: &str = "content-type, accept, authorization, x-request-id, x-hasura-admin-secret, \
                               x-weir-admin-secret, x-hasura-role";

/// The rules of one generation.
#[derive(Debug)]
pub(crate) struct Cors {
    origins: Vec<HeaderValue>,
    any: bool,
    credentials: bool,
    max_age_s: HeaderValue,
}

impl Cors {
    pub(crate) fn new(config: &config::Cors) -> Self {
        Self {
            origins: config.origins.iter().filter_map(|it| HeaderValue::from_str(it).ok()).collect(),
            any: config.origins.iter().any(|it| it == "*"),
            credentials: config.credentials,
            max_age_s: HeaderValue::from(config.max_age_s),
        }
    }

    /// Whether any page may call at all.
    pub(crate) fn is_on(&self) -> bool {
        !self.origins.is_empty()
    }

    /// The value of `Access-Control-Allow-Origin` for a request, if its origin may read the answer.
    fn allowed(&self, request: &HeaderMap) -> Option<HeaderValue> {
        let origin = request.get(ORIGIN)?;
        if self.any {
            return Some(HeaderValue::from_static("*"));
        }
        self.origins.iter().find(|it| *it == origin).cloned()
    }

    /// Adds what the answer to any request needs.
    pub(crate) fn mark(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        if !self.is_on() {
            return;
        }
        lifetime::differs_by(answer, "origin");
        if let Some(origin) = self.allowed(request) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            answer.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("x-request-id, server-timing"),
            );
            if self.credentials {
                answer.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            }
        }
    }

    /// Whether this `OPTIONS` request is a browser's question that is answered with yes.
    pub(crate) fn preflight(
        &self,
        request: &HeaderMap,
        methods: &'static str,
        answer: &mut HeaderMap,
    ) -> bool {
        if !request.contains_key(ACCESS_CONTROL_REQUEST_METHOD) || self.allowed(request).is_none() {
            return false;
        }
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
        answer.insert(ACCESS_CONTROL_MAX_AGE, self.max_age_s.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origins: &[&str], origin: &'static str, expected: Option<&str>) {
        let origins = origins.iter().map(|it| (*it).to_string()).collect();
        let cors = Cors::new(&config::Cors { origins, credentials: false, max_age_s: 60 });
        let (mut request, mut answer) = (HeaderMap::new(), HeaderMap::new());
        request.insert(ORIGIN, HeaderValue::from_static(origin));
        cors.mark(&request, &mut answer);
        let found = answer.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(|it| it.to_str().expect("it is ASCII"));
        assert_eq!(found, expected, "{origin}");
    }

    #[test]
    fn only_an_exact_origin_is_allowed() {
        let good = ["https://good.com"];
        check(&good, "https://good.com", Some("https://good.com"));
        check(&good, "https://good.com.evil.com", None);
        check(&good, "http://good.com", None);
        check(&good, "null", None);
        check(&[], "https://good.com", None);
        check(&["*"], "https://any.example", Some("*"));
    }
}
