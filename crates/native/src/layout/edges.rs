//! Storage of edges: a column of one of both sides, or a table of pairs.
//!
//! **Invariant:** the choice does not depend on the order of types in the text, so that moving a type moves no data.

use super::Storage;
use super::layout_builder::Builder;
use crate::model::{FieldId, FieldKind, Scalar, TypeId, TypeKind};
use hashbrown::HashMap;
use weir_relational::catalog::{
    ColumnAt, ColumnId, ColumnType, Relationship, RelationshipId, RelationshipKind, TableId, TableKind,
    Through, UniqueKey,
};

/// On which side of an edge it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeSide {
    /// In a column of ours.
    Column,
    /// In a column of the one other.
    Back,
    /// In a column of each of the others.
    Many,
    /// In a table of pairs.
    Join,
}

/// A table of pairs.
#[derive(Clone, Copy)]
struct Pairs {
    table: TableId,
    first: ColumnId,
    second: ColumnId,
}

impl Builder<'_> {
    /// On which side the edge `id` is kept.
    pub(super) fn side(&self, id: FieldId) -> EdgeSide {
        let field = self.model.field(id);
        let FieldKind::Edge { inverse, .. } = field.kind else { return EdgeSide::Column };
        let back_is_list = inverse.map(|it| self.model.field(it).is_list);
        match (field.is_list, inverse, back_is_list) {
            (true, Some(_), Some(false)) => EdgeSide::Many,
            (true, _, _) => EdgeSide::Join,
            (false, Some(other), Some(false)) if !self.holds(id, other) => EdgeSide::Back,
            (false, _, _) => EdgeSide::Column,
        }
    }

    /// True if the column of two inverse to-one edges belongs to `id`. An object's edge goes before an interface's, because one
    /// column can be unique; otherwise the edge whose name comes first.
    fn holds(&self, id: FieldId, other: FieldId) -> bool {
        if id == other || self.is_apart(id) || self.is_apart(other) {
            return !self.is_apart(other) || id == other;
        }
        let rank = |id: FieldId| {
            let field = self.model.field(self.root(id));
            let owner = self.model.ty(field.owner);
            (owner.kind != TypeKind::Object, owner.name.as_str(), field.name.as_str())
        };
        rank(id) < rank(other)
    }

    /// True if an implementer's edge has an inverse that the interface's has not: then it is stored separately.
    fn is_apart(&self, id: FieldId) -> bool {
        let inverse = |id: FieldId| match self.model.field(id).kind {
            FieldKind::Edge { inverse, .. } => inverse,
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
        };
        let root = self.root(id);
        root != id && inverse(root) != inverse(id)
    }

    /// Finds the way of every edge; makes the tables of pairs.
    pub(super) fn edges(&mut self) {
        let mut pairs: HashMap<FieldId, Pairs> = HashMap::new();
        for at in 0..self.model.fields.len() as u32 {
            let id = FieldId(at);
            let FieldKind::Edge { to, inverse } = self.model.field(id).kind else { continue };
            self.fields[id.index()] = match (self.side(id), inverse) {
                (EdgeSide::Column, _) => self.single(id, to),
                (EdgeSide::Back, Some(other)) => {
                    let (table, column, by) = self.other_column(id, other);
                    Storage::ToOneBack { table, column, by }
                }
                (EdgeSide::Many, Some(other)) => {
                    let (table, column, by) = self.other_column(id, other);
                    Storage::ToMany { table, column, by }
                }
                (EdgeSide::Join | EdgeSide::Back | EdgeSide::Many, _) => {
                    self.join(id, to, inverse, &mut pairs)
                }
            };
        }
    }

    fn single(&mut self, id: FieldId, to: TypeId) -> Storage {
        // `row_columns` made the column.
        let Storage::ToOne { column, .. } = self.fields[id.index()] else { return self.fields[id.index()] };
        let by = self.add_relationship(id, self.number_of(to), column);
        if let Some(view) =
            self.all[to.index()].as_ref().map(|it| ColumnAt { table: it.table, column: it.id })
        {
            self.to_all[id.index()] = Some(self.add_relationship(id, view, column));
        }
        Storage::ToOne { column, by }
    }

    /// The column of the numbers of objects of `ty`.
    fn number_of(&self, ty: TypeId) -> ColumnAt {
        ColumnAt { table: self.tables[ty.index()], column: self.ids[ty.index()] }
    }

    /// The column of the other side that has our number, and the way to its rows.
    fn other_column(&mut self, id: FieldId, other: FieldId) -> (TableId, ColumnId, RelationshipId) {
        let owner = self.model.field(other).owner;
        let (table, _) = self.rows_of(owner);
        let Storage::ToOne { column, .. } = self.fields[other.index()] else {
            unreachable!("the other side has the column, and its row was made before")
        };
        let ours = self.rows_of(self.model.field(id).owner).1;
        let by = self.add_relationship(id, ColumnAt { table, column }, ours);
        if self.all[owner.index()].is_some() {
            self.to_all[id.index()] = Some(by);
        }
        (table, column, by)
    }

    fn join(
        &mut self,
        id: FieldId,
        to: TypeId,
        inverse: Option<FieldId>,
        pairs: &mut HashMap<FieldId, Pairs>,
    ) -> Storage {
        let root = self.root(id);
        let other = inverse.map(|it| self.root(it));
        let name = |id: FieldId| {
            let field = self.model.field(id);
            (self.model.ty(field.owner).name.as_str(), field.name.as_str())
        };
        let first = other.filter(|&other| name(other) < name(root)).unwrap_or(root);
        let kept = match pairs.get(&first) {
            Some(&kept) => kept,
            None => {
                let made = self.pairs(first);
                pairs.insert(first, made);
                made
            }
        };
        let (ours, theirs) =
            if first == root { (kept.first, kept.second) } else { (kept.second, kept.first) };
        let number = self.rows_of(self.model.field(id).owner).1;
        let through = Through { table: kept.table, ours, theirs };
        let by = self.add_relationship_through(id, self.number_of(to), number, through);
        if let Some(view) =
            self.all[to.index()].as_ref().map(|it| ColumnAt { table: it.table, column: it.id })
        {
            self.to_all[id.index()] = Some(self.add_relationship_through(id, view, number, through));
        }
        Storage::Join { table: kept.table, ours, theirs, by }
    }

    /// Makes the table of pairs of an edge.
    fn pairs(&mut self, id: FieldId) -> Pairs {
        let field = self.model.field(id);
        let FieldKind::Edge { to, .. } = field.kind else { unreachable!("only edges have pairs") };
        let owner = self.model.ty(field.owner);
        let target = self.model.ty(to);
        let name = self.names.take(&format!("{}_{}", owner.name, field.name));
        let table = self.table(name, TableKind::Table, &field.description);
        let names = &mut self.columns[table.0 as usize];
        let first = names.take(&format!("{}_id", crate::api::member_names::lower_first(&owner.name)));
        let second = names.take_first(&[
            &format!("{}_id", crate::api::member_names::lower_first(&target.name)),
            &format!("{}_id", field.name),
        ]);
        let first = self.reference(table, first, field.owner, false, "");
        let second = self.reference(table, second, to, false, "");
        self.primary_key(table, vec![first, second]);
        Pairs { table, first, second }
    }

    /// The tables of lists of values.
    pub(super) fn lists(&mut self) {
        let mut made: HashMap<FieldId, Storage> = HashMap::new();
        for at in 0..self.model.fields.len() as u32 {
            let id = FieldId(at);
            let field = self.model.field(id);
            let is_value = matches!(field.kind, FieldKind::Scalar(_) | FieldKind::Enum(_));
            if !field.is_list || !is_value {
                continue;
            }
            let root = self.root(id);
            let kept = match made.get(&root) {
                Some(&kept) => kept,
                None => {
                    let kept = self.values(root);
                    made.insert(root, kept);
                    kept
                }
            };
            let Storage::Values { table, owner, place, value, at, .. } = kept else { continue };
            let number = self.rows_of(field.owner).1;
            let by = self.add_relationship(id, ColumnAt { table, column: owner }, number);
            self.fields[id.index()] = Storage::Values { table, owner, place, value, at, by };
        }
    }

    /// Makes the table of a list of values.
    fn values(&mut self, id: FieldId) -> Storage {
        let field = self.model.field(id);
        let name = self.names.take(&format!("{}_{}", self.model.ty(field.owner).name, field.name));
        let table = self.table(name, TableKind::Table, &field.description);
        let place = self.column(table, "place".into(), ColumnType::BigInt, false, "");
        self.catalog[table.0 as usize].columns[place.0 as usize].has_default = true;
        let owner = self.reference(table, "id".into(), field.owner, false, "");
        let ty = self.value_type(field.kind);
        let value = self.column(table, "value".into(), ty, false, "");
        let is_instant = field.kind == FieldKind::Scalar(Scalar::DateTime);
        let at = is_instant.then(|| self.column(table, "value_at".into(), ColumnType::BigInt, false, ""));
        self.primary_key(table, vec![place]);
        let table_name = self.table_name(table).to_owned();
        let name = self.names.take(&format!("{table_name}_id_value_key"));
        self.catalog[table.0 as usize]
            .unique_keys
            .push(UniqueKey { name: name.clone(), columns: vec![owner, value] });
        self.indexes.push(super::Index {
            name,
            table,
            columns: vec![owner, value],
            kind: super::IndexKind::Unique,
            field: None,
        });
        Storage::Values { table, owner, place, value, at, by: RelationshipId(u32::MAX) }
    }

    /// The way from the rows of the owner of `id` to those of `to`, where `ours` of a row equals its column.
    fn add_relationship(&mut self, id: FieldId, to: ColumnAt, ours: ColumnId) -> RelationshipId {
        let field = self.model.field(id);
        let enforced = self.database.store_dialect().enforces_references();
        self.relationships.push(Relationship {
            name: field.name.clone(),
            from: self.rows_of(field.owner).0,
            to: to.table,
            comment: None,
            on: vec![(ours, to.column)],
            call: None,
            through: None,
            kind: if field.is_list {
                RelationshipKind::Array
            } else {
                RelationshipKind::Object { certain: false }
            },
            insert_first: self.side(id) == EdgeSide::Column && !field.is_list,
            enforced,
            deferrable: false,
        });
        RelationshipId(self.relationships.len() as u32 - 1)
    }

    /// Adds a relationship like [`Self::add_relationship`] that leads through a table of pairs.
    fn add_relationship_through(
        &mut self,
        id: FieldId,
        to: ColumnAt,
        ours: ColumnId,
        through: Through,
    ) -> RelationshipId {
        let by = self.add_relationship(id, to, ours);
        self.relationships[by.0 as usize].through = Some(through);
        by
    }
}
