//! Errors as data, and their wording in each protocol.
//!
//! A failure has message, code, positions in the text and the path in the answer. `error_json` writes failures for
//! [`crate::request::protocol::Protocol::GraphqlOverHttp`] as the specification demands, for [`crate::request::protocol::Protocol::Hasura`] as one error
//! with `extensions.path`, or those of another server as it said them; `hasura_wording` translates messages and codes.
//!
//! **Invariant:** nothing that a source reports for operators gets into a failure: no SQL, no host, no hidden name.

mod error_json;
pub mod error_text;
mod hasura_wording;

pub(crate) use error_json::{append, render_refusal};

use crate::answer::field_error::{Extensions, FieldError, PathError, PlanError, Step};
use crate::answer::offsets::offset_at;
use crate::answer::output_plan::OutputPlan;
use std::sync::Arc;
use weir_language::coerce::VariableError;
use weir_language::error::Error;
use weir_language::schema::Wording;
use weir_language::span::Span;

/// One error of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: Box<str>,
    pub(crate) code: &'static str,
    /// Places in the text, for `locations`.
    pub(crate) spans: Vec<Span>,
    /// The place in the answer; empty when the error is about the whole request.
    pub(crate) path: Box<[PathStep]>,
    /// Hasura's path, if it is known without the text.
    pub(crate) hasura_path: Option<Box<str>>,
    /// Further extensions of a service's error.
    pub(crate) extensions: Option<Box<Extensions>>,
    /// Root fields of a mutation that were committed, as a JSON list, for `extensions.committed`.
    pub(crate) committed: Option<Arc<str>>,
    /// True for an error of another server, which is sent as it was said.
    pub(crate) is_passed: bool,
}

/// One step of a path with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// A response key.
    Key(Box<str>),
    /// An item of a list.
    Index(u32),
}

/// The path of gqlparser's errors: `["variable", "input", 0, "name"]` for `input[0].name`.
fn variable_path(way: &str, member: Option<Box<str>>) -> Vec<PathStep> {
    let mut path = vec![PathStep::Key("variable".into())];
    for part in way.split(['.', '[']).filter(|it| !it.is_empty()) {
        path.push(match part.strip_suffix(']').and_then(|it| it.parse().ok()) {
            Some(index) => PathStep::Index(index),
            None => PathStep::Key(part.into()),
        });
    }
    path.extend(member.map(PathStep::Key));
    path
}

impl Failure {
    /// About the whole request.
    pub(crate) fn request(code: &'static str, message: &str) -> Self {
        Self {
            message: message.into(),
            code,
            spans: Vec::new(),
            path: Box::default(),
            hasura_path: None,
            extensions: None,
            committed: None,
            is_passed: false,
        }
    }

    /// A complaint about the text or the variables.
    pub(crate) fn text(error: Error) -> Self {
        Self {
            message: error.message.into(),
            code: error.code.text(),
            spans: error.spans,
            path: Box::default(),
            hasura_path: None,
            extensions: None,
            committed: None,
            is_passed: false,
        }
    }

    /// A complaint about the variables that were sent.
    pub(crate) fn variable(error: VariableError, wording: Wording) -> Self {
        let VariableError { error, way, member } = error;
        let path = match (wording, &way) {
            (Wording::Dgraph, Some(way)) => variable_path(way, member),
            (Wording::Dgraph | Wording::GraphqlJs, _) => Vec::new(),
        };
        let hasura_path = way.map(|way| format!("$.variables.{way}").into());
        Self { path: path.into(), hasura_path, ..Self::text(error) }
    }

    /// A member the source refused while planning.
    pub(crate) fn plan(output: &OutputPlan, error: PlanError) -> Self {
        Self::at_member(output, error.field, error.error)
    }

    /// A field without a value; `namespace` is the member of the root that holds its node, if one does.
    pub(crate) fn field(output: &OutputPlan, namespace: Option<u32>, error: PathError) -> Self {
        let above = namespace.map(Step::Field);
        let path = above.iter().chain(&error.path).map(|step| match step {
            Step::Field(field) => PathStep::Key(output.fields[*field as usize].key.name().into()),
            Step::Index(index) => PathStep::Index(*index),
        });
        let path = path.collect();
        // The failed member is the last one of the path, unless a set above it says otherwise.
        let last = error.path.iter().rev().find_map(|step| match step {
            Step::Field(field) => Some(*field),
            Step::Index(_) => None,
        });
        let offset = (last == Some(error.field)).then(|| offset_at(output, &error.path)).flatten();
        let mut failure = Self { path, ..Self::at_member(output, error.field, error.error) };
        if let Some(offset) = offset {
            failure.spans = vec![Span::new(offset, offset)];
        }
        failure.pass_namespace(output, namespace)
    }

    /// The failure with Hasura's path through `namespace`, a member of the root.
    pub(crate) fn pass_namespace(mut self, output: &OutputPlan, namespace: Option<u32>) -> Self {
        let rest = self.hasura_path.as_deref().and_then(|it| it.strip_prefix("$.selectionSet."));
        if let Some((rest, namespace)) = rest.zip(namespace) {
            let key = output.fields[namespace as usize].key.name();
            self.hasura_path = Some(format!("$.selectionSet.{key}.selectionSet.{rest}").into());
        }
        self
    }

    /// About the member at `field` of `output`, wherever that stands in the answer.
    fn at_member(output: &OutputPlan, field: u32, error: FieldError) -> Self {
        let FieldError { code, message, hasura_path, extensions } = error;
        let offset = output.fields[field as usize].offset;
        let spans = vec![Span::new(offset, offset)];
        let (path, committed, is_passed) = (Box::default(), None, false);
        Self { message, code, spans, path, hasura_path, extensions, committed, is_passed }
    }
}
