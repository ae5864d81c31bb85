//! The permissions of a role as a policy of the relational plan.

use super::{Role, TablePermissions};
use std::sync::Arc;
use weir_relational::catalog::{ColumnId, Relations, TableId};
use weir_relational::passes::policy::{Policy, Preset, WriteKind, claims_of};
use weir_relational::plan::{Filter, GuardedCall, GuardedColumn, Purpose};

#[derive(Debug)]
pub(crate) struct RolePolicy {
    /// `None`: it may see and change nothing.
    role: Option<Arc<Role>>,
    is_backend: bool,
}

/// No row.
const NOTHING: Filter = Filter::Any(Vec::new());

impl RolePolicy {
    pub(super) const fn new(role: Option<Arc<Role>>, is_backend: bool) -> Self {
        Self { role, is_backend }
    }

    fn table(&self, table: TableId) -> Option<&TablePermissions> {
        self.role.as_deref().map(|it| it.table(table))
    }

    fn holds(&self, backend_only: bool) -> bool {
        self.is_backend || !backend_only
    }

    /// The row filter of a permission; a filter that no row fulfils if the role lacks it.
    fn granted_filter(
        &self,
        table: TableId,
        of: impl Fn(&TablePermissions) -> Option<(&Filter, bool)>,
    ) -> Filter {
        let granted = self.table(table).and_then(of);
        granted.filter(|it| self.holds(it.1)).map_or(NOTHING, |it| it.0.clone())
    }
}

impl Policy for RolePolicy {
    fn name(&self) -> &str {
        self.role.as_deref().map_or("", |it| &it.name)
    }

    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
        let filter =
            match purpose {
                Purpose::Root
                | Purpose::Opened
                | Purpose::Related
                | Purpose::Exists
                | Purpose::Value
                | Purpose::Aggregate => {
                    self.granted_filter(table, |it| it.select.as_ref().map(|it| (&*it.filter, false)))
                }
                Purpose::Update => self
                    .granted_filter(table, |it| it.update.as_ref().map(|it| (&*it.filter, it.backend_only))),
                Purpose::Delete => self
                    .granted_filter(table, |it| it.delete.as_ref().map(|it| (&*it.filter, it.backend_only))),
                // Inserts are checked after the row is written.
                Purpose::Insert => return None,
                Purpose::Reference | Purpose::Lookup => NOTHING,
            };
        (!filter.is_true()).then_some(filter)
    }

    fn limit(&self, table: TableId, _purpose: Purpose) -> Option<u32> {
        self.table(table)?.select.as_ref()?.limit
    }

    fn cells(&self, table: TableId) -> &[GuardedColumn] {
        let select = self.table(table).and_then(|it| it.select.as_ref());
        select.map_or(&[], |it| &it.guarded)
    }

    fn calls(&self, table: TableId) -> &[GuardedCall] {
        let select = self.table(table).and_then(|it| it.select.as_ref());
        select.map_or(&[], |it| &it.guarded_calls)
    }

    fn check(&self, table: TableId, kind: WriteKind) -> Option<Filter> {
        let filter = match kind {
            WriteKind::Insert => {
                self.granted_filter(table, |it| it.insert.as_ref().map(|it| (&*it.check, it.backend_only)))
            }
            WriteKind::Update => {
                let update = self.table(table)?.update.as_ref()?;
                let filter = update.stays_in_filter.then_some(&update.filter);
                (**update.check.as_ref().or(filter)?).clone()
            }
        };
        // Without a check on updates, an upsert falls back to that on inserts, so one that is always true has to be said.
        (kind == WriteKind::Update || !filter.is_true()).then_some(filter)
    }

    /// Without a check on updates that on inserts stands in for it, and the row stays in the filter all the same.
    fn upsert_check(&self, table: TableId) -> Option<Filter> {
        let update = self.check(table, WriteKind::Update)?;
        let is_written = self.table(table)?.update.as_ref()?.check.is_some();
        match self.check(table, WriteKind::Insert).filter(|_| !is_written) {
            Some(insert) => Some(Filter::All(vec![insert, update])),
            None => Some(update),
        }
    }

    /// A role's names are gathered once.
    fn claims(&self, relations: &Relations) -> Vec<Box<str>> {
        let Some(role) = &self.role else { return Vec::new() };
        role.claims[usize::from(self.is_backend)].get_or_init(|| claims_of(self, relations)).clone()
    }

    fn presets(&self, table: TableId, kind: WriteKind) -> &[(ColumnId, Preset)] {
        let Some(table) = self.table(table) else { return &[] };
        match kind {
            WriteKind::Insert => table.insert.as_ref().map_or(&[], |it| &it.presets),
            WriteKind::Update => table.update.as_ref().map_or(&[], |it| &it.presets),
        }
    }
}
