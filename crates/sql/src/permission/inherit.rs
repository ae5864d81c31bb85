//! Inherited roles: the union of what their parents may read, and what they agree on of writes.
//!
//! A parent that is itself inherited stands for the plain roles it is made of, so that each of them guards its own cells.
//!
//! **Invariant:** a row is seen if a parent sees it, and a cell of it if a parent that sees the row sees the column.
//!
//! Source: `docs/permissions.md`, "Inherited roles".

use super::build::PermissionBuilder;
use super::{ColumnAccess, SelectRule, TablePermissions};
use std::collections::{BTreeMap, BTreeSet};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::permission::{QueryRootField, SubscriptionRootField};
use weir_relational::catalog::{ConfigStep, Warning};
use weir_relational::plan::Filter;

/// The plain roles that `name` is made of; itself, if it is not inherited.
pub(super) fn leaves<'r>(name: &'r str, inherited: &'r [InheritedRole]) -> Vec<&'r str> {
    let (mut leaves, mut seen, mut pending) = (Vec::new(), BTreeSet::new(), vec![name]);
    while let Some(name) = pending.pop() {
        if !seen.insert(name) {
            continue;
        }
        match inherited.iter().find(|it| it.role_name == name) {
            Some(role) => pending.extend(role.role_set.iter().map(String::as_str)),
            None => leaves.push(name),
        }
    }
    leaves.sort_unstable();
    leaves
}

/// Adds the inherited roles to the plain ones.
pub(super) fn roles(building: &mut PermissionBuilder<'_>, inherited: &[InheritedRole]) {
    let plain = building.roles.clone();
    for (at, role) in inherited.iter().enumerate() {
        if let Some(reason) = fault(role, inherited, &plain) {
            let entry: Vec<ConfigStep> = vec!["inherited_roles".into(), at.into()];
            building.warnings.push(Warning { place: role.role_name.clone(), reason, entry });
            continue;
        }
        let parents: Vec<&Vec<TablePermissions>> =
            leaves(&role.role_name, inherited).into_iter().filter_map(|it| plain.get(it)).collect();
        for table in 0..building.model.relations.catalog.tables.len() {
            let of: Vec<&TablePermissions> = parents.iter().map(|it| &it[table]).collect();
            let mut conflicts = Vec::new();
            let merged = merge(&of, &mut conflicts);
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
                let entry: Vec<ConfigStep> = vec!["inherited_roles".into(), at.into()];
                building.warnings.push(Warning { place: name.clone(), reason, entry });
            }
        }
    }
}

/// Why an inherited role cannot be made.
fn fault(
    role: &InheritedRole,
    inherited: &[InheritedRole],
    plain: &BTreeMap<String, Vec<TablePermissions>>,
) -> Option<String> {
    let is_inherited = |name: &str| inherited.iter().any(|it| it.role_name == name);
    if reaches(&role.role_name, inherited) {
        return Some(format!("found cycle(s) in roles: [\"{}\"]", role.role_name));
    }
    let missing = role.role_set.iter().find(|it| !plain.contains_key(*it) && !is_inherited(it))?;
    Some(format!("the role \"{missing}\", of which it is made, is in no permission"))
}

/// True if `name` is, by whatever way, one of its own parents.
fn reaches(name: &str, inherited: &[InheritedRole]) -> bool {
    let parents = |name: &str| {
        let role = inherited.iter().find(|it| it.role_name == name);
        role.map_or(&[][..], |it| it.role_set.as_slice())
    };
    let (mut seen, mut pending) = (BTreeSet::new(), parents(name).iter().collect::<Vec<_>>());
    while let Some(next) = pending.pop() {
        if next == name {
            return true;
        }
        if seen.insert(next) {
            pending.extend(parents(next));
        }
    }
    false
}

fn merge(parents: &[&TablePermissions], conflicts: &mut Vec<&'static str>) -> TablePermissions {
    let selects: Vec<&SelectRule> = parents.iter().filter_map(|it| it.select.as_ref()).collect();
    TablePermissions {
        select: select(&selects),
        insert: agreed(parents.iter().filter_map(|it| it.insert.as_ref()), "insert", conflicts),
        update: agreed(parents.iter().filter_map(|it| it.update.as_ref()), "update", conflicts),
        delete: agreed(parents.iter().filter_map(|it| it.delete.as_ref()), "delete", conflicts),
    }
}

/// The only rule, or the one that all have.
fn agreed<'r, R: PartialEq + Clone + 'r>(
    mut rules: impl Iterator<Item = &'r R>,
    kind: &'static str,
    conflicts: &mut Vec<&'static str>,
) -> Option<R> {
    let first = rules.next()?;
    if rules.all(|it| it == first) {
        return Some(first.clone());
    }
    conflicts.push(kind);
    None
}

/// The union.
fn select(parents: &[&SelectRule]) -> Option<SelectRule> {
    let first = match parents {
        [] => return None,
        [only] => return Some((*only).clone()),
        [first, ..] => *first,
    };
    let columns = (0..first.columns.len()).map(|at| {
        let granting: Vec<&Filter> =
            parents.iter().filter(|it| it.columns[at] != ColumnAccess::Hidden).map(|it| &it.filter).collect();
        match granting.len() {
            0 => ColumnAccess::Hidden,
            len if len == parents.len() => ColumnAccess::Shown,
            _ => match any(granting.into_iter()) {
                all if all.is_true() => ColumnAccess::Shown,
                some => ColumnAccess::If(some),
            },
        }
    });
    let columns = columns.collect();
    let mut computed: Vec<_> = parents.iter().flat_map(|it| it.computed.iter().copied()).collect();
    computed.sort_unstable();
    computed.dedup();
    // A computed field that some parent lacks would show cells that the parent does not see: all have to have it.
    computed.retain(|it| parents.iter().all(|parent| parent.computed.contains(it)));
    Some(SelectRule {
        filter: any(parents.iter().map(|it| &it.filter)),
        limit: parents.iter().filter_map(|it| it.limit).max(),
        columns,
        computed,
        aggregations: parents.iter().any(|it| it.aggregations),
        query_roots: roots(parents, |it| it.query_roots.as_ref()),
        subscription_roots: subscription_roots(parents),
    })
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

fn roots(
    parents: &[&SelectRule],
    of: impl Fn(&SelectRule) -> Option<&Vec<QueryRootField>>,
) -> Option<Vec<QueryRootField>> {
    let lists: Option<Vec<_>> = parents.iter().map(|it| of(it)).collect();
    Some(lists?.into_iter().flatten().copied().collect())
}

fn subscription_roots(parents: &[&SelectRule]) -> Option<Vec<SubscriptionRootField>> {
    let lists: Option<Vec<_>> = parents.iter().map(|it| it.subscription_roots.as_ref()).collect();
    Some(lists?.into_iter().flatten().copied().collect())
}
