//! Owner of each argument and input field: messages name an input by its coordinate.

use crate::ids::{DirectiveId, FieldId, InputId, TypeId};
use crate::type_system::Schema;

/// Items with inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputOwner {
    Field(FieldId),
    Type(TypeId),
    Directive(DirectiveId),
}

/// Owners by input. Costs one pass over the schema.
pub(super) struct Owners {
    owners: Vec<Option<InputOwner>>,
}

impl Owners {
    pub(super) fn of(schema: &Schema) -> Self {
        let mut owners = vec![None; schema.inputs.len()];
        for (at, field) in schema.fields.iter().enumerate() {
            owners[field.arguments.range()].fill(Some(InputOwner::Field(FieldId(at as u32))));
        }
        for (at, ty) in schema.types.iter().enumerate() {
            if matches!(ty.kind, crate::type_system::TypeKind::Input { .. }) {
                owners[ty.members.range()].fill(Some(InputOwner::Type(TypeId(at as u32))));
            }
        }
        for (at, directive) in schema.directives.iter().enumerate() {
            owners[directive.arguments.range()].fill(Some(InputOwner::Directive(DirectiveId(at as u32))));
        }
        Self { owners }
    }

    /// `Type.field(argument:)`, `Input.field` or `@directive(argument:)`.
    /// Source: GraphQL specification, section 3.14 (schema coordinates).
    pub(super) fn coordinate(&self, schema: &Schema, id: InputId) -> String {
        let name = schema.input_name(id);
        match self.owners[id.index()] {
            Some(InputOwner::Field(field)) => {
                format!(
                    "{}.{}({name}:)",
                    schema.type_name(schema.field(field).parent),
                    schema.field_name(field)
                )
            }
            Some(InputOwner::Type(ty)) => format!("{}.{name}", schema.type_name(ty)),
            Some(InputOwner::Directive(directive)) => {
                format!("@{}({name}:)", schema.str(schema.directives[directive.index()].name))
            }
            None => name.to_owned(),
        }
    }
}
