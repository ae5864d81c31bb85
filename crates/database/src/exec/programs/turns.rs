//! The answers of the root fields of a mutation that are transactions of their own, one after another.
//!
//! **Invariant:** after one has failed none is begun: it is null, as are those behind it, each with an error. What was done
//! before stays done and is answered.

use crate::exec::output::answer::UNANSWERED;
use crate::frontend::program::UNTOLD;
use weir_engine::plan::output_plan::{OutputKind, OutputPlan};
use weir_engine::source::{
    FetchBody, FetchResult, FieldError, Finished, PathError, SourceError, Step as PathStep,
};
use weir_relational::plan::{Member, MemberKind};

/// The error of a root field of which nothing was done.
fn undone_error(error: FieldError, field: u32) -> PathError {
    PathError { error, path: vec![PathStep::Field(field)], field, is_undone: true }
}

/// The answers so far.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    errors: Vec<PathError>,
    failed: bool,
}

impl Turns {
    /// The root field of `member` is next; `false` if it is not to be begun: then something stands there already.
    pub(crate) fn next(&mut self, output: &OutputPlan, member: &Member) -> bool {
        let field = &output.fields[member.field as usize];
        match (&member.kind, self.failed) {
            (MemberKind::Write(_), false) => return true,
            (MemberKind::Write(_), true) => {
                let name = field.key.name();
                let message = format!("Mutation {name} was not executed because of a previous error.");
                let error = FieldError {
                    code: "NOT_EXECUTED",
                    message: message.into(),
                    hasura_path: None,
                    extensions: None,
                };
                self.null(output, member, error);
            }
            (_, _) => {
                if let OutputKind::Constant { start, end } = field.member {
                    self.bytes.extend_from_slice(&output.constants[start as usize..end as usize]);
                }
                self.ends.push(self.bytes.len() as u32);
            }
        }
        false
    }

    /// Adds the answer of a root field that was done; `bytes` are its member.
    pub(crate) fn push_done(&mut self, bytes: &[u8], errors: Vec<PathError>) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as u32);
        self.errors.extend(errors);
    }

    /// Adds the error of a root field of which nothing was done, unless the error says otherwise.
    pub(crate) fn fail(&mut self, output: &OutputPlan, member: &Member, error: SourceError) {
        error.tell_operator();
        self.failed = true;
        match error {
            SourceError::Undone(errors) => {
                self.null_bytes(output, member);
                self.errors.extend(errors.into_iter().map(|it| PathError { is_undone: true, ..it }));
            }
            other => self.null(output, member, other.for_client()),
        }
    }

    /// A root field of a query that is not answered, with its error: an empty list, or null.
    pub(crate) fn refuse(&mut self, output: &OutputPlan, member: &Member, error: &dyn Fn(u32) -> FieldError) {
        let field = &output.fields[member.field as usize];
        if let OutputKind::Constant { start, end } = field.member {
            self.bytes.extend_from_slice(&output.constants[start as usize..end as usize]);
        } else {
            self.bytes.extend_from_slice(field.key.bytes());
            self.bytes.extend_from_slice(if field.ty.wraps.is_list() { b"[]," } else { b"null," });
            self.errors.push(undone_error(error(member.field), member.field));
        }
        self.ends.push(self.bytes.len() as u32);
    }

    fn null(&mut self, output: &OutputPlan, member: &Member, error: FieldError) {
        self.null_bytes(output, member);
        if error.code != UNTOLD {
            let is_undone = error.code != UNANSWERED;
            self.errors.push(PathError { is_undone, ..undone_error(error, member.field) });
        }
    }

    fn null_bytes(&mut self, output: &OutputPlan, member: &Member) {
        let key = output.fields[member.field as usize].key.bytes();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(b"null,");
        self.ends.push(self.bytes.len() as u32);
    }

    /// The answer of all.
    pub(crate) fn reply(self) -> FetchResult {
        let Self { bytes, ends, errors, .. } = self;
        FetchResult {
            body: FetchBody::Finished(Finished { bytes, ends, failed: false, rest: None }),
            errors,
            cache_control: None,
        }
    }
}
