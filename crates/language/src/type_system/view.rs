//! A schema as one profile of callers sees it: what is hidden is absent.
//!
//! Validation, coercion, suggestions, introspection and planning read a schema through a [`SchemaView`] only, so that a
//! hidden member cannot be told from one that does not exist.
//!
//! **Invariant:** no accessor of a view that searches or lists gives a hidden member. An id that a view gave is visible in it.
//!
//! **Cost:** a view is two pointers. One bit per member and profile; a list that a view gives is filtered while it is walked.

use super::{
    Applied, EnumValue, Input, MetaFields, Run, Schema, SchemaDirective, SchemaField, Str, Type, TypeKind,
    TypeRef, Wording, builtin,
};
use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
use crate::syntax::ast::OperationKind;
use crate::value::{Node, Values, json};
use std::sync::Arc;

/// One bit per item of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// `len` bits, all `value`.
    pub fn new(len: usize, value: bool) -> Self {
        Self(vec![if value { u64::MAX } else { 0 }; len.div_ceil(64)])
    }
    /// The bit at `at`; one that was never set is 0.
    #[inline]
    pub fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
    /// Sets the bit at `at`.
    pub fn set(&mut self, at: usize, value: bool) {
        let mask = 1 << (at % 64);
        if at / 64 >= self.0.len() {
            self.0.resize(at / 64 + 1, 0);
        }
        let word = &mut self.0[at / 64];
        *word = if value { *word | mask } else { *word & !mask };
    }
}

/// The members of a schema that a profile of callers sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    types: Bits,
    fields: Bits,
    inputs: Bits,
    enum_values: Bits,
    /// Fields that are nullable for this profile though the schema says non-null.
    nullable: Bits,
    /// Objects that implement no interface for this profile.
    detached: Bits,
    /// True if a field of the query root is shown.
    has_queries: bool,
}

impl Visibility {
    /// All of `schema`.
    pub fn everything(schema: &Schema) -> Self {
        Self {
            types: Bits::new(schema.types.len(), true),
            fields: Bits::new(schema.fields.len(), true),
            inputs: Bits::new(schema.inputs.len(), true),
            enum_values: Bits::new(schema.enum_values.len(), true),
            nullable: Bits::default(),
            detached: Bits::default(),
            has_queries: schema.ty(schema.query).fields.len > 0,
        }
    }
    /// Shows or hides a field of an object or interface.
    pub fn show_field(&mut self, id: FieldId, shown: bool) {
        self.fields.set(id.index(), shown);
    }
    /// Shows or hides an argument or a field of an input object.
    pub fn show_input(&mut self, id: InputId, shown: bool) {
        self.inputs.set(id.index(), shown);
    }
    /// Shows or hides a value of an enum.
    pub fn show_enum_value(&mut self, id: EnumValueId, shown: bool) {
        self.enum_values.set(id.index(), shown);
    }
    /// Shows or hides a type: with it the fields and inputs of the type go when [`Self::close`] runs.
    pub fn show_type(&mut self, id: TypeId, shown: bool) {
        self.types.set(id.index(), shown);
    }
    /// Makes a non-null field nullable for this profile.
    pub fn make_nullable(&mut self, id: FieldId) {
        self.nullable.set(id.index(), true);
    }
    /// Lets an object implement none of its interfaces: it hides a field that they promise.
    pub fn detach(&mut self, id: TypeId) {
        self.detached.set(id.index(), true);
    }
    /// True if the object implements no interface for this profile.
    pub fn is_detached(&self, id: TypeId) -> bool {
        self.detached.get(id.index())
    }
    /// True if the type is shown.
    pub fn has_type(&self, id: TypeId) -> bool {
        self.types.get(id.index())
    }
    /// True if the field is shown.
    pub fn has_field(&self, id: FieldId) -> bool {
        self.fields.get(id.index())
    }
    /// True if the argument or input field is shown.
    pub fn has_input(&self, id: InputId) -> bool {
        self.inputs.get(id.index())
    }
    /// True if the enum value is shown.
    pub fn has_enum_value(&self, id: EnumValueId) -> bool {
        self.enum_values.get(id.index())
    }
    /// True if the field is nullable for this profile though the schema says non-null.
    pub fn is_nullable(&self, id: FieldId) -> bool {
        self.nullable.get(id.index())
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        let Self { types, fields, inputs, enum_values, nullable, detached, has_queries: _ } = self;
        [types, fields, inputs, enum_values, nullable, detached]
            .iter()
            .map(|it| size_of_val(it.0.as_slice()))
            .sum()
    }

    /// Hides what cannot be used any more: composite types and enums without a visible member, members whose type is hidden, input objects and
    /// fields that need a value of a hidden type, and then types that no root type leads to.
    ///
    /// **Cost:** linear in the schema per round; a round more for each level that empties.
    pub fn close(&mut self, schema: &Schema) {
        self.close_from(schema, &[]);
    }

    /// Closes like [`Self::close`], and keeps what the fields of join roots lead to: joins of other sources show it.
    pub fn close_with_joins(&mut self, schema: &Schema) {
        self.close_from(schema, &schema.join_roots);
    }

    fn close_from(&mut self, schema: &Schema, more_roots: &[TypeId]) {
        while self.hide_empty(schema) {}
        self.hide_unreachable(schema, more_roots);
        self.has_queries = schema.ty(schema.query).fields.range().any(|it| self.fields.get(it));
    }

    /// One round of [`Self::close`]: true if something was hidden that was shown before.
    fn hide_empty(&mut self, schema: &Schema) -> bool {
        let mut changed = false;
        for at in builtin::TYPES..schema.types.len() as u32 {
            let id = TypeId(at);
            let ty = schema.ty(TypeId(at));
            let is_empty = match ty.kind {
                TypeKind::Scalar(_) => false,
                TypeKind::Object | TypeKind::Interface => {
                    id != schema.query && !ty.fields.range().any(|it| self.fields.get(it))
                }
                TypeKind::Union => {
                    !schema.type_lists[ty.possible.range()].iter().any(|it| self.types.get(it.index()))
                }
                TypeKind::Enum => !ty.members.range().any(|it| self.enum_values.get(it)),
                TypeKind::Input { .. } => {
                    !ty.members.range().any(|it| self.inputs.get(it))
                        || ty.members.range().any(|it| self.is_lacking(schema, it))
                }
            };
            if is_empty && self.types.get(at as usize) {
                self.types.set(at as usize, false);
                changed = true;
            }
        }
        changed |= self.hide_interface_fields(schema);
        for (at, input) in schema.inputs.iter().enumerate() {
            if self.inputs.get(at) && !self.types.get(input.ty.base.index()) {
                self.inputs.set(at, false);
                changed = true;
            }
        }
        for (at, field) in schema.fields.iter().enumerate() {
            if !self.fields.get(at) {
                continue;
            }
            let is_useless = !self.types.get(field.ty.base.index())
                || !self.types.get(field.parent.index())
                || field.arguments.range().any(|it| self.is_lacking(schema, it));
            if is_useless {
                self.fields.set(at, false);
                changed = true;
            }
        }
        changed
    }

    /// True if the input has to be given and its type is hidden.
    fn is_lacking(&self, schema: &Schema, input: usize) -> bool {
        let Input { ty, default, .. } = schema.inputs.get(input);
        !self.inputs.get(input) && !self.types.get(ty.base.index()) && ty.is_non_null() && default.is_none()
    }

    /// Hides a field of an interface if a visible object that implements it hides the field, which the interface would give away.
    fn hide_interface_fields(&mut self, schema: &Schema) -> bool {
        let mut changed = false;
        for (at, ty) in schema.types.iter().enumerate() {
            if ty.kind != TypeKind::Object || !self.types.get(at) || self.detached.get(at) {
                continue;
            }
            for &interface in &schema.type_lists[ty.interfaces.range()] {
                for field in
                    schema.ty(interface).fields.range().filter(|&it| self.fields.get(it)).collect::<Vec<_>>()
                {
                    let name = schema.str(schema.fields[field].name);
                    let own = schema.field_by_name(TypeId(at as u32), name);
                    if own.is_some_and(|own| !self.has_field(own)) {
                        self.fields.set(field, false);
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// Hides the types that nothing visible leads to from the roots and `more_roots`.
    fn hide_unreachable(&mut self, schema: &Schema, more_roots: &[TypeId]) {
        let mut reached = Bits::new(schema.types.len(), false);
        let roots = [Some(schema.query), schema.mutation, schema.subscription];
        let directives = schema.directives.iter().flat_map(|it| it.arguments.range());
        let mut pending: Vec<TypeId> = roots.into_iter().flatten().collect();
        pending.extend(more_roots);
        pending.extend(directives.map(|it| schema.inputs.get(it).ty.base));
        pending.extend((0..builtin::TYPES).map(TypeId));
        while let Some(id) = pending.pop() {
            if reached.get(id.index()) || !self.types.get(id.index()) {
                continue;
            }
            reached.set(id.index(), true);
            let ty = schema.ty(id);
            for at in ty.fields.range().filter(|&it| self.fields.get(it)) {
                let field = &schema.fields[at];
                pending.push(field.ty.base);
                let inputs = field.arguments.range().filter(|&it| self.inputs.get(it));
                pending.extend(inputs.map(|it| schema.inputs.get(it).ty.base));
            }
            if matches!(ty.kind, TypeKind::Input { .. }) {
                let inputs = ty.members.range().filter(|&it| self.inputs.get(it));
                pending.extend(inputs.map(|it| schema.inputs.get(it).ty.base));
            }
            if !self.detached.get(id.index()) {
                pending.extend(schema.type_lists[ty.interfaces.range()].iter().copied());
            }
            let is_union = ty.kind == TypeKind::Union;
            let possible = schema.type_lists[ty.possible.range()].iter().copied();
            pending.extend(possible.filter(|it| is_union || !self.detached.get(it.index())));
        }
        self.types = reached;
    }
}

/// A schema as one profile sees it; hidden members do not exist for its readers.
#[derive(Clone, Copy, Debug)]
pub struct SchemaView<'s> {
    schema: &'s Schema,
    visibility: Option<&'s Visibility>,
}

impl<'s> From<&'s Schema> for SchemaView<'s> {
    fn from(schema: &'s Schema) -> Self {
        Self { schema, visibility: None }
    }
}

impl<'s> From<&'s Arc<Schema>> for SchemaView<'s> {
    fn from(schema: &'s Arc<Schema>) -> Self {
        Self { schema, visibility: None }
    }
}

impl<'s> SchemaView<'s> {
    /// The members of `schema` that `visibility` shows; `None`: all.
    pub const fn new(schema: &'s Schema, visibility: Option<&'s Visibility>) -> Self {
        Self { schema, visibility }
    }

    #[inline]
    fn shows_type(self, id: TypeId) -> bool {
        self.visibility.is_none_or(|it| it.has_type(id)) && !self.schema.join_roots.contains(&id)
    }
    #[inline]
    fn is_detached(self, id: TypeId) -> bool {
        self.visibility.is_some_and(|it| it.is_detached(id))
    }
    #[inline]
    fn shows_field(self, id: FieldId) -> bool {
        self.visibility.is_none_or(|it| it.has_field(id))
    }
    #[inline]
    fn shows_input(self, id: InputId) -> bool {
        self.visibility.is_none_or(|it| it.has_input(id))
    }
    #[inline]
    fn shows_enum_value(self, id: EnumValueId) -> bool {
        self.visibility.is_none_or(|it| it.has_enum_value(id))
    }

    /// The text at `place`.
    #[inline]
    pub fn str(self, place: Str) -> &'s str {
        self.schema.str(place)
    }
    /// All texts, which the places of [`Str`]s count in.
    pub fn texts(self) -> &'s [u8] {
        self.schema.texts()
    }
    /// One type.
    #[inline]
    pub fn ty(self, id: TypeId) -> &'s Type {
        self.schema.ty(id)
    }
    /// One field. Its type for this profile is [`Self::field_type`].
    #[inline]
    pub fn field(self, id: FieldId) -> &'s SchemaField {
        self.schema.field(id)
    }
    /// The type of a field for this profile.
    #[inline]
    pub fn field_type(self, id: FieldId) -> TypeRef {
        let ty = self.schema.field(id).ty;
        match self.visibility {
            Some(it) if it.is_nullable(id) => TypeRef { wraps: ty.wraps.nullable(), ..ty },
            Some(_) | None => ty,
        }
    }
    /// One argument or input field.
    #[inline]
    pub fn input(self, id: InputId) -> Input {
        self.schema.input(id)
    }
    /// One enum value.
    #[inline]
    pub fn enum_value(self, id: EnumValueId) -> &'s EnumValue {
        self.schema.enum_value(id)
    }
    /// One directive.
    #[inline]
    pub fn directive(self, id: DirectiveId) -> &'s SchemaDirective {
        &self.schema.directives[id.index()]
    }
    /// The name of a type.
    #[inline]
    pub fn type_name(self, id: TypeId) -> &'s str {
        self.schema.type_name(id)
    }
    /// The name of a field.
    #[inline]
    pub fn field_name(self, id: FieldId) -> &'s str {
        self.schema.field_name(id)
    }
    /// The name of an argument or input field.
    #[inline]
    pub fn input_name(self, id: InputId) -> &'s str {
        self.schema.input_name(id)
    }
    /// A type as GraphQL writes it: `[Album!]!`.
    pub fn type_text(self, ty: TypeRef) -> String {
        self.schema.type_text(ty)
    }
    /// Wording of errors.
    pub fn wording(self) -> Wording {
        self.schema.wording
    }
    /// The fields every schema has and no type lists.
    pub fn meta(self) -> MetaFields {
        self.schema.meta
    }
    /// The description of the schema itself.
    pub fn description(self) -> Str {
        self.schema.description
    }
    /// The directives of the schema itself.
    pub(super) fn applied_to_schema(self) -> Run {
        self.schema.applied_to_schema
    }
    /// Values of all defaults, after coercion.
    pub fn defaults(self) -> &'s Values {
        &self.schema.defaults
    }
    /// The directives of `run` that were applied in SDL.
    pub fn applied_directives(self, run: Run) -> &'s [Applied] {
        &self.schema.applied[run.range()]
    }
    /// True for an input object with defaults or required fields, which matter when they are not given.
    pub(crate) fn is_demanding(self, id: TypeId) -> bool {
        self.schema.demanding[id.index()]
    }

    /// The type of queries, visible to all.
    pub fn query(self) -> TypeId {
        self.schema.query
    }
    /// The root type of an operation kind, if the profile sees it.
    pub fn root(self, kind: OperationKind) -> Option<TypeId> {
        self.schema.root(kind).filter(|&it| self.shows_type(it))
    }
    /// The visible type called `name`.
    pub fn type_by_name(self, name: &str) -> Option<TypeId> {
        self.schema.type_by_name(name).filter(|&it| self.shows_type(it))
    }
    /// The field that stands in a query root without visible fields.
    fn no_queries(self, parent: TypeId) -> Option<FieldId> {
        let has_queries =
            || self.visibility.map_or(self.schema.ty(parent).fields.len > 0, |it| it.has_queries);
        let is_lone = parent == self.schema.query && !has_queries();
        is_lone.then_some(self.schema.meta.no_queries)
    }
    /// The visible field `name` of type `parent`; not the meta fields.
    pub fn field_by_name(self, parent: TypeId, name: &str) -> Option<FieldId> {
        let field = self.schema.field_by_name(parent, name).filter(|&it| self.shows_field(it));
        field.or_else(|| self.no_queries(parent).filter(|_| name == builtin::NO_QUERIES))
    }
    /// The visible input called `name` in `run`.
    pub fn input_by_name(self, run: Run, name: &str) -> Option<InputId> {
        self.schema.input_by_name(run, name).filter(|&it| self.shows_input(it))
    }
    /// True if the input is visible.
    #[inline]
    pub fn has_input(self, id: InputId) -> bool {
        self.shows_input(id)
    }
    /// The visible value `name` of an enum.
    pub fn enum_value_by_name(self, ty: TypeId, name: &str) -> Option<EnumValueId> {
        self.schema.enum_value_by_name(ty, name).filter(|&it| self.shows_enum_value(it))
    }
    /// The directive called `name`.
    pub fn directive_by_name(self, name: &str) -> Option<DirectiveId> {
        self.schema.directive_by_name(name).filter(|it| !self.directive(*it).hidden)
    }

    /// Number of all types, hidden ones among them: an upper bound for tables by [`TypeId`].
    pub fn types_len(self) -> usize {
        self.schema.types.len()
    }
    /// The visible types.
    pub fn types(self) -> impl Iterator<Item = TypeId> + use<'s> {
        (0..self.schema.types.len() as u32).map(TypeId).filter(move |&it| self.shows_type(it))
    }
    /// True unless the type is `Int`, `Float` or `ID` and nothing visible refers to it: introspection must not list such a scalar.
    ///
    /// **Cost:** linear in the schema for those three, nothing for others.
    pub fn is_listed(self, id: TypeId) -> bool {
        !matches!(id, builtin::INT | builtin::FLOAT | builtin::ID) || self.refers_to(id)
    }
    /// True if a visible field or input has this type.
    fn refers_to(self, id: TypeId) -> bool {
        let has = |run: Run| self.inputs(run).any(|it| self.input(it).ty.base == id);
        let field = |it: FieldId| self.field(it).ty.base == id || has(self.field(it).arguments);
        let ty = |it: TypeId| {
            let is_input = matches!(self.ty(it).kind, TypeKind::Input { .. });
            self.fields(it).any(field) || is_input && has(self.ty(it).members)
        };
        self.directives().any(|it| has(self.directive(it).arguments)) || self.types().any(ty)
    }
    /// The directives.
    pub fn directives(self) -> impl Iterator<Item = DirectiveId> + use<'s> {
        (0..self.schema.directives.len() as u32)
            .map(DirectiveId)
            .filter(move |&it| !self.directive(it).hidden)
    }
    /// The directives, hidden ones too.
    pub(super) fn directives_and_hidden(self) -> impl Iterator<Item = DirectiveId> + use<'s> {
        (0..self.schema.directives.len() as u32).map(DirectiveId)
    }
    /// The visible fields of an object or interface.
    pub fn fields(self, id: TypeId) -> impl Iterator<Item = FieldId> + use<'s> {
        let run = self.ty(id).fields;
        let fields = (run.start..run.start + run.len).map(FieldId).filter(move |&it| self.shows_field(it));
        fields.chain(self.no_queries(id))
    }
    /// The visible inputs of `run`.
    pub fn inputs(self, run: Run) -> impl Iterator<Item = InputId> + use<'s> {
        (run.start..run.start + run.len).map(InputId).filter(move |&it| self.shows_input(it))
    }
    /// The visible values of an enum.
    pub fn enum_values(self, id: TypeId) -> impl Iterator<Item = EnumValueId> + use<'s> {
        let run = self.ty(id).members;
        (run.start..run.start + run.len).map(EnumValueId).filter(move |&it| self.shows_enum_value(it))
    }
    /// The visible interfaces of an object or interface.
    pub fn interfaces(self, id: TypeId) -> impl Iterator<Item = TypeId> + use<'s> {
        let list = &self.schema.type_lists[self.ty(id).interfaces.range()];
        let is_attached = !self.is_detached(id);
        list.iter().copied().filter(move |&it| is_attached && self.shows_type(it))
    }
    /// The visible objects that can stand where `id` is expected: itself for an object.
    pub fn possible_types(self, id: TypeId) -> impl Iterator<Item = TypeId> + use<'s> {
        let is_interface = self.ty(id).kind == TypeKind::Interface;
        let stands = move |it: TypeId| self.shows_type(it) && !(is_interface && self.is_detached(it));
        self.schema.possible_types(id).iter().copied().filter(move |&it| stands(it))
    }
}

/// The values of variables, which hold no variables themselves.
impl json::Environment for SchemaView<'_> {
    fn input_name(&self, id: InputId) -> &str {
        SchemaView::input_name(*self, id)
    }

    fn enum_name(&self, id: EnumValueId) -> &str {
        self.str(self.enum_value(id).name)
    }

    fn is_absent(&self, _: u32) -> bool {
        false
    }

    fn write_outer(&self, _: Node, out: &mut String) {
        out.push_str("null");
    }
}
