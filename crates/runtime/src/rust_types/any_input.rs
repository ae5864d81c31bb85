//! Arguments without Rust types: for embeddings whose resolvers are written in another language.
//!
//! A resolver takes [`AnyArguments`] where others take a struct: all arguments of its field that have a value, by name.
//!
//! **Invariant:** checks of arguments and input fields have passed, as they have for structs.
//!
//! **Cost:** one allocation per text, list and object.

use super::uploads::UPLOAD;
use crate::input::uploaded_file::Upload;
use crate::input::{BoundInput, Input, InputBinder, InputError, InputFields, InputObject, InputValue, Shape};
use weir_language::schema::{Run, TypeRef};
use weir_language::value::Node;

/// A coerced value. [`AnyArguments`] has an example.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyInput {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text or an ID.
    Text(Box<str>),
    /// A value of a custom scalar: the scalar's name, and the JSON as it was sent.
    Scalar(Box<str>, Box<str>),
    /// A file of the request: the scalar `Upload`.
    File(Upload),
    /// The enum's name, and the value's.
    Enum(Box<str>, Box<str>),
    /// A list.
    List(Vec<AnyInput>),
    /// The input type's name, and the fields that have a value.
    Object(Box<str>, Vec<(Box<str>, AnyInput)>),
}

/// All arguments of a field that have a value, with their names.
///
/// ```
/// use weir_runtime::{AnyArguments, AnyInput, Context, root};
/// let echo = root(|arguments: &AnyArguments, _: &Context| match arguments.0.first() {
///     Some((name, AnyInput::Int(value))) => format!("{name} is {value}"),
///     _ => "nothing".to_owned(),
/// });
/// # let _ = echo;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnyArguments(pub Vec<(Box<str>, AnyInput)>);

fn read_all(fields: &InputFields<'_>) -> Result<Vec<(Box<str>, AnyInput)>, InputError> {
    fields.given_fields().map(|(index, name)| Ok((name.into(), fields.get(index)?))).collect()
}

impl Input for AnyInput {
    const IS_OPTIONAL: bool = true;
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        Ok(binder.any::<Self>(ty))
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        let text = || value.text().unwrap_or_default().into();
        Ok(match value.node() {
            Node::Bool(value) => Self::Bool(value),
            Node::Int(value) | Node::QuotedInt(value) => Self::Int(value),
            Node::Float(value) => Self::Float(value),
            Node::Text(_) => Self::Text(text()),
            Node::Json(_) if value.type_name() == UPLOAD => Self::File(Upload::read(value)?),
            Node::Number(_) | Node::Json(_) => Self::Scalar(value.type_name().into(), text()),
            Node::Enum(_) => Self::Enum(value.type_name().into(), text()),
            Node::List { .. } => {
                let item = |it: Option<InputValue<'_>>| it.map_or(Ok(Self::Null), Self::read);
                Self::List(value.items().map(item).collect::<Result<_, _>>()?)
            }
            Node::Object { .. } => Self::Object(value.type_name().into(), read_all(&value.fields())?),
            Node::Null | Node::Absent | Node::Key(_) | Node::Variable(_) | Node::Parent(_) => Self::Null,
        })
    }
}

impl InputObject for AnyArguments {
    const NAME: &'static str = "AnyArguments";
    const FIELDS: &'static [&'static str] = &[];
    fn bind_field(_: usize, binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<BoundInput, String> {
        Ok(BoundInput { shape: AnyInput::shape(binder, ty)?, is_optional: true })
    }
    fn read_fields(fields: &InputFields<'_>) -> Result<Self, InputError> {
        read_all(fields).map(Self)
    }
    fn bind(binder: &mut InputBinder<'_>, run: Run, _: String) -> Result<Shape, String> {
        Ok(binder.any_members::<Self, AnyInput>(run))
    }
}
