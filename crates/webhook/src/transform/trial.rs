//! `test_webhook_transform`: a transform is applied to a request that is not sent.
//!
//! **Invariant:** no variable of the environment is read; the arguments say what they would be.

use super::{OriginalRequest, RequestTransformer, TransformErrors};
use crate::address::WebhookUrl;
use crate::environment::{EnvironmentError, resolve_address};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use weir_kriti::Value;
use weir_language::json::{Json, JsonRef, quote};
use weir_metadata::document::webhook::{RequestTransform, WebhookAddress};
use weir_metadata::read;

/// Reason for which a trial has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialError {
    /// Hasura's code.
    pub code: &'static str,
    /// The member of the arguments, with its dot; empty for all.
    pub member: &'static str,
    pub message: String,
    /// Errors of templates, as JSON.
    pub internal: Option<String>,
}

fn wrong(member: &'static str, message: impl Into<String>) -> TrialError {
    TrialError { code: "parse-failed", member, message: message.into(), internal: None }
}

fn invalid(errors: &TransformErrors) -> TrialError {
    let message = "request transform validation failed".to_owned();
    TrialError { code: "validation-failed", member: "", message, internal: Some(errors.to_json()) }
}

/// The request that the transform of `args` makes, as JSON: `{"webhook_url", "method", "headers", "body"}`.
/// # Errors
/// Arguments that do not fit, variables without a value, and errors of the transform.
pub fn test_transform(args: JsonRef<'_>) -> Result<String, TrialError> {
    let url = read_url(args)?;
    let body = args.get("body").ok_or_else(|| wrong("", "key \"body\" not found"))?;
    let transform =
        args.get("request_transform").ok_or_else(|| wrong("", "key \"request_transform\" not found"))?;
    let transform: RequestTransform =
        read::entry(transform.raw()).map_err(|it| wrong(".request_transform", it))?;
    let session = args.get("session_variables").filter(|it| !it.is_null());
    let original = OriginalRequest {
        method: Method::POST,
        url: &url,
        headers: read_headers(args)?,
        body: Bytes::copy_from_slice(body.raw().as_bytes()),
        session_variables: session.map_or(Value::Null, read_session),
    };
    let transformer = RequestTransformer::parse(&transform).map_err(|it| invalid(&it))?;
    let request = transformer.apply(original).map_err(|it| invalid(&it))?;
    let mut out = "{\"webhook_url\":".to_owned();
    quote(request.url.text(), &mut out);
    out.push_str(",\"method\":");
    quote(request.method.as_str(), &mut out);
    out.push_str(",\"headers\":[");
    for (at, (name, value)) in request.headers.iter().enumerate() {
        out.push_str(if at > 0 { ",[" } else { "[" });
        quote(name.as_str(), &mut out);
        out.push(',');
        quote(&String::from_utf8_lossy(value.as_bytes()), &mut out);
        out.push(']');
    }
    out.push_str("],\"body\":");
    let text = String::from_utf8_lossy(&request.body);
    match Json::parse(&request.body, super::BODY_DEPTH_MAX) {
        Ok(_) => out.push_str(&text),
        Err(_) if text.is_empty() => out.push_str("null"),
        Err(_) => quote(&text, &mut out),
    }
    out.push('}');
    Ok(out)
}

fn read_url(args: JsonRef<'_>) -> Result<WebhookUrl, TrialError> {
    let member = args.get("webhook_url").ok_or_else(|| wrong("", "key \"webhook_url\" not found"))?;
    let name = member.get("from_env").and_then(|it| it.as_str());
    let address = match (member.as_str(), name) {
        (Some(text), _) => WebhookAddress::Template(text.into_owned()),
        (None, Some(name)) => WebhookAddress::FromEnv(name.into_owned()),
        (None, None) => {
            return Err(wrong(".webhook_url", "a string is expected, or an object with `from_env`"));
        }
    };
    let environment = |name: &str| {
        let value = args.get("env").and_then(|it| it.get(name))?;
        value.as_str().map(std::borrow::Cow::into_owned)
    };
    let text = resolve_address(&address, &environment).map_err(|error| {
        let names = match error {
            EnvironmentError::Address(names) => names.join(", "),
            EnvironmentError::Variable(name) => name,
            EnvironmentError::Template(_) | EnvironmentError::Header(_) => String::new(),
        };
        let message = format!(
            "Missing Env Var: {names}. For security reasons when testing request options real environment variable values are not accessible. Please mock values for your environment variables in the test params."
        );
        TrialError { code: "not-found", member: ".webhook_url", message, internal: None }
    })?;
    WebhookUrl::parse(&text).map_err(|it| wrong(".webhook_url", it))
}

/// Session variables with keys in lower case.
fn read_session(session: JsonRef<'_>) -> Value {
    let lower =
        |(name, value): (std::borrow::Cow<'_, str>, _)| (name.to_lowercase(), Value::from_json(value));
    let members: Vec<_> = session.members().map(lower).collect();
    Value::object(members.iter().map(|it| (it.0.as_str(), it.1.clone())))
}

fn read_headers(args: JsonRef<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, TrialError> {
    let mut headers = Vec::new();
    for pair in args.get("request_headers").into_iter().flat_map(JsonRef::items) {
        let parts: Vec<_> = pair.items().map(JsonRef::as_str).collect();
        let header = match parts.as_slice() {
            [Some(name), Some(value)] => {
                let name = HeaderName::from_bytes(name.as_bytes()).ok();
                name.zip(HeaderValue::from_str(value).ok())
            }
            _ => None,
        };
        headers
            .push(header.ok_or_else(|| wrong(".request_headers", "a list of names and values is expected"))?);
    }
    Ok(headers)
}
