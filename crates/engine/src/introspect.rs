//! Introspection: answers what is selected under `__schema` and `__type` straight from the [`Schema`](weir_language::schema::Schema).
//!
//! Parts that depend on no variable are written once, while planning, and become constants of the plan ([`fold`]), unless they are
//! large; the rest (`__type(name: $name)`, schemas of thousands of types) is written per request by the same program, as a
//! [`PreparedFetch`](crate::source::PreparedFetch) of its own, and leaves in chunks.
//!
//! **Invariant:** introspection never depends on data, so no member can fail.
//!
//! **Cost:** about as many stores as fields: keys and kinds are ready, names are copied unscanned. Recursion is as deep
//! as the selection, which the limits bound. Of a long answer a few chunks are in memory at a time.
//! Source: GraphQL specification, section 4.

mod compile_introspection;
mod introspection_fetch;

pub use introspection_fetch::prepare;

use crate::answer::output_plan::OutputPlan;
use crate::answer::write::out::Out;
use crate::request::protocol::Protocol;
use compile_introspection::{
    Name, OfDirective, OfField, OfInput, OfSchema, OfType, OfValue, Op, Program, Root, compile,
};
use weir_language::ast::OperationKind;
use weir_language::schema::{
    DirectiveId, EnumValueId, FieldId, InputId, Place, Run, SchemaView, Str, TypeId, TypeKind, TypeRef,
};
use weir_language::value::{Node, Variables};
use weir_language::wraps::Wraps;

/// Longest constant of a plan, in bytes. Longer ones would take the room of a thousand other plans.
const FOLD_BYTES_MAX: usize = 16 << 20;

/// The bytes `"key":value,` of the root member at `field`, if they depend on nothing but the schema and are not too long to keep.
pub fn fold(schema: SchemaView<'_>, output: &OutputPlan, field: u32, protocol: Protocol) -> Option<Vec<u8>> {
    let introspection = Introspection::new(schema, output, &[field], protocol);
    if !introspection.program.is_constant {
        return None;
    }
    let mut out = Out::default();
    let is_whole = introspection
        .write_on(schema, None, &mut IntrospectionProgress::default(), &mut out, FOLD_BYTES_MAX)
        .is_ok();
    is_whole.then(|| out.into_bytes())
}

/// Place up to which an answer was written.
#[derive(Debug, Default)]
struct IntrospectionProgress {
    /// Root members that are written.
    roots: usize,
    /// Members of `__schema` that are written.
    members: usize,
    /// True if the brace of `__schema` is written.
    is_open: bool,
    /// Types that are still to be written, in order, while the list of types is open.
    types: Option<std::vec::IntoIter<TypeId>>,
}

/// The buffer is full and the answer goes on.
struct Full;

/// Some root members, compiled.
#[derive(Debug)]
pub struct Introspection {
    program: Program,
    /// True if lists are sorted by name, as Hasura's are, instead of in the schema's order.
    by_name: bool,
}

impl Introspection {
    /// Compiles the root members at `fields`, each `__schema` or `__type`.
    pub fn new(schema: SchemaView<'_>, output: &OutputPlan, fields: &[u32], protocol: Protocol) -> Self {
        Self { program: compile(schema, output, fields), by_name: protocol == Protocol::Hasura }
    }

    /// Appends `"key":value,` of root member `root`.
    pub fn write<'s>(
        &'s self,
        schema: SchemaView<'s>,
        variables: Option<&'s Variables>,
        root: usize,
        out: &'s mut Out,
    ) {
        let mut progress = IntrospectionProgress { roots: root, ..IntrospectionProgress::default() };
        let written = self.write_root(schema, variables, &mut progress, out, usize::MAX);
        debug_assert!(written.is_ok(), "there is room for all");
    }

    /// Appends what comes after `progress`: all, or until `out` holds `bytes_max`. Only between types is it asked whether it does.
    fn write_on(
        &self,
        schema: SchemaView<'_>,
        variables: Option<&Variables>,
        progress: &mut IntrospectionProgress,
        out: &mut Out,
        bytes_max: usize,
    ) -> Result<(), Full> {
        while progress.roots < self.program.roots.len() {
            self.write_root(schema, variables, progress, out, bytes_max)?;
        }
        Ok(())
    }

    fn write_root(
        &self,
        schema: SchemaView<'_>,
        variables: Option<&Variables>,
        progress: &mut IntrospectionProgress,
        out: &mut Out,
        bytes_max: usize,
    ) -> Result<(), Full> {
        let op = &self.program.roots[progress.roots];
        let mut writer =
            IntrospectionWriter { schema, program: &self.program, by_name: self.by_name, variables, out };
        if !progress.is_open {
            writer.out.key(&op.key);
        }
        match &op.root {
            Root::Schema { set } => writer.schema(*set, progress, bytes_max)?,
            Root::Type { set, name } => {
                let name = match name {
                    Name::Known(name) => Some(&**name),
                    Name::Variable(number) => variables.and_then(|it| match it.node(*number) {
                        Node::Text(text) => Some(it.values.str(text)),
                        _ => None,
                    }),
                };
                match name.and_then(|name| schema.type_by_name(name)).filter(|&it| schema.is_listed(it)) {
                    Some(base) => writer.ty(*set, TypeRef { base, wraps: Wraps::default() }),
                    None => writer.out.null(),
                }
            }
        }
        writer.out.comma();
        *progress = IntrospectionProgress { roots: progress.roots + 1, ..IntrospectionProgress::default() };
        Ok(())
    }
}

struct IntrospectionWriter<'w> {
    schema: SchemaView<'w>,
    program: &'w Program,
    by_name: bool,
    variables: Option<&'w Variables>,
    out: &'w mut Out,
}

impl<'w> IntrospectionWriter<'w> {
    /// `{` members `}`.
    #[inline(always)]
    fn object<F>(&mut self, ops: &'w [Op<F>], mut member: impl FnMut(&mut Self, &'w Op<F>)) {
        self.out.open(b'{');
        for op in ops {
            member(self, op);
        }
        self.out.close(b'}');
    }

    /// `"key":[` items `],`.
    #[inline(always)]
    fn list<F, I>(&mut self, op: &Op<F>, items: impl Iterator<Item = I>, mut item: impl FnMut(&mut Self, I)) {
        self.out.member_open(&op.key, b'[');
        for it in items {
            item(self, it);
            self.out.comma();
        }
        self.out.close(b']');
        self.out.comma();
    }

    /// Collects all types, in the order in which they are listed.
    fn listed_types(&self) -> std::vec::IntoIter<TypeId> {
        let schema = self.schema;
        let mut types: Vec<TypeId> = schema.types().filter(|&it| schema.is_listed(it)).collect();
        if self.by_name {
            types.sort_by_key(|it| schema.type_name(*it));
        }
        types.into_iter()
    }

    /// [`IntrospectionWriter::list`] of what has names, by which it is sorted for Hasura's clients.
    fn list_by_name<F, I: Copy>(
        &mut self,
        op: &Op<F>,
        items: impl Iterator<Item = I>,
        name: impl Fn(I) -> Str,
        item: impl FnMut(&mut Self, I),
    ) {
        if !self.by_name {
            return self.list(op, items, item);
        }
        let schema = self.schema;
        let mut sorted = items.collect::<Vec<_>>();
        sorted.sort_by_key(|it| schema.str(name(*it)));
        self.list(op, sorted.into_iter(), item);
    }

    fn name<F>(&mut self, op: &Op<F>, name: Str) {
        let start = name.start as usize;
        self.out.member_plain(&op.key, self.schema.texts(), start, start + name.len as usize);
    }

    /// A text where the empty one means that there is none.
    fn text<F>(&mut self, op: &Op<F>, text: Str) {
        match text.len {
            0 => self.out.member_null(&op.key),
            _ => self.out.member_text(&op.key, self.schema.str(text).as_bytes()),
        }
    }

    fn reason<F>(&mut self, op: &Op<F>, deprecated: Option<Str>) {
        match deprecated {
            Some(reason) => self.out.member_text(&op.key, self.schema.str(reason).as_bytes()),
            None => self.out.member_null(&op.key),
        }
    }

    fn inner<F>(&mut self, op: &Op<F>, ty: TypeRef) {
        self.out.key(&op.key);
        self.ty(op.set, ty);
        self.out.comma();
    }

    fn root_type<F>(&mut self, op: &Op<F>, ty: Option<TypeId>) {
        match ty {
            Some(base) => self.inner(op, TypeRef { base, wraps: Wraps::default() }),
            None => self.out.member_null(&op.key),
        }
    }

    fn types<F>(&mut self, op: &Op<F>, types: impl Iterator<Item = TypeId>) {
        let schema = self.schema;
        let wraps = Wraps::default();
        let name = |id| schema.ty(id).name;
        self.list_by_name(op, types, name, |this, base| this.ty(op.set, TypeRef { base, wraps }));
    }

    fn inputs<F>(&mut self, op: &Op<F>, run: Run) {
        let all = op.deprecated.value(self.variables);
        let schema = self.schema;
        let inputs = schema.inputs(run);
        let shown = inputs.filter(|&input| all || schema.input(input).deprecated.is_none());
        self.list_by_name(op, shown, |id| schema.input(id).name, |this, input| this.input(op.set, input));
    }

    /// The value of `__schema`, from `progress` on.
    fn schema(
        &mut self,
        set: u32,
        progress: &mut IntrospectionProgress,
        bytes_max: usize,
    ) -> Result<(), Full> {
        if !progress.is_open {
            progress.is_open = true;
            self.out.open(b'{');
        }
        let ops = &self.program.schema[set as usize];
        while let Some(op) = ops.get(progress.members) {
            self.schema_member(op, &mut progress.types, bytes_max)?;
            progress.members += 1;
        }
        self.out.close(b'}');
        Ok(())
    }

    /// The list of all types, or those of `rest` after a full buffer.
    fn all_types(
        &mut self,
        op: &Op<OfSchema>,
        rest: &mut Option<std::vec::IntoIter<TypeId>>,
        bytes_max: usize,
    ) -> Result<(), Full> {
        if rest.is_none() {
            self.out.member_open(&op.key, b'[');
        }
        let types = rest.get_or_insert_with(|| self.listed_types());
        for base in types {
            self.ty(op.set, TypeRef { base, wraps: Wraps::default() });
            self.out.comma();
            if self.out.len() >= bytes_max {
                return Err(Full);
            }
        }
        *rest = None;
        self.out.close(b']');
        self.out.comma();
        Ok(())
    }

    fn schema_member(
        &mut self,
        op: &'w Op<OfSchema>,
        types: &mut Option<std::vec::IntoIter<TypeId>>,
        bytes_max: usize,
    ) -> Result<(), Full> {
        let schema = self.schema;
        match op.fact {
            OfSchema::Constant => self.out.key(&op.key),
            OfSchema::Description => self.text(op, schema.description()),
            OfSchema::Types => self.all_types(op, types, bytes_max)?,
            OfSchema::Query => self.root_type(op, Some(schema.query())),
            OfSchema::Mutation => self.root_type(op, schema.root(OperationKind::Mutation)),
            OfSchema::Subscription => self.root_type(op, schema.root(OperationKind::Subscription)),
            OfSchema::Directives => {
                let all = op.deprecated.value(self.variables);
                let directives = schema.directives();
                let directives = directives.filter(|&it| all || schema.directive(it).deprecated.is_none());
                let name = |id: DirectiveId| schema.directive(id).name;
                self.list_by_name(op, directives, name, |this, directive| this.directive(op.set, directive));
            }
        }
        Ok(())
    }

    fn ty(&mut self, set: u32, ty: TypeRef) {
        let ops = &self.program.types[set as usize];
        if ty.wraps == Wraps::default() {
            return self.named_type(ops, ty.base);
        }
        let (kind, inner) = if ty.is_non_null() {
            (7, TypeRef { wraps: ty.wraps.nullable(), ..ty })
        } else {
            (6, ty.item().unwrap_or(ty))
        };
        self.object(ops, |this, op| match op.fact {
            OfType::Constant => this.out.key(&op.key),
            OfType::Kind => this.kind(op, kind),
            OfType::Inner => this.inner(op, inner),
            OfType::Name
            | OfType::Description
            | OfType::SpecifiedBy
            | OfType::Fields
            | OfType::Interfaces
            | OfType::Possible
            | OfType::Values
            | OfType::Inputs
            | OfType::OneOf => this.out.member_null(&op.key),
        });
    }

    fn kind(&mut self, op: &Op<OfType>, kind: usize) {
        if let Some(kinds) = &op.kinds {
            self.out.key(&kinds[kind]);
        }
    }

    fn named_type(&mut self, ops: &'w [Op<OfType>], id: TypeId) {
        let schema = self.schema;
        let ty = schema.ty(id);
        let has_fields = matches!(ty.kind, TypeKind::Object | TypeKind::Interface);
        let is_abstract = matches!(ty.kind, TypeKind::Union | TypeKind::Interface);
        self.object(ops, |this, op| match op.fact {
            OfType::Constant => this.out.key(&op.key),
            OfType::Kind => this.kind(op, ty.kind_number() as usize),
            OfType::Name => this.name(op, ty.name),
            OfType::Description => this.text(op, ty.description),
            OfType::SpecifiedBy => this.text(op, ty.specified_by),
            OfType::Fields if has_fields => this.fields(op, id),
            OfType::Interfaces if has_fields => {
                this.types(op, schema.interfaces(id));
            }
            OfType::Possible if is_abstract => {
                this.types(op, schema.possible_types(id));
            }
            OfType::Values if ty.kind == TypeKind::Enum => this.values(op, id),
            OfType::Inputs if matches!(ty.kind, TypeKind::Input { .. }) => this.inputs(op, ty.members),
            OfType::OneOf => match ty.kind {
                TypeKind::Input { one_of } => this.out.member_bool(&op.key, one_of),
                TypeKind::Scalar(_)
                | TypeKind::Object
                | TypeKind::Interface
                | TypeKind::Union
                | TypeKind::Enum => this.out.member_null(&op.key),
            },
            OfType::Fields
            | OfType::Interfaces
            | OfType::Possible
            | OfType::Values
            | OfType::Inputs
            | OfType::Inner => this.out.member_null(&op.key),
        });
    }

    fn fields(&mut self, op: &Op<OfType>, id: TypeId) {
        let all = op.deprecated.value(self.variables);
        let schema = self.schema;
        let fields = schema.fields(id);
        let shown = fields.filter(|&field| all || schema.field(field).deprecated.is_none());
        self.list_by_name(op, shown, |id| schema.field(id).name, |this, field| this.field(op.set, field));
    }

    fn values(&mut self, op: &Op<OfType>, id: TypeId) {
        let all = op.deprecated.value(self.variables);
        let schema = self.schema;
        let values = schema.enum_values(id);
        let shown = values.filter(|&value| all || schema.enum_value(value).deprecated.is_none());
        self.list_by_name(
            op,
            shown,
            |id| schema.enum_value(id).name,
            |this, value| this.value(op.set, value),
        );
    }

    fn field(&mut self, set: u32, id: FieldId) {
        let field = self.schema.field(id);
        let ty = self.schema.field_type(id);
        self.object(&self.program.fields[set as usize], |this, op| match op.fact {
            OfField::Constant => this.out.key(&op.key),
            OfField::Name => this.name(op, field.name),
            OfField::Description => this.text(op, field.description),
            OfField::Arguments => this.inputs(op, field.arguments),
            OfField::Type => this.inner(op, ty),
            OfField::IsDeprecated => this.out.member_bool(&op.key, field.deprecated.is_some()),
            OfField::Reason => this.reason(op, field.deprecated),
        });
    }

    fn input(&mut self, set: u32, id: InputId) {
        let input = self.schema.input(id);
        self.object(&self.program.inputs[set as usize], |this, op| match op.fact {
            OfInput::Constant => this.out.key(&op.key),
            OfInput::Name => this.name(op, input.name),
            OfInput::Description => this.text(op, input.description),
            OfInput::Type => this.inner(op, input.ty),
            OfInput::Default => this.reason(op, input.default.map(|default| default.literal)),
            OfInput::IsDeprecated => this.out.member_bool(&op.key, input.deprecated.is_some()),
            OfInput::Reason => this.reason(op, input.deprecated),
        });
    }

    fn value(&mut self, set: u32, id: EnumValueId) {
        let value = self.schema.enum_value(id);
        self.object(&self.program.values[set as usize], |this, op| match op.fact {
            OfValue::Constant => this.out.key(&op.key),
            OfValue::Name => this.name(op, value.name),
            OfValue::Description => this.text(op, value.description),
            OfValue::IsDeprecated => this.out.member_bool(&op.key, value.deprecated.is_some()),
            OfValue::Reason => this.reason(op, value.deprecated),
        });
    }

    fn directive(&mut self, set: u32, id: DirectiveId) {
        let directive = self.schema.directive(id);
        self.object(&self.program.directives[set as usize], |this, op| match op.fact {
            OfDirective::Constant => this.out.key(&op.key),
            OfDirective::Name => this.name(op, directive.name),
            OfDirective::Description => this.text(op, directive.description),
            OfDirective::Repeatable => this.out.member_bool(&op.key, directive.repeatable),
            OfDirective::Places => {
                // Clients of older editions do not know where `@deprecated` may stand in the newest.
                let is_told = |it: &Place| !(directive.built_in && *it == Place::DirectiveDefinition);
                let places = Place::ALL.into_iter().filter(|place| directive.places & place.bit() != 0);
                let places = places.filter(is_told);
                this.list(op, places, |this, place| this.out.string(place.name()));
            }
            OfDirective::Arguments => this.inputs(op, directive.arguments),
            OfDirective::IsDeprecated => this.out.member_bool(&op.key, directive.deprecated.is_some()),
            OfDirective::Reason => this.reason(op, directive.deprecated),
        });
    }
}
