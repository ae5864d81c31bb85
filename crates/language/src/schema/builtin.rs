//! Built-in parts of every schema: scalars, introspection types, directives, meta fields.
//!
//! They are put in first, so their ids are the constants of this module in every schema.
//!
//! Sources: GraphQL specification, sections 3.5, 3.13 and 4.

use super::build::SchemaBuilder;
use super::{DirectiveId, FieldId, MetaFields, Place, ScalarReader, Type, TypeId};
use crate::value::Node;

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

/// The kinds of types as introspection names them, in the order of the values of `__TypeKind`.
const KINDS: &[(&str, &str)] = &[
    ("SCALAR", "A leaf value."),
    ("OBJECT", "Has `fields`, and `interfaces` if it implements some."),
    ("INTERFACE", "Has `fields`, `possibleTypes`, and `interfaces` if it implements some."),
    ("UNION", "Has `possibleTypes`."),
    ("ENUM", "Has `enumValues`."),
    ("INPUT_OBJECT", "Has `inputFields`."),
    ("LIST", "Has the type of its items as `ofType`."),
    ("NON_NULL", "Has the type that cannot be null as `ofType`."),
];

type FieldRow = (&'static str, &'static str, bool);

/// Name, type, and whether it takes `includeDeprecated`.
const SCHEMA_FIELDS: &[FieldRow] = &[
    ("description", "String", false),
    ("types", "[__Type!]!", false),
    ("queryType", "__Type!", false),
    ("mutationType", "__Type", false),
    ("subscriptionType", "__Type", false),
    ("directives", "[__Directive!]!", true),
];
const TYPE_FIELDS: &[FieldRow] = &[
    ("kind", "__TypeKind!", false),
    ("name", "String", false),
    ("description", "String", false),
    ("specifiedByURL", "String", false),
    ("fields", "[__Field!]", true),
    ("interfaces", "[__Type!]", false),
    ("possibleTypes", "[__Type!]", false),
    ("enumValues", "[__EnumValue!]", true),
    ("inputFields", "[__InputValue!]", true),
    ("ofType", "__Type", false),
    ("isOneOf", "Boolean", false),
];
const FIELD_FIELDS: &[FieldRow] = &[
    ("name", "String!", false),
    ("description", "String", false),
    ("args", "[__InputValue!]!", true),
    ("type", "__Type!", false),
    ("isDeprecated", "Boolean!", false),
    ("deprecationReason", "String", false),
];
const INPUT_VALUE_FIELDS: &[FieldRow] = &[
    ("name", "String!", false),
    ("description", "String", false),
    ("type", "__Type!", false),
    ("defaultValue", "String", false),
    ("isDeprecated", "Boolean!", false),
    ("deprecationReason", "String", false),
];
const ENUM_VALUE_FIELDS: &[FieldRow] = &[
    ("name", "String!", false),
    ("description", "String", false),
    ("isDeprecated", "Boolean!", false),
    ("deprecationReason", "String", false),
];
const DIRECTIVE_FIELDS: &[FieldRow] = &[
    ("name", "String!", false),
    ("description", "String", false),
    ("isRepeatable", "Boolean!", false),
    ("locations", "[__DirectiveLocation!]!", false),
    ("args", "[__InputValue!]!", true),
    ("isDeprecated", "Boolean!", false),
    ("deprecationReason", "String", false),
];

const NAMES: [&str; TYPES as usize] = [
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
#[must_use]
pub const fn is_built_in(id: TypeId) -> bool {
    id.0 < TYPES
}

/// True if a type called `name` is built in.
#[must_use]
pub fn is_built_in_name(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Type {
    /// The place of this type's kind among the values of `__TypeKind`.
    #[must_use]
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

/// Puts everything built in into the empty `b`.
pub(super) fn put(b: &mut SchemaBuilder) {
    for name in NAMES {
        b.reference(name);
    }
    scalars(b);
    types(b);
    b.schema.meta = meta(b);
    directives(b);
}

fn scalars(b: &mut SchemaBuilder) {
    b.scalar("Int", "A whole number of 32 bits with sign.", ScalarReader::Int);
    b.scalar("Float", "A number of IEEE 754 double precision.", ScalarReader::Float);
    b.scalar("String", "Text in UTF-8.", ScalarReader::String);
    b.scalar("Boolean", "`true` or `false`.", ScalarReader::Boolean);
    b.scalar("ID", "A key that says which object is meant; written as a string.", ScalarReader::Id);
}

fn types(b: &mut SchemaBuilder) {
    object(b, "__Schema", "What this service can do: its types, root types and directives.", SCHEMA_FIELDS);
    object(b, "__Type", "A named type, a list or a non-null type; `kind` says which.", TYPE_FIELDS);
    b.enumeration("__TypeKind", "What a `__Type` is.");
    for (name, description) in KINDS {
        b.enum_value(name, description);
    }
    object(b, "__Field", "A field of an object or interface.", FIELD_FIELDS);
    object(b, "__InputValue", "An argument, or a field of an input object.", INPUT_VALUE_FIELDS);
    object(b, "__EnumValue", "A value of an enum.", ENUM_VALUE_FIELDS);
    object(b, "__Directive", "A directive that this service knows.", DIRECTIVE_FIELDS);
    b.enumeration("__DirectiveLocation", "Where a directive may stand.");
    for place in Place::ALL {
        b.enum_value(place.name(), "");
    }
}

fn object(b: &mut SchemaBuilder, name: &str, description: &str, fields: &[FieldRow]) {
    b.object(name, description);
    for &(field, ty, with_deprecated) in fields {
        let ty = b.type_ref(ty);
        b.field(field, "", ty);
        if with_deprecated {
            let flag = b.type_ref("Boolean!");
            b.argument("includeDeprecated", "", flag);
            b.default_node("false", |_| Node::Bool(false));
        }
    }
}

/// The meta fields belong to no type's run of fields.
fn meta(b: &mut SchemaBuilder) -> MetaFields {
    let mut field = |name, description, ty| -> FieldId {
        let ty = b.type_ref(ty);
        b.loose_field(name, description, ty)
    };
    let typename = field("__typename", "The name of the object's type.", "String!");
    let schema = field("__schema", "The type system of this service.", "__Schema!");
    let ty = field("__type", "The type of that name.", "__Type");
    let name = b.type_ref("String!");
    b.argument("name", "", name);
    let no_queries = b.type_ref("String!");
    let words = "Says that the caller sees no field of the query root.";
    let no_queries = b.loose_field(NO_QUERIES, words, no_queries);
    MetaFields { typename, schema, ty, no_queries }
}

fn directives(b: &mut SchemaBuilder) {
    const SELECTIONS: u32 = Place::Field.bit() | Place::FragmentSpread.bit() | Place::InlineFragment.bit();
    let condition = b.type_ref("Boolean!");
    b.directive("skip", "Leaves the field or fragment out when `if` is true.", false, SELECTIONS);
    b.argument("if", "Whether it is left out.", condition);
    b.directive("include", "Keeps the field or fragment only when `if` is true.", false, SELECTIONS);
    b.argument("if", "Whether it is kept.", condition);
    let members = Place::FieldDefinition.bit()
        | Place::ArgumentDefinition.bit()
        | Place::InputFieldDefinition.bit()
        | Place::EnumValue.bit()
        | Place::DirectiveDefinition.bit();
    b.directive("deprecated", "Marks what should no longer be used.", false, members);
    let text = b.type_ref("String!");
    b.argument("reason", "Why, and what to use instead; Markdown.", text);
    b.default_node("\"No longer supported\"", |values| Node::Text(values.push_text(DEPRECATED_REASON)));
    b.directive("specifiedBy", "Says where the form of a scalar is specified.", false, Place::Scalar.bit());
    b.argument("url", "The specification's URL.", text);
    b.directive("oneOf", "Exactly one field of the input must be given.", false, Place::InputObject.bit());
    incremental_delivery(b);
    for directive in &mut b.schema.directives {
        directive.built_in = true;
    }
}

/// The directives of the specification's draft on incremental delivery.
fn incremental_delivery(b: &mut SchemaBuilder) {
    let condition = b.type_ref("Boolean!");
    let label = b.type_ref("String");
    let fragments = Place::FragmentSpread.bit() | Place::InlineFragment.bit();
    b.directive("defer", "Allows the fragment to arrive after the rest of the answer.", false, fragments);
    let arguments = |b: &mut SchemaBuilder| {
        b.argument("if", "Whether it may arrive later.", condition);
        b.default_node("true", |_| Node::Bool(true));
        b.argument("label", "A name for it, unique in the document.", label);
    };
    arguments(b);
    b.directive(
        "stream",
        "Allows items of the list to arrive after the rest of the answer.",
        false,
        Place::Field.bit(),
    );
    arguments(b);
    let count = b.type_ref("Int!");
    b.argument("initialCount", "How many items the first part of the answer has.", count);
    b.default_node("0", |_| Node::Int(0));
}
