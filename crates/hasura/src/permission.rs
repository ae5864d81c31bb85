//! Permissions of roles over tracked tables, compiled from Hasura's metadata to conditions of the relational plan.
//!
//! `row_conditions` reads a filter or check, `filter_leaves` tells whether a write changes what it is true of, `table_rules` reads the permissions of a table,
//! `build_permissions` all of a model, `inherit` makes inherited roles of their parents, `role_policy` gives the relational plan what a role may see and change.
//!
//! **Invariant:** a permission that does not fit the database is absent as a whole: a role never gets more than what is written.
//!
//! **Cost:** linear in the permissions, once per model; per profile one pass over the schema. Roles whose permissions on a table are equal
//! share the rules, and rules of a table with equal conditions share these.

mod build_permissions;
mod filter_leaves;
mod granted;
mod inherit;
mod permission_builder;
mod role_policy;
mod row_conditions;
mod table_rules;

pub use build_permissions::build;
pub(crate) use granted::grant_entries;
pub(crate) use role_policy::RolePolicy;

use crate::model::Model;
use row_conditions::Conditions;
use std::sync::{Arc, OnceLock};
use weir_database::frontend::RowRights;
use weir_database::postgres::DatabaseRole;
use weir_engine::caller::{Facts, Identity};
use weir_metadata::document::permission::{QueryRootField, SubscriptionRootField};
use weir_relational::catalog::{ColumnId, FunctionId, TableId};
use weir_relational::passes::policy::Preset;
use weir_relational::plan::{Filter, GuardedCall, GuardedColumn};

/// The condition on rows of `table` that a JSON text is, as the filter of a permission.
/// # Errors
/// It is no JSON, or does not fit the database.
pub(crate) fn read_condition(model: &Model, table: TableId, json: &str) -> Result<Filter, String> {
    Conditions::new(model, table).read(&weir_metadata::read::value(json)?)
}

/// All roles of a model but the admin.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// Roles, ascending by name.
    roles: Vec<Arc<Role>>,
}

/// The permissions of one role.
#[derive(Clone, Debug)]
pub struct Role {
    /// Name of the role.
    pub name: String,
    /// Parallel to the catalog's tables.
    tables: Box<[TablePermissions]>,
    /// Functions it may call, parallel to those of the model.
    functions: Box<[bool]>,
    /// Tables whose rows it sees by the roles that it inherits, ascending, each with the permissions of those roles.
    inherited: Box<[(TableId, Vec<InheritedRows>)]>,
    /// Session variables that the permissions read, without and with backend permissions; computed at first use.
    claims: [OnceLock<Vec<Box<str>>>; 2],
}

/// A role that another one inherits, with its condition on rows.
pub(crate) type InheritedRows = (Box<str>, Arc<Filter>);

/// The permissions of one role on one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TablePermissions {
    pub(crate) select: Option<Arc<SelectRule>>,
    pub(crate) insert: Option<Arc<InsertRule>>,
    pub(crate) update: Option<Arc<UpdateRule>>,
    pub(crate) delete: Option<Arc<DeleteRule>>,
}

/// A permission to read a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectRule {
    pub(crate) filter: Arc<Filter>,
    pub(crate) limit: Option<u32>,
    /// Parallel to the table's columns: those that clients may name.
    pub(crate) columns: Box<[bool]>,
    /// Visible columns that are shown in some rows only and are null in the others, ascending.
    pub(crate) guarded: Box<[GuardedColumn]>,
    /// Scalar computed fields that the role may select.
    pub(crate) computed: Box<[FunctionId]>,
    /// Visible functions that are shown in some rows only.
    pub(crate) guarded_calls: Box<[GuardedCall]>,
    pub(crate) aggregations: bool,
    /// `None`: all.
    pub(crate) query_roots: Option<Box<[QueryRootField]>>,
    /// `None`: all.
    pub(crate) subscription_roots: Option<Box<[SubscriptionRootField]>>,
}

/// A permission to insert rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsertRule {
    pub(crate) check: Arc<Filter>,
    pub(crate) presets: Box<[(ColumnId, Preset)]>,
    /// Parallel to the table's columns: those that clients may give a value, none of them preset.
    pub(crate) columns: Box<[bool]>,
    pub(crate) backend_only: bool,
}

/// A permission to update rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpdateRule {
    pub(crate) filter: Arc<Filter>,
    pub(crate) check: Option<Arc<Filter>>,
    /// True if there is no check and the role changes what the filter reads: updated rows have to pass the filter again.
    pub(crate) stays_in_filter: bool,
    pub(crate) presets: Box<[(ColumnId, Preset)]>,
    /// Parallel to the table's columns: true if clients may set the column, see [`InsertRule::columns`].
    pub(crate) columns: Box<[bool]>,
    pub(crate) backend_only: bool,
}

/// A permission to delete rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeleteRule {
    pub(crate) filter: Arc<Filter>,
    pub(crate) backend_only: bool,
}

impl SelectRule {
    /// True if clients may name the column.
    pub(crate) fn shows(&self, column: ColumnId) -> bool {
        self.columns[column.0 as usize]
    }

    /// True if the column is shown in some rows only.
    pub(crate) fn guards(&self, column: ColumnId) -> bool {
        self.guarded.binary_search_by_key(&column, |it| it.column).is_ok()
    }
}

impl InsertRule {
    /// True if clients may give the column a value.
    pub(crate) fn takes(&self, column: ColumnId) -> bool {
        self.columns[column.0 as usize]
    }

    /// True if clients may give some column a value.
    pub(crate) fn takes_any(&self) -> bool {
        self.columns.contains(&true)
    }
}

impl UpdateRule {
    /// True if clients may give the column a value.
    pub(crate) fn takes(&self, column: ColumnId) -> bool {
        self.columns[column.0 as usize]
    }

    /// True if clients may give some column a value.
    pub(crate) fn takes_any(&self) -> bool {
        self.columns.contains(&true)
    }
}

impl Role {
    /// Permissions of the role on `table`.
    pub(crate) fn table(&self, table: TableId) -> &TablePermissions {
        &self.tables[table.0 as usize]
    }

    /// Permissions of the role, by table.
    pub(crate) fn tables(&self) -> &[TablePermissions] {
        &self.tables
    }

    /// True if it may call the function.
    pub(crate) fn calls(&self, function: FunctionId) -> bool {
        self.functions[function.0 as usize]
    }

    /// True if some permission is for backends only.
    fn has_backend_only(&self) -> bool {
        self.tables.iter().any(|it| {
            it.insert.as_ref().is_some_and(|it| it.backend_only)
                || it.update.as_ref().is_some_and(|it| it.backend_only)
                || it.delete.as_ref().is_some_and(|it| it.backend_only)
        })
    }
}

/// The fact of a role that has no permission.
const NOBODY: u64 = u64::MAX;
/// The fact of the admin if other roles exist: members that are placeholders for roles are hidden.
const ADMIN: u64 = u64::MAX - 1;

impl Permissions {
    /// True if no role but the admin has any permission.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// The roles, ascending by name.
    pub fn roles(&self) -> &[Arc<Role>] {
        &self.roles
    }

    /// Appends the facts of a caller: the place of the role, and whether permissions for backends hold. The admin has none while no role
    /// has any permission.
    pub(crate) fn profile(&self, identity: &Identity, facts: &mut Facts) {
        if identity.is_admin() {
            facts.extend((!self.is_empty()).then_some(ADMIN));
        } else {
            self.role_profile(Some(&identity.role), identity.is_backend, facts);
        }
    }

    /// Appends the facts of a caller by the role that the database has for him, see [`Self::profile`]. The admin's are there even while
    /// no role has any permission: others are told from him.
    pub(crate) fn secured_profile(&self, role: &DatabaseRole<'_>, facts: &mut Facts) {
        match role {
            DatabaseRole::Own => facts.push(ADMIN),
            DatabaseRole::Named(name) => self.role_profile(Some(name), false, facts),
            DatabaseRole::Nobody => self.role_profile(None, false, facts),
        }
    }

    fn role_profile(&self, role: Option<&str>, is_backend: bool, facts: &mut Facts) {
        let at = role.and_then(|role| self.roles.binary_search_by(|it| it.name.as_str().cmp(role)).ok());
        match at {
            Some(at) => {
                let is_backend = is_backend && self.roles[at].has_backend_only();
                facts.extend([at as u64, u64::from(is_backend)]);
            }
            None => facts.push(NOBODY),
        }
    }

    /// True for the facts of the admin.
    pub(crate) fn is_admin(facts: &[u64]) -> bool {
        facts.is_empty() || *facts == [ADMIN]
    }

    /// The role of these facts and whether permissions for backends hold; `None`: it has no permission.
    pub(crate) fn role(&self, facts: &[u64]) -> Option<(&Arc<Role>, bool)> {
        let role = self.roles.get(usize::try_from(*facts.first()?).ok()?)?;
        Some((role, facts.get(1) == Some(&1)))
    }

    /// True if callers with these facts have a permission on the table; with `column`: one that lists it.
    pub(crate) fn knows(&self, facts: &[u64], table: TableId, column: Option<ColumnId>) -> bool {
        let Some((role, is_backend)) = self.role(facts) else { return false };
        let TablePermissions { select, insert, update, delete } = role.table(table);
        let holds = |backend_only: bool| is_backend || !backend_only;
        select.as_ref().is_some_and(|it| column.is_none_or(|column| it.shows(column)))
            || insert
                .as_ref()
                .is_some_and(|it| holds(it.backend_only) && column.is_none_or(|column| it.takes(column)))
            || update
                .as_ref()
                .is_some_and(|it| holds(it.backend_only) && column.is_none_or(|column| it.takes(column)))
            || delete.as_ref().is_some_and(|it| holds(it.backend_only) && column.is_none())
    }

    /// The rights to read `table`, of as many columns, of callers with these facts.
    pub(crate) fn row_rights(&self, facts: &[u64], table: TableId, columns: usize) -> RowRights {
        let role = self.role(facts).map(|it| it.0);
        let rule = role.and_then(|it| it.table(table).select.as_ref());
        let parts = role.and_then(|it| {
            let at = it.inherited.binary_search_by_key(&table, |it| it.0).ok()?;
            Some(it.inherited[at].1.clone())
        });
        RowRights {
            is_granted: rule.is_some(),
            columns: rule.map_or_else(|| vec![false; columns], |it| it.columns.to_vec()),
            limit: rule.and_then(|it| it.limit),
            parts: parts.unwrap_or_default(),
        }
    }

    /// Rows that a list of `table` shows at most to callers with these facts.
    pub(crate) fn row_limit(&self, facts: &[u64], table: TableId) -> Option<u32> {
        self.role(facts)?.0.table(table).select.as_ref()?.limit
    }

    /// The policy for callers with these facts.
    pub(crate) fn policy(&self, facts: &[u64]) -> RolePolicy {
        match self.role(facts) {
            Some((role, is_backend)) => RolePolicy::new(Some(Arc::clone(role)), is_backend),
            None => RolePolicy::new(None, false),
        }
    }
}
