//! Rust types that have a type of the schema: made by the derive macros, and given for numbers, texts, lists and options.
//!
//! **Invariant:** the reference that a type gives is non-null unless the type can be null.

use super::type_definitions::{Member, TypeDefinitions};
use crate::input::input_types::Maybe;
use crate::resolve_error::ResolveError;
use std::sync::Arc;

/// A Rust type with a type of the schema. Derive it by `Object`, `Input`, `Enum`, `Union`, `Interface`, `OneOf` or `Scalar`.
///
/// ```
/// use weir_runtime::{Context, DefinitionKind, GraphqlType, Schema, TypeDefinition, TypeDefinitions, root};
/// use weir_runtime::{Scalar, ScalarValue, ScalarWriter, scalar};
///
/// struct Cents(i64);
/// impl Scalar for Cents {
///     const NAME: &'static str = "Money";
///     fn read(value: ScalarValue<'_>) -> Result<Self, String> {
///         value.number().and_then(|it| it.parse().ok()).map(Cents).ok_or_else(|| "it is no number".into())
///     }
///     fn write(&self, writer: &mut ScalarWriter<'_>) {
///         writer.int(self.0);
///     }
/// }
/// scalar!(Cents);
/// impl GraphqlType for Cents {
///     fn reference(types: &mut TypeDefinitions) -> String {
///         types.define::<Self>("Money", |_| TypeDefinition {
///             kind: DefinitionKind::Scalar,
///             description: "Euro cents.",
///             members: Vec::new(),
///             specified_by: None,
///         })
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::code_first().field("Query.price", root(|_: &(), _: &Context| Cents(5))).build()?;
/// assert!(schema.sdl().contains("price: Money!"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no GraphQL type",
    note = "derive `weir_runtime::Object`, `Input`, `Enum`, `Union`, `Interface`, `OneOf` or `Scalar`"
)]
pub trait GraphqlType {
    /// Defines the type and those that it uses; returns its reference in SDL: `[User!]!`.
    fn reference(types: &mut TypeDefinitions) -> String;
}

/// A struct whose fields are the arguments of a field. Derived by `Input`. [`GraphqlType`] has an example.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` are no arguments",
    note = "derive `weir_runtime::Input`"
)]
pub trait GraphqlFields {
    /// The fields.
    fn fields(types: &mut TypeDefinitions) -> Vec<Member>;
}

/// A struct whose fields are those of an object type, so that another object can have them too. Derived by `Object`. [`GraphqlType`] has an
/// example.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` are no fields of an object",
    note = "derive `weir_runtime::Object`"
)]
pub trait ObjectFields {
    /// The fields.
    fn object_fields(types: &mut TypeDefinitions) -> Vec<Member>;
}

/// The reference of the type that `get` borrows.
#[doc(hidden)]
pub fn reference_by<R, T: GraphqlType>(_get: impl Fn(&R) -> &T, types: &mut TypeDefinitions) -> String {
    T::reference(types)
}

/// No arguments.
impl GraphqlFields for () {
    fn fields(_: &mut TypeDefinitions) -> Vec<Member> {
        Vec::new()
    }
}

/// The reference `reference`, which may be null.
fn nullable(mut reference: String) -> String {
    if reference.ends_with('!') {
        reference.pop();
    }
    reference
}

/// A reference with `ID` for its innermost type, which is a built-in scalar.
#[must_use]
pub fn as_id(reference: &str) -> String {
    let is_name = |it: char| it.is_ascii_alphanumeric();
    let start = reference.find(is_name).unwrap_or(0);
    let end = reference.rfind(is_name).map_or(0, |it| it + 1);
    format!("{}ID{}", &reference[..start], &reference[end..])
}

macro_rules! built_in {
    ($($rust:ty => $name:literal;)*) => { $(
        impl GraphqlType for $rust {
            fn reference(_: &mut TypeDefinitions) -> String {
                $name.into()
            }
        }
    )* };
}
built_in! {
    i8 => "Int!";
    i16 => "Int!";
    i32 => "Int!";
    i64 => "Int!";
    isize => "Int!";
    u8 => "Int!";
    u16 => "Int!";
    u32 => "Int!";
    u64 => "Int!";
    usize => "Int!";
    f32 => "Float!";
    f64 => "Float!";
    bool => "Boolean!";
    char => "String!";
    str => "String!";
    String => "String!";
}

macro_rules! through {
    ($([$($of:tt)*] $outer:ty => |$types:ident| $reference:expr;)*) => { $(
        impl<$($of)*> GraphqlType for $outer {
            fn reference($types: &mut TypeDefinitions) -> String {
                $reference
            }
        }
    )* };
}
through! {
    [T: GraphqlType + ?Sized] &T => |types| T::reference(types);
    [T: GraphqlType + ?Sized] Box<T> => |types| T::reference(types);
    [T: GraphqlType + ?Sized] Arc<T> => |types| T::reference(types);
    [T: GraphqlType] Result<T, ResolveError> => |types| T::reference(types);
    [T: GraphqlType] Vec<T> => |types| format!("[{}]!", T::reference(types));
    [T: GraphqlType] Option<T> => |types| nullable(T::reference(types));
    [T: GraphqlType] Maybe<T> => |types| nullable(T::reference(types));
}
