//! Facts of each table for the generator, computed once.

use super::schema_core::{Core, Style, plain};
use crate::model::{Model, Tracked};
use std::collections::HashSet;
use weir_language::schema::{TypeId, TypeRef};
use weir_relational::catalog::facts::{Aggregates, Cell, Operators};
use weir_relational::catalog::{
    ColumnId, ColumnType, Relationship, RelationshipKind, Table, TableId, TableKind,
};

/// A tracked table with the types its members refer to.
pub(super) struct TableApi<'m> {
    pub(super) id: TableId,
    pub(super) table: &'m Table,
    pub(super) tracked: &'m Tracked,
    /// The exposed columns.
    pub(super) columns: Vec<ColumnApi<'m>>,
    pub(super) types: Types,
    /// All columns of the primary key are exposed.
    pub(super) by_pk: bool,
    pub(super) insertable: bool,
    pub(super) updatable: bool,
    pub(super) deletable: bool,
    /// An array relationship leads to the table.
    pub(super) in_arrays: bool,
    /// It stands for a logical model: only calls give its rows, and there are no aggregates.
    pub(super) is_model: bool,
}

/// An exposed column.
#[derive(Clone, Copy)]
pub(super) struct ColumnApi<'m> {
    pub(super) id: ColumnId,
    pub(super) name: &'m str,
    pub(super) comment: &'m str,
    /// The scalar or enum, or a list of scalars.
    pub(super) ty: TypeRef,
    /// Comparison type of the column.
    pub(super) comparison: TypeId,
    pub(super) nullable: bool,
    /// New rows may have a value for it.
    pub(super) insertable: bool,
    /// Updates may set the column.
    pub(super) updatable: bool,
    pub(super) numeric: bool,
    pub(super) comparable: bool,
    pub(super) boolean: bool,
    /// The column is a `float8`.
    pub(super) double: bool,
    pub(super) json: bool,
    pub(super) jsonb: bool,
}

/// Types that other types refer to.
#[derive(Clone, Copy)]
pub(super) struct Types {
    pub(super) object: TypeId,
    /// The object's own type for a logical model, whose aggregates nothing names.
    pub(super) aggregate: TypeId,
    pub(super) aggregate_fields: TypeId,
    pub(super) bool_exp: TypeId,
    pub(super) order_by: TypeId,
    pub(super) select_column: TypeId,
    /// Set if rows have identifiers: in Relay's form, for tables with a primary key.
    pub(super) connection: Option<TypeId>,
    /// Set for tables with a `_group_by` field.
    pub(super) group: Option<TypeId>,
    /// Set for tables that array relationships lead to.
    pub(super) aggregate_bool_exp: Option<TypeId>,
    pub(super) aggregate_order_by: Option<TypeId>,
    pub(super) arr_rel_insert_input: Option<TypeId>,
    /// Set for tables that object relationships lead to.
    pub(super) obj_rel_insert_input: Option<TypeId>,
    pub(super) insert_input: Option<TypeId>,
    /// Set for tables with a unique key.
    pub(super) on_conflict: Option<TypeId>,
    pub(super) mutation_response: Option<TypeId>,
}

impl TableApi<'_> {
    /// True if some columns can be added up.
    pub(super) fn has_numeric(&self) -> bool {
        self.columns.iter().any(|column| column.numeric)
    }
    /// True if some columns have a maximum.
    pub(super) fn has_comparable(&self) -> bool {
        self.columns.iter().any(|column| column.comparable)
    }
}

/// Finds out about all tracked tables; parallel to the catalog's tables.
pub(super) fn tables<'m>(model: &'m Model, core: &mut Core) -> Vec<Option<TableApi<'m>>> {
    let len = model.relations.catalog.tables.len();
    let [in_arrays, in_objects] = targets(model);
    let style = core.style;
    let names: HashSet<&str> = model.tables.iter().flatten().map(|it| it.name.as_str()).collect();
    let one = |at: usize, core: &mut Core| {
        // A type without fields is none: a table without columns is tracked and not shown.
        let table = Some(&model.relations.catalog.tables[at]).filter(|it| !it.columns.is_empty())?;
        let tracked = model.tables[at].as_ref()?;
        let columns = columns(model, table, tracked, core);
        let by_pk = table.primary_key.as_ref().is_some_and(|key| are_exposed(tracked, &key.columns));
        let insertable = table.insertable && columns.iter().any(|column| column.insertable);
        let updatable = table.updatable && columns.iter().any(|column| column.updatable);
        let arrays = in_arrays[at];
        let mut add = |wanted: bool, suffix: &str| wanted.then(|| core.reference(&tracked.name, suffix));
        let aggregate_bool_exp = add(arrays, "_aggregate_bool_exp");
        let aggregate_order_by = add(arrays, "_aggregate_order_by");
        let arr_rel_insert_input = add(arrays && insertable, "_arr_rel_insert_input");
        let obj_rel_insert_input = add(in_objects[at] && insertable, "_obj_rel_insert_input");
        let insert_input = add(insertable, "_insert_input");
        let on_conflict = add(insertable && updatable && !table.arbiters.is_empty(), "_on_conflict");
        let group = add(tracked.has_groups && style == Style::Lists, "_group");
        let mutation_response = add(insertable || updatable || table.deletable, "_mutation_response");
        let clashes = clashes_with_connection(&names, &tracked.name);
        let connection = add(by_pk && style == Style::Connections && !clashes, "Connection");
        let is_model = table.kind == TableKind::Model;
        let mut of = |suffix: &str| core.reference(&tracked.name, suffix);
        let types = Types {
            object: of(""),
            aggregate: of(if is_model { "" } else { "_aggregate" }),
            aggregate_fields: of(if is_model { "" } else { "_aggregate_fields" }),
            bool_exp: of("_bool_exp"),
            order_by: of("_order_by"),
            select_column: of(select_column_suffix(is_model)),
            connection,
            group,
            aggregate_bool_exp,
            aggregate_order_by,
            arr_rel_insert_input,
            obj_rel_insert_input,
            insert_input,
            on_conflict,
            mutation_response,
        };
        Some(TableApi {
            id: TableId(at as u32),
            table,
            tracked,
            columns,
            types,
            by_pk,
            insertable,
            updatable,
            deletable: table.deletable,
            in_arrays: arrays,
            is_model,
        })
    };
    (0..len).map(|at| one(at, core)).collect()
}

/// Suffix of the enum of a table's columns, or of a logical model's.
pub(super) const fn select_column_suffix(is_model: bool) -> &'static str {
    if is_model { "_enum_name" } else { "_select_column" }
}

/// The tables that array relationships lead to, and those that object relationships do.
fn targets(model: &Model) -> [Vec<bool>; 2] {
    let len = model.relations.catalog.tables.len();
    let mut in_arrays = vec![false; len];
    let mut in_objects = vec![false; len];
    let of_tables = model.relations.relationships.iter().filter(|it| !model.is_model(it.to));
    for Relationship { to, kind, .. } in of_tables {
        match kind {
            RelationshipKind::Array => in_arrays[to.0 as usize] = true,
            RelationshipKind::Object { .. } => in_objects[to.0 as usize] = true,
        }
    }
    [in_arrays, in_objects]
}

/// True if another table has the name of a type that the connections of the table `name` bring.
fn clashes_with_connection(names: &HashSet<&str>, name: &str) -> bool {
    ["Connection", "Edge"].iter().any(|it| names.contains(format!("{name}{it}").as_str()))
}

/// True if all of `columns` are exposed.
fn are_exposed(tracked: &Tracked, columns: &[ColumnId]) -> bool {
    columns.iter().all(|column| tracked.columns[column.0 as usize].is_some())
}

fn columns<'m>(
    model: &'m Model,
    table: &'m Table,
    tracked: &'m Tracked,
    core: &mut Core,
) -> Vec<ColumnApi<'m>> {
    let mut out = Vec::with_capacity(table.columns.len());
    for (at, (column, name)) in table.columns.iter().zip(&tracked.columns).enumerate() {
        let Some(name) = name else { continue };
        let values = tracked.enums[at].and_then(|values| model.tracked_table(values));
        let (ty, comparison) = match values {
            None => core.scalar_uses(&column.ty),
            Some(values) => {
                let ty = core.reference(&values.name, "_enum");
                (plain(ty), core.reference(&values.name, "_enum_comparison_exp"))
            }
        };
        let facts = column.ty.facts();
        let extremes = model.relations.catalog.abilities.of(&column.ty).has_extremes();
        let aggregates = match facts.aggregates {
            _ if values.is_some() => Aggregates::None,
            Aggregates::None if extremes && matches!(column.ty, ColumnType::Other(_)) => Aggregates::Extremes,
            of_type => of_type,
        };
        out.push(ColumnApi {
            id: ColumnId(at as u32),
            name,
            comment: &column.comment,
            ty,
            comparison,
            nullable: column.nullable,
            insertable: column.insertable && !column.generated,
            updatable: column.updatable && !column.generated,
            numeric: aggregates == Aggregates::Sums,
            comparable: aggregates != Aggregates::None,
            double: column.ty == ColumnType::Double,
            boolean: facts.cell == Cell::Boolean,
            json: matches!(column.ty, ColumnType::Json | ColumnType::Jsonb),
            jsonb: facts.operators.contains(&Operators::Jsonb),
        });
    }
    out
}
