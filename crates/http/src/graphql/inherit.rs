//! What inherited roles see of a server: all that their roles see, but for the members in which these cannot be joined.
//!
//! **Invariant:** a value that a permission of a role sets cannot be avoided by what another role of the same caller may do. Where
//! roles set values, a type that several of them see has only the fields that all of them see, since each field may be reached on
//! the way of each role; fields of root types are ways of their own.

use super::presets::Preset;
use super::roles::{RoleView, ServerSchema};
use weir_language::schema::{FieldId, InputId, Schema, TypeId, TypeKind};

/// What a role may do with an argument or input field.
#[derive(PartialEq, Eq)]
enum InputState<'v> {
    Absent,
    Open,
    Preset(&'v Preset),
}

fn input_state(view: &RoleView, input: InputId) -> InputState<'_> {
    match view.preset(input) {
        Some(preset) => InputState::Preset(preset),
        None if view.visibility.has_input(input) => InputState::Open,
        None => InputState::Absent,
    }
}

/// True if a role sets a value for `input`, and another one does not set the same.
fn is_split(views: &[&RoleView], input: InputId) -> bool {
    let states: Vec<InputState<'_>> = views.iter().map(|it| input_state(it, input)).collect();
    let is_preset = |it: &InputState<'_>| matches!(it, InputState::Preset(_));
    states.iter().any(is_preset) && states.iter().any(|it| *it != states[0])
}

/// The view of a role made of `views`, before it is closed, and descriptions of the members that it lacks. `None` without views.
pub(super) fn join_views(views: &[&RoleView], server: ServerSchema<'_>) -> Option<(RoleView, Vec<String>)> {
    let (first, others) = views.split_first()?;
    let mut view = RoleView::new(first.visibility.clone());
    others.iter().for_each(|it| view.visibility.show_all_of(&it.visibility));
    for other in views {
        view.presets.extend(other.presets.iter().map(|(input, preset)| (*input, preset.clone())));
    }
    let mut joiner = ViewJoiner { views, server, view, left_out: Vec::new() };
    joiner.hide_split_inputs();
    joiner.hide_split_fields();
    let ViewJoiner { mut view, left_out, .. } = joiner;
    view.find_preset_types(server.schema);
    Some((view, left_out))
}

struct ViewJoiner<'v> {
    views: &'v [&'v RoleView],
    server: ServerSchema<'v>,
    view: RoleView,
    left_out: Vec<String>,
}

impl<'v> ViewJoiner<'v> {
    fn schema(&self) -> &'v Schema {
        self.server.schema
    }

    /// Hides the input types for whose fields the roles set different values. Arguments of such a type go with it.
    fn hide_split_inputs(&mut self) {
        let schema = self.schema();
        for id in schema.types_of_sources() {
            let TypeKind::Input { .. } = schema.ty(id).kind else { continue };
            let fields: Vec<InputId> = schema.ty(id).members.range().map(|it| InputId(it as u32)).collect();
            // A type whose fields are all set is not seen.
            let has = |view: &&&RoleView| {
                view.visibility.has_type(id) || fields.iter().any(|it| view.preset(*it).is_some())
            };
            let having: Vec<&RoleView> = self.views.iter().filter(has).copied().collect();
            let Some(split) = fields.iter().find(|it| is_split(&having, **it)) else { continue };
            self.leave_out(schema.input_name(*split), id);
            self.view.visibility.show_type(id, false);
            for field in fields {
                self.view.visibility.show_input(field, false);
                self.view.presets.remove(&field);
            }
        }
    }

    /// Hides the fields for whose arguments the roles set different values, and those that not all roles see where they have to.
    fn hide_split_fields(&mut self) {
        let schema = self.schema();
        let sets_values = self.views.iter().any(|it| !it.presets.is_empty());
        let roots = [Some(schema.query), schema.mutation, schema.subscription];
        for id in schema.types_of_sources() {
            let is_root = roots.contains(&Some(id)) || schema.join_roots.contains(&id);
            let seeing = self.views.iter().filter(|it| it.visibility.has_type(id)).count();
            for field in schema.ty(id).fields.range().map(|it| FieldId(it as u32)) {
                let having = self.views.iter().filter(|it| it.visibility.has_field(field));
                let having: Vec<&RoleView> = having.copied().collect();
                if having.is_empty() {
                    continue;
                }
                let is_uneven = sets_values && !is_root && having.len() < seeing;
                if is_uneven || schema.arguments(field).any(|it| is_split(&having, it)) {
                    let name = self.server.names.field_name(schema, field);
                    self.leave_out(name, id);
                    self.view.visibility.show_field(field, false);
                }
            }
        }
    }

    fn leave_out(&mut self, member: &str, ty: TypeId) {
        if !self.schema().join_roots.contains(&ty) {
            let ty = self.server.names.type_name(self.schema(), ty);
            self.left_out.push(format!("field \"{member}\" of \"{ty}\""));
        }
    }
}
