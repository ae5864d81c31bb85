//! A request's body and parameters: bytes from the socket to borrowed query, operation name and variables.
//!
//! **Invariant:** no more is read than the bound, and what is read was JSON in UTF-8 without duplicate keys.
//! **Cost:** a body that came in one piece is not copied; strings without escapes are borrowed from it.

use super::content_coding::{UnpackError, unpack};
use super::context::RequestContext;
use super::negotiate::{Packing, packing};
use super::refusal::Refusal;
use crate::config::Limits;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use weir_language::json::{Json, JsonBuffer, JsonError, JsonRef};

/// Parameters of a request.
#[derive(Clone, Debug)]
pub(crate) struct Params<'t> {
    pub(crate) query: Cow<'t, str>,
    pub(crate) operation_name: Option<Cow<'t, str>>,
    pub(crate) variables: Option<JsonRef<'t>>,
}

/// Why there are no parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// `query` is missing.
    NoQuery,
    /// Only the hash of a query came; there is no store of them.
    PersistedOnly,
    /// The hash that came with a query is another text's.
    OtherHash,
    /// A parameter has another type than it must have.
    Wrong(&'static str),
    /// No object at all.
    NoObject,
}

impl Unusable {
    /// Code of its error.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            // Clients look for exactly its words, then send the whole text.
            Self::PersistedOnly => "PERSISTED_QUERY_NOT_SUPPORTED",
            Self::OtherHash => "PERSISTED_QUERY_MISMATCH",
            Self::NoQuery | Self::Wrong(_) | Self::NoObject => "BAD_REQUEST",
        }
    }

    /// In words.
    pub(crate) const fn message(&self) -> &'static str {
        match self {
            Self::NoQuery => "`query` is missing: send {\"query\": \"{ … }\"}",
            Self::PersistedOnly => "PersistedQueryNotSupported",
            Self::OtherHash => "provided sha does not match query",
            Self::Wrong(message) => message,
            Self::NoObject => "the body must be a JSON object: {\"query\": \"{ … }\"}",
        }
    }
}

/// Reads the whole body, unpacked, within the limits.
pub(crate) async fn body(
    context: &RequestContext,
    headers: &HeaderMap,
    incoming: Incoming,
) -> Result<Bytes, Refusal> {
    let bytes_max = context.generation.config.limits.body_bytes_max as usize;
    let too_long = || {
        let message = format!("the body is longer than {bytes_max} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "LIMIT_BODY", message).closing()
    };
    let packing = packing(headers);
    if packing == Packing::Unknown {
        let message = "the body's coding is unknown; send it plain or as gzip, br or zstd";
        return Err(
            Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message).closing()
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

/// All frames in one piece; `Err(None)` if they are too long.
async fn collect(mut incoming: Incoming, bytes_max: usize) -> Result<Bytes, Option<Refusal>> {
    let mut first = Bytes::new();
    let mut all: Option<BytesMut> = None;
    while let Some(frame) = incoming.frame().await {
        let broken = |_| Some(Refusal::bad_request("the body ended before it was complete").closing());
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

/// Reads a body as JSON in the memory of an earlier one.
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

/// The parameters in an object of a body.
pub(crate) fn params<'t>(body: JsonRef<'t>) -> Result<Params<'t>, Unusable> {
    if !body.is_object() {
        return Err(Unusable::NoObject);
    }
    let (mut query, mut operation_name, mut variables, mut extensions) = (None, None, None, None);
    for (key, value) in body.members() {
        match key.as_ref() {
            "query" => query = Some(value),
            "operationName" => operation_name = Some(value),
            "variables" => variables = Some(value),
            "extensions" => extensions = Some(value),
            // Unknown keys are ignored: other servers use them.
            _ => {}
        }
    }
    let present = |it: Option<JsonRef<'t>>| it.filter(|it| !it.is_null());
    let (variables, extensions) = (present(variables), present(extensions));
    if variables.is_some_and(|it| !it.is_object()) {
        return Err(Unusable::Wrong("`variables` must be an object"));
    }
    if extensions.is_some_and(|it| !it.is_object()) {
        return Err(Unusable::Wrong("`extensions` must be an object"));
    }
    let operation_name = match present(operation_name) {
        None => None,
        Some(it) => Some(it.as_str().ok_or(Unusable::Wrong("`operationName` must be a string"))?),
    };
    let is_persisted = extensions.is_some_and(|it| it.get("persistedQuery").is_some());
    let Some(query) = present(query) else {
        return Err(if is_persisted { Unusable::PersistedOnly } else { Unusable::NoQuery });
    };
    let query = query.as_str().ok_or(Unusable::Wrong("`query` must be a string"))?;
    // Some clients send an empty text with a hash.
    if is_persisted && query.is_empty() {
        return Err(Unusable::PersistedOnly);
    }
    check_hash(&query, extensions)?;
    Ok(Params { query, operation_name, variables })
}

/// Holds a query against the SHA-256 that its client sent along to have it persisted: a text under another's hash would poison whoever keeps
/// texts between us and the client.
pub(crate) fn check_hash(query: &str, extensions: Option<JsonRef<'_>>) -> Result<(), Unusable> {
    let persisted = extensions.and_then(|it| it.get("persistedQuery"));
    let Some(sent) = persisted.filter(|it| it.is_object()).and_then(|it| it.get("sha256Hash")) else {
        return Ok(());
    };
    let digits: String = Sha256::digest(query.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let is_right = sent.as_str().is_some_and(|it| it.eq_ignore_ascii_case(&digits));
    if is_right { Ok(()) } else { Err(Unusable::OtherHash) }
}

/// The parameters of a GET: percent-decoded texts, of which `variables` and `extensions` are JSON.
#[derive(Debug, Default)]
pub(crate) struct UrlParams {
    pub(crate) query: Option<String>,
    pub(crate) operation_name: Option<String>,
    pub(crate) variables: Option<String>,
    pub(crate) extensions: Option<String>,
}

/// Reads `query=…&variables=…`.
pub(crate) fn url_params(query: &str) -> Result<UrlParams, Refusal> {
    let mut params = UrlParams::default();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match percent_decoded(name)?.as_str() {
            "query" => &mut params.query,
            "operationName" => &mut params.operation_name,
            "variables" => &mut params.variables,
            "extensions" => &mut params.extensions,
            _ => continue,
        };
        if slot.replace(percent_decoded(value)?).is_some() {
            return Err(Refusal::bad_request("a parameter stands twice in the URL"));
        }
    }
    Ok(params)
}

/// The parameter `name` of a URL, if it has one that is not empty.
pub(crate) fn url_param(query: Option<&str>, name: &str) -> Result<Option<String>, Refusal> {
    let pairs = query.unwrap_or_default().split('&').filter_map(|it| it.split_once('='));
    let value = pairs.into_iter().find(|it| it.0 == name).map(|it| percent_decoded(it.1)).transpose()?;
    Ok(value.filter(|it| !it.is_empty()))
}

/// The bytes behind `%41` and `+`, which have to be UTF-8. Source: URL Standard, section 5.
fn percent_decoded(text: &str) -> Result<String, Refusal> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |place: usize| bytes.get(place).and_then(|it| char::from(*it).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', _, _) => out.push(b' '),
            (byte, _, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8(out).map_err(|_| Refusal::bad_request("the URL holds invalid UTF-8"))
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

    #[test]
    fn url_parameters_are_percent_decoded() {
        let it = url_params("query=%7Ba%7D+x&variables=%7B%7D&z=1").expect("it is well formed");
        assert_eq!((it.query.as_deref(), it.variables.as_deref()), (Some("{a} x"), Some("{}")));
        assert!(url_params("query=a&query=b").is_err());
        assert!(url_params("query=%ff").is_err());
    }
}
