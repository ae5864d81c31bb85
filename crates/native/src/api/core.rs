//! The schema in the making, with the tables of meanings that grow beside it.

use super::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use super::needed::Needed;
use super::present::{Present, present};
use crate::model::{Field, FieldKind, Model, Scalar, TypeId, TypeKind};
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{self, Place, TypeRef};
use weir_language::wraps::Wraps;

/// `T`.
const NULLABLE: Wraps = Wraps::NON_NULL.nullable();

/// `T`.
pub(super) const fn plain(base: schema::TypeId) -> TypeRef {
    TypeRef { base, wraps: NULLABLE }
}
/// `T!`.
pub(super) const fn non_null(base: schema::TypeId) -> TypeRef {
    TypeRef { base, wraps: Wraps::NON_NULL }
}
/// `ty`, or `ty!`.
pub(super) fn with_required(ty: TypeRef, is_required: bool) -> TypeRef {
    TypeRef { base: ty.base, wraps: if is_required { ty.wraps.non_null() } else { ty.wraps.nullable() } }
}
/// `[item]`.
pub(super) fn list(item: TypeRef) -> TypeRef {
    TypeRef { base: item.base, wraps: item.wraps.list().unwrap_or(item.wraps) }
}

/// Builder and meanings.
pub(super) struct Core<'m> {
    pub(super) b: SchemaBuilder,
    pub(super) model: &'m Model,
    pub(super) present: Vec<Present>,
    /// The schema's type of each of the model's.
    pub(super) objects: Vec<schema::TypeId>,
    pub(super) fields: Vec<FieldMeaning>,
    pub(super) inputs: Vec<InputMeaning>,
    pub(super) enum_values: Vec<EnumMeaning>,
    /// Filters of scalars and shapes that are in use.
    pub(super) needed: Needed,
    pub(super) common: Common,
}

/// Types that stand everywhere.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) int: schema::TypeId,
    pub(super) float: schema::TypeId,
    pub(super) string: schema::TypeId,
    pub(super) boolean: schema::TypeId,
    pub(super) id: schema::TypeId,
}

impl<'m> Core<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let mut b = SchemaBuilder::new();
        b.make_room(12 * model.types.len(), 6 * model.fields.len(), 12 * model.fields.len());
        let common = Common {
            int: b.reference("Int"),
            float: b.reference("Float"),
            string: b.reference("String"),
            boolean: b.reference("Boolean"),
            id: b.reference("ID"),
        };
        let objects = model.types.iter().map(|ty| b.reference(&ty.name)).collect();
        Self {
            b,
            model,
            present: present(model),
            objects,
            fields: Vec::new(),
            inputs: Vec::new(),
            enum_values: Vec::new(),
            needed: Needed::default(),
            common,
        }
    }

    pub(super) fn field(&mut self, name: &str, words: &str, ty: TypeRef, meaning: FieldMeaning) {
        let id = self.b.field(name, words, ty);
        put(&mut self.fields, id.index(), FieldMeaning::None, meaning);
    }
    pub(super) fn argument(&mut self, name: &str, ty: TypeRef, meaning: InputMeaning) {
        let id = self.b.argument(name, "", ty);
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

    /// The schema type called `before`, the name of `id`, and `after`.
    pub(super) fn type_named(&mut self, before: &str, id: TypeId, after: &str) -> schema::TypeId {
        let name = format!("{before}{}{after}", self.model.ty(id).name);
        self.b.reference(&name)
    }
    /// Opens the input object called `before`, the name of `id`, and `after`.
    pub(super) fn open_input(&mut self, before: &str, id: TypeId, after: &str) {
        let name = format!("{before}{}{after}", self.model.ty(id).name);
        self.b.input_object(&name, "");
    }
    pub(super) fn present(&self, id: TypeId) -> Present {
        self.present[id.index()]
    }
    /// True if the type has an `@id` field.
    pub(super) fn has_keys(&self, id: TypeId) -> bool {
        self.model.keys_of(id).next().is_some()
    }

    /// Output type of a field, or its input type if references stand for shapes and objects.
    pub(super) fn type_of(&mut self, field: &Field, as_input: bool) -> TypeRef {
        let suffix = if as_input { "Ref" } else { "" };
        let base = match field.kind {
            FieldKind::Id => self.common.id,
            FieldKind::Scalar(scalar) => match scalar {
                Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon => {
                    let name = format!("{}{suffix}", scalar_name(scalar));
                    self.needed.shape(&name);
                    self.b.reference(&name)
                }
                Scalar::String
                | Scalar::Int
                | Scalar::Int64
                | Scalar::Float
                | Scalar::Boolean
                | Scalar::DateTime => self.scalar(scalar),
            },
            FieldKind::Enum(id) => self.b.reference(&self.model.enumeration(id).name),
            FieldKind::Edge { to, .. } => self.type_named("", to, suffix),
        };
        if field.is_list {
            let item = if field.items_required { non_null(base) } else { plain(base) };
            return with_required(list(item), field.is_required);
        }
        with_required(plain(base), field.is_required)
    }

    /// A scalar that is a leaf.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> schema::TypeId {
        self.needed.leaf(scalar);
        self.b.reference(scalar_name(scalar))
    }

    /// The directives that requests may have.
    pub(super) fn directives(&mut self) {
        let words =
            "Leaves out objects that have no value for one of the selected fields, or of those named here.";
        self.b.directive("cascade", words, false, Place::Field.bit());
        let names = list(plain(self.common.string));
        self.argument("fields", names, InputMeaning::Cascade);
        let words = "Lets caches keep the answer for so many seconds.";
        self.b.directive("cacheControl", words, false, Place::Query.bit());
        let int = non_null(self.common.int);
        self.argument("maxAge", int, InputMeaning::None);
    }

    /// The enums of the model.
    pub(super) fn enums(&mut self) {
        for (at, named) in self.model.enums.iter().enumerate() {
            self.b.enumeration(&named.name, &named.description);
            for (place, value) in named.values.iter().enumerate() {
                let meaning = EnumMeaning::Value(crate::model::EnumId(at as u32), place as u32);
                self.enum_value(&value.name, &value.description, meaning);
                if let Some(reason) = &value.deprecated {
                    self.b.deprecate(reason);
                }
            }
        }
    }

    /// A union with its filter and its reference.
    pub(super) fn union(&mut self, id: TypeId) {
        let ty = self.model.ty(id);
        self.b.union(&ty.name, &ty.description);
        for member in &ty.members {
            self.b.member(self.objects[member.index()]);
        }
        self.union_inputs(id);
    }
}

/// Objects and interfaces have fields of the model; a union's members do.
pub(super) fn is_union(model: &Model, id: TypeId) -> bool {
    model.ty(id).kind == TypeKind::Union
}

/// A scalar's name in the schema.
pub(super) const fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::String => "String",
        Scalar::Int => "Int",
        Scalar::Int64 => "Int64",
        Scalar::Float => "Float",
        Scalar::Boolean => "Boolean",
        Scalar::DateTime => "DateTime",
        Scalar::Point => "Point",
        Scalar::Polygon => "Polygon",
        Scalar::MultiPolygon => "MultiPolygon",
    }
}

/// Puts `meaning` at `at`; fills the gap before it with `none`.
fn put<T: Clone>(table: &mut Vec<T>, at: usize, none: T, meaning: T) {
    table.resize(at, none);
    table.push(meaning);
}
