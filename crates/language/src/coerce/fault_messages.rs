//! Errors of values and their wording: graphql-js's for strict reading, Hasura's for lenient reading.

use super::digits::is_number;
use super::{Reading, dgraph};
use crate::error::Code;
use crate::ids::{InputId, TypeId};
use crate::syntax::ast::ValueKind;
use crate::type_system::{ScalarReader, SchemaView, TypeKind, TypeRef, Wording};

/// Why a leaf is no value of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It has the wrong form.
    Form,
    /// It is an integer, but too large.
    Size,
    /// It holds a variable, which the scalar cannot take apart.
    Variable,
}

/// A fact about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Null(TypeRef),
    Leaf(TypeId, Why),
    NoObject(TypeId),
    /// Neither a name nor (in JSON) a string.
    NoEnum(TypeId),
    /// The enum has no such value.
    NoValue(TypeId, String),
    /// The input object has no such field.
    Unknown(TypeId, String),
    Missing(TypeId, InputId),
    Twice(InputId),
    /// Not exactly one member for `@oneOf`.
    NotOne(TypeId),
    OneOfNull(TypeId, InputId),
    /// More items than allowed.
    TooLong(u32),
    /// More nodes than a tape may have once defaults are filled in.
    TooLarge,
}

/// A fact and its place.
#[derive(Debug)]
pub(super) struct CoercionFault {
    /// In the tree.
    pub(super) at: u32,
    /// Path from the root of the value: `.a[1]`, or empty.
    pub(super) path: String,
    pub(super) unfit: Unfit,
}

/// The expected form of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Literal,
}

impl Unfit {
    pub(super) const fn code(&self, form: Form) -> Code {
        match (self, form) {
            (Self::TooLong(_) | Self::TooLarge, _) => Code::LimitList,
            (_, Form::Json) => Code::Variable,
            (_, Form::Literal) => Code::Validation,
        }
    }

    /// True if the value stands in place of a text. The message names only its kind, because it may be a password without its
    /// quotes.
    pub(super) fn hides(&self, schema: SchemaView<'_>) -> bool {
        matches!(self, Self::Leaf(ty, _) if schema.ty(*ty).kind == TypeKind::Scalar(ScalarReader::String))
    }

    /// Message of the error; `shown` is the wrong value alone, as messages show it.
    pub(super) fn words(
        &self,
        schema: SchemaView<'_>,
        reading: Reading,
        form: Form,
        shown: &str,
        kind: &str,
    ) -> String {
        match reading {
            Reading::Strict if schema.wording() == Wording::Dgraph => self.dgraph(schema, form, shown, kind),
            Reading::Strict => self.strict(schema, form, shown),
            Reading::Lenient => self.lenient(schema, shown, kind),
        }
    }

    fn strict(&self, schema: SchemaView<'_>, form: Form, shown: &str) -> String {
        let name = |id: &TypeId| schema.type_name(*id);
        match self {
            Self::Null(ty) => match form {
                Form::Json => {
                    format!("Expected non-nullable type \"{}\" not to be null.", schema.type_text(*ty))
                }
                Form::Literal => format!("Expected value of type \"{}\", found null.", schema.type_text(*ty)),
            },
            Self::Leaf(ty, why) => leaf(schema, *ty, *why, shown),
            Self::NoObject(ty) => match form {
                Form::Json => format!("Expected type \"{}\" to be an object.", name(ty)),
                Form::Literal => format!("Expected value of type \"{}\", found {shown}.", name(ty)),
            },
            Self::NoEnum(ty) => {
                let kind = if form == Form::Json { "string" } else { "enum" };
                format!("Enum \"{}\" cannot represent non-{kind} value: {shown}.", name(ty))
            }
            Self::NoValue(ty, value) => {
                format!("Value \"{}\" does not exist in \"{}\" enum.", short(value), name(ty))
            }
            Self::Unknown(ty, field) => {
                format!("Field \"{}\" is not defined by type \"{}\".", short(field), name(ty))
            }
            Self::Missing(ty, input) => {
                let owner = if form == Form::Json { String::new() } else { format!("{}.", name(ty)) };
                let wanted = schema.type_text(schema.input(*input).ty);
                let field = schema.input_name(*input);
                format!("Field \"{owner}{field}\" of required type \"{wanted}\" was not provided.")
            }
            Self::Twice(input) => {
                format!("There can be only one input field named \"{}\".", schema.input_name(*input))
            }
            Self::NotOne(ty) => match form {
                Form::Json => format!("Exactly one key must be specified for OneOf type \"{}\".", name(ty)),
                Form::Literal => {
                    format!("OneOf Input Object \"{}\" must specify exactly one key.", name(ty))
                }
            },
            Self::OneOfNull(ty, input) => match form {
                Form::Json => format!("Field \"{}\" must be non-null.", schema.input_name(*input)),
                Form::Literal => {
                    format!("Field \"{}.{}\" must be non-null.", name(ty), schema.input_name(*input))
                }
            },
            Self::TooLong(most) => format!("List contains more than {most} items."),
            Self::TooLarge => "Default values make the value too large.".to_owned(),
        }
    }

    /// Message of gqlparser; its errors have the position as their path.
    fn dgraph(&self, schema: SchemaView<'_>, form: Form, shown: &str, kind: &str) -> String {
        let name = |id: &TypeId| schema.type_name(*id);
        match self {
            Self::Null(_) => "cannot be null".to_owned(),
            Self::Leaf(ty, Why::Size) if is_integer(schema, *ty) => dgraph::out_of_range(shown, name(ty)),
            Self::Leaf(ty, Why::Form) if is_integer(schema, *ty) && is_number(shown) => {
                dgraph::type_mismatch_message(shown, name(ty))
            }
            Self::Leaf(ty, _) => format!("cannot use {} as {}", go_kind(kind), name(ty)),
            Self::NoObject(ty) => format!("must be a {}", name(ty)),
            Self::NoEnum(_) => "enums must be ints or strings".to_owned(),
            Self::NoValue(ty, value) => format!("{} is not a valid {}", short(value), name(ty)),
            Self::Unknown(..) => "unknown field".to_owned(),
            Self::Missing(..) => "must be defined".to_owned(),
            Self::Twice(_) | Self::NotOne(_) | Self::OneOfNull(..) | Self::TooLong(_) | Self::TooLarge => {
                self.strict(schema, form, shown)
            }
        }
    }

    /// Name of the object member in question, if it is not the end of the path.
    pub(super) fn member<'s>(&'s self, schema: SchemaView<'s>) -> Option<&'s str> {
        match self {
            Self::Unknown(_, field) => Some(field),
            Self::Missing(_, input) => Some(schema.input_name(*input)),
            Self::Null(_)
            | Self::Leaf(..)
            | Self::NoObject(_)
            | Self::NoEnum(_)
            | Self::NoValue(..)
            | Self::Twice(_)
            | Self::NotOne(_)
            | Self::OneOfNull(..)
            | Self::TooLong(_)
            | Self::TooLarge => None,
        }
    }

    fn lenient(&self, schema: SchemaView<'_>, shown: &str, kind: &str) -> String {
        let name = |id: &TypeId| schema.type_name(*id);
        match self {
            Self::Null(ty) if !ty.wraps.is_list() && is_input_object(schema, ty.base) => {
                format!("expected an object for type '{}', but found null", name(&ty.base))
            }
            Self::Null(ty) => format!("unexpected null value for type '{}'", name(&ty.base)),
            Self::Leaf(_, Why::Variable) => "a variable cannot stand inside a JSON literal".to_owned(),
            Self::Leaf(ty, Why::Form | Why::Size) if is_integer(schema, *ty) && is_number(shown) => format!(
                "The value {} lies outside the bounds or is not an integer. \
                 Maybe it is a float, or is there integer overflow?",
                scientific(shown)
            ),
            Self::Leaf(ty, _) if is_float(schema, *ty) && is_number(shown) => {
                format!("The value {shown} lies outside the range of type '{}'", name(ty))
            }
            Self::Leaf(ty, Why::Form | Why::Size) => {
                format!(
                    "expected {} for type '{}', but found {kind}",
                    hasura_type_name(schema, *ty),
                    name(ty)
                )
            }
            Self::NoObject(ty) => format!("expected an object for type '{}', but found {kind}", name(ty)),
            Self::NoEnum(ty) => format!("expected an enum value for type '{}', but found {kind}", name(ty)),
            Self::NoValue(ty, value) => {
                let mut values: Vec<_> = schema
                    .enum_values(*ty)
                    .map(|it| format!("'{}'", schema.str(schema.enum_value(it).name)))
                    .collect();
                values.sort_unstable();
                let values = values.join(", ");
                let value = short(value);
                format!("expected one of the values [{values}] for type '{}', but found '{value}'", name(ty))
            }
            Self::Unknown(ty, field) => format!("field '{}' not found in type: '{}'", short(field), name(ty)),
            Self::Missing(_, input) => format!("missing required field '{}'", schema.input_name(*input)),
            Self::Twice(input) => format!("field '{}' is given twice", schema.input_name(*input)),
            Self::NotOne(ty) => format!("exactly one field must be given for type '{}'", name(ty)),
            Self::OneOfNull(_, input) => {
                format!("field '{}' must not be null", schema.input_name(*input))
            }
            Self::TooLong(most) => format!("the list has more than {most} items"),
            Self::TooLarge => "default values make the value too large".to_owned(),
        }
    }
}

fn leaf(schema: SchemaView<'_>, ty: TypeId, why: Why, shown: &str) -> String {
    let name = schema.type_name(ty);
    let TypeKind::Scalar(reader) = schema.ty(ty).kind else {
        return format!("Expected value of type \"{name}\", found {shown}.");
    };
    let what = match (reader, why) {
        (_, Why::Variable) => "a variable inside a literal",
        (ScalarReader::Int, Why::Size) => "non 32-bit signed integer value",
        (ScalarReader::BigInt, Why::Size) => "non 64-bit signed integer value",
        (ScalarReader::Int | ScalarReader::BigInt, Why::Form) => "non-integer value",
        (ScalarReader::Float | ScalarReader::Decimal, _) => "non numeric value",
        (ScalarReader::String, _) => "a non string value",
        (ScalarReader::Boolean, _) => "a non boolean value",
        (ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment | ScalarReader::Json, _) => "value",
    };
    format!("{name} cannot represent {what}: {shown}")
}

/// A kind of JSON as Go calls the type it is read as.
fn go_kind(kind: &str) -> &str {
    match kind {
        "a string" => "string",
        "a boolean" => "bool",
        "an integer" | "a float" => "Number",
        "an object" => "object",
        "a list" => "list",
        other => other,
    }
}

fn is_integer(schema: SchemaView<'_>, ty: TypeId) -> bool {
    matches!(schema.ty(ty).kind, TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt))
}

fn is_float(schema: SchemaView<'_>, ty: TypeId) -> bool {
    schema.ty(ty).kind == TypeKind::Scalar(ScalarReader::Float)
}

/// A number as Hasura shows it: `32768.0`, and `2.147483648e9` from ten million on.
pub fn scientific(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(i64::from(i32::MAX));
    // Number of digits before the point.
    let point = exponent.saturating_add(whole.len() as i64 - (digits.len() - significant.len()) as i64);
    let significant = significant.trim_end_matches('0');
    match usize::try_from(point) {
        _ if significant.is_empty() => format!("{sign}0.0"),
        Ok(before @ 0..=7) => {
            let padded = format!("{significant:0<before$}");
            let (before, after) = padded.split_at(before);
            let zero = |part: &str| if part.is_empty() { "0".to_owned() } else { part.to_owned() };
            format!("{sign}{}.{}", zero(before), zero(after))
        }
        Ok(_) | Err(_) => {
            let (first, after) = significant.split_at(1);
            let after = if after.is_empty() { "0" } else { after };
            format!("{sign}{first}.{after}e{}", point.saturating_sub(1))
        }
    }
}

fn is_input_object(schema: SchemaView<'_>, ty: TypeId) -> bool {
    matches!(schema.ty(ty).kind, TypeKind::Input { .. })
}

/// Hasura's name for the expected type.
fn hasura_type_name(schema: SchemaView<'_>, ty: TypeId) -> &'static str {
    match schema.ty(ty).kind {
        TypeKind::Scalar(ScalarReader::Int) => "a 32-bit integer",
        TypeKind::Scalar(ScalarReader::BigInt) => "a 64-bit integer",
        TypeKind::Scalar(ScalarReader::Float) => "a float",
        TypeKind::Scalar(ScalarReader::Decimal) => "a number",
        TypeKind::Scalar(ScalarReader::Boolean) => "a boolean",
        TypeKind::Scalar(
            ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment,
        ) => "a string",
        TypeKind::Scalar(ScalarReader::Json)
        | TypeKind::Object
        | TypeKind::Interface
        | TypeKind::Union
        | TypeKind::Enum
        | TypeKind::Input { .. } => "a value",
    }
}

/// The form of a list in messages, without its items: they may include a password.
pub(crate) const fn list_mark(is_empty: bool) -> &'static str {
    if is_empty { "[]" } else { "[…]" }
}

/// The form of an object in messages, without its members.
pub(crate) const fn object_mark(is_empty: bool) -> &'static str {
    if is_empty { "{}" } else { "{…}" }
}

/// The name of the kind of a literal in messages.
pub(crate) const fn kind_of_literal(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Variable(_) => "a variable",
        ValueKind::Int => "an integer",
        ValueKind::Float => "a float",
        ValueKind::String { .. } | ValueKind::Block => "a string",
        ValueKind::Boolean(_) => "a boolean",
        ValueKind::Null => "null",
        ValueKind::Enum => "an enum value",
        ValueKind::List(_) => "a list",
        ValueKind::Object(_) => "an object",
    }
}

/// The most bytes of a client's value that an error repeats.
const SHOWN_BYTES_MAX: usize = 200;

/// The beginning of `text`, so that errors stay small whatever was sent.
pub(super) fn short(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= SHOWN_BYTES_MAX {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_haskell_shows_them() {
        let check = |number, expected| assert_eq!(scientific(number), expected, "{number}");
        check("32768", "32768.0");
        check("-1.5", "-1.5");
        check("0.10", "0.1");
        check("9999999", "9999999.0");
        check("10000000", "1.0e7");
        check("2147483648", "2.147483648e9");
        check("-12345678", "-1.2345678e7");
        check("1.25e3", "1250.0");
        check("0.05", "5.0e-2");
        check("0e9", "0.0");
        check("0.01e-9223372036854775807", "1.0e-9223372036854775808");
    }
}
