//! Executes one plan node: a call per root field, key, or batch of keys; answers become rows.
//!
//! Calls of one node run side by side, at most [`CALLS_MAX`] at once; those of a mutation run in turn. A call that fails
//! fails its own rows. A service cannot undo, so what a mutation did before a call failed stays done.
//!
//! **Invariant:** the reply has one row at the root and one per key below it, in the keys' order.
//!
//! **Cost:** per call a rendered request and a key; per answer a look-up. Nothing is made per field or per object of an
//! answer but its place in the columns.

use super::check_response::{NO_RESPONSE, ResponseVerdict, check_response, client_error, response};
use super::connector_call::{ConnectorCall, RowOutcome, bind_inputs};
use super::memo::Memo;
use super::{ConnectorRuntime, Shared, ask, key_batch, selection_text};
use crate::cache::{Body, Sharing, Validators, Wanted};
use crate::caching::change::Change;
use crate::caching::ttl::{Shortest, ttl};
use crate::call::answer_rules::place;
use crate::project::Projection;
use crate::sdl::ConnectorId;
use crate::selection::inputs::Inputs;
use crate::template::Rendered;
use futures_util::StreamExt;
use futures_util::future::join_all;
use std::ops::Range;
use std::sync::Arc;
use weir_engine::rows::{CellError, Column, Table};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Headers, Ids, PlanError,
    PlanNode, PreparedFetch, Protocol, SourceError, Tag,
};
use weir_engine::tag_versions::TagSnapshot;
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonKind, JsonNode};

/// Maximum concurrent calls of one node. Limits of services apply to all requests together.
const CALLS_MAX: usize = 64;

/// Maximum number of calls of one node.
const PIECE_CALLS_MAX: usize = 1000;

/// Maximum size of one node's answers, in bytes; it equals the limit for rows of any node.
const PIECE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A prepared plan node.
struct HttpFetch {
    shared: Arc<Shared>,
    ids: Arc<Ids>,
    /// At the root one call per member, below it one for the node.
    calls: Vec<ConnectorCall>,
    /// True if the calls change data and therefore run one after the other.
    in_turn: bool,
    protocol: Protocol,
    reads_headers: Vec<Box<str>>,
    reads_claims: Vec<Box<str>>,
    touches: Vec<Tag>,
    asks: Vec<u32>,
}

/// JSON null, for an answer without a body: its mapping may still yield values.
const NULL: &[JsonNode] = &[JsonNode { kind: JsonKind::Null, start: 0, end: 4, next: 1 }];

/// Response that a connector without `http` maps: an object without members.
const NO_MEMBERS: &[JsonNode] = &[JsonNode { kind: JsonKind::Object, start: 0, end: 2, next: 1 }];

/// Tags of the answers of `calls`, each once.
fn list_tags(shared: &Shared, calls: &[ConnectorCall]) -> Vec<Tag> {
    let mut tags: Vec<Arc<str>> =
        calls.iter().flat_map(|it| shared.runtime(it.connector).tags.iter().cloned()).collect();
    tags.sort_unstable();
    tags.dedup();
    tags.into_iter().map(Tag).collect()
}

/// Prepares a plan node.
pub(super) fn prepare(
    shared: &Arc<Shared>,
    node: &PlanNode<'_>,
) -> Result<Box<dyn PreparedFetch>, PlanError> {
    let mapping = &shared.mapping;
    let is_root = node.part.is_none() && node.parent_keys.is_none();
    let in_turn = is_root && node.kind == OperationKind::Mutation;
    let call = |connector, member, projection| {
        let selection = selection_text::of(mapping.connector(connector), node, member).into();
        ConnectorCall { connector, member, selection, projection, is_query: !in_turn }
    };
    let calls: Vec<ConnectorCall> = match node.part.map(|it| ConnectorId(it.0)) {
        Some(part) => {
            let first = node.fields[0];
            let projection = match mapping.connector(part).place.field() {
                Some(_) => Projection::field(mapping, part, node, first),
                None => Projection::entity(mapping, part, node),
            };
            vec![call(part, first, projection)]
        }
        None => {
            let asked = node.fields.iter().filter_map(|&field| {
                let own = node.ids.field(node.output.fields[field as usize].field);
                Some((mapping.of_field(own)?, field))
            });
            let projection = |connector, field| Projection::field(mapping, connector, node, field);
            asked.map(|(connector, field)| call(connector, field, projection(connector, field))).collect()
        }
    };
    // A call that changes data reports its tags when its result is known.
    let read = if in_turn { &[][..] } else { &calls[..] };
    let runtimes = || calls.iter().map(|it| shared.runtime(it.connector));
    let read_by = |of: fn(&ConnectorRuntime) -> &[Box<str>]| {
        let mut names: Vec<Box<str>> = runtimes().flat_map(|it| of(it).iter().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let reads_headers = read_by(|it| &it.reads_headers);
    let reads_claims = read_by(|it| &it.reads_claims);
    let touches = list_tags(shared, read);
    let asks = read.iter().filter_map(|it| shared.runtime(it.connector).asks).collect();
    let shared = Arc::clone(shared);
    let ids = Arc::clone(node.ids);
    let protocol = node.protocol;
    Ok(Box::new(HttpFetch {
        shared,
        ids,
        calls,
        in_turn,
        protocol,
        reads_headers,
        reads_claims,
        touches,
        asks,
    }))
}

/// Rows of one call.
struct Answered {
    table: Table,
    cache_control: Shortest,
}

impl HttpFetch {
    fn inputs<'r>(
        &'r self,
        call: &'r ConnectorCall,
        input: &FetchInput<'r>,
        rows: Range<usize>,
    ) -> Inputs<'r> {
        bind_inputs(&self.shared, &self.ids, call.call_target(), *input, rows)
    }

    async fn answer(&self, call: &ConnectorCall, input: FetchInput<'_>, rows: usize) -> Answered {
        if self.shared.connector(call.connector).is_local {
            return self.map_variables(call, input, rows);
        }
        let outcomes = match self.batch_max(call, &input) {
            Some(batch_max) => key_batch::ask(&self.shared, &self.ids, call, input, batch_max).await,
            None => self.ask_each(call, input, rows).await,
        };
        self.read(call, input, &outcomes)
    }

    /// Maximum number of keys per call, if the connector uses batches.
    fn batch_max(&self, call: &ConnectorCall, input: &FetchInput<'_>) -> Option<usize> {
        let batch_max =
            self.shared.connector(call.connector).batch_max.filter(|_| input.parent_keys.is_some());
        batch_max.map(|it| it.max(1) as usize)
    }

    /// Checks the limit of calls. Beyond it the whole node fails: an error per row would repeat it a thousand times.
    fn check_calls(&self, input: &FetchInput<'_>) -> Result<(), SourceError> {
        let rows = rows(input);
        let too_many = |call| rows.div_ceil(self.batch_max(call, input).unwrap_or(1)) > PIECE_CALLS_MAX;
        let mut made = self.calls.iter().filter(|it| !self.shared.connector(it.connector).is_local);
        if !made.any(too_many) {
            return Ok(());
        }
        let error = client_error("LIMIT_CALLS", "This field would take too many calls of its source.");
        Err(SourceError::Rejected { error, field: None })
    }

    /// Makes rows of variables alone, without a call.
    fn map_variables(&self, call: &ConnectorCall, input: FetchInput<'_>, rows: usize) -> Answered {
        let nothing = Json::from_nodes("{}", NO_MEMBERS);
        let values = vec![Some(nothing.root()); rows];
        let responses = vec![NO_RESPONSE; rows];
        let inputs = self.inputs(call, &input, 0..rows);
        let table = call.projection.run(&values, &inputs, &responses);
        Answered { table, cache_control: Shortest::default() }
    }

    /// Makes one call per row.
    async fn ask_each(&self, call: &ConnectorCall, input: FetchInput<'_>, rows: usize) -> Vec<RowOutcome> {
        let mut outcomes = Vec::with_capacity(rows);
        if rows == 1 {
            outcomes.push(self.ask_one(call, &input, 0).await);
            return outcomes;
        }
        let asked = (0..rows).map(|row| self.ask_one(call, &input, row));
        let mut asked = std::pin::pin!(futures_util::stream::iter(asked).buffered(CALLS_MAX));
        let mut bytes = 0;
        while let Some(outcome) = asked.next().await {
            bytes += body_bytes(&outcome);
            outcomes.push(outcome);
            if bytes > PIECE_BYTES_MAX {
                outcomes.resize(rows, Err(response_limit_error()));
                break;
            }
        }
        outcomes
    }

    async fn ask_one(&self, call: &ConnectorCall, input: &FetchInput<'_>, row: usize) -> RowOutcome {
        let shared = &self.shared;
        let id = call.connector;
        let mut rendered = Rendered::default();
        let inputs = self.inputs(call, input, row..row + 1);
        shared.connector(id).request.render(&inputs, &mut rendered).map_err(|error| error.for_client())?;
        ask::check(&rendered)?;
        let runtime = shared.runtime(id);
        let tags = runtime.tags(&inputs);
        let mut key = ask::key(shared, id, &rendered, input);
        tags.push(&mut key);
        let key = key.to_key_ref();
        let rule = if tags.is_vague { &runtime.alone } else { runtime.rule_for(input) };
        let wanted = Wanted { key, rule, tags: &tags.all, own_tags: &[], deadline: input.deadline };
        let change = self.in_turn.then(|| Change::begin(&shared.cache, runtime.changed_tags(&inputs)));
        let taker = shared.upstream(id).answer_taker();
        let member = call.member;
        let call = |old: Option<&Validators>| ask::call(shared, id, &rendered, input, old, taker.clone());
        let get = shared.cache.get(wanted, call);
        let memo =
            input.request_scope.filter(|_| runtime.asks.is_some()).and_then(|it| it.cache.get::<Memo>());
        let served = match memo {
            Some(memo) => memo.call(key, |it| shared.cache.serve_again(rule, it), get).await,
            None => get.await,
        };
        if let Some(change) = change {
            change.end(&served);
        }
        if let Some(taker) = taker.filter(|_| served.as_ref().is_ok_and(|it| it.outcome.is_own_call())) {
            taker.note(input.headers.notes(), place(member, row));
        }
        served.map_err(|failure| runtime.no_answer(input.headers, &failure))
    }

    /// Converts answers to rows.
    fn read(&self, call: &ConnectorCall, input: FetchInput<'_>, outcomes: &[RowOutcome]) -> Answered {
        let connector = self.shared.connector(call.connector);
        let runtime = self.shared.runtime(call.connector);
        let jsons: Vec<Option<Json<'_>>> =
            outcomes.iter().map(|it| it.as_ref().ok().and_then(|it| it.entry.json())).collect();
        let mut values = Vec::with_capacity(outcomes.len());
        let mut responses = Vec::with_capacity(outcomes.len());
        let rule = runtime.rule_for(&input);
        let empty = Json::from_nodes("null", NULL);
        let mut errors = Vec::new();
        let mut cache_control = Shortest::default();
        let mut bytes = 0;
        for (row, (outcome, json)) in outcomes.iter().zip(&jsons).enumerate() {
            let mut fail = |error: FieldError| errors.push(CellError { row: row as u32, error });
            let mut value = None;
            // A failed batch is one answer for all its keys; its error is logged once.
            let is_again = row.checked_sub(1).is_some_and(|before| share_entry(outcome, &outcomes[before]));
            bytes += if is_again { 0 } else { body_bytes(outcome) };
            match outcome {
                Ok(_) if bytes > PIECE_BYTES_MAX => {
                    fail(response_limit_error());
                    responses.push(NO_RESPONSE);
                }
                Ok(served) => {
                    let inputs = self.inputs(call, &input, row..row + 1);
                    match check_response(connector, &served.entry, json.as_ref(), &inputs, call.is_query) {
                        ResponseVerdict::Found => value = json.as_ref().map(Json::root),
                        ResponseVerdict::Empty => value = Some(empty.root()),
                        ResponseVerdict::Nothing => {}
                        ResponseVerdict::Failed(error) => {
                            runtime.call_label(input.headers).bad_answer(&served.entry, error.code);
                            fail(error);
                        }
                    }
                    responses.push(response(&served.entry));
                    let named = !runtime.named.is_empty();
                    let ages = if named {
                        self.shared.cache.versions(&served.entry)
                    } else {
                        TagSnapshot::default()
                    };
                    cache_control.add(ttl(served, rule, ages, &runtime.shown));
                }
                Err(error) => {
                    fail(error.clone());
                    responses.push(NO_RESPONSE);
                }
            }
            values.push(value);
        }
        let inputs = self.inputs(call, &input, 0..outcomes.len());
        let mut table = call.projection.run(&values, &inputs, &responses);
        for column in &mut table.columns {
            put(column, &errors);
        }
        Answered { table, cache_control }
    }

    /// Runs the calls one after the other, until a failure makes the whole answer null. The remaining calls are not made.
    async fn change(&self, calls: &[ConnectorCall], input: FetchInput<'_>, answers: &mut Vec<Answered>) {
        for call in calls {
            let answered = self.answer(call, input, 1).await;
            let is_last = answered.table.columns.iter().any(|it| !it.errors.is_empty())
                && (self.protocol == Protocol::Hasura
                    || input.output.fields[call.member as usize].ty.is_non_null());
            answers.push(answered);
            if is_last {
                break;
            }
        }
        answers.resize_with(calls.len(), || {
            let table = Table { rows: 1, columns: vec![Column::default()], hidden: Vec::new() };
            Answered { table, cache_control: Shortest::default() }
        });
    }

    async fn run_all(&self, input: FetchInput<'_>) -> FetchResult {
        let rows = rows(&input);
        let mut answers = Vec::with_capacity(self.calls.len());
        match self.calls.as_slice() {
            [only] => answers.push(self.answer(only, input, rows).await),
            calls if self.in_turn => self.change(calls, input, &mut answers).await,
            calls => answers.extend(join_all(calls.iter().map(|it| self.answer(it, input, rows))).await),
        }
        let mut table = Table { rows: rows as u32, ..Table::default() };
        let mut cache_control = Shortest::default();
        for answered in answers {
            table.columns.extend(answered.table.columns);
            table.hidden.extend(answered.table.hidden);
            if let Some(other) = answered.cache_control.0 {
                cache_control.add(other);
            }
        }
        FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: cache_control.0 }
    }
}

/// Number of rows: one at the root, else one per key.
fn rows(input: &FetchInput<'_>) -> usize {
    input.parent_keys.and_then(<[Column]>::first).map_or(1, Column::len)
}

fn body_bytes(outcome: &RowOutcome) -> usize {
    match outcome.as_ref().map(|it| &it.entry.body) {
        Ok(Body::Json(tape)) => tape.text().len(),
        Ok(Body::Absent | Body::Unreadable(_)) | Err(_) => 0,
    }
}

fn share_entry(a: &RowOutcome, b: &RowOutcome) -> bool {
    matches!((a, b), (Ok(a), Ok(b)) if Arc::ptr_eq(&a.entry, &b.entry))
}

fn response_limit_error() -> FieldError {
    client_error("LIMIT_RESPONSE", "The answers of the source are too large together.")
}

/// Adds `errors` of rows without a value to those of `column`.
fn put(column: &mut Column, errors: &[CellError]) {
    if errors.is_empty() {
        return;
    }
    for error in errors {
        column.nulls.set(error.row as usize);
    }
    column.errors.retain(|it| errors.binary_search_by_key(&it.row, |error| error.row).is_err());
    column.errors.extend_from_slice(errors);
    column.errors.sort_unstable_by_key(|it| it.row);
}

impl PreparedFetch for HttpFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            self.check_calls(&input)?;
            Ok(self.run_all(input).await)
        })
    }

    fn touches(&self) -> &[Tag] {
        &self.touches
    }

    /// GET and QUERY are safe; other methods may change data. Source: RFC 9110, 9.2.1.
    fn may_change_data(&self) -> bool {
        let method = |it: &ConnectorCall| &self.shared.connector(it.connector).request.method;
        self.calls.iter().any(|it| !matches!(method(it).as_str(), "GET" | "QUERY"))
    }

    fn reads_headers(&self) -> &[Box<str>] {
        &self.reads_headers
    }

    fn reads_claims(&self) -> &[Box<str>] {
        &self.reads_claims
    }

    fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.calls.iter().any(|it| self.shared.runtime(it.connector).personal.is_in(headers))
    }

    fn asks(&self) -> &[u32] {
        &self.asks
    }

    fn has_lifetime(&self) -> bool {
        !self.in_turn
            && self.calls.iter().all(|it| self.shared.runtime(it.connector).rule.sharing != Sharing::Never)
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        for call in &self.calls {
            let connector = self.shared.connector(call.connector);
            if connector.is_local {
                out.push_str("no call: variables alone are mapped\n");
                continue;
            }
            let service = self.shared.mapping.service(connector.service);
            let how = match connector.batch_max {
                Some(max) => format!(", up to {max} keys a call"),
                None if connector.keys.is_empty() => String::new(),
                None => ", a call for each key".to_owned(),
            };
            out.push_str(&format!("{}: {}{how}\n", service.name, connector.request.explain()));
        }
    }
}
