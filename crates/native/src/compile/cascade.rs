//! `@cascade`: objects that lack a selected value are left out, before pages are made.
//!
//! On a field it holds for the objects there and for all below them, up to another `@cascade`. With `fields` it tests these fields
//! of the type, of all objects that have them, and where they are selected: an object below is left out by itself, and its
//! parent only if it tests the edge. No names are all fields.
//!
//! **Cost:** a condition per tested field and level.

use super::{At, Compiler};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use crate::model::{FieldId, FieldKind, TypeId};
use std::sync::Arc;
use weir_engine::plan::output_plan::{self, OutputField, SelectionSetId};
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::plan::Filter;

/// Fields that a `@cascade` tests where they are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cascade {
    /// Every field.
    All,
    /// These fields; an inherited field is named as in its interface.
    Fields(Vec<FieldId>),
}

/// Message for a name that is no field of the type `of`.
fn unknown(name: &str, of: &str) -> String {
    format!(
        "Field `{name}` is not present in type `{of}`. You can only use fields in cascade which are in type `{of}`"
    )
}

impl Compiler<'_> {
    /// The names in the `@cascade` on a field; none are all.
    fn cascade_names(&self, field: &OutputField) -> Option<Vec<String>> {
        let arguments = self.output.arguments(field);
        let given = arguments.iter().find(|it| self.meaning(it.input) == InputMeaning::Cascade)?;
        let place = self.argument(given);
        if self.is_missing(place) {
            return Some(Vec::new());
        }
        let names = self.inputs.items(place).into_iter().filter_map(|it| match self.inputs.node(it) {
            Node::Text(span) => Some(self.inputs.text(it, span).to_owned()),
            _ => None,
        });
        Some(names.collect())
    }

    /// Reads the `@cascade` on a field of objects of `ty`.
    /// # Errors
    /// A name is no field of the type.
    pub(super) fn cascade_of(
        &self,
        field: &OutputField,
        ty: TypeId,
    ) -> Result<Option<Arc<Cascade>>, PlanError> {
        let Some(names) = self.cascade_names(field) else { return Ok(None) };
        if names.is_empty() {
            return Ok(Some(Arc::new(Cascade::All)));
        }
        let model = &self.native.api.model;
        let of = model.ty(ty);
        let mut tested = Vec::new();
        for name in names {
            let types = std::iter::once(&ty).chain(&of.members);
            let before = tested.len();
            tested
                .extend(types.filter_map(|it| model.field_by_name(*it, &name)).map(|it| self.find_root(it)));
            if tested.len() == before {
                return Err(self.refuse(unknown(&name, &of.name)));
            }
        }
        Ok(Some(Arc::new(Cascade::Fields(tested))))
    }

    /// The field that stands for `field` in a list: that of the first interface that has it.
    fn find_root(&self, field: FieldId) -> FieldId {
        let mut first = field;
        while let Some(above) = self.native.api.model.field(first).inherited_from {
            first = above;
        }
        first
    }

    /// The conditions that a `@cascade` above or on `field` makes for its objects in `at`.
    pub(super) fn apply_cascade(
        &mut self,
        field: &OutputField,
        at: At,
        out: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        let own = self.cascade_of(field, at.ty)?;
        let Some(cascade) = own.or_else(|| self.cascade.clone()) else { return Ok(()) };
        match field.member {
            output_plan::OutputKind::Object(set) => self.cascade_set(set, &cascade, out),
            output_plan::OutputKind::Abstract(choice) => {
                let output = self.output;
                let mut any = Vec::new();
                let mut is_tested = false;
                for &(on, set) in &output.type_switches[choice.0 as usize].sets {
                    let Some(ty) =
                        self.ids.has_type(on).then(|| self.native.api.ty(self.ids.ty(on))).flatten()
                    else {
                        continue;
                    };
                    let mut all = Vec::new();
                    self.cascade_set(set, &cascade, &mut all)?;
                    is_tested |= !all.is_empty();
                    let name = self.native.api.model.ty(ty).name.as_str().into();
                    let Some(kind) = at.kind else { continue };
                    let named = Filter::Named { of: kind, names: vec![name] };
                    any.push(match (all.is_empty(), self.native.to_member(at.ty, ty)) {
                        (false, Some(by)) => Filter::All(vec![named, self.exists(by, Filter::All(all))]),
                        _ => named,
                    });
                }
                out.extend(is_tested.then_some(Filter::Any(any)));
                Ok(())
            }
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Constant { .. }
            | output_plan::OutputKind::Foreign { .. } => Ok(()),
        }
    }

    /// Refuses names on the field at `at` of the output, where it is no field of objects: the type of a payload, an aggregate or a
    /// value has none of the names of their fields. Fields of objects are looked at where their filters are.
    pub(super) fn check_cascade(&self, at: u32) -> Result<(), PlanError> {
        let field = &self.output.fields[at as usize];
        if matches!(field.member, output_plan::OutputKind::Constant { .. }) {
            return Ok(());
        }
        let Some(names) = self.cascade_names(field) else { return Ok(()) };
        let schema = &self.native.api.schema;
        let ty = schema.field(self.ids.field(field.field)).ty.base;
        let is_unknown = |it: &&String| schema.field_by_name(ty, it).is_none();
        match names.iter().find(is_unknown).filter(|_| self.native.api.ty(ty).is_none()) {
            Some(name) => {
                let error = self.refuse(unknown(name, schema.type_name(ty)));
                Err(PlanError { field: at, ..error })
            }
            None => Ok(()),
        }
    }

    fn cascade_set(
        &mut self,
        set: SelectionSetId,
        cascade: &Arc<Cascade>,
        out: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        self.enter_nesting()?;
        let output = self.output;
        for below in output.members(set) {
            let FieldMeaning::Field(of) = self.field_meaning(below) else { continue };
            let is_tested = match &**cascade {
                Cascade::All => true,
                Cascade::Fields(fields) => fields.contains(&self.find_root(of)),
            };
            if is_tested
                && !matches!(
                    below.member,
                    output_plan::OutputKind::Constant { .. } | output_plan::OutputKind::Foreign { .. }
                )
            {
                out.push(self.require_field(below, of, cascade)?);
            }
        }
        out.retain(|it| !it.is_true());
        self.depth -= 1;
        Ok(())
    }

    /// The condition that a selected field has a value.
    fn require_field(
        &mut self,
        field: &OutputField,
        of: FieldId,
        cascade: &Arc<Cascade>,
    ) -> Result<Filter, PlanError> {
        if !matches!(self.native.api.model.field(of).kind, FieldKind::Edge { .. }) {
            return self.is_there(of);
        }
        let (by, there) = self.relationship_along(of)?;
        let mut all = Vec::new();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            if matches!(self.meaning(argument.input), InputMeaning::Filter(_)) && !self.is_missing(place) {
                all.push(self.filter(place, there)?);
            }
        }
        let outer = self.cascade.replace(Arc::clone(cascade));
        self.apply_cascade(field, there, &mut all)?;
        self.cascade = outer;
        all.retain(|it| !it.is_true());
        Ok(self.exists(by, Filter::All(all)))
    }
}
