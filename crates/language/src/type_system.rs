//! The type system: flat tables addressed by four-byte ids, names resolved once.
//!
//! A schema is built by [`SchemaBuilder`](crate::schema::build::SchemaBuilder), from SDL or by a source that generates it, and never
//! changes after. Two types merge by building a new schema. All texts lie in one string.
//!
//! **Invariant:** an id is only used with the schema that made it; every [`TypeRef`] points to a type that
//! exists; the built-in scalars, directives and introspection types are always there.
//!
//! **Cost:** a lookup by name is one hash; by id one index. About 100 bytes per field.
//! Source: GraphQL specification, section 3.

pub mod builtin;
pub mod diff;
mod input_table;
pub mod print;
pub mod view;

pub use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
pub use input_table::InputTable;
pub use view::{SchemaView, Visibility};

use crate::syntax::wraps::Wraps;
use hashbrown::HashTable;

/// Longer lists of inputs and enum values have an index over their names.
pub(crate) const SCANNED_MAX: u32 = 16;

/// The value of a default that is not coerced yet: only while a schema is being built.
pub(crate) const PENDING: u32 = u32::MAX;

/// A run of consecutive places in one of the schema's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// First place.
    pub start: u32,
    /// Number of items.
    pub len: u32,
}

impl Run {
    /// The places, for indexing.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A text in the schema's string; [`Schema::str`] reads it. Empty means absent for descriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Str {
    /// First byte.
    pub start: u32,
    /// Bytes.
    pub len: u32,
}

impl Str {
    /// The bytes of `text` that this names.
    #[inline]
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start as usize..(self.start + self.len) as usize]
    }
    /// True if this span of `text` equals `other`. Most texts differ in length, so the bytes are rarely compared.
    #[inline]
    pub(crate) fn is(self, text: &str, other: &str) -> bool {
        self.len as usize == other.len() && self.of(text) == other
    }
    /// True if the text is empty.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// A type as used: the named type and what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeRef {
    /// The named type inside.
    pub base: TypeId,
    /// Lists and non-null marks.
    pub wraps: Wraps,
}

impl TypeRef {
    /// True if the type is non-null.
    pub const fn is_non_null(self) -> bool {
        self.wraps.is_non_null()
    }
    /// The type of an item, if this is a list.
    #[must_use]
    pub fn item(self) -> Option<Self> {
        self.wraps.item().map(|wraps| Self { base: self.base, wraps })
    }
}

/// Reader of a scalar: the accepted JSON and literals and the resulting [`crate::value::Node`].
///
/// Two scalars of one name merge across sources only if their readers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarReader {
    /// The built-in `Int`: 32 bits. `Node::Int`.
    Int,
    /// The built-in `Float`. `Node::Float`.
    Float,
    /// The built-in `String`. `Node::Text`.
    String,
    /// The built-in `Boolean`. `Node::Bool`.
    Boolean,
    /// The built-in `ID`: string or integer in, `Node::Text`.
    Id,
    /// A 64-bit integer: JSON integer or a string of digits. `Node::Int`.
    BigInt,
    /// A decimal number: JSON number or a string holding one; digits kept. `Node::Number`. `"NaN"` and `"Infinity"` are
    /// `Node::Text`.
    Decimal,
    /// Text of a format the source checks (dates, uuid …): string, number or boolean in. `Node::Text`.
    Text,
    /// A point in time: text of a format the source checks, or a number of seconds since the beginning of 1970, which is given as
    /// `@` and its digits. `Node::Text`.
    Moment,
    /// Any JSON value. `Node::Json`.
    Json,
}

/// The kind of type, with its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A leaf with a reader.
    Scalar(ScalarReader),
    /// Fields; see [`Type::fields`].
    Object,
    /// Fields that its implementors share.
    Interface,
    /// One of several objects; see [`Type::possible`].
    Union,
    /// Names; see [`Type::members`].
    Enum,
    /// Input fields; see [`Type::members`].
    Input {
        /// Exactly one field must be given (`@oneOf`).
        one_of: bool,
    },
}

/// A named type.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Type name.
    pub name: Str,
    /// Empty when there is none.
    pub description: Str,
    /// The kind of type.
    pub kind: TypeKind,
    /// For objects and interfaces: their fields, indexes in [`Schema::fields`], as defined.
    pub fields: Run,
    /// For enums: indexes in [`Schema::enum_values`]; for input objects: indexes in [`Schema::inputs`].
    pub members: Run,
    /// For objects and interfaces: the interfaces they implement, in [`Schema::type_lists`].
    pub interfaces: Run,
    /// For interfaces and unions: their possible objects, in [`Schema::type_lists`].
    pub possible: Run,
    /// `@specifiedBy(url:)`, or empty.
    pub specified_by: Str,
    /// For input objects without required fields and defaults: the fields of a value keep the order in which they were written.
    pub is_sequence: bool,
    /// Directives applied in the SDL, for the printer: places in [`Schema::applied`].
    pub applied: Run,
}

/// A field of an object or interface.
#[derive(Clone, Copy, Debug)]
pub struct SchemaField {
    /// Field name.
    pub name: Str,
    /// Empty when there is none.
    pub description: Str,
    /// The type that has the field.
    pub parent: TypeId,
    /// The field's type.
    pub ty: TypeRef,
    /// Arguments of the field, indexes in [`Schema::inputs`].
    pub arguments: Run,
    /// `@deprecated(reason:)`.
    pub deprecated: Option<Str>,
    /// Directives applied in the SDL.
    pub applied: Run,
}

/// An argument or a field of an input object.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Name of the argument or input field.
    pub name: Str,
    /// Empty when there is none.
    pub description: Str,
    /// The input's type.
    pub ty: TypeRef,
    /// The default: its GraphQL literal, for introspection and SDL, and the coerced value.
    pub default: Option<Default>,
    /// True if an `Int` here may have 64 bits in lenient reading.
    pub is_wide: bool,
    /// `@deprecated(reason:)`.
    pub deprecated: Option<Str>,
    /// Directives applied in the SDL.
    pub applied: Run,
}

/// A default value.
#[derive(Clone, Copy, Debug)]
pub struct Default {
    /// The default as a GraphQL literal.
    pub literal: Str,
    /// The place of the coerced value in [`Schema::defaults`].
    pub value: u32,
}

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValue {
    /// Name of the enum value.
    pub name: Str,
    /// Empty when there is none.
    pub description: Str,
    /// The enum that has the value.
    pub parent: TypeId,
    /// `@deprecated(reason:)`.
    pub deprecated: Option<Str>,
    /// Directives applied in the SDL.
    pub applied: Run,
}

/// A directive definition.
#[derive(Clone, Copy, Debug)]
pub struct SchemaDirective {
    /// Without `@`.
    pub name: Str,
    /// Empty when there is none.
    pub description: Str,
    /// Arguments of the directive, indexes in [`Schema::inputs`].
    pub arguments: Run,
    /// May stand twice in one place.
    pub repeatable: bool,
    /// Bits by [`Place`].
    pub places: u32,
    /// True for a built-in directive, which is not printed.
    pub built_in: bool,
    /// The reason, if it is deprecated (2026 edition).
    pub deprecated: Option<Str>,
    /// True for a built-in directive that no caller sees.
    pub hidden: bool,
    /// Directives applied to the definition (2026 edition).
    pub applied: Run,
}

/// Locations of directives. Source: GraphQL specification, section 3.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Place {
    Query,
    Mutation,
    Subscription,
    Field,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    VariableDefinition,
    Schema,
    Scalar,
    Object,
    FieldDefinition,
    ArgumentDefinition,
    Interface,
    Union,
    Enum,
    EnumValue,
    InputObject,
    InputFieldDefinition,
    /// 2026 edition.
    DirectiveDefinition,
}

impl Place {
    /// All places, in the order of their bits.
    pub const ALL: [Self; 20] = [
        Self::Query,
        Self::Mutation,
        Self::Subscription,
        Self::Field,
        Self::FragmentDefinition,
        Self::FragmentSpread,
        Self::InlineFragment,
        Self::VariableDefinition,
        Self::Schema,
        Self::Scalar,
        Self::Object,
        Self::FieldDefinition,
        Self::ArgumentDefinition,
        Self::Interface,
        Self::Union,
        Self::Enum,
        Self::EnumValue,
        Self::InputObject,
        Self::InputFieldDefinition,
        Self::DirectiveDefinition,
    ];

    /// Bit of the location in [`SchemaDirective::places`].
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Name of the location in GraphQL: `FIELD_DEFINITION`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "QUERY",
            Self::Mutation => "MUTATION",
            Self::Subscription => "SUBSCRIPTION",
            Self::Field => "FIELD",
            Self::FragmentDefinition => "FRAGMENT_DEFINITION",
            Self::FragmentSpread => "FRAGMENT_SPREAD",
            Self::InlineFragment => "INLINE_FRAGMENT",
            Self::VariableDefinition => "VARIABLE_DEFINITION",
            Self::Schema => "SCHEMA",
            Self::Scalar => "SCALAR",
            Self::Object => "OBJECT",
            Self::FieldDefinition => "FIELD_DEFINITION",
            Self::ArgumentDefinition => "ARGUMENT_DEFINITION",
            Self::Interface => "INTERFACE",
            Self::Union => "UNION",
            Self::Enum => "ENUM",
            Self::EnumValue => "ENUM_VALUE",
            Self::InputObject => "INPUT_OBJECT",
            Self::InputFieldDefinition => "INPUT_FIELD_DEFINITION",
            Self::DirectiveDefinition => "DIRECTIVE_DEFINITION",
        }
    }
}

/// A directive as applied in an SDL: its name and its arguments as GraphQL literals, printed back as such.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    /// Without `@`.
    pub name: Str,
    /// `(a: 1, b: "x")` with parentheses, or empty.
    pub arguments: Str,
}

/// Wording of errors in a request's text and variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// Messages of graphql-js.
    #[default]
    GraphqlJs,
    /// Messages of Dgraph's validator, gqlparser.
    Dgraph,
}

/// The type system of a graph.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(crate) text: String,
    /// All types, built-in ones first.
    pub types: Vec<Type>,
    /// All fields, those of one type side by side.
    pub fields: Vec<SchemaField>,
    /// All arguments and input fields.
    pub inputs: InputTable,
    /// All enum values.
    pub enum_values: Vec<EnumValue>,
    /// All directives.
    pub directives: Vec<SchemaDirective>,
    /// Lists of types: interfaces and possible types.
    pub type_lists: Vec<TypeId>,
    /// Directives applied in SDL.
    pub applied: Vec<Applied>,
    /// Directives applied to the schema definition.
    pub applied_to_schema: Run,
    /// Values of all defaults, after coercion.
    pub defaults: crate::value::Values,
    /// The description of the schema itself.
    pub description: Str,
    /// The type of queries.
    pub query: TypeId,
    /// The type of mutations.
    pub mutation: Option<TypeId>,
    /// The type of subscriptions.
    pub subscription: Option<TypeId>,
    /// Objects whose fields only joins ask. No view and no SDL shows them.
    pub join_roots: Vec<TypeId>,
    /// Wording of errors.
    pub wording: Wording,
    /// `__typename: String!`, `__schema: __Schema!`, `__type(name:): __Type`: fields of no type.
    pub meta: MetaFields,
    /// By type: an input object with defaults or required fields, which matter when they are not given.
    pub(crate) demanding: Vec<bool>,
    pub(crate) type_names: HashTable<TypeId>,
    pub(crate) field_names: HashTable<FieldId>,
    /// By start of the run and name; only of runs longer than `SCANNED_MAX`.
    pub(crate) input_names: HashTable<(u32, InputId)>,
    /// Index by start of the run and name, for runs longer than `SCANNED_MAX`.
    pub(crate) enum_value_names: HashTable<EnumValueId>,
}

/// The fields every schema has and no type lists. Source: GraphQL specification, section 4.
#[derive(Clone, Copy, Debug)]
pub struct MetaFields {
    /// `__typename: String!`, of every composite type.
    pub typename: FieldId,
    /// `__schema: __Schema!`, of the query root.
    pub schema: FieldId,
    /// `__type(name: String!): __Type`, of the query root.
    pub ty: FieldId,
    /// `no_queries_available: String!`, of the query root for callers who see none of its fields, or where it has none.
    pub no_queries: FieldId,
}

/// The seed-free hash of a name, and of a name within a type. Names come from the owner's schema, lookups
/// from clients only hit or miss, so collisions cannot be planted.
pub(crate) fn hash_name(scope: u32, name: &str) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    hasher.write_u32(scope);
    hasher.write(name.as_bytes());
    hasher.finish()
}

impl Schema {
    /// The text at `place`.
    #[inline]
    pub fn str(&self, place: Str) -> &str {
        place.of(&self.text)
    }
    /// All texts, which the places of [`Str`]s count in.
    pub fn texts(&self) -> &[u8] {
        self.text.as_bytes()
    }
    /// One type.
    #[inline]
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }
    /// One field.
    #[inline]
    pub fn field(&self, id: FieldId) -> &SchemaField {
        &self.fields[id.index()]
    }
    /// One argument or input field.
    #[inline]
    pub fn input(&self, id: InputId) -> Input {
        self.inputs.get(id.index())
    }
    /// One enum value.
    #[inline]
    pub fn enum_value(&self, id: EnumValueId) -> &EnumValue {
        &self.enum_values[id.index()]
    }
    /// The name of a type.
    #[inline]
    pub fn type_name(&self, id: TypeId) -> &str {
        self.str(self.ty(id).name)
    }
    /// The name of a field.
    #[inline]
    pub fn field_name(&self, id: FieldId) -> &str {
        self.str(self.field(id).name)
    }
    /// The name of an argument or input field.
    #[inline]
    pub fn input_name(&self, id: InputId) -> &str {
        self.str(self.input(id).name)
    }
    /// The type called `name`.
    pub fn type_by_name(&self, name: &str) -> Option<TypeId> {
        self.type_names.find(hash_name(u32::MAX, name), |&id| self.ty(id).name.is(&self.text, name)).copied()
    }
    /// The field `name` of type `parent`; not the meta fields.
    pub fn field_by_name(&self, parent: TypeId, name: &str) -> Option<FieldId> {
        self.field_names
            .find(hash_name(parent.0, name), |&id| {
                let field = self.field(id);
                field.parent == parent && field.name.is(&self.text, name)
            })
            .copied()
    }
    /// The ids of a field's arguments.
    pub fn arguments(&self, field: FieldId) -> impl ExactSizeIterator<Item = InputId> + use<> {
        let run = self.field(field).arguments;
        (run.start..run.start + run.len).map(InputId)
    }
    /// The ids of the fields of an input object.
    pub fn input_fields(&self, id: TypeId) -> impl ExactSizeIterator<Item = InputId> + use<> {
        let run = self.ty(id).members;
        (run.start..run.start + run.len).map(InputId)
    }
    /// The input called `name` in `run` (arguments of a field or directive, fields of an input object).
    pub fn input_by_name(&self, run: Run, name: &str) -> Option<InputId> {
        let is_called = |&id: &InputId| self.input(id).name.is(&self.text, name);
        if run.len <= SCANNED_MAX {
            return (run.start..run.start + run.len).map(InputId).find(is_called);
        }
        let same = |it: &(u32, InputId)| it.0 == run.start && is_called(&it.1);
        self.input_names.find(hash_name(run.start, name), same).map(|it| it.1)
    }
    /// The value `name` of an enum.
    pub fn enum_value_by_name(&self, ty: TypeId, name: &str) -> Option<EnumValueId> {
        let run = self.ty(ty).members;
        let same = |&id: &EnumValueId| {
            let value = self.enum_value(id);
            value.parent == ty && value.name.is(&self.text, name)
        };
        if run.len <= SCANNED_MAX {
            return (run.start..run.start + run.len).map(EnumValueId).find(same);
        }
        self.enum_value_names.find(hash_name(ty.0, name), same).copied()
    }
    /// Hides `@defer` and `@stream`: a server that answers whole does not know them.
    pub fn hide_incremental_delivery(&mut self) {
        for name in ["defer", "stream"] {
            if let Some(id) = self.directive_by_name(name) {
                self.directives[id.index()].hidden = true;
            }
        }
    }

    /// The directive called `name`.
    pub fn directive_by_name(&self, name: &str) -> Option<DirectiveId> {
        let at = self.directives.iter().position(|directive| directive.name.is(&self.text, name))?;
        Some(DirectiveId(at as u32))
    }
    /// The objects that can stand where `id` is expected: itself for an object.
    #[inline]
    pub fn possible_types(&self, id: TypeId) -> &[TypeId] {
        &self.type_lists[self.ty(id).possible.range()]
    }
    /// The types that are not built in.
    pub fn types_of_sources(&self) -> impl Iterator<Item = TypeId> + use<> {
        (builtin::TYPES..self.types.len() as u32).map(TypeId)
    }
    /// A type as GraphQL writes it: `[Album!]!`.
    pub fn type_text(&self, ty: TypeRef) -> String {
        let mut out = String::new();
        ty.wraps.write(self.type_name(ty.base), &mut out);
        out
    }
    /// The root type of an operation kind, if the schema has it.
    pub fn root(&self, kind: crate::syntax::ast::OperationKind) -> Option<TypeId> {
        match kind {
            crate::syntax::ast::OperationKind::Query => Some(self.query),
            crate::syntax::ast::OperationKind::Mutation => self.mutation,
            crate::syntax::ast::OperationKind::Subscription => self.subscription,
        }
    }
}
