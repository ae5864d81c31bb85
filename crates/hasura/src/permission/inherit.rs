//! Combines parent roles into inherited roles: they may read what any parent may, and write where all parents have the same rule.
//!
//! An inherited parent stands for its own parents, so that each of them guards its own cells; but its own permission on a table
//! comes first.
//!
//! **Invariant:** a row is seen if a parent sees it, and a cell of it if a parent that sees the row sees the column.
//!
//! Source: `docs/permissions.md`, "Inherited roles".

use super::permission_builder::PermissionBuilder;
use super::{DeleteRule, InheritedRows, InsertRule, SelectRule, TablePermissions, UpdateRule};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_metadata::document::api::InheritedRole;
use weir_relational::catalog::{ColumnId, ConfigStep, FunctionId, TableId, Warning};
use weir_relational::plan::{Filter, GuardedCall, GuardedColumn};

/// `name` and all roles it is made of, by whatever way.
pub(super) fn reachable<'r>(name: &'r str, inherited: &'r [InheritedRole]) -> BTreeSet<&'r str> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![name];
    while let Some(name) = pending.pop() {
        if seen.insert(name) {
            pending.extend(parents(name, inherited));
        }
    }
    seen
}

fn parents<'r>(name: &str, inherited: &'r [InheritedRole]) -> impl Iterator<Item = &'r str> {
    let role = inherited.iter().find(|it| it.role_name == name);
    role.into_iter().flat_map(|it| it.role_set.iter().map(String::as_str))
}

/// The rules that `name` has by its parents, one for each role that has one of its own: a rule that is written for an inherited role stands
/// alone, also for those made of it.
fn rules<'r, R>(
    name: &'r str,
    inherited: &'r [InheritedRole],
    own: impl Fn(&str) -> Option<&'r R>,
) -> BTreeMap<&'r str, &'r R> {
    let mut found = BTreeMap::new();
    let mut pending = parents(name, inherited).collect::<Vec<_>>();
    let mut seen = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if seen.insert(name) {
            match own(name) {
                Some(rule) => {
                    found.insert(name, rule);
                }
                None => pending.extend(parents(name, inherited)),
            }
        }
    }
    found
}

/// Adds the inherited roles to the plain ones; `known` are those with permissions, here or in another source.
pub(super) fn roles(
    building: &mut PermissionBuilder<'_>,
    inherited: &[InheritedRole],
    known: &BTreeSet<String>,
) {
    let plain = building.roles.clone();
    for (at, role) in inherited.iter().enumerate() {
        if let Some(reason) = fault(role, inherited, |it| known.contains(it)) {
            let entry: Vec<ConfigStep> = vec!["inherited_roles".into(), at.into()];
            building.warnings.push(Warning { place: role.role_name.clone(), reason, entry });
            continue;
        }
        for table in 0..building.model.relations.catalog.tables.len() {
            let mut conflicts = Vec::new();
            let merged = merge(&role.role_name, inherited, |it| Some(&plain.get(it)?[table]), &mut conflicts);
            if building.role(&role.role_name)[table].select.is_none() {
                let parents = rules(&role.role_name, inherited, |it| plain.get(it)?[table].select.as_ref());
                let rows = parents.into_iter().map(|(name, rule)| (name.into(), Arc::clone(&rule.filter)));
                let rows: Vec<InheritedRows> = rows.collect();
                if !rows.is_empty() {
                    let of = building.inherited.entry(role.role_name.clone()).or_default();
                    of.push((TableId(table as u32), rows));
                }
            }
            let own = &mut building.role(&role.role_name)[table];
            // An explicit permission of the inherited role stands alone.
            let TablePermissions { select, insert, update, delete } = merged;
            own.select = own.select.take().or(select);
            conflicts.retain(|kind| match *kind {
                "insert" => own.insert.is_none(),
                "update" => own.update.is_none(),
                _ => own.delete.is_none(),
            });
            own.insert = own.insert.take().or(insert);
            own.update = own.update.take().or(update);
            own.delete = own.delete.take().or(delete);
            for kind in conflicts {
                let name = &building.model.relations.catalog.tables[table].name;
                let reason = format!(
                    "Could not inherit permission for the role '{}' for the entity: '{kind} permission, table: {name}'",
                    role.role_name
                );
                let entry: Vec<ConfigStep> = vec!["inherited_roles".into(), at.into(), "role_set".into()];
                building.warnings.push(Warning { place: name.clone(), reason, entry });
            }
        }
    }
}

/// True if roles can be made of their parents: none is missing, and none is its own.
pub(super) fn is_sound(name: &str, inherited: &[InheritedRole], exists: impl Fn(&str) -> bool) -> bool {
    inherited.iter().find(|it| it.role_name == name).is_none_or(|it| fault(it, inherited, exists).is_none())
}

/// A reason for which an inherited role cannot be made: a fault of its own, or of an inherited role that it is made of.
fn fault(role: &InheritedRole, inherited: &[InheritedRole], exists: impl Fn(&str) -> bool) -> Option<String> {
    let all = reachable(&role.role_name, inherited);
    if let Some(name) = all.iter().find(|it| is_circular(it, inherited)) {
        return Some(format!("found cycle(s) in roles: [\"{name}\"]"));
    }
    let is_inherited = |name: &str| inherited.iter().any(|it| it.role_name == name);
    let missing = all.iter().find(|it| !exists(it) && !is_inherited(it))?;
    Some(format!("the role \"{missing}\", of which it is made, is in no permission"))
}

/// True if `name` is, by whatever way, one of its own parents.
fn is_circular(name: &str, inherited: &[InheritedRole]) -> bool {
    parents(name, inherited).any(|it| reachable(it, inherited).contains(name))
}

/// The permissions that `role` has by its parents on a table; `own`: the permissions that are written for a role.
fn merge<'r>(
    role: &'r str,
    inherited: &'r [InheritedRole],
    own: impl Fn(&str) -> Option<&'r TablePermissions>,
    conflicts: &mut Vec<&'static str>,
) -> TablePermissions {
    let select_rules: Vec<_> = rules(role, inherited, |it| own(it)?.select.as_ref()).into_values().collect();
    let insert_rules = rules(role, inherited, |it| own(it)?.insert.as_ref());
    let update_rules = rules(role, inherited, |it| own(it)?.update.as_ref());
    let delete_rules = rules(role, inherited, |it| own(it)?.delete.as_ref());
    TablePermissions {
        select: select(&select_rules),
        insert: common_rule(insert_rules, "insert", conflicts),
        update: common_rule(update_rules, "update", conflicts),
        delete: common_rule(delete_rules, "delete", conflicts),
    }
}

/// Rules that say the same: the order of the outermost parts of a condition does not count.
trait Agree {
    fn agrees(&self, other: &Self) -> bool;
}

impl Agree for Filter {
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All(ours), Self::All(theirs)) | (Self::Any(ours), Self::Any(theirs)) => {
                ours.iter().all(|it| theirs.contains(it)) && theirs.iter().all(|it| ours.contains(it))
            }
            _ => self == other,
        }
    }
}

impl Agree for InsertRule {
    fn agrees(&self, other: &Self) -> bool {
        self.check.agrees(&other.check) && *self == Self { check: self.check.clone(), ..other.clone() }
    }
}

impl Agree for UpdateRule {
    fn agrees(&self, other: &Self) -> bool {
        let is_checked = match (&self.check, &other.check) {
            (Some(ours), Some(theirs)) => ours.agrees(theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        let filter = self.filter.clone();
        let check = self.check.clone();
        is_checked && self.filter.agrees(&other.filter) && *self == Self { filter, check, ..other.clone() }
    }
}

impl Agree for DeleteRule {
    fn agrees(&self, other: &Self) -> bool {
        self.filter.agrees(&other.filter) && self.backend_only == other.backend_only
    }
}

/// The rule that all parents share; pushes `kind` to `conflicts` if they differ.
fn common_rule<R: Agree>(
    rules: BTreeMap<&str, &Arc<R>>,
    kind: &'static str,
    conflicts: &mut Vec<&'static str>,
) -> Option<Arc<R>> {
    let first = *rules.values().next()?;
    if rules.values().all(|it| Arc::ptr_eq(it, first) || it.agrees(first)) {
        return Some(Arc::clone(first));
    }
    conflicts.push(kind);
    None
}

/// The union.
fn select(parents: &[&Arc<SelectRule>]) -> Option<Arc<SelectRule>> {
    let first = match parents {
        [] => return None,
        [first, others @ ..] if others.iter().all(|it| it == first) => return Some(Arc::clone(first)),
        [first, ..] => *first,
    };
    let mut columns = Vec::with_capacity(first.columns.len());
    let mut guarded = Vec::new();
    for at in 0..first.columns.len() {
        let granting: Vec<&Filter> =
            parents.iter().filter(|it| it.columns[at]).map(|it| &*it.filter).collect();
        columns.push(!granting.is_empty());
        if granting.is_empty() || granting.len() == parents.len() {
            continue;
        }
        let shown_if = any(granting.into_iter());
        if !shown_if.is_true() {
            guarded.push(GuardedColumn { column: ColumnId(at as u32), shown_if });
        }
    }
    let mut computed: Vec<_> = parents.iter().flat_map(|it| it.computed.iter().copied()).collect();
    computed.sort_unstable();
    computed.dedup();
    // A computed field that some parent lacks is shown in the rows of those that have it, as a column is.
    let guard = |function: &FunctionId| {
        let granting: Vec<&Filter> = parents
            .iter()
            .filter(|parent| parent.computed.contains(function))
            .map(|it| &*it.filter)
            .collect();
        let is_everywhere = granting.len() == parents.len();
        let shown_if = any(granting.into_iter());
        (!is_everywhere && !shown_if.is_true()).then_some(GuardedCall { function: *function, shown_if })
    };
    let guarded_calls = computed.iter().filter_map(guard).collect();
    let merged = SelectRule {
        filter: any(parents.iter().map(|it| &*it.filter)).into(),
        limit: parents.iter().filter_map(|it| it.limit).max(),
        columns: columns.into(),
        guarded: guarded.into(),
        computed: computed.into(),
        guarded_calls,
        aggregations: parents.iter().any(|it| it.aggregations),
        query_roots: roots(parents, |it| it.query_roots.as_deref()),
        subscription_roots: roots(parents, |it| it.subscription_roots.as_deref()),
    };
    Some(merged.into())
}

/// True if one of the conditions holds.
fn any<'f>(filters: impl Iterator<Item = &'f Filter>) -> Filter {
    let mut all: Vec<Filter> = Vec::new();
    for filter in filters {
        if filter.is_true() {
            return Filter::TRUE;
        }
        if !all.contains(filter) {
            all.push(filter.clone());
        }
    }
    if all.len() == 1 { all.remove(0) } else { Filter::Any(all) }
}

/// The root fields that one of the parents has; `None`: all.
fn roots<'p, R: Clone + 'p>(
    parents: &[&'p Arc<SelectRule>],
    of: impl Fn(&'p SelectRule) -> Option<&'p [R]>,
) -> Option<Box<[R]>> {
    let lists: Option<Vec<&[R]>> = parents.iter().map(|it| of(it)).collect();
    Some(lists?.concat().into())
}
