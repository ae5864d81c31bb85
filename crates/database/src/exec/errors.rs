//! Errors of the executor and the drivers.

use crate::frontend::{ApiFrontend, Violation};
use weir_engine::caller::Caller;
use weir_engine::source::{FieldError, PlanError, PlanNode, Protocol, SourceError};
use weir_relational::plan::Plan;
use weir_relational::plan::write::{Work, WriteAnswer};

/// An error with its code for each of the two protocols.
#[cold]
pub(crate) fn error_with_code(
    protocol: Protocol,
    spec: &'static str,
    hasura: &'static str,
    message: impl Into<Box<str>>,
) -> FieldError {
    let code = match protocol {
        Protocol::GraphqlOverHttp => spec,
        Protocol::Hasura => hasura,
    };
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}

/// A change by key found no row, where that is an error; `words` are [`Write::missing`](weir_relational::plan::write::Write::missing).
pub(crate) fn not_found(words: &str, protocol: Protocol) -> Box<FieldError> {
    Box::new(error_with_code(protocol, "ROW_NOT_FOUND", "not-found", words))
}

/// The error if no row came back whose key others need; `words` are [`Step::needed`](weir_relational::plan::write::Step::needed).
pub(crate) fn missing_needed_row(words: &str, protocol: Protocol) -> Box<FieldError> {
    Box::new(error_with_code(protocol, "BAD_USER_INPUT", "not-supported", words))
}

/// Refuses a caller who lacks a session variable that `plan` reads, even if it has no effect.
pub(crate) fn check_claims(plan: &Plan, caller: &Caller, protocol: Protocol) -> Result<(), SourceError> {
    match plan.claims.iter().find(|it| caller.claims().variable(it).is_none()) {
        Some(name) => Err(missing_variable(name, protocol)),
        None => Ok(()),
    }
}

/// The caller has no session variable that a permission needs.
#[cold]
pub(crate) fn missing_variable(name: &str, protocol: Protocol) -> SourceError {
    let message = format!("missing session variable: \"{name}\"");
    let error = error_with_code(protocol, "SESSION_VARIABLE_MISSING", "not-found", message);
    SourceError::Rejected { error: FieldError { hasura_path: Some("$".into()), ..error }, field: None }
}

/// Children in other sources would need the rows of a program as tables, which it does not return.
#[cold]
pub(super) fn no_foreign_below(plan_node: &PlanNode<'_>) -> PlanError {
    let message = "a mutation cannot select fields of another source yet: ask for them in a query";
    let error = error_with_code(plan_node.protocol, "NOT_SUPPORTED", "not-supported", message);
    PlanError { error, field: plan_node.fields.first().copied().unwrap_or(0) }
}

/// A written row does not fulfil the check of its permission.
#[cold]
pub(crate) fn check_failed(protocol: Protocol) -> FieldError {
    let message = "check constraint of an insert/update permission has failed";
    error_with_code(protocol, "PERMISSION", "permission-error", message)
}

/// The error of a failed check at statement `at` of `work`, see [`check_failed`].
#[cold]
pub(crate) fn check_failed_at(work: &Work, at: usize, protocol: Protocol) -> Box<FieldError> {
    let path = match work {
        Work::Insert(steps) => steps[at % steps.len()].path.clone(),
        Work::Each { slot: _, steps } => {
            // The steps are written for the first row.
            let path = &steps[at % steps.len()].path;
            let row = at / steps.len();
            path.replacen("[0]", &format!("[{row}]"), 1).into()
        }
        Work::Nothing | Work::Change(_) | Work::Program { .. } => "$".into(),
    };
    Box::new(FieldError { hasura_path: Some(path), ..check_failed(protocol) })
}

/// Says where in Hasura's words a statement failed: an insert at its rows, another change at the whole request.
pub(crate) fn with_path(mut error: SourceError, plan: &Plan) -> SourceError {
    if let SourceError::Rejected { error, field: Some(field) } = &mut error
        && error.hasura_path.is_none()
        && let Some(write) = plan.writes.iter().find(|it| it.field == *field)
    {
        let inserts = write.works.iter().any(|it| match it {
            Work::Insert(_) | Work::Each { .. } => true,
            Work::Nothing | Work::Change(_) | Work::Program { .. } => false,
        });
        error.hasura_path = Some(match (inserts, write.answer) {
            (false, _) => "$".into(),
            (true, WriteAnswer::Row(_)) => format!("$.selectionSet.{}.args.object", write.path).into(),
            (true, WriteAnswer::Response(_) | WriteAnswer::Responses(_) | WriteAnswer::Rows(_)) => {
                format!("$.selectionSet.{}.args.objects", write.path).into()
            }
        });
    }
    error
}

/// `error` in the words that `frontend` has for the violated constraint `name` and callers with these facts, if it has any.
pub(crate) fn with_message(
    mut error: SourceError,
    name: Option<String>,
    facts: &[u64],
    frontend: &dyn ApiFrontend,
) -> SourceError {
    let violation = name.as_deref().and_then(|it| frontend.violation(it, facts));
    if let (Some(Violation { message, code }), SourceError::Rejected { error, .. }) = (violation, &mut error)
    {
        error.message = message.into();
        error.code = code.unwrap_or(error.code);
    }
    error
}
