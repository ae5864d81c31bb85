//! Puts the answers of all nodes together in the order of the root's members.
//!
//! Bytes a source finished are copied, rows are written, what failed is null, or makes `data` null where it may not be.
//! Errors known by then go first. A long answer that a source has not finished leaves as a stream; its errors
//! follow the data.

use super::committed::add_committed;
use super::{ExecutionContext, FetchResults, FetchState};
use crate::answer::field_error::{PathError, SourceError, Step};
use crate::answer::output_plan::{OutputField, OutputKind};
use crate::answer::response::{Body, Capacity};
use crate::answer::rows::{Column, Rows};
use crate::answer::write::out::Out;
use crate::answer::write::parting::{Parting, Undivided};
use crate::answer::write::row_writer::{self, Writing};
use crate::errors::{self, Failure};
use crate::execute::answer_stream::{self, Segment};
use crate::plan::RootMember;
use crate::request::protocol::Protocol;
use crate::source::Finished;

const HEAD: &[u8] = b"{\"data\":{";

/// Writes the answer, and says whether its sources had enough left for it.
pub(super) fn write(run: ExecutionContext<'_>, mut results: FetchResults) -> (Body, Capacity) {
    // Room for folded introspection, which is most of its answer, and for rows as many as last time.
    let mut out =
        Out::new(Vec::with_capacity(run.plan.size.room(HEAD.len() + run.plan.output.constants.len() + 64)));
    out.raw(HEAD);
    let failures = Vec::new();
    let segments = Vec::new();
    let mut answer =
        ResponseAssembler { run, out, failures, namespace: None, segments, part: &mut Undivided };
    answer.note_failed_nodes(&results);
    let is_whole = answer.members(&mut results);
    add_committed(run.plan, &results, &mut answer.failures);
    let capacity = capacity(&answer.failures);
    (answer.end(is_whole), capacity)
}

/// Capacity of the sources: exhausted if one of `failures` is `Busy`.
pub(crate) fn capacity(failures: &[Failure]) -> Capacity {
    let busy = SourceError::Busy.code();
    if failures.iter().any(|it| it.code == busy) { Capacity::Exhausted } else { Capacity::Enough }
}

/// Appends `part` of the root's members to `out`, as an object; with null and without notes if a non-null member failed. Returns
/// what failed.
pub(crate) fn root_part<P: Parting>(
    run: &ExecutionContext<'_>,
    results: &mut FetchResults,
    part: &mut P,
    out: &mut Out,
) -> (bool, Vec<Failure>) {
    let mark = out.len();
    let noted = part.note_count();
    out.open(b'{');
    part.enter(run.plan.root);
    let failures = Vec::new();
    let segments = Vec::new();
    let own = std::mem::take(out);
    let mut answer = ResponseAssembler { run: *run, out: own, failures, namespace: None, segments, part };
    answer.note_failed_nodes(results);
    let is_whole = answer.members(results);
    add_committed(run.plan, results, &mut answer.failures);
    answer.out.close(b'}');
    let ResponseAssembler { out: own, failures, part, .. } = answer;
    *out = own;
    if !is_whole {
        part.forget(noted);
        out.truncate(mark);
    }
    (is_whole, failures)
}

struct ResponseAssembler<'r, P> {
    run: ExecutionContext<'r>,
    out: Out,
    failures: Vec<Failure>,
    /// The member of the root that holds what is being written, if it is a namespace.
    namespace: Option<u32>,
    /// Parts of the answer before `out`, if sources stream.
    segments: Vec<Segment>,
    /// The members that are written.
    part: &'r mut P,
}

impl<P: Parting> ResponseAssembler<'_, P> {
    /// Notes what failed as one: in a mutation, whose run was rolled back, the member that failed carries the cause, as in
    /// a query whose source knows it. Else each member of a failed node has an error of its own when its turn comes.
    fn note_failed_nodes(&mut self, results: &FetchResults) {
        let plan = self.run.plan;
        for (node, asked) in plan.nodes.iter().zip(&results.asked).take(plan.root_nodes as usize) {
            let FetchState::Failed(error) = asked else { continue };
            // The members of a node belong to the same parts.
            if !node.fields.first().is_some_and(|it| self.part.holds(&plan.output.fields[*it as usize])) {
                continue;
            }
            let is_mutation = plan.kind == weir_language::ast::OperationKind::Mutation;
            let first = if is_mutation { node.fields.first().copied() } else { None };
            if let SourceError::Undone(errors) = error {
                self.namespace = plan.namespace_of(node);
                errors.iter().for_each(|it| self.fail(it.clone()));
            } else if let SourceError::Passed(errors) = error {
                let namespace = plan.namespace_of(node);
                let noted = self.failures.len();
                for error in errors {
                    self.namespace = namespace.filter(|_| !error.path.is_empty());
                    self.fail(error.clone());
                }
                self.failures[noted..].iter_mut().for_each(|it| it.is_passed = true);
            } else if let Some(field) = culprit(error, &node.fields).or(first) {
                self.namespace = plan.namespace_of(node);
                self.note_failed(error, field);
            }
        }
        self.namespace = None;
    }

    /// Notes the failure of the member `field` of the root, or of `namespace`.
    fn note_failed(&mut self, error: &SourceError, field: u32) {
        let path = vec![Step::Field(field)];
        let is_undone = true;
        self.fail(PathError { error: error.for_client(), path, field, is_undone });
    }

    fn fail(&mut self, error: PathError) {
        self.failures.push(Failure::field(&self.run.plan.output, self.namespace, error));
    }

    /// All members in order; `false` if a non-null one failed.
    fn members(&mut self, results: &mut FetchResults) -> bool {
        let plan = self.run.plan;
        let mut rest = plan.root_members.iter();
        while let Some(member) = rest.next() {
            if !self.part.holds(&plan.output.fields[member.field as usize]) {
                let inside = member.namespace.map_or(0, |set| plan.output.set(set).len as usize);
                rest.by_ref().take(inside).for_each(drop);
                continue;
            }
            let Some(set) = member.namespace else {
                if !self.member(member, results) {
                    return false;
                }
                continue;
            };
            self.out.key(&plan.output.fields[member.field as usize].key);
            self.out.open(b'{');
            self.namespace = Some(member.field);
            let inside = plan.output.set(set).len as usize;
            if !rest.by_ref().take(inside).all(|it| self.member(it, results)) {
                return false;
            }
            self.namespace = None;
            self.out.close(b'}');
            self.out.comma();
        }
        true
    }

    /// One member that is no namespace; `false` if it is non-null and failed.
    fn member(&mut self, asked: &RootMember, results: &mut FetchResults) -> bool {
        let plan = self.run.plan;
        let output = &plan.output;
        let RootMember { field, node, place, .. } = *asked;
        let member = &output.fields[field as usize];
        // Another name of a constant has no node: it is written from the same bytes.
        let first = member.same_as.map_or(member, |earlier| &output.fields[earlier as usize]);
        if let OutputKind::Constant { start, end } = first.member {
            let start = start as usize;
            let key_len = first.key.len as usize;
            self.out.key(&member.key);
            self.out.span(&output.constants, start + key_len, end as usize);
            return true;
        }
        let FetchResults { asked, rows, .. } = results;
        match &mut asked[node as usize] {
            FetchState::Finished(finished, errors) => {
                self.copy_finished_member(field, member, finished, errors, place as usize)
            }
            FetchState::Rows(errors) => {
                let of = member.same_as.unwrap_or(field);
                self.note(errors, of, field);
                self.row(field, rows, node as usize, place as usize)
            }
            FetchState::Failed(error) => {
                let is_mutation = plan.kind == weir_language::ast::OperationKind::Mutation;
                let is_noted = is_mutation || matches!(error, SourceError::Passed(_));
                if !is_noted && culprit(error, &plan.nodes[node as usize].fields).is_none() {
                    self.note_failed(error, field);
                }
                self.null(member)
            }
            FetchState::Waiting => self.null(member),
        }
    }

    fn null(&mut self, member: &OutputField) -> bool {
        if member.ty.is_non_null() {
            return false;
        }
        self.out.member_null(&member.key);
        true
    }

    fn row(&mut self, field: u32, rows: &[Option<Rows>], node: usize, place: usize) -> bool {
        let run = self.run;
        let output = &*run.plan.output;
        let writing = Writing { schema: run.graph.schema(), output, children: rows };
        let mut errors = Vec::new();
        let missing = Column::default();
        let column = rows[node].as_ref().and_then(|it| it.columns.get(place)).unwrap_or(&missing);
        let noted = self.part.note_count();
        let ok = row_writer::member_in(self.part, &writing, &mut self.out, field, (column, 0), &mut errors);
        if let Some(namespace) = self.namespace {
            self.part.move_notes_below(noted, namespace);
        }
        errors.into_iter().for_each(|it| self.fail(it));
        ok
    }

    /// Copies one member's bytes; where the source streams, the first member copies all of them.
    fn copy_finished_member(
        &mut self,
        field: u32,
        member: &OutputField,
        finished: &mut Finished,
        errors: &[PathError],
        place: usize,
    ) -> bool {
        let output = &self.run.plan.output;
        if finished.ends.is_empty() {
            // The members of a stream, or of an answer without ends, follow each other: all go out with the first.
            if place == 0 && member.same_as.is_none() {
                errors.iter().for_each(|it| self.fail(it.clone()));
                self.out.raw(&finished.bytes);
                if let Some(rest) = finished.rest.take() {
                    let bytes = std::mem::take(&mut self.out).into_bytes();
                    self.segments.push(Segment::Bytes(bytes));
                    self.segments.push(Segment::Rest(rest.receiver, self.namespace));
                }
            }
            return !finished.failed;
        }
        self.note(errors, member.same_as.unwrap_or(field), field);
        let start = if place == 0 { 0 } else { finished.ends[place - 1] as usize };
        let Some(bytes) = finished.ends.get(place).and_then(|&end| finished.bytes.get(start..end as usize))
        else {
            return self.null(member);
        };
        match member.same_as {
            None => self.out.raw(bytes),
            Some(earlier) if !bytes.is_empty() => {
                self.out.key(&member.key);
                self.out.raw(&bytes[output.fields[earlier as usize].key.len as usize..]);
            }
            Some(_) => {}
        }
        // A member without bytes failed, and the others are not to blame.
        !bytes.is_empty()
    }

    /// Notes those of `errors` that are below the member `of`, as errors of `field`, which may be another name for it.
    fn note(&mut self, errors: &[PathError], of: u32, field: u32) {
        for error in errors.iter().filter(|it| it.path.first() == Some(&Step::Field(of))) {
            let mut error = error.clone();
            error.path[0] = Step::Field(field);
            if error.field == of {
                error.field = field;
            }
            self.fail(error);
        }
    }

    fn end(mut self, is_whole: bool) -> Body {
        let ExecutionContext { protocol, text, .. } = self.run;
        if !self.segments.is_empty() && is_whole {
            let late = answer_stream::Late::new(&self.run, self.failures);
            self.segments.push(Segment::Bytes(self.out.into_bytes()));
            return answer_stream::start(self.segments, late);
        }
        if protocol == Protocol::Hasura && !self.failures.is_empty() {
            return Body::Whole(errors::render_refusal(protocol, text, &self.failures));
        }
        if !is_whole {
            let mut out = Out::default();
            out.open(b'{');
            if !self.failures.is_empty() {
                errors::append(&mut out, protocol, text, &self.failures);
            }
            out.raw(b"\"data\":null}");
            return Body::Whole(out.into_bytes());
        }
        self.out.close(b'}');
        self.out.open(b'}');
        if self.failures.is_empty() {
            let plan = self.run.plan;
            return Body::Whole(plan.size.record_size(self.out.into_bytes(), plan.output.constants.len()));
        }
        let mut out = Out::default();
        out.open(b'{');
        errors::append(&mut out, protocol, text, &self.failures);
        out.raw(&self.out.bytes()[1..]);
        Body::Whole(out.into_bytes())
    }
}

/// The member of `fields` that `error` says is to blame.
fn culprit(error: &SourceError, fields: &[u32]) -> Option<u32> {
    match error {
        SourceError::Rejected { field, .. } => field.filter(|it| fields.contains(it)),
        SourceError::Undone(_)
        | SourceError::Passed(_)
        | SourceError::Timeout
        | SourceError::Busy
        | SourceError::Unavailable(_)
        | SourceError::Broken(_) => None,
    }
}
