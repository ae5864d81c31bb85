//! `@cascade`: objects that lack a selected value are left out, before pages are made.
//!
//! On a field it holds for the objects there and for all below them; with `fields` for those alone, by their names. No names
//! are all.
//!
//! **Cost:** a condition per selected field and level.

use super::{At, Compiler};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use crate::model::{FieldId, FieldKind};
use weir_engine::plan::output_plan::{self, OutputField, SelectionSetId};
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::plan::Filter;

/// Fields of a `@cascade`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cascade {
    /// Every selected field, on all levels below.
    All,
    /// These fields.
    Fields(Vec<String>),
}

/// Message for a name that is no field of the type `of`.
fn unknown(name: &str, of: &str) -> String {
    format!(
        "Field `{name}` is not present in type `{of}`. You can only use fields in cascade which are in type `{of}`"
    )
}

impl Compiler<'_> {
    /// The `@cascade` on a field.
    pub(super) fn cascade_of(&self, field: &OutputField) -> Option<Cascade> {
        let arguments = self.output.arguments(field);
        let given = arguments.iter().find(|it| self.meaning(it.input) == InputMeaning::Cascade)?;
        let place = self.argument(given);
        if self.is_missing(place) {
            return Some(Cascade::All);
        }
        let names = self.inputs.items(place).into_iter().filter_map(|it| match self.inputs.node(it) {
            Node::Text(span) => Some(self.inputs.text(it, span).to_owned()),
            _ => None,
        });
        let names: Vec<String> = names.collect();
        Some(if names.is_empty() { Cascade::All } else { Cascade::Fields(names) })
    }

    /// The conditions that a `@cascade` above or on `field` makes for its objects in `at`.
    pub(super) fn cascade(
        &mut self,
        field: &OutputField,
        at: At,
        out: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        let own = self.cascade_of(field);
        let Some(cascade) = own.or_else(|| self.cascades.then_some(Cascade::All)) else { return Ok(()) };
        self.check_names(&cascade, at)?;
        match field.member {
            output_plan::OutputKind::Object(set) => self.cascade_set(set, at, &cascade, out),
            output_plan::OutputKind::Abstract(choice) => {
                let output = self.output;
                let mut any = Vec::new();
                for &(on, set) in &output.type_switches[choice.0 as usize].sets {
                    let Some(ty) =
                        self.ids.has_type(on).then(|| self.native.api.ty(self.ids.ty(on))).flatten()
                    else {
                        continue;
                    };
                    let mut all = Vec::new();
                    self.cascade_set(set, self.native.registry(ty), &cascade, &mut all)?;
                    let name = self.native.api.model.ty(ty).name.as_str().into();
                    let Some(kind) = at.kind else { continue };
                    let named = Filter::Named { of: kind, names: vec![name] };
                    any.push(match (all.is_empty(), self.native.to_member(at.ty, ty)) {
                        (false, Some(by)) => Filter::All(vec![named, self.exists(by, Filter::All(all))]),
                        _ => named,
                    });
                }
                out.push(Filter::Any(any));
                Ok(())
            }
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Constant { .. }
            | output_plan::OutputKind::Foreign { .. } => Ok(()),
        }
    }

    /// Refuses names on the field at `at` of the output, where it is no field of objects: the type of a payload or a value has none
    /// of the names of their fields. Objects and aggregates are looked at where their filters are.
    pub(super) fn check_cascade(&self, at: u32) -> Result<(), PlanError> {
        let field = &self.output.fields[at as usize];
        let Some(Cascade::Fields(names)) = self.cascade_of(field) else { return Ok(()) };
        let is_constant = matches!(field.member, output_plan::OutputKind::Constant { .. });
        if is_constant
            || matches!(
                self.field_meaning(field),
                FieldMeaning::Aggregate(_) | FieldMeaning::EdgeAggregate(_)
            )
        {
            return Ok(());
        }
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

    /// Refuses names that no object at hand has a field of.
    fn check_names(&self, cascade: &Cascade, at: At) -> Result<(), PlanError> {
        let Cascade::Fields(names) = cascade else { return Ok(()) };
        let model = &self.native.api.model;
        let of = model.ty(at.ty);
        let has = |name: &String| {
            let mut types = std::iter::once(&at.ty).chain(&of.members);
            types.any(|ty| model.field_by_name(*ty, name).is_some())
        };
        match names.iter().find(|it| !has(it)) {
            Some(name) => Err(self.refuse(unknown(name, &of.name))),
            None => Ok(()),
        }
    }

    fn cascade_set(
        &mut self,
        set: SelectionSetId,
        at: At,
        cascade: &Cascade,
        out: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        self.deeper()?;
        let output = self.output;
        for below in output.members(set) {
            let FieldMeaning::Field(of) = self.field_meaning(below) else { continue };
            let is_meant = match cascade {
                Cascade::All => true,
                Cascade::Fields(names) => names.contains(&self.native.api.model.field(of).name),
            };
            if is_meant
                && !matches!(
                    below.member,
                    output_plan::OutputKind::Constant { .. } | output_plan::OutputKind::Foreign { .. }
                )
            {
                out.push(self.selected(below, of, cascade)?);
            }
        }
        if let Cascade::Fields(names) = cascade {
            // Also those that are not selected.
            for name in names {
                let of = self.native.api.model.field_by_name(at.ty, name);
                let is_selected = |it: &OutputField| {
                    self.field_meaning(it) == FieldMeaning::Field(of.unwrap_or(FieldId(0)))
                };
                if let Some(of) = of
                    && !output.members(set).iter().any(is_selected)
                {
                    out.push(self.is_there(of)?);
                }
            }
        }
        out.retain(|it| !it.is_true());
        self.depth -= 1;
        Ok(())
    }

    /// The condition that a selected field has a value.
    fn selected(&mut self, field: &OutputField, of: FieldId, cascade: &Cascade) -> Result<Filter, PlanError> {
        if !matches!(self.native.api.model.field(of).kind, FieldKind::Edge { .. }) {
            return self.is_there(of);
        }
        let (by, there) = self.way(of)?;
        let mut all = Vec::new();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            if matches!(self.meaning(argument.input), InputMeaning::Filter(_)) && !self.is_missing(place) {
                all.push(self.filter(place, there)?);
            }
        }
        let outer = std::mem::replace(&mut self.cascades, *cascade == Cascade::All);
        self.cascade(field, there, &mut all)?;
        self.cascades = outer;
        all.retain(|it| !it.is_true());
        Ok(self.exists(by, Filter::All(all)))
    }
}
