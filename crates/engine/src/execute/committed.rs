//! The root fields of a mutation that stand though its answer has errors: `extensions.committed`.
//!
//! A source that fails as one has undone all it did, unless it says that only the answer is missing. Where each root field is done by
//! itself, one that failed at its own place was not done, but for errors of the value that came back.
//!
//! **Invariant:** a field is listed only if its change is known to stand.

use super::{FetchResults, FetchState};
use crate::answer::field_error::{PathError, Step};
use crate::answer::output_plan::OutputKind;
use crate::answer::rows::{Column, Data};
use crate::answer::write::out::Out;
use crate::errors::Failure;
use crate::plan::{Plan, RootMember};
use crate::source::Finished;
use std::sync::Arc;
use weir_language::ast::OperationKind;

/// Codes of mutation errors after which `committed` is sent even if the list is empty: the write happened, or its outcome is
/// unknown.
const DONE: &str = "WRITE_UNANSWERED";
const IN_DOUBT: &str = "WRITE_UNCONFIRMED";

/// Codes of values that came back from a change and do not fit their place.
const OF_VALUES: [&str; 7] =
    [DONE, "NULL_FOR_NON_NULL", "INT_RANGE", "FLOAT_RANGE", "ENUM_VALUE", "SERVICE_VALUE", "LIMIT_RESPONSE"];

/// The root fields of a mutation that stand.
#[derive(Clone)]
pub(crate) struct CommittedFields {
    /// JSON list of the field names.
    list: Arc<str>,
    is_empty: bool,
}

impl CommittedFields {
    /// `None`: the operation changes nothing.
    pub(crate) fn of(plan: &Plan, results: &FetchResults) -> Option<Self> {
        if plan.kind != OperationKind::Mutation {
            return None;
        }
        let names = standing_fields(plan, results);
        let mut out = Out::default();
        out.open(b'[');
        for name in &names {
            out.string(name);
            out.comma();
        }
        out.close(b']');
        Some(Self { list: String::from_utf8_lossy(out.bytes()).into(), is_empty: names.is_empty() })
    }

    /// Adds them to `failures`.
    pub(crate) fn add_to(&self, failures: &mut [Failure]) {
        for failure in failures {
            if !self.is_empty || failure.code == DONE || failure.code == IN_DOUBT {
                failure.committed = Some(Arc::clone(&self.list));
            }
        }
    }
}

/// Adds to each of `failures`, if they are of a mutation, which of its root fields stand.
pub(super) fn add_committed(plan: &Plan, results: &FetchResults, failures: &mut [Failure]) {
    if failures.is_empty() {
        return;
    }
    if let Some(committed) = CommittedFields::of(plan, results) {
        committed.add_to(failures);
    }
}

/// Response keys of the root fields that stand, in their order; those in a namespace stand behind its key and a dot.
fn standing_fields(plan: &Plan, results: &FetchResults) -> Vec<String> {
    let mut names = Vec::new();
    let mut namespace = None;
    let mut inside = 0;
    for member in &plan.root_members {
        let name = plan.output.fields[member.field as usize].key.name();
        if let Some(set) = member.namespace {
            (namespace, inside) = (Some(name), plan.output.set(set).len);
            continue;
        }
        let above = namespace.filter(|_| inside > 0);
        inside = inside.saturating_sub(1);
        if stands(plan, results, member) {
            names.push(above.map_or_else(|| name.to_owned(), |above| format!("{above}.{name}")));
        }
    }
    names
}

/// A null without an error says nothing: no row was changed, the caller may not know, or the failure of another field took it along.
fn stands(plan: &Plan, results: &FetchResults, member: &RootMember) -> bool {
    let node = member.node as usize;
    let place = member.place as usize;
    let output = &plan.output;
    let field = output.fields[member.field as usize].same_as.unwrap_or(member.field);
    if let OutputKind::Constant { .. } = output.fields[field as usize].member {
        return false;
    }
    match results.asked.get(node) {
        Some(FetchState::Finished(finished, errors)) => {
            let key_len = output.fields[field as usize].key.bytes().len();
            let bytes = bytes_of(finished, place);
            let is_value = bytes.is_some_and(|it| it.get(key_len..).is_some_and(|it| it != b"null,"));
            is_explained(errors, field).unwrap_or(is_value)
        }
        Some(FetchState::Rows(errors)) => {
            let column = results.rows[node].as_ref().and_then(|it| it.columns.get(place));
            let is_answered = |it: &Column| match it.errors.first() {
                Some(own) => OF_VALUES.contains(&own.error.code),
                None => !matches!(it.data, Data::Empty) && !it.nulls.get(0),
            };
            is_explained(errors, field).unwrap_or(column.is_some_and(is_answered))
        }
        Some(FetchState::Failed(error)) => error.code() == DONE,
        Some(FetchState::Waiting) | None => false,
    }
}

/// The bytes of the member at `place`; `None` if the source did not get there.
fn bytes_of(finished: &Finished, place: usize) -> Option<&[u8]> {
    let start = if place == 0 { 0 } else { *finished.ends.get(place - 1)? as usize };
    finished.bytes.get(start..*finished.ends.get(place)? as usize)
}

/// By the errors of the root field `field`: `Some(false)` if it was not done, `Some(true)` if its values are to blame, `None` if
/// it has none.
fn is_explained(errors: &[PathError], field: u32) -> Option<bool> {
    let mut own = errors.iter().filter(|it| it.path.first() == Some(&Step::Field(field))).peekable();
    own.peek()?;
    let undoes = |it: &PathError| it.is_undone || (it.path.len() == 1 && !OF_VALUES.contains(&it.error.code));
    Some(!own.any(undoes))
}
