//! Compiles all permissions of a model.
//!
//! A permission that does not fit goes as a whole, with a warning that holds its path; so do inherited roles without a parent or in a circle.

use super::condition::{Conditions, find, value_of};
use super::inherit;
use super::{
    ColumnAccess, DeleteRule, InsertRule, Permissions, Role, SelectRule, TablePermissions, UpdateRule,
};
use crate::model::{Model, ModelOptions, Serves};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_metadata::document::function::ExposedAs;
use weir_metadata::document::permission::{
    Columns, DeletePermission, InsertPermission, PermissionEntry, QueryRootField, SelectPermission,
    UpdatePermission,
};
use weir_metadata::document::table::TableEntry;
use weir_metadata::json::{Json, Members};
use weir_relational::catalog::{ColumnId, ConfigStep, FunctionId, Table, TableId, Warning};
use weir_relational::passes::policy::Preset;

/// The role that needs no permission and takes none.
const ADMIN: &str = "admin";

/// Roles in the making.
pub(super) struct PermissionBuilder<'m> {
    pub(super) model: &'m Model,
    pub(super) roles: BTreeMap<String, Vec<TablePermissions>>,
    pub(super) warnings: Vec<Warning>,
}

/// A permission's place in the configuration.
struct PermissionPlace<'p> {
    table: TableId,
    entry: usize,
    kind: &'static str,
    at: usize,
    role: &'p str,
}

/// The permissions of `model`, which was made with `options`.
#[must_use]
pub fn build(model: &Model, options: &ModelOptions<'_>) -> (Permissions, Vec<Warning>) {
    let mut building = PermissionBuilder { model, roles: BTreeMap::new(), warnings: Vec::new() };
    let mut seen = BTreeSet::new();
    for (at, entry) in options.tables.iter().enumerate() {
        let (schema, name) = entry.table.parts();
        let table = model.relations.catalog.find(schema, name).filter(|it| model.tracked(*it).is_some());
        // Of two entries for one table the first counts.
        if let Some(table) = table.filter(|it| seen.insert(*it)) {
            building.entry(at, table, entry);
        }
    }
    for role in model.functions.iter().flat_map(|it| &it.roles) {
        building.role(role);
    }
    let inherited = options.inherited_roles;
    let plain: BTreeSet<String> = building.roles.keys().cloned().collect();
    inherit::roles(&mut building, inherited);
    let roles = building.roles.into_iter().map(|(name, tables)| {
        let names = match inherit::is_sound(&name, inherited, |it| plain.contains(it)) {
            true => inherit::reachable(&name, inherited),
            false => BTreeSet::from([&*name]),
        };
        let functions = functions(model, &tables, &names, options.explicit_functions);
        Arc::new(Role { name, tables, functions })
    });
    (Permissions { roles: roles.collect() }, building.warnings)
}

/// Functions that a role may call; `names`: itself and all it is made of.
fn functions(
    model: &Model,
    tables: &[TablePermissions],
    names: &BTreeSet<&str>,
    explicit: bool,
) -> Vec<bool> {
    let may_call = |function: &crate::model::TrackedFunction| match &function.serves {
        Serves::Root { table, root, .. } => {
            let is_named = || function.roles.iter().any(|it| names.contains(&it.as_str()));
            let is_inferred = !explicit && *root == ExposedAs::Query;
            tables[table.0 as usize].select.is_some() && (is_inferred || is_named())
        }
        Serves::Row { .. } => false,
    };
    model.functions.iter().map(may_call).collect()
}

impl PermissionBuilder<'_> {
    /// The permissions of a role, by table.
    pub(super) fn role(&mut self, name: &str) -> &mut Vec<TablePermissions> {
        let len = self.model.relations.catalog.tables.len();
        self.roles.entry(name.to_owned()).or_insert_with(|| vec![TablePermissions::default(); len])
    }

    fn entry(&mut self, entry: usize, table: TableId, it: &TableEntry) {
        let place = |kind, at, role| PermissionPlace { table, entry, kind, at, role };
        for (at, PermissionEntry { role, permission, .. }) in it.select_permissions.iter().enumerate() {
            let rule = self.select(table, permission);
            self.put(&place("select_permissions", at, role), rule, |it| &mut it.select);
        }
        for (at, PermissionEntry { role, permission, .. }) in it.insert_permissions.iter().enumerate() {
            let rule = self.insert(table, permission);
            self.put(&place("insert_permissions", at, role), rule, |it| &mut it.insert);
        }
        for (at, PermissionEntry { role, permission, .. }) in it.update_permissions.iter().enumerate() {
            let rule = self.update(table, permission);
            self.put(&place("update_permissions", at, role), rule, |it| &mut it.update);
        }
        for (at, PermissionEntry { role, permission, .. }) in it.delete_permissions.iter().enumerate() {
            let rule = self.delete(table, permission);
            self.put(&place("delete_permissions", at, role), rule, |it| &mut it.delete);
        }
    }

    /// Gives the role of `place` the rule, or says why it has none.
    fn put<R>(
        &mut self,
        place: &PermissionPlace<'_>,
        rule: Result<R, String>,
        slot: impl Fn(&mut TablePermissions) -> &mut Option<R>,
    ) {
        let reason = match rule {
            _ if place.role == ADMIN => "cannot define permission for admin role".to_owned(),
            _ if place.role.is_empty() => "a role has a name".to_owned(),
            // The role exists, though without this permission.
            Err(reason) => {
                self.role(place.role);
                format!("in permission for role \"{}\": {reason}", place.role)
            }
            Ok(rule) => {
                let slot = slot(&mut self.role(place.role)[place.table.0 as usize]);
                match slot {
                    None => {
                        *slot = Some(rule);
                        return;
                    }
                    Some(_) => {
                        format!("the role \"{}\" has this permission twice: the first counts", place.role)
                    }
                }
            }
        };
        let table = self.model.relations.catalog.table(place.table).name.clone();
        let entry: Vec<ConfigStep> =
            vec!["tables".into(), place.entry.into(), place.kind.into(), place.at.into()];
        self.warnings.push(Warning { place: table, reason, entry });
    }

    fn table(&self, table: TableId) -> &Table {
        self.model.relations.catalog.table(table)
    }

    /// True by column, for those that are listed and served.
    fn columns(&self, table: TableId, columns: &Columns) -> Result<Vec<bool>, String> {
        let served = self.model.tracked(table).map_or(&[][..], |it| &it.columns);
        let served: Vec<bool> = served.iter().map(Option::is_some).collect();
        match columns {
            Columns::All => Ok(served),
            Columns::Listed(names) => {
                let mut listed = vec![false; served.len()];
                for name in names {
                    let (at, _) = find(self.table(table), name).ok_or_else(|| self.no_column(table, name))?;
                    listed[at.0 as usize] = served[at.0 as usize];
                }
                Ok(listed)
            }
        }
    }

    #[cold]
    fn no_column(&self, table: TableId, name: &str) -> String {
        format!("column \"{name}\" does not exist in table \"{}\"", self.table(table).name)
    }

    fn select(&self, table: TableId, it: &SelectPermission) -> Result<SelectRule, String> {
        let columns = self.columns(table, &it.columns)?;
        let is_keyed = self
            .table(table)
            .primary_key
            .as_ref()
            .is_some_and(|key| key.columns.iter().all(|column| columns[column.0 as usize]));
        let roots = it.query_root_fields.as_deref().unwrap_or_default();
        if roots.contains(&QueryRootField::SelectByPk) && !is_keyed {
            return Err(
                "`query_root_fields` names select_by_pk, which needs all columns of the primary key".into()
            );
        }
        if roots.contains(&QueryRootField::SelectAggregate) && !it.allow_aggregations {
            return Err("`query_root_fields` names select_aggregate, which needs `allow_aggregations`".into());
        }
        let access = |shown: bool| if shown { ColumnAccess::Shown } else { ColumnAccess::Hidden };
        Ok(SelectRule {
            filter: Conditions::new(self.model, table).read(&it.filter)?,
            limit: it.limit,
            columns: columns.into_iter().map(access).collect(),
            computed: self.computed(table, &it.computed_fields)?,
            aggregations: it.allow_aggregations,
            query_roots: it.query_root_fields.clone(),
            subscription_roots: it.subscription_root_fields.clone(),
        })
    }

    fn computed(&self, table: TableId, names: &[String]) -> Result<Vec<FunctionId>, String> {
        let tracked = self.model.tracked(table);
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

    fn presets(&self, table: TableId, set: &Members) -> Result<Vec<(ColumnId, Preset)>, String> {
        let preset = |(name, value): &(Box<str>, Json)| {
            let (at, column) = find(self.table(table), name).ok_or_else(|| self.no_column(table, name))?;
            let value = match value {
                Json::Null => Preset::Null,
                _ => Preset::Value(value_of(value, &column.ty)?),
            };
            Ok((at, value))
        };
        set.0.iter().map(preset).collect()
    }

    fn insert(&self, table: TableId, it: &InsertPermission) -> Result<InsertRule, String> {
        if it.validate_input.is_some() {
            return Err(
                "`validate_input` is not supported: without it the permission would grant too much".into()
            );
        }
        if !self.table(table).insertable {
            return Err("the table or view takes no new rows".into());
        }
        Ok(InsertRule {
            check: Conditions::new(self.model, table).read(&it.check)?,
            presets: self.presets(table, &it.set)?,
            columns: self.columns(table, &it.columns)?,
            backend_only: it.backend_only,
        })
    }

    fn update(&self, table: TableId, it: &UpdatePermission) -> Result<UpdateRule, String> {
        if it.validate_input.is_some() {
            return Err(
                "`validate_input` is not supported: without it the permission would grant too much".into()
            );
        }
        let check = it.check.as_ref().filter(|it| **it != Json::Null);
        Ok(UpdateRule {
            filter: Conditions::new(self.model, table).read(&it.filter)?,
            check: check.map(|it| Conditions::new(self.model, table).read(it)).transpose()?,
            presets: self.presets(table, &it.set)?,
            columns: self.columns(table, &it.columns)?,
            backend_only: it.backend_only,
        })
    }

    fn delete(&self, table: TableId, it: &DeletePermission) -> Result<DeleteRule, String> {
        if it.validate_input.is_some() {
            return Err(
                "`validate_input` is not supported: without it the permission would grant too much".into()
            );
        }
        Ok(DeleteRule {
            filter: Conditions::new(self.model, table).read(&it.filter)?,
            backend_only: it.backend_only,
        })
    }
}
