//! The statements that a mutation may run, for people: the steps of the mutation without a store.
//!
//! A name of an object of the input may be known or new, so the changes are made once with new objects and once with known
//! ones, where an input allows both. The objects that a filter finds are several.

use super::{Mutation, MutationKind};
use crate::model::{TypeId, TypeKind};
use crate::write::object::{InputObject, Role};
use crate::write::resolve::{Resolution, Resolutions, edges};
use std::sync::Arc;
use weir_database::frontend::program::BoundStatement;

/// Types of an interface or union for which statements are shown.
const MEMBERS_MAX: usize = 8;

impl Mutation {
    /// The statements, each once.
    pub(in crate::write) fn possible(mut self) -> Vec<BoundStatement> {
        let mut all = Vec::new();
        let is_add = matches!(self.kind, MutationKind::Add(_));
        let changes = is_add || self.is_asked_for() || matches!(self.kind, MutationKind::Delete(_));
        if !changes {
            return all;
        }
        self.matched = if is_add { Vec::new() } else { self.members(self.kind.ty(), &[1, 2]) };
        if !matches!(self.kind, MutationKind::Delete(_)) || self.is_abstract() {
            // A refusal here is repeated when the rule is run.
            let _ = self.ask_names(&mut all);
        }
        for variant in 0..self.variants() {
            self.resolutions = self.variant(variant);
            self.numbers = (0..i64::from(self.resolutions.made)).map(|it| i64::MIN + it).collect();
            if self.resolutions.made > 0 {
                self.ask_numbers(self.resolutions.made, &mut all);
            }
            self.required_edges().ask(&Arc::clone(&self.writes), &mut all);
            let _ = self.change(&mut all);
        }
        let mut seen: Vec<BoundStatement> = Vec::new();
        for it in all {
            if !seen.iter().any(|seen| Arc::ptr_eq(&seen.template, &it.template)) {
                seen.push(it);
            }
        }
        seen
    }

    /// Objects with each of `ids` of each type that `ty` can be.
    fn members(&self, ty: TypeId, ids: &[i64]) -> Vec<(i64, TypeId)> {
        let members = self.writes.model().ty(ty).members.iter().take(MEMBERS_MAX);
        members.enumerate().flat_map(|(at, ty)| ids.iter().map(move |id| (id + 2 * at as i64, *ty))).collect()
    }

    /// Number of runs to explain: one with new objects, then one with existing objects per member type.
    fn variants(&self) -> usize {
        let members = |it: &InputObject| self.writes.model().ty(it.ty).members.len();
        1 + self.input.objects.iter().map(members).max().unwrap_or_default().min(MEMBERS_MAX)
    }

    fn variant(&self, variant: usize) -> Resolutions {
        let resolver = self.resolver();
        let model = self.writes.model();
        let mut resolutions = Resolutions::default();
        let mut ignored = vec![false; self.input.objects.len()];
        for (at, object) in self.input.objects.iter().enumerate() {
            let members = &model.ty(object.ty).members;
            let known = members.get(variant.saturating_sub(1) % members.len().max(1));
            let known = known.map(|ty| (i64::MAX - at as i64, *ty));
            let is_named = self.names.has(at as u32);
            let can_be_made = model.ty(object.ty).kind == TypeKind::Object
                && object.id.is_none()
                && resolver.missing_field(object).is_none();
            let resolution = match (object.role, known) {
                (Role::Patch { .. }, _) | (_, None) => Resolution::Nothing,
                _ if ignored[at] => Resolution::Nothing,
                (Role::Top, Some((id, ty))) if variant > 0 && is_named && self.input.upsert => {
                    Resolution::Changed(id, ty)
                }
                (Role::Below(_), Some((id, ty))) if is_named && (variant > 0 || !can_be_made) => {
                    Resolution::There(id, ty)
                }
                (Role::Unlinked, Some((id, ty))) => Resolution::There(id, ty),
                (Role::Top | Role::Below(_), _) if can_be_made => {
                    resolutions.made += 1;
                    Resolution::Made(resolutions.made - 1)
                }
                (Role::Top | Role::Below(_), _) => Resolution::Nothing,
            };
            if !matches!(resolution, Resolution::Made(_) | Resolution::Changed(..) | Resolution::Nothing)
                || ignored[at]
            {
                edges(object).for_each(|it| ignored[it as usize] = true);
            }
            resolutions.of.push(resolution);
        }
        resolutions
    }
}
