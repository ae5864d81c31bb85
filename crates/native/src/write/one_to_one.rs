//! Required to-one edges: a mutation must not leave one without a target.
//!
//! Setting a one-to-one edge takes both objects from their former partners; `remove` takes objects out of to-one and
//! to-many edges. If an inverse edge is required, the mutation gives it another partner or is refused. Partners that
//! the mutation itself sets are known; others are queried.
//!
//! **Invariant:** after an add or an update every to-one edge with `!` that led somewhere still does; only a delete
//! empties one.
//!
//! **Cost:** nothing but for edges with `!`; then a question for each type, edge and partner that is named.

use super::Writes;
use super::change::{End, bind_ids};
use super::object::{Content, InputObject};
use super::refusal::MutationRefusal;
use super::statement::{RowCondition, TemplateKey};
use super::type_info::{EdgeStorage, copy, side};
use crate::layout::ColumnIds;
use crate::model::{FieldId, FieldKind, Model, TypeId};
use hashbrown::HashMap;
use weir_database::frontend::program::{Answers, BoundStatement, Value};
use weir_relational::plan::operators::Comparison;

/// The end of an edge that leads to one object: of which type, and by which field of that type.
#[derive(Clone, Copy, Debug)]
struct Half {
    ty: TypeId,
    field: FieldId,
    /// The object at the other end; nothing if that was given to another or taken away.
    to: Option<i64>,
}

/// An edge of the objects of a type.
#[derive(Clone, Copy, Debug)]
struct EdgeOf {
    ty: TypeId,
    field: FieldId,
}

/// Objects whose partners in the store are taken from them.
#[derive(Debug)]
struct Taken {
    edge: EdgeOf,
    /// Object numbers, see [`bind_ids`].
    ids: (bool, Value),
    /// Only this partner is.
    only: Option<End>,
}

/// A question for partners that lose theirs: the edge they are at the other end of, and the type and field that have to lead
/// somewhere.
#[derive(Clone, Copy, Debug)]
struct PartnerQuestion {
    field: FieldId,
    blamed: EdgeOf,
}

/// The required one-to-one edges that a mutation touches.
#[derive(Debug, Default)]
pub(super) struct OneToOne {
    /// Objects are taken out of lists too, so that the edges back from those are followed.
    removes: bool,
    /// In the order in which they were set first.
    halves: Vec<Half>,
    /// Indexes into `halves`, by object and field.
    places: HashMap<(i64, FieldId), u32, foldhash::fast::RandomState>,
    /// Objects that lose the partner that they have in the store, by type and field.
    losing: Vec<(EdgeOf, Vec<i64>)>,
    taken: Vec<Taken>,
    questions: Vec<PartnerQuestion>,
}

/// True if `field` is a required edge to one object.
fn is_held(model: &Model, field: FieldId) -> bool {
    let of = model.field(field);
    of.is_required && !of.is_list
}

impl OneToOne {
    /// `removes`: true if the mutation takes objects out of edges.
    pub(super) fn new(removes: bool) -> Self {
        Self { removes, ..Self::default() }
    }

    /// The other side of the edge `field`, if one of the two has to lead to one object, and can be emptied by this mutation.
    fn find_inverse(&self, model: &Model, field: FieldId) -> Option<FieldId> {
        let of = model.field(field);
        let FieldKind::Edge { inverse: Some(inverse), .. } = of.kind else { return None };
        let is_one_to_one = !of.is_list && !model.field(inverse).is_list;
        let is_of_interest = is_held(model, field) || is_held(model, inverse);
        ((is_one_to_one || self.removes) && is_of_interest).then_some(inverse)
    }

    /// The edge `field` of `from` now leads to `to`.
    pub(super) fn set(&mut self, model: &Model, from: End, field: FieldId, to: End) {
        let Some(inverse) = self.find_inverse(model, field) else { return };
        let inverse = copy(model, inverse, to.ty);
        self.put(model, from, field, to.id);
        self.put(model, to, inverse, from.id);
    }

    fn put(&mut self, model: &Model, of: End, field: FieldId, to: i64) {
        if model.field(field).is_list {
            return;
        }
        let next = self.halves.len() as u32;
        let place = *self.places.entry((of.id, field)).or_insert(next);
        if place == next {
            self.halves.push(Half { ty: of.ty, field, to: Some(to) });
            if of.row.is_none() && self.is_held_back(model, field) {
                self.take(EdgeOf { ty: of.ty, field }, of.id);
            }
            return;
        }
        let old = self.halves[place as usize].to.replace(to);
        if let Some(old) = old.filter(|it| *it != to) {
            self.lose(model, old, field, of.id);
        }
    }

    /// True if the other side of `field` is required.
    fn is_held_back(&self, model: &Model, field: FieldId) -> bool {
        self.find_inverse(model, field).is_some_and(|it| is_held(model, it))
    }

    /// The other side of `field` no longer leads from `id` to `to`.
    fn lose(&mut self, model: &Model, id: i64, field: FieldId, to: i64) {
        if let Some(half) = self.half(model, id, field).map(|at| &mut self.halves[at])
            && half.to == Some(to)
        {
            half.to = None;
        }
    }

    /// Index of the known half at `id`, of any type, of the edge whose other end is `field`.
    fn half(&self, model: &Model, id: i64, field: FieldId) -> Option<usize> {
        let FieldKind::Edge { to, inverse: Some(inverse) } = model.field(field).kind else { return None };
        let mut own = model.ty(to).members.iter().map(|it| copy(model, inverse, *it));
        own.find_map(|it| self.places.get(&(id, it))).map(|it| *it as usize)
    }

    /// Records that the partner in the store at the other end of `field` loses the object `id`.
    fn take(&mut self, edge: EdgeOf, id: i64) {
        match self.losing.iter_mut().find(|it| it.0.field == edge.field) {
            Some(losing) => losing.1.push(id),
            None => self.losing.push((edge, vec![id])),
        }
    }

    /// Applies the patch `remove` to the objects `ids` of one type, after `set`.
    pub(super) fn apply_remove(
        &mut self,
        model: &Model,
        ty: TypeId,
        ids: &[i64],
        remove: &InputObject,
        ends: &dyn Fn(u32) -> Option<End>,
    ) {
        for (field, content) in &remove.fields {
            let own = copy(model, *field, ty);
            // An edge that has to be there itself is refused where it stands in the patch.
            if is_held(model, own) || !self.is_held_back(model, own) {
                continue;
            }
            let named: Vec<Option<End>> = match content {
                Content::Edges(edges) => edges.iter().filter_map(|it| ends(*it)).map(Some).collect(),
                Content::Null => vec![None],
                Content::Columns(_) | Content::Items(_) => continue,
            };
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            let bound = bind_ids(&sorted);
            for only in named {
                if model.field(own).is_list {
                    if self.cut_many(model, EdgeOf { ty, field: own }, &sorted, only) {
                        self.taken.push(Taken { edge: EdgeOf { ty, field: own }, ids: bound.clone(), only });
                    }
                } else {
                    self.cut_one(model, EdgeOf { ty, field: own }, &sorted, only)
                }
            }
        }
    }

    /// The edge `field`, to one object, of the objects `ids` is cut: from `only`, or from whatever it leads to.
    fn cut_one(&mut self, model: &Model, edge: EdgeOf, ids: &[i64], only: Option<End>) {
        let mut unknown = Vec::new();
        for id in ids {
            let Some(place) = self.places.get(&(*id, edge.field)) else {
                unknown.push(*id);
                continue;
            };
            let half = &mut self.halves[*place as usize];
            if let Some(to) = half.to.filter(|to| only.is_none_or(|it| it.id == *to)) {
                half.to = None;
                self.lose(model, to, edge.field, *id);
            }
        }
        if !unknown.is_empty() {
            self.taken.push(Taken { edge, ids: bind_ids(&unknown), only });
        }
    }

    /// The list `field` of the objects `ids`, which are sorted, loses `only`, or all. Whether the store has to be asked too.
    fn cut_many(&mut self, model: &Model, edge: EdgeOf, ids: &[i64], only: Option<End>) -> bool {
        let EdgeOf { ty, field } = edge;
        let is_ours = |half: &Half| half.to.is_some_and(|it| ids.binary_search(&it).is_ok());
        if let Some(only) = only {
            let known = self.half(model, only.id, field);
            if let Some(half) = known.map(|it| &mut self.halves[it]).filter(|it| is_ours(it)) {
                half.to = None;
            }
            return known.is_none();
        }
        for half in &mut self.halves {
            let FieldKind::Edge { inverse: Some(inverse), .. } = model.field(half.field).kind else {
                continue;
            };
            if copy(model, inverse, ty) == field && is_ours(half) {
                half.to = None;
            }
        }
        true
    }

    /// Asks for the partners in the store that lose theirs.
    pub(super) fn ask(&mut self, writes: &Writes, asked: &mut Vec<BoundStatement>) {
        for (edge, ids) in std::mem::take(&mut self.losing) {
            self.taken.push(Taken { edge, ids: bind_ids(&ids), only: None });
        }
        for taken in std::mem::take(&mut self.taken) {
            self.ask_of(writes, &taken, asked);
        }
    }

    fn ask_of(&mut self, writes: &Writes, taken: &Taken, asked: &mut Vec<BoundStatement>) {
        let model = writes.model();
        let layout = &writes.layout;
        let FieldKind::Edge { to, inverse: Some(inverse) } = model.field(taken.edge.field).kind else {
            return;
        };
        let mut sides: Vec<(TypeId, EdgeStorage)> = Vec::new();
        for target in &model.ty(to).members {
            let found = side(model, layout, taken.edge.field, *target);
            // Our own column is one, whatever it points at.
            sides.extend(found.filter(|it| sides.iter().all(|known| known.1 != *it)).map(|it| (*target, it)));
        }
        let (many, ids) = &taken.ids;
        for (target, side) in sides {
            let (holder, column, is_ours) = match side {
                EdgeStorage::Ours(by) => (taken.edge.ty, by.column, true),
                EdgeStorage::Theirs(by) if taken.only.is_none_or(|it| it.ty == target) => {
                    (target, by.column, false)
                }
                EdgeStorage::Theirs(_) | EdgeStorage::Pairs { .. } => continue,
            };
            let table = layout.tables[holder.index()];
            let id = layout.ids[holder.index()];
            let (by, partner) = if is_ours { (id, column) } else { (column, id) };
            let and = taken.only.map(|_| (partner, Comparison::Eq)).into_iter().collect();
            let rows = RowCondition { by, many: *many, and };
            let kind = TemplateKey::Find { table, columns: ColumnIds::from_slice(&[partner]), rows };
            let only = taken.only.map(|it| Value::Int(it.id));
            asked.push(writes.bind_statement(kind, [ids.clone()].into_iter().chain(only)));
            let blamed = if is_ours {
                EdgeOf { ty: to, field: inverse }
            } else {
                EdgeOf { ty: target, field: copy(model, inverse, target) }
            };
            self.questions.push(PartnerQuestion { field: taken.edge.field, blamed });
        }
    }

    /// Refuses objects that would be left without a partner; returns their type too. `answers` belong to all questions asked.
    pub(super) fn check(&self, model: &Model, answers: &Answers) -> Result<(), (TypeId, MutationRefusal)> {
        let refusal = |edge: EdgeOf| {
            let name = model.ty(edge.ty).name.clone();
            let field = model.field(edge.field).name.clone();
            (edge.ty, MutationRefusal::Required { ty: name, field })
        };
        let is_left = |it: &&Half| it.to.is_none() && is_held(model, it.field);
        if let Some(left) = self.halves.iter().find(is_left) {
            return Err(refusal(EdgeOf { ty: left.ty, field: left.field }));
        }
        for (at, question) in self.questions.iter().enumerate() {
            for cell in answers.cells(at) {
                // An object among `halves` has another partner, or was refused above.
                if cell.int().is_some_and(|it| self.half(model, it, question.field).is_none()) {
                    return Err(refusal(question.blamed));
                }
            }
        }
        Ok(())
    }
}
