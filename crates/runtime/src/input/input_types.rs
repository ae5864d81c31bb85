//! Rust types that values of arguments become: numbers, texts, lists, and places that may be empty. Structs and enums are bound by
//! macros.

use super::{Input, InputBinder, InputError, InputValue, Shape};
use weir_engine::memory::RawJson;
use weir_language::schema::{ScalarReader, TypeRef};
use weir_language::value::Node;

/// A value that distinguishes absent from null, for partial updates.
///
/// ```
/// use weir_runtime::{Maybe, input};
/// struct Change { name: Maybe<String> }
/// input!(Change { name });
/// let words = |change: &Change| match &change.name {
///     Maybe::Absent => "it stays".to_owned(),
///     Maybe::Null => "it is removed".to_owned(),
///     Maybe::Value(name) => format!("it becomes {name}"),
/// };
/// assert_eq!(words(&Change { name: Maybe::Null }), "it is removed");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Maybe<T> {
    /// It was not given.
    #[default]
    Absent,
    /// `null` was given.
    Null,
    /// A value was given.
    Value(T),
}

impl<T: Input> Input for Maybe<T> {
    const IS_OPTIONAL: bool = true;
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        T::shape(binder, ty)
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        if value.is_null() { Ok(Self::Null) } else { T::read(value).map(Self::Value) }
    }
    fn absent() -> Option<Self> {
        Some(Self::Absent)
    }
}

impl<T: Input> Input for Option<T> {
    const IS_OPTIONAL: bool = true;
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        T::shape(binder, ty)
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Input> Input for Vec<T> {
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        let item = ty.item().ok_or_else(|| binder.unfit(ty, "list"))?;
        if !item.is_non_null() && !T::IS_OPTIONAL {
            return Err(format!(
                "`{}` has items that may be null: read them into `Option`s",
                binder.schema.type_text(ty)
            ));
        }
        T::shape(binder, item)
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        if value.is_null() {
            return Err(InputError::new("it may not be null"));
        }
        let absent = || T::absent().ok_or_else(|| InputError::new("an item was not given"));
        value.items().map(|it| it.map_or_else(absent, T::read)).collect()
    }
}

impl<T: Input> Input for Box<T> {
    const IS_OPTIONAL: bool = T::IS_OPTIONAL;
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        T::shape(binder, ty)
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        T::read(value).map(Self::new)
    }
    fn absent() -> Option<Self> {
        T::absent().map(Self::new)
    }
}

/// The value of an integer.
fn integer(value: InputValue<'_>) -> Option<i64> {
    match value.node() {
        Node::Int(value) | Node::QuotedInt(value) => Some(value),
        _ => None,
    }
}

/// Leaves: their readers, and how a value is taken.
macro_rules! leaf {
    ($($rust:ty: $what:literal, $readers:pat, |$value:ident| $read:expr;)*) => { $(
        impl Input for $rust {
            fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
                binder.leaf(ty, $what, |reader| matches!(reader, $readers))
            }
            fn read($value: InputValue<'_>) -> Result<Self, InputError> {
                let read: Option<Self> = $read;
                read.ok_or_else(|| InputError::new(concat!("it is no ", $what)))
            }
        }
    )* };
}
leaf! {
    i32: "integer of 32 bits", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    i64: "integer", Some(ScalarReader::Int | ScalarReader::BigInt), |value| integer(value);
    i8: "integer of 8 bits", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    i16: "integer of 16 bits", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    isize: "integer", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    u8: "integer from 0 to 255", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    u16: "integer from 0 to 65535", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    u32: "integer from 0 to 4294967295", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    u64: "integer that is not negative", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    usize: "integer that is not negative", Some(ScalarReader::Int | ScalarReader::BigInt),
        |value| integer(value).and_then(|it| it.try_into().ok());
    f32: "number of 32 bits", Some(ScalarReader::Float), |value| {
        let wide = f64::read(value).ok();
        wide.map(|it| it as f32).filter(|it| it.is_finite())
    };
    char: "single character", None | Some(ScalarReader::String | ScalarReader::Id | ScalarReader::Text),
        |value| value.text().and_then(|text| {
            let mut letters = text.chars();
            letters.next().filter(|_| letters.next().is_none())
        });
    f64: "number", Some(ScalarReader::Float), |value| match value.node() {
        Node::Float(value) => Some(value),
        Node::Int(value) => Some(value as f64),
        _ => None,
    };
    bool: "Boolean", Some(ScalarReader::Boolean), |value| match value.node() {
        Node::Bool(value) => Some(value),
        _ => None,
    };
    String: "text", None | Some(ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment),
        |value| value.text().map(str::to_owned);
    RawJson: "JSON", Some(ScalarReader::Json | ScalarReader::Decimal),
        |value| value.text().map(|text| RawJson(text.into()));
}
