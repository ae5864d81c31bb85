//! Built-in parts of every schema: scalars, introspection types, directives, meta fields.
//!
//! `built_in_items` of the builder puts them in first, so their ids are the constants of this module in every schema.
//!
//! Sources: GraphQL specification, sections 3.5, 3.13 and 4.

use super::Type;
use crate::ids::{DirectiveId, TypeId};

/// `Int`.
pub const INT: TypeId = TypeId(0);
/// `Float`.
pub const FLOAT: TypeId = TypeId(1);
/// `String`.
pub const STRING: TypeId = TypeId(2);
/// `Boolean`.
pub const BOOLEAN: TypeId = TypeId(3);
/// `ID`.
pub const ID: TypeId = TypeId(4);
/// `__Schema`.
pub const SCHEMA: TypeId = TypeId(5);
/// `__Type`.
pub const TYPE: TypeId = TypeId(6);
/// `__TypeKind`.
pub const TYPE_KIND: TypeId = TypeId(7);
/// `__Field`.
pub const FIELD: TypeId = TypeId(8);
/// `__InputValue`.
pub const INPUT_VALUE: TypeId = TypeId(9);
/// `__EnumValue`.
pub const ENUM_VALUE: TypeId = TypeId(10);
/// `__Directive`.
pub const DIRECTIVE: TypeId = TypeId(11);
/// `__DirectiveLocation`.
pub const DIRECTIVE_LOCATION: TypeId = TypeId(12);
/// Number of built-in types; the owner's types follow.
pub const TYPES: u32 = 13;

/// `@skip`.
pub const SKIP: DirectiveId = DirectiveId(0);
/// `@include`.
pub const INCLUDE: DirectiveId = DirectiveId(1);
/// `@deprecated`.
pub const DEPRECATED: DirectiveId = DirectiveId(2);
/// `@specifiedBy`.
pub const SPECIFIED_BY: DirectiveId = DirectiveId(3);
/// `@oneOf`.
pub const ONE_OF: DirectiveId = DirectiveId(4);
/// `@defer`.
pub const DEFER: DirectiveId = DirectiveId(5);
/// `@stream`.
pub const STREAM: DirectiveId = DirectiveId(6);

/// The reason of `@deprecated` without an argument.
pub const DEPRECATED_REASON: &str = "No longer supported";

/// Names of the built-in types, in the order of their ids.
pub(crate) const NAMES: [&str; TYPES as usize] = [
    "Int",
    "Float",
    "String",
    "Boolean",
    "ID",
    "__Schema",
    "__Type",
    "__TypeKind",
    "__Field",
    "__InputValue",
    "__EnumValue",
    "__Directive",
    "__DirectiveLocation",
];

/// The only field of the query root for a caller who sees no other.
pub const NO_QUERIES: &str = "no_queries_available";

/// Value of that field.
pub const NO_QUERIES_VALUE: &str = "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions.";

/// True if `id` is a built-in scalar or an introspection type.
pub const fn is_built_in(id: TypeId) -> bool {
    id.0 < TYPES
}

/// True if a type called `name` is built in.
pub fn is_built_in_name(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Type {
    /// The place of this type's kind among the values of `__TypeKind`.
    pub const fn kind_number(&self) -> u32 {
        match self.kind {
            super::TypeKind::Scalar(_) => 0,
            super::TypeKind::Object => 1,
            super::TypeKind::Interface => 2,
            super::TypeKind::Union => 3,
            super::TypeKind::Enum => 4,
            super::TypeKind::Input { .. } => 5,
        }
    }
}
