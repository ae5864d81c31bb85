//! Authorization of the objects of a type: after a step has its values, the objects of each guarded selection are judged at once,
//! and refused ones become null before their children are asked.
//!
//! Objects are met in the order of the rows of their tables, so a verdict belongs to a row.
//!
//! **Invariant:** no key of a refused object, or of one below it, is left in the columns, so nothing below it is asked.
//!
//! **Cost:** plans without a guarded type have none. Others make rows instead of bytes, and one pass over the objects per guarded
//! selection.

use crate::context::Context;
use crate::library::Library;
use crate::resolver::Parents;
use crate::resolver::answers::{Answers, refused_error};
use crate::resolver::object_guard::Guard;
use crate::resolver::parents::{leads, sets_above};
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use weir_engine::memory::{ObjectNumbers, ObjectVisitor, Scope, Spot};
use weir_engine::plan::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use weir_engine::rows::{Bitmap, CellError, Column, Data, Table};
use weir_engine::source::PlanNode;

/// A step reports at most this many refused objects of a selection.
const REFUSED_ERRORS_MAX: usize = 50;

/// A selection whose objects are judged.
pub(crate) struct GuardedSet {
    set: SelectionSetId,
    /// By set: true if the objects stand below it.
    above: Vec<bool>,
    guard: Arc<Guard>,
}

/// The guarded ones among the selections `sets` of a step.
pub(crate) fn guarded_sets(
    library: &Library,
    node: &PlanNode<'_>,
    sets: impl Iterator<Item = SelectionSetId>,
) -> Vec<GuardedSet> {
    let guards = &library.parts.type_guards;
    if guards.is_empty() {
        return Vec::new();
    }
    let guarded = sets.filter_map(|set| {
        let on = node.output.set(set).on;
        let guard = node.ids.has_type(on).then(|| guards.get(&node.ids.ty(on)))??;
        Some(GuardedSet { set, above: sets_above(node.output, set), guard: Arc::clone(guard) })
    });
    guarded.collect()
}

/// Judges the objects of all guarded selections below a member with the values `answers`, of which `column` was made.
pub(crate) fn judge(
    guarded: &[GuardedSet],
    answers: &dyn Answers,
    spot: Spot<'_>,
    scope: Scope<'_>,
    context: &Context,
    column: &mut Column,
) {
    for guarded_set in guarded {
        if !leads(scope.output(), spot.output_field.member, |it| {
            it == guarded_set.set || guarded_set.above[it.0 as usize]
        }) {
            continue;
        }
        let numbers = ObjectNumbers::default();
        let verdicts = RefCell::default();
        let visitor = Judging { guarded_set, context, verdicts };
        answers.column(spot, scope.with_numbers(&numbers).with_visitor(&visitor));
        let verdicts = visitor.verdicts.into_inner();
        if verdicts.contains(&false) {
            Refusing { guarded_set, output: scope.output(), verdicts, next: 0 }
                .column(spot.output_field.member, column);
        }
    }
}

/// Asks the guard of the objects of a selection.
struct Judging<'j> {
    guarded_set: &'j GuardedSet,
    context: &'j Context,
    /// By row of the tables of the selection; true where there is no object.
    verdicts: RefCell<Vec<bool>>,
}

impl ObjectVisitor for Judging<'_> {
    fn is_target(&self, set: SelectionSetId) -> bool {
        set == self.guarded_set.set
    }
    fn is_above(&self, set: SelectionSetId) -> bool {
        self.guarded_set.above[set.0 as usize]
    }
    fn visit(&self, _: u32, objects: &[Option<&dyn Any>]) {
        let present: Vec<&dyn Any> = objects.iter().copied().flatten().collect();
        let allowed = if present.is_empty() {
            Vec::new()
        } else {
            (self.guarded_set.guard)(Parents::Objects(&present), self.context).unwrap_or_default()
        };
        let mut allowed = allowed.into_iter();
        let verdict = |object: &Option<&dyn Any>| object.is_none() || allowed.next() == Some(true);
        self.verdicts.borrow_mut().extend(objects.iter().map(verdict));
    }
}

/// Makes refused objects null.
struct Refusing<'r> {
    guarded_set: &'r GuardedSet,
    output: &'r OutputPlan,
    verdicts: Vec<bool>,
    /// Verdict of the first row of the next table.
    next: usize,
}

impl Refusing<'_> {
    fn column(&mut self, member: OutputKind, column: &mut Column) {
        match (&mut column.data, member) {
            (Data::List { items, .. }, _) => self.column(member, items),
            (Data::Object(table), OutputKind::Object(set)) => {
                let refused = self.table(set, table);
                refuse(column, refused.into_iter());
            }
            (Data::Abstract(variants), OutputKind::Abstract(choice)) => {
                let mut rows = Vec::new();
                for (ty, table) in &mut variants.tables {
                    let Some(set) = self.output.set_for_type(choice, *ty) else { continue };
                    let refused = self.table(set, table);
                    let places = variants.types.iter().zip(&variants.places).enumerate();
                    let places = places
                        .filter(|(_, (object_type, place))| *object_type == ty && refused.contains(place));
                    rows.extend(places.map(|it| it.0 as u32));
                }
                rows.retain(|it| !column.nulls.get(*it as usize));
                rows.sort_unstable();
                refuse(column, rows.into_iter());
            }
            _ => {}
        }
    }

    /// The refused rows of a table, which have no keys any more.
    fn table(&mut self, set: SelectionSetId, table: &mut Table) -> Vec<u32> {
        if set != self.guarded_set.set {
            if self.guarded_set.above[set.0 as usize] {
                let members = self.output.members(set).iter().zip(&mut table.columns);
                let members = members.filter(|it| it.0.same_as.is_none());
                members.for_each(|(output_field, column)| self.column(output_field.member, column));
            }
            return Vec::new();
        }
        let first = self.next;
        self.next += table.rows as usize;
        let is_refused = |row: &u32| self.verdicts.get(first + *row as usize) == Some(&false);
        let refused: Vec<u32> = (0..table.rows).filter(is_refused).collect();
        let mut rows = Bitmap::default();
        refused.iter().for_each(|it| rows.set(*it as usize));
        blank(table, &rows);
        refused
    }
}

fn refuse(column: &mut Column, rows: impl Iterator<Item = u32>) {
    let mut reported = 0;
    for row in rows {
        column.nulls.set(row as usize);
        if reported < REFUSED_ERRORS_MAX {
            column.errors.push(CellError { row, error: refused_error() });
            reported += 1;
        }
    }
    column.errors.sort_by_key(|it| it.row);
}

/// Takes the keys and errors of `rows`, and of all that stands below them.
fn blank(table: &mut Table, rows: &Bitmap) {
    table.columns.iter_mut().chain(&mut table.hidden).for_each(|it| blank_column(it, rows));
}

fn blank_column(column: &mut Column, rows: &Bitmap) {
    column.nulls = column.nulls.union(rows);
    column.errors.retain(|it| !rows.get(it.row as usize));
    match &mut column.data {
        Data::List { offsets, items } => {
            let mut below = Bitmap::default();
            let ranges = offsets.windows(2).enumerate().filter(|it| rows.get(it.0));
            ranges.for_each(|(_, range)| (range[0]..range[1]).for_each(|it| below.set(it as usize)));
            blank_column(items, &below);
        }
        Data::Object(table) => blank(table, rows),
        Data::Abstract(variants) => {
            for (ty, table) in &mut variants.tables {
                let mut below = Bitmap::default();
                let places = variants.types.iter().zip(&variants.places).enumerate();
                let places = places.filter(|(row, (object_type, _))| *object_type == ty && rows.get(*row));
                places.for_each(|(_, (_, place))| below.set(*place as usize));
                blank(table, &below);
            }
        }
        Data::Empty
        | Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Text(_)
        | Data::Json(_)
        | Data::Foreign(_) => {}
    }
}
