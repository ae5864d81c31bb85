//! Validated model of a file of types: types, fields, edges, keys, searches.
//!
//! Every object and interface has all its fields side by side, inherited ones too, so that nothing below has to look
//! at interfaces to know what an object holds.
//!
//! **Invariant:** an id is only used with the model that made it; `inverse` of two edges point to each other, except
//! where an interface's edge stands for those of its implementers (see [`FieldKind::Edge`]).

use std::ops::Range;
use weir_engine::demand::CostRule;
use weir_language::span::Location;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// Index into the model's table.
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
ids! {
    /// The place of a type in [`Model::types`].
    TypeId,
    /// The place of a field in [`Model::fields`].
    FieldId,
    /// The place of an enum in [`Model::enums`].
    EnumId,
}

/// All that a text of types says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Objects, interfaces and unions, in the order of the text.
    pub types: Vec<Type>,
    /// The fields of all types, those of one type side by side.
    pub fields: Vec<Field>,
    /// Enums, in the order of the text.
    pub enums: Vec<Enum>,
    /// The line `# Dgraph.Authorization`.
    pub authorization: Option<Authorization>,
    /// Name of the authority whose tokens the rules read; empty for the token of the session.
    pub authority: Box<str>,
    /// Weights and list sizes, by `@cost` and `@listSize`.
    pub cost_rules: Vec<CostRule>,
}

/// An object, interface or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Name of the type.
    pub name: String,
    /// Description, or empty.
    pub description: String,
    pub kind: TypeKind,
    /// Range in [`Model::fields`]: first inherited fields that are not repeated, then the others as written.
    pub fields: Range<u32>,
    /// All interfaces it implements, those of its interfaces too.
    pub interfaces: Vec<TypeId>,
    /// The objects that can stand there: an interface's implementers, a union's members, an object itself.
    pub members: Vec<TypeId>,
    /// `@secret`.
    pub secret: Option<Secret>,
    /// `@unique(fields:)`: fields that are unique together.
    pub unique: Vec<Vec<FieldId>>,
    /// `@auth`, with the rules of its interfaces.
    pub auth: Auth,
    /// `@generate`: which root fields it gets.
    pub generate: Generate,
    /// `@renamedFrom`.
    pub renamed_from: Option<String>,
    /// Place of its name.
    pub place: Location,
}

/// Kinds of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// An object, which is stored.
    Object,
    /// Fields that its implementers share.
    Interface,
    /// Any of several object types.
    Union,
}

/// Rules for the objects of a type, by operation; `None`: everyone may do all.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Auth {
    pub query: Option<Rule>,
    pub add: Option<Rule>,
    pub update: Option<Rule>,
    pub delete: Option<Rule>,
    pub password: Option<Rule>,
}

impl Auth {
    /// Adds the rules of `above`, so that both have to hold.
    pub(crate) fn join(&mut self, above: &Self) {
        let join = |own: &mut Option<Rule>, above: &Option<Rule>| {
            *own = match (own.take(), above.clone()) {
                (Some(Rule::All(mut all)), Some(above)) => {
                    all.push(above);
                    Some(Rule::All(all))
                }
                (Some(own), Some(above)) => Some(Rule::All(vec![own, above])),
                (own, above) => own.or(above),
            };
        };
        join(&mut self.query, &above.query);
        join(&mut self.add, &above.add);
        join(&mut self.update, &above.update);
        join(&mut self.delete, &above.delete);
        join(&mut self.password, &above.password);
    }
}

/// A rule of `@auth`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All have to hold.
    All(Vec<Rule>),
    /// At least one rule holds.
    Any(Vec<Rule>),
    /// The rule does not hold.
    Not(Box<Rule>),
    /// A claim passes a test.
    Claim {
        /// The claim's name.
        name: String,
        test: ClaimTest,
    },
    /// The object is among those that a query finds.
    Graph {
        /// The query.
        text: String,
        /// The type or interface that it finds objects of.
        on: TypeId,
    },
}

/// A test of a claim; of a list one item has to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimTest {
    /// Equals this JSON value.
    Equals(String),
    /// Equals an item of this JSON list.
    In(String),
    /// Is a text that this regular expression matches somewhere.
    Matches(String),
}

/// Settings of the line `# Dgraph.Authorization`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// Name of the header that holds the token.
    pub header: String,
    /// Name of the top-level claim whose members are claims too.
    pub namespace: String,
    pub keys: AuthorizationKeys,
    /// A token with `aud` has to name one of these.
    pub audience: Vec<String>,
    /// True if a token is needed.
    pub closed: bool,
}

/// Keys of the line.
#[derive(Clone, PartialEq, Eq)]
pub enum AuthorizationKeys {
    /// A secret, or an RSA public key.
    Key {
        /// Text of the key.
        text: String,
        /// The algorithm's name.
        algorithm: String,
    },
    /// Addresses of key sets.
    Sets(Vec<String>),
}

impl std::fmt::Debug for AuthorizationKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key { algorithm, .. } => write!(f, "Key({algorithm})"),
            Self::Sets(urls) => f.debug_tuple("Sets").field(urls).finish(),
        }
    }
}

/// A password of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Name in inputs and in `check…Password`.
    pub name: String,
    /// Place in the text.
    pub place: Location,
}

/// The root fields that a type gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Generate {
    pub get: bool,
    pub query: bool,
    pub password: bool,
    pub aggregate: bool,
    pub add: bool,
    pub update: bool,
    pub delete: bool,
    /// True if `get`, `query` and `aggregate` may be subscribed to.
    pub subscription: bool,
}

impl Generate {
    /// Root fields of a type without directives: all but subscriptions.
    pub const USUAL: Self = Self {
        get: true,
        query: true,
        password: true,
        aggregate: true,
        add: true,
        update: true,
        delete: true,
        subscription: false,
    };
}

/// A field of an object or interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Type of the field. An inherited field belongs to the implementer.
    pub owner: TypeId,
    /// Name of the field.
    pub name: String,
    /// Description, or empty.
    pub description: String,
    /// Kind of the field's values.
    pub kind: FieldKind,
    /// True for a list.
    pub is_list: bool,
    /// `!` on the field itself: of a list, on the list.
    pub is_required: bool,
    /// `!` on the items of a list.
    pub items_required: bool,
    /// `@id`.
    pub key: Option<Key>,
    /// `@search`, and searches implied by `@id`, ordered by the words of the directive, as names of filters are.
    pub search: Vec<Search>,
    /// `@default(add:)`.
    pub default_add: Option<DefaultValue>,
    /// `@default(update:)`.
    pub default_update: Option<DefaultValue>,
    /// The interface's field of which this is the copy of an implementer.
    pub inherited_from: Option<FieldId>,
    /// `@renamedFrom`.
    pub renamed_from: Option<String>,
    /// `@deprecated`: its reason.
    pub deprecated: Option<String>,
    /// Place of its name; of an inherited field, in the interface.
    pub place: Location,
}

impl Field {
    /// True if an index holds the words of its texts.
    pub fn has_words(&self) -> bool {
        self.search.iter().any(|it| matches!(it, Search::Term | Search::Fulltext))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// The number that the server gave the object.
    Id,
    /// A value.
    Scalar(Scalar),
    /// A value of an enum.
    Enum(EnumId),
    /// Another object.
    Edge {
        /// Target type.
        to: TypeId,
        /// Field of the target type for the same edge. If the other side names a field of an interface, the copies of all implementers
        /// have that other side as inverse, whose own inverse is the interface's field.
        inverse: Option<FieldId>,
    },
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    String,
    Int,
    Int64,
    Float,
    Boolean,
    DateTime,
    Point,
    Polygon,
    MultiPolygon,
}

/// Scope in which the values of an `@id` are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// In the object's own type.
    Type,
    /// `@id(interface: true)`: in all types that implement the interface.
    Interface,
}

/// The kinds of `@search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Search {
    Hash,
    Exact,
    Term,
    Fulltext,
    /// Regular expressions: `trigram` and `regexp`.
    Trigram,
    Ngram,
    Number,
    Bool,
    Year,
    Month,
    Day,
    Hour,
    EnumHash,
    EnumExact,
    EnumTrigram,
    Geo,
}

/// A value that is stored where none is given.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// `$now`.
    Now,
    /// Default of a String or DateTime.
    Text(String),
    /// Default of an Int or Int64.
    Int(i64),
    /// Default of a Float.
    Float(f64),
    /// Default of a Boolean.
    Boolean(bool),
    /// Default of an enum: index of the value.
    Enum(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Name of the enum.
    pub name: String,
    /// Description, or empty.
    pub description: String,
    pub values: Vec<EnumValue>,
    /// Place of its name.
    pub place: Location,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Name of the value, which is also what is stored.
    pub name: String,
    /// Description, or empty.
    pub description: String,
    /// `@deprecated`: its reason.
    pub deprecated: Option<String>,
}

impl Model {
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }
    pub fn enumeration(&self, id: EnumId) -> &Enum {
        &self.enums[id.index()]
    }
    /// The ids of all types.
    pub fn type_ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        (0..self.types.len() as u32).map(TypeId)
    }
    /// The fields of a type, inherited ones too.
    pub fn fields_of(&self, ty: TypeId) -> impl ExactSizeIterator<Item = (FieldId, &Field)> + Clone {
        self.ty(ty).fields.clone().map(|at| (FieldId(at), self.field(FieldId(at))))
    }
    /// The type called `name`.
    pub fn type_by_name(&self, name: &str) -> Option<TypeId> {
        self.types.iter().position(|ty| ty.name == name).map(|at| TypeId(at as u32))
    }
    /// The field `name` of `ty`.
    pub fn field_by_name(&self, ty: TypeId, name: &str) -> Option<FieldId> {
        self.fields_of(ty).find(|(_, field)| field.name == name).map(|(id, _)| id)
    }
    /// The field of type `ID`.
    pub fn id_of(&self, ty: TypeId) -> Option<FieldId> {
        self.fields_of(ty).find(|(_, field)| field.kind == FieldKind::Id).map(|(id, _)| id)
    }
    /// The `@id` fields of a type.
    pub fn keys_of(&self, ty: TypeId) -> impl Iterator<Item = FieldId> + '_ {
        self.fields_of(ty).filter(|(_, field)| field.key.is_some()).map(|(id, _)| id)
    }
}
