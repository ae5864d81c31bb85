//! Commands about roles, collections, endpoints and settings.

use super::arguments::Arguments;
use super::lookup::{already_exists, not_there, take_out};
use super::{Command, Done, Outcome, Refused};
use crate::check::{Unsupported, find_unknown_params};
use crate::document::Metadata;
use crate::document::api::{
    AllowlistEntry, AllowlistScope, ApiLimits, InheritedRole, NamedQuery, QueryCollection, RestEndpoint,
};
use crate::places::render_path;

/// The command called `name`.
pub(super) fn command(name: &str) -> Option<Command> {
    Some(match name {
        "add_inherited_role" => add_inherited_role,
        "drop_inherited_role" => drop_inherited_role,
        "create_query_collection" => create_query_collection,
        "rename_query_collection" => rename_query_collection,
        "drop_query_collection" => drop_query_collection,
        "add_query_to_collection" => add_query_to_collection,
        "drop_query_from_collection" => drop_query_from_collection,
        "add_collection_to_allowlist" => add_collection_to_allowlist,
        "update_scope_of_collection_in_allowlist" => update_scope,
        "drop_collection_from_allowlist" => drop_collection_from_allowlist,
        "create_rest_endpoint" => create_rest_endpoint,
        "drop_rest_endpoint" => drop_rest_endpoint,
        "set_graphql_schema_introspection_options" => set_introspection,
        "set_api_limits" => set_api_limits,
        "remove_api_limits" => remove_api_limits,
        _ => return None,
    })
}

fn add_inherited_role(document: &mut Metadata, args: &mut Arguments) -> Done {
    let role: InheritedRole = args.rest()?;
    if role.role_set.contains(&role.role_name) {
        let message = "an inherited role name cannot be in the role combination";
        return Err(Refused::new("invalid-params", message));
    }
    // Hasura replaces an inherited role of the same name.
    match document.inherited_roles.iter_mut().find(|it| it.role_name == role.role_name) {
        Some(known) => *known = role,
        None => document.inherited_roles.push(role),
    }
    Ok(Outcome::default())
}

fn drop_inherited_role(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("role_name")?;
    let missing = || not_there(format!("inherited role \"{name}\" does not exist"));
    take_out(&mut document.inherited_roles, |it| it.role_name == name, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn create_query_collection(document: &mut Metadata, args: &mut Arguments) -> Done {
    let collection: QueryCollection = args.rest()?;
    let name = &collection.name;
    if document.query_collections.iter().any(|it| it.name == *name) {
        return Err(already_exists(format!("query collection with name \"{name}\" already exists")));
    }
    document.query_collections.push(collection);
    Ok(Outcome::default())
}

/// The collection called `name`.
fn collection<'d>(document: &'d mut Metadata, name: &str) -> Result<&'d mut QueryCollection, Refused> {
    let found = document.query_collections.iter_mut().find(|it| it.name == name);
    found.ok_or_else(|| not_there(format!("query collection with name \"{name}\" does not exist")))
}

fn rename_query_collection(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let new: String = args.need("new_name")?;
    if document.query_collections.iter().any(|it| it.name == new) {
        return Err(already_exists(format!("query collection with name \"{new}\" already exists")));
    }
    collection(document, &name)?.name.clone_from(&new);
    let allowed = document.allowlist.iter_mut().filter(|it| it.collection == name);
    allowed.for_each(|it| it.collection.clone_from(&new));
    let stored = document.rest_endpoints.iter_mut().map(|it| &mut it.definition.query.collection_name);
    stored.filter(|it| **it == name).for_each(|it| it.clone_from(&new));
    Ok(Outcome::default())
}

fn drop_query_collection(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("collection")?;
    let cascade: bool = args.flag("cascade")?;
    collection(document, &name)?;
    if !cascade && document.allowlist.iter().any(|it| it.collection == name) {
        let message = format!(
            "query collection with name \"{name}\" is present in the allowlist; cannot proceed to drop. please use cascade to delete"
        );
        return Err(Refused::new("dependency-error", message));
    }
    document.query_collections.retain(|it| it.name != name);
    document.allowlist.retain(|it| it.collection != name);
    Ok(Outcome { cascade: Some(cascade), message: None })
}

fn add_query_to_collection(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("collection_name")?;
    let query = NamedQuery { name: args.need("query_name")?, query: args.need("query")? };
    let queries = &mut collection(document, &name)?.definition.queries;
    if queries.iter().any(|it| it.name == query.name) {
        let query = &query.name;
        return Err(already_exists(format!(
            "query with name \"{query}\" already exists in collection \"{name}\""
        )));
    }
    queries.push(query);
    Ok(Outcome::default())
}

fn drop_query_from_collection(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("collection_name")?;
    let query: String = args.need("query_name")?;
    let queries = &mut collection(document, &name)?.definition.queries;
    let missing = || not_there(format!("query with name \"{query}\" not found in collection \"{name}\""));
    take_out(queries, |it| it.name == query, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn add_collection_to_allowlist(document: &mut Metadata, args: &mut Arguments) -> Done {
    let entry: AllowlistEntry = args.rest()?;
    let name = entry.collection.clone();
    collection(document, &name)?;
    let known = document.allowlist.iter().find(|it| it.collection == name);
    let message = known.map(|it| {
        if it.scope == entry.scope {
            format!("collection \"{name}\" already exists in the allowlist")
        } else {
            format!(
                "collection \"{name}\" already exists in the allowlist, scope ignored; to change scope, use \
             update_scope_of_collection_in_allowlist"
            )
        }
    });
    if message.is_none() {
        document.allowlist.push(entry);
    }
    Ok(Outcome { cascade: None, message })
}

fn update_scope(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("collection")?;
    let scope: AllowlistScope = args.need("scope")?;
    find_allowlist_entry(document, &name)?.scope = Some(scope);
    Ok(Outcome::default())
}

fn find_allowlist_entry<'d>(
    document: &'d mut Metadata,
    name: &str,
) -> Result<&'d mut AllowlistEntry, Refused> {
    let found = document.allowlist.iter_mut().find(|it| it.collection == name);
    found.ok_or_else(|| not_there(format!("collection \"{name}\" doesn't exist in the allowlist")))
}

fn drop_collection_from_allowlist(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("collection")?;
    find_allowlist_entry(document, &name)?;
    document.allowlist.retain(|it| it.collection != name);
    Ok(Outcome::default())
}

fn create_rest_endpoint(document: &mut Metadata, args: &mut Arguments) -> Done {
    let endpoint: RestEndpoint = args.rest()?;
    let name = &endpoint.name;
    if document.rest_endpoints.iter().any(|it| it.name == *name) {
        return Err(already_exists(format!("Endpoint with name: {name} already exists")));
    }
    let shares = |it: &&RestEndpoint| {
        are_ambiguous(&it.url, &endpoint.url) && it.methods.iter().any(|it| endpoint.methods.contains(it))
    };
    if let Some(other) = document.rest_endpoints.iter().find(shares) {
        let message = format!("Ambiguous URL paths: {} and {}", other.url, endpoint.url);
        return Err(Refused::new("conflict", message));
    }
    document.rest_endpoints.push(endpoint);
    Ok(Outcome::default())
}

/// True if some path fits both templates.
fn are_ambiguous(one: &str, other: &str) -> bool {
    let count = |it: &str| it.split('/').count();
    let both = |(one, other): (&str, &str)| one == other || one.starts_with(':') || other.starts_with(':');
    count(one) == count(other) && one.split('/').zip(other.split('/')).all(both)
}

fn drop_rest_endpoint(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let missing = || not_there(format!("endpoint with name: {name} does not exist"));
    take_out(&mut document.rest_endpoints, |it| it.name == name, missing)?;
    Ok(Outcome::default())
}

fn set_introspection(document: &mut Metadata, args: &mut Arguments) -> Done {
    document.graphql_schema_introspection = args.rest()?;
    Ok(Outcome::default())
}

fn set_api_limits(document: &mut Metadata, args: &mut Arguments) -> Done {
    let limits: ApiLimits = args.rest()?;
    if let Some(Unsupported { path, message }) = find_unknown_params(&limits).into_iter().next() {
        return Err(Refused { code: "parse-failed", path: format!("args.{}", render_path(&path)), message });
    }
    document.api_limits = limits;
    Ok(Outcome::default())
}

fn remove_api_limits(document: &mut Metadata, _: &mut Arguments) -> Done {
    document.api_limits = ApiLimits::default();
    Ok(Outcome::default())
}
