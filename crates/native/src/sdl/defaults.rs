//! `@default`: values for fields that are not given.

use super::{SdlReader, hint};
use crate::model::{DefaultValue, Field, FieldKind, Scalar};
use weir_language::ast::{Directive, ValueId};

/// The time of the mutation.
const NOW: &str = "$now";

impl SdlReader<'_> {
    pub(super) fn defaults(&mut self, field: &mut Field, directive: Directive) {
        let [add, update] = self.arguments(directive, ["add", "update"]);
        let problem = match field.kind {
            FieldKind::Id | FieldKind::Edge { .. } => Some("only a value has a default: remove `@default`"),
            _ if field.is_list => Some("a list has no default, it begins empty: remove `@default`"),
            _ if field.key.is_some() => Some("a key has to be given: remove `@default` or `@id`"),
            FieldKind::Scalar(Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon) => {
                Some("a shape has no default: remove `@default`")
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) if add.is_none() && update.is_none() => {
                Some("`@default` needs `add: {value: \"…\"}` or `update: {value: \"…\"}`")
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
        };
        if let Some(problem) = problem {
            return self.complain(directive.span, problem);
        }
        field.default_add = add.and_then(|value| self.default_value(field, value));
        field.default_update = update.and_then(|value| self.default_value(field, value));
    }

    /// The value of `{value: "…"}`, if it is one of the field's type.
    fn default_value(&mut self, field: &Field, value: ValueId) -> Option<DefaultValue> {
        let [text] = self.object_fields(value, ["value"]);
        let Some(text) = text else {
            let span = self.document.value(value).span;
            self.complain(span, "a default needs a `value`");
            return None;
        };
        let (text, span) = self.string(text)?;
        let (found, expected) = match field.kind {
            FieldKind::Scalar(scalar) => scalar_default(scalar, &text),
            FieldKind::Enum(id) => {
                let values = &self.enums[id.index()].values;
                let at = values.iter().position(|value| value.name == text);
                if at.is_none() {
                    let hint = hint(&text, values.iter().map(|value| value.name.as_str()));
                    let name = &self.enums[id.index()].name;
                    let message = format!("`{text}` is no value of `{name}`{hint}");
                    self.complain(span, message);
                    return None;
                }
                (at.map(|at| DefaultValue::Enum(at as u32)), "")
            }
            FieldKind::Id | FieldKind::Edge { .. } => return None,
        };
        if found.is_none() {
            self.complain(span, format!("`{text}` is not {expected}"));
        }
        found
    }
}

/// The default value in `text`, and the expected kind of value for messages.
fn scalar_default(scalar: Scalar, text: &str) -> (Option<DefaultValue>, &'static str) {
    match scalar {
        Scalar::String if text == NOW => (None, "for a String, only for a DateTime"),
        Scalar::String => (Some(DefaultValue::Text(text.to_owned())), "a text"),
        Scalar::Int => {
            (text.parse::<i32>().ok().map(|it| DefaultValue::Int(it.into())), "an integer of 32 bits")
        }
        Scalar::Int64 => (text.parse().ok().map(DefaultValue::Int), "an integer of 64 bits"),
        Scalar::Float => {
            let number = text.parse::<f64>().ok().filter(|it| it.is_finite());
            (number.map(DefaultValue::Float), "a number")
        }
        Scalar::Boolean => (text.parse().ok().map(DefaultValue::Boolean), "`true` or `false`"),
        Scalar::DateTime if text == NOW => (Some(DefaultValue::Now), ""),
        Scalar::DateTime => {
            let normal = weir_relational::values::instant::normal(text);
            let value = normal.map(|it| DefaultValue::Text(it.into_owned()));
            (value, "a point in time such as `2024-01-31T12:00:00Z`, nor `$now`")
        }
        Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon => (None, "a default"),
    }
}
