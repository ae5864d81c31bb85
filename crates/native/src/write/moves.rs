//! What a mutation may not take away by giving it to another: the partner that an object has by a one-to-one edge.
//!
//! Setting such an edge takes both objects from those that had them. Where the edge of one of these has to lead
//! somewhere, the mutation gives it another partner or is refused. Partners that the mutation itself set are known; those
//! of the store are asked for.
//!
//! **Invariant:** after an add or an update every one-to-one edge with `!` that led somewhere still does; only a delete
//! empties one.
//!
//! **Cost:** nothing but for one-to-one edges with `!`; then a question for each type, edge and partner that is named.

use super::Writes;
use super::change::{End, bound};
use super::facts::{Side, copy, side};
use super::object::{Content, Object};
use super::refusal::Refusal;
use super::sentence::{ColumnIds, Kind, Rows, Same};
use crate::model::{FieldId, FieldKind, Model, TypeId};
use hashbrown::HashMap;
use weir_sql::relational::program::{Answers, Asked, Value};

/// One end of an edge: of which type, and by which field of that type.
#[derive(Clone, Copy, Debug)]
struct Half {
    ty: TypeId,
    field: FieldId,
    /// The object at the other end; nothing if that was given to another.
    to: Option<i64>,
}

/// Objects whose partners in the store are taken from them.
#[derive(Debug)]
struct Taken {
    ty: TypeId,
    field: FieldId,
    ids: Vec<i64>,
    /// Only this partner is.
    only: Option<i64>,
    /// How many questions that were: one for each type that partners can be of.
    asked: usize,
}

/// See the module's words.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// In the order in which they were set first.
    halves: Vec<Half>,
    /// Their places, by object and field.
    places: HashMap<(i64, FieldId), u32, foldhash::fast::RandomState>,
    taken: Vec<Taken>,
}

/// The other side of the edge `field`, if both lead to one object and one of them has to.
fn back(model: &Model, field: FieldId) -> Option<FieldId> {
    let of = model.field(field);
    let FieldKind::Edge { inverse: Some(inverse), .. } = of.kind else { return None };
    let other = model.field(inverse);
    let is_one_to_one = !of.is_list && !other.is_list;
    (is_one_to_one && (of.is_required || other.is_required)).then_some(inverse)
}

impl Moves {
    /// The edge `field` of `from` now leads to `to`.
    pub(super) fn set(&mut self, model: &Model, from: End, field: FieldId, to: End) {
        let Some(inverse) = back(model, field) else { return };
        let inverse = copy(model, inverse, to.ty);
        self.put(model, from, field, to.id);
        self.put(model, to, inverse, from.id);
    }

    fn put(&mut self, model: &Model, of: End, field: FieldId, to: i64) {
        let next = self.halves.len() as u32;
        let place = *self.places.entry((of.id, field)).or_insert(next);
        if place == next {
            self.halves.push(Half { ty: of.ty, field, to: Some(to) });
            if of.row.is_none() {
                self.take(model, (of.id, of.ty), field, None);
            }
            return;
        }
        let old = self.halves[place as usize].to.replace(to);
        if let Some(old) = old.filter(|it| *it != to) {
            self.lose(model, old, field, of.id);
        }
    }

    /// The other side of `field` no longer leads from `id` to `to`.
    fn lose(&mut self, model: &Model, id: i64, field: FieldId, to: i64) {
        if let Some(half) = self.half(model, id, field).map(|at| &mut self.halves[at])
            && half.to == Some(to)
        {
            half.to = None;
        }
    }

    /// The end at `id`, of whatever type, of the edge whose other end is `field`; as far as something was said of it.
    fn half(&self, model: &Model, id: i64, field: FieldId) -> Option<usize> {
        let FieldKind::Edge { to, inverse: Some(inverse) } = model.field(field).kind else { return None };
        let mut own = model.ty(to).members.iter().map(|it| copy(model, inverse, *it));
        own.find_map(|it| self.places.get(&(id, it))).map(|it| *it as usize)
    }

    /// Whoever the store says is at the other end loses this object; of interest if that may not be.
    fn take(&mut self, model: &Model, (id, ty): (i64, TypeId), field: FieldId, only: Option<i64>) {
        let is_held = back(model, field).is_some_and(|it| model.field(it).is_required);
        if !is_held {
            return;
        }
        match self.taken.iter_mut().find(|it| (it.field, it.only) == (field, only)) {
            Some(taken) => taken.ids.push(id),
            None => self.taken.push(Taken { ty, field, ids: vec![id], only, asked: 0 }),
        }
    }

    /// What the patch `remove` takes from the objects `ids` of one type, after `set` gave them what it gives.
    pub(super) fn cut(
        &mut self,
        model: &Model,
        (ty, ids): (TypeId, &[i64]),
        (remove, set): (&Object, Option<&Object>),
        ends: &dyn Fn(u32) -> Option<End>,
    ) {
        for (field, content) in &remove.fields {
            let own = copy(model, *field, ty);
            // What has to be there itself is refused in any case.
            if back(model, own).is_none() || model.field(own).is_required {
                continue;
            }
            let is_set = set.is_some_and(|set| set.fields.iter().any(|it| it.0 == *field));
            let named: Vec<Option<i64>> = match content {
                Content::Edges(edges) if !is_set => {
                    edges.iter().filter_map(|it| ends(*it)).map(|it| Some(it.id)).collect()
                }
                // What is set and removed at once is gone, whatever it was.
                Content::Edges(_) | Content::Null | Content::Columns(_) | Content::Items(_) => vec![None],
            };
            for only in named {
                ids.iter().for_each(|id| self.cut_one(model, (*id, ty), own, only));
            }
        }
    }

    fn cut_one(&mut self, model: &Model, of: (i64, TypeId), field: FieldId, only: Option<i64>) {
        let Some(place) = self.places.get(&(of.0, field)) else { return self.take(model, of, field, only) };
        let half = &mut self.halves[*place as usize];
        if let Some(to) = half.to.filter(|to| only.is_none_or(|it| it == *to)) {
            half.to = None;
            self.lose(model, to, field, of.0);
        }
    }

    /// Asks for the partners in the store that lose theirs.
    pub(super) fn ask(&mut self, writes: &Writes, asked: &mut Vec<Asked>) {
        let (model, layout) = (writes.model(), &writes.layout);
        for taken in &mut self.taken {
            let FieldKind::Edge { to, .. } = model.field(taken.field).kind else { continue };
            let mut sides: Vec<(TypeId, Side)> = Vec::new();
            for target in &model.ty(to).members {
                let found = side(model, layout, taken.field, *target);
                // Our own column is one, whatever it points at.
                sides.extend(
                    found.filter(|it| sides.iter().all(|known| known.1 != *it)).map(|it| (*target, it)),
                );
            }
            for (target, side) in sides {
                let (holder, column, is_ours) = match side {
                    Side::Ours(by) => (taken.ty, by.column, true),
                    Side::Theirs(by) => (target, by.column, false),
                    Side::Pairs { .. } => continue,
                };
                let (table, id) = (layout.tables[holder.index()], layout.ids[holder.index()]);
                let (by, partner) = if is_ours { (id, column) } else { (column, id) };
                let (many, bound) = bound(&taken.ids);
                let and = taken.only.map(|_| (partner, Same::Equal)).into_iter().collect();
                let shown = ColumnIds::from_slice(&[partner]);
                let kind = Kind::Find { table, shown, rows: Rows { by, many, and } };
                asked.push(writes.asked(kind, [bound].into_iter().chain(taken.only.map(Value::Int))));
                taken.asked += 1;
            }
        }
    }

    /// Refuses what would be left without a partner. Answers begin at statement `first`.
    pub(super) fn check(&self, model: &Model, answers: &Answers, first: usize) -> Result<(), Refusal> {
        let refusal = |ty: TypeId, field: FieldId| Refusal::Required {
            ty: model.ty(ty).name.clone(),
            field: model.field(field).name.clone(),
        };
        let is_left = |it: &&Half| it.to.is_none() && model.field(it.field).is_required;
        if let Some(left) = self.halves.iter().find(is_left) {
            return Err(refusal(left.ty, left.field));
        }
        let mut at = first;
        for taken in &self.taken {
            let FieldKind::Edge { to, inverse: Some(inverse) } = model.field(taken.field).kind else {
                continue;
            };
            for cell in (at..at + taken.asked).flat_map(|it| answers.cells(it)) {
                // One of which more is known has a partner still, or was refused above.
                if cell.int().is_some_and(|it| self.half(model, it, taken.field).is_none()) {
                    return Err(refusal(to, inverse));
                }
            }
            at += taken.asked;
        }
        Ok(())
    }
}
