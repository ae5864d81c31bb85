//! Old names of the types and fields of a new model.
//!
//! **Invariant:** an old item becomes at most one new item: a name that is still in use is not renamed.

use crate::model::{EnumId, FieldId, Model, TypeId};

/// An old model and the one that follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renames<'m> {
    pub(super) old: &'m Model,
    pub(super) new: &'m Model,
}

/// A field of the old model, and what it is in the new one.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldPair {
    pub(super) before: FieldId,
    pub(super) now: FieldId,
}

impl Renames<'_> {
    /// The old type of a type of the new model.
    pub(super) fn old_type(self, id: TypeId) -> Option<TypeId> {
        let ty = self.new.ty(id);
        let same = self.old.type_by_name(&ty.name);
        let before = ty.renamed_from.as_deref().filter(|it| self.new.type_by_name(it).is_none());
        let found = same.or_else(|| self.old.type_by_name(before?))?;
        (self.old.ty(found).kind == ty.kind).then_some(found)
    }

    /// The old field of a field of the new model.
    pub(super) fn old_field(self, id: FieldId) -> Option<FieldId> {
        let field = self.new.field(id);
        let owner = self.old_type(field.owner)?;
        let same = self.old.field_by_name(owner, &field.name);
        let before = field.renamed_from.as_deref();
        let before = before.filter(|it| self.new.field_by_name(field.owner, it).is_none());
        same.or_else(|| self.old.field_by_name(owner, before?))
    }

    /// The old enum of an enum of the new model. Its name is not stored, so that another name is another enum.
    pub(super) fn old_enum(self, id: EnumId) -> Option<EnumId> {
        let name = &self.new.enumeration(id).name;
        self.old.enums.iter().position(|it| it.name == *name).map(|at| EnumId(at as u32))
    }

    /// The new type of an old type.
    pub(super) fn new_type(self, id: TypeId) -> Option<TypeId> {
        self.new.type_ids().find(|&it| self.old_type(it) == Some(id))
    }

    /// The new field of an old field.
    pub(super) fn new_field(self, id: FieldId) -> Option<FieldId> {
        let owner = self.new_type(self.old.field(id).owner)?;
        self.new.fields_of(owner).map(|it| it.0).find(|&it| self.old_field(it) == Some(id))
    }
}
