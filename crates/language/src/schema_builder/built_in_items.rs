//! Built-in members of every schema: scalars, introspection types, directives, meta fields.
//!
//! They are put in first, so their ids are the constants of [`builtin`](crate::schema::builtin) in every schema.
//!
//! Sources: GraphQL specification, sections 3.5, 3.13 and 4.

use super::build::SchemaBuilder;
use crate::ids::FieldId;
use crate::type_system::builtin::{DEPRECATED_REASON, NAMES, NO_QUERIES};
use crate::type_system::{MetaFields, Place, ScalarReader};
use crate::value::Node;

impl SchemaBuilder {
    /// Begins a schema that has only what is built in.
    pub fn new() -> Self {
        let mut builder = Self::empty();
        put(&mut builder);
        builder
    }
}

impl std::default::Default for SchemaBuilder {
    fn default() -> Self {
        Self::new()
    }
}

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

/// Puts everything built in into the empty `b`.
fn put(b: &mut SchemaBuilder) {
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
