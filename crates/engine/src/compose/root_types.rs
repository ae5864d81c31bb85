//! Names of the root types of sources and of their namespaces.

use weir_language::ast::OperationKind;
use weir_language::schema::Schema;

/// The kinds of operations, in the order of root types.
pub(super) const KINDS: [OperationKind; 3] =
    [OperationKind::Query, OperationKind::Mutation, OperationKind::Subscription];

/// The type that holds the root fields of a source with a namespace. Source: Hasura v2.
pub(super) fn namespace_type(namespace: &str, kind: OperationKind) -> String {
    let end = match kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation_frontend",
        OperationKind::Subscription => "subscription",
    };
    format!("{namespace}_{end}")
}

pub(super) fn root_name(schema: &Schema, kind: OperationKind) -> Option<&str> {
    schema.root(kind).map(|root| schema.type_name(root))
}
