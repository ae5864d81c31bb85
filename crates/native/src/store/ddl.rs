//! From a layout to the definitions that make it: tables, keys, indexes, views.
//!
//! **Invariant:** names and types come from the layout alone; the same layout gives the same definitions.

use super::versions::NUMBERS;
use super::{Error, Types};
use crate::layout::{self, Database, IndexKind, Layout, View};
use crate::model::TypeId;
use weir_relational::catalog::{ColumnId, Table, TableId, TableKind};
use weir_relational::dialect::store::SideIndex;
use weir_relational::plan::ddl::{self, Definition, Index, Reference, Value};
pub(crate) use weir_relational::quoting::{list, literal, quote_identifier};
use weir_relational::values::word_form;

/// All stored tables. Views are made by [`views`].
pub(super) fn stored_tables(layout: &Layout) -> impl Iterator<Item = (TableId, &Table)> {
    let tables = layout.relations.catalog.tables.iter().enumerate();
    tables.filter(|(_, table)| table.kind == TableKind::Table).map(|(at, table)| (TableId(at as u32), table))
}

/// The table `id` under `name`. Objects take their numbers from the store's source.
pub(super) fn table(layout: &Layout, id: TableId, name: &str) -> ddl::TableDefinition {
    ddl::TableDefinition::of(&layout.relations.catalog, id, name, numbers(layout, id))
}

/// A column of the table `id`.
pub(super) fn column(layout: &Layout, id: TableId, column: ColumnId) -> ddl::ColumnDefinition {
    ddl::ColumnDefinition::of(&layout.relations.catalog, id, column, numbers(layout, id))
}

fn numbers(layout: &Layout, id: TableId) -> Option<ddl::Numbers> {
    let is_object = layout.tables.iter().zip(&layout.kinds).any(|(it, kind)| *it == id && kind.is_none());
    is_object.then_some(NUMBERS)
}

/// The references of a table, which wait until all tables are there.
pub(super) fn references(layout: &Layout, id: TableId) -> impl Iterator<Item = Definition> + '_ {
    let catalog = &layout.relations.catalog;
    let table = catalog.table(id);
    table.foreign_keys.iter().map(move |key| Definition::AddReference {
        table: table.name.clone(),
        reference: Reference::of(catalog, table, key),
    })
}

pub(super) fn columns(table: &Table, ids: &[ColumnId]) -> String {
    list(ids.iter().map(|&id| table.column(id).name.as_str()))
}

/// The views over the objects of each interface.
pub(super) fn views(types: &Types) -> Vec<Definition> {
    let all = types.model.type_ids().zip(&types.layout.all);
    all.filter_map(|(ty, view)| create_view(types, ty, view.as_ref()?)).collect()
}

/// `None` where nothing implements the interface: a view of nothing has no types.
fn create_view(types: &Types, ty: TypeId, view: &View) -> Option<Definition> {
    let catalog = &types.layout.relations.catalog;
    let table = catalog.table(view.table);
    let member = |(of, columns): (&TypeId, &Vec<Option<ColumnId>>)| {
        let source = catalog.table(types.layout.tables[of.index()]);
        let named = table.columns.iter().zip(columns).map(|(column, from)| {
            let kind = || Value::Text(types.model.ty(*of).name.clone());
            let from = from.map_or_else(kind, |it| Value::Column(source.column(it).name.clone()));
            (from, column.name.clone())
        });
        (source.name.clone(), named.collect())
    };
    let members: Vec<_> = types.model.ty(ty).members.iter().zip(&view.members).map(member).collect();
    (!members.is_empty()).then(|| Definition::CreateView { name: table.name.clone(), members })
}

pub(crate) fn index(layout: &Layout, index: &layout::Index) -> Index {
    let table = layout.relations.catalog.table(index.table);
    Index {
        name: index.name.clone(),
        table: table.name.clone(),
        key: row_key_column(table).map(str::to_owned),
        columns: index.columns.iter().map(|it| table.column(*it).name.clone()).collect(),
        kind: index.kind,
    }
}

/// The statement that creates what an index needs besides itself: a function or an extension.
pub(super) fn prepare_index(
    database: &mut super::database::Database,
    index: IndexKind,
) -> Result<Option<String>, Error> {
    let dialect = database.kind().store_dialect();
    if let (IndexKind::Terms | IndexKind::Fulltext, Some(asked)) = (index, dialect.word_abilities()) {
        let rows = database.query(asked, &[], 2)?;
        let [normalises, has_cases] = [0, 1].map(|at| rows.first().is_some_and(|it| it[at].int() > 0));
        return Ok(Some(word_form::create_function(normalises, has_cases)));
    }
    Ok(dialect.extension(index).map(|it| it.create.to_owned()))
}

/// True if an index is a separate table that has to be filled.
pub(crate) fn is_virtual(kind: Database, index: IndexKind) -> bool {
    kind.store_dialect().index_is_table(index)
}

fn row_key_column(table: &Table) -> Option<&str> {
    match table.primary_key.as_ref().map(|key| key.columns.as_slice()) {
        Some([one]) => Some(&table.column(*one).name),
        Some(_) | None => None,
    }
}

/// The column by which a word or box index knows a row.
pub(super) fn row_key(table: &Table) -> String {
    row_key_column(table).map_or_else(|| "rowid".into(), quote_identifier)
}

/// Indexes of `layout` that are separate tables, which the writer maintains without triggers.
pub(crate) fn side_indexes(kind: Database, layout: &Layout) -> Vec<SideIndex> {
    let dialect = kind.store_dialect();
    layout.indexes.iter().filter_map(|it| dialect.side_index(&index(layout, it))).collect()
}

/// Everything that makes an empty store of `types`, but for the indexes that are `later`.
pub(super) fn create_all(types: &Types, later: impl Fn(&layout::Index) -> bool) -> Vec<Definition> {
    let layout = &types.layout;
    let tables = stored_tables(layout).map(|(id, it)| Definition::CreateTable(table(layout, id, &it.name)));
    let references = stored_tables(layout).flat_map(|(id, _)| references(layout, id));
    let now = layout.indexes.iter().filter(|it| !later(it));
    let indexes = now.map(|it| Definition::CreateIndex(index(layout, it)));
    tables.chain(references).chain(indexes).chain(views(types)).collect()
}
