//! Inherited roles of remote schemas: which permissions they are made of, and what is told of those that cannot be joined.

use super::{Findings, Misfit};
use crate::config::Config;
use std::collections::BTreeSet;
use weir_http::graphql::GraphqlSource;
use weir_http::passthrough::InheritedSdl;
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::remote_schema::RemoteSchemaEntry;

/// The inherited roles of the configuration, then those of the metadata.
fn list_roles(config: &Config) -> Vec<&InheritedRole> {
    let of_metadata = config.described.iter().flat_map(|it| &it.loaded.document.inherited_roles);
    config.inherited_roles.iter().chain(of_metadata).collect()
}

/// The inherited roles that have no permission of their own for `entry`, with the roles that have one.
pub(super) fn find_inherited(config: &Config, entry: &RemoteSchemaEntry) -> Vec<InheritedSdl> {
    let roles = list_roles(config);
    let has_own = |name: &str| entry.permissions.iter().any(|it| it.role == name);
    let unowned = roles.iter().filter(|it| !has_own(&it.role_name));
    let inherited = unowned.map(|it| InheritedSdl {
        role: it.role_name.clone(),
        parts: find_parts(&it.role_name, &roles, has_own).unwrap_or_default(),
    });
    inherited.collect()
}

/// The roles with permissions that `name` is made of: a permission of an inherited role stands alone. `None` if `name` is made of
/// itself.
fn find_parts(name: &str, roles: &[&InheritedRole], has_own: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let parents = |name: &str| roles.iter().find(|it| it.role_name == name).map(|it| it.role_set.as_slice());
    let mut seen = BTreeSet::new();
    let mut parts = Vec::new();
    let mut pending: Vec<&str> = parents(name)?.iter().map(String::as_str).collect();
    while let Some(role) = pending.pop() {
        if role == name {
            return None;
        }
        if !seen.insert(role) {
            continue;
        }
        if has_own(role) {
            parts.push(role.to_owned());
        } else {
            pending.extend(parents(role).into_iter().flatten().map(String::as_str));
        }
    }
    Some(parts)
}

/// Tells the inherited roles that see nothing of `source` since the roles they are made of differ.
pub(super) fn tell_split_roles(
    config: &Config,
    entry: &RemoteSchemaEntry,
    source: &GraphqlSource,
    findings: &mut Findings,
) {
    let inherited = find_inherited(config, entry);
    let roles = list_roles(config);
    let own = config.inherited_roles.len();
    for number in source.split_roles() {
        let role = &inherited[*number].role;
        let Some(at) = roles.iter().position(|it| it.role_name == *role) else { continue };
        let reason = format!(
            "Could not inherit permission for the role '{role}' for the entity: 'remote schema permission, remote schema: {}'",
            entry.name
        );
        let is_metadata = at >= own;
        let at = if is_metadata { at - own } else { at };
        let path = vec!["inherited_roles".into(), at.into(), "role_set".into()];
        findings.add_misfit(config, Misfit { is_metadata, path, reason, is_served: false });
    }
}
