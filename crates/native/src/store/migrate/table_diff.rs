//! Fate of each table: its old table, the old columns of its columns, and the need to rewrite it.
//!
//! **Invariant:** every old table becomes at most one new one; a table without a successor is dropped.

use super::convert::convert;
use super::renames::Renames;
use crate::layout::Storage;
use crate::model::{DefaultValue, Field, FieldId, FieldKind, TypeId, TypeKind};
use crate::store::Types;
use crate::store::ddl::{literal, quote_identifier, stored_tables};
use weir_relational::catalog::{ColumnId, Table, TableId};
use weir_relational::plan::ddl::Definition;

/// Source of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CellSource {
    /// A column of the old table, unchanged.
    Same(ColumnId),
    /// An expression over the old table.
    Made(String),
    /// Nothing.
    Empty,
}

/// Origin of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The table is unchanged.
    Kept,
    /// The table gets other names or more columns.
    Altered,
    /// All rows are written to a new one.
    Rewritten,
    /// The table is new, or keeps none of the old values.
    Created,
}

/// A field and the column of its value.
#[derive(Clone, Copy, Debug)]
struct StoredField {
    field: FieldId,
    column: ColumnId,
}

/// A stored table of the new layout.
#[derive(Clone, Debug)]
pub(super) struct TableDiff {
    pub(super) new: TableId,
    pub(super) old: Option<TableId>,
    /// Source of each column of the new table.
    pub(super) cells: Vec<CellSource>,
    pub(super) how: How,
    /// Fills the table from others.
    pub(super) fill: Vec<Definition>,
}

/// All stored tables of the new layout.
pub(super) fn tables(old: &Types, new: &Types, renames: Renames<'_>) -> Vec<TableDiff> {
    let weaver = Weaver { old, new, renames };
    let mut all: Vec<TableDiff> = stored_tables(&new.layout).map(|(id, _)| weaver.table(id)).collect();
    // A table is only the same if those it refers to are.
    let targets: Vec<(TableId, Option<TableId>)> = all.iter().map(|it| (it.new, it.old)).collect();
    for it in &mut all {
        it.how = weaver.classify_table(it, &targets);
    }
    all
}

struct Weaver<'t> {
    old: &'t Types,
    new: &'t Types,
    renames: Renames<'t>,
}

impl Weaver<'_> {
    fn table(&self, id: TableId) -> TableDiff {
        let width = self.new.layout.relations.catalog.table(id).columns.len();
        let empty = TableDiff {
            new: id,
            old: None,
            cells: vec![CellSource::Empty; width],
            how: How::Created,
            fill: Vec::new(),
        };
        if let Some(at) = self.new.layout.tables.iter().position(|&it| it == id) {
            let ty = TypeId(at as u32);
            return match self.new.model.ty(ty).kind {
                TypeKind::Object => self.object(empty, ty),
                TypeKind::Interface | TypeKind::Union => self.registry(empty, ty),
            };
        }
        for (at, storage) in self.new.layout.fields.iter().enumerate() {
            let field = FieldId(at as u32);
            match *storage {
                Storage::Values { table, .. } if table == id => return self.values(empty, field),
                Storage::Join { table, .. } if table == id => return self.join(empty, field),
                _ => {}
            }
        }
        empty
    }

    fn object(&self, mut it: TableDiff, ty: TypeId) -> TableDiff {
        let Some(before) = self.renames.old_type(ty) else { return it };
        let old = &self.old.layout;
        let new = &self.new.layout;
        it.old = Some(old.tables[before.index()]);
        it.cells[new.ids[ty.index()].0 as usize] = CellSource::Same(old.ids[before.index()]);
        if let (Some(was), Some(is)) = (old.secrets[before.index()], new.secrets[ty.index()]) {
            it.cells[is.0 as usize] = CellSource::Same(was);
        }
        for (id, field) in self.new.model.fields_of(ty) {
            let before = self.renames.old_field(id);
            let carried = before.is_some_and(|before| self.carry(&mut it, before, id));
            if !carried || self.becomes_required(before, field) {
                self.default(&mut it, id, carried);
            }
        }
        it
    }

    fn becomes_required(&self, before: Option<FieldId>, field: &Field) -> bool {
        field.is_required && before.is_some_and(|it| !self.old.model.field(it).is_required)
    }

    /// Takes over the columns of a field; `false` if none can be.
    fn carry(&self, it: &mut TableDiff, before: FieldId, now: FieldId) -> bool {
        let mut pair = |was: ColumnId, is: ColumnId| it.cells[is.0 as usize] = CellSource::Same(was);
        match (self.old.layout.fields[before.index()], self.new.layout.fields[now.index()]) {
            (Storage::Instant { text: t, at: a }, Storage::Instant { text, at }) => {
                pair(t, text);
                pair(a, at);
            }
            (Storage::Point { longitude: x, latitude: y }, Storage::Point { longitude, latitude }) => {
                pair(x, longitude);
                pair(y, latitude);
            }
            (Storage::Shape { text: t, bounds: b }, Storage::Shape { text, bounds })
                if self.is_same(before, now) =>
            {
                pair(t, text);
                b.into_iter().zip(bounds).for_each(|(was, is)| pair(was, is));
            }
            (Storage::ToOne { column: was, .. }, Storage::ToOne { column: is, .. }) => pair(was, is),
            (Storage::Column(was) | Storage::Instant { text: was, .. }, Storage::Column(is)) => {
                return self.carry_value(
                    it,
                    StoredField { field: before, column: was },
                    StoredField { field: now, column: is },
                );
            }
            (_, _) => return false,
        }
        true
    }

    fn is_same(&self, before: FieldId, now: FieldId) -> bool {
        self.old.model.field(before).kind == self.new.model.field(now).kind
    }

    fn carry_value(&self, it: &mut TableDiff, was: StoredField, is: StoredField) -> bool {
        let Some(table) = it.old else { return false };
        let column = self.old.layout.relations.catalog.table(table).column(was.column);
        let cell = quote_identifier(&column.name);
        let old = (self.old.model.field(was.field).kind, &self.old.model);
        let new = (self.new.model.field(is.field).kind, &self.new.model);
        let Some(made) = convert(self.new.kind, old, new, &cell) else { return false };
        let target = self.new.layout.relations.catalog.table(it.new).column(is.column);
        let same = made.value == cell || column.declared == target.declared;
        it.cells[is.column.0 as usize] =
            if same { CellSource::Same(was.column) } else { CellSource::Made(made.value) };
        true
    }

    /// `@default` for objects that have no value where one has to be.
    fn default(&self, it: &mut TableDiff, id: FieldId, carried: bool) {
        let field = self.new.model.field(id);
        let Some(default) = field.default_add.as_ref().filter(|_| field.is_required && !field.is_list) else {
            return;
        };
        let old = it.old.map(|table| self.old.layout.relations.catalog.table(table));
        let mut put = |column: ColumnId, value: String| {
            let cell = &mut it.cells[column.0 as usize];
            let before = match &*cell {
                CellSource::Same(was) if carried => {
                    old.map(|table| quote_identifier(&table.column(*was).name))
                }
                CellSource::Made(value) if carried => Some(value.clone()),
                CellSource::Same(_) | CellSource::Made(_) | CellSource::Empty => None,
            };
            *cell = CellSource::Made(
                before.map_or_else(|| value.clone(), |before| format!("coalesce({before}, {value})")),
            );
        };
        match self.new.layout.fields[id.index()] {
            Storage::Column(column) => put(column, self.literal(default, field)),
            Storage::Instant { text, at } => {
                let (written, micros) = self.instant(default);
                put(text, written);
                put(at, micros);
            }
            _ => {}
        }
    }

    fn literal(&self, default: &DefaultValue, field: &Field) -> String {
        match (default, field.kind) {
            (DefaultValue::Text(text), _) => literal(text),
            (DefaultValue::Int(number), _) => number.to_string(),
            (DefaultValue::Float(number), _) => format!("{number:?}"),
            (DefaultValue::Boolean(value), _) => {
                if self.new.kind.store_dialect().booleans_are_numbers() {
                    u8::from(*value).to_string()
                } else {
                    value.to_string()
                }
            }
            (DefaultValue::Enum(place), FieldKind::Enum(id)) => {
                literal(&self.new.model.enumeration(id).values[*place as usize].name)
            }
            (DefaultValue::Enum(_) | DefaultValue::Now, _) => self.instant(default).0,
        }
    }

    /// A moment's text and its microseconds.
    fn instant(&self, default: &DefaultValue) -> (String, String) {
        match default {
            DefaultValue::Text(text) => {
                let micros = weir_relational::values::instant::parse(text).unwrap_or_default();
                (literal(text), micros.to_string())
            }
            DefaultValue::Int(_)
            | DefaultValue::Float(_)
            | DefaultValue::Boolean(_)
            | DefaultValue::Enum(_)
            | DefaultValue::Now => {
                let dialect = self.new.kind.store_dialect();
                (dialect.now().into(), dialect.now_micros().into())
            }
        }
    }

    /// Members of an interface or union, and its keys: rewritten from the objects whenever something differs.
    fn registry(&self, mut it: TableDiff, ty: TypeId) -> TableDiff {
        let catalog = &self.new.layout.relations.catalog;
        let table = catalog.table(it.new);
        let layout = &self.new.layout;
        for &member in &self.new.model.ty(ty).members {
            let source = catalog.table(layout.tables[member.index()]);
            let cell = |at: usize| self.registry_cell(ty, member, source, ColumnId(at as u32));
            let cells: Vec<String> = (0..table.columns.len()).map(cell).collect();
            it.fill.push(Definition::Copy {
                into: table.name.clone(),
                columns: table.columns.iter().map(|it| it.name.clone()).collect(),
                select: format!("SELECT {} FROM {}", cells.join(", "), quote_identifier(&source.name)),
            });
        }
        if let Some(before) = self.renames.old_type(ty) {
            it.old = Some(self.old.layout.tables[before.index()]);
            if self.is_same_registry(before, ty) {
                it.cells = (0..table.columns.len()).map(|at| CellSource::Same(ColumnId(at as u32))).collect();
                it.fill.clear();
            }
        }
        it
    }

    fn registry_cell(&self, ty: TypeId, member: TypeId, source: &Table, column: ColumnId) -> String {
        let layout = &self.new.layout;
        if layout.kinds[ty.index()] == Some(column) {
            return literal(&self.new.model.ty(member).name);
        }
        let key =
            self.new.model.fields_of(ty).find(|(id, _)| layout.registry_keys[id.index()] == Some(column));
        let copy = key.and_then(|(_, field)| self.new.model.field_by_name(member, &field.name));
        match copy.map(|it| layout.fields[it.index()]) {
            Some(Storage::Column(from)) => quote_identifier(&source.column(from).name),
            Some(_) | None => quote_identifier(&source.column(layout.ids[member.index()]).name),
        }
    }

    fn is_same_registry(&self, before: TypeId, now: TypeId) -> bool {
        let old = self.old.model.ty(before);
        let new = self.new.model.ty(now);
        let names = |types: &Types, members: &[TypeId]| {
            let mut names: Vec<String> = members.iter().map(|&it| types.model.ty(it).name.clone()).collect();
            names.sort();
            names
        };
        let columns = |types: &Types, ty: TypeId| {
            let table = types.layout.relations.catalog.table(types.layout.tables[ty.index()]);
            table
                .columns
                .iter()
                .map(|it| (it.name.clone(), it.declared.clone(), it.nullable))
                .collect::<Vec<_>>()
        };
        let kept =
            |&member: &TypeId| self.renames.old_type(member).is_some_and(|it| old.members.contains(&it));
        let keys = |types: &Types, ty: TypeId| {
            let fields = types.model.fields_of(ty);
            fields
                .filter(|it| types.layout.registry_keys[it.0.index()].is_some())
                .map(|it| it.1.name.clone())
                .collect::<Vec<_>>()
        };
        names(self.old, &old.members) == names(self.new, &new.members)
            && new.members.iter().all(kept)
            && columns(self.old, before) == columns(self.new, now)
            && keys(self.old, before) == keys(self.new, now)
    }

    fn values(&self, mut it: TableDiff, id: FieldId) -> TableDiff {
        let Storage::Values { owner, place, value, at, .. } = self.new.layout.fields[id.index()] else {
            return it;
        };
        let Some(before) = self.renames.old_field(id) else { return it };
        let old = (self.old.model.field(before).kind, &self.old.model);
        let new = (self.new.model.field(id).kind, &self.new.model);
        match self.old.layout.fields[before.index()] {
            Storage::Values { table, owner: o, place: p, value: v, at: a, .. } => {
                let from = self.old.layout.relations.catalog.table(table).column(v);
                let Some(made) = convert(self.new.kind, old, new, &quote_identifier(&from.name)) else {
                    return it;
                };
                it.old = Some(table);
                it.cells[owner.0 as usize] = CellSource::Same(o);
                it.cells[place.0 as usize] = CellSource::Same(p);
                let same = made.value == quote_identifier(&from.name);
                it.cells[value.0 as usize] =
                    if same { CellSource::Same(v) } else { CellSource::Made(made.value) };
                if let (Some(is), Some(was)) = (at, a) {
                    it.cells[is.0 as usize] = CellSource::Same(was);
                }
            }
            Storage::Column(from) => {
                if let Some(made) = convert(self.new.kind, old, new, &self.old_cell(before, from)) {
                    it.fill.extend(self.list_of(&it, id, &[(value, made.value)]));
                }
            }
            Storage::Instant { text, at: micros } => {
                let text = self.old_cell(before, text);
                let mut cells = convert(self.new.kind, old, new, &text)
                    .map(|it| vec![(value, it.value)])
                    .unwrap_or_default();
                cells.extend(at.map(|at| (at, self.old_cell(before, micros))));
                if !cells.is_empty() {
                    it.fill.extend(self.list_of(&it, id, &cells));
                }
            }
            _ => {}
        }
        it
    }

    fn old_cell(&self, field: FieldId, column: ColumnId) -> String {
        let table = self.old.layout.tables[self.old.model.field(field).owner.index()];
        quote_identifier(&self.old.layout.relations.catalog.table(table).column(column).name)
    }

    /// A list of the one value that was there.
    fn list_of(&self, it: &TableDiff, id: FieldId, cells: &[(ColumnId, String)]) -> Option<Definition> {
        let catalog = &self.new.layout.relations.catalog;
        let table = catalog.table(it.new);
        let ty = self.new.model.field(id).owner;
        let source = catalog.table(self.new.layout.tables[ty.index()]);
        let Storage::Values { owner, .. } = self.new.layout.fields[id.index()] else { return None };
        let columns = std::iter::once(owner).chain(cells.iter().map(|it| it.0));
        let values: Vec<&str> = cells.iter().map(|(_, value)| value.as_str()).collect();
        Some(Definition::Copy {
            into: table.name.clone(),
            columns: columns.map(|it| table.column(it).name.clone()).collect(),
            select: format!(
                "SELECT {}, {} FROM {} WHERE {} IS NOT NULL",
                quote_identifier(&source.column(self.new.layout.ids[ty.index()]).name),
                values.join(", "),
                quote_identifier(&source.name),
                values[0],
            ),
        })
    }

    fn join(&self, mut it: TableDiff, id: FieldId) -> TableDiff {
        let Storage::Join { ours, theirs, .. } = self.new.layout.fields[id.index()] else { return it };
        let before = self.renames.old_field(id).map(|it| self.old.layout.fields[it.index()]);
        if let Some(Storage::Join { table, ours: o, theirs: t, .. }) = before {
            it.old = Some(table);
            it.cells[ours.0 as usize] = CellSource::Same(o);
            it.cells[theirs.0 as usize] = CellSource::Same(t);
        }
        it
    }

    fn classify_table(&self, it: &TableDiff, targets: &[(TableId, Option<TableId>)]) -> How {
        let Some(before) = it.old else { return How::Created };
        if it.cells.iter().all(|cell| *cell == CellSource::Empty) {
            return How::Created;
        }
        let old = self.old.layout.relations.catalog.table(before);
        let new = self.new.layout.relations.catalog.table(it.new);
        let target = |table: &Table, column: ColumnId| {
            table.foreign_keys.iter().find(|key| key.columns == [column]).map(|key| key.target)
        };
        let became = |old: TableId| targets.iter().find(|it| it.1 == Some(old)).map(|it| it.0);
        let fits = |at: usize| {
            let id = ColumnId(at as u32);
            let column = new.column(ColumnId(at as u32));
            match &it.cells[at] {
                CellSource::Same(was) => {
                    let from = old.column(*was);
                    from.declared == column.declared
                        && from.nullable == column.nullable
                        && target(old, *was).map(became) == target(new, id).map(Some)
                }
                CellSource::Made(_) => false,
                CellSource::Empty => column.nullable,
            }
        };
        let is_used = |at: usize| it.cells.contains(&CellSource::Same(ColumnId(at as u32)));
        if !(0..new.columns.len()).all(fits) || !(0..old.columns.len()).all(is_used) {
            return How::Rewritten;
        }
        let named = |at: usize| matches!(&it.cells[at], CellSource::Same(was) if old.column(*was).name == new.columns[at].name);
        if old.name == new.name && (0..new.columns.len()).all(named) { How::Kept } else { How::Altered }
    }
}
