//! Ties Rust types to the sets of an output plan, once per plan: which field of a record each member is.
//!
//! **Invariant:** bindings belong to one output plan; a set that two Rust types answer has a binding for each.

use super::answer::Spot;
use super::record::Record;
use crate::plan::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSetId, TypeSwitchId,
};
use crate::source::Ids;
use smallvec::SmallVec;
use std::any::TypeId as RustType;
use std::sync::Arc;
use weir_language::schema::{FieldId, ScalarReader, Schema, TypeId, TypeKind, TypeRef};
use weir_language::wraps::Wraps;

/// A member that no field of the record answers: a constant, or another source's.
pub(super) const NO_FIELD: u32 = u32::MAX;

/// Why a value of Rust cannot stand where it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbound {
    /// Message for the author of the types.
    pub message: String,
    /// Place of the member in [`OutputPlan::fields`].
    pub field: u32,
}

/// A Rust type at a set.
#[derive(Debug)]
pub(super) struct Binding {
    rust: RustType,
    /// By member of the set: the record's field.
    pub(super) indexes: Vec<u32>,
    /// By hidden field of the set: the record's field.
    pub(super) hidden: Vec<u32>,
}

/// Data for writing, beside the values.
#[derive(Debug)]
pub struct Bindings {
    pub(super) schema: Arc<Schema>,
    pub(super) ids: Arc<Ids>,
    sets: Vec<SmallVec<[Binding; 1]>>,
    /// By choice: name in the source's schema, type in the graph's, set.
    choices: Vec<Vec<(Box<str>, TypeId, SelectionSetId)>>,
    /// Stands in for the members that hidden fields do not have.
    pub(super) hidden: OutputField,
}

impl Bindings {
    pub(super) fn new(schema: &Arc<Schema>, ids: &Arc<Ids>, output: &OutputPlan) -> Self {
        let choices = output.type_switches.iter().map(|choice| {
            let sets = choice.sets.iter().filter(|(ty, _)| ids.has_type(*ty));
            sets.map(|&(ty, set)| (schema.type_name(ids.ty(ty)).into(), ty, set)).collect()
        });
        let hidden = OutputField {
            key: ResponseKey::new("hidden"),
            field: FieldId(0),
            ty: TypeRef { base: TypeId(0), wraps: Wraps::default() },
            arguments_start: 0,
            arguments_len: 0,
            member: OutputKind::Leaf,
            same_as: None,
            offset: 0,
            membership: 0,
        };
        Self {
            schema: Arc::clone(schema),
            ids: Arc::clone(ids),
            sets: output.sets.iter().map(|_| SmallVec::new()).collect(),
            choices: choices.collect(),
            hidden,
        }
    }

    /// The source's own id of a field.
    pub(super) fn field(&self, id: FieldId) -> FieldId {
        self.ids.field(id)
    }

    /// The source's own id of a type.
    pub(super) fn ty(&self, id: TypeId) -> TypeId {
        self.ids.ty(id)
    }

    /// Binding of `R` to `set`.
    #[inline]
    pub(super) fn of<R: Record>(&self, set: SelectionSetId) -> Option<&Binding> {
        self.sets[set.0 as usize].iter().find(|binding| binding.rust == RustType::of::<R>())
    }

    /// The graph's type and the set for objects called `name`.
    pub(super) fn chosen(&self, choice: TypeSwitchId, name: &str) -> Option<(TypeId, SelectionSetId)> {
        let choices = self.choices[choice.0 as usize].iter();
        choices.clone().find(|(it, ..)| &**it == name).map(|&(_, ty, set)| (ty, set))
    }
}

/// Context for making columns.
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    pub(super) output: &'s OutputPlan,
    pub(super) bindings: &'s Bindings,
}

/// Collects [`Bindings`].
pub struct Binder<'b> {
    pub(super) output: &'b OutputPlan,
    pub(super) bindings: Bindings,
}

impl Binder<'_> {
    /// The name of a member's field in the source's schema.
    pub(super) fn name(&self, field: FieldId) -> &str {
        self.bindings.schema.field_name(self.bindings.field(field))
    }

    /// The error that `what` does not fit `spot`.
    #[must_use]
    pub fn unfit(&self, spot: Spot<'_>, what: &str) -> Unbound {
        let ty = TypeRef { base: self.bindings.ty(spot.ty.base), ..spot.ty };
        let ty = self.bindings.schema.type_text(ty);
        let name = self.name(spot.of.field);
        Unbound { message: format!("`{name}` is `{ty}`, not {what}"), field: spot.field }
    }

    /// Checks that a leaf stands at `spot` whose reader (`None` for enums) `accepts` takes.
    /// # Errors
    /// It is something else.
    pub fn leaf(
        &self,
        spot: Spot<'_>,
        what: &str,
        accepts: impl Fn(Option<ScalarReader>) -> bool,
    ) -> Result<(), Unbound> {
        let is_fit = match self.bindings.schema.ty(self.bindings.ty(spot.ty.base)).kind {
            TypeKind::Scalar(reader) => accepts(Some(reader)),
            TypeKind::Enum => accepts(None),
            TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => false,
        };
        if is_fit && !spot.ty.wraps.is_list() { Ok(()) } else { Err(self.unfit(spot, what)) }
    }

    /// Ties `R` to `set` and what it holds to the sets below.
    pub(super) fn record<R: Record>(&mut self, set: SelectionSetId) -> Result<(), Unbound> {
        if self.bindings.of::<R>(set).is_some() {
            return Ok(());
        }
        let output = self.output;
        let range = output.set(set).range();
        let mut indexes = Vec::with_capacity(range.len());
        for at in range.clone() {
            indexes.push(match output.fields[at].member {
                OutputKind::Constant { .. } | OutputKind::Foreign { .. } => NO_FIELD,
                OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => {
                    self.index::<R>(output.fields[at].field, at as u32)?
                }
            });
        }
        let hidden = output.set(set).hidden.iter();
        let hidden =
            hidden.map(|&field| self.index::<R>(field, range.start as u32)).collect::<Result<_, _>>()?;
        let binding = Binding { rust: RustType::of::<R>(), indexes: indexes.clone(), hidden };
        self.bindings.sets[set.0 as usize].push(binding);
        for (at, index) in range.zip(indexes) {
            if index != NO_FIELD {
                let of = &output.fields[at];
                R::bind_field(index as usize, self, Spot { field: at as u32, of, ty: of.ty })?;
            }
        }
        Ok(())
    }

    fn index<R: Record>(&self, id: FieldId, field: u32) -> Result<u32, Unbound> {
        let name = self.name(id);
        let is_it = |own: &&str| own.strip_prefix("r#").unwrap_or(own) == name;
        match R::FIELDS.iter().position(is_it) {
            Some(index) => Ok(index as u32),
            None => Err(Unbound { message: format!("`{}` has no field `{name}`", R::NAME), field }),
        }
    }
}
