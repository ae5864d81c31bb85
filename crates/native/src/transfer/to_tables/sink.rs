//! Writes parcels to tables: makes the checks that the tables cannot make, and records the progress.
//!
//! References are checked before a row is written: an edge whose target is not there yet waits in a table, with the line it
//! came from, until all is read. A row that breaks a rule goes to the rejects and takes its edges with it.
//!
//! **Invariant:** a parcel and the mark how far the file was read are one transaction, so each object is there once however
//! often the load was interrupted.
//!
//! **Cost:** per row one insert and, per edge, one look into a set of numbers that are known to be there.

use super::checkpoint::{Load, Mark};
use super::{bulk_rows, required, unknown};
use crate::layout::Storage;
use crate::model::{DefaultValue, FieldId, FieldKind, TypeId, TypeKind};
use crate::store::database::{Database, Value};
use crate::store::ddl::quote_identifier;
use crate::store::{Error, Types, versions};
use crate::transfer::edge_fields::is_mutual;
use crate::transfer::file_line::{DeferredTable, find_line};
use crate::transfer::parcel::{Batch, BulkCell, Edge, LooseEdge, Parcel, Target, boolean};
use crate::transfer::reject::{Reject, RejectKind, Rejected};
use hashbrown::{HashMap, HashSet};
use weir_relational::catalog::{ColumnId, TableId};

/// Numbers that are remembered to be there, over all tables; beyond it they are forgotten and asked for again.
const KNOWN_MAX: usize = 4_000_000;

/// Writes parcels.
pub(crate) struct Sink<'t> {
    pub(crate) types: &'t Types,
    pub(crate) database: &'t mut Database,
    load: &'t Load,
    known: HashMap<TableId, HashSet<i64>>,
    /// The version of the database: it differs after a write by another connection.
    data_version: i64,
    /// The files that are read together.
    names: &'t [String],
    pub(crate) rejects: Vec<Reject>,
}

impl<'t> Sink<'t> {
    pub(crate) fn new(
        types: &'t Types,
        database: &'t mut Database,
        load: &'t Load,
        names: &'t [String],
    ) -> Self {
        Self { types, database, load, known: HashMap::new(), data_version: -1, names, rejects: Vec::new() }
    }

    /// Writes a parcel of `mark.file` and moves the mark.
    pub(crate) fn take(&mut self, parcel: Parcel, mark: &mut Mark) -> Result<(), Error> {
        let before = self.rejects.len();
        self.database.begin()?;
        let mut next = mark.clone();
        let done = self.write(parcel, &mut next).and_then(|()| self.database.commit());
        match done {
            Ok(()) => {
                *mark = next;
                Ok(())
            }
            Err(error) => {
                self.database.rollback();
                self.rejects.truncate(before);
                Err(error)
            }
        }
    }

    fn write(&mut self, parcel: Parcel, mark: &mut Mark) -> Result<(), Error> {
        self.forget_if_changed()?;
        let names = self.names;
        let deferred = DeferredTable { name: &self.load.edges, files: names };
        let reject = |(line, part, why): (u64, RejectKind, String)| {
            let line = find_line(names, line);
            Reject { file: line.file.to_owned(), line: line.line, part, why }
        };
        let before = self.rejects.len();
        self.rejects.extend(parcel.rejects.into_iter().map(reject));
        for mut batch in parcel.batches {
            let mut refused: Vec<Rejected> = Vec::new();
            let made = self.batch(&mut batch, &mut refused)?;
            let part = if batch.makes_objects { RejectKind::Object } else { RejectKind::Pair };
            mark.count.add(part, made);
            refused.sort();
            self.rejects.extend(refused.into_iter().map(|(line, why)| reject((line, part, why))));
        }
        for edge in &parcel.loose {
            bulk_rows::wait_loose(self.types, self.database, deferred, edge)?;
        }
        unknown::note(self.database, deferred, &parcel.unknown)?;
        self.rejects[before..].iter().for_each(|it| mark.count.refuse(it.part));
        mark.count.facets_left_out += parcel.facets;
        mark.reached = parcel.reached;
        self.load.keep(self.database, mark)
    }

    /// Drops cached knowledge of rows after another connection has written.
    fn forget_if_changed(&mut self) -> Result<(), Error> {
        let now = self.database.data_version()?;
        let count: usize = self.known.values().map(HashSet::len).sum();
        if now != self.data_version || count > KNOWN_MAX {
            self.known.clear();
            self.data_version = now;
        }
        Ok(())
    }

    /// Writes a batch and says how many of its rows are taken.
    fn batch(&mut self, batch: &mut Batch, refused: &mut Vec<Rejected>) -> Result<u64, Error> {
        let mut gone = vec![false; batch.ids.len()];
        if batch.makes_objects {
            self.number(batch)?;
            self.fill_defaults(batch);
            self.check_required(batch, &mut gone, refused);
            self.check_numbers(batch, &mut gone, refused)?;
            self.resolve_columns(batch)?;
            bulk_rows::insert(self.types, self.database, batch, &mut gone, refused)?;
        } else {
            self.check_owners(batch, &mut gone, refused)?;
        }
        let deferred = DeferredTable { name: &self.load.edges, files: self.names };
        for line in batch.column_lines.iter().filter(|it| gone[it.row as usize]) {
            let Some(field) = line.turned else { continue };
            let owner = line.to;
            let target = batch.ids[line.row as usize];
            let edge = LooseEdge { field, owner, target, line: line.line };
            bulk_rows::wait_loose(self.types, self.database, deferred, &edge)?;
        }
        batch.items.retain(|it| !gone[it.row as usize]);
        batch.edges.retain(|it| !gone[it.row as usize]);
        bulk_rows::items(self.types, self.database, batch)?;
        bulk_rows::refill(self.types, self.database, batch)?;
        let waiting = self.pairs(batch)?;
        bulk_rows::wait(self.types, self.database, deferred, batch, &waiting)?;
        if batch.makes_objects {
            required::note(self.types, self.database, deferred, batch, &gone)?;
        }
        Ok(gone.iter().filter(|it| !**it).count() as u64)
    }

    /// Gives numbers to objects that have none, and keeps the sequence ahead of those that have.
    fn number(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let missing = batch.ids.iter().filter(|it| **it == 0).count() as i64;
        if let Some(most) = batch.ids.iter().copied().max().filter(|it| *it > 0) {
            versions::advance(self.database, most)?;
        }
        if missing == 0 {
            return Ok(());
        }
        let mut rows = Vec::new();
        for reserve in self.database.dialect().reserve(&versions::NUMBERS) {
            let count = [Value::Int(missing)];
            let values = if reserve.binds_count { count.as_slice() } else { &[] };
            rows.extend(self.database.query(&reserve.sql, values, reserve.width)?);
        }
        let numbers: Vec<i64> = rows.iter().map(|row| row[0].int()).collect();
        let mut fresh: Box<dyn Iterator<Item = i64>> = match numbers.as_slice() {
            [first] => Box::new(*first..),
            _ => Box::new(numbers.into_iter()),
        };
        for id in batch.ids.iter_mut().filter(|it| **it == 0) {
            *id = fresh.next().unwrap_or_default();
        }
        Ok(())
    }

    /// `@default(add:)` where a value has to be and none is given.
    fn fill_defaults(&mut self, batch: &mut Batch) {
        let types = self.types;
        for (id, field) in types.model.fields_of(batch.ty) {
            let Some(default) = field.default_add.as_ref().filter(|_| field.is_required && !field.is_list)
            else {
                continue;
            };
            let (column, at) = match types.layout.fields[id.index()] {
                Storage::Column(column) => (column, None),
                Storage::Instant { text, at } => (text, Some(at)),
                _ => continue,
            };
            let place = |column: ColumnId| batch.columns.iter().position(|it| *it == column);
            let (Some(place), at) = (place(column), at.and_then(place)) else { continue };
            let width = batch.columns.len();
            if !(0..batch.ids.len()).any(|row| batch.cells[row * width + place] == BulkCell::Null) {
                continue;
            }
            let (value, micros) = default_cells(types, batch, field.kind, default);
            for row in 0..batch.ids.len() {
                if batch.cells[row * width + place] == BulkCell::Null {
                    batch.cells[row * width + place] = value;
                    if let Some(at) = at {
                        batch.cells[row * width + at] = micros;
                    }
                }
            }
        }
    }

    fn check_required(&self, batch: &Batch, gone: &mut [bool], refused: &mut Vec<Rejected>) {
        let table = self.types.layout.relations.catalog.table(self.types.layout.tables[batch.ty.index()]);
        let required: Vec<usize> =
            (0..batch.columns.len()).filter(|&at| !table.column(batch.columns[at]).nullable).collect();
        for (row, is_gone) in gone.iter_mut().enumerate() {
            let cells = batch.row(row);
            if let Some(&at) = required.iter().find(|&&at| cells[at] == BulkCell::Null) {
                *is_gone = true;
                refused.push((
                    batch.lines[row],
                    format!("`{}` needs a value", table.column(batch.columns[at]).name),
                ));
            }
        }
    }

    /// A number names one object over all types.
    fn check_numbers(
        &mut self,
        batch: &Batch,
        gone: &mut [bool],
        refused: &mut Vec<Rejected>,
    ) -> Result<(), Error> {
        let (Some(&least), Some(&most)) = (batch.ids.iter().min(), batch.ids.iter().max()) else {
            return Ok(());
        };
        let types = self.types;
        for (id, ty) in types.model.type_ids().zip(&types.model.types) {
            if id == batch.ty || ty.kind != TypeKind::Object {
                continue;
            }
            let table = types.layout.relations.catalog.table(types.layout.tables[id.index()]);
            let column = quote_identifier(&table.column(types.layout.ids[id.index()]).name);
            let name = quote_identifier(&table.name);
            let some = format!("SELECT 1 FROM {name} WHERE {column} BETWEEN $1 AND $2 LIMIT 1");
            if self.database.query_value(&some, &[least.into(), most.into()])? == Value::Null {
                continue;
            }
            let taken = self.database.existing(&name, &column, &batch.ids)?;
            for (row, is_gone) in gone.iter_mut().enumerate() {
                if taken.contains(&batch.ids[row]) && !*is_gone {
                    *is_gone = true;
                    refused.push((
                        batch.lines[row],
                        format!("{:#x} is the ID of a `{}`", batch.ids[row], ty.name),
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_owners(
        &mut self,
        batch: &Batch,
        gone: &mut [bool],
        refused: &mut Vec<Rejected>,
    ) -> Result<(), Error> {
        let name = &self.types.model.ty(batch.ty).name;
        let there = self.load_known_ids(batch.ty, &batch.ids)?;
        for (row, is_gone) in gone.iter_mut().enumerate() {
            if !there.contains(&batch.ids[row]) {
                *is_gone = true;
                refused.push((batch.lines[row], format!("there is no `{name}` {:#x}", batch.ids[row])));
            }
        }
        Ok(())
    }

    /// Looks up which of `ids` exist, adds these to the known objects of `to`, and returns the set.
    fn load_known_ids(&mut self, to: TypeId, ids: &[i64]) -> Result<&HashSet<i64>, Error> {
        let layout = &self.types.layout;
        let id = layout.tables[to.index()];
        let set = self.known.entry(id).or_default();
        let mut unknown: Vec<i64> = ids.iter().copied().filter(|it| !set.contains(it)).collect();
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            let table = layout.relations.catalog.table(id);
            let column = quote_identifier(&table.column(layout.ids[to.index()]).name);
            set.extend(self.database.existing(&quote_identifier(&table.name), &column, &unknown)?);
        }
        Ok(set)
    }

    /// Columns that refer to objects that are not there become edges that wait, and so do those of one-to-one edges: another object
    /// may have their target.
    fn resolve_columns(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let types = self.types;
        let width = batch.columns.len();
        let mut wanted = Vec::new();
        for (field, it) in types.model.fields_of(batch.ty) {
            let (FieldKind::Edge { to, inverse }, Storage::ToOne { column, .. }) =
                (it.kind, types.layout.fields[field.index()])
            else {
                continue;
            };
            let is_single = inverse.is_some_and(|it| !types.model.field(it).is_list);
            let Some(at) = batch.columns.iter().position(|it| *it == column) else { continue };
            wanted.clear();
            wanted.extend((0..batch.ids.len()).filter_map(|row| match batch.cells[row * width + at] {
                BulkCell::Int(id) => Some(id),
                BulkCell::Null | BulkCell::Real(_) | BulkCell::Bool(_) | BulkCell::Text(..) => None,
            }));
            let there = self.load_known_ids(to, &wanted)?;
            for row in 0..batch.ids.len() {
                let cell = batch.cells[row * width + at];
                if let BulkCell::Int(id) = cell
                    && (is_single || !there.contains(&id))
                {
                    batch.cells[row * width + at] = BulkCell::Null;
                    let row = row as u32;
                    for line in batch.lines_of(row, field) {
                        batch.edges.push(Edge { row, field, to: Target::Id(id), line });
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the pairs whose objects are there and gives the edges that wait.
    fn pairs(&mut self, batch: &Batch) -> Result<Vec<Edge>, Error> {
        let types = self.types;
        let mut waiting = Vec::new();
        let mut by_field: HashMap<FieldId, Vec<(Edge, i64)>> = HashMap::new();
        for edge in &batch.edges {
            match (types.layout.fields[edge.field.index()], edge.to) {
                (Storage::Join { .. }, Target::Id(id)) => {
                    by_field.entry(edge.field).or_default().push((*edge, id));
                }
                (_, _) => waiting.push(*edge),
            }
        }
        for (field, pairs) in by_field {
            let FieldKind::Edge { to, .. } = types.model.field(field).kind else { continue };
            let ids: Vec<i64> = pairs.iter().map(|it| it.1).collect();
            let there = self.load_known_ids(to, &ids)?;
            let (now, later): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|it| there.contains(&it.1));
            waiting.extend(later.into_iter().map(|it| it.0));
            let mut now: Vec<(i64, i64)> =
                now.into_iter().map(|(edge, id)| (batch.ids[edge.row as usize], id)).collect();
            if is_mutual(types, field) {
                now.extend_from_within(..);
                let half = now.len() / 2;
                now[half..].iter_mut().for_each(|it| *it = (it.1, it.0));
            }
            bulk_rows::join(types, self.database, field, &now)?;
        }
        Ok(waiting)
    }
}

/// A default's value and, of a DateTime, its microseconds.
fn default_cells(
    types: &Types,
    batch: &mut Batch,
    kind: FieldKind,
    default: &DefaultValue,
) -> (BulkCell, BulkCell) {
    match default {
        DefaultValue::Now => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let micros = now.map_or(0, |it| it.as_micros() as i64);
            (batch.put(&weir_relational::values::instant::format(micros)), BulkCell::Int(micros))
        }
        DefaultValue::Text(text) => {
            let micros = weir_relational::values::instant::parse(text).map_or(BulkCell::Null, BulkCell::Int);
            (batch.put(text), micros)
        }
        DefaultValue::Int(number) => (BulkCell::Int(*number), BulkCell::Null),
        DefaultValue::Float(number) => (BulkCell::Real(*number), BulkCell::Null),
        DefaultValue::Boolean(value) => (boolean(types, *value), BulkCell::Null),
        DefaultValue::Enum(place) => match kind {
            FieldKind::Enum(id) => {
                let name = &types.model.enumeration(id).values[*place as usize].name;
                (batch.put(name), BulkCell::Null)
            }
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Edge { .. } => (BulkCell::Null, BulkCell::Null),
        },
    }
}
