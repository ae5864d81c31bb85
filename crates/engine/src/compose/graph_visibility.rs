//! The members of the graph that a profile sees, from those that it sees of each source.
//!
//! **Invariant:** a member of the graph is visible if a source that brings it shows it. A join or extension is visible if its keys
//! are too, unless the keys are of services; a join also needs a visible root field, with the arguments, inputs and enum values
//! that it uses.

use super::{Graph, Joined, Owner, extend};
use crate::caller::{Facts, Identity, SourceFacts};
use crate::source::Ids;
use weir_language::schema::{EnumValueId, FieldId, InputId, TypeId, Visibility, builtin};
use weir_language::value::Node;

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
        self.show_extensions(&mut seen);
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

    /// Hides extensions whose keys are hidden: their results would reveal the values of the keys.
    fn show_extensions(&self, seen: &mut Visibility) {
        for &field in &self.extensions {
            let Owner::Source(source) = self.owner(field) else { continue };
            let (source, ids) = &self.sources[usize::from(source)];
            let on = self.schema.field(field).parent;
            let mut keys = extend::key_names(source, ids.field(field));
            let is_hidden = |key: &str| {
                let key = self.schema.field_by_name(on, key);
                key.is_none_or(|it| !self.shows_key(it, seen))
            };
            if keys.any(is_hidden) {
                seen.show_field(field, false);
            }
        }
    }

    fn show_joins(&self, seen: &mut Visibility) {
        for at in 0..self.owners.len() as u32 {
            let field = FieldId(at);
            let Owner::Join(join) = self.owner(field) else { continue };
            let join = self.join(join);
            let is_seen = self.shows_join(join, seen);
            seen.show_field(field, is_seen);
            for input in self.schema.arguments(field) {
                let is_seen = seen.has_input(join.target_input(input));
                seen.show_input(input, is_seen);
            }
        }
    }

    /// True if callers may learn what depends on a key: they see it, or it is one of services, whose text says both who sees the key
    /// and what it leads to.
    fn shows_key(&self, key: FieldId, seen: &Visibility) -> bool {
        let is_divided = match self.owner(key) {
            Owner::Source(source) => self.sources[usize::from(source)].0.field_resolver().is_some(),
            Owner::Join(_) | Owner::Namespace | Owner::Introspection => false,
        };
        is_divided || seen.has_field(key)
    }

    /// True if the keys of a join and all that it asks are shown.
    fn shows_join(&self, join: &Joined, seen: &Visibility) -> bool {
        let is_shown = |node: &Node| match *node {
            Node::Key(input) => seen.has_input(input),
            Node::Enum(value) => seen.has_enum_value(value),
            _ => true,
        };
        seen.has_field(join.target)
            && join.keys.iter().all(|it| self.shows_key(*it, seen))
            && join.arguments.iter().all(|it| seen.has_input(it.0))
            && join.values.nodes.iter().all(is_shown)
    }
}
