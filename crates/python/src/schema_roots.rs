//! The root types of a schema, by the names that its SDL gives them.

use weir_language::ast::{Definition, OperationKind};
use weir_language::limits::Limits;
use weir_language::parser;

/// Names of the root types.
pub(crate) struct Roots {
    query: String,
    mutation: String,
    subscription: String,
}

impl Roots {
    /// Reads the names; an unreadable SDL gets the default names, and its errors are reported by the build.
    pub(crate) fn of(sdl: &str) -> Self {
        let mut roots =
            Self { query: "Query".into(), mutation: "Mutation".into(), subscription: "Subscription".into() };
        let Ok(document) = parser::parse(sdl, &Limits::NONE) else { return roots };
        for definition in &document.definitions {
            let Definition::Schema(schema) = definition else { continue };
            for operation in document.list(schema.operations) {
                let name = document.str(operation.ty).to_owned();
                match operation.kind {
                    OperationKind::Query => roots.query = name,
                    OperationKind::Mutation => roots.mutation = name,
                    OperationKind::Subscription => roots.subscription = name,
                }
            }
        }
        roots
    }

    /// All of them: queries, mutations, subscriptions.
    pub(crate) fn names(self) -> [String; 3] {
        [self.query, self.mutation, self.subscription]
    }

    /// True if `ty` is the root of queries or mutations.
    pub(crate) fn has(&self, ty: &str) -> bool {
        ty == self.query || ty == self.mutation
    }

    /// True if `ty` is the root of subscriptions.
    pub(crate) fn has_events(&self, ty: &str) -> bool {
        ty == self.subscription
    }
}
