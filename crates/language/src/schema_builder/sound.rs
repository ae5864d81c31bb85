//! Checks a schema: every rule of the type system, in graphql-js's words, up to the bound of complaints.
//!
//! This file checks types one by one; `implements` compares objects with their interfaces, `circles` finds what
//! contains itself.
//!
//! **Cost:** linear in the schema.
//! Source: GraphQL specification, sections 3.3 to 3.13 (Type Validation).

mod circles;
mod implements;

use super::complaints::Complaints;
use super::sdl_places::Places;
use crate::error::{Code, Error};
use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
use crate::span::Span;
use crate::syntax::lexer::NAME_CONTINUE;
use crate::type_system::{Input, Schema, SchemaField, Str, Type, TypeKind, TypeRef, builtin};

/// Reports everything that is wrong with `schema`, whose names are all defined and unique.
pub(super) fn check(schema: &Schema, may_be_empty: Option<TypeId>, places: &Places, errors: &mut Complaints) {
    let marks = vec![0; schema.types.len()];
    let good_names = vec![0; schema.texts().len() / 64 + 1];
    let mut check = Check { schema, may_be_empty, places, errors, marks, mark: 0, good_names };
    check.roots();
    for at in 0..schema.directives.len() {
        check.directive(DirectiveId(at as u32));
    }
    for at in builtin::TYPES as usize..schema.types.len() {
        if check.errors.are_enough() {
            return;
        }
        check.ty(TypeId(at as u32));
    }
    circles::inputs(&mut check);
    circles::directives(&mut check);
}

struct Check<'s> {
    schema: &'s Schema,
    /// An object that may be without fields.
    may_be_empty: Option<TypeId>,
    places: &'s Places,
    errors: &'s mut Complaints,
    /// By type: the last set it was put into. Sets are numbers, so a new one costs nothing.
    marks: Vec<u32>,
    mark: u32,
    /// One bit for each byte of the schema's text: a good name begins there. Names that stand in many types stand once in the text.
    good_names: Vec<u64>,
}

impl<'s> Check<'s> {
    fn report(&mut self, spans: Vec<Span>, message: String) {
        self.errors.push(Error { message, spans, code: Code::Schema });
    }

    fn name(&self, id: TypeId) -> &'s str {
        self.schema.type_name(id)
    }

    /// Begins a new set of types.
    fn new_set(&mut self) {
        self.mark += 1;
    }

    /// Puts `id` into the set; false if it was there.
    fn put(&mut self, id: TypeId) -> bool {
        std::mem::replace(&mut self.marks[id.index()], self.mark) != self.mark
    }

    fn is_marked(&self, id: TypeId) -> bool {
        self.marks[id.index()] == self.mark
    }

    fn roots(&mut self) {
        let schema = self.schema;
        let roots = [Some(schema.query), schema.mutation, schema.subscription];
        let names = ["Query", "Mutation", "Subscription"];
        for (number, root) in roots.iter().enumerate() {
            let Some(root) = *root else { continue };
            let spans = self.root_place(number);
            if schema.ty(root).kind != TypeKind::Object {
                let condition = if number == 0 { "" } else { " if provided" };
                let operation = names[number];
                let found = self.name(root);
                self.report(
                    spans,
                    format!("{operation} root type must be Object type{condition}, it cannot be {found}."),
                );
                continue;
            }
            if roots[..number].contains(&Some(root)) {
                continue;
            }
            let same: Vec<usize> = (number..3).filter(|&other| roots[other] == Some(root)).collect();
            if same.len() > 1 {
                let kinds: Vec<_> = same.iter().map(|&at| names[at].to_lowercase()).collect();
                let list = match kinds.as_slice() {
                    [first, second, third] => format!("{first}, {second}, and {third}"),
                    kinds => kinds.join(" and "),
                };
                let spans = same.iter().flat_map(|&at| self.root_place(at)).collect();
                let found = self.name(root);
                self.report(
                    spans,
                    format!(
                        "All root types must be different, \"{found}\" type is used as {list} root types."
                    ),
                );
            }
        }
    }

    fn root_place(&self, number: usize) -> Vec<Span> {
        if self.places.kept { vec![self.places.roots[number]] } else { Vec::new() }
    }

    /// The rules of names.
    fn check_name(&mut self, name: Str, spans: impl FnOnce(&Places) -> Vec<Span>) {
        let place = name.start as usize / 64;
        let bit = 1_u64 << (name.start % 64);
        if !name.is_empty() && self.good_names[place] & bit != 0 {
            return;
        }
        match find_name_fault(self.schema.str(name)) {
            None => self.good_names[place] |= bit,
            Some(message) => {
                let spans = spans(self.places);
                self.report(spans, message);
            }
        }
    }

    fn directive(&mut self, id: DirectiveId) {
        let directive = &self.schema.directives[id.index()];
        let name = self.schema.str(directive.name);
        if !directive.built_in {
            self.check_name(directive.name, |places| places.of_directive(id));
            if directive.places == 0 {
                let spans = self.places.of_directive(id);
                self.report(spans, format!("Directive @{name} must include 1 or more locations."));
            }
        }
        for at in directive.arguments.range() {
            self.argument(InputId(at as u32), &|argument| format!("@{name}({argument}:)"));
        }
    }

    fn ty(&mut self, id: TypeId) {
        let ty = self.schema.ty(id);
        let name = self.schema.str(ty.name);
        if !self.schema.join_roots.contains(&id) {
            self.check_name(ty.name, |places| places.of_type(id));
        }
        let missing = match ty.kind {
            TypeKind::Scalar(_) => None,
            TypeKind::Object | TypeKind::Interface => {
                for at in ty.fields.range() {
                    self.field(name, FieldId(at as u32));
                }
                implements::check(self, id);
                let is_empty = ty.fields.len == 0 && self.may_be_empty != Some(id);
                is_empty.then(|| format!("Type {name} must define one or more fields."))
            }
            TypeKind::Union => {
                self.union(ty);
                (ty.possible.len == 0)
                    .then(|| format!("Union type {name} must define one or more member types."))
            }
            TypeKind::Enum => {
                for at in ty.members.range() {
                    self.enum_value(EnumValueId(at as u32));
                }
                (ty.members.len == 0).then(|| format!("Enum type {name} must define one or more values."))
            }
            TypeKind::Input { one_of } => {
                for at in ty.members.range() {
                    self.input_field(name, InputId(at as u32), one_of);
                }
                (ty.members.len == 0)
                    .then(|| format!("Input Object type {name} must define one or more fields."))
            }
        };
        if let Some(message) = missing {
            let spans = self.places.of_type(id);
            self.report(spans, message);
        }
    }

    fn field(&mut self, ty: &str, id: FieldId) {
        let field: &SchemaField = self.schema.field(id);
        let name = self.schema.str(field.name);
        self.check_name(field.name, |places| places.of_field(id));
        if matches!(self.schema.ty(field.ty.base).kind, TypeKind::Input { .. }) {
            let found = self.schema.type_text(field.ty);
            let spans = self.places.of_field(id);
            self.report(spans, format!("The type of {ty}.{name} must be Output Type but got: {found}."));
        }
        for at in field.arguments.range() {
            self.argument(InputId(at as u32), &|argument| format!("{ty}.{name}({argument}:)"));
        }
    }

    fn argument(&mut self, id: InputId, coordinate: &dyn Fn(&str) -> String) {
        let input = self.schema.input(id);
        let name = self.schema.str(input.name);
        self.check_name(input.name, |places| places.of_input(id));
        self.input_type(id, input.ty, &|| coordinate(name));
        if input.deprecated.is_some() && is_required(input) {
            let spans = self.places.of_input(id);
            self.report(spans, format!("Required argument {} cannot be deprecated.", coordinate(name)));
        }
    }

    fn input_field(&mut self, ty: &str, id: InputId, one_of: bool) {
        let input = self.schema.input(id);
        let name = self.schema.str(input.name);
        self.check_name(input.name, |places| places.of_input(id));
        self.input_type(id, input.ty, &|| format!("{ty}.{name}"));
        if input.deprecated.is_some() && is_required(input) {
            let spans = self.places.of_input(id);
            self.report(spans, format!("Required input field {ty}.{name} cannot be deprecated."));
        }
        if one_of && input.ty.is_non_null() {
            let spans = self.places.of_input(id);
            self.report(spans, format!("OneOf input field {ty}.{name} must be nullable."));
        }
        if one_of && input.default.is_some() {
            let spans = self.places.of_input(id);
            self.report(spans, format!("OneOf input field {ty}.{name} cannot have a default value."));
        }
    }

    fn input_type(&mut self, id: InputId, ty: TypeRef, coordinate: &dyn Fn() -> String) {
        match self.schema.ty(ty.base).kind {
            TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => {}
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                let found = self.schema.type_text(ty);
                let spans = self.places.of_input(id);
                let message = format!("The type of {} must be Input Type but got: {found}.", coordinate());
                self.report(spans, message);
            }
        }
    }

    fn enum_value(&mut self, id: EnumValueId) {
        let value = self.schema.enum_value(id);
        let name = self.schema.str(value.name);
        self.check_name(value.name, |places| places.of_enum_value(id));
        if ["true", "false", "null"].contains(&name) {
            let spans = self.places.of_enum_value(id);
            self.report(spans, format!("Enum values cannot be named: {name}"));
        }
    }

    fn union(&mut self, union: &Type) {
        let name = self.schema.str(union.name);
        self.new_set();
        for at in union.possible.range() {
            let member = self.schema.type_lists[at];
            let member_name = self.name(member);
            if !self.put(member) {
                let spans = self.places.of_list(at);
                self.report(spans, format!("Union type {name} can only include type {member_name} once."));
            } else if self.schema.ty(member).kind != TypeKind::Object {
                let spans = self.places.of_list(at);
                self.report(
                    spans,
                    format!(
                        "Union type {name} can only include Object types, it cannot include {member_name}."
                    ),
                );
            }
        }
    }
}

/// True if the input is required.
fn is_required(input: Input) -> bool {
    input.ty.is_non_null() && input.default.is_none()
}

/// The rule of names that `name` breaks.
fn find_name_fault(name: &str) -> Option<String> {
    let message = match name.as_bytes() {
        [] => "Expected name to be a non-empty string.".to_owned(),
        [b'_', b'_', ..] => {
            format!("Name \"{name}\" must not begin with \"__\", which is reserved by GraphQL introspection.")
        }
        [first, ..] if first.is_ascii_digit() => {
            format!("Names must start with [_a-zA-Z] but \"{name}\" does not.")
        }
        bytes if !bytes.iter().all(|&byte| NAME_CONTINUE[usize::from(byte)]) => {
            format!("Names must only contain [_a-zA-Z0-9] but \"{name}\" does not.")
        }
        _ => return None,
    };
    Some(message)
}
