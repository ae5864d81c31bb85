//! Converts sources of Hasura's metadata to sources of the configuration.
//!
//! The metadata says what is tracked, its names and the address; an entry of `sources` in weir.yaml with the same name overrules the
//! address and adds Weir's own settings.
//!
//! **Invariant:** a source of the metadata serves only what is tracked.

pub(crate) mod remote_relationships;
pub(crate) mod store;

use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::source::native_queries::NativeQueries;
use crate::config::source::postgres::{Flavour, Postgres};
use crate::config::{Config, Described, Source, SourceKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weir_metadata::check::{Unsupported, find_differences, find_unsupported};
use weir_metadata::document::customization::Customization;
use weir_metadata::document::source::{self, SourceEntry};
use weir_metadata::document::table::{TableEntry, TableName};
use weir_metadata::{Fault, Loaded, read};

/// Maximum size of a file with an address, in bytes.
const ADDRESS_BYTES_MAX: u64 = 64 * 1024;

/// Reads the metadata of `config` and adds its sources.
/// # Errors
/// All mistakes in the metadata's structure, or a contradicting entry of weir.yaml.
pub(crate) fn join(config: &mut Config) -> Result<(), String> {
    let Some(path) = config.metadata.clone() else { return inherit(config) };
    let lines = |faults: &[Fault]| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    join_loaded(config, &path, read::path(&path).map_err(|faults| lines(&faults))?)
}

/// Adds the sources of `loaded`, which is or will be the metadata at `path`.
/// # Errors
/// A contradicting entry of weir.yaml.
pub(crate) fn join_loaded(config: &mut Config, path: &Path, loaded: Loaded) -> Result<(), String> {
    apply_metadata(config, path, loaded)?;
    inherit(config)
}

/// Gives every source the inherited roles and their parent roles.
fn inherit(config: &mut Config) -> Result<(), String> {
    let mut roles = config.inherited_roles.clone();
    roles.extend(config.described.iter().flat_map(|it| it.loaded.document.inherited_roles.iter().cloned()));
    let actions = config.described.iter().flat_map(|it| &it.loaded.document.actions);
    let of_actions = actions.flat_map(|it| &it.permissions).map(|it| it.role.as_str());
    let remotes = config.described.iter().flat_map(|it| &it.loaded.document.remote_schemas);
    let of_remotes = remotes.flat_map(|it| &it.permissions).map(|it| it.role.as_str());
    let plain: BTreeSet<&str> = config
        .sources
        .iter()
        .flat_map(|it| {
            let of_functions = it.functions.iter().flat_map(|it| &it.permissions).map(|it| it.role.as_str());
            let of_models = it.native_queries.models.iter().flat_map(|it| &it.select_permissions);
            let of_models = of_models.map(|it| it.role.as_str());
            it.tables.iter().flat_map(TableEntry::roles).chain(of_functions).chain(of_models)
        })
        .chain(of_actions)
        .chain(of_remotes)
        .collect();
    let plain: Vec<String> = plain.into_iter().map(str::to_owned).collect();
    for source in &mut config.sources {
        source.inherited_roles.clone_from(&roles);
        source.roles.clone_from(&plain);
        source.native_queries.are_trusted = config.disable_native_query_validation;
        source.explicit_functions = config.infer_function_permissions == Some(false);
        let is_postgres = match address::parse(&source.url) {
            Ok(Address::Sqlite(_)) => false,
            Ok(Address::Postgres(_)) => true,
            _ => continue,
        };
        let names = &mut source.customization.naming_convention;
        *names = names.or(config.naming_convention);
        if let Some(is_text) = config.stringify_numeric_types.filter(|_| is_postgres) {
            source.postgres.get_or_insert_default().stringify_numeric_types = is_text;
        }
    }
    Ok(())
}

/// Merges `loaded`, the metadata at `path`, into the configuration.
fn apply_metadata(config: &mut Config, path: &Path, loaded: Loaded) -> Result<(), String> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let locate = |it: Unsupported| loaded.places.fault(&it.path, it.message);
    let unsupported = find_unsupported(&loaded.document).into_iter().map(locate).collect();
    let different = find_differences(&loaded.document).into_iter().map(locate);
    let different = loaded.unknown.iter().cloned().chain(different).collect();
    let inconsistent = loaded.left_out.clone();
    let mut described = Described { loaded, unsupported, different, inconsistent };
    for (at, entry) in described.loaded.document.sources.clone().into_iter().enumerate() {
        if matches!(entry.kind, source::SourceKind::Other(_)) {
            // It is reported as unsupported.
            config.sources.retain(|it| it.name != entry.name);
            continue;
        }
        let own = config.sources.iter().position(|it| it.name == entry.name);
        let own_source = own.map(|it| config.sources[it].clone()).unwrap_or_default();
        check_own(&own_source, &entry.name)?;
        match address(&entry, &own_source, folder) {
            Ok(url) => {
                let made = to_source(entry, own_source, url, at);
                match own {
                    Some(own) => config.sources[own] = made,
                    None => config.sources.push(made),
                }
            }
            Err(reason) => {
                let found = described.inconsistent(&Described::path(at, &[]), &reason);
                described.inconsistent.push(found);
                if let Some(own) = own {
                    config.sources.remove(own);
                }
            }
        }
    }
    remote_relationships::add_lookups(config, &mut described);
    remote_relationships::add_type_lookups(config, &mut described);
    config.described = Some(described.into());
    Ok(())
}

/// Checks that an entry of weir.yaml for a source of the metadata has no tables.
fn check_own(own: &Source, name: &str) -> Result<(), String> {
    if own.native.is_some() || own.file.is_some() {
        return Err(format!(
            "source `{name}` of weir.yaml is no database, and the metadata has one of that name: rename it"
        ));
    }
    let is_silent =
        own.tables.is_empty() && own.functions.is_empty() && own.customization == Customization::default();
    if is_silent {
        Ok(())
    } else {
        Err(format!(
            "the metadata says which tables and functions source `{name}` has, and their names: leave `tables`, `functions` and \
             `customization` out of weir.yaml"
        ))
    }
}

/// Address of a source; file names are relative to `folder`.
fn address(entry: &SourceEntry, own: &Source, folder: &Path) -> Result<String, String> {
    if !own.url.is_empty() {
        return Ok(own.url.clone());
    }
    let Some(configuration) = &entry.configuration else {
        // Metadata version 2 has a single database, that of the server.
        if let Some(url) =
            std::env::var("HASURA_GRAPHQL_DATABASE_URL").ok().filter(|_| entry.name == "default")
        {
            return Ok(url);
        }
        return Err(format!(
            "the metadata has no connection for source `{0}`: add `sources: [{{name: {0}, url: …}}]` to weir.yaml",
            entry.name
        ));
    };
    let file = |name: &str| {
        let path = folder.join(name);
        let fail =
            |cause: std::io::Error| format!("the address in {} cannot be read: {cause}", path.display());
        if std::fs::metadata(&path).map_err(fail)?.len() > ADDRESS_BYTES_MAX {
            return Err(format!("{} is too long for an address", path.display()));
        }
        std::fs::read_to_string(&path).map_err(fail)
    };
    let url = configuration.connection_info.database_url.resolve(|name| std::env::var(name).ok(), file)?;
    match entry.kind {
        source::SourceKind::Sqlite => {
            let path = url.strip_prefix("sqlite:").unwrap_or(&url);
            let path = path.strip_prefix("//").unwrap_or(path);
            Ok(format!("sqlite:{}", folder.join(path).display()))
        }
        _ => Ok(url),
    }
}

/// Converts `entry`, the metadata's source at `at`.
fn to_source(mut entry: SourceEntry, own: Source, url: String, at: usize) -> Source {
    // The address in weir.yaml also determines the kind.
    let is_sqlite = if own.url.is_empty() {
        entry.kind == source::SourceKind::Sqlite
    } else {
        matches!(address::parse(&own.url), Ok(Address::Sqlite(_)))
    };
    if is_sqlite {
        entry.tables.iter_mut().for_each(|it| it.out_of_schema("public"));
    } else {
        entry.tables.iter_mut().for_each(|it| it.in_schema("public"));
        entry.functions.iter_mut().for_each(|it| it.function.in_schema("public"));
    }
    entry.tables.iter_mut().for_each(|it| it.drop_validated());
    let postgres = (!is_sqlite).then(|| postgres(&entry, own.postgres.clone()));
    Source {
        name: entry.name,
        kind: Some(if is_sqlite { SourceKind::Sqlite } else { SourceKind::Postgres }),
        url,
        postgres,
        tables: entry.tables,
        functions: entry.functions,
        native_queries: NativeQueries {
            queries: entry.native_queries,
            models: entry.logical_models,
            are_trusted: false,
        },
        customization: entry.customization,
        tracked_only: true,
        of_metadata: Some(at),
        ..own
    }
}

/// Settings of a server: those of weir.yaml, else the connection settings of the metadata.
fn postgres(entry: &SourceEntry, own: Option<Postgres>) -> Postgres {
    let mut schemas: BTreeSet<String> =
        own.iter().flat_map(|it| it.schemas.iter().cloned()).filter(|it| it != "public").collect();
    let named = entry.tables.iter().map(|it| &it.table).chain(entry.functions.iter().map(|it| &it.function));
    let computed = entry.tables.iter().flat_map(|it| &it.computed_fields).map(|it| &it.definition.function);
    schemas.extend(named.chain(computed).map(TableName::parts).map(|it| it.0.to_owned()));
    if schemas.is_empty() {
        schemas.insert("public".to_owned());
    }
    let flavour = match entry.kind {
        source::SourceKind::Citus => Some(Flavour::Citus),
        source::SourceKind::Cockroach => Some(Flavour::Cockroach),
        _ => None,
    };
    let pool =
        entry.configuration.as_ref().map(|it| it.connection_info.pool_settings.clone()).unwrap_or_default();
    let from_pool = || {
        let default = Postgres::default();
        let short = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let at_least_one = |number: Option<u32>| number.filter(|it| *it > 0);
        Postgres {
            sessions_max: at_least_one(pool.max_connections).map_or(default.sessions_max, short),
            idle_s_max: pool.idle_timeout.map_or(default.idle_s_max, short),
            wait_ms_max: at_least_one(pool.pool_timeout)
                .map_or(default.wait_ms_max, |it| it.saturating_mul(1000)),
            ..default
        }
    };
    let settings = own.unwrap_or_else(from_pool);
    Postgres { schemas: schemas.into_iter().collect(), flavour: settings.flavour.or(flavour), ..settings }
}

/// Files that belong to the metadata at `path`: all texts of a folder, up to a limit.
pub(crate) fn files(path: &Path, config: Option<&Config>) -> Vec<PathBuf> {
    let read =
        config.and_then(|it| it.described.as_ref()).map(|it| it.loaded.watched.clone()).unwrap_or_default();
    let mut found = read;
    found.push(path.to_path_buf());
    collect_files(path, 0, &mut found);
    found.sort();
    found.dedup();
    found
}

/// Collects the files of a folder recursively.
fn collect_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    const DEPTH_MAX: usize = 8;
    const FILES_MAX: usize = 20_000;
    const ENDINGS: [&str; 4] = ["yaml", "yml", "json", "graphql"];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type();
        if found.len() >= FILES_MAX {
            return;
        }
        if kind.is_ok_and(|it| it.is_dir()) && depth < DEPTH_MAX {
            collect_files(&path, depth + 1, found);
        } else if path.extension().is_some_and(|it| ENDINGS.iter().any(|ending| it == *ending)) {
            found.push(path);
        }
    }
}
