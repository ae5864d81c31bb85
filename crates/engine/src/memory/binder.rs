//! Ties Rust types to the sets of an output plan, once per plan: which field of a record each member is.
//!
//! **Invariant:** bindings belong to one output plan; a set that two Rust types answer has a binding for each.

use super::host::{ObjectNumbers, ObjectVisitor, RecordHost};
use super::spot::Spot;
use crate::answer::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSetId, TypeSwitchId,
};
use crate::source::Ids;
use smallvec::SmallVec;
use std::any::{Any, TypeId as RustType};
use std::fmt;
use std::sync::Arc;
use weir_language::schema::{FieldId, ScalarReader, Schema, TypeId, TypeKind, TypeRef};
use weir_language::wraps::Wraps;

/// A member that no field of the record answers: a constant, or another source's.
pub(super) const NO_FIELD: u32 = u32::MAX;

/// A hidden field that is the object itself.
pub(super) const WHOLE_OBJECT: u32 = u32::MAX - 1;

/// Why a value of Rust cannot stand where it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbound {
    /// Message for the author of the types.
    pub message: String,
    /// Place of the member in [`OutputPlan::fields`].
    pub field: u32,
}

/// A Rust type at a set.
pub(super) struct Binding {
    pub(super) rust: RustType,
    /// By member of the set: the record's field, or behind those the place in `leaves`.
    pub(super) indexes: Vec<u32>,
    /// By hidden field of the set: the record's field.
    pub(super) hidden: Vec<u32>,
    /// A `Vec<Arc<dyn LeafOf<R>>>`, if members are resolved beside the record.
    pub(super) leaves: Option<Box<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding").field("indexes", &self.indexes).finish_non_exhaustive()
    }
}

/// Data for writing, beside the values.
pub struct Bindings {
    pub(super) schema: Arc<Schema>,
    pub(super) ids: Arc<Ids>,
    pub(super) sets: Vec<SmallVec<[Binding; 1]>>,
    /// By choice: name in the source's schema, type in the graph's, set.
    choices: Vec<Vec<(Box<str>, TypeId, SelectionSetId)>>,
    /// Stands in for the members that hidden fields do not have.
    pub(super) hidden: OutputField,
    pub(super) host: Option<Arc<dyn RecordHost>>,
}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bindings").field("sets", &self.sets).finish_non_exhaustive()
    }
}

impl Bindings {
    /// Empty bindings. `schema` is the source's own, `ids` map the ids of `output` to it.
    pub fn new(
        schema: &Arc<Schema>,
        ids: &Arc<Ids>,
        output: &OutputPlan,
        host: Option<Arc<dyn RecordHost>>,
    ) -> Self {
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
            host,
        }
    }

    /// The runtime that stands on these values.
    pub fn host(&self) -> Option<&dyn RecordHost> {
        self.host.as_deref()
    }

    /// The source's own schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The source's own id of a field.
    pub(super) fn field(&self, id: FieldId) -> FieldId {
        self.ids.field(id)
    }

    /// The source's own id of a type.
    pub fn ty(&self, id: TypeId) -> TypeId {
        self.ids.ty(id)
    }

    /// The binding of `R` at `set`.
    #[inline]
    pub(super) fn binding_of<R: 'static>(&self, set: SelectionSetId) -> Option<&Binding> {
        self.sets[set.0 as usize].iter().find(|binding| binding.rust == RustType::of::<R>())
    }

    /// Type in the graph and selection set for objects of type `name`.
    pub(super) fn type_and_set(&self, choice: TypeSwitchId, name: &str) -> Option<(TypeId, SelectionSetId)> {
        let choices = self.choices[choice.0 as usize].iter();
        choices.clone().find(|(it, ..)| &**it == name).map(|&(_, ty, set)| (ty, set))
    }
}

/// Context for making columns.
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    pub(super) output: &'s OutputPlan,
    pub(super) bindings: &'s Bindings,
    pub(super) numbers: Option<&'s ObjectNumbers>,
    pub(super) visitor: Option<&'s dyn ObjectVisitor>,
}

impl<'s> Scope<'s> {
    /// For columns of `output`, whose objects have no numbers.
    pub fn new(output: &'s OutputPlan, bindings: &'s Bindings) -> Self {
        Self { output, bindings, numbers: None, visitor: None }
    }
    /// Adds numbers for objects.
    #[must_use]
    pub fn with_numbers(self, numbers: &'s ObjectNumbers) -> Self {
        Self { numbers: Some(numbers), ..self }
    }
    /// Adds `visitor`, which sees the objects of the pass; the columns of such a pass have no meaning.
    #[must_use]
    pub fn with_visitor(self, visitor: &'s dyn ObjectVisitor) -> Self {
        Self { visitor: Some(visitor), ..self }
    }
    /// The output plan.
    pub fn output(self) -> &'s OutputPlan {
        self.output
    }
    /// The bound fields.
    pub fn bindings(self) -> &'s Bindings {
        self.bindings
    }
}

/// Collects [`Bindings`].
pub struct Binder<'b> {
    pub(super) output: &'b OutputPlan,
    pub(super) bindings: Bindings,
    pub(super) refused: Vec<Unbound>,
}

impl<'b> Binder<'b> {
    /// Begins to bind to `output`.
    pub fn new(output: &'b OutputPlan, bindings: Bindings) -> Self {
        Self { output, bindings, refused: Vec::new() }
    }
    /// The bound fields.
    /// # Errors
    /// Fields of records that do not fit.
    pub fn finish(self) -> Result<Bindings, Vec<Unbound>> {
        if self.refused.is_empty() { Ok(self.bindings) } else { Err(self.refused) }
    }
    /// The fields that were bound so far.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }
    /// The output plan.
    pub fn output(&self) -> &'b OutputPlan {
        self.output
    }
}

impl Binder<'_> {
    /// The name of a member's field in the source's schema.
    pub(super) fn name(&self, field: FieldId) -> &str {
        self.bindings.schema.field_name(self.bindings.field(field))
    }

    /// The error that `what` does not fit `spot`.
    pub fn unfit(&self, spot: Spot<'_>, what: &str) -> Unbound {
        let ty = TypeRef { base: self.bindings.ty(spot.ty.base), ..spot.ty };
        let ty = self.bindings.schema.type_text(ty);
        let name = self.name(spot.output_field.field);
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
}
