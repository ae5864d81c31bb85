//! What `remove` may not take out of a list: an object whose edge back has to lead somewhere. Edges that are one-to-one are
//! those of `moves`.
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
use weir_sql::relational::program::{Answers, Asked, Value};

/// The questions that were asked: what it means when one of them finds something.
#[derive(Debug, Default)]
pub(super) struct Guards(Vec<Refusal>);

impl Guards {
    /// Asks what `patch` would empty of the objects at the other ends of lists of `groups`. `ends` are the objects that it names.
    pub(super) fn new(
        writes: &Writes,
        groups: &[(TypeId, Vec<i64>)],
        patch: &Object,
        ends: &dyn Fn(u32) -> Option<End>,
        asked: &mut Vec<Asked>,
    ) -> Self {
        let mut guards = Self::default();
        let model = writes.model();
        for (ty, ids) in groups {
            for (field, content) in &patch.fields {
                let own = copy(model, *field, *ty);
                let FieldKind::Edge { to, .. } = model.field(own).kind else { continue };
                if !model.field(own).is_list {
                    continue;
                }
                match content {
                    Content::Edges(edges) => {
                        let named = edges.iter().filter_map(|it| ends(*it));
                        named.for_each(|end| guards.ask(writes, (own, ids), end.ty, Some(end.id), asked));
                    }
                    Content::Null => {
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
        let Some(Side::Theirs(by)) = side(model, layout, field, target) else { return };
        let (table, id) = (layout.tables[target.index()], layout.ids[target.index()]);
        let (many, bound) = bound(ids);
        let and = to.map(|_| (id, Same::Equal)).into_iter().collect();
        let rows = Rows { by: by.column, many, and };
        let kind = Kind::Find { table, shown: ColumnIds::from_slice(&[id]), rows };
        asked.push(writes.asked(kind, [bound].into_iter().chain(to.map(Value::Int))));
        self.0.push(Refusal::Required { ty: model.ty(target).name.clone(), field: theirs.name.clone() });
    }

    /// How many questions there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Refuses what would be emptied.
    pub(super) fn check(&self, answers: &Answers) -> Result<(), Refusal> {
        let is_found = |at: &usize| !answers.cells(*at).is_empty();
        (0..self.0.len()).find(is_found).map_or(Ok(()), |at| Err(self.0[at].clone()))
    }
}
