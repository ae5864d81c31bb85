//! The wall: a policy that hides all rows of one table, and random operations that try to get over it.
//!
//! Two databases get the same operation. One has all rows and a policy that allows no row of a table; the other has no
//! row in that table. Their answers must be equal, and no hidden row may be changed.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

pub mod ask;
pub mod shelf;

use serde_json::Value;
use std::sync::Arc;
use weir_database::frontend::form::Form;
use weir_database::frontend::program::Programs;
use weir_database::frontend::{ApiFrontend, Ask, RowRights, Violation};
use weir_engine::caller::{Facts, Identity};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{Ids, PlanError, PlanNode};
use weir_language::schema::{EnumValueId, InputId, Schema, Visibility};
use weir_language::value::Variables;
use weir_relational::catalog::{Relations, TableId};
use weir_relational::passes::policy::Policy;
use weir_relational::plan::{Filter, Plan, Purpose};

/// Allows the rows of `table` that fulfil `filter`, and all rows of other tables.
#[derive(Clone, Debug)]
pub struct Wall {
    pub table: TableId,
    pub filter: Filter,
    /// Rows may be read, and only those that fulfil `filter` changed.
    pub only_changes: bool,
}

impl Wall {
    /// No row of `table`.
    pub fn hiding(table: TableId) -> Self {
        Self { table, filter: Filter::Any(Vec::new()), only_changes: false }
    }

    /// All rows of `table`, none of which may be updated or deleted.
    pub fn read_only(table: TableId) -> Self {
        Self { only_changes: true, ..Self::hiding(table) }
    }

    /// All rows of `table`, by a condition: so nothing is planned as if there were no policy.
    pub fn open(table: TableId) -> Self {
        Self { filter: Filter::All(Vec::new()), ..Self::hiding(table) }
    }
}

impl Policy for Wall {
    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
        let is_free = if self.only_changes {
            !matches!(purpose, Purpose::Update | Purpose::Delete)
        } else {
            matches!(purpose, Purpose::Insert | Purpose::Reference)
        };
        (table == self.table && !is_free).then(|| self.filter.clone())
    }
}

/// A front end behind a policy.
#[derive(Debug)]
pub struct Walled {
    pub inner: Arc<dyn ApiFrontend>,
    pub policy: Arc<dyn Policy>,
}

impl ApiFrontend for Walled {
    fn schema(&self) -> &Arc<Schema> {
        self.inner.schema()
    }

    fn relations(&self) -> &Relations {
        self.inner.relations()
    }

    fn is_exposed(&self, table: TableId, column: Option<&str>, facts: &[u64]) -> bool {
        self.inner.is_exposed(table, column, facts)
    }

    fn row_rights(&self, table: TableId, facts: &[u64]) -> Result<RowRights, Box<str>> {
        self.inner.row_rights(table, facts)
    }

    fn policy(&self, _facts: &[u64]) -> Arc<dyn Policy> {
        Arc::clone(&self.policy)
    }

    /// All callers are restricted alike, and see the whole schema.
    fn profile(&self, _identity: &Identity, _facts: &mut Facts) {}

    fn visibility(&self, _facts: &[u64]) -> Option<Visibility> {
        None
    }

    fn violation(&self, constraint: &str, facts: &[u64]) -> Option<Violation<'_>> {
        self.inner.violation(constraint, facts)
    }

    fn ask(&self, piece: &PlanNode<'_>) -> Ask {
        self.inner.ask(piece)
    }

    fn chooses(&self, value: EnumValueId) -> bool {
        self.inner.chooses(value)
    }

    fn steers(&self, input: InputId, text: &str) -> Option<u32> {
        self.inner.steers(input, text)
    }

    fn compile(
        &self,
        ids: &Ids,
        shape: &OutputPlan,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError> {
        self.inner.compile(ids, shape, ask, variables)
    }

    fn programs(&self) -> Option<&dyn Programs> {
        self.inner.programs()
    }
}

/// An answer whose lists are sorted: the order of rows that no one asked for is the database's own.
pub fn sorted(answer: &str) -> String {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(sort);
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Object(members) => members.values_mut().for_each(sort),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut value: Value = serde_json::from_str(answer).expect("an answer is JSON");
    sort(&mut value);
    value.to_string()
}
