//! The indexes: every edge both ways, every key, every `@search`.

use super::layout_builder::Builder;
use super::{Index, IndexKind, Storage};
use crate::model::{Field, FieldId, FieldKind, Scalar, Search, TypeId, TypeKind};
use weir_relational::catalog::{ColumnId, TableId, UniqueKey};

impl Builder<'_> {
    pub(super) fn indexes(&mut self) {
        for id in self.model.type_ids() {
            match self.model.ty(id).kind {
                TypeKind::Object => self.indexes_of_object(id),
                TypeKind::Interface => self.indexes_of_registry(id),
                TypeKind::Union => {}
            }
        }
        for at in 0..self.model.fields.len() as u32 {
            let id = FieldId(at);
            if self.root(id) == id {
                self.indexes_of_lists(id);
            }
        }
    }

    fn indexes_of_object(&mut self, id: TypeId) {
        let table = self.tables[id.index()];
        for (field, it) in self.model.fields_of(id) {
            let storage = self.fields[field.index()];
            if it.key.is_some()
                && let Some(column) = comparable_column(storage)
            {
                self.add(table, vec![column], IndexKind::Unique, Some(field));
            }
            if let Storage::ToOne { column, .. } = storage {
                let kind = if self.is_one_to_one(field) { IndexKind::Unique } else { IndexKind::Tree };
                self.add(table, vec![column], kind, None);
            }
            if !it.is_list {
                self.searches(field, table, storage);
            }
        }
        for together in &self.model.ty(id).unique {
            let columns =
                together.iter().filter_map(|field| comparable_column(self.fields[field.index()])).collect();
            self.add(table, columns, IndexKind::Unique, None);
        }
    }

    fn indexes_of_registry(&mut self, id: TypeId) {
        let table = self.tables[id.index()];
        for (field, _) in self.model.fields_of(id) {
            if let Some(column) = self.registry_keys[field.index()] {
                self.add(table, vec![column], IndexKind::Unique, Some(field));
            }
        }
    }

    /// Adds the indexes of a list in a separate table, or of the first side of a table of pairs.
    fn indexes_of_lists(&mut self, id: FieldId) {
        let storage = self.fields[id.index()];
        match storage {
            Storage::Values { table, .. } => self.searches(id, table, storage),
            Storage::Join { table, ours, theirs, .. } if ours < theirs => {
                self.add(table, vec![theirs, ours], IndexKind::Tree, None);
            }
            _ => {}
        }
    }

    /// True if equal texts of the field are found by a prefix, because they may be of any length.
    pub(super) fn by_prefix(&self, field: &Field) -> bool {
        let is_hash = field.kind == FieldKind::Scalar(Scalar::String) && field.search.contains(&Search::Hash);
        let is_bounded = self.database.store_dialect().tree_bytes_max().is_some();
        is_hash && !field.is_list && field.key.is_none() && is_bounded
    }

    fn is_one_to_one(&self, id: FieldId) -> bool {
        let FieldKind::Edge { inverse: Some(other), .. } = self.model.field(id).kind else { return false };
        !self.model.field(other).is_list
    }

    /// The indexes that `@search` asks for, each once.
    fn searches(&mut self, id: FieldId, table: TableId, storage: Storage) {
        let field = self.model.field(id);
        let mut made: Vec<IndexKind> = Vec::new();
        for search in &field.search {
            let kind = match index_kind(*search) {
                IndexKind::Tree if self.by_prefix(field) => IndexKind::Prefix,
                kind => kind,
            };
            let known = kind == IndexKind::Tree && field.key.is_some();
            if known || made.contains(&kind) {
                continue;
            }
            made.push(kind);
            let columns = match kind {
                IndexKind::Tree | IndexKind::Prefix | IndexKind::Unique => {
                    comparable_column(storage).into_iter().collect()
                }
                IndexKind::Terms | IndexKind::Fulltext | IndexKind::Trigrams => {
                    text(storage).into_iter().collect()
                }
                IndexKind::Boxes => boxes(storage),
            };
            self.add(table, columns, kind, Some(id));
        }
    }

    fn add(&mut self, table: TableId, columns: Vec<ColumnId>, kind: IndexKind, field: Option<FieldId>) {
        let mut wanted = self.table_name(table).to_owned();
        match (kind, field) {
            (IndexKind::Boxes, Some(field)) => {
                wanted.push('_');
                wanted.push_str(&self.model.field(field).name);
            }
            _ => {
                for &column in &columns {
                    wanted.push('_');
                    wanted.push_str(self.column_name(table, column));
                }
            }
        }
        let (suffix, is_virtual) = match kind {
            IndexKind::Tree | IndexKind::Prefix => ("_idx", false),
            IndexKind::Unique => ("_key", false),
            IndexKind::Terms => ("_terms", true),
            IndexKind::Fulltext => ("_fulltext", true),
            IndexKind::Trigrams => ("_trigrams", true),
            IndexKind::Boxes => ("_boxes", true),
        };
        wanted.push_str(suffix);
        let name = if is_virtual { self.names.take_virtual(&wanted) } else { self.names.take(&wanted) };
        if kind == IndexKind::Unique {
            let key = UniqueKey { name: name.clone(), columns: columns.clone() };
            self.catalog[table.0 as usize].unique_keys.push(key);
        }
        self.indexes.push(Index { name, table, columns, kind, field });
    }
}

/// The index that a kind of `@search` asks for.
pub fn index_kind(search: Search) -> IndexKind {
    match search {
        Search::Hash
        | Search::Exact
        | Search::Number
        | Search::Bool
        | Search::Year
        | Search::Month
        | Search::Day
        | Search::Hour
        | Search::EnumHash
        | Search::EnumExact => IndexKind::Tree,
        Search::Term => IndexKind::Terms,
        Search::Fulltext => IndexKind::Fulltext,
        Search::Trigram | Search::Ngram | Search::EnumTrigram => IndexKind::Trigrams,
        Search::Geo => IndexKind::Boxes,
    }
}

/// The column that compares and sorts as the values do.
pub(crate) fn comparable_column(storage: Storage) -> Option<ColumnId> {
    match storage {
        Storage::Instant { at, .. } => Some(at),
        Storage::Values { value, at, .. } => Some(at.unwrap_or(value)),
        Storage::Id(column) | Storage::Column(column) | Storage::ToOne { column, .. } => Some(column),
        _ => None,
    }
}

fn text(storage: Storage) -> Option<ColumnId> {
    match storage {
        Storage::Column(column) | Storage::Values { value: column, .. } => Some(column),
        _ => None,
    }
}

/// The columns with the place or the bounds.
fn boxes(storage: Storage) -> Vec<ColumnId> {
    match storage {
        Storage::Point { longitude, latitude } => vec![longitude, latitude],
        Storage::Shape { bounds, .. } => bounds.to_vec(),
        _ => Vec::new(),
    }
}
