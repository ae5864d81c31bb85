//! Builds a [`Schema`]: by calls, as sources that generate one do, or (see [`super::sdl`]) from SDL.
//!
//! Types may be referred to before they are defined. A definition *opens* its type; fields, arguments and values go to the type
//! opened last, and modifiers of an item (`deprecate`, `default`, `apply` …) follow it at once. Built-in scalars, directives and
//! introspection types come first, so their ids are fixed.
//!
//! **Invariant:** members are added while their type is open, so those of one type lie side by side, and every
//! id handed out stays the id of the finished schema.
//!
//! **Cost:** one copy of each text and one hash per type; names of members are hashed once, at the end.

use super::complaints::Complaints;
use super::sdl_places::Places;
use crate::error::{Code, Error};
use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
use crate::syntax::ast::{Document, ValueId};
use crate::syntax::wraps::Wraps;
use crate::type_system::{
    EnumValue, InputTable, MetaFields, Run, ScalarReader, Schema, SchemaDirective, SchemaField, Str, Type,
    TypeKind, TypeRef, Wording, builtin, hash_name,
};
use crate::value::Values;
use hashbrown::HashTable;

/// Collects types; [`SchemaBuilder::build`] makes the schema.
///
/// ```
/// use weir_language::schema::build::SchemaBuilder;
/// let mut b = SchemaBuilder::new();
/// let album = b.reference("Album");
/// let query = b.object("query_root", "");
/// let albums = b.type_ref("[Album!]!");
/// b.field("Album", "All albums.", albums);
/// let int = b.type_ref("Int");
/// b.argument("limit", "At most so many.", int);
/// b.default("10");
/// b.query(query);
/// b.object("Album", "A row of Album.");
/// let text = b.type_ref("String!");
/// b.field("Title", "", text);
/// let schema = b.build().unwrap();
/// assert_eq!(schema.type_by_name("Album"), Some(album));
/// ```
#[derive(Debug)]
pub struct SchemaBuilder {
    pub(super) schema: Schema,
    /// By type: whether it was defined or only referred to.
    pub(super) defined: Vec<bool>,
    /// The type that members go to.
    opened: TypeId,
    /// The field or directive that takes the next arguments.
    owner: Option<ArgumentOwner>,
    /// The item added last; modifiers apply to it.
    pub(super) last: Item,
    /// The roots that were named.
    pub(super) roots: [Option<TypeId>; 3],
    /// True if the query root may be without fields.
    pub(super) may_lack_queries: bool,
    /// Defaults whose literals are coerced once all types are known.
    pub(super) defaults: Vec<PendingDefault>,
    /// Places of all items in the SDL. Empty tables when the schema is built by calls.
    pub(super) places: Places,
    pub(super) errors: Complaints,
    /// Texts that were copied of late, by their hashes: names and descriptions of one table, say, stand in many types.
    recent: Box<[Str; RECENT_TEXTS]>,
}

/// Texts that are not copied again; 16 KiB.
const RECENT_TEXTS: usize = 2048;

/// A default that is to be coerced.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingDefault {
    pub(super) input: InputId,
    /// The document and its literal; `None` if only the text in the schema is there.
    pub(super) written: Option<(u32, ValueId)>,
}

/// An item that modifiers apply to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Schema,
    Type(TypeId),
    Field(FieldId),
    Input(InputId),
    EnumValue(EnumValueId),
    Directive(DirectiveId),
}

/// Items that can have arguments.
#[derive(Clone, Copy, Debug)]
enum ArgumentOwner {
    Field(FieldId),
    Directive(DirectiveId),
}

impl SchemaBuilder {
    /// A builder of a schema without anything, not even what is built in.
    pub(super) fn empty() -> Self {
        Self {
            schema: empty(),
            defined: Vec::new(),
            opened: builtin::INT,
            owner: None,
            last: Item::Schema,
            roots: [None; 3],
            may_lack_queries: false,
            defaults: Vec::new(),
            places: Places::default(),
            errors: Complaints::default(),
            recent: Box::new([Str::default(); RECENT_TEXTS]),
        }
    }

    /// Makes room for about so many types and members, so that large schemas are not copied while they grow.
    pub fn make_room(&mut self, types: usize, fields: usize, inputs: usize) {
        let schema = &mut self.schema;
        schema.types.reserve(types);
        schema.fields.reserve(fields);
        schema.inputs.reserve(inputs);
        schema.text.reserve(48 * types + 32 * fields + 20 * inputs);
        let known = &schema.types;
        let text = &schema.text;
        let hash = |id: &TypeId| hash_name(u32::MAX, known[id.index()].name.of(text));
        schema.type_names.reserve(types, hash);
        self.defined.reserve(types);
    }

    /// The type called `name`, defined already or later.
    pub fn reference(&mut self, name: &str) -> TypeId {
        match self.schema.type_by_name(name) {
            Some(id) => id,
            None => {
                let id = self.push_type(name);
                let schema = &mut self.schema;
                let types = &schema.types;
                let text = &schema.text;
                schema.type_names.insert_unique(hash_name(u32::MAX, name), id, |&id| {
                    hash_name(u32::MAX, types[id.index()].name.of(text))
                });
                id
            }
        }
    }

    /// A type as GraphQL writes it: `[Album!]!`. Brackets beyond [`Wraps::LISTS_MAX`] are left out.
    pub fn type_ref(&mut self, text: &str) -> TypeRef {
        let inner = text.trim_start_matches('[');
        let name_end = inner.find(['!', ']']).unwrap_or(inner.len());
        let mut wraps = Wraps::default();
        for mark in inner[name_end..].bytes() {
            wraps = if mark == b'!' { wraps.non_null() } else { wraps.list().unwrap_or(wraps) };
        }
        TypeRef { base: self.reference(&inner[..name_end]), wraps }
    }

    /// Defines a scalar.
    pub fn scalar(&mut self, name: &str, description: &str, reader: ScalarReader) -> TypeId {
        self.open(name, description, TypeKind::Scalar(reader))
    }
    /// Defines an object; its fields follow.
    pub fn object(&mut self, name: &str, description: &str) -> TypeId {
        self.open(name, description, TypeKind::Object)
    }
    /// Defines an interface; its fields follow.
    pub fn interface(&mut self, name: &str, description: &str) -> TypeId {
        self.open(name, description, TypeKind::Interface)
    }
    /// Defines a union; its members follow.
    pub fn union(&mut self, name: &str, description: &str) -> TypeId {
        self.open(name, description, TypeKind::Union)
    }
    /// Defines an enum; its values follow.
    pub fn enumeration(&mut self, name: &str, description: &str) -> TypeId {
        self.open(name, description, TypeKind::Enum)
    }
    /// Defines an input object; its fields follow.
    pub fn input_object(&mut self, name: &str, description: &str) -> TypeId {
        self.open(name, description, TypeKind::Input { one_of: false })
    }
    /// Defines a directive; its arguments follow. `places` has the [`crate::type_system::Place::bit`]s of where it may stand.
    pub fn directive(&mut self, name: &str, description: &str, repeatable: bool, places: u32) -> DirectiveId {
        let directive = SchemaDirective {
            name: self.text(name),
            description: self.text(description),
            arguments: Run { start: self.schema.inputs.len() as u32, len: 0 },
            repeatable,
            places,
            built_in: false,
            deprecated: None,
            hidden: false,
            applied: Run::default(),
        };
        let known = self.schema.directive_by_name(name);
        let id = match known {
            // A definition of a built-in directive may be repeated in the SDL; it replaces the built-in one.
            Some(id) if self.schema.directives[id.index()].built_in => {
                self.schema.directives[id.index()] = SchemaDirective { built_in: true, ..directive };
                id
            }
            Some(_) | None => {
                self.schema.directives.push(directive);
                self.places.push_directive();
                DirectiveId(self.schema.directives.len() as u32 - 1)
            }
        };
        if known.is_some_and(|known| known != id) {
            self.complain(format!("There can be only one directive named \"@{name}\"."));
        }
        self.places.directive(id);
        self.last = Item::Directive(id);
        self.owner = Some(ArgumentOwner::Directive(id));
        id
    }

    /// Adds an interface to the object or interface opened last.
    pub fn implement(&mut self, interface: TypeId) -> &mut Self {
        let at = self.schema.type_lists.len() as u32;
        self.schema.type_lists.push(interface);
        self.places.push_list();
        grow(&mut self.open_type().interfaces, at);
        self
    }
    /// Adds an object to the union opened last.
    pub fn member(&mut self, object: TypeId) -> &mut Self {
        let at = self.schema.type_lists.len() as u32;
        self.schema.type_lists.push(object);
        self.places.push_list();
        grow(&mut self.open_type().possible, at);
        self
    }
    /// Adds a field to the object or interface opened last.
    pub fn field(&mut self, name: &str, description: &str, ty: TypeRef) -> FieldId {
        let id = self.loose_field(name, description, ty);
        grow(&mut self.open_type().fields, id.0);
        id
    }
    /// Adds an argument to the field or directive added last.
    /// # Panics
    /// When the last definition has no arguments. A bug of the caller.
    pub fn argument(&mut self, name: &str, description: &str, ty: TypeRef) -> InputId {
        let id = self.push_input(name, description, ty);
        let run = match self.owner {
            Some(ArgumentOwner::Field(field)) => &mut self.schema.fields[field.index()].arguments,
            Some(ArgumentOwner::Directive(directive)) => {
                &mut self.schema.directives[directive.index()].arguments
            }
            None => panic!("argument `{name}` follows no field and no directive"),
        };
        grow(run, id.0);
        id
    }
    /// Adds a field to the input object opened last.
    pub fn input_field(&mut self, name: &str, description: &str, ty: TypeRef) -> InputId {
        let id = self.push_input(name, description, ty);
        grow(&mut self.open_type().members, id.0);
        id
    }
    /// Adds a value to the enum opened last.
    pub fn enum_value(&mut self, name: &str, description: &str) -> EnumValueId {
        let id = EnumValueId(self.schema.enum_values.len() as u32);
        let name = self.text(name);
        let description = self.text(description);
        let parent = self.opened;
        let value = EnumValue { name, description, parent, deprecated: None, applied: Run::default() };
        self.schema.enum_values.push(value);
        self.places.push_enum_value();
        grow(&mut self.open_type().members, id.0);
        self.last = Item::EnumValue(id);
        id
    }

    /// Makes a field that is in no type's run.
    pub(super) fn loose_field(&mut self, name: &str, description: &str, ty: TypeRef) -> FieldId {
        let id = FieldId(self.schema.fields.len() as u32);
        let field = SchemaField {
            name: self.text(name),
            description: self.text(description),
            parent: self.opened,
            ty,
            arguments: Run::default(),
            deprecated: None,
            applied: Run::default(),
        };
        self.schema.fields.push(field);
        self.places.push_field();
        self.last = Item::Field(id);
        self.owner = Some(ArgumentOwner::Field(id));
        id
    }

    /// Begins to record where things were written.
    pub(super) fn keep_places(&mut self) {
        self.places.keep(&self.schema);
    }

    /// Makes room for what `document` defines.
    pub(super) fn reserve(&mut self, document: &Document<'_>) {
        let schema = &mut self.schema;
        schema.text.reserve(document.text.len());
        schema.types.reserve(document.definitions.len());
        schema.fields.reserve(document.field_definitions.len());
        schema.inputs.reserve(document.input_definitions.len());
        schema.enum_values.reserve(document.enum_value_definitions.len());
    }

    /// Makes the type `id` the target of later modifiers.
    pub(super) fn select_type(&mut self, id: TypeId) {
        self.opened = id;
        self.last = Item::Type(id);
    }

    /// Makes the schema the target of later modifiers.
    pub(super) fn select_schema(&mut self) {
        self.last = Item::Schema;
    }

    /// Copies `text` to the schema's, unless it stands there as one of the recent ones.
    pub(super) fn text(&mut self, text: &str) -> Str {
        if text.is_empty() {
            return Str::default();
        }
        let place = find_recent_place(text);
        let known = self.recent[place];
        if known.is(&self.schema.text, text) {
            return known;
        }
        let made = Str { start: self.schema.text.len() as u32, len: text.len() as u32 };
        self.schema.text.push_str(text);
        self.recent[place] = made;
        made
    }

    /// Records an error at the position of the current item.
    pub(super) fn complain(&mut self, message: String) {
        self.errors.push(Error { message, spans: self.places.current(), code: Code::Schema });
    }

    pub(super) fn open_type(&mut self) -> &mut Type {
        &mut self.schema.types[self.opened.index()]
    }

    fn open(&mut self, name: &str, description: &str, kind: TypeKind) -> TypeId {
        let known = self.reference(name);
        let id = if self.defined[known.index()] {
            self.complain(format!("There can be only one type named \"{name}\"."));
            self.push_type(name)
        } else {
            known
        };
        self.defined[id.index()] = true;
        self.places.ty(id);
        let description = self.text(description);
        let ty = &mut self.schema.types[id.index()];
        (ty.description, ty.kind) = (description, kind);
        self.opened = id;
        self.owner = None;
        self.last = Item::Type(id);
        id
    }

    fn push_type(&mut self, name: &str) -> TypeId {
        let id = TypeId(self.schema.types.len() as u32);
        let name = self.text(name);
        self.schema.types.push(Type {
            name,
            description: Str::default(),
            kind: TypeKind::Scalar(ScalarReader::Json),
            fields: Run::default(),
            members: Run::default(),
            interfaces: Run::default(),
            possible: Run::default(),
            specified_by: Str::default(),
            is_sequence: false,
            applied: Run::default(),
        });
        self.defined.push(false);
        self.places.push_type();
        id
    }

    fn push_input(&mut self, name: &str, description: &str, ty: TypeRef) -> InputId {
        let id = InputId(self.schema.inputs.len() as u32);
        let name = self.text(name);
        let description = self.text(description);
        self.schema.inputs.push(name, description, ty);
        self.places.push_input();
        self.last = Item::Input(id);
        id
    }
}

/// Place of `text` among the recent ones, by its length and ends: a text that another one displaced is copied again.
fn find_recent_place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(23),
        _ => bytes.iter().fold(0, |all, it| all << 8 | u64::from(*it)),
    };
    let mixed = (ends ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as usize % RECENT_TEXTS
}

/// Lengthens `run` by the place `at`, which follows it.
pub(super) fn grow(run: &mut Run, at: u32) {
    if run.len == 0 {
        run.start = at;
    }
    debug_assert_eq!(run.start + run.len, at, "members are added while their owner is open");
    run.len += 1;
}

/// A schema without anything, which only this module ever sees.
fn empty() -> Schema {
    Schema {
        text: String::new(),
        types: Vec::new(),
        fields: Vec::new(),
        inputs: InputTable::default(),
        enum_values: Vec::new(),
        directives: Vec::new(),
        type_lists: Vec::new(),
        applied: Vec::new(),
        applied_to_schema: Run::default(),
        defaults: Values::default(),
        description: Str::default(),
        query: builtin::INT,
        mutation: None,
        subscription: None,
        join_roots: Vec::new(),
        wording: Wording::default(),
        meta: MetaFields { typename: FieldId(0), schema: FieldId(0), ty: FieldId(0), no_queries: FieldId(0) },
        demanding: Vec::new(),
        type_names: HashTable::new(),
        field_names: HashTable::new(),
        input_names: HashTable::new(),
        enum_value_names: HashTable::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Node;

    fn two_tables() -> SchemaBuilder {
        let mut b = SchemaBuilder::new();
        let query = b.object("query_root", "");
        for table in ["Album", "Artist"] {
            let rows = b.type_ref(&format!("[{table}!]!"));
            b.field(table, "", rows);
            let order = b.type_ref("order_by");
            b.argument("order_by", "", order);
            b.default("asc");
        }
        b.query(query);
        b.interface("Node", "");
        let id = b.type_ref("ID!");
        b.field("id", "", id);
        for table in ["Album", "Artist"] {
            b.object(table, "A row.");
            let node = b.reference("Node");
            b.implement(node);
            b.field("id", "", id);
        }
        b.enumeration("order_by", "");
        b.enum_value("asc", "");
        b.enum_value("desc", "");
        b.deprecate("never");
        b.union("Any", "");
        let album = b.reference("Album");
        let artist = b.reference("Artist");
        b.member(album).member(artist);
        b
    }

    #[test]
    fn ids_handed_out_while_building_stay() {
        let mut b = two_tables();
        let input = b.input_object("where", "");
        let int = b.type_ref("Int");
        let eq = b.input_field("_eq", "", int);
        let schema = b.build().expect("a sound schema");
        assert_eq!(schema.type_by_name("where"), Some(input));
        assert_eq!(schema.input_by_name(schema.ty(input).members, "_eq"), Some(eq));
        let album = schema.field_by_name(schema.query, "Album").expect("the root field");
        let argument = schema.arguments(album).next().expect("its argument");
        let default = schema.input(argument).default.expect("its default");
        let asc = schema.enum_value_by_name(schema.input(argument).ty.base, "asc").expect("a value");
        assert_eq!(schema.defaults.nodes[default.value as usize], Node::Enum(asc));
        assert_eq!(schema.type_text(schema.field(album).ty), "[Album!]!");
    }

    #[test]
    fn possible_types_are_the_objects_that_can_stand_there() {
        let schema = two_tables().build().expect("a sound schema");
        let names = |name: &str| -> Vec<String> {
            let id = schema.type_by_name(name).expect("a type");
            schema.possible_types(id).iter().map(|&id| schema.type_name(id).to_owned()).collect()
        };
        assert_eq!(names("Node"), ["Album", "Artist"]);
        assert_eq!(names("Any"), ["Album", "Artist"]);
        assert_eq!(names("Album"), ["Album"]);
        assert!(names("order_by").is_empty());
    }

    #[test]
    fn what_is_built_in_is_there_under_its_constant() {
        let schema = two_tables().build().expect("a sound schema");
        assert_eq!(schema.type_by_name("ID"), Some(builtin::ID));
        assert_eq!(schema.type_by_name("__DirectiveLocation"), Some(builtin::DIRECTIVE_LOCATION));
        assert_eq!(schema.directive_by_name("oneOf"), Some(builtin::ONE_OF));
        assert_eq!(schema.field_name(schema.meta.ty), "__type");
        assert_eq!(schema.arguments(schema.meta.ty).len(), 1);
        assert_eq!(schema.field_by_name(schema.query, "__type"), None);
        let fields = schema.field_by_name(builtin::TYPE, "fields").expect("a field");
        assert_eq!(schema.arguments(fields).len(), 1);
    }

    #[test]
    fn names_that_are_twice_or_nowhere_are_reported() {
        let mut b = two_tables();
        b.object("Album", "");
        let gone = b.type_ref("Gone");
        b.field("a", "", gone);
        b.field("a", "", gone);
        let messages: Vec<_> = b.build().expect_err("wrong").into_iter().map(|it| it.message).collect();
        assert_eq!(
            messages,
            [
                "There can be only one type named \"Album\".",
                "Unknown type \"Gone\". Did you mean \"Node\"?",
                "Field \"Album.a\" can only be defined once."
            ]
        );
    }

    #[test]
    fn long_lists_of_names_are_found_through_their_index() {
        let mut b = two_tables();
        let input = b.input_object("many", "");
        let int = b.type_ref("Int");
        for number in 0..40 {
            b.input_field(&format!("f{number}"), "", int);
        }
        let letters = b.enumeration("letters", "");
        for number in 0..40 {
            b.enum_value(&format!("v{number}"), "");
        }
        let schema = b.build().expect("a sound schema");
        let run = schema.ty(input).members;
        assert_eq!(schema.input_by_name(run, "f39"), Some(InputId(run.start + 39)));
        assert_eq!(schema.input_by_name(run, "f40"), None);
        let start = schema.ty(letters).members.start;
        assert_eq!(schema.enum_value_by_name(letters, "v20"), Some(EnumValueId(start + 20)));
        assert_eq!(schema.enum_value_by_name(letters, "asc"), None);
    }

    #[test]
    fn a_schema_built_by_calls_keeps_the_rules_too() {
        let mut b = two_tables();
        b.input_object("odd-name", "");
        let int = b.type_ref("Int");
        b.input_field("a", "", int);
        b.default("\"x\"");
        b.deprecate("old");
        let messages = |b: SchemaBuilder| -> Vec<String> {
            b.build().expect_err("wrong").into_iter().map(|it| it.message).collect()
        };
        assert_eq!(messages(b), ["Names must only contain [_a-zA-Z0-9] but \"odd-name\" does not."]);
        let mut b = two_tables();
        b.input_object("I", "");
        b.input_field("a", "", int);
        b.default("\"x\"");
        b.input_field("b", "", int);
        b.default("1) { a } query (");
        assert_eq!(messages(b), ["I.b has a default value that is no GraphQL literal."]);
    }
}
