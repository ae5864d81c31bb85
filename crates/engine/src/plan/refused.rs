//! Fields that fail before any source is asked, because an argument that takes no null is null.
//!
//! Validation lets a variable stand there whose type takes null if it or the argument has a default. Such a field becomes a
//! node of its own that always fails, so that it is null, or takes its parent along, as any field that fails.
//!
//! Source: GraphQL specification, section 6.4.1 (CoerceArgumentValues).

use super::field_arguments::NeverNull;
use crate::answer::field_error::{FieldError, SourceError};
use crate::caching::tag_versions::Tag;
use crate::source::{BoxFuture, ExplainInput, FetchInput, FetchResult, PreparedFetch};
use weir_language::error::Code;
use weir_language::schema::Schema;
use weir_language::value::{Node, Variables};

/// A member that fails.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Place in [`crate::answer::output_plan::OutputPlan::fields`].
    pub(crate) field: u32,
    /// Why.
    pub(crate) error: FieldError,
}

/// The members of which an argument is null, sorted by place.
pub(crate) fn refuse_null_arguments(
    schema: &Schema,
    never_null: &[NeverNull],
    variables: &Variables,
) -> Vec<Refused> {
    let nulls = never_null.iter().filter(|it| variables.node(it.variable) == Node::Null);
    let mut refused: Vec<Refused> = nulls
        .map(|it| {
            let message = must_not_be_null(schema.input_name(it.input), &schema.type_text(it.ty)).into();
            let error =
                FieldError { code: Code::Variable.text(), message, hasura_path: None, extensions: None };
            Refused { field: it.field, error }
        })
        .collect();
    // Members get their arguments in the order of their places.
    refused.dedup_by_key(|it| it.field);
    refused
}

/// Message for a null in the argument or input field `name`, which takes a `ty`.
pub(crate) fn must_not_be_null(name: &str, ty: &str) -> String {
    format!("Argument \"{name}\" of non-null type \"{ty}\" must not be null.")
}

/// The fetch of a refused member.
pub(crate) struct RefusedFetch(pub(crate) FieldError);

impl PreparedFetch for RefusedFetch {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let rejected = SourceError::Rejected { error: self.0.clone(), field: None };
        Box::pin(std::future::ready(Err(rejected)))
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("nothing: an argument is null that must not be");
    }
}
