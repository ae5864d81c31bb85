//! Custom scalars and enums: Rust types with a reader and a writer.
//!
//! **Invariant:** a scalar of the SDL is read from and written as JSON; digits are passed as they are written.
//!
//! **Cost:** a value is written straight into the response; reading allocates what the type itself does.

use crate::input::{InputBinder, InputError, InputValue, Shape};
use std::borrow::Cow;
use weir_engine::memory::{Binder, Spot, Unbound, Writer};
use weir_engine::rows::{Bitmap, Column, Data, Texts};
use weir_engine::write::out::Out;
use weir_language::json::Json;
use weir_language::schema::{ScalarReader, TypeRef};

/// A Rust type for a scalar of the SDL. [`scalar!`](crate::scalar!) implements it.
///
/// ```
/// use weir_runtime::{Scalar, ScalarValue, ScalarWriter, scalar};
/// struct Cents(i64);
/// impl Scalar for Cents {
///     const NAME: &'static str = "Money";
///     fn read(value: ScalarValue<'_>) -> Result<Self, String> {
///         let digits = value.number().ok_or("it is no number")?;
///         digits.parse().map(Cents).map_err(|_| "it is no whole number of cents".to_owned())
///     }
///     fn write(&self, writer: &mut ScalarWriter<'_>) {
///         writer.int(self.0);
///     }
/// }
/// scalar!(Cents);
/// ```
pub trait Scalar: Sized + Send + Sync + 'static {
    /// The scalar's name.
    const NAME: &'static str;
    /// Reads a value that a client sent.
    /// # Errors
    /// A message for the client.
    fn read(value: ScalarValue<'_>) -> Result<Self, String>;
    /// Writes exactly one JSON value.
    fn write(&self, writer: &mut ScalarWriter<'_>);
}

/// A JSON value that is not null. [`Scalar`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScalarValue<'v> {
    /// A text, escapes resolved.
    Text(Cow<'v, str>),
    /// The digits of a number.
    Number(&'v str),
    /// `true` or `false`.
    Bool(bool),
    /// A list or an object, as JSON.
    Json(&'v str),
}

impl ScalarValue<'_> {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Bool(_) | Self::Json(_) => None,
        }
    }
    /// The digits, if it is a number.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        match self {
            Self::Number(digits) => Some(digits),
            Self::Text(_) | Self::Bool(_) | Self::Json(_) => None,
        }
    }
}

/// Takes one JSON value. [`Scalar`] has an example.
pub struct ScalarWriter<'w>(&'w mut Out);

impl ScalarWriter<'_> {
    /// A text, which is escaped.
    pub fn text(&mut self, text: &str) {
        self.0.string(text);
    }
    /// An integer.
    pub fn int(&mut self, value: i64) {
        self.0.int(value);
    }
    /// A number by its shortest digits; null if it is not finite.
    pub fn float(&mut self, value: f64) {
        if !self.0.float(value) {
            self.0.null();
        }
    }
    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.0.bool(value);
    }
    /// JSON, which is not checked: the digits of a number, a document.
    pub fn json(&mut self, json: &str) {
        self.0.raw(json.as_bytes());
    }
}

/// Binds the scalar `S` of answers.
#[doc(hidden)]
pub fn bind_scalar<S: Scalar>(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
    binder.leaf(spot, S::NAME, |reader| reader.is_some())?;
    let bindings = binder.bindings();
    if bindings.schema().type_name(bindings.ty(spot.ty.base)) == S::NAME {
        Ok(())
    } else {
        Err(binder.unfit(spot, S::NAME))
    }
}

/// Writes a scalar of an answer.
#[doc(hidden)]
pub fn write_scalar<S: Scalar>(scalar: &S, writer: &mut Writer<'_>) -> bool {
    scalar.write(&mut ScalarWriter(writer.out()));
    true
}

/// Bitmap of the nulls in `values`.
fn nulls<T>(values: &[Option<&T>]) -> Bitmap {
    let mut nulls = Bitmap::default();
    values.iter().enumerate().filter(|it| it.1.is_none()).for_each(|it| nulls.set(it.0));
    nulls
}

/// Scalars of answers as a column.
#[doc(hidden)]
#[must_use]
pub fn scalar_column<S: Scalar>(values: &[Option<&S>]) -> Column {
    let mut out = Out::default();
    let mut ends = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Some(value) => value.write(&mut ScalarWriter(&mut out)),
            None => out.null(),
        }
        ends.push(out.len() as u32);
    }
    let texts = Texts { bytes: out.into_bytes(), ends };
    Column { nulls: nulls(values), data: Data::Json(texts), ..Column::default() }
}

/// Checks that `ty` is the scalar `S`.
#[doc(hidden)]
pub fn scalar_shape<S: Scalar>(binder: &InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
    let is_it = binder.schema().type_name(ty.base) == S::NAME;
    binder.leaf(ty, S::NAME, |reader| is_it && matches!(reader, Some(ScalarReader::Json)))
}

/// Reads a scalar that a client sent.
#[doc(hidden)]
pub fn read_scalar<S: Scalar>(value: InputValue<'_>) -> Result<S, InputError> {
    let text = value.text().unwrap_or("null");
    let json = Json::parse(text.as_bytes(), u32::MAX).map_err(|error| InputError::new(error.to_string()))?;
    let root = json.root();
    let value = if let Some(text) = root.as_str() {
        ScalarValue::Text(text)
    } else if let Some(digits) = root.as_number() {
        ScalarValue::Number(digits)
    } else if let Some(value) = root.as_bool() {
        ScalarValue::Bool(value)
    } else if root.is_null() {
        return Err(InputError::new("it may not be null"));
    } else {
        ScalarValue::Json(root.raw())
    };
    S::read(value).map_err(InputError::new)
}

/// A Rust enum for an enum of the SDL. [`enumeration!`](crate::enumeration!) implements the trait and has an example.
pub trait Enumeration: Copy + Send + Sync + 'static {
    /// The Rust type's name.
    const NAME: &'static str;
    /// Names of the values, by variant.
    const NAMES: &'static [&'static str];
    /// The place of the variant.
    fn index(self) -> usize;
    /// The variant at a place.
    fn at(index: usize) -> Option<Self>;
}

/// Binds an enum of answers: every variant has to be a value.
#[doc(hidden)]
pub fn bind_enumeration<E: Enumeration>(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
    binder.leaf(spot, E::NAME, |reader| reader.is_none())?;
    let bindings = binder.bindings();
    let schema = bindings.schema();
    let ty = bindings.ty(spot.ty.base);
    match E::NAMES.iter().find(|name| schema.enum_value_by_name(ty, name).is_none()) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("`{}` has the variant `{name}`, which `{}` lacks", E::NAME, schema.type_name(ty));
            Err(Unbound { message, field: spot.field })
        }
    }
}

/// Writes a value of an enum.
#[doc(hidden)]
pub fn write_enumeration<E: Enumeration>(value: E, writer: &mut Writer<'_>) -> bool {
    writer.out().string(E::NAMES[value.index()]);
    true
}

/// Values of an enum as a column.
#[doc(hidden)]
#[must_use]
pub fn enumeration_column<E: Enumeration>(values: &[Option<&E>]) -> Column {
    let mut texts = Texts::default();
    for value in values {
        texts.push(value.map_or("", |it| E::NAMES[it.index()]).as_bytes());
    }
    Column { nulls: nulls(values), data: Data::Text(texts), ..Column::default() }
}

/// Reads a value of an enum.
#[doc(hidden)]
pub fn read_enumeration<E: Enumeration>(value: InputValue<'_>) -> Result<E, InputError> {
    value.variant().and_then(E::at).ok_or_else(|| InputError::new("it is no value of the enum"))
}

/// Binds an input type of its own to `T`: for macros.
#[doc(hidden)]
pub fn enumeration_shape<E: Enumeration>(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
    binder.enumeration::<E>(ty, E::NAME, E::NAMES)
}

/// Makes a [`Scalar`] a value of answers and of arguments. [`Scalar`] has an example.
#[macro_export]
macro_rules! scalar {
    ($rust:ty) => {
        impl $crate::Answer for $rust {
            fn bind(
                binder: &mut $crate::macros::Binder<'_>,
                spot: $crate::macros::Spot<'_>,
            ) -> Result<(), $crate::macros::Unbound> {
                $crate::macros::bind_scalar::<Self>(binder, spot)
            }
            fn write(&self, _: $crate::macros::Spot<'_>, writer: &mut $crate::macros::Writer<'_>) -> bool {
                $crate::macros::write_scalar(self, writer)
            }
            fn column(
                values: &[Option<&Self>],
                _: $crate::macros::Spot<'_>,
                _: $crate::macros::Scope<'_>,
            ) -> $crate::macros::Column {
                $crate::macros::scalar_column(values)
            }
        }
        impl $crate::Input for $rust {
            fn shape(
                binder: &mut $crate::InputBinder<'_>,
                ty: $crate::TypeRef,
            ) -> Result<$crate::Shape, String> {
                $crate::macros::scalar_shape::<Self>(binder, ty)
            }
            fn read(value: $crate::InputValue<'_>) -> Result<Self, $crate::InputError> {
                $crate::macros::read_scalar(value)
            }
        }
    };
}

/// Makes a Rust enum without fields an enum of answers and arguments: each variant has a value.
///
/// ```
/// use weir_runtime::enumeration;
/// #[derive(Clone, Copy)]
/// enum Episode { NewHope, Empire }
/// enumeration!(Episode { NewHope => "HOPE", Empire => "EMPIRE" });
/// ```
#[macro_export]
macro_rules! enumeration {
    ($rust:ident { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $crate::Enumeration for $rust {
            const NAME: &'static str = stringify!($rust);
            const NAMES: &'static [&'static str] = &[$($name),*];
            fn index(self) -> usize {
                enum Place { $($variant),* }
                match self { $($rust::$variant => Place::$variant as usize),* }
            }
            fn at(index: usize) -> Option<Self> {
                [$($rust::$variant),*].get(index).copied()
            }
        }
        impl $crate::Answer for $rust {
            fn bind(
                binder: &mut $crate::macros::Binder<'_>, spot: $crate::macros::Spot<'_>,
            ) -> Result<(), $crate::macros::Unbound> {
                $crate::macros::bind_enumeration::<Self>(binder, spot)
            }
            fn write(&self, _: $crate::macros::Spot<'_>, writer: &mut $crate::macros::Writer<'_>) -> bool {
                $crate::macros::write_enumeration(*self, writer)
            }
            fn column(
                values: &[Option<&Self>], _: $crate::macros::Spot<'_>, _: $crate::macros::Scope<'_>,
            ) -> $crate::macros::Column {
                $crate::macros::enumeration_column(values)
            }
        }
        impl $crate::Input for $rust {
            fn shape(
                binder: &mut $crate::InputBinder<'_>, ty: $crate::TypeRef,
            ) -> Result<$crate::Shape, String> {
                $crate::macros::enumeration_shape::<Self>(binder, ty)
            }
            fn read(value: $crate::InputValue<'_>) -> Result<Self, $crate::InputError> {
                $crate::macros::read_enumeration(value)
            }
        }
    };
}
