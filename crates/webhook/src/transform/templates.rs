//! Parsed templates of parts that requests and answers share.

use super::transform_error::{JSON_BODY, TransformError, TransformErrors};
use weir_kriti::{EvaluationLimits, Scope, Template, Value};
use weir_metadata::document::webhook::BodyTransform;

/// Limits of each template.
pub(super) const LIMITS: EvaluationLimits = EvaluationLimits::USUAL;

/// The member with the templates of a form.
const FORM: &str = "body.form_template";

/// A template without its quotes, whose value is a text.
pub(super) struct TextTemplate(Template);

impl TextTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, TransformError> {
        Ok(Self(Template::parse_quoted(text)?))
    }

    pub(super) fn evaluate(&self, scope: &Scope) -> Result<String, TransformError> {
        match self.0.evaluate(scope, LIMITS)? {
            Value::Text(text) => Ok(text.to_string()),
            other => Err(TransformError::result(format!("a text is expected, not '{}'", other.kind()), None)),
        }
    }
}

/// Templates of a body.
pub(super) enum BodyTemplate {
    Remove,
    Json(Template),
    /// Names and values of a form.
    Form(Vec<(String, TextTemplate)>),
}

/// The body that a template gives.
pub(super) enum MadeBody {
    None,
    /// JSON text.
    Json(String),
    /// A form, encoded.
    Form(String),
}

impl BodyTemplate {
    pub(super) fn parse(body: &BodyTransform, errors: &mut TransformErrors) -> Option<Self> {
        match body {
            BodyTransform::Remove => Some(Self::Remove),
            BodyTransform::Template(text) => errors.keep(JSON_BODY, Template::parse(text)).map(Self::Json),
            BodyTransform::Form(fields) => {
                let mut templates = Vec::new();
                for (name, text) in fields {
                    let template = errors.keep(&format!("{FORM}.{name}"), TextTemplate::parse(text));
                    templates.extend(template.map(|it| (name.clone(), it)));
                }
                Some(Self::Form(templates))
            }
        }
    }

    pub(super) fn evaluate(&self, scope: &Scope, errors: &mut TransformErrors) -> Option<MadeBody> {
        match self {
            Self::Remove => Some(MadeBody::None),
            Self::Json(template) => {
                errors.keep(JSON_BODY, template.render(scope, LIMITS)).map(MadeBody::Json)
            }
            Self::Form(fields) => {
                let mut form = String::new();
                for (name, template) in fields {
                    let value = errors.keep(&format!("{FORM}.{name}"), template.evaluate(scope));
                    if let Some(value) = value.filter(|it| it != "null") {
                        push_pair(name, Some(&value), &mut form);
                    }
                }
                Some(MadeBody::Form(form))
            }
        }
    }
}

/// Appends `name=value` to a query or form, percent-encoded.
pub(super) fn push_pair(name: &str, value: Option<&str>, out: &mut String) {
    if !out.is_empty() {
        out.push('&');
    }
    push_encoded(name, out);
    if let Some(value) = value {
        out.push('=');
        push_encoded(value, out);
    }
}

/// Percent-encodes all but unreserved characters. Source: RFC 3986, 2.3.
fn push_encoded(text: &str, out: &mut String) {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    out.extend(percent_encoding::utf8_percent_encode(text, KEPT));
}
