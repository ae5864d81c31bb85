//! The meaning of every field, input and enum value of the generated schema: tables parallel to the schema's.
//!
//! The planner never looks at names: it reads these tables by id.
//!
//! **Invariant:** parallel to the tables of the schema they were made with; members of the introspection types and
//! the built-in directives mean [`FieldMeaning::None`], [`InputMeaning::None`] or [`EnumMeaning::None`].

use crate::model::Model;
use crate::permission::Permissions;
use std::sync::Arc;
use weir_engine::source::EntityLookup;
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema};
use weir_postgres::RowSecurity;
use weir_relational::catalog::{ColumnId, ColumnType, FunctionId, RelationshipId, TableId};
use weir_relational::plan::operators::{Aggregation, Cast, Comparison, Measure, Statistic};

/// A generated schema with its meaning.
#[derive(Debug)]
pub struct Api {
    pub schema: Arc<Schema>,
    /// The model that the schema was generated from.
    pub model: Arc<Model>,
    /// The permissions of roles other than the admin.
    pub permissions: Arc<Permissions>,
    /// Rules by which the database's own policies choose rows, with the role of each caller.
    pub row_security: Option<RowSecurity>,
    /// True for Relay's form.
    pub is_relay: bool,
    /// By [`FieldId`].
    pub fields: Vec<FieldMeaning>,
    /// By [`InputId`].
    pub inputs: Vec<InputMeaning>,
    /// By [`EnumValueId`].
    pub enum_values: Vec<EnumMeaning>,
    /// By [`EnumValueId`]: the database's text of a value, where it is not the name. Empty: none.
    pub enum_texts: Vec<Option<Box<str>>>,
    /// Lookups of entities of a federation.
    pub entity_lookups: Vec<EntityLookup>,
}

impl Api {
    pub fn field(&self, id: FieldId) -> FieldMeaning {
        self.fields[id.index()]
    }
    /// The meaning of an argument or input field.
    pub fn input(&self, id: InputId) -> InputMeaning {
        self.inputs[id.index()]
    }
    pub fn enum_value(&self, id: EnumValueId) -> EnumMeaning {
        self.enum_values[id.index()]
    }
    pub fn column_type(&self, table: TableId, column: ColumnId) -> &ColumnType {
        &self.model.relations.catalog.tables[table.0 as usize].columns[column.0 as usize].ty
    }
}

/// Facts of a page of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFact {
    /// `hasNextPage`.
    HasNext,
    /// `hasPreviousPage`.
    HasPrevious,
    /// `startCursor`.
    Start,
    /// `endCursor`.
    End,
}

/// Meanings of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMeaning {
    /// A member that is not part of this API, or belongs to an interface.
    None,
    /// `node`: a row by its identifier.
    Node,
    /// `Album_connection`: a page of rows.
    Connection(TableId),
    /// `Album_Tracks_connection`: a page of related rows.
    RelatedConnection(RelationshipId),
    /// `id` of a row: its identifier among all rows of all tables.
    Identifier(TableId),
    /// `edges` of a connection.
    Edges(TableId),
    /// `node` of an edge.
    EdgeNode(TableId),
    /// `cursor` of an edge.
    Cursor(TableId),
    /// `pageInfo` of a connection.
    PageInfo(TableId),
    /// A field of `pageInfo`.
    PageFact(PageFact),
    /// `Album`: rows.
    Select(TableId),
    /// `Album_stream`.
    Stream(TableId),
    /// `Album_by_pk`.
    ByPk(TableId),
    /// `Album_aggregate`.
    SelectAggregate(TableId),
    /// `Album_group_by`.
    GroupBy(TableId),
    /// Rows by columns, for joins alone.
    Lookup(TableId),
    /// One row by columns, for joins alone.
    LookupOne(TableId),
    /// Aggregates over rows by columns, for joins alone.
    LookupAggregate(TableId),
    /// Rows of a table that a function gives.
    Call(FunctionId, TableId),
    /// Aggregates over them.
    CallAggregate(FunctionId, TableId),
    /// Result of a function of a row.
    Computed(FunctionId),
    /// `insert_Album`.
    Insert(TableId),
    /// `insert_Album_one`.
    InsertOne(TableId),
    /// `update_Album`.
    Update(TableId),
    /// `update_Album_by_pk`.
    UpdateByPk(TableId),
    /// `update_Album_many`.
    UpdateMany(TableId),
    /// `delete_Album`.
    Delete(TableId),
    /// `delete_Album_by_pk`.
    DeleteByPk(TableId),
    /// A column of a row; also of a group's key.
    Column(TableId, ColumnId),
    /// A related row or rows.
    Related(RelationshipId),
    /// `Album_Tracks_aggregate`.
    RelatedAggregate(RelationshipId),
    /// `aggregate` in `Album_aggregate` and `Album_group`.
    Aggregate(TableId),
    /// `nodes` in `Album_aggregate`.
    Nodes(TableId),
    /// `count` in `Album_aggregate_fields`.
    Count(TableId),
    /// `sum`, `avg` …: an object of columns.
    Function(TableId, Aggregation),
    /// A column below `sum`, `avg` ….
    FunctionColumn(TableId, Aggregation, ColumnId),
    /// `key` of a group.
    GroupKey(TableId),
    /// `affected_rows`.
    AffectedRows(TableId),
    /// `returning`.
    Returning(TableId),
}

/// Meanings of arguments and input fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputMeaning {
    /// A member that is not part of this API.
    None,
    /// `where`.
    Where(TableId),
    /// `order_by`.
    OrderBy(TableId),
    /// `distinct_on`.
    DistinctOn(TableId),
    /// `id` of `node`.
    NodeId,
    /// `first`.
    First,
    /// `last`.
    Last,
    /// `after`.
    After,
    /// `before`.
    Before,
    /// `limit`.
    Limit,
    /// `offset`.
    Offset,
    /// `batch_size` of a stream.
    BatchSize,
    /// `cursor` of a stream.
    StreamCursor(TableId),
    /// `initial_value` of a cursor of a stream.
    InitialValue,
    /// `ordering` of a cursor of a stream.
    StreamOrdering,
    /// `path` of a JSON column.
    JsonPath,
    /// `columns` of `count`; `arguments` of an aggregate predicate.
    CountColumns(TableId),
    /// `distinct` of `count` and of aggregate predicates.
    CountDistinct,
    /// `args` of a function.
    FunctionArguments,
    /// An argument of a function, by its index in the catalog.
    FunctionArgument(u32),
    /// `by` of a group by.
    GroupBy(TableId),
    /// `having` of a group by.
    Having(TableId),
    /// `order_by` of a group by.
    GroupOrderBy(TableId),
    /// `objects` and `object`.
    Objects(TableId),
    /// `data` of a nested insert.
    Data(TableId),
    /// `on_conflict`.
    OnConflict(TableId),
    /// `constraint` of an on_conflict.
    Constraint,
    /// `update_columns` of an on_conflict.
    UpdateColumns,
    /// `pk_columns`.
    PkColumns(TableId),
    /// `updates` of an update_many.
    Updates(TableId),
    /// `_set`.
    Set,
    /// `_inc`.
    Inc,
    /// `_append`.
    Append,
    /// `_prepend`.
    Prepend,
    /// `_delete_key`.
    DeleteKey,
    /// `_delete_elem`.
    DeleteElem,
    /// `_delete_at_path`.
    DeleteAtPath,
    /// A column: in a bool_exp, order_by, set, insert, pk_columns, or as an argument of `_by_pk`.
    Column(TableId, ColumnId),
    /// Result of a function of a row: in a bool_exp or order_by.
    Computed(FunctionId),
    /// A relationship: in a bool_exp, order_by or insert.
    Related(RelationshipId),
    /// `Album_Tracks_aggregate` in a bool_exp or order_by.
    RelatedAggregate(RelationshipId),
    /// `_and`.
    And,
    /// `_or`.
    Or,
    /// `_not`.
    Not,
    /// `_eq` and the like.
    Compare(Comparison),
    /// `count` in an order_by, aggregate predicate or having.
    Count,
    /// `avg`, `max` … in an order_by or having.
    Function(Aggregation),
    /// `predicate` of an aggregate predicate.
    Predicate,
    /// `filter` of an aggregate predicate.
    Filter(TableId),
    /// `bool_and` of an aggregate predicate.
    BoolAnd,
    /// `bool_or` of an aggregate predicate.
    BoolOr,
    /// `avg`, `corr` … of an aggregate predicate.
    Statistic(Statistic),
    /// `arguments` of one over two columns.
    Pair,
    /// `key` in the order of a group by.
    GroupKey(TableId),
    /// `_st_d_within` and the like.
    Measure(Measure),
    /// A value of one: its place.
    Measured(u8),
    /// `_cast` of a comparison.
    Cast,
    /// A type below `_cast`.
    CastTo(Cast),
    /// `_PLACEHOLDER` of rows that are inserted: stands for no column of the table, for roles that may give none a value.
    NoColumn(TableId),
}

/// Meanings of enum values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumMeaning {
    /// A member that is not part of this API.
    None,
    /// A column of `t_select_column` or `t_update_column`.
    Column(TableId, ColumnId),
    /// A direction of `order_by`, or of a stream.
    Order {
        /// Largest first.
        descending: bool,
        /// Nulls before the rest.
        nulls_first: bool,
    },
    /// A key of `t_constraint`: its place in `arbiters`.
    Constraint(TableId, u32),
    /// `_PLACEHOLDER`: stands for no column of the table, for roles that may update none.
    NoColumn(TableId),
    /// The value of this row of an enum table.
    TableValue(TableId, u32),
}
