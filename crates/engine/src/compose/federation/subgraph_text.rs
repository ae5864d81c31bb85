//! The text of a subgraph: what a role sees, with the keys of its types.
//!
//! Directives of ours stay out: composers refuse some of them, and gateways send others back. So do `_service` and `_entities`.
//!
//! Source: Apollo Federation, subgraph specification; federation 2.3, which composers of all makers know.

use super::{ENTITIES, ENTITY, SERVICE};
use crate::compose::Graph;
use weir_language::ast::OperationKind;
use weir_language::schema::print::print_view;
use weir_language::schema::{SchemaView, TypeId, Visibility};

/// Version of federation.
const URL: &str = "https://specs.apollo.dev/federation/v2.3";

/// Types that every composer adds to a subgraph.
const OWN_TYPES: [&str; 3] = ["_Any", ENTITY, "_Service"];

/// Names of types that composers use themselves.
const RESERVED: [&str; 2] = ["FieldSet", "Import"];

/// Prefixes of names that composers use themselves.
const RESERVED_PREFIXES: [&str; 3] = ["join__", "federation__", "link__"];

/// The text of what `visibility` shows of `graph`.
/// # Errors
/// Words on the types whose names no subgraph can have.
pub(in crate::compose) fn subgraph_text(
    graph: &Graph,
    visibility: Option<Visibility>,
) -> Result<String, String> {
    let schema = graph.schema();
    let mut seen = visibility.unwrap_or_else(|| Visibility::everything(schema));
    let keys = keys(graph, SchemaView::new(schema, Some(&seen)));
    // What only `_entities` leads to stays: other subgraphs lead to it too.
    for name in [ENTITIES, SERVICE] {
        if let Some(field) = schema.field_by_name(schema.query, name) {
            seen.show_field(field, false);
        }
    }
    for name in OWN_TYPES {
        if let Some(ty) = schema.type_by_name(name) {
            seen.show_type(ty, false);
        }
    }
    let view = SchemaView::new(schema, Some(&seen));
    check_names(view)?;
    let import = if keys.is_empty() { "" } else { ", import: [\"@key\"]" };
    let added = |ty: TypeId, out: &mut String| {
        for (_, fields) in keys.iter().filter(|it| it.0 == ty) {
            out.extend([" @key(fields: \"", fields, "\")"]);
        }
    };
    Ok(format!("extend schema @link(url: \"{URL}\"{import})\n\n{}", print_view(view, &added)))
}

/// The keys of the types in `view`, each once.
fn keys(graph: &Graph, view: SchemaView<'_>) -> Vec<(TypeId, String)> {
    let mut keys = Vec::new();
    for ty in view.types() {
        for lookup in graph.lookups_of(ty, view) {
            let names = lookup.keys().iter().map(|it| view.field_name(*it)).collect::<Vec<_>>();
            let key = (ty, names.join(" "));
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

fn check_names(view: SchemaView<'_>) -> Result<(), String> {
    let roots = [
        ("Query", OperationKind::Query),
        ("Mutation", OperationKind::Mutation),
        ("Subscription", OperationKind::Subscription),
    ];
    let is_taken = |ty: TypeId| {
        let name = view.type_name(ty);
        roots.iter().any(|it| it.0 == name && view.root(it.1) != Some(ty))
            || RESERVED.contains(&name)
            || RESERVED_PREFIXES.iter().any(|it| name.starts_with(it))
    };
    let taken = view.types().filter(|it| is_taken(*it)).map(|it| format!("`{}`", view.type_name(it)));
    let taken = taken.collect::<Vec<_>>().join(", ");
    if taken.is_empty() {
        return Ok(());
    }
    Err(format!(
        "federation: composers take the names {taken} for types of their own: rename the types, or hide them from the role of `federation`"
    ))
}
