//! Errors of values during writing, in graphql-js's words.
//!
//! Source: GraphQL specification, sections 3.5 (result coercion) and 6.4.4 (handling execution errors).

use crate::answer::field_error::FieldError;
use weir_language::schema::{FieldId, Schema, TypeId};

/// A value that does not fit its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault<'v> {
    /// Null in a non-null place.
    Null,
    /// An integer beyond the 32 bits of `Int`.
    WideInt(i128),
    /// Infinity or not a number.
    NotFinite(f64),
    /// A text that is no value of its enum.
    NoEnumValue(&'v [u8]),
    /// An object of a type that cannot stand here.
    WrongType(TypeId),
    /// `initialCount` of a `@stream` is negative.
    InitialCount,
    /// Values of another kind than the member's type: the source broke its contract.
    Broken,
}

impl Fault<'_> {
    /// The stable code in `extensions.code`.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Null => "NULL_FOR_NON_NULL",
            Self::WideInt(_) => "INT_RANGE",
            Self::NotFinite(_) => "FLOAT_RANGE",
            Self::NoEnumValue(_) => "ENUM_VALUE",
            Self::InitialCount => "INITIAL_COUNT",
            Self::WrongType(_) | Self::Broken => "INTERNAL",
        }
    }

    /// The error of a value of `field`, whose named type is `base`.
    #[cold]
    #[inline(never)]
    pub(crate) fn error(self, schema: &Schema, field: FieldId, base: TypeId) -> FieldError {
        let field = schema.field(field);
        let parent = schema.type_name(field.parent);
        let name = schema.str(field.name);
        let base = schema.type_name(base);
        let message = match self {
            Self::Null => format!("Cannot return null for non-nullable field {parent}.{name}."),
            Self::WideInt(value) => {
                format!("Int cannot represent non 32-bit signed integer value: {value}")
            }
            Self::NotFinite(value) => {
                let value = if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "Infinity"
                } else {
                    "-Infinity"
                };
                format!("Float cannot represent non numeric value: {value}")
            }
            Self::NoEnumValue(text) => {
                format!("Enum \"{base}\" cannot represent value: \"{}\"", String::from_utf8_lossy(text))
            }
            Self::WrongType(ty) => {
                let ty = schema.type_name(ty);
                format!("Runtime Object type \"{ty}\" is not a possible type for \"{base}\".")
            }
            Self::InitialCount => {
                format!("initialCount of @stream on field {parent}.{name} must be zero or more.")
            }
            Self::Broken => format!("{parent}.{name} was given a value of another type."),
        };
        FieldError { code: self.code(), message: message.into(), hasura_path: None, extensions: None }
    }
}
