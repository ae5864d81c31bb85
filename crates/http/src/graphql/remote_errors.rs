//! Errors in the answers of remote schemas: which of an answer count, and how clients get them; and what clients of Hasura's protocol
//! are told where there is no answer.
//!
//! The status of an answer counts for nothing, and errors win over data unless the remote schema prioritizes data. All errors are
//! passed on as they are, but that the steps of their paths are the client's names.
//!
//! Source: Hasura v2.

use crate::call::CallError;
use crate::passthrough::answer_columns::{Errors, ResponseKeys};
use crate::passthrough::{RemoteSchema, client_error};
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::source::{Extensions, FieldError, PathError, Protocol, SourceError, Step};
use weir_language::json::JsonRef;

/// Hasura's code.
const REMOTE_ERROR: &str = "remote-schema-error";

/// Errors of one answer that are passed on at most.
const ERRORS_MAX: usize = 1000;

/// A remote schema that gave no answer, for a client of Hasura's protocol.
pub(super) struct RemoteFailure<'r> {
    pub(super) remote: &'r RemoteSchema,
    /// True for the admin, who may be told more.
    pub(super) is_admin: bool,
}

impl RemoteFailure<'_> {
    /// The error of a call that ended in `error`; `None` where Weir's own limits ended it.
    pub(super) fn of_call(&self, error: &CallError) -> Option<SourceError> {
        let cause = match error {
            CallError::Timeout => "Response timeout",
            CallError::Broken | CallError::Unavailable(..) => "Connection failure",
            CallError::Redirected => "Too many redirects",
            CallError::Coded(_) | CallError::Packed(_) => return Some(self.of_answer()),
            CallError::Busy | CallError::TooLarge { .. } | CallError::Unmade { .. } => return None,
        };
        let url = &self.remote.shown_url;
        let message = format!("HTTP exception occurred while sending the request to \"{url}\"");
        let extensions = (self.is_admin && self.remote.shows_internal).then(|| {
            let members =
                format!("\"internal\":{{\"type\":\"http_exception\",\"message\":\"{cause}\"}}").into();
            Box::new(Extensions { members, has_code: false, is_whole: false })
        });
        let error = FieldError { extensions, ..remote_error(&message) };
        Some(SourceError::Rejected { error, field: None })
    }

    /// The error of an answer that is no JSON.
    pub(super) fn of_answer(&self) -> SourceError {
        let error = remote_error("Invalid JSON in response from remote");
        SourceError::Rejected { error, field: None }
    }
}

/// An error of a call, which Hasura tells without the field.
fn remote_error(message: &str) -> FieldError {
    FieldError { hasura_path: Some("$".into()), ..client_error(REMOTE_ERROR, message) }
}

/// The facts by which the errors of an answer are passed on.
pub(super) struct RemoteRefusal<'r> {
    pub(super) protocol: Protocol,
    pub(super) output: &'r OutputPlan,
    pub(super) keys: &'r ResponseKeys,
    /// The members of the fetch, by number of their response key.
    pub(super) fields: &'r [u32],
    /// True for a relationship.
    pub(super) is_joined: bool,
}

impl RemoteRefusal<'_> {
    /// The data of `answer`.
    /// # Errors
    /// Its errors, or what it lacks.
    pub(super) fn read_data<'t>(
        &self,
        answer: JsonRef<'t>,
        prioritizes_data: bool,
        noted: &mut Errors,
    ) -> Result<JsonRef<'t>, SourceError> {
        let data = answer.get("data").filter(|it| !it.is_null());
        let errors = match (data, answer.get("errors").filter(|it| !it.is_null())) {
            (Some(data), None) => return Ok(data),
            (Some(data), Some(_)) if prioritizes_data => return Ok(data),
            (None, None) => {
                return Err(self.reject("Missing \"data\" field with no errors in response from remote"));
            }
            (_, Some(errors)) => errors,
        };
        let errors: Vec<JsonRef<'t>> = errors.items().take(ERRORS_MAX).collect();
        let Some(first) = errors.first() else {
            return Err(self.reject("Empty \"errors\" field in response from remote"));
        };
        match (self.is_joined, self.protocol) {
            (true, Protocol::Hasura) => {
                Err(SourceError::Rejected { error: joined_error(answer), field: None })
            }
            (true, Protocol::GraphqlOverHttp) => {
                // Errors that explain nulls leave the rest of the level.
                let mut is_noted = |it: &JsonRef<'t>| {
                    data.zip(it.get("path"))
                        .is_some_and(|(data, path)| noted.note(data, path, read_error(*it)))
                };
                let is_explained = errors.iter().filter(|it| is_noted(it)).count() == errors.len();
                let rejected = SourceError::Rejected { error: read_error(*first), field: None };
                data.filter(|_| is_explained).ok_or(rejected)
            }
            (false, _) => Err(SourceError::Passed(errors.into_iter().map(|it| self.passed(it)).collect())),
        }
    }

    fn reject(&self, message: &str) -> SourceError {
        let code = match self.protocol {
            Protocol::Hasura => REMOTE_ERROR,
            Protocol::GraphqlOverHttp => "SOURCE_REFUSED",
        };
        SourceError::Rejected { error: client_error(code, message), field: None }
    }

    /// An error of the answer, at the client's place.
    fn passed(&self, told: JsonRef<'_>) -> PathError {
        let mut path = told.get("path").map_or_else(Vec::new, |it| self.client_path(it));
        let mut fields = path.iter().rev().filter_map(|it| match it {
            Step::Field(field) => Some(*field),
            Step::Index(_) => None,
        });
        let field = fields.next().or(self.fields.first().copied()).unwrap_or_default();
        if path.is_empty() && self.protocol == Protocol::GraphqlOverHttp {
            path.push(Step::Field(field));
        }
        PathError { error: read_error(told), path, field, is_undone: false }
    }

    /// The steps of `path` that the client can know.
    fn client_path(&self, path: JsonRef<'_>) -> Vec<Step> {
        let mut steps = path.items();
        let root = steps.next().and_then(JsonRef::as_str);
        let root =
            root.as_deref().and_then(|it| it.strip_prefix('r')?.split_once('_')?.0.parse::<usize>().ok());
        let Some(&root) = root.and_then(|it| self.fields.get(it)) else { return Vec::new() };
        let mut found = vec![Step::Field(root)];
        let mut on = &self.output.fields[root as usize];
        for step in steps {
            if let Some(index) = step.as_number().and_then(|it| it.parse().ok()) {
                found.push(Step::Index(index));
                continue;
            }
            let Some(name) = step.as_str() else { break };
            let Some(field) = self.sets(on).into_iter().find_map(|set| self.find_member(set, &name)) else {
                break;
            };
            found.push(Step::Field(field));
            on = &self.output.fields[field as usize];
        }
        found
    }

    fn sets(&self, output_field: &OutputField) -> Vec<SelectionSetId> {
        match output_field.member {
            OutputKind::Object(set) => vec![set],
            OutputKind::Abstract(choice) => {
                self.output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1).collect()
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Vec::new(),
        }
    }

    fn find_member(&self, set: SelectionSetId, key: &str) -> Option<u32> {
        let is_asked = |it: &u32| self.keys.members.get(it).is_some_and(|it| **it == *key);
        self.output.set(set).range().map(|it| it as u32).find(is_asked)
    }
}

/// An error as a server says it.
fn read_error(told: JsonRef<'_>) -> FieldError {
    let message = told.get("message").and_then(JsonRef::as_str).unwrap_or_default();
    let members = told.get("extensions").filter(|it| it.is_object() && it.members().next().is_some());
    let extensions = members.map(|it| {
        let has_code = it.get("code").is_some();
        Box::new(Extensions { members: it.raw().into(), has_code, is_whole: true })
    });
    FieldError { extensions, ..client_error("SOURCE_REFUSED", &message) }
}

/// The error of a relationship to a remote schema, with the errors of the `answer`.
fn joined_error(answer: JsonRef<'_>) -> FieldError {
    let errors = answer.get("errors").filter(|it| it.is_array()).map_or("[]", JsonRef::raw);
    let members = format!("\"internal\":{{\"errors\":{errors}}}").into();
    let extensions = Extensions { members, has_code: false, is_whole: false };
    FieldError {
        extensions: Some(Box::new(extensions)),
        ..client_error("unexpected", "Errors from remote server")
    }
}
