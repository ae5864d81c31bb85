//! The schema in the making, with the tables of meanings that grow beside it.

use super::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use crate::model::Model;
use crate::model::convention::{self, Case};
use std::borrow::Cow;
use std::collections::HashSet;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{Place, TypeId, TypeRef};
use weir_language::wraps::Wraps;
use weir_metadata::document::customization::{Affixes, RootFieldNames};
use weir_relational::catalog::ColumnType;

/// `T`.
pub(super) const NULLABLE: Wraps = Wraps::NON_NULL.nullable();
/// `T!`.
pub(super) const NON_NULL: Wraps = Wraps::NON_NULL;
/// `[T!]`.
pub(super) const LIST: Wraps = match Wraps::NON_NULL.list() {
    Some(list) => list,
    None => NON_NULL,
};
/// `[T!]!`.
pub(super) const FULL_LIST: Wraps = LIST.non_null();
/// `[T]`.
pub(super) const NULLABLE_LIST: Wraps = match NULLABLE.list() {
    Some(list) => list,
    None => NULLABLE,
};

/// `T`.
pub(super) const fn plain(base: TypeId) -> TypeRef {
    TypeRef { base, wraps: NULLABLE }
}
/// `T!`.
pub(super) const fn non_null(base: TypeId) -> TypeRef {
    TypeRef { base, wraps: NON_NULL }
}
/// `[T!]`.
pub(super) const fn list(base: TypeId) -> TypeRef {
    TypeRef { base, wraps: LIST }
}
/// `[T!]`, where `ty` may be a list itself.
pub(super) fn list_of(ty: TypeRef) -> TypeRef {
    let wraps = ty.wraps.non_null();
    TypeRef { base: ty.base, wraps: wraps.list().unwrap_or(wraps) }
}
/// `[T]`: an array of the database, whose items may be null.
pub(super) fn array_of(ty: TypeRef) -> TypeRef {
    TypeRef { base: ty.base, wraps: ty.wraps.list().unwrap_or(ty.wraps) }
}
/// `ty`, never null.
pub(super) const fn certain(ty: TypeRef) -> TypeRef {
    TypeRef { base: ty.base, wraps: ty.wraps.non_null() }
}
/// `[T!]!`.
pub(super) const fn full_list(base: TypeId) -> TypeRef {
    TypeRef { base, wraps: FULL_LIST }
}

/// Forms of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Rows are lists.
    Lists,
    /// Rows of the root, and related ones, are Relay's connections.
    Connections,
}

/// Builder and meanings.
pub(super) struct Core {
    pub(super) style: Style,
    pub(super) b: SchemaBuilder,
    pub(super) fields: Vec<FieldMeaning>,
    pub(super) inputs: Vec<InputMeaning>,
    pub(super) enum_values: Vec<EnumMeaning>,
    /// Column types in use: the scalar, or a list of it, and its comparison.
    pub(super) scalars: Vec<(ColumnType, TypeRef, TypeId)>,
    /// Types that stand everywhere.
    pub(super) common: Common,
    /// True if generated names follow the convention `graphql-default`.
    pub(super) is_camel: bool,
    /// Bases of names given by the configuration.
    customs: HashSet<String>,
    /// Prefix and suffix of the names of this source's own types.
    types: Affixes,
    /// Prefix and suffix of the names of root fields.
    pub(super) roots: RootFieldNames,
    /// Names are written here.
    pub(super) name: String,
    /// Descriptions are written here.
    pub(super) words: String,
}

/// Types that stand everywhere.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) int: TypeId,
    pub(super) float: TypeId,
    pub(super) string: TypeId,
    pub(super) boolean: TypeId,
    pub(super) order_by: TypeId,
}

impl Core {
    /// Begins an API, with capacity for `tables` tables and `columns` columns in all.
    pub(super) fn new(tables: usize, columns: usize, model: &Model, style: Style) -> Self {
        let customization = &model.customization;
        let is_camel = model.is_camel();
        let named = model.tables.iter().flatten().filter(|it| it.has_custom_name).map(|it| &it.name);
        let arguments = model.functions.iter().map(|it| &it.arguments_type);
        let customs = named.chain(arguments).filter(|_| is_camel).cloned().collect();
        let mut b = SchemaBuilder::new();
        // Upper estimates for ordinary tables: memory that is not used is not touched, and what is too small is copied.
        let [types, fields, inputs] =
            [90 * tables + 60, 60 * tables + 12 * columns, 150 * tables + 30 * columns];
        b.make_room(types, fields, inputs);
        let common = Common {
            int: b.reference("Int"),
            float: b.reference("Float"),
            string: b.reference("String"),
            boolean: b.reference("Boolean"),
            order_by: b.reference(if is_camel { "OrderBy" } else { "order_by" }),
        };
        Self {
            style,
            b,
            fields: Vec::with_capacity(fields),
            inputs: Vec::with_capacity(inputs),
            enum_values: Vec::new(),
            scalars: Vec::new(),
            common,
            is_camel,
            customs,
            types: customization.type_names.clone(),
            roots: customization.root_fields.clone(),
            name: String::new(),
            words: String::new(),
        }
    }

    /// Defines `@cached`, by which a query says how long its answer may be cached.
    pub(super) fn define_cached_directive(&mut self) {
        let words =
            "Keeps the answer for so many seconds, unless a mutation made here changes what it shows.";
        self.b.directive("cached", words, false, Place::Query.bit());
        self.argument("ttl", "", non_null(self.common.int), InputMeaning::None);
        self.b.default("60");
        let words = "Asks anew and keeps what comes.";
        self.argument("refresh", words, non_null(self.common.boolean), InputMeaning::None);
        self.b.default("false");
    }

    /// Converts the `name` of a member to the source's convention, unless the configuration gave it.
    fn convert_name<'n>(&self, name: &'n str, is_given: bool) -> Cow<'n, str> {
        let is_cut = self.is_camel && !is_given && name.trim_start_matches('_').contains('_');
        if is_cut { Cow::Owned(convention::field(name)) } else { Cow::Borrowed(name) }
    }

    /// Converts the `name` of a type that all sources share to the source's convention.
    pub(super) fn shared_type_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.is_camel { Cow::Owned(convention::type_name(name)) } else { Cow::Borrowed(name) }
    }

    pub(super) fn field(&mut self, name: &str, words: &str, ty: TypeRef, meaning: FieldMeaning) {
        let is_generated = matches!(
            meaning,
            FieldMeaning::RelatedAggregate(_)
                | FieldMeaning::RelatedConnection(_)
                | FieldMeaning::Function(..)
                | FieldMeaning::AffectedRows(_)
        );
        let id = self.b.field(&self.convert_name(name, !is_generated), words, ty);
        put(&mut self.fields, id.index(), FieldMeaning::None, meaning);
    }
    pub(super) fn argument(&mut self, name: &str, words: &str, ty: TypeRef, meaning: InputMeaning) {
        let id = self.b.argument(&self.convert_name(name, is_given(meaning)), words, ty);
        put(&mut self.inputs, id.index(), InputMeaning::None, meaning);
    }
    pub(super) fn input_field(&mut self, name: &str, words: &str, ty: TypeRef, meaning: InputMeaning) {
        let id = self.b.input_field(&self.convert_name(name, is_given(meaning)), words, ty);
        put(&mut self.inputs, id.index(), InputMeaning::None, meaning);
    }
    pub(super) fn enum_value(&mut self, name: &str, words: &str, meaning: EnumMeaning) {
        let is_upper =
            self.is_camel && matches!(meaning, EnumMeaning::Order { .. } | EnumMeaning::TableValue(..));
        let id = if is_upper {
            self.b.enum_value(&name.to_ascii_uppercase(), words)
        } else {
            self.b.enum_value(name, words)
        };
        put(&mut self.enum_values, id.index(), EnumMeaning::None, meaning);
    }

    /// Appends the base of a name, which is one unit if the configuration gave it.
    fn base(&mut self, base: &str, case: Case) {
        if self.customs.contains(base) {
            convention::push_custom(&mut self.name, base)
        } else {
            convention::push_part(&mut self.name, base, case)
        }
    }

    /// Writes the name of a root field; `is_given` if the configuration gave all of it but prefix and suffix.
    pub(super) fn root_name(&mut self, [before, base, after]: [&str; 3], is_given: bool) {
        if !self.is_camel {
            write(&mut self.name, &[&self.roots.prefix, before, base, after, &self.roots.suffix]);
            return;
        }
        self.name.clone_from(&self.roots.prefix);
        convention::push_part(&mut self.name, before, Case::Field);
        if is_given {
            convention::push_custom(&mut self.name, base)
        } else {
            self.base(base, Case::Field)
        }
        convention::push_part(&mut self.name, after, Case::Field);
        self.name.push_str(&convention::capital(&self.roots.suffix));
    }

    fn type_name(&mut self, base: &str, suffix: &str) {
        if !self.is_camel {
            write(&mut self.name, &[&self.types.prefix, base, suffix, &self.types.suffix]);
            return;
        }
        self.name.clear();
        self.name.push_str(&convention::capital(&self.types.prefix));
        self.base(base, Case::Type);
        convention::push_part(&mut self.name, suffix, Case::Type);
        self.name.push_str(&convention::capital(&self.types.suffix));
    }

    /// The source's own type called `base` and `suffix`.
    pub(super) fn reference(&mut self, base: &str, suffix: &str) -> TypeId {
        self.type_name(base, suffix);
        self.b.reference(&self.name)
    }
    /// Opens the source's own object called `base` and `suffix`, described by `words` put together.
    pub(super) fn object(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        self.type_name(base, suffix);
        write(&mut self.words, words);
        self.b.object(&self.name, &self.words)
    }
    /// Opens an input object, named like [`Self::object`].
    pub(super) fn input_object(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        self.type_name(base, suffix);
        write(&mut self.words, words);
        self.b.input_object(&self.name, &self.words)
    }
    /// Opens an input object of an order, see [`Self::input_object`]: the first member sorts first.
    pub(super) fn order_object(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        let id = self.input_object(base, suffix, words);
        self.b.sequence();
        id
    }
    /// Opens an enum, named like [`Self::object`].
    pub(super) fn enumeration(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        self.type_name(base, suffix);
        write(&mut self.words, words);
        self.b.enumeration(&self.name, &self.words)
    }
}

/// True if an input's name is not generated.
fn is_given(meaning: InputMeaning) -> bool {
    matches!(
        meaning,
        InputMeaning::Column(..)
            | InputMeaning::Related(_)
            | InputMeaning::RelatedAggregate(_)
            | InputMeaning::Computed(_)
            | InputMeaning::FunctionArgument(_)
            | InputMeaning::NoColumn(_)
    )
}

/// Replaces the contents of `out` by the concatenated `parts`.
pub(super) fn write(out: &mut String, parts: &[&str]) {
    out.clear();
    for part in parts {
        out.push_str(part);
    }
}

/// Puts `meaning` at `at`; fills the gap before it with `none`.
fn put<T: Clone>(table: &mut Vec<T>, at: usize, none: T, meaning: T) {
    table.resize(at, none);
    table.push(meaning);
}
