//! What `remove` may not take away: the edge of an object at the other end that has to have one.
//!
//! An edge of the objects that are changed is refused where it stands in the patch; what stands at its other end is known
//! to the store alone, so it is asked for.
//!
//! **Invariant:** after an update every edge with `!` that led somewhere still does; only a delete empties one.
//!
//! **Cost:** nothing but for edges whose other side has to be there; then a question for each object that is named.

use super::Writes;
use super::change::{End, bound};
use super::facts::{Side, copy, side};
use super::object::{Content, Object};
use super::refusal::Refusal;
use super::sentence::{ColumnIds, Kind, Rows, Same};
use crate::model::{FieldId, FieldKind, TypeId};
use weir_sql::catalog::{ColumnId, TableId};
use weir_sql::relational::program::{Answers, Asked, Cell, Value};

/// The questions that were asked: what it means when one of them finds something.
#[derive(Debug, Default)]
pub(super) struct Guards(Vec<Refusal>);

impl Guards {
    /// Asks what the first patch would empty of the objects at the other ends of edges of `groups`, where the second one sets what it
    /// gives. `ends` are the objects that they name.
    pub(super) fn new(
        writes: &Writes,
        groups: &[(TypeId, Vec<i64>)],
        (patch, set): (&Object, Option<&Object>),
        ends: &dyn Fn(u32) -> Option<End>,
        asked: &mut Vec<Asked>,
    ) -> Self {
        let mut guards = Self::default();
        let model = writes.model();
        for (ty, ids) in groups {
            for (field, content) in &patch.fields {
                let own = copy(model, *field, *ty);
                let FieldKind::Edge { to, .. } = model.field(own).kind else { continue };
                let is_set = set.is_some_and(|set| set.fields.iter().any(|it| it.0 == *field));
                match content {
                    // What is set and removed at once is gone, whatever it was.
                    Content::Edges(edges) if model.field(own).is_list || !is_set => {
                        let named = edges.iter().filter_map(|it| ends(*it));
                        named.for_each(|end| guards.ask(writes, (own, ids), end.ty, Some(end.id), asked));
                    }
                    Content::Edges(_) | Content::Null => {
                        let members = model.ty(to).members.iter();
                        members.for_each(|target| guards.ask(writes, (own, ids), *target, None, asked));
                    }
                    Content::Columns(_) | Content::Items(_) => {}
                }
            }
        }
        guards
    }

    /// Asks for the edges between `ids` and objects of `target`, or `to` alone, if those have to be there.
    fn ask(
        &mut self,
        writes: &Writes,
        (field, ids): (FieldId, &[i64]),
        target: TypeId,
        to: Option<i64>,
        asked: &mut Vec<Asked>,
    ) {
        let (model, layout) = (writes.model(), &writes.layout);
        let FieldKind::Edge { inverse: Some(inverse), .. } = model.field(field).kind else { return };
        let theirs = model.field(copy(model, inverse, target));
        if !theirs.is_required || theirs.is_list {
            return;
        }
        let at = |ty: TypeId| (layout.tables[ty.index()], layout.ids[ty.index()]);
        let ((table, id), column, by_id) = match side(model, layout, field, target) {
            Some(Side::Theirs(by)) => (at(target), by.column, false),
            Some(Side::Ours(by)) => (at(model.field(field).owner), by.column, true),
            Some(Side::Pairs { .. }) | None => return,
        };
        let (by, and) = if by_id { (id, column) } else { (column, id) };
        asked.push(question(writes, table, column, (by, ids), (and, to)));
        self.0.push(Refusal::Required { ty: model.ty(target).name.clone(), field: theirs.name.clone() });
    }

    /// Whether there is anything to wait for.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses what would be emptied.
    pub(super) fn check(&self, answers: &Answers) -> Result<(), Refusal> {
        let is_found = |at: &usize| answers.cells(*at).iter().any(|it| *it != Cell::Null);
        (0..self.0.len()).find(is_found).map_or(Ok(()), |at| Err(self.0[at].clone()))
    }
}

fn question(
    writes: &Writes,
    table: TableId,
    shown: ColumnId,
    (by, ids): (ColumnId, &[i64]),
    (and, to): (ColumnId, Option<i64>),
) -> Asked {
    let (many, bound) = bound(ids);
    let rows = Rows { many, and: to.map(|_| (and, Same::Equal)).into_iter().collect(), by };
    let kind = Kind::Find { table, shown: ColumnIds::from_slice(&[shown]), rows };
    writes.asked(kind, [bound].into_iter().chain(to.map(Value::Int)))
}
