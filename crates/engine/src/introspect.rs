//! Introspection: answers what is selected under `__schema` and `__type` straight from the [`Schema`](weir_language::schema::Schema).
//!
//! Parts that depend on no variable are written once, while planning, and become constants of the plan (`fold`), unless they are
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

pub(crate) use introspection_fetch::prepare;

use crate::answer::output_plan::OutputPlan;
use crate::answer::write::out::Out;
use crate::request::protocol::Protocol;
use compile_introspection::{Fact, Name, Op, Program, Root, compile};
use weir_language::ast::OperationKind;
use weir_language::schema::{
    DirectiveId, EnumValueId, FieldId, InputId, Place, Run, SchemaView, Str, TypeId, TypeKind, TypeRef,
};
use weir_language::value::{Node, Variables};
use weir_language::wraps::Wraps;

/// Longest constant of a plan, in bytes. Longer ones would take the room of a thousand other plans.
const FOLD_BYTES_MAX: usize = 16 << 20;

/// The bytes `"key":value,` of the root member at `field`, if they depend on nothing but the schema and are not too long to keep.
pub(crate) fn fold(
    schema: SchemaView<'_>,
    output: &OutputPlan,
    field: u32,
    protocol: Protocol,
) -> Option<Vec<u8>> {
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
struct Introspection {
    program: Program,
    /// True if lists are sorted by name, as Hasura's are, instead of in the schema's order.
    by_name: bool,
}

impl Introspection {
    /// Compiles the root members at `fields`, each `__schema` or `__type`.
    fn new(schema: SchemaView<'_>, output: &OutputPlan, fields: &[u32], protocol: Protocol) -> Self {
        Self { program: compile(schema, output, fields), by_name: protocol == Protocol::Hasura }
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

    /// Appends `"key":value,` of the next root member, or its rest; see [`Introspection::write_on`].
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
                    Some(base) => writer.named_type(*set, base),
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

/// Facts that types, fields, inputs, values and directives have in common.
struct Common {
    name: Str,
    description: Str,
    deprecated: Option<Str>,
}

impl<'w> IntrospectionWriter<'w> {
    /// `{` members `}`.
    #[inline(always)]
    fn object(&mut self, set: u32, mut member: impl FnMut(&mut Self, &'w Op)) {
        let program = self.program;
        self.out.open(b'{');
        for op in &program.sets[set as usize] {
            member(self, op);
        }
        self.out.close(b'}');
    }

    /// `"key":[` items `],`.
    #[inline(always)]
    fn list<I>(&mut self, op: &Op, items: impl Iterator<Item = I>, mut item: impl FnMut(&mut Self, I)) {
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

    /// [`IntrospectionWriter::list`] of what has names, by which it is sorted for Hasura's clients, without what is deprecated
    /// unless the member asks for it. `common` gives the name and the reason of a deprecation.
    #[inline(always)]
    fn list_by_name<I: Copy>(
        &mut self,
        op: &Op,
        items: impl Iterator<Item = I>,
        common: impl Fn(I) -> (Str, Option<Str>),
        item: impl Fn(&mut Self, u32, I),
    ) {
        let all = op.deprecated.value(self.variables);
        let items = items.filter(|&it| all || common(it).1.is_none());
        if !self.by_name {
            return self.list(op, items, |this, it| item(this, op.set, it));
        }
        let schema = self.schema;
        let mut sorted = items.collect::<Vec<_>>();
        sorted.sort_by_key(|&it| schema.str(common(it).0));
        self.list(op, sorted.into_iter(), |this, it| item(this, op.set, it));
    }

    /// A fact that most items have, or null for one that this type has not.
    #[inline(always)]
    fn common(&mut self, op: &Op, common: &Common) {
        match op.fact {
            Fact::Constant => self.out.key(&op.key),
            Fact::Name => {
                let start = common.name.start as usize;
                let end = start + common.name.len as usize;
                self.out.member_plain(&op.key, self.schema.texts(), start, end);
            }
            Fact::Description => self.text(op, common.description),
            Fact::IsDeprecated => self.out.member_bool(&op.key, common.deprecated.is_some()),
            Fact::Reason => self.reason(op, common.deprecated),
            _ => self.out.member_null(&op.key),
        }
    }

    /// A text where the empty one means that there is none.
    fn text(&mut self, op: &Op, text: Str) {
        self.reason(op, (text.len > 0).then_some(text));
    }

    fn reason(&mut self, op: &Op, reason: Option<Str>) {
        match reason {
            Some(reason) => self.out.member_text(&op.key, self.schema.str(reason).as_bytes()),
            None => self.out.member_null(&op.key),
        }
    }

    fn inner(&mut self, op: &Op, ty: TypeRef) {
        self.out.key(&op.key);
        self.ty(op.set, ty);
        self.out.comma();
    }

    fn root_type(&mut self, op: &Op, ty: Option<TypeId>) {
        match ty {
            Some(base) => self.inner(op, TypeRef { base, wraps: Wraps::default() }),
            None => self.out.member_null(&op.key),
        }
    }

    fn types(&mut self, op: &Op, types: impl Iterator<Item = TypeId>) {
        let schema = self.schema;
        self.list_by_name(op, types, |id| (schema.ty(id).name, None), Self::named_type);
    }

    fn inputs(&mut self, op: &Op, run: Run) {
        let schema = self.schema;
        let common = |id| (schema.input(id).name, schema.input(id).deprecated);
        self.list_by_name(op, schema.inputs(run), common, Self::input);
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
        let program = self.program;
        while let Some(op) = program.sets[set as usize].get(progress.members) {
            self.schema_member(op, &mut progress.types, bytes_max)?;
            progress.members += 1;
        }
        self.out.close(b'}');
        Ok(())
    }

    /// The list of all types, or those of `rest` after a full buffer.
    fn all_types(
        &mut self,
        op: &Op,
        rest: &mut Option<std::vec::IntoIter<TypeId>>,
        bytes_max: usize,
    ) -> Result<(), Full> {
        if rest.is_none() {
            self.out.member_open(&op.key, b'[');
        }
        let types = rest.get_or_insert_with(|| self.listed_types());
        for base in types {
            self.named_type(op.set, base);
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
        op: &'w Op,
        types: &mut Option<std::vec::IntoIter<TypeId>>,
        bytes_max: usize,
    ) -> Result<(), Full> {
        let schema = self.schema;
        match op.fact {
            Fact::Constant => self.out.key(&op.key),
            Fact::Description => self.text(op, schema.description()),
            Fact::Types => self.all_types(op, types, bytes_max)?,
            Fact::Query => self.root_type(op, Some(schema.query())),
            Fact::Mutation => self.root_type(op, schema.root(OperationKind::Mutation)),
            Fact::Subscription => self.root_type(op, schema.root(OperationKind::Subscription)),
            Fact::Directives => {
                let common = |id| (schema.directive(id).name, schema.directive(id).deprecated);
                self.list_by_name(op, schema.directives(), common, Self::directive);
            }
            _ => self.out.member_null(&op.key),
        }
        Ok(())
    }

    fn ty(&mut self, set: u32, ty: TypeRef) {
        if ty.wraps == Wraps::default() {
            return self.named_type(set, ty.base);
        }
        let (kind, inner) = if ty.is_non_null() {
            (7, TypeRef { wraps: ty.wraps.nullable(), ..ty })
        } else {
            (6, ty.item().unwrap_or(ty))
        };
        self.object(set, |this, op| match op.fact {
            Fact::Constant => this.out.key(&op.key),
            Fact::Kind => this.kind(op, kind),
            Fact::Inner => this.inner(op, inner),
            _ => this.out.member_null(&op.key),
        });
    }

    fn kind(&mut self, op: &Op, kind: usize) {
        if let Some(kinds) = &op.kinds {
            self.out.key(&kinds[kind]);
        }
    }

    fn named_type(&mut self, set: u32, id: TypeId) {
        let schema = self.schema;
        let ty = schema.ty(id);
        let common = Common { name: ty.name, description: ty.description, deprecated: None };
        let has_fields = matches!(ty.kind, TypeKind::Object | TypeKind::Interface);
        let is_abstract = matches!(ty.kind, TypeKind::Union | TypeKind::Interface);
        self.object(set, |this, op| match (op.fact, ty.kind) {
            (Fact::Kind, _) => this.kind(op, ty.kind_number() as usize),
            (Fact::SpecifiedBy, _) => this.text(op, ty.specified_by),
            (Fact::Fields, _) if has_fields => {
                let common = |id| (schema.field(id).name, schema.field(id).deprecated);
                this.list_by_name(op, schema.fields(id), common, Self::field);
            }
            (Fact::Interfaces, _) if has_fields => this.types(op, schema.interfaces(id)),
            (Fact::Possible, _) if is_abstract => this.types(op, schema.possible_types(id)),
            (Fact::Values, TypeKind::Enum) => {
                let common = |id| (schema.enum_value(id).name, schema.enum_value(id).deprecated);
                this.list_by_name(op, schema.enum_values(id), common, Self::value);
            }
            (Fact::Inputs, TypeKind::Input { .. }) => this.inputs(op, ty.members),
            (Fact::OneOf, TypeKind::Input { one_of }) => this.out.member_bool(&op.key, one_of),
            _ => this.common(op, &common),
        });
    }

    fn field(&mut self, set: u32, id: FieldId) {
        let field = self.schema.field(id);
        let ty = self.schema.field_type(id);
        let common =
            Common { name: field.name, description: field.description, deprecated: field.deprecated };
        self.object(set, |this, op| match op.fact {
            Fact::Arguments => this.inputs(op, field.arguments),
            Fact::Type => this.inner(op, ty),
            _ => this.common(op, &common),
        });
    }

    fn input(&mut self, set: u32, id: InputId) {
        let input = self.schema.input(id);
        let common =
            Common { name: input.name, description: input.description, deprecated: input.deprecated };
        self.object(set, |this, op| match op.fact {
            Fact::Type => this.inner(op, input.ty),
            Fact::Default => this.reason(op, input.default.map(|default| default.literal)),
            _ => this.common(op, &common),
        });
    }

    fn value(&mut self, set: u32, id: EnumValueId) {
        let value = self.schema.enum_value(id);
        let common =
            Common { name: value.name, description: value.description, deprecated: value.deprecated };
        self.object(set, |this, op| this.common(op, &common));
    }

    fn directive(&mut self, set: u32, id: DirectiveId) {
        let directive = self.schema.directive(id);
        let common = Common {
            name: directive.name,
            description: directive.description,
            deprecated: directive.deprecated,
        };
        self.object(set, |this, op| match op.fact {
            Fact::Repeatable => this.out.member_bool(&op.key, directive.repeatable),
            Fact::Places => {
                // Clients of older editions do not know where `@deprecated` may stand in the newest.
                let is_told = |it: &Place| !(directive.built_in && *it == Place::DirectiveDefinition);
                let places = Place::ALL.into_iter().filter(|place| directive.places & place.bit() != 0);
                let places = places.filter(is_told);
                this.list(op, places, |this, place| this.out.string(place.name()));
            }
            Fact::Arguments => this.inputs(op, directive.arguments),
            _ => this.common(op, &common),
        });
    }
}
