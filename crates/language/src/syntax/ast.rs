//! A parsed document: flat arenas of nodes that refer to each other by ranges.
//!
//! Names and numbers are spans into the text, so a document borrows its text and owns only arenas.
//! The nodes of one list (the selections of one set, the arguments of one field) lie side by side.
//! Executable and type system definitions share this one document.
//!
//! **Invariant:** a [`List`] or id is only used with the document that made it.
//!
//! **Cost:** one allocation per arena, none per node.

use super::wraps::Wraps;
use crate::span::Span;
use crate::string_value;
use std::borrow::Cow;
use std::marker::PhantomData;

/// A name as written. Never empty, except as the absent alias or name of an operation.
pub type Name = Span;

/// A run of nodes in the arena of `T`: eight bytes.
pub struct List<T> {
    start: u32,
    len: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<T> {}
impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new(0, 0)
    }
}
impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.start + self.len)
    }
}

impl<T> List<T> {
    /// `len` nodes from place `start` of the arena.
    pub const fn new(start: u32, len: u32) -> Self {
        Self { start, len, kind: PhantomData }
    }
    /// The number of nodes.
    #[inline]
    pub const fn len(self) -> usize {
        self.len as usize
    }
    /// True if the list is empty.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
    /// Places in the arena, for side tables that run parallel to it.
    #[inline]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A node kind with an arena of its own in [`Document`].
pub trait Stored: Sized {
    /// The arena.
    fn arena<'d>(document: &'d Document<'_>) -> &'d [Self];
}

/// A parsed text: arenas of nodes.
#[derive(Debug, Default)]
pub struct Document<'t> {
    /// The text all spans point into.
    pub text: &'t str,
    /// The definitions, in the order they were written.
    pub definitions: Vec<Definition>,
    /// Arena.
    pub selections: Vec<Selection>,
    /// Arena.
    pub arguments: Vec<Argument>,
    /// Arena.
    pub directives: Vec<Directive>,
    /// Arena.
    pub values: Vec<Value>,
    /// Arena.
    pub object_fields: Vec<ObjectField>,
    /// Arena.
    pub variables: Vec<VariableDefinition>,
    /// Arena of names: interfaces of a type, members of a union, locations of a directive.
    pub names: Vec<NameNode>,
    /// Arena.
    pub field_definitions: Vec<FieldDefinition>,
    /// Arena of arguments of fields and directives, and of fields of input objects.
    pub input_definitions: Vec<InputDefinition>,
    /// Arena.
    pub enum_value_definitions: Vec<EnumValueDefinition>,
    /// Arena.
    pub root_operations: Vec<RootOperation>,
}

impl<'t> Document<'t> {
    /// The text under `span`.
    #[inline]
    pub fn str(&self, span: Span) -> &'t str {
        span.of(self.text)
    }
    /// The nodes of `list`.
    #[inline]
    pub fn list<T: Stored>(&self, list: List<T>) -> &[T] {
        &T::arena(self)[list.range()]
    }
    /// The value of a string literal, escapes and indentation resolved; other literals as written.
    pub fn string(&self, id: ValueId) -> Cow<'t, str> {
        let value = self.value(id);
        match value.kind {
            ValueKind::String { .. } | ValueKind::Block => string_value::decode(self.str(value.span)),
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => Cow::Borrowed(self.str(value.span)),
        }
    }
    /// One value.
    #[inline]
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }
}

macro_rules! stored {
    ($($node:ty => $arena:ident),* $(,)?) => { $(
        impl Stored for $node {
            fn arena<'d>(document: &'d Document<'_>) -> &'d [Self] { &document.$arena }
        }
    )* };
}
stored! {
    Selection => selections, Argument => arguments, Directive => directives, Value => values,
    ObjectField => object_fields, VariableDefinition => variables, NameNode => names,
    FieldDefinition => field_definitions, InputDefinition => input_definitions,
    EnumValueDefinition => enum_value_definitions, RootOperation => root_operations,
}

/// One definition of a document.
#[derive(Clone, Copy, Debug)]
pub enum Definition {
    /// `query`, `mutation`, `subscription` or a bare selection set.
    Operation(Operation),
    /// `fragment … on …`.
    Fragment(Fragment),
    /// `schema { … }` or `extend schema`.
    Schema(SchemaDefinition),
    /// A type, or an extension of one.
    Type(TypeDefinition),
    /// `directive @… on …`.
    Directive(DirectiveDefinition),
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Reads.
    Query,
    /// Writes, root fields in turn.
    Mutation,
    /// A stream of answers.
    Subscription,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Before the keyword.
    pub description: Description,
    /// Query, mutation or subscription.
    pub kind: OperationKind,
    /// Empty when the operation is anonymous.
    pub name: Name,
    /// `($x: Int = 1)`.
    pub variables: List<VariableDefinition>,
    /// On the operation itself.
    pub directives: List<Directive>,
    /// The root fields.
    pub selections: List<Selection>,
    /// From description, keyword or `{` to `}`.
    pub span: Span,
}

/// A fragment definition.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    /// Before the keyword.
    pub description: Description,
    /// Fragment name.
    pub name: Name,
    /// The type after `on`.
    pub on: Name,
    /// On the definition.
    pub directives: List<Directive>,
    /// The operation's selections.
    pub selections: List<Selection>,
    /// From description or `fragment` to `}`.
    pub span: Span,
}

/// One member of a selection set.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// `alias: name(arguments) @directives { … }`.
    Field(Field),
    /// `...name`.
    Spread(Spread),
    /// `... on Type { … }`.
    Inline(Inline),
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Empty when there is none.
    pub alias: Name,
    /// The field's name.
    pub name: Name,
    /// `(a: 1)`.
    pub arguments: List<Argument>,
    /// `@skip(…)` and others.
    pub directives: List<Directive>,
    /// Empty both when there is no set and (2026 edition) when the set is empty; see `braces`.
    pub selections: List<Selection>,
    /// True if a selection set was written.
    pub braces: bool,
    /// From alias or name to the end.
    pub span: Span,
}

impl Field {
    /// The name under which the answer has this field.
    #[inline]
    pub const fn key(&self) -> Name {
        if self.alias.is_empty() { self.name } else { self.alias }
    }
}

/// A fragment spread.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The fragment.
    pub name: Name,
    /// On the spread.
    pub directives: List<Directive>,
    /// From `...` to the end.
    pub span: Span,
}

/// An inline fragment.
#[derive(Clone, Copy, Debug)]
pub struct Inline {
    /// Empty when there is no type condition.
    pub on: Name,
    /// On the fragment.
    pub directives: List<Directive>,
    /// The fragment's selections.
    pub selections: List<Selection>,
    /// From `...` to `}`.
    pub span: Span,
}

/// `name: value`, of a field or a directive.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The argument's name.
    pub name: Name,
    /// Argument value.
    pub value: ValueId,
    /// From name to the value's end.
    pub span: Span,
}

/// `@name(arguments)`.
#[derive(Clone, Copy, Debug)]
pub struct Directive {
    /// Without `@`.
    pub name: Name,
    /// In parentheses.
    pub arguments: List<Argument>,
    /// From `@` to the end.
    pub span: Span,
}

/// The place of a value in [`Document::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub u32);

/// A literal or a variable.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The kind of value.
    pub kind: ValueKind,
    /// All of it; a string with its quotes.
    pub span: Span,
}

/// The kinds of literals.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// `$name`: the name without `$`.
    Variable(Name),
    /// Digits as written.
    Int,
    /// Digits as written.
    Float,
    /// `"…"`: [`Document::string`] decodes it; `escapes` says whether there is a `\` in it.
    String {
        /// True if the text between the quotes differs from the value.
        escapes: bool,
    },
    /// `"""…"""`.
    Block,
    /// `true` or `false`.
    Boolean(bool),
    /// `null`.
    Null,
    /// Any other name.
    Enum,
    /// `[…]`.
    List(List<Value>),
    /// `{…}`.
    Object(List<ObjectField>),
}

/// `name: value` in an object literal.
#[derive(Clone, Copy, Debug)]
pub struct ObjectField {
    /// The field's name.
    pub name: Name,
    /// Field value.
    pub value: ValueId,
    /// From name to the value's end.
    pub span: Span,
}

/// A type as written: `[Int!]!`.
#[derive(Clone, Copy, Debug)]
pub struct TypeExpr {
    /// The named type inside.
    pub name: Name,
    /// List and non-null modifiers around the name.
    pub wraps: Wraps,
    /// All of it.
    pub span: Span,
}

/// `$name: Type = default @directives`.
#[derive(Clone, Copy, Debug)]
pub struct VariableDefinition {
    /// Before it.
    pub description: Description,
    /// Without `$`.
    pub name: Name,
    /// Type of the variable.
    pub ty: TypeExpr,
    /// The value when none is sent.
    pub default: Option<ValueId>,
    /// On the definition.
    pub directives: List<Directive>,
    /// From description or `$` to the end.
    pub span: Span,
}

/// A name in a list of names.
#[derive(Clone, Copy, Debug)]
pub struct NameNode(pub Name);

/// A description: the string's place, with quotes. `None` when there is none.
pub type Description = Option<ValueId>;

/// `schema @d { query: Q }`.
#[derive(Clone, Copy, Debug)]
pub struct SchemaDefinition {
    /// Before the definition.
    pub description: Description,
    /// True for `extend schema`.
    pub extend: bool,
    /// On the schema.
    pub directives: List<Directive>,
    /// The root types.
    pub operations: List<RootOperation>,
    /// All of it.
    pub span: Span,
}

/// `query: Q` in a schema definition.
#[derive(Clone, Copy, Debug)]
pub struct RootOperation {
    /// The root operation.
    pub kind: OperationKind,
    /// Name of the root type.
    pub ty: Name,
    /// Both.
    pub span: Span,
}

/// A type definition or extension.
#[derive(Clone, Copy, Debug)]
pub struct TypeDefinition {
    /// Before the definition.
    pub description: Description,
    /// True for `extend …`.
    pub extend: bool,
    /// The type's name.
    pub name: Name,
    /// On the type.
    pub directives: List<Directive>,
    /// The kind of type, with its members.
    pub body: TypeBody,
    /// All of it.
    pub span: Span,
}

/// The members of a type definition.
#[derive(Clone, Copy, Debug)]
pub enum TypeBody {
    /// `scalar`.
    Scalar,
    /// `type`.
    Object {
        /// `implements A & B`.
        interfaces: List<NameNode>,
        /// `{ … }`.
        fields: List<FieldDefinition>,
    },
    /// `interface`.
    Interface {
        /// `implements A & B`.
        interfaces: List<NameNode>,
        /// `{ … }`.
        fields: List<FieldDefinition>,
    },
    /// `union`.
    Union {
        /// `= A | B`.
        members: List<NameNode>,
    },
    /// `enum`.
    Enum {
        /// `{ … }`.
        values: List<EnumValueDefinition>,
    },
    /// `input`.
    Input {
        /// `{ … }`.
        fields: List<InputDefinition>,
    },
}

/// A field of an object or interface type.
#[derive(Clone, Copy, Debug)]
pub struct FieldDefinition {
    /// Before the field.
    pub description: Description,
    /// The field's name.
    pub name: Name,
    /// `(a: Int = 1)`.
    pub arguments: List<InputDefinition>,
    /// Field type.
    pub ty: TypeExpr,
    /// On the field.
    pub directives: List<Directive>,
    /// All of it.
    pub span: Span,
}

/// An argument or a field of an input object.
#[derive(Clone, Copy, Debug)]
pub struct InputDefinition {
    /// Before it.
    pub description: Description,
    /// Name of the argument or input field.
    pub name: Name,
    /// Type of the argument or input field.
    pub ty: TypeExpr,
    /// The value when none is given.
    pub default: Option<ValueId>,
    /// On it.
    pub directives: List<Directive>,
    /// All of it.
    pub span: Span,
}

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValueDefinition {
    /// Before it.
    pub description: Description,
    /// Name of the enum value.
    pub name: Name,
    /// On it.
    pub directives: List<Directive>,
    /// All of it.
    pub span: Span,
}

/// `directive @name(args) repeatable on A | B`.
#[derive(Clone, Copy, Debug)]
pub struct DirectiveDefinition {
    /// Before it.
    pub description: Description,
    /// Without `@`.
    pub name: Name,
    /// `(a: Int)`.
    pub arguments: List<InputDefinition>,
    /// Directives on the definition (2026 edition).
    pub directives: List<Directive>,
    /// True if the directive may stand twice in one place.
    pub repeatable: bool,
    /// The locations where the directive may stand.
    pub locations: List<NameNode>,
    /// True for `extend directive` (2026 edition).
    pub extend: bool,
    /// All of it.
    pub span: Span,
}
