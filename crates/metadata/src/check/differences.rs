//! Reports all entries that are served in another way than Hasura serves them.

use super::{Unsupported, Walk, has_members};
use crate::document::Metadata;

/// All entries of the document that Weir serves in another way than Hasura, or that have no effect, each with the page that says more.
pub fn find_differences(document: &Metadata) -> Vec<Unsupported> {
    let mut walk = Walk::default();
    let blocks = [
        (
            "backend_configs",
            &document.backend_configs,
            "it names data connectors, and no source that is served needs one",
        ),
        ("metrics_config", &document.metrics_config, "metrics are at /metrics without it"),
        ("opentelemetry", &document.opentelemetry, "traces are exported as `tracing` in weir.yaml says"),
    ];
    for (key, block, why) in blocks {
        if block.as_ref().is_some_and(has_members) {
            walk.walk_below([key.into()], |walk| {
                walk.wrong(format!("`{key}` has no effect: {why}; see docs/metadata.md"))
            });
        }
    }
    walk.each("sources", &document.sources, |walk, source| {
        walk.each("tables", &source.tables, |walk, table| {
            ignored_columns(walk, "insert_permissions", &table.insert_permissions, |it| {
                &it.permission.computed_fields
            });
            ignored_columns(walk, "update_permissions", &table.update_permissions, |it| {
                &it.permission.computed_fields
            });
            ignored_columns(walk, "delete_permissions", &table.delete_permissions, |it| {
                &it.permission.computed_fields
            });
        });
    });
    walk.into_unsupported()
}

/// Reports computed fields of permissions to write.
fn ignored_columns<P>(walk: &mut Walk, key: &str, entries: &[P], fields: impl Fn(&P) -> &Vec<String>) {
    walk.each(key, entries, |walk, entry| {
        if !fields(entry).is_empty() {
            walk.walk_below(["permission".into(), "computed_fields".into()], |walk| {
                walk.wrong("`computed_fields` has no effect here: the select permission of the role names those it may read; see docs/metadata.md");
            });
        }
    });
}
