//! The interface between the executor and a front end: Hasura's API, or that of native types.
//!
//! **Cost:** a [`ApiFrontend`] is asked while planning; in a request only for the enum values of structural variables.

pub mod coordinates;
pub mod form;
pub mod input;
pub mod program;

use form::Form;
use program::{Call, Programs};
use std::sync::Arc;
use weir_engine::caller::{Claims, Facts, Identity};
use weir_engine::demand::{CostRule, ListSize};
use weir_engine::plan::output_plan::{OutputField, OutputPlan, SelectionSetId};
use weir_engine::source::{EntityLookup, FieldError, Ids, PlanError, PlanNode, Protocol, Tag};
use weir_language::error::Error;
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, Visibility};
use weir_language::value::Variables;
use weir_relational::catalog::{Catalog, ColumnId, Relations, TableId};
use weir_relational::passes::policy::{Everything, Policy};
use weir_relational::plan::{Filter, Member, MemberKind, Plan};

/// The owned part of a plan node, kept by its fetch.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The selection set that the node's fields belong to.
    pub set: SelectionSetId,
    /// Indexes of the fields in the output plan.
    pub fields: Vec<u32>,
    /// Protocol, which decides the wording of errors.
    pub protocol: Protocol,
    /// Numbers of the structural variables.
    pub structural: Vec<u32>,
    /// Structural variables that are a whole `objects` argument.
    pub objects: Vec<u32>,
    /// Structural variables that are integers whose sign changes the statement.
    pub signed: Vec<u32>,
    /// Structural variables that are texts under an input which decides how to search, with that input.
    pub steered: Vec<(u32, InputId)>,
    /// Structural variables that are names or lists of names.
    pub named: Vec<u32>,
    /// Parts that one condition may have.
    pub conditions_max: u32,
    /// True for a stream, whose rows are read batch by batch.
    pub is_stream: bool,
    /// The source's facts of the callers.
    pub facts: Box<[u64]>,
}

/// The rights of callers to read a table, for operators.
#[derive(Clone, Debug, Default)]
pub struct RowRights {
    /// True if they may read rows of it.
    pub is_granted: bool,
    /// Parallel to the table's columns: true if they may name the column. Empty: clients know no columns.
    pub columns: Vec<bool>,
    /// Rows that a list shows at most.
    pub limit: Option<u32>,
    /// The conditions on rows by the roles that this one inherits; empty for others.
    pub parts: Vec<(Box<str>, Arc<Filter>)>,
}

/// A front end's words for a violated constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation<'f> {
    pub message: &'f str,
    /// Code of the error, if it differs from the constraint's.
    pub code: Option<&'static str>,
}

/// A front end: a schema over relations, and the plans that parts of requests become.
pub trait ApiFrontend: std::fmt::Debug + Send + Sync {
    /// The types and fields it serves.
    fn schema(&self) -> &Arc<Schema>;
    /// The root field that holds all others, if one does.
    fn namespace(&self) -> Option<&str> {
        None
    }
    /// Ways to single objects ([`weir_engine::source::Source::entity_lookups`]).
    fn entity_lookups(&self) -> &[EntityLookup] {
        &[]
    }
    /// The tables below, and how they are related.
    fn relations(&self) -> &Relations;
    /// True if messages to callers with these facts may name a table, or a column of it.
    fn is_exposed(&self, table: TableId, column: Option<&str>, facts: &[u64]) -> bool;
    /// The policy for callers with these facts; the admin has none.
    fn policy(&self, _facts: &[u64]) -> Arc<dyn Policy> {
        Arc::new(Everything)
    }
    /// The rights to read `table` of callers with these facts.
    /// # Errors
    /// The reason for which they are not known here.
    fn row_rights(&self, table: TableId, facts: &[u64]) -> Result<RowRights, Box<str>>;
    /// The condition on rows of `table` that the JSON text of a permission's filter is.
    /// # Errors
    /// Words on what does not fit, or on why there are no such permissions.
    fn read_condition(&self, _table: TableId, _json: &str) -> Result<Filter, Box<str>> {
        Err("permissions are not written as filters here".into())
    }
    /// The column that a member of a row's key means, and the text of its value for the database.
    /// # Errors
    /// Words on a name that is none, or a value that does not fit.
    fn row_key(&self, table: TableId, name: &str, value: &str) -> Result<(ColumnId, Box<str>), Box<str>> {
        let of = self.relations().catalog.table(table);
        let column = of.find(name).ok_or_else(|| format!("\"{}\" has no column \"{name}\"", of.name))?;
        Ok((column, value.into()))
    }
    /// Appends the facts of `identity` that decide its plans ([`weir_engine::source::Source::profile`]).
    fn profile(&self, identity: &Identity, facts: &mut Facts);
    /// The members of the schema that callers with these facts see; `None`: all.
    fn visibility(&self, facts: &[u64]) -> Option<Visibility>;
    /// Weights and list sizes that its types declare.
    fn cost_rules(&self) -> &[CostRule] {
        &[]
    }
    /// Size of the list of `field` for callers with these facts ([`weir_engine::source::Source::list_size`]).
    fn list_size(&self, _field: FieldId, _facts: &[u64]) -> Option<ListSize> {
        None
    }
    /// The reason for which nothing is answered to a caller with these facts, if there is one.
    fn refusal<'c>(&self, _claims: &'c Claims, _facts: &[u64]) -> Option<&'c str> {
        None
    }
    /// The error of the root field `call.field` for a caller with an invalid token; `reason` comes from [`Self::refusal`].
    fn token_error(&self, _call: &Call<'_>, reason: &str) -> FieldError {
        FieldError { code: "INVALID_TOKEN", message: reason.into(), hasura_path: None, extensions: None }
    }
    /// The front end's own words for a violated constraint, as callers with these facts get them.
    fn violation(&self, _constraint: &str, _facts: &[u64]) -> Option<Violation<'_>> {
        None
    }
    /// Extracts from `plan_node` what its fetch keeps.
    fn ask(&self, plan_node: &PlanNode<'_>) -> Ask;
    /// By [`EnumValueId`]: the database's text of a value, where it is not the name. Empty: none.
    fn enum_texts(&self) -> &[Option<Box<str>>] {
        &[]
    }
    /// True if an enum value of its schema changes the statement, false if it is data.
    fn chooses(&self, value: EnumValueId) -> bool;
    /// The way of searching for rows that a text under an input decides for, if that changes the statement.
    fn steers(&self, _input: InputId, _text: &str) -> Option<u32> {
        None
    }
    /// The front end of the same tables with Relay's API, if there is one.
    fn relay(&self) -> Option<Result<Arc<dyn ApiFrontend>, Vec<Error>>> {
        None
    }
    /// Makes the plan of `ask`. `variables` are those of a request with their form, where some are structural.
    /// # Errors
    /// Errors of the operation.
    fn compile(
        &self,
        ids: &Ids,
        output: &OutputPlan,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError>;
    /// The programs of mutations, if mutations are programs. Then each root field is its own transaction.
    fn programs(&self) -> Option<&dyn Programs> {
        None
    }
}

/// The names of `tables`; of all there are while that depends on the variables of a request, or is known only when a program
/// runs.
pub(crate) fn tags(catalog: &Catalog, tables: Option<Vec<TableId>>) -> Vec<Tag> {
    let all = || (0..catalog.tables.len() as u32).map(TableId).collect();
    let mut tables = tables.unwrap_or_else(all);
    tables.sort_unstable();
    tables.dedup();
    let tag = |table: &TableId| {
        let table = catalog.table(*table);
        Tag(format!("{}.{}", table.schema, table.name).into())
    };
    tables.iter().map(tag).collect()
}

/// The member of the field with index `at` in the output plan.
pub fn member(at: u32, field: &OutputField, kind: MemberKind) -> Member {
    let null_items = field.ty.wraps.item().is_some_and(|it| !it.is_non_null());
    let nullable = !field.ty.is_non_null();
    Member { field: at, same_as: field.same_as, copied: false, nullable, null_items, kind }
}
