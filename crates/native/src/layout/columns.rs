//! The columns that a field has in the row of its object.

use super::Storage;
use super::edges::EdgeSide;
use super::layout_builder::Builder;
use crate::model::{Field, FieldId, FieldKind, Scalar, TypeId};
use weir_relational::catalog::{ColumnId, ColumnType, RelationshipId, TableId};

/// Suffixes of a shape's columns: minimum longitude and latitude, maximum longitude and latitude.
const BOUNDS: [&str; 4] = ["_west", "_south", "_east", "_north"];

/// The way of an edge until [`Builder::edges`] knows it.
const UNKNOWN: RelationshipId = RelationshipId(u32::MAX);

impl Builder<'_> {
    /// The columns of an object's table or, if `is_view`, of an interface's view: the number first, and in a view the
    /// type after it.
    ///
    /// Columns are named as their fields; generated names yield to them.
    pub(super) fn row_columns(
        &mut self,
        id: TypeId,
        table: TableId,
        is_view: bool,
    ) -> (ColumnId, Option<ColumnId>) {
        let key = self.key_name(id, table);
        let model = self.model;
        let names = &mut self.columns[table.0 as usize];
        let plain: Vec<Option<String>> = model
            .fields_of(id)
            .map(|(_, field)| keeps_name(field).then(|| names.take(&field.name)))
            .collect();
        let key = key.unwrap_or_else(|| names.take_first(&["id", "uid"]));
        let kind = is_view.then(|| names.take_first(&["type", "object_type"]));
        let key = self.column(table, key, ColumnType::BigInt, false, "");
        let kind = kind.map(|name| self.column(table, name, ColumnType::Text, false, ""));
        for ((field, it), name) in model.fields_of(id).zip(plain) {
            let storage = match it.kind {
                FieldKind::Id => Some(Storage::Id(key)),
                _ if it.is_list => None,
                FieldKind::Edge { to, .. } => {
                    let holds = self.side(field) == EdgeSide::Column;
                    holds.then(|| self.edge_column(table, it, to))
                }
                FieldKind::Scalar(_) | FieldKind::Enum(_) => Some(self.value(table, it, name)),
            };
            if let Some(storage) = storage {
                self.fields[field.index()] = storage;
            }
        }
        if let Some(secret) = &model.ty(id).secret {
            let name = self.columns[table.0 as usize].take(&secret.name);
            self.secrets[id.index()] = Some(self.column(table, name, ColumnType::Text, true, ""));
        }
        (key, kind)
    }

    fn value(&mut self, table: TableId, field: &Field, name: Option<String>) -> Storage {
        let scalar = match field.kind {
            FieldKind::Scalar(scalar) => Some(scalar),
            FieldKind::Id | FieldKind::Enum(_) | FieldKind::Edge { .. } => None,
        };
        let derived = |builder: &mut Self, suffix: &str, ty| {
            let name = builder.columns[table.0 as usize].take(&format!("{}{suffix}", field.name));
            builder.column(table, name, ty, !field.is_required, "")
        };
        let Some(name) = name else {
            let longitude = derived(self, "_longitude", ColumnType::Double);
            let latitude = derived(self, "_latitude", ColumnType::Double);
            return Storage::Point { longitude, latitude };
        };
        let ty = self.value_type(field.kind);
        let column = self.column(table, name, ty, !field.is_required, &field.description);
        self.catalog[table.0 as usize].columns[column.0 as usize].by_prefix = self.by_prefix(field);
        match scalar {
            Some(Scalar::DateTime) => {
                Storage::Instant { text: column, at: derived(self, "_at", ColumnType::BigInt) }
            }
            Some(Scalar::Polygon | Scalar::MultiPolygon) => {
                let bounds = BOUNDS.map(|suffix| derived(self, suffix, ColumnType::Double));
                Storage::Shape { text: column, bounds }
            }
            None
            | Some(
                Scalar::String
                | Scalar::Int
                | Scalar::Int64
                | Scalar::Float
                | Scalar::Boolean
                | Scalar::Point,
            ) => Storage::Column(column),
        }
    }

    /// An edge may be empty whatever the type says: its object may have been deleted.
    fn edge_column(&mut self, table: TableId, field: &Field, to: TypeId) -> Storage {
        let name = self.columns[table.0 as usize].take(&format!("{}_id", field.name));
        let column = self.reference(table, name, to, true, &field.description);
        Storage::ToOne { column, by: UNKNOWN }
    }

    /// The table of an object, the view of an interface: where the rows are that `fields` speaks of.
    pub(super) fn rows_of(&self, id: TypeId) -> (TableId, ColumnId) {
        match &self.all[id.index()] {
            Some(view) => (view.table, view.id),
            None => (self.tables[id.index()], self.ids[id.index()]),
        }
    }

    /// The field that an interface has first, of which this is a copy; itself for all others.
    pub(super) fn root(&self, mut id: FieldId) -> FieldId {
        while let Some(from) = self.model.field(id).inherited_from {
            id = from;
        }
        id
    }
}

/// True if a column has the name of the field.
fn keeps_name(field: &Field) -> bool {
    let is_value = match field.kind {
        FieldKind::Scalar(scalar) => scalar != Scalar::Point,
        FieldKind::Enum(_) => true,
        FieldKind::Id | FieldKind::Edge { .. } => false,
    };
    is_value && !field.is_list
}
