//! Transforms of requests.

use super::read_body;
use super::templates::{BodyTemplate, MadeBody, TextTemplate, push_pair};
use super::transform_error::{TransformError, TransformErrors};
use crate::address::WebhookUrl;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use std::fmt;
use weir_kriti::{Scope, Value};
use weir_metadata::document::webhook::{QueryTransform, RequestTransform};

/// The member with the templates of the query.
const QUERY: &str = "query_params";

/// A parsed `request_transform`.
pub struct RequestTransformer {
    method: Option<Method>,
    url: Option<TextTemplate>,
    body: Option<BodyTemplate>,
    query: Option<QueryTemplate>,
    added: Vec<(HeaderName, TextTemplate)>,
    removed: Vec<HeaderName>,
}

impl fmt::Debug for RequestTransformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestTransformer").finish_non_exhaustive()
    }
}

enum QueryTemplate {
    Parameters(Vec<(TextTemplate, Option<TextTemplate>)>),
    Text(TextTemplate),
}

/// The request before its transform.
#[derive(Clone, Debug)]
pub struct OriginalRequest<'r> {
    pub method: Method,
    /// Address, with variables of the environment filled in.
    pub url: &'r WebhookUrl,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Body, a JSON text.
    pub body: Bytes,
    /// Session variables, an object with keys in lower case, or null.
    pub session_variables: Value,
}

/// The request after its transform.
#[derive(Clone, Debug)]
pub struct TransformedRequest {
    pub method: Method,
    /// Address.
    pub url: WebhookUrl,
    /// Headers; some may stand there twice.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Body; empty for none.
    pub body: Bytes,
    /// The value of `$request` in the transform of the answer.
    pub context: Value,
}

impl RequestTransformer {
    /// Parses all templates of `transform`.
    /// # Errors
    /// Templates that are none, and a method or names of headers that HTTP does not allow.
    pub fn parse(transform: &RequestTransform) -> Result<Self, TransformErrors> {
        let mut errors = TransformErrors::default();
        let method = transform.method.as_ref().and_then(|text| {
            let method = Method::from_bytes(text.as_bytes());
            let wrong = |_| TransformError::result("the method is none of HTTP", Some(text));
            errors.keep("method", method.map_err(wrong))
        });
        let url = transform.url.as_ref().and_then(|it| errors.keep("url", TextTemplate::parse(it)));
        let body = transform.body.as_ref().and_then(|it| BodyTemplate::parse(it, &mut errors));
        let query = transform.query_params.as_ref().and_then(|it| parse_query(it, &mut errors));
        let headers = transform.request_headers.clone().unwrap_or_default();
        let mut added = Vec::new();
        for (name, text) in &headers.add {
            let place = header_place(name);
            let template = errors.keep(&place, TextTemplate::parse(text));
            added.extend(errors.keep(&place, read_name(name)).zip(template));
        }
        let place = "request_headers.remove_headers";
        let removed = headers.remove.iter().filter_map(|it| errors.keep(place, read_name(it))).collect();
        errors.unless_any(|| Some(Self { method, url, body, query, added, removed }))
    }

    /// The request that `original` becomes.
    /// # Errors
    /// Those of all parts.
    pub fn apply(&self, original: OriginalRequest<'_>) -> Result<TransformedRequest, TransformErrors> {
        let context = context(&original);
        let scope = scope(&context);
        let mut errors = TransformErrors::default();
        let url = self.make_url(original.url, &scope, &mut errors);
        let body = match &self.body {
            None => Some(original.body),
            Some(template) => template.evaluate(&scope, &mut errors).map(|it| match it {
                MadeBody::None => Bytes::new(),
                MadeBody::Json(text) | MadeBody::Form(text) => text.into(),
            }),
        };
        let mut headers = original.headers;
        headers.retain(|it| !self.removed.contains(&it.0));
        for (name, template) in &self.added {
            let value = template.evaluate(&scope).and_then(|text| {
                let wrong = |_| {
                    TransformError::result(format!("the header `{name}` cannot have this value"), Some(&text))
                };
                HeaderValue::from_str(&text).map_err(wrong)
            });
            headers.extend(errors.keep(&header_place(name.as_str()), value).map(|it| (name.clone(), it)));
        }
        let method = self.method.clone().unwrap_or(original.method);
        errors.unless_any(|| {
            let parts = ["method", "url", "body", "query_params", "request_headers"];
            let context = Value::object(parts.map(|it| (it, context.clone())));
            Some(TransformedRequest { method, url: url?, headers, body: body?, context })
        })
    }

    /// The address. A query of the transform replaces all of the address's own.
    fn make_url(
        &self,
        original: &WebhookUrl,
        scope: &Scope,
        errors: &mut TransformErrors,
    ) -> Option<WebhookUrl> {
        let url = match &self.url {
            None => original.clone(),
            Some(template) => {
                let text = errors.keep("url", template.evaluate(scope))?;
                let url = WebhookUrl::parse(&text).map_err(|it| TransformError::result(it, Some(&text)));
                errors.keep("url", url)?
            }
        };
        let Some(query) = &self.query else { return Some(url) };
        let query = match query {
            QueryTemplate::Text(template) => {
                let text = errors.keep(QUERY, template.evaluate(scope))?;
                text.strip_prefix('?').unwrap_or(&text).to_owned()
            }
            QueryTemplate::Parameters(parameters) => {
                let mut query = String::new();
                for (name, value) in parameters {
                    let name = errors.keep(QUERY, name.evaluate(scope));
                    let value = value.as_ref().map(|it| errors.keep(QUERY, it.evaluate(scope)));
                    match (name, value) {
                        (Some(name), None) if name != "null" => push_pair(&name, None, &mut query),
                        (Some(name), Some(Some(value))) if name != "null" && value != "null" => {
                            push_pair(&name, Some(&value), &mut query);
                        }
                        _ => {}
                    }
                }
                query
            }
        };
        let url = url.with_query(&query).map_err(|it| TransformError::result(it, Some(&query)));
        errors.keep(QUERY, url)
    }
}

fn parse_query(query: &QueryTransform, errors: &mut TransformErrors) -> Option<QueryTemplate> {
    match query {
        QueryTransform::Text(text) => errors.keep(QUERY, TextTemplate::parse(text)).map(QueryTemplate::Text),
        QueryTransform::Parameters(parameters) => {
            let mut templates = Vec::new();
            for (name, value) in parameters {
                let place = format!("{QUERY}.{name}");
                let name = errors.keep(&place, TextTemplate::parse(name));
                let value = match value {
                    None => Some(None),
                    Some(text) => errors.keep(&place, TextTemplate::parse(text)).map(Some),
                };
                templates.extend(name.zip(value));
            }
            Some(QueryTemplate::Parameters(templates))
        }
    }
}

/// The template of an added header.
fn header_place(name: &str) -> String {
    format!("request_headers.add_headers.{name}")
}

fn read_name(name: &str) -> Result<HeaderName, TransformError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| TransformError::result("the name of a header is none of HTTP", Some(name)))
}

/// Body, session, address and query of the request, which the templates of each part see.
fn context(original: &OriginalRequest<'_>) -> Value {
    let query = original.url.query().unwrap_or_default();
    let parameters = query.split('&').filter(|it| !it.is_empty()).map(|parameter| {
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name, decode(value)),
            None => (parameter, Value::Null),
        };
        Value::Array(std::sync::Arc::from([decode(name), value]))
    });
    Value::object([
        ("body", read_body(&original.body)),
        ("session_variables", original.session_variables.clone()),
        ("base_url", Value::text(original.url.text())),
        ("query_params", Value::Array(parameters.collect())),
    ])
}

/// A part of a query without its escapes.
fn decode(part: &str) -> Value {
    let text = part.replace('+', " ");
    Value::text(&percent_encoding::percent_decode_str(&text).decode_utf8_lossy())
}

fn scope(context: &Value) -> Scope {
    let Value::Object(members) = context else { return Scope::default() };
    members
        .iter()
        .fold(Scope::default(), |scope, (name, value)| scope.with(&format!("${name}"), value.clone()))
}
