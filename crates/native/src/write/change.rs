//! Changes to the store, once every object of the input is resolved: rows inserted and updated, edges set and removed.
//!
//! Edges are set one after another, the last word on a to-one edge counts. Objects that are made come in an order in which
//! every row finds those that it points at, as far as they do not point at each other: such pointers follow when both are
//! there.
//!
//! **Invariant:** a pointer that only one object may have is taken from all others before it is set.
//!
//! **Cost:** linear in the objects and edges of the input.

use super::Writes;
use super::object::{Content, InputObject};
use super::refusal::MutationRefusal;
use super::statement::{RowCondition, TemplateKey};
use super::stored_values::{Columns, ListItem, ValueReader};
use super::type_info::{EdgeStorage, Pointer, copy, side};
use crate::layout::{ColumnIds, Storage};
use crate::model::{FieldId, FieldKind, TypeId};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use weir_database::frontend::program::{BoundStatement, Value};
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::plan::operators::Comparison;

/// An object at one end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) id: i64,
    pub(super) ty: TypeId,
    /// Index among the rows to insert, if the object is new.
    pub(super) row: Option<u32>,
}

/// A row that is made.
struct NewRow {
    end: End,
    /// Values by column of the table.
    values: Vec<Value>,
    /// Places in [`Changes::pointed`].
    points: Vec<u32>,
}

/// A pointer that is set: from, by, to; to nothing if another took it.
struct Pointed {
    from: End,
    by: Pointer,
    to: Option<End>,
    /// The row it is in was made with it.
    is_set: bool,
}

/// The changes of one mutation while they are collected.
pub(super) struct Changes<'w> {
    pub(super) writes: &'w Writes,
    pub(super) reader: ValueReader<'w>,
    asked: &'w mut Vec<BoundStatement>,
    rows: Vec<NewRow>,
    pointed: Vec<Pointed>,
    /// The place of the pointer of an object by a field.
    by_holder: HashMap<(i64, FieldId), u32, foldhash::fast::RandomState>,
    /// The place of the pointer at an object that only one may have.
    by_target: HashMap<(i64, FieldId), u32, foldhash::fast::RandomState>,
    /// Statements that run after all rows exist.
    later: Vec<BoundStatement>,
}

impl<'w> Changes<'w> {
    pub(super) fn new(writes: &'w Writes, now_us: i64, asked: &'w mut Vec<BoundStatement>) -> Self {
        let reader = ValueReader { api: &writes.api, now_us };
        let by_holder = HashMap::default();
        let by_target = HashMap::default();
        Self {
            writes,
            reader,
            asked,
            rows: Vec::new(),
            pointed: Vec::new(),
            by_holder,
            by_target,
            later: Vec::new(),
        }
    }

    /// A row for `object`, which is made with the number `id`.
    pub(super) fn make(&mut self, object: &InputObject, id: i64) -> Result<(), MutationRefusal> {
        let layout = &self.writes.layout;
        let model = self.writes.model();
        let ty = object.ty;
        let table = layout.relations.catalog.table(layout.tables[ty.index()]);
        let mut values = vec![Value::Null; table.columns.len()];
        values[layout.ids[ty.index()].0 as usize] = Value::Int(id);
        for (field, of) in model.fields_of(ty) {
            let given = object.fields.iter().any(|it| it.0 == field);
            if let Some(default) = of.default_add.as_ref().filter(|_| !given) {
                let columns = self.reader.default(of, &layout.fields[field.index()], default)?;
                columns.into_iter().for_each(|(column, value)| values[column.0 as usize] = value);
            }
        }
        for (field, content) in &object.fields {
            match content {
                Content::Columns(columns) => {
                    let put = |(column, value): &(ColumnId, Value)| values[column.0 as usize] = value.clone();
                    columns.iter().for_each(put);
                }
                Content::Items(items) => self.keep_items(*field, id, items),
                Content::Edges(_) | Content::Null => {}
            }
        }
        if let (Some(hash), Some(column)) = (&object.secret, layout.secrets[ty.index()]) {
            values[column.0 as usize] = Value::Text(Arc::clone(hash));
        }
        let end = End { id, ty, row: Some(self.rows.len() as u32) };
        self.rows.push(NewRow { end, values, points: Vec::new() });
        Ok(())
    }

    /// Applies a patch to objects of one type: values and passwords; lists are appended to.
    pub(super) fn change(
        &mut self,
        ids: &[i64],
        ty: TypeId,
        patch: &InputObject,
    ) -> Result<(), MutationRefusal> {
        let layout = &self.writes.layout;
        let model = self.writes.model();
        let mut columns = Columns::new();
        for (field, of) in model.fields_of(ty) {
            let given = patch.fields.iter().any(|it| copy(model, it.0, ty) == field);
            if let Some(default) = of.default_update.as_ref().filter(|_| !given) {
                columns.extend(self.reader.default(of, &layout.fields[field.index()], default)?);
            }
        }
        for (field, content) in &patch.fields {
            let own = copy(model, *field, ty);
            match content {
                Content::Columns(given) => columns.extend(self.map_columns(*field, own, given)),
                Content::Items(items) => ids.iter().for_each(|id| self.keep_items(own, *id, items)),
                Content::Edges(_) | Content::Null => {}
            }
            if let Content::Columns(given) = content
                && let Some((_, value)) = given.first()
            {
                self.rename(ids, ty, own, value, None);
            }
        }
        if let (Some(hash), Some(column)) = (&patch.secret, layout.secrets[ty.index()]) {
            columns.push((column, Value::Text(Arc::clone(hash))));
        }
        self.set(layout.tables[ty.index()], layout.ids[ty.index()], ids, columns);
        Ok(())
    }

    /// Maps columns of `field` to those of its copy `own` in another type.
    pub(super) fn map_columns(&self, field: FieldId, own: FieldId, columns: &Columns) -> Columns {
        let fields = &self.writes.layout.fields;
        let from = fields[field.index()].columns();
        let to = fields[own.index()].columns();
        let place = |column: &ColumnId| from.iter().position(|it| it == column).map_or(*column, |at| to[at]);
        columns.iter().map(|(column, value)| (place(column), value.clone())).collect()
    }

    /// The key `field` has a new value, or none: registries have it too. With `only`, where it had that value.
    fn rename(&mut self, ids: &[i64], ty: TypeId, field: FieldId, value: &Value, only: Option<&Value>) {
        let writes = self.writes;
        for registry in &writes.type_info.of_type(ty).registries {
            if let Some((_, column)) = registry.keys.iter().find(|it| it.0 == field) {
                let only = only.map(|it| (*column, it.clone())).into_iter().collect();
                let columns = Columns::from_iter([(*column, value.clone())]);
                self.set_where(registry.table, registry.id, ids, columns, only);
            }
        }
    }

    fn set(&mut self, table: TableId, by: ColumnId, ids: &[i64], columns: Columns) {
        self.set_where(table, by, ids, columns, Columns::new());
    }

    /// Sets columns of the rows with one of `ids`; with `only`, where those columns have those values.
    fn set_where(&mut self, table: TableId, by: ColumnId, ids: &[i64], columns: Columns, only: Columns) {
        if columns.is_empty() || ids.is_empty() {
            return;
        }
        let (set, mut values): (ColumnIds, Vec<Value>) = columns.into_iter().unzip();
        let (many, bound) = bind_ids(ids);
        let rows = RowCondition { by, many, and: only.iter().map(|it| (it.0, Comparison::Eq)).collect() };
        values.push(bound);
        values.extend(only.into_iter().map(|it| it.1));
        self.asked
            .push(self.writes.bind_statement(TemplateKey::Update { table, columns: set, rows }, values));
    }

    /// Adds items of a list that are missing.
    fn keep_items(&mut self, field: FieldId, id: i64, items: &[ListItem]) {
        let Storage::Values { table, owner, value, at, .. } = self.writes.layout.fields[field.index()] else {
            return;
        };
        let columns: ColumnIds = [owner, value].into_iter().chain(at).collect();
        for (item, at_us) in items {
            let values = [Value::Int(id), item.clone()].into_iter().chain(at_us.map(Value::Int));
            self.later.push(
                self.writes
                    .bind_statement(TemplateKey::InsertMissing { table, columns: columns.clone() }, values),
            );
        }
    }

    /// Sets an edge; `field` is of the type of `from`.
    pub(super) fn link(&mut self, from: End, field: FieldId, to: End) {
        let writes = self.writes;
        match side(writes.model(), &writes.layout, field, to.ty) {
            Some(EdgeStorage::Ours(by)) => {
                self.point(from, by, to);
                if by.mutual {
                    self.point(to, Pointer { field: copy(writes.model(), by.field, to.ty), ..by }, from);
                }
            }
            Some(EdgeStorage::Theirs(by)) => self.point(to, by, from),
            Some(EdgeStorage::Pairs { table, ours, theirs, mutual }) => {
                let columns = ColumnIds::from_slice(&[ours, theirs]);
                let pair = |one: End, other: End| {
                    let kind = TemplateKey::InsertMissing { table, columns: columns.clone() };
                    writes.bind_statement(kind, [Value::Int(one.id), Value::Int(other.id)])
                };
                self.later.push(pair(from, to));
                if mutual && from.id != to.id {
                    self.later.push(pair(to, from));
                }
            }
            None => {}
        }
    }

    fn point(&mut self, from: End, by: Pointer, to: End) {
        let next = self.pointed.len() as u32;
        let place = *self.by_holder.entry((from.id, by.field)).or_insert(next);
        if place == next {
            self.pointed.push(Pointed { from, by, to: Some(to), is_set: false });
            if let Some(row) = from.row {
                self.rows[row as usize].points.push(place);
            }
        } else {
            self.pointed[place as usize].to = Some(to);
        }
        if !by.is_single {
            return;
        }
        if to.row.is_none() {
            self.take_from_others(by, to, from);
        }
        let taken = self.by_target.insert((to.id, by.field), place);
        if let Some(taken) = taken.filter(|it| *it != place) {
            let taken = &mut self.pointed[taken as usize];
            taken.to = taken.to.filter(|it| it.id != to.id);
        }
    }

    /// All but `from` that point at `to` no longer do.
    fn take_from_others(&mut self, by: Pointer, to: End, from: End) {
        let model = self.writes.model();
        let layout = &self.writes.layout;
        let FieldKind::Edge { inverse: Some(inverse), .. } = model.field(by.field).kind else { return };
        let FieldKind::Edge { to: holders, .. } = model.field(copy(model, inverse, to.ty)).kind else {
            return;
        };
        for holder in &model.ty(holders).members {
            let field = copy(model, by.field, *holder);
            let Storage::ToOne { column, .. } = layout.fields[field.index()] else { continue };
            let table = layout.tables[holder.index()];
            let id = layout.ids[holder.index()];
            let rows = RowCondition {
                and: SmallVec::from_iter([(id, Comparison::Neq)]),
                ..RowCondition::by(column)
            };
            let kind = TemplateKey::Clear { table, column, rows };
            let values = [Value::Int(to.id), Value::Int(from.id)];
            self.asked.push(self.writes.bind_statement(kind, values));
        }
    }

    /// Appends the collected changes to the statements, in an order in which each can be executed.
    pub(super) fn flush_changes(&mut self) {
        let mut is_there = vec![false; self.rows.len()];
        for at in self.order() {
            let row = &mut self.rows[at as usize];
            for place in &row.points {
                let pointed = &mut self.pointed[*place as usize];
                match pointed.to {
                    Some(to) if to.row.is_none_or(|it| is_there[it as usize]) => {
                        row.values[pointed.by.column.0 as usize] = Value::Int(to.id);
                        pointed.is_set = true;
                    }
                    None => pointed.is_set = true,
                    Some(_) => {}
                }
            }
            self.insert(at as usize);
            is_there[at as usize] = true;
        }
        let pointed = std::mem::take(&mut self.pointed);
        for Pointed { from, by, to, .. } in pointed.into_iter().filter(|it| !it.is_set) {
            let layout = &self.writes.layout;
            let table = layout.tables[from.ty.index()];
            let id = layout.ids[from.ty.index()];
            let value = to.map_or(Value::Null, |to| Value::Int(to.id));
            self.set(table, id, &[from.id], Columns::from_iter([(by.column, value)]));
        }
        self.asked.append(&mut self.later);
    }

    fn insert(&mut self, at: usize) {
        let NewRow { end, values, .. } = &mut self.rows[at];
        let writes = self.writes;
        let ty = end.ty;
        for registry in &writes.type_info.of_type(ty).registries {
            let kind = TemplateKey::Insert { table: registry.table, columns: registry.columns.clone() };
            let keys = registry.keys.iter().map(|(field, _)| match writes.layout.fields[field.index()] {
                Storage::Column(column) => values[column.0 as usize].clone(),
                _ => Value::Null,
            });
            let name = Value::Text(writes.model().ty(ty).name.as_str().into());
            let bound = [Value::Int(end.id), name].into_iter().chain(keys);
            self.asked.push(writes.bind_statement(kind, bound));
        }
        let columns = writes.type_info.of_type(ty).row.clone();
        let bound: Vec<Value> =
            columns.iter().map(|it| std::mem::replace(&mut values[it.0 as usize], Value::Null)).collect();
        let table = writes.layout.tables[ty.index()];
        self.asked.push(writes.bind_statement(TemplateKey::Insert { table, columns }, bound));
    }

    /// The rows, each behind those that it points at.
    fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.rows.len());
        let mut is_seen = vec![false; self.rows.len()];
        let mut waiting: Vec<(u32, bool)> = Vec::new();
        for start in 0..self.rows.len() as u32 {
            waiting.push((start, false));
            while let Some((at, is_ready)) = waiting.pop() {
                if is_ready {
                    order.push(at);
                } else if !std::mem::replace(&mut is_seen[at as usize], true) {
                    waiting.push((at, true));
                    let points = self.rows[at as usize].points.iter();
                    let targets = points.filter_map(|it| self.pointed[*it as usize].to?.row);
                    waiting.extend(targets.filter(|it| !is_seen[*it as usize]).map(|it| (it, false)));
                }
            }
        }
        order
    }

    /// Takes values and edges away from the objects `ids` of one type, as `patch` says. `ends` are the objects it names.
    /// Applies `remove` after `set`: a value is removed only if it is the one in the patch now.
    pub(super) fn remove(
        &mut self,
        ids: &[i64],
        ty: TypeId,
        patch: &InputObject,
        ends: &dyn Fn(u32) -> Option<End>,
        set: Option<&InputObject>,
    ) -> Result<(), MutationRefusal> {
        let model = self.writes.model();
        for (field, content) in &patch.fields {
            let own = copy(model, *field, ty);
            let of = model.field(own);
            let is_edge = matches!(of.kind, FieldKind::Edge { .. });
            if of.is_required && !of.is_list {
                let given = set.and_then(|set| set.fields.iter().find(|it| it.0 == *field));
                if given.is_some_and(|it| self.is_other(*field, content, &it.1, ends)) {
                    continue;
                }
                let ty = model.ty(ty).name.clone();
                return Err(MutationRefusal::Required { ty, field: of.name.clone() });
            }
            match content {
                Content::Columns(given) => {
                    let given = self.map_columns(*field, own, given);
                    let only = self.telling(own, &given);
                    self.empty(ids, ty, own, &given, only);
                }
                Content::Null if !is_edge && !of.is_list => {
                    let columns = self.writes.layout.fields[own.index()].columns();
                    let given = columns.into_iter().map(|it| (it, Value::Null)).collect();
                    self.empty(ids, ty, own, &given, Columns::new());
                }
                Content::Items(items) => items.iter().for_each(|it| self.drop_items(ids, own, Some(it))),
                Content::Null if is_edge => self.remove_edge(ids, own, None),
                Content::Null => self.drop_items(ids, own, None),
                Content::Edges(edges) => {
                    edges
                        .iter()
                        .filter_map(|it| ends(*it))
                        .for_each(|end| self.remove_edge(ids, own, Some(end)));
                }
            }
        }
        Ok(())
    }

    /// True if `set` gives the single-valued `field` another value than the one in `removed`.
    fn is_other(
        &self,
        field: FieldId,
        removed: &Content,
        set: &Content,
        ends: &dyn Fn(u32) -> Option<End>,
    ) -> bool {
        let id = |edges: &[u32]| edges.first().and_then(|it| ends(*it)).map(|it| it.id);
        match (removed, set) {
            (Content::Columns(removed), Content::Columns(set)) => {
                self.telling(field, removed) != self.telling(field, set)
            }
            (Content::Edges(removed), Content::Edges(set)) => id(removed) != id(set),
            (Content::Columns(_) | Content::Edges(_) | Content::Null | Content::Items(_), _) => false,
        }
    }

    /// The columns among `given` that decide whether two values of `field` are equal.
    fn telling(&self, field: FieldId, given: &Columns) -> Columns {
        let is_telling = |column: ColumnId| match self.writes.layout.fields[field.index()] {
            // Two texts may be one moment.
            Storage::Instant { at, .. } => column == at,
            // The bounds follow from the text.
            Storage::Shape { text, .. } => column == text,
            _ => true,
        };
        given.iter().filter(|it| is_telling(it.0)).cloned().collect()
    }

    /// Empties the columns `given` of `field`; with `only`, where those columns have those values.
    fn empty(&mut self, ids: &[i64], ty: TypeId, field: FieldId, given: &Columns, only: Columns) {
        let layout = &self.writes.layout;
        let columns = given.iter().map(|it| (it.0, Value::Null)).collect();
        self.rename(ids, ty, field, &Value::Null, only.first().map(|it| &it.1));
        self.set_where(layout.tables[ty.index()], layout.ids[ty.index()], ids, columns, only);
    }

    /// Removes an item from lists, or all. Of moments those are equal that are the same.
    fn drop_items(&mut self, ids: &[i64], field: FieldId, item: Option<&ListItem>) {
        let Storage::Values { table, owner, value, at, .. } = self.writes.layout.fields[field.index()] else {
            return;
        };
        let (many, bound) = bind_ids(ids);
        let and = item.map(|_| (at.unwrap_or(value), Comparison::Eq)).into_iter().collect();
        let rows = RowCondition { by: owner, many, and };
        let given = item.map(|(text, at_us)| at_us.map_or_else(|| text.clone(), Value::Int));
        let values = [bound].into_iter().chain(given);
        self.asked.push(self.writes.bind_statement(TemplateKey::Delete { table, rows }, values));
    }

    /// Cuts the edge `field` of the objects `ids`: to `to`, or to all.
    fn remove_edge(&mut self, ids: &[i64], field: FieldId, to: Option<End>) {
        let model = self.writes.model();
        let layout = &self.writes.layout;
        let FieldKind::Edge { to: targets, .. } = model.field(field).kind else { return };
        let targets = to.map_or_else(|| model.ty(targets).members.clone(), |to| vec![to.ty]);
        let owner = model.field(field).owner;
        let mut sides: Vec<(TypeId, EdgeStorage)> =
            targets.iter().filter_map(|it| Some((*it, side(model, layout, field, *it)?))).collect();
        sides.dedup_by_key(|it| it.1);
        for (target, side) in sides {
            match side {
                EdgeStorage::Ours(by) => {
                    self.nullify(owner, by.column, ids, to, false);
                    if by.mutual {
                        self.nullify(owner, by.column, ids, to, true);
                    }
                }
                EdgeStorage::Theirs(by) => self.nullify(target, by.column, ids, to, true),
                EdgeStorage::Pairs { table, ours, theirs, mutual } => {
                    self.part(table, ours, theirs, ids, to);
                    if mutual {
                        self.part(table, theirs, ours, ids, to);
                    }
                }
            }
        }
    }

    /// Empties a pointer of objects of `holder`: of `ids` (at `to`), or of `to` (at `ids`) if it is theirs.
    fn nullify(&mut self, holder: TypeId, column: ColumnId, ids: &[i64], to: Option<End>, theirs: bool) {
        let layout = &self.writes.layout;
        let table = layout.tables[holder.index()];
        let id = layout.ids[holder.index()];
        let (by, and) = if theirs { (column, id) } else { (id, column) };
        let (many, bound) = bind_ids(ids);
        let rows = RowCondition { by, many, and: to.map(|_| (and, Comparison::Eq)).into_iter().collect() };
        let kind = TemplateKey::Update { table, columns: ColumnIds::from_slice(&[column]), rows };
        let values = [Value::Null, bound].into_iter().chain(to.map(|it| Value::Int(it.id)));
        self.asked.push(self.writes.bind_statement(kind, values));
    }

    fn part(&mut self, table: TableId, ours: ColumnId, theirs: ColumnId, ids: &[i64], to: Option<End>) {
        let (many, bound) = bind_ids(ids);
        let and = to.map(|_| (theirs, Comparison::Eq)).into_iter().collect();
        let rows = RowCondition { by: ours, many, and };
        let values = [bound].into_iter().chain(to.map(|it| Value::Int(it.id)));
        self.asked.push(self.writes.bind_statement(TemplateKey::Delete { table, rows }, values));
    }

    /// Deletes the objects `ids` of one type with all that refers to them.
    pub(super) fn delete(&mut self, ids: &[i64], ty: TypeId) {
        let writes = self.writes;
        let layout = &writes.layout;
        let type_info = writes.type_info.of_type(ty);
        let (many, bound) = bind_ids(ids);
        for &(table, by) in &type_info.pointers {
            let rows = RowCondition { many, ..RowCondition::by(by) };
            self.asked
                .push(writes.bind_statement(TemplateKey::Clear { table, column: by, rows }, [bound.clone()]));
        }
        let own = (layout.tables[ty.index()], layout.ids[ty.index()]);
        let registries = type_info.registries.iter().map(|it| (it.table, it.id));
        for (table, by) in type_info.parts.iter().copied().chain([own]).chain(registries) {
            let kind = TemplateKey::Delete { table, rows: RowCondition { many, ..RowCondition::by(by) } };
            self.asked.push(writes.bind_statement(kind, [bound.clone()]));
        }
    }
}

/// Binds one number as a value, several as a list; true for a list.
pub(super) fn bind_ids(ids: &[i64]) -> (bool, Value) {
    match ids {
        [id] => (false, Value::Int(*id)),
        _ => (true, Value::Ids(ids.into())),
    }
}
