//! Reads the permissions of one table.
//!
//! **Invariant:** of a permission that does not fit nothing is kept.

use super::filter_leaves::WrittenColumns;
use super::row_conditions::{Conditions, find, value_of};
use super::{DeleteRule, InsertRule, SelectRule, UpdateRule};
use crate::model::{Model, Serves};
use std::collections::HashMap;
use std::sync::Arc;
use weir_metadata::document::permission::{
    Columns, DeletePermission, InsertPermission, QueryRootField, SelectPermission, UpdatePermission,
};
use weir_metadata::json::{Json, Members};
use weir_relational::catalog::{ColumnId, FunctionId, Table, TableId};
use weir_relational::passes::policy::Preset;
use weir_relational::plan::Filter;

/// The reader of a table's permissions.
pub(super) struct TableRules<'m, 'p> {
    model: &'m Model,
    table: TableId,
    /// Conditions that are known, each once.
    conditions: HashMap<&'p Json, Arc<Filter>>,
}

impl<'m, 'p> TableRules<'m, 'p> {
    pub(super) fn new(model: &'m Model, table: TableId) -> Self {
        Self { model, table, conditions: HashMap::new() }
    }

    fn table(&self) -> &'m Table {
        self.model.relations.catalog.table(self.table)
    }

    /// The condition that `json` is.
    fn condition(&mut self, json: &'p Json) -> Result<Arc<Filter>, String> {
        if let Some(known) = self.conditions.get(json) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(Conditions::new(self.model, self.table).read(json)?);
        self.conditions.insert(json, Arc::clone(&read));
        Ok(read)
    }

    /// True by column, for those that are listed and served.
    fn columns(&self, columns: &Columns) -> Result<Box<[bool]>, String> {
        let served = self.model.tracked_table(self.table).map_or(&[][..], |it| &it.columns);
        let served: Box<[bool]> = served.iter().map(Option::is_some).collect();
        match columns {
            Columns::All => Ok(served),
            Columns::Listed(names) => {
                let mut listed = vec![false; served.len()];
                for name in names {
                    let (at, _) = find(self.table(), name).ok_or_else(|| self.no_column(name))?;
                    listed[at.0 as usize] = served[at.0 as usize];
                }
                Ok(listed.into())
            }
        }
    }

    #[cold]
    fn no_column(&self, name: &str) -> String {
        format!("column \"{name}\" does not exist in table \"{}\"", self.table().name)
    }

    pub(super) fn select(&mut self, it: &'p SelectPermission) -> Result<SelectRule, String> {
        let columns = self.columns(&it.columns)?;
        let key = self.table().primary_key.as_ref();
        let is_keyed = key.is_some_and(|key| key.columns.iter().all(|column| columns[column.0 as usize]));
        let roots = it.query_root_fields.as_deref().unwrap_or_default();
        if roots.contains(&QueryRootField::SelectByPk) && !is_keyed {
            return Err(
                "`query_root_fields` names select_by_pk, which needs all columns of the primary key".into()
            );
        }
        if roots.contains(&QueryRootField::SelectAggregate) && !it.allow_aggregations {
            return Err("`query_root_fields` names select_aggregate, which needs `allow_aggregations`".into());
        }
        Ok(SelectRule {
            filter: self.condition(&it.filter)?,
            limit: it.limit,
            columns,
            guarded: Box::default(),
            computed: self.computed_functions(&it.computed_fields)?,
            guarded_calls: Box::default(),
            aggregations: it.allow_aggregations,
            query_roots: it.query_root_fields.as_deref().map(Into::into),
            subscription_roots: it.subscription_root_fields.as_deref().map(Into::into),
        })
    }

    fn computed_functions(&self, names: &[String]) -> Result<Box<[FunctionId]>, String> {
        let tracked = self.model.tracked_table(self.table);
        let find = |name: &String| {
            let called = |it: &&FunctionId| matches!(&self.model.function(**it).0.serves, Serves::Row { name: own, .. } if own == name);
            let function = tracked.and_then(|it| it.computed.iter().find(called)).copied();
            match function {
                Some(function) if self.model.function(function).1.table.is_none() => Ok(function),
                _ => Err(format!(
                    "computed field \"{name}\" does not exist, or gives rows of a table, whose permission decides"
                )),
            }
        };
        names.iter().map(find).collect()
    }

    fn presets(&self, set: &Members) -> Result<Box<[(ColumnId, Preset)]>, String> {
        let preset = |(name, value): &(Box<str>, Json)| {
            let (at, column) = find(self.table(), name).ok_or_else(|| self.no_column(name))?;
            let value = match value {
                Json::Null => Preset::Null,
                _ => Preset::Value(value_of(value, &column.ty)?),
            };
            Ok((at, value))
        };
        let mut presets = set.0.iter().map(preset).collect::<Result<Vec<_>, String>>()?;
        presets.sort_by_key(|it| it.0);
        Ok(presets.into())
    }

    /// Columns that clients may set: the granted ones, see [`Self::columns`], without presets.
    fn writable_columns(
        &self,
        columns: &Columns,
        presets: &[(ColumnId, Preset)],
    ) -> Result<Box<[bool]>, String> {
        let mut given = self.columns(columns)?;
        presets.iter().for_each(|it| given[it.0.0 as usize] = false);
        Ok(given)
    }

    pub(super) fn insert(&mut self, it: &'p InsertPermission) -> Result<InsertRule, String> {
        refuse_webhook(it.validate_input.as_ref())?;
        if !self.table().insertable {
            return Err("the table or view takes no new rows".into());
        }
        let presets = self.presets(&it.set)?;
        Ok(InsertRule {
            check: self.condition(&it.check)?,
            columns: self.writable_columns(&it.columns, &presets)?,
            presets,
            backend_only: it.backend_only,
        })
    }

    pub(super) fn update(&mut self, it: &'p UpdatePermission) -> Result<UpdateRule, String> {
        refuse_webhook(it.validate_input.as_ref())?;
        let check = it.check.as_ref().filter(|it| **it != Json::Null);
        let check = check.map(|it| self.condition(it)).transpose()?;
        let filter = self.condition(&it.filter)?;
        let presets = self.presets(&it.set)?;
        let columns = self.writable_columns(&it.columns, &presets)?;
        Ok(UpdateRule {
            stays_in_filter: check.is_none() && self.leaves(&filter, &columns, &presets),
            filter,
            check,
            presets,
            columns,
            backend_only: it.backend_only,
        })
    }

    /// True if an update of these columns can move a row out of the filter.
    fn leaves(&self, filter: &Filter, columns: &[bool], presets: &[(ColumnId, Preset)]) -> bool {
        let mut columns = columns.to_vec();
        presets.iter().for_each(|it| columns[it.0.0 as usize] = true);
        WrittenColumns { model: self.model, table: self.table, columns: &columns }.changes(filter)
    }

    pub(super) fn delete(&mut self, it: &'p DeletePermission) -> Result<DeleteRule, String> {
        refuse_webhook(it.validate_input.as_ref())?;
        Ok(DeleteRule { filter: self.condition(&it.filter)?, backend_only: it.backend_only })
    }
}

/// A permission that a webhook has to agree to is none.
fn refuse_webhook(validate_input: Option<&Json>) -> Result<(), String> {
    match validate_input {
        None => Ok(()),
        Some(_) => {
            Err("`validate_input` is not supported: without it the permission would grant too much".into())
        }
    }
}
