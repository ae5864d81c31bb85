//! A request's body: bytes from the socket to JSON, of which `weir_transport::parameters` makes borrowed query, operation name and
//! variables.
//!
//! **Invariant:** no more is read than the bound, and what is read was JSON in UTF-8 without duplicate keys.
//! **Cost:** a body that came in one piece is not copied; strings without escapes are borrowed from it.

use super::answer::accepted_coding::{Packing, request_packing};
use super::answer::content_coding::{UnpackError, unpack};
use super::answer::refusal::Refusal;
use super::context::RequestContext;
use crate::config::Limits;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, StatusCode};
use weir_language::json::{Json, JsonBuffer, JsonError};
pub(crate) use weir_transport::list::check_list;
pub(crate) use weir_transport::parameters::{
    NamedRequest, Params, Unusable, UrlJson, UrlParams, params, url_param, url_params,
};

/// Reads and decompresses the body, within the limits.
pub(crate) async fn body(
    context: &RequestContext,
    headers: &HeaderMap,
    incoming: Incoming,
) -> Result<Bytes, Refusal> {
    let bytes_max = context.generation.config.limits.body_bytes_max as usize;
    let too_long = || {
        let message = format!("the body is longer than {bytes_max} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "LIMIT_BODY", message).with_close()
    };
    let packing = request_packing(headers);
    if packing == Packing::Unknown {
        let message = "the body's coding is unknown; send it plain or as gzip, br or zstd";
        return Err(
            Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message).with_close()
        );
    }
    if incoming.size_hint().lower() > bytes_max as u64 {
        return Err(too_long());
    }
    context.watched.await_body(true);
    let collected = collect(incoming, bytes_max).await;
    context.watched.await_body(false);
    let bytes = collected.map_err(|it| it.unwrap_or_else(too_long))?;
    let Packing::Packed(coding) = packing else { return Ok(bytes) };
    match unpack(coding, &bytes, bytes_max) {
        Ok(plain) => Ok(Bytes::from(plain)),
        Err(UnpackError::TooLong) => Err(too_long()),
        Err(UnpackError::Broken) => Err(Refusal::bad_request("the body is not in the coding it claims")),
    }
}

/// Concatenates all frames; `Err(None)` if they are too long.
async fn collect(mut incoming: Incoming, bytes_max: usize) -> Result<Bytes, Option<Refusal>> {
    let mut first = Bytes::new();
    let mut all: Option<BytesMut> = None;
    while let Some(frame) = incoming.frame().await {
        let broken = |_| Some(Refusal::bad_request("the body ended before it was complete").with_close());
        let Ok(bytes) = frame.map_err(broken)?.into_data() else { continue };
        let have = all.as_ref().map_or(first.len(), BytesMut::len);
        if have + bytes.len() > bytes_max {
            return Err(None);
        }
        match &mut all {
            Some(all) => all.extend_from_slice(&bytes),
            None if first.is_empty() => first = bytes,
            None => {
                let mut joined = BytesMut::with_capacity(first.len() + bytes.len());
                joined.extend_from_slice(&first);
                joined.extend_from_slice(&bytes);
                all = Some(joined);
            }
        }
    }
    Ok(all.map_or(first, BytesMut::freeze))
}

/// Parses a body as JSON, reusing a buffer.
pub(crate) fn json<'t>(buffer: JsonBuffer, body: &'t [u8], limits: &Limits) -> Result<Json<'t>, Refusal> {
    if body.is_empty() {
        return Err(Refusal::bad_request(
            "the body is empty: send {\"query\": \"{ … }\"} as application/json",
        ));
    }
    Json::parse_in(buffer, body, limits.nesting_max).map_err(|error| not_json(&error))
}

fn not_json(error: &JsonError) -> Refusal {
    Refusal::bad_request(format!("the body is not valid JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: Result<&str, &str>) {
        let limits = Limits::default();
        let found = json(JsonBuffer::default(), body.as_bytes(), &limits)
            .map_err(|it| it.message.into_owned())
            .and_then(|it| match params(it.root()) {
                Ok(it) => Ok(it.query.into_owned()),
                Err(it) => Err(it.message().to_string()),
            });
        match expected {
            Ok(query) => assert_eq!(found.as_deref(), Ok(query), "{body}"),
            Err(part) => assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{body}: {found:?}"),
        }
    }

    #[test]
    fn a_query_is_decoded() {
        check(r#"{"query":"{ a }"}"#, Ok("{ a }"));
        check(
            r#"{"query":"{\n a \u00e9 }","variables":null,"operationName":null,"other":1}"#,
            Ok("{\n a é }"),
        );
    }

    #[test]
    fn wrong_types_are_named() {
        check(r#"{"query":1}"#, Err("`query` must be a string"));
        check(r#"{"query":"{a}","variables":[]}"#, Err("`variables` must be an object"));
        check(r#"{"query":"{a}","extensions":"x"}"#, Err("`extensions` must be an object"));
        check(r#"{"query":"{a}","operationName":7}"#, Err("`operationName` must be a string"));
        check(r#"{"quer":"{a}"}"#, Err("`query` is missing"));
        check(r#"[1]"#, Err("must be a JSON object"));
        check("", Err("the body is empty"));
        check(r#"{"extensions":{"persistedQuery":{"version":1}}}"#, Err("PersistedQueryNotSupported"));
        check(
            r#"{"query":"","extensions":{"persistedQuery":{"version":1}}}"#,
            Err("PersistedQueryNotSupported"),
        );
        check(r#"{"query":""}"#, Ok(""));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        check(r#"{"query":"{a}","query":"{b}"}"#, Err("duplicate key"));
        check(r#"{"query":"{a}"} x"#, Err("not valid JSON"));
        check(r#"{"query":"\ud800"}"#, Err("lone surrogate"));
        check(&"[".repeat(100_000), Err("nested too deep"));
    }
}
