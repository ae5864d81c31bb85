//! The third pass: resolves interfaces and inherited fields, which gives each type its final fields.

use super::fields::both;
use super::{FIELDS_MAX, FieldDraft, SdlReader};
use crate::model::{FieldKind, TypeId, TypeKind};
use weir_language::span::Span;

impl SdlReader<'_> {
    pub(super) fn inherit(&mut self) {
        let order = self.interfaces_first();
        let mut made: Vec<Vec<FieldDraft>> = vec![Vec::new(); self.types.len()];
        let mut count = 0;
        for id in order {
            made[id.index()] = self.with_inherited(id, &made);
            count += made[id.index()].len();
            if count > FIELDS_MAX {
                let message = format!("more than {FIELDS_MAX} fields, inherited ones counted for each type");
                return self.complain(self.draft(id).span, message);
            }
        }
        for (at, drafts) in made.into_iter().enumerate() {
            let start = self.fields.len() as u32;
            self.fields.extend(drafts);
            self.types[at].ty.fields = start..self.fields.len() as u32;
        }
        self.link_origins();
        self.members();
        for id in self.type_ids() {
            self.ids(id);
        }
    }

    /// All types, each after its interfaces; sets [`crate::model::Type::interfaces`]. Circles are complained of.
    fn interfaces_first(&mut self) -> Vec<TypeId> {
        let mut order: Vec<TypeId> = Vec::new();
        let mut done = vec![false; self.types.len()];
        loop {
            let before = order.len();
            for id in self.type_ids() {
                let ready = self.draft(id).interfaces.iter().all(|interface| done[interface.index()]);
                if ready && !done[id.index()] {
                    done[id.index()] = true;
                    order.push(id);
                    self.all_interfaces(id);
                }
            }
            if order.len() == before {
                break;
            }
        }
        let circle: Vec<TypeId> = self.type_ids().filter(|id| !done[id.index()]).collect();
        for id in circle {
            let name = self.draft(id).ty.name.clone();
            self.complain(self.draft(id).span, format!("`{name}` implements itself, through its interfaces"));
        }
        order
    }

    /// The interfaces of `id`, whose own are known, with theirs.
    fn all_interfaces(&mut self, id: TypeId) {
        let mut all: Vec<TypeId> = Vec::new();
        for &interface in &self.draft(id).interfaces {
            for found in [interface].iter().chain(&self.draft(interface).ty.interfaces) {
                if !all.contains(found) {
                    all.push(*found);
                }
            }
        }
        self.types[id.index()].ty.interfaces = all;
    }

    /// The fields of `id`: those of its interfaces that it does not repeat, then its own.
    fn with_inherited(&mut self, id: TypeId, made: &[Vec<FieldDraft>]) -> Vec<FieldDraft> {
        let mut own = std::mem::take(&mut self.types[id.index()].own);
        let mut inherited: Vec<FieldDraft> = Vec::new();
        for interface in self.draft(id).interfaces.clone() {
            for draft in &made[interface.index()] {
                let same = |it: &&mut FieldDraft| it.field.name == draft.field.name;
                if let Some(repeated) = own.iter_mut().find(same) {
                    self.repeat(repeated, draft, interface);
                } else if let Some(other) = inherited.iter().find(|it| it.field.name == draft.field.name) {
                    self.meet(id, other, draft);
                } else {
                    let mut copy = draft.clone();
                    copy.field.owner = id;
                    (copy.origin, copy.inverse) = (Some(interface), None);
                    inherited.push(copy);
                }
            }
        }
        inherited.append(&mut own);
        inherited
    }

    /// A field that stands in a type although its interface has it: it has to be the same.
    fn repeat(&mut self, own: &mut FieldDraft, inherited: &FieldDraft, interface: TypeId) {
        let ours = &own.field;
        let theirs = &inherited.field;
        let owner = &self.draft(interface).ty.name;
        if !same_type(own, inherited) {
            let message = format!(
                "`{}` is of another type in `{owner}`: make them equal, or remove it here",
                ours.name
            );
            return self.complain_of(both(own, inherited), message);
        }
        let differs = (own.written.key && ours.key != theirs.key)
            || (own.written.search && ours.search != theirs.search)
            || (own.written.default
                && (&ours.default_add, &ours.default_update)
                    != (&theirs.default_add, &theirs.default_update));
        if differs {
            let message = format!(
                "`{}` is a field of `{owner}`, whose `@id`, `@search` and `@default` count for all its types: write them there",
                ours.name
            );
            self.complain_of(both(own, inherited), message);
        }
        let known = own.origin.is_some() && own.root != inherited.root;
        if known && !may_meet(own) {
            return self.complain_of(both(own, inherited), in_two_interfaces(&own.field.name));
        }
        if own.origin.is_none() {
            (own.origin, own.root) = (Some(interface), inherited.root);
        }
        own.field.key = theirs.key;
        own.field.search.clone_from(&theirs.search);
        own.field.default_add.clone_from(&theirs.default_add);
        own.field.default_update.clone_from(&theirs.default_update);
        own.field.deprecated = own.field.deprecated.take().or_else(|| theirs.deprecated.clone());
        own.field.renamed_from = own.field.renamed_from.take().or_else(|| theirs.renamed_from.clone());
        if own.field.description.is_empty() {
            own.field.description.clone_from(&theirs.description);
        }
    }

    /// A field that a type inherits from two interfaces: they have to agree.
    fn meet(&mut self, id: TypeId, one: &FieldDraft, other: &FieldDraft) {
        let rules = |it: &FieldDraft| {
            let field = &it.field;
            (field.key, field.search.clone(), field.default_add.clone(), field.default_update.clone())
        };
        let agree = same_type(one, other) && rules(one) == rules(other);
        let name = &one.field.name;
        let message = if one.root == other.root || (agree && may_meet(one)) {
            return;
        } else if agree {
            in_two_interfaces(name)
        } else {
            let owner = &self.draft(id).ty.name;
            format!(
                "`{owner}` inherits two fields `{name}` that differ: rename one of them, or make them equal"
            )
        };
        let spans = vec![self.draft(id).span, one.span, other.span];
        self.complain_of(spans, message);
    }

    /// Turns origins into the ids of fields.
    fn link_origins(&mut self) {
        for at in 0..self.fields.len() {
            if let Some(interface) = self.fields[at].origin {
                let from = self.find_field(interface, &self.fields[at].field.name);
                self.fields[at].field.inherited_from = from;
            }
        }
    }

    /// The objects that can stand where a type is expected; those of unions are known.
    fn members(&mut self) {
        for id in self.type_ids() {
            if self.draft(id).ty.kind == TypeKind::Object {
                self.types[id.index()].ty.members.push(id);
                for interface in self.draft(id).ty.interfaces.clone() {
                    self.types[interface.index()].ty.members.push(id);
                }
            }
        }
    }

    /// At most one `ID`, and of an object something beside it.
    fn ids(&mut self, id: TypeId) {
        if self.draft(id).ty.kind == TypeKind::Union {
            return;
        }
        let is_id = |draft: &FieldDraft| draft.field.kind == FieldKind::Id;
        let ids: Vec<Span> = self.fields_of(id).filter(|it| is_id(it.1)).map(|it| it.1.span).collect();
        let draft = self.draft(id);
        let name = draft.ty.name.clone();
        if ids.len() > 1 {
            self.complain_of(ids, format!("`{name}` has more than one `ID`: keep one"));
        } else if draft.ty.kind == TypeKind::Object && draft.ty.fields.len() == ids.len() {
            // Fields that could not be read have been complained of.
            let read_all = self.errors.is_empty();
            if read_all {
                let message = format!("`{name}` has nothing to store: give it a field that is no `ID`");
                self.complain(self.draft(id).span, message);
            }
        }
    }
}

/// True if a field of two interfaces can be one field of a type: its values are in a column of the type.
fn may_meet(draft: &FieldDraft) -> bool {
    !draft.field.is_list && !matches!(draft.field.kind, FieldKind::Edge { .. })
}

fn in_two_interfaces(name: &str) -> String {
    format!("two interfaces have `{name}`, and each keeps lists and edges for itself: rename one of them")
}

fn same_type(one: &FieldDraft, other: &FieldDraft) -> bool {
    let shape =
        |it: &FieldDraft| (it.field.kind, it.field.is_list, it.field.is_required, it.field.items_required);
    shape(one) == shape(other)
}
