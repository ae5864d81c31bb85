//! Transforms of answers. They run for every status.

use super::read_body;
use super::templates::{BodyTemplate, MadeBody};
use super::transform_error::TransformErrors;
use bytes::Bytes;
use http::StatusCode;
use std::fmt;
use weir_kriti::{Scope, Value};
use weir_language::json::quote;
use weir_metadata::document::webhook::ResponseTransform;

/// A parsed `response_transform`.
pub struct ResponseTransformer {
    body: Option<BodyTemplate>,
}

impl fmt::Debug for ResponseTransformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseTransformer").finish_non_exhaustive()
    }
}

/// The answer before its transform.
#[derive(Clone, Debug)]
pub struct OriginalAnswer<'a> {
    /// Status; it stays.
    pub status: StatusCode,
    /// Body; what is no JSON is null in templates.
    pub body: &'a Bytes,
    /// Session variables, see [`super::OriginalRequest::session_variables`].
    pub session_variables: Value,
    /// [`super::TransformedRequest::context`]; null without a transform of the request.
    pub request: Value,
}

impl ResponseTransformer {
    /// Parses the template of `transform`.
    /// # Errors
    /// It is none.
    pub fn parse(transform: &ResponseTransform) -> Result<Self, TransformErrors> {
        let mut errors = TransformErrors::default();
        let body = transform.body.as_ref().and_then(|it| BodyTemplate::parse(it, &mut errors));
        errors.unless_any(|| Some(Self { body }))
    }

    /// The body that the answer's becomes: a JSON text, if the transform changes it.
    /// # Errors
    /// Those of the template.
    pub fn apply(&self, original: &OriginalAnswer<'_>) -> Result<Bytes, TransformErrors> {
        let Some(template) = &self.body else { return Ok(original.body.clone()) };
        let status = Value::Number(original.status.as_u16().to_string().into());
        let scope = Scope::default()
            .with("$body", read_body(original.body))
            .with("$session_variables", original.session_variables.clone())
            .with("$request", original.request.clone())
            .with("$response", Value::object([("status", status)]));
        let mut errors = TransformErrors::default();
        let made = template.evaluate(&scope, &mut errors);
        errors.unless_any(|| {
            Some(match made? {
                MadeBody::None => Bytes::from_static(b"null"),
                MadeBody::Json(text) => text.into(),
                MadeBody::Form(form) => {
                    let mut text = String::with_capacity(form.len() + 2);
                    quote(&form, &mut text);
                    text.into()
                }
            })
        })
    }
}
