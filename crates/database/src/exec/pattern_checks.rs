//! Judges the patterns of a request before a row is read.
//!
//! A broken pattern is the same error for every caller, over any rows and over none: its coming or not would tell of rows that a
//! policy hides. What the grammar of a database alone knows is judged by it, in the statement that asks for the rows.
//!
//! **Cost:** nothing for plans without patterns.

use super::bindings::{Bindings, Refused};
use super::driver::{Driver, PlannedFetch};
use super::errors::error_with_code;
use super::plans::prepared_plan::PreparedPlan;
use std::sync::atomic::Ordering;
use weir_engine::source::SourceError;
use weir_relational::plan::Plan;
use weir_relational::values::plain_pattern;

/// Refuses a request with a pattern that its database would refuse on every row, and counts conditions without an index.
pub(super) fn check_conditions<D: Driver>(run: &PlannedFetch<'_, D>) -> Result<(), SourceError> {
    let Plan { judged, unindexed, .. } = run.prepared.plan();
    if *unindexed > 0 {
        run.fetch.state.unindexed.fetch_add(u64::from(*unindexed), Ordering::Relaxed);
    }
    if judged.is_empty() {
        return Ok(());
    }
    let bindings = run.bindings(&[]);
    let refused = judged.iter().try_for_each(|it| D::judge(it, &bindings));
    // Each of several root fields is asked again by itself.
    let field = Some(run.fetch.first_field());
    refused.map_err(|error| SourceError::Rejected { error: *error, field })
}

/// Refuses a pattern as the database would, with its words: it says no place in the request.
#[cold]
pub(crate) fn refuse(bindings: &Bindings<'_>, words: impl Into<Box<str>>) -> Result<(), Refused> {
    let words = words.into();
    Err(Box::new(error_with_code(bindings.protocol, "INVALID_PATTERN", code_of_pattern(&words), words)))
}

/// Hasura's code for an invalid pattern, which is that of PostgreSQL's error.
pub(crate) fn code_of_pattern(words: &str) -> &'static str {
    if words == plain_pattern::ENDS_IN_ESCAPE { "bad-request" } else { "data-exception" }
}
