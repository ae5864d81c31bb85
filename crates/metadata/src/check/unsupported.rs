//! Reports all entries that Weir does not support, each with a remedy.
//!
//! **Invariant:** a permission that Weir cannot check in full is among them, and nobody gets it.

use super::{Walk, has_members, text_member};
use crate::document::Metadata;
use crate::document::api::{ApiLimits, Rate};
use crate::document::source::{IsolationLevel, SourceEntry, SourceKind};
use crate::document::table::TableEntry;
use crate::json::Json;
use crate::places::Step;

/// An entry that is not honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Path of the entry in the document.
    pub path: Vec<Step>,
    /// Fault and remedy.
    pub message: String,
}

/// All entries of the document that are not honoured.
pub fn find_unsupported(document: &Metadata) -> Vec<Unsupported> {
    let mut walk = Walk::default();
    walk.each("sources", &document.sources, source);
    let blocks = [(
        "network",
        &document.network,
        "certificates of services are trusted by `sources[].ca` in weir.yaml",
    )];
    walk.walk_below(["api_limits".into()], |walk| report_limits(walk, &document.api_limits));
    for (key, block, advice) in blocks {
        if block.as_ref().is_some_and(has_members) {
            walk.walk_below([key.into()], |walk| walk.wrong(format!("`{key}` is not supported: {advice}")));
        }
    }
    walk.into_unsupported()
}

/// The `unique_params` of `limits` that count nobody apart, with paths below `api_limits`.
pub(crate) fn find_unknown_params(limits: &ApiLimits) -> Vec<Unsupported> {
    let mut walk = Walk::default();
    report_limits(&mut walk, limits);
    walk.into_unsupported()
}

/// Callers are counted apart by an address or by session variables, and by nothing else.
fn report_limits(walk: &mut Walk, limits: &ApiLimits) {
    let Some(rate) = limits.rate_limit.as_ref().filter(|_| !limits.disabled) else { return };
    walk.walk_below(["rate_limit".into()], |walk| {
        walk.walk_below(["global".into()], |walk| unique_params(walk, &rate.global));
        for (role, rate) in &rate.per_role {
            walk.walk_below(["per_role".into(), role.as_str().into()], |walk| unique_params(walk, rate));
        }
    });
}

fn unique_params(walk: &mut Walk, rate: &Rate) {
    if rate.unique_params.as_ref().is_none_or(are_params) {
        return;
    }
    walk.walk_below(["unique_params".into()], |walk| {
        walk.wrong(
            "`unique_params` is `IP`, or a list of session variables `x-hasura-…`: whatever else is in it does not count",
        );
    });
}

/// True if `params` are `IP` or session variables.
fn are_params(params: &Json) -> bool {
    let is_param = |it: &Json| match it {
        Json::Text(text) => {
            let text = text.to_ascii_lowercase();
            text == "ip" || text.starts_with("x-hasura-")
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => false,
    };
    match params {
        Json::Null => true,
        Json::List(params) => params.iter().all(is_param),
        Json::Text(_) | Json::Bool(_) | Json::Number(_) | Json::Object(_) => is_param(params),
    }
}

fn list(walk: &mut Walk, key: &str, entries: &[Json], what: &str, advice: &str) {
    walk.each(key, entries, |walk, entry| {
        let name =
            ["name", "root_field_name"].iter().map(|it| text_member(entry, it)).find(|it| !it.is_empty());
        let name = name.map_or_else(String::new, |it| format!(" `{it}`"));
        walk.wrong(format!("{what}{name} is not supported: {advice}"));
    });
}

fn source(walk: &mut Walk, source: &SourceEntry) {
    if let SourceKind::Other(kind) = &source.kind {
        walk.walk_below(["kind".into()], |walk| {
            walk.wrong(format!(
                "sources of kind `{kind}` are not supported: Weir serves postgres, citus, cockroach and sqlite"
            ));
        });
    }
    walk.each("tables", &source.tables, table);
    walk.each("functions", &source.functions, |walk, it| {
        if it.configuration.response.is_some() {
            walk.walk_below(["configuration".into(), "response".into()], |walk| {
                walk.wrong("`response` is not supported: declare the function RETURNS SETOF the table");
            });
        }
    });
    let advice = "only SQL Server has those that are tracked; write a function and track it";
    list(walk, "stored_procedures", &source.stored_procedures, "stored procedure", advice);
    if source.query_tags.as_ref().is_some_and(|it| it.get("disabled") != Some(&Json::Bool(true))) {
        walk.walk_below(["query_tags".into()], |walk| {
            walk.wrong("`query_tags` is not supported: statements carry no comments; remove it");
        });
    }
    connection(walk, source);
}

fn connection(walk: &mut Walk, source: &SourceEntry) {
    let Some(configuration) = &source.configuration else { return };
    walk.walk_below(["configuration".into()], |walk| {
        let info = &configuration.connection_info;
        let own = "say it in weir.yaml";
        if !configuration.read_replicas.is_empty() {
            walk.walk_below(["read_replicas".into()], |walk| {
                walk.wrong(format!("`read_replicas` is not supported here: {own}, by `postgres.replicas` of the source"));
            });
        }
        for (key, is_there) in [
            ("connection_template", configuration.connection_template.is_some()),
            ("connection_set", !configuration.connection_set.is_empty()),
        ] {
            if is_there {
                walk.walk_below([key.into()], |walk| walk.wrong(format!("`{key}` is not supported; remove it")));
            }
        }
        walk.walk_below(["connection_info".into()], |walk| {
            if !matches!(info.isolation_level, None | Some(IsolationLevel::ReadCommitted)) {
                walk.walk_below(["isolation_level".into()], |walk| {
                    walk.wrong("Weir runs requests as read-committed; another level is a setting of the database's role");
                });
            }
            if info.ssl_configuration.is_some() {
                walk.walk_below(["ssl_configuration".into()], |walk| {
                    walk.wrong("`ssl_configuration` is not supported: write `sslmode`, `sslrootcert` … into the address");
                });
            }
        });
    });
}

/// Reports unsupported entries of one table.
pub(super) fn table(walk: &mut Walk, entry: &TableEntry) {
    if entry.logical_model.is_some() {
        let words = "`logical_model` is not supported; remove it";
        walk.walk_below(["logical_model".into()], |walk| walk.wrong(words));
    }
    report_validate_input(walk, "insert_permissions", &entry.insert_permissions, |it| {
        (&it.role, &it.permission.validate_input)
    });
    report_validate_input(walk, "update_permissions", &entry.update_permissions, |it| {
        (&it.role, &it.permission.validate_input)
    });
    report_validate_input(walk, "delete_permissions", &entry.delete_permissions, |it| {
        (&it.role, &it.permission.validate_input)
    });
}

/// Permissions that a webhook has to agree to.
fn report_validate_input<P>(
    walk: &mut Walk,
    key: &str,
    entries: &[P],
    of: impl Fn(&P) -> (&String, &Option<Json>),
) {
    walk.each(key, entries, |walk, entry| {
        if let (role, Some(_)) = of(entry) {
            walk.walk_below(["permission".into(), "validate_input".into()], |walk| {
                walk.wrong(format!(
                    "`validate_input` is not supported, and the role `{role}` does not get this permission without it: write \
                     the rule as `check`, or as a constraint of the database"
                ));
            });
        }
    });
}
