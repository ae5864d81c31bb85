//! The members of the graph that a profile sees, from those that it sees of each source.
//!
//! **Invariant:** a member of the graph is visible if a source that brings it shows it; a join is visible if the root field that it asks is.

use super::{Graph, Owner};
use crate::caller::{Facts, Identity, SourceFacts};
use crate::source::Ids;
use weir_language::schema::{EnumValueId, FieldId, InputId, TypeId, Visibility, builtin};

/// The members that one source shows; `None`: all.
struct Shown<'g> {
    ids: &'g Ids,
    visibility: Option<Visibility>,
}

/// True if a source shows what `shows` looks at, or none brings it. `shows` gives `None` for a source without it.
fn any(shown: &[Shown<'_>], shows: impl Fn(&Shown<'_>) -> Option<bool>) -> bool {
    let mut is_brought = false;
    for it in shown.iter().filter_map(shows) {
        if it {
            return true;
        }
        is_brought = true;
    }
    !is_brought
}

impl Graph {
    /// The facts that the sources derive from `identity`.
    pub(crate) fn facts(&self, identity: &Identity) -> SourceFacts {
        let sources = self.sources.iter();
        SourceFacts::of(sources.map(|(source, _)| |facts: &mut Facts| source.profile(identity, facts)))
    }

    /// The members that callers with these facts see, source by source; `None`: all.
    pub(crate) fn visibility<'f>(&self, facts: impl Iterator<Item = &'f [u64]>) -> Option<Visibility> {
        let shown = self.sources.iter().zip(facts).map(|((source, ids), facts)| {
            let visibility = if facts.is_empty() { None } else { source.visibility(facts) };
            Shown { ids, visibility }
        });
        let shown: Vec<Shown<'_>> = shown.collect();
        if shown.iter().all(|it| it.visibility.is_none()) {
            return None;
        }
        let mut seen = Visibility::everything(&self.schema);
        self.show_types(&shown, &mut seen);
        self.show_fields(&shown, &mut seen);
        self.show_joins(&mut seen);
        seen.close(&self.schema);
        Some(seen)
    }

    fn show_types(&self, shown: &[Shown<'_>], seen: &mut Visibility) {
        for at in builtin::TYPES..self.schema.types.len() as u32 {
            let id = TypeId(at);
            let shows = |it: &Shown<'_>| {
                let all = || it.visibility.as_ref().is_none_or(|seen| seen.has_type(it.ids.ty(id)));
                it.ids.has_type(id).then(all)
            };
            seen.show_type(id, any(shown, shows));
            let detaches = |it: &Shown<'_>| {
                let own = it.visibility.as_ref().filter(|_| it.ids.has_type(id));
                own.is_some_and(|seen| seen.is_detached(it.ids.ty(id)))
            };
            if shown.iter().any(detaches) {
                seen.detach(id);
            }
        }
        for at in 0..self.schema.inputs.len() as u32 {
            let id = InputId(at);
            let shows = |it: &Shown<'_>| {
                let all = || it.visibility.as_ref().is_none_or(|seen| seen.has_input(it.ids.input(id)));
                it.ids.has_input(id).then(all)
            };
            seen.show_input(id, any(shown, shows));
        }
        for at in 0..self.schema.enum_values.len() as u32 {
            let id = EnumValueId(at);
            let shows = |it: &Shown<'_>| {
                let all =
                    || it.visibility.as_ref().is_none_or(|seen| seen.has_enum_value(it.ids.enum_value(id)));
                it.ids.has_enum_value(id).then(all)
            };
            seen.show_enum_value(id, any(shown, shows));
        }
    }

    fn show_fields(&self, shown: &[Shown<'_>], seen: &mut Visibility) {
        for at in 0..self.schema.fields.len() as u32 {
            let field = FieldId(at);
            let Owner::Source(source) = self.owner(field) else { continue };
            let Shown { ids, visibility: Some(visibility) } = &shown[usize::from(source)] else { continue };
            let own = ids.field(field);
            seen.show_field(field, visibility.has_field(own));
            if visibility.is_nullable(own) {
                seen.make_nullable(field);
            }
        }
    }

    fn show_joins(&self, seen: &mut Visibility) {
        for at in 0..self.owners.len() as u32 {
            let field = FieldId(at);
            let Owner::Join(join) = self.owner(field) else { continue };
            let join = self.join(join);
            let is_seen = seen.has_field(join.target);
            seen.show_field(field, is_seen);
            for input in self.schema.arguments(field) {
                let is_seen = seen.has_input(join.target_input(input));
                seen.show_input(input, is_seen);
            }
        }
    }
}
