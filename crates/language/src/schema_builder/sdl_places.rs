//! Places of a schema's items in the SDL: tables parallel to the schema's, kept only while it is built.
//!
//! A schema built by calls has no places: nothing is recorded and errors come without spans.
//!
//! **Invariant:** when [`Places::kept`], each table is as long as the schema's.

use crate::ids::{DirectiveId, EnumValueId, FieldId, InputId, TypeId};
use crate::span::Span;

/// Spans by id. With several documents, spans count on from one to the next (see [`super::sdl`]).
#[derive(Debug, Default)]
pub(super) struct Places {
    /// True if places are recorded.
    pub(super) kept: bool,
    /// The place of what is added next.
    pub(super) at: Span,
    pub(super) types: Vec<Span>,
    pub(super) fields: Vec<Span>,
    pub(super) inputs: Vec<Span>,
    pub(super) enum_values: Vec<Span>,
    pub(super) directives: Vec<Span>,
    /// Spans of names in `implements` and in unions, parallel to the schema's `type_lists`.
    pub(super) lists: Vec<Span>,
    /// Spans of the root types in the schema definition.
    pub(super) roots: [Span; 3],
    /// Span of the schema definition.
    pub(super) schema: Span,
}

impl Places {
    /// The place of what is being added, for an error.
    pub(super) fn current(&self) -> Vec<Span> {
        if self.kept { vec![self.at] } else { Vec::new() }
    }
    /// Begins to record. What was added before has no place of its own.
    pub(super) fn keep(&mut self, schema: &crate::type_system::Schema) {
        self.kept = true;
        self.types.resize(schema.types.len(), Span::default());
        self.fields.resize(schema.fields.len(), Span::default());
        self.inputs.resize(schema.inputs.len(), Span::default());
        self.enum_values.resize(schema.enum_values.len(), Span::default());
        self.directives.resize(schema.directives.len(), Span::default());
        self.lists.resize(schema.type_lists.len(), Span::default());
    }

    pub(super) fn push_type(&mut self) {
        if self.kept {
            self.types.push(self.at);
        }
    }
    pub(super) fn push_field(&mut self) {
        if self.kept {
            self.fields.push(self.at);
        }
    }
    pub(super) fn push_input(&mut self) {
        if self.kept {
            self.inputs.push(self.at);
        }
    }
    pub(super) fn push_enum_value(&mut self) {
        if self.kept {
            self.enum_values.push(self.at);
        }
    }
    pub(super) fn push_directive(&mut self) {
        if self.kept {
            self.directives.push(self.at);
        }
    }
    pub(super) fn push_list(&mut self) {
        if self.kept {
            self.lists.push(self.at);
        }
    }
    /// Moves a type that was only referred to before to where it is defined.
    pub(super) fn ty(&mut self, id: TypeId) {
        if self.kept {
            self.types[id.index()] = self.at;
        }
    }
    /// Moves a built-in directive to where the owner wrote it out.
    pub(super) fn directive(&mut self, id: DirectiveId) {
        if self.kept {
            self.directives[id.index()] = self.at;
        }
    }

    pub(super) fn of_type(&self, id: TypeId) -> Vec<Span> {
        self.types.get(id.index()).copied().into_iter().collect()
    }
    pub(super) fn of_field(&self, id: FieldId) -> Vec<Span> {
        self.fields.get(id.index()).copied().into_iter().collect()
    }
    pub(super) fn of_input(&self, id: InputId) -> Vec<Span> {
        self.inputs.get(id.index()).copied().into_iter().collect()
    }
    pub(super) fn of_enum_value(&self, id: EnumValueId) -> Vec<Span> {
        self.enum_values.get(id.index()).copied().into_iter().collect()
    }
    pub(super) fn of_directive(&self, id: DirectiveId) -> Vec<Span> {
        self.directives.get(id.index()).copied().into_iter().collect()
    }
    /// Span of a name in `implements` or in a union, by its index in the schema's `type_lists`.
    pub(super) fn of_list(&self, at: usize) -> Vec<Span> {
        self.lists.get(at).copied().into_iter().collect()
    }
}
