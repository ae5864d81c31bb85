//! Retries each member of a root node separately after the node was refused because of one member.
//!
//! A source answers the members of a query's root together, and returns nothing when a value of one member does not fit. The other
//! members are not at fault, so each is answered as if it were the only one. The faulty member is never guessed: a database often
//! reports that a value is wrong, but not whose.
//!
//! **Invariant:** nothing is written twice: only nodes of queries are retried. The result has the node's form, so later steps see
//! no difference; it is never a stream, as each stream would hold a connection while the first is sent.
//!
//! **Cost:** only refused nodes come here: each member is prepared and fetched, a few concurrently. Each member reads a snapshot of
//! its own.

use super::{BatchContext, ExecutionContext};
use crate::answer::field_error::{FieldError, PathError, SourceError, Step};
use crate::answer::rows::{Bitmap, CellError, Column, Table};
use crate::answer::write::out::Out;
use crate::caching::cache_control::CacheControl;
use crate::caching::lifetime::NodeHints;
use crate::plan::PreparedNode;
use crate::request::protocol::Protocol;
use crate::source::{AnswerForm, BoxFuture, FetchBody, FetchResult, Finished, PlanNode, RequestCache};
use futures_util::StreamExt;
use weir_language::ast::OperationKind;

/// Members that are fetched concurrently.
const MEMBERS_MAX: usize = 8;

/// Upper bound of the bytes of all members together: they are buffered until the last is there.
const BYTES_MAX: usize = 64 << 20;

/// True if members of `node`, which failed with `error`, may succeed alone. Hasura's protocol has no data beside errors.
pub(super) fn may_succeed_alone(
    run: &ExecutionContext<'_>,
    node: &PreparedNode,
    error: &SourceError,
) -> bool {
    let is_refused = match error {
        // Without a field the node as a whole is to blame.
        SourceError::Rejected { field, .. } => field.is_some(),
        // Some of the members may be to blame.
        SourceError::Passed(_) => run.plan.kind == OperationKind::Query,
        SourceError::Undone(_)
        | SourceError::Timeout
        | SourceError::Busy
        | SourceError::Unavailable(_)
        | SourceError::Broken(_) => false,
    };
    is_refused && node.fields.len() > 1 && reads(run.plan.kind) && run.protocol == Protocol::GraphqlOverHttp
}

const fn reads(kind: OperationKind) -> bool {
    match kind {
        OperationKind::Query | OperationKind::Subscription => true,
        OperationKind::Mutation => false,
    }
}

/// The members of `node`, as one reply.
pub(super) async fn ask_each(run: &ExecutionContext<'_>, node: &PreparedNode) -> FetchResult {
    let mut members = Vec::with_capacity(node.fields.len());
    for &field in &node.fields {
        members.push(ask_one(run, node, field));
    }
    let mut asked = futures_util::stream::iter(members).buffered(MEMBERS_MAX);
    let mut replies = Vec::with_capacity(node.fields.len());
    let mut bytes_len = 0;
    let mut cache_control = None::<CacheControl>;
    while let Some(mut reply) = asked.next().await {
        if let Ok(FetchResult { body: FetchBody::Finished(finished), .. }) = &reply {
            bytes_len += finished.bytes.len();
            if bytes_len > BYTES_MAX {
                reply = Err(too_long());
            }
        }
        if let Ok(FetchResult { cache_control: said, .. }) = &mut reply {
            cache_control = match (cache_control, said.take()) {
                (Some(one), Some(other)) => Some(one.and(other)),
                (one, other) => one.or(other),
            };
        }
        if let Err(error) = &reply {
            error.tell_operator();
        }
        replies.push(reply);
    }
    let has_rows =
        |it: &Result<FetchResult, _>| matches!(it, Ok(FetchResult { body: FetchBody::Rows(_), .. }));
    let members = node.fields.iter().copied();
    let (body, errors) = if replies.iter().any(has_rows) {
        rows(run, members.zip(replies))
    } else {
        bytes(run, members.zip(replies))
    };
    FetchResult { body, errors, cache_control }
}

/// One member of `node`.
fn ask_one<'r>(
    run: &'r ExecutionContext<'_>,
    node: &'r PreparedNode,
    field: u32,
) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
    Box::pin(async move {
        let alone = alone(run, node, field)?;
        run.ask(&alone, None, BatchContext::default()).await
    })
}

/// The node of one member of `node`.
fn alone(run: &ExecutionContext<'_>, node: &PreparedNode, field: u32) -> Result<PreparedNode, SourceError> {
    let Some(at) = node.source else {
        return Err(SourceError::Broken("a piece without a source was refused".into()));
    };
    let ids = &run.graph.sources()[usize::from(at)].1;
    let plan = run.plan;
    let asked = PlanNode {
        schema: run.graph.schema(),
        ids,
        output: &plan.output,
        set: node.set,
        fields: &[field],
        kind: plan.kind,
        parent_keys: None,
        part: None,
        answer: if node.must_be_rows { AnswerForm::Rows } else { AnswerForm::Any { contiguous: false } },
        facts: run.caller.profile().facts(at),
        protocol: run.protocol,
        text: run.text,
        conditions_max: run.conditions_max,
        variables: &plan.operation.variables,
        cache: &RequestCache::default(),
    };
    let prepared = run.graph.prepare(at, &asked);
    let fetch = prepared.map_err(|it| SourceError::Rejected { error: it.error, field: Some(field) })?;
    let hints = NodeHints::default();
    Ok(PreparedNode { fields: vec![field], parent: None, hints, fetch, ..*node })
}

/// The members' columns side by side.
fn rows(
    run: &ExecutionContext<'_>,
    replies: impl Iterator<Item = (u32, Result<FetchResult, SourceError>)>,
) -> (FetchBody, Vec<PathError>) {
    let mut errors = Vec::new();
    let mut columns = Vec::new();
    for (field, reply) in replies {
        let error = match reply {
            Ok(FetchResult { body: FetchBody::Rows(mut rows), errors: told, .. })
                if rows.columns.len() == 1 =>
            {
                columns.append(&mut rows.columns);
                errors.extend(told);
                continue;
            }
            Ok(_) => Some(not_one().for_client()),
            Err(SourceError::Passed(mut passed)) => {
                // A null that may not stand there needs an error of its own.
                let is_needed = run.plan.output.fields[field as usize].ty.is_non_null() && !passed.is_empty();
                let own = is_needed.then(|| passed.remove(0).error);
                errors.append(&mut passed);
                own
            }
            Err(error) => Some(error.for_client()),
        };
        let mut nulls = Bitmap::default();
        nulls.set(0);
        let own = error.into_iter().map(|error| CellError { row: 0, error }).collect();
        columns.push(Column { nulls, errors: own, ..Column::default() });
    }
    (FetchBody::Rows(Table { rows: 1, columns, hidden: Vec::new() }), errors)
}

/// The members' bytes one after another.
fn bytes(
    run: &ExecutionContext<'_>,
    replies: impl Iterator<Item = (u32, Result<FetchResult, SourceError>)>,
) -> (FetchBody, Vec<PathError>) {
    let mut out = Out::default();
    let mut ends = Vec::new();
    let mut errors = Vec::new();
    let mut failed = false;
    for (field, reply) in replies {
        let error = match reply {
            Ok(FetchResult { body: FetchBody::Finished(one), errors: told, .. }) if one.rest.is_none() => {
                out.raw(&one.bytes);
                failed |= one.failed;
                errors.extend(told);
                None
            }
            Ok(_) => Some(not_one().for_client()),
            Err(error) => Some(error.for_client()),
        };
        if let Some(error) = error {
            let member = &run.plan.output.fields[field as usize];
            errors.push(PathError { error, path: vec![Step::Field(field)], field, is_undone: false });
            if member.ty.is_non_null() { failed = true } else { out.member_null(&member.key) }
        }
        ends.push(out.len() as u32);
    }
    (FetchBody::Finished(Finished { bytes: out.into_bytes(), ends, failed, rest: None }), errors)
}

/// Error of a source that does not return exactly the one requested member.
fn not_one() -> SourceError {
    let error = SourceError::Broken("asked for one member, it gives something else".into());
    error.tell_operator();
    error
}

fn too_long() -> SourceError {
    let message = format!("the answer is longer than {BYTES_MAX} bytes; ask for less at a time").into();
    let error = FieldError { code: "LIMIT_RESPONSE", message, hasura_path: None, extensions: None };
    SourceError::Rejected { error, field: None }
}
