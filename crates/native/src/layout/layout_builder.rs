//! Makes a layout: tables with their own columns first, so that edges have something to lead to; then edges, lists of
//! values and indexes.

use super::text_bounds::bytes_max;
use super::used_names::UsedNames;
use super::{Database, Index, Layout, Storage, View};
use crate::model::{FieldId, FieldKind, Key, Model, TypeId, TypeKind};
use weir_relational::catalog::{
    Catalog, Column, ColumnId, ColumnType, Follow, ForeignKey, Placement, Relations, Relationship,
    RelationshipId, Table, TableId, TableKind, UniqueKey,
};

/// A layout in the making.
pub(super) struct Builder<'m> {
    pub(super) model: &'m Model,
    pub(super) database: Database,
    schema: &'m str,
    /// Tables, views and indexes share them.
    pub(super) names: UsedNames,
    pub(super) catalog: Vec<Table>,
    /// The names of columns, by table.
    pub(super) columns: Vec<UsedNames>,
    pub(super) relationships: Vec<Relationship>,
    pub(super) tables: Vec<TableId>,
    pub(super) ids: Vec<ColumnId>,
    kinds: Vec<Option<ColumnId>>,
    pub(super) all: Vec<Option<View>>,
    pub(super) secrets: Vec<Option<ColumnId>>,
    pub(super) fields: Vec<Storage>,
    pub(super) to_all: Vec<Option<RelationshipId>>,
    pub(super) registry_keys: Vec<Option<ColumnId>>,
    pub(super) indexes: Vec<Index>,
}

pub(super) fn build(model: &Model, database: Database, schema: &str) -> Layout {
    let mut builder = Builder::new(model, database, schema);
    builder.tables();
    builder.views();
    builder.edges();
    builder.lists();
    builder.indexes();
    builder.finish()
}

impl<'m> Builder<'m> {
    fn new(model: &'m Model, database: Database, schema: &'m str) -> Self {
        let types = model.types.len();
        let fields = model.fields.len();
        Self {
            model,
            database,
            schema,
            names: UsedNames::default(),
            catalog: Vec::new(),
            columns: Vec::new(),
            relationships: Vec::new(),
            tables: Vec::new(),
            ids: Vec::new(),
            kinds: vec![None; types],
            all: vec![None; types],
            secrets: vec![None; types],
            fields: vec![Storage::Id(ColumnId(0)); fields],
            to_all: vec![None; fields],
            registry_keys: vec![None; fields],
            indexes: Vec::new(),
        }
    }

    /// The table of each object, the registry of each abstract type.
    fn tables(&mut self) {
        for id in self.model.type_ids() {
            let ty = self.model.ty(id);
            let name = self.names.take(&ty.name);
            let table = self.table(name, TableKind::Table, &ty.description);
            self.tables.push(table);
            let (key, kind) = match ty.kind {
                TypeKind::Object => self.row_columns(id, table, false),
                TypeKind::Interface | TypeKind::Union => self.registry(id, table),
            };
            self.ids.push(key);
            self.kinds[id.index()] = kind;
            self.primary_key(table, vec![key]);
        }
    }

    /// The columns of a registry: number, type and the keys that hold over all its objects.
    fn registry(&mut self, id: TypeId, table: TableId) -> (ColumnId, Option<ColumnId>) {
        let fields = self.model.fields_of(id);
        let keys: Vec<FieldId> =
            fields.filter(|it| it.1.key == Some(Key::Interface)).map(|it| it.0).collect();
        let key = self.key_name(id, table);
        let named: Vec<String> =
            keys.iter().map(|&it| self.columns[table.0 as usize].take(&self.model.field(it).name)).collect();
        let key = match key {
            Some(key) => key,
            None => self.columns[table.0 as usize].take_first(&["id", "uid"]),
        };
        let kind = self.columns[table.0 as usize].take_first(&["type", "object_type"]);
        let key = self.column(table, key, ColumnType::BigInt, false, "");
        let kind = self.column(table, kind, ColumnType::Text, false, "");
        for (field, name) in keys.into_iter().zip(named) {
            let it = self.model.field(field);
            let ty = self.value_type(it.kind);
            self.registry_keys[field.index()] =
                Some(self.column(table, name, ty, !it.is_required, &it.description));
        }
        (key, Some(kind))
    }

    /// The name of the number's column, if an `ID` of the type gives it one: it is taken before those of other fields.
    pub(super) fn key_name(&mut self, id: TypeId, table: TableId) -> Option<String> {
        let field = self.model.field(self.model.id_of(id)?);
        Some(self.columns[table.0 as usize].take(&field.name))
    }

    /// The view of each interface.
    fn views(&mut self) {
        for id in self.model.type_ids() {
            let ty = self.model.ty(id);
            if ty.kind != TypeKind::Interface {
                continue;
            }
            let name = self.names.take(&format!("{}_all", ty.name));
            let table = self.table(name, TableKind::View, &ty.description);
            let (key, kind) = self.row_columns(id, table, true);
            let Some(kind) = kind else { continue };
            let members = ty.members.iter().map(|&member| self.columns_for_view(id, member, table)).collect();
            self.all[id.index()] = Some(View { table, id: key, kind, members });
        }
    }

    /// For each column of a view, the column of `member`.
    fn columns_for_view(&self, interface: TypeId, member: TypeId, view: TableId) -> Vec<Option<ColumnId>> {
        let mut columns = vec![None; self.catalog[view.0 as usize].columns.len()];
        columns[0] = Some(self.ids[member.index()]);
        if let Some(secret) = self.secrets[interface.index()] {
            columns[secret.0 as usize] = self.secrets[member.index()];
        }
        for (id, field) in self.model.fields_of(interface) {
            let Some(own) = self.model.field_by_name(member, &field.name) else { continue };
            let theirs = own_columns(self.fields[own.index()]);
            let ours = own_columns(self.fields[id.index()]);
            for (view, member) in ours.into_iter().zip(theirs) {
                columns[view.0 as usize] = Some(member);
            }
        }
        columns
    }

    pub(super) fn table(&mut self, name: String, kind: TableKind, comment: &str) -> TableId {
        let stored = kind == TableKind::Table;
        self.catalog.push(Table {
            schema: self.schema.to_owned(),
            name,
            kind,
            columns: Vec::new(),
            primary_key: None,
            unique_keys: Vec::new(),
            arbiters: Vec::new(),
            foreign_keys: Vec::new(),
            comment: comment.to_owned(),
            insertable: stored,
            updatable: stored,
            deletable: stored,
            rows_estimate: None,
            is_whole: true,
            acts: false,
            acts_late: false,
            has_broken_index: false,
            placement: Placement::Local,
        });
        self.columns.push(UsedNames::default());
        TableId(self.catalog.len() as u32 - 1)
    }

    pub(super) fn table_name(&self, id: TableId) -> &str {
        &self.catalog[id.0 as usize].name
    }

    pub(super) fn column_name(&self, table: TableId, column: ColumnId) -> &str {
        &self.catalog[table.0 as usize].column(column).name
    }

    /// Adds a column whose name was taken.
    pub(super) fn column(
        &mut self,
        table: TableId,
        name: String,
        ty: ColumnType,
        nullable: bool,
        comment: &str,
    ) -> ColumnId {
        let (declared, oid) = self.database.store_dialect().type_declaration(&ty);
        let columns = &mut self.catalog[table.0 as usize].columns;
        columns.push(Column {
            name,
            declared: declared.to_owned(),
            ty,
            oid,
            nullable,
            has_default: false,
            generated: false,
            insertable: true,
            updatable: true,
            derived: false,
            folds: false,
            by_prefix: false,
            is_loose: false,
            storage: weir_relational::catalog::Storage::Exact,
            comment: comment.to_owned(),
        });
        ColumnId(columns.len() as u32 - 1)
    }

    /// Adds a column that refers to the objects of a type.
    pub(super) fn reference(
        &mut self,
        table: TableId,
        name: String,
        to: TypeId,
        nullable: bool,
        comment: &str,
    ) -> ColumnId {
        let column = self.column(table, name, ColumnType::BigInt, nullable, comment);
        if self.catalog[table.0 as usize].kind == TableKind::Table {
            self.pending(table, column, to);
        }
        column
    }

    /// A foreign key. The tables of all types have the places of their types, so it can be made before its target.
    fn pending(&mut self, table: TableId, column: ColumnId, to: TypeId) {
        let owner = &mut self.catalog[table.0 as usize];
        let name = format!("{}_{}_fkey", owner.name, owner.column(column).name);
        owner.foreign_keys.push(ForeignKey {
            name,
            columns: vec![column],
            target: TableId(to.0),
            target_columns: vec![ColumnId(0)],
            holds: true,
            // Another program may write to a file with foreign keys switched off.
            enforced: self.database.store_dialect().enforces_references(),
            deferrable: false,
            on_delete: Follow::Nothing,
            on_update: Follow::Nothing,
        });
    }

    pub(super) fn primary_key(&mut self, table: TableId, columns: Vec<ColumnId>) {
        let table = &mut self.catalog[table.0 as usize];
        table.primary_key = Some(UniqueKey { name: format!("{}_pkey", table.name), columns });
    }

    /// Column type of a field's values.
    pub(super) fn value_type(&self, kind: FieldKind) -> ColumnType {
        use crate::model::Scalar;
        match kind {
            FieldKind::Id | FieldKind::Edge { .. } => ColumnType::BigInt,
            FieldKind::Enum(_) => ColumnType::Text,
            FieldKind::Scalar(scalar) => match scalar {
                Scalar::Int => ColumnType::Int,
                Scalar::Int64 => ColumnType::BigInt,
                Scalar::Float => ColumnType::Double,
                Scalar::Boolean => ColumnType::Boolean,
                Scalar::String
                | Scalar::DateTime
                | Scalar::Point
                | Scalar::Polygon
                | Scalar::MultiPolygon => ColumnType::Text,
            },
        }
    }

    fn finish(self) -> Layout {
        let relations = Relations {
            catalog: Catalog { tables: self.catalog, ..Catalog::default() },
            relationships: self.relationships,
            functions: Vec::new(),
        };
        Layout {
            relations,
            tables: self.tables,
            ids: self.ids,
            kinds: self.kinds,
            all: self.all,
            secrets: self.secrets,
            fields: self.fields,
            to_all: self.to_all,
            registry_keys: self.registry_keys,
            bytes_max: bytes_max(self.model, self.database),
            indexes: self.indexes,
        }
    }
}

/// The columns of the object's own row.
fn own_columns(storage: Storage) -> Vec<ColumnId> {
    match storage {
        Storage::Id(column) | Storage::Column(column) | Storage::ToOne { column, .. } => vec![column],
        Storage::Instant { text, at } => vec![text, at],
        Storage::Point { longitude, latitude } => vec![longitude, latitude],
        Storage::Shape { text, bounds } => [text].into_iter().chain(bounds).collect(),
        Storage::Values { .. }
        | Storage::ToOneBack { .. }
        | Storage::ToMany { .. }
        | Storage::Join { .. } => Vec::new(),
    }
}
