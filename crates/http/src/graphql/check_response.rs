//! Cacheability of a GraphQL server's answer: incomplete answers go to waiting requests and are not cached.
//!
//! A status says little here: servers send errors under 200, and data under others. So an answer that has errors, or no data,
//! gets a status under which nothing is kept; one that has data is none that refused everything.
//!
//! Source: GraphQL over HTTP, whose 294 is "partial success".

use super::DEPTH_MAX;
use crate::call::Answer;
use http::StatusCode;
use weir_language::json::{Json, JsonRef};

/// Start of a good answer, which contains no `errors`: it is not parsed here.
const USUAL: &[u8] = b"{\"data\":{";
const ERRORS: &[u8] = b"\"errors\"";

/// Sets a status on `answer` that decides how it is cached.
pub(super) fn check_response(answer: Answer) -> Answer {
    let (has_data, has_errors) = has_data_and_errors(&answer.body);
    let status = match answer.status {
        it if it.is_success() && has_data && !has_errors => it,
        it if it.is_success() || it.is_client_error() && has_data => partial_status(),
        // The server itself is missing, which says nothing about the requested data. A 404 would be cached as "does not exist".
        StatusCode::NOT_FOUND | StatusCode::GONE => StatusCode::BAD_REQUEST,
        it => it,
    };
    Answer { status, ..answer }
}

fn partial_status() -> StatusCode {
    StatusCode::from_u16(294).unwrap_or(StatusCode::MULTI_STATUS)
}

/// Returns whether a body has data, and whether it has errors.
fn has_data_and_errors(body: &[u8]) -> (bool, bool) {
    if body.starts_with(USUAL) && memchr::memmem::find(body, ERRORS).is_none() {
        return (true, false);
    }
    let Ok(json) = Json::parse(body, DEPTH_MAX) else { return (false, false) };
    let errors = json.root().get("errors");
    let is_any = |it: JsonRef<'_>| !(it.is_null() || it.is_array() && it.items().next().is_none());
    (json.root().get("data").is_some_and(JsonRef::is_object), errors.is_some_and(is_any))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::HeaderMap;

    #[test]
    fn only_data_without_errors_keeps_its_status() {
        let check = |status: u16, body: &'static str, expected: u16| {
            let headers = HeaderMap::new();
            let trailers = HeaderMap::new();
            let status = StatusCode::from_u16(status).unwrap();
            let answer = Answer {
                status,
                headers,
                body: Bytes::from_static(body.as_bytes()),
                trailers,
                went: Default::default(),
            };
            assert_eq!(check_response(answer).status.as_u16(), expected, "{body}");
        };
        check(200, r#"{"data":{"a":1}}"#, 200);
        check(200, r#" { "extensions": {}, "data": {"a": "\"errors\""}, "errors": []}"#, 200);
        check(200, r#"{"data":{"a":null},"errors":[{"message":"x"}]}"#, 294);
        check(200, r#"{"errors":[{"message":"x"}],"data":{"a":1}}"#, 294);
        check(200, r#"{"errors":[{"message":"x"}],"data":null}"#, 294);
        check(200, r#"{"data":{"a":1},"errors":{}}"#, 294);
        check(200, r#"{"data":null}"#, 294);
        check(200, "{}", 294);
        check(200, "<html>", 294);
        check(400, r#"{"errors":[{"message":"x"}]}"#, 400);
        check(403, r#"{"errors":[{"message":"x"}],"data":{"a":1}}"#, 294);
        check(404, r#"{"errors":[{"message":"x"}]}"#, 400);
        check(410, "gone", 400);
        check(429, "", 429);
        check(500, r#"{"errors":[{"message":"x"}],"data":{"a":1}}"#, 500);
        check(503, "<html>", 503);
    }
}
