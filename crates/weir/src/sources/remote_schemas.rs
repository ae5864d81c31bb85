//! Opens the remote schemas of the metadata, and finds the joins of relationships that lead to or from them.
//!
//! A server is asked for its schema once for each generation. One that does not answer is served with what it told before; else its
//! entry is inconsistent, and the rest serves.

use super::Findings;
use super::known_sources::{KnownContents, KnownSources};
use super::remote_joins::{Relation, RemoteJoin, TableField, field_join};
use super::remote_watch::WatchedRemote;
use super::{remote_roles, services};
use crate::config::source::lookups::lookup_name;
use crate::config::{Config, Described};
use crate::metadata::remote_relationships::{table_path, type_path};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::compose::ComposeError;
use weir_engine::source::Source as EngineSource;
use weir_http::call::{CallPolicy, Protocol, TlsFiles};
use weir_http::graphql::GraphqlSource;
use weir_http::passthrough::{
    FieldLookup, ForwardedHeader, ForwardedValue, LookupKey, LookupStep, NameRule, Naming, OpenError,
    RemoteSchema, RoleSdl, Server,
};
use weir_http::sdl::CacheRule;
use weir_metadata::Step;
use weir_metadata::document::remote_relationship::{RemoteTarget, remote_field_steps};
use weir_metadata::document::remote_schema::{
    RemoteCustomization, RemoteSchemaDefinition, RemoteSchemaEntry, TIMEOUT_S,
};
use weir_webhook::environment::{resolve_address, resolve_headers};
use weir_webhook::headers::event_headers;

/// Opened remote schemas.
#[derive(Default)]
pub(super) struct OpenRemotes {
    pub(super) sources: Vec<Arc<dyn EngineSource>>,
    /// Joins to and from them.
    pub(super) joins: Vec<RemoteJoin>,
    /// All whose address is known.
    pub(super) watched: Vec<WatchedRemote>,
}

/// A remote schema whose server has told its schema.
struct Told {
    /// Place of the entry.
    at: usize,
    server: Server,
    source: GraphqlSource,
    /// Relationships that lead to it.
    ways: Vec<Way>,
}

/// A relationship to a remote schema.
struct Way {
    path: Vec<Step>,
    on: String,
    name: String,
    /// Fields of the type that has it, by number of the key.
    fields: Vec<String>,
    lookup: FieldLookup,
}

/// Name of the source of the remote schema `name`.
pub(super) fn source_name(name: &str) -> String {
    format!("remote_schema/{name}")
}

/// Opens the remote schemas of `config` beside the sources `others`, whose tables have `fields`.
/// # Errors
/// The cache of answers cannot be made.
pub(super) fn open(
    config: &Config,
    (others, fields): (&[Arc<dyn EngineSource>], &[TableField]),
    (before, known): (Option<&KnownSources>, &mut KnownSources),
    findings: &mut Findings,
) -> Result<OpenRemotes, String> {
    let Some(described) = &config.described else { return Ok(OpenRemotes::default()) };
    let entries = &described.loaded.document.remote_schemas;
    let mut told: Vec<Told> = Vec::new();
    let mut opened = OpenRemotes::default();
    for (at, entry) in entries.iter().enumerate() {
        let asked = to_server(config, entry).and_then(|server| {
            let name = entry.name.clone();
            opened.watched.push(WatchedRemote { name, server: server.clone(), told: None, stale: None });
            ask(server, entry, (before, known))
        });
        let watched = opened.watched.last_mut();
        match asked {
            Ok(Asked { server, source, failure }) => {
                if let Some(watched) = watched {
                    watched.told = Some(source.introspection().clone());
                    watched.stale = failure.map(|it| described.inconsistent(&entry_path(at), &it));
                }
                told.push(Told { at, server, source, ways: Vec::new() });
            }
            Err(reason) => leave_out(findings, described, &entry_path(at), &reason),
        }
    }
    find_ways(config, fields, described, &mut told, findings);
    let mut finished = Vec::new();
    for it in told {
        finished.extend(finish(it, (config, described), findings, &mut opened.joins));
    }
    for (at, source) in &finished {
        let joins = joins_to_tables(&entries[*at], *at, source, others, (described, findings));
        opened.joins.extend(joins);
        if entries[*at].permissions.is_empty() && !config.webhooks.remote_schema_permissions {
            let name = &entries[*at].name;
            findings
                .notes
                .push(format!("remote schema `{name}`: every role sees all of it, as it has no permissions"));
        }
    }
    opened.sources = finished.into_iter().map(|it| Arc::new(it.1) as Arc<dyn EngineSource>).collect();
    Ok(opened)
}

fn entry_path(at: usize) -> [Step; 2] {
    ["remote_schemas".into(), at.into()]
}

fn leave_out(findings: &mut Findings, described: &Described, path: &[Step], reason: &str) {
    findings.leave_out(described.inconsistent(path, reason));
}

/// A server whose schema is known.
struct Asked {
    server: Server,
    source: GraphqlSource,
    /// Why what the server told before counts: it does not answer.
    failure: Option<String>,
}

/// Asks `server` for its schema; what it told before counts if it does not answer.
fn ask(
    server: Server,
    entry: &RemoteSchemaEntry,
    (before, known): (Option<&KnownSources>, &mut KnownSources),
) -> Result<Asked, String> {
    let key = super::known_sources::server_key(&server);
    let url = shown_url(&entry.definition);
    let no_answer = format!("HTTP exception occurred while sending the request to \"{url}\"");
    let (source, failure) = match (services::ask(server.clone()), before.and_then(|it| it.get(&key))) {
        (Err(OpenError::Unavailable(message)), Some(KnownContents::Graphql(told))) => {
            tracing::warn!(remote_schema = %entry.name, "the server does not tell its schema, and is served with the last one: {message}");
            let source = GraphqlSource::from_introspection(server.clone(), told.clone());
            (source.map_err(|it| it.to_string())?, Some(no_answer))
        }
        (Err(OpenError::Unavailable(message)), _) => {
            tracing::warn!(remote_schema = %entry.name, "the server does not tell its schema: {message}");
            return Err(no_answer);
        }
        (Err(error @ OpenError::Unfit(_)), _) => return Err(error.to_string()),
        (Ok(source), _) => (source, None),
    };
    known.insert(key, KnownContents::Graphql(Bytes::clone(source.introspection())));
    Ok(Asked { server, source, failure })
}

/// The address as the metadata has it, without values of variables.
fn shown_url(definition: &RemoteSchemaDefinition) -> String {
    match (&definition.url, &definition.url_from_env) {
        (Some(url), _) => url.clone(),
        (None, name) => format!("{{{{{}}}}}", name.as_deref().unwrap_or_default()),
    }
}

/// The server of `entry`.
fn to_server(config: &Config, entry: &RemoteSchemaEntry) -> Result<Server, String> {
    let environment = |name: &str| std::env::var(name).ok();
    let RemoteSchemaDefinition { timeout_seconds, customization, headers, forward_client_headers, .. } =
        &entry.definition;
    let address = entry.definition.address()?;
    let url = resolve_address(&address, &environment).map_err(|it| it.to_string())?;
    let url = url.parse::<hyper::Uri>().ok().filter(|it| it.authority().is_some());
    let url = url.ok_or("the address of the server is no absolute URL")?;
    let headers = resolve_headers(headers.as_deref().unwrap_or_default(), &environment);
    let headers = event_headers(headers.map_err(|it| it.to_string())?);
    // The content type comes with the body.
    let headers = headers.into_iter().filter(|it| it.0 != hyper::header::CONTENT_TYPE);
    let fixed = |(name, value)| ForwardedHeader { name, value: ForwardedValue::Fixed(value) };
    let permissions = entry.permissions.iter();
    let roles = permissions.map(|it| RoleSdl { role: it.role.clone(), sdl: it.definition.schema.clone() });
    let is_listed = !entry.permissions.is_empty() || config.webhooks.remote_schema_permissions;
    let remote = RemoteSchema {
        shown_url: shown_url(&entry.definition).into(),
        shows_internal: config.webhooks.shows_internal(),
        naming: naming(customization.as_ref()),
        forwards_client: forward_client_headers.unwrap_or_default(),
        prioritizes_data: config.webhooks.remote_schema_prioritizes_data,
        lookups: Vec::new(),
        roles: is_listed.then(|| roles.collect()),
        inherited_roles: remote_roles::find_inherited(config, entry),
    };
    let timeout = Duration::from_secs(timeout_seconds.unwrap_or(TIMEOUT_S).into());
    Ok(Server {
        name: source_name(&entry.name).into(),
        url,
        tls: TlsFiles::default(),
        prefix: "".into(),
        headers: headers.map(fixed).collect(),
        protocol: Protocol::Negotiated,
        policy: CallPolicy { timeout, retries: 0, ..CallPolicy::USUAL },
        deadline_header: None,
        cache: services::keep(&config.cache)?,
        // Each caller's headers are in every call, so nothing is kept.
        cache_rule: Some(CacheRule { private: true, ..CacheRule::default() }),
        tag: entry.name.as_str().into(),
        type_tags: Vec::new(),
        audience: None,
        remote: Some(Arc::new(remote)),
    })
}

fn naming(customization: Option<&RemoteCustomization>) -> Naming {
    let Some(customization) = customization else { return Naming::default() };
    let rule =
        |prefix: &Option<String>, suffix: &Option<String>, mapping: &std::collections::BTreeMap<_, _>| {
            let text = |it: &Option<String>| it.clone().unwrap_or_default();
            NameRule { prefix: text(prefix), suffix: text(suffix), mapping: mapping.clone() }
        };
    let types = customization.type_names.as_ref();
    let fields = customization.field_names.iter();
    let namespace = customization.root_fields_namespace.clone().filter(|it| !it.is_empty());
    Naming {
        types: types.map_or_else(NameRule::default, |it| rule(&it.prefix, &it.suffix, &it.mapping)),
        renames_roots: namespace.is_some(),
        fields: fields
            .map(|it| (it.parent_type.clone(), rule(&it.prefix, &it.suffix, &it.mapping)))
            .collect(),
        root_fields_prefix: String::new(),
        namespace,
    }
}

/// Gives each remote schema the relationships that lead to it, of tables and of types of remote schemas.
fn find_ways(
    config: &Config,
    fields: &[TableField],
    described: &Described,
    told: &mut [Told],
    findings: &mut Findings,
) {
    let entries = &described.loaded.document.remote_schemas;
    let mut found: Vec<(Vec<Step>, String, Result<Way, String>)> = Vec::new();
    for (place, field) in fields {
        let source = &config.sources[*place];
        let entry = &source.tables[field.table].remote_relationships[field.relationship];
        let Some(at) = source.of_metadata else { continue };
        let Ok(target @ RemoteTarget::RemoteSchema { name, .. }) = entry.definition.target() else {
            continue;
        };
        let path = table_path(at, field.table, field.relationship);
        let keys = field.keys.iter().map(|it| (it.lhs.clone(), it.field.clone(), it.scalar.clone()));
        let way = to_way((&field.on, &entry.name), &path, target, keys.collect());
        found.push((path, name.to_owned(), way));
    }
    for it in told.iter() {
        for (number, of_type) in entries[it.at].remote_relationships.iter().enumerate() {
            for (relationship, entry) in of_type.relationships.iter().enumerate() {
                let Ok(target @ RemoteTarget::RemoteSchema { name, .. }) = entry.definition.target() else {
                    continue;
                };
                let path = type_path(it.at, number, relationship);
                let way = resolve_keys(&it.source, &of_type.type_name, &entry.name, &target.lhs_fields())
                    .and_then(|(on, keys)| to_way((&on, &entry.name), &path, target, keys));
                found.push((path, name.to_owned(), way));
            }
        }
    }
    for (path, name, way) in found {
        let target = told.iter_mut().find(|it| entries[it.at].name == name);
        match (way, target) {
            (Ok(way), Some(target)) => target.ways.push(way),
            (Ok(_), None) => {
                let reason = format!("remote schema with name \"{name}\" is not found");
                leave_out(findings, described, &path, &reason);
            }
            (Err(reason), _) => leave_out(findings, described, &path, &reason),
        }
    }
}

/// Name in the metadata, field of the graph and scalar of a key.
type Key = (String, String, String);

/// The graph's name of the type that the server of `source` calls `ty`, and its fields `lhs` as keys of the new field `name`.
fn resolve_keys(
    source: &GraphqlSource,
    ty: &str,
    name: &str,
    lhs: &[&str],
) -> Result<(String, Vec<Key>), String> {
    let (on, is_taken) = source
        .find_object(ty, name)
        .ok_or_else(|| format!("\"{ty}\" is no object type of the remote schema"))?;
    if is_taken {
        return Err(format!("there is another field called `{name}`"));
    }
    let key = |field: &&str| {
        let found = source.find_leaf(ty, field);
        let [_, own, scalar] =
            found.ok_or_else(|| format!("`{ty}` has no field `{field}` of a single scalar"))?;
        Ok(((*field).to_owned(), own.to_owned(), scalar.to_owned()))
    };
    let keys = lhs.iter().map(key).collect::<Result<Vec<Key>, String>>()?;
    Ok((on.to_owned(), keys))
}

fn to_way(
    (on, name): (&str, &str),
    path: &[Step],
    target: RemoteTarget<'_>,
    keys: Vec<Key>,
) -> Result<Way, String> {
    let RemoteTarget::RemoteSchema { remote_field, .. } = target else {
        return Err("the target is no remote schema".into());
    };
    let steps = remote_field_steps(remote_field)?.into_iter().map(|step| {
        let members = match step.arguments {
            Some(weir_metadata::json::Json::Object(members)) => members.0.as_slice(),
            Some(_) | None => &[],
        };
        let arguments = members.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        LookupStep { field: step.name.to_owned(), arguments: arguments.collect() }
    });
    let steps = steps.collect();
    let (fields, keys) =
        keys.into_iter().map(|(name, field, scalar)| (field, LookupKey { name, scalar })).unzip();
    let lookup = FieldLookup { name: lookup_name(path), label: format!("{on}_{name}"), steps, keys };
    Ok(Way { path: path.to_vec(), on: on.to_owned(), name: name.to_owned(), fields, lookup })
}

/// Makes the source of `told` with the lookups of the relationships that lead to it.
fn finish(
    told: Told,
    (config, described): (&Config, &Described),
    findings: &mut Findings,
    joins: &mut Vec<RemoteJoin>,
) -> Option<(usize, GraphqlSource)> {
    let entries = &described.loaded.document.remote_schemas;
    let Told { at, mut server, source, ways } = told;
    let mut source = source;
    if !ways.is_empty() {
        let mut remote = server.remote.as_deref().cloned().unwrap_or_default();
        remote.lookups = ways.iter().map(|it| it.lookup.clone()).collect();
        server.remote = Some(Arc::new(remote));
        match GraphqlSource::from_introspection(server, source.introspection().clone()) {
            Ok(made) => source = made,
            Err(error) => {
                leave_out(findings, described, &entry_path(at), &error.to_string());
                return None;
            }
        }
    }
    for (role, reason) in source.role_faults() {
        let path = ["remote_schemas".into(), at.into(), "permissions".into(), (*role).into()];
        leave_out(findings, described, &path, reason);
    }
    remote_roles::tell_split_roles(config, &entries[at], &source, findings);
    for (number, way) in ways.into_iter().enumerate() {
        match source.lookup_faults().iter().find(|it| it.0 == number) {
            Some((_, reason)) => leave_out(findings, described, &way.path, reason),
            None => {
                let join = field_join(
                    (&way.on, &way.name),
                    &way.fields,
                    &source_name(&entries[at].name),
                    &way.lookup.name,
                );
                joins.push(RemoteJoin { join, path: way.path });
            }
        }
    }
    Some((at, source))
}

/// The joins of the types of `source` to tables of `others`.
fn joins_to_tables(
    entry: &RemoteSchemaEntry,
    at: usize,
    source: &GraphqlSource,
    others: &[Arc<dyn EngineSource>],
    (described, findings): (&Described, &mut Findings),
) -> Vec<RemoteJoin> {
    let mut joins = Vec::new();
    for (number, of_type) in entry.remote_relationships.iter().enumerate() {
        for (relationship, entry) in of_type.relationships.iter().enumerate() {
            let Ok(RemoteTarget::Source(target)) = entry.definition.target() else { continue };
            let path = type_path(at, number, relationship);
            let lhs: Vec<&str> = target.field_mapping.keys().map(String::as_str).collect();
            match resolve_keys(source, &of_type.type_name, &entry.name, &lhs) {
                Ok((on, keys)) => {
                    let keys: Vec<&str> = keys.iter().map(|it| it.1.as_str()).collect();
                    let relation = Relation { on: &on, name: &entry.name, keys: &keys, path: &path };
                    joins.extend(relation.joins(target, others));
                }
                Err(reason) => leave_out(findings, described, &path, &reason),
            }
        }
    }
    joins
}

/// Hasura's words for the reason why a remote schema cannot stand beside other sources.
pub(super) fn clash_words(error: &ComposeError) -> String {
    match error {
        ComposeError::RootFieldTwice { name, first, .. } if first.starts_with(&source_name("")) => {
            format!("Duplicate remote field '{name}'")
        }
        ComposeError::RootFieldTwice { name, .. } => {
            format!("Field cannot be overwritten by remote field '{name}'")
        }
        ComposeError::TypeTwice { name, reason, .. } => {
            format!("Found conflicting definitions for GraphQL type \"{name}\": {reason}")
        }
        ComposeError::ScalarReaders { name, .. } => {
            format!("Found conflicting definitions for GraphQL type \"{name}\"")
        }
        ComposeError::Join { reason, .. } => reason.clone(),
        ComposeError::SourceNames { .. }
        | ComposeError::Extension { .. }
        | ComposeError::Hint { .. }
        | ComposeError::Cost { .. }
        | ComposeError::Schema { .. } => error.to_string(),
    }
}
