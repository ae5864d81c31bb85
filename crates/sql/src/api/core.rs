//! The schema in the making, with the tables of meanings that grow beside it.

use super::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{Place, TypeId, TypeRef};
use weir_language::wraps::Wraps;
use weir_metadata::document::customization::{Affixes, Customization, RootFieldNames};
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
/// `ty`, never null.
pub(super) const fn certain(ty: TypeRef) -> TypeRef {
    TypeRef { base: ty.base, wraps: ty.wraps.non_null() }
}
/// `[T!]!`.
pub(super) const fn full_list(base: TypeId) -> TypeRef {
    TypeRef { base, wraps: FULL_LIST }
}

/// Builder and meanings.
pub(super) struct Core {
    pub(super) b: SchemaBuilder,
    pub(super) fields: Vec<FieldMeaning>,
    pub(super) inputs: Vec<InputMeaning>,
    pub(super) enum_values: Vec<EnumMeaning>,
    /// Column types in use: the scalar, or a list of it, and its comparison.
    pub(super) scalars: Vec<(ColumnType, TypeRef, TypeId)>,
    /// Types that stand everywhere.
    pub(super) common: Common,
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
    /// Begins the API of so many tables with so many columns in all.
    pub(super) fn new(tables: usize, columns: usize, customization: &Customization) -> Self {
        let mut b = SchemaBuilder::new();
        // About what everyday tables bring.
        b.make_room(52 * tables + 60, 30 * tables + 10 * columns, 80 * tables + 20 * columns);
        let common = Common {
            int: b.reference("Int"),
            float: b.reference("Float"),
            string: b.reference("String"),
            boolean: b.reference("Boolean"),
            order_by: b.reference("order_by"),
        };
        Self {
            b,
            fields: Vec::new(),
            inputs: Vec::new(),
            enum_values: Vec::new(),
            scalars: Vec::new(),
            common,
            types: customization.type_names.clone(),
            roots: customization.root_fields.clone(),
            name: String::new(),
            words: String::new(),
        }
    }

    /// `@cached`, by which a query says how long its answer may be kept.
    pub(super) fn cached(&mut self) {
        let words =
            "Keeps the answer for so many seconds, unless a mutation made here changes what it shows.";
        self.b.directive("cached", words, false, Place::Query.bit());
        self.argument("ttl", "", non_null(self.common.int), InputMeaning::None);
        self.b.default("60");
        let words = "Asks anew and keeps what comes.";
        self.argument("refresh", words, non_null(self.common.boolean), InputMeaning::None);
        self.b.default("false");
    }

    pub(super) fn field(&mut self, name: &str, words: &str, ty: TypeRef, meaning: FieldMeaning) {
        let id = self.b.field(name, words, ty);
        put(&mut self.fields, id.index(), FieldMeaning::None, meaning);
    }
    pub(super) fn argument(&mut self, name: &str, words: &str, ty: TypeRef, meaning: InputMeaning) {
        let id = self.b.argument(name, words, ty);
        put(&mut self.inputs, id.index(), InputMeaning::None, meaning);
    }
    pub(super) fn input_field(&mut self, name: &str, words: &str, ty: TypeRef, meaning: InputMeaning) {
        let id = self.b.input_field(name, words, ty);
        put(&mut self.inputs, id.index(), InputMeaning::None, meaning);
    }
    pub(super) fn enum_value(&mut self, name: &str, words: &str, meaning: EnumMeaning) {
        let id = self.b.enum_value(name, words);
        put(&mut self.enum_values, id.index(), EnumMeaning::None, meaning);
    }

    fn type_name(&mut self, base: &str, suffix: &str) {
        write(&mut self.name, &[&self.types.prefix, base, suffix, &self.types.suffix]);
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
    /// As [`Self::object`], an input object.
    pub(super) fn input_object(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        self.type_name(base, suffix);
        write(&mut self.words, words);
        self.b.input_object(&self.name, &self.words)
    }
    /// As [`Self::input_object`], of an order: what is written first sorts first.
    pub(super) fn order_object(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        let id = self.input_object(base, suffix, words);
        self.b.sequence();
        id
    }
    /// As [`Self::object`], an enum.
    pub(super) fn enumeration(&mut self, base: &str, suffix: &str, words: &[&str]) -> TypeId {
        self.type_name(base, suffix);
        write(&mut self.words, words);
        self.b.enumeration(&self.name, &self.words)
    }
}

/// `parts` one after another, in place of what was in `out`.
pub(super) fn write(out: &mut String, parts: &[&str]) {
    out.clear();
    for part in parts {
        out.push_str(part);
    }
}

/// Puts `meaning` at `at`; what was added before without a meaning has none.
fn put<T: Clone>(table: &mut Vec<T>, at: usize, none: T, meaning: T) {
    table.resize(at, none);
    table.push(meaning);
}
