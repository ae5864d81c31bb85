//! Fetches entities by key: each is cached separately, and missing ones are fetched together.
//!
//! **Invariant:** an item of the answer belongs to a key if the fields that the key names are the same bytes in both; what
//! has no item does not exist.

use super::check_response::is_batch;
use super::connector_call::{Called, ConnectorCall, RowOutcome, bind_inputs};
use super::loader::CallResult;
use super::memo::Memo;
use super::{ConnectorRuntime, Shared, ask};
use crate::cache::{AskMany, Batch, Body, Failure, Key, Tape, Wanted};
use crate::caching::client_key::{push_claim, push_header};
use crate::call::answer_rules::{AnswerTaker, place};
use crate::call::{Answer, CallError};
use crate::project::row_key;
use crate::sdl::{ConnectorId, Matching};
use crate::selection::inputs::{Inputs, KeyField};
use crate::template::Rendered;
use futures_util::future::BoxFuture;
use http::StatusCode;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::call_span::FetchSpan;
use weir_engine::keys::{Interner, KeyList, KeyRef};
use weir_engine::observer::Observer;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::{Column, Data, Texts};
use weir_engine::source::{BatchBarrier, Caller, FetchInput, Headers, Ids};
use weir_engine::span::{BAGGAGE, SpanContext, TRACE_STATE};
use weir_language::value::Variables;

/// Maximum size of a failure's body that is parsed per key, in bytes; `errors` needs no more.
const FAILURE_BYTES_MAX: usize = 64 * 1024;

/// Fetches all keys of `input`, together with those that other nodes of the request want from the same connector.
pub(super) async fn ask(
    shared: &Arc<Shared>,
    ids: &Arc<Ids>,
    call: &ConnectorCall,
    input: FetchInput<'_>,
    batch_max: usize,
) -> Vec<RowOutcome> {
    let memo = input.request_scope.and_then(|it| Some((it.cache.get::<Memo>()?, it.barrier)));
    let told = match memo {
        Some((memo, level)) => ask_with_others(shared, ids, call, input, batch_max, memo, level).await,
        None => {
            let keys = encode_keys(input.parent_keys.unwrap_or_default(), names(shared, call));
            ask_for(shared, ids, call, input, keys, batch_max).await
        }
    };
    let runtime = shared.runtime(call.connector);
    told.into_iter().map(|it| it.map_err(|failure| runtime.no_answer(input.headers, &failure))).collect()
}

/// Like [`ask()`], with keys of other nodes, requested now or later.
async fn ask_with_others(
    shared: &Arc<Shared>,
    ids: &Arc<Ids>,
    call: &ConnectorCall,
    input: FetchInput<'_>,
    batch_max: usize,
    memo: &Memo,
    level: Option<&BatchBarrier>,
) -> Vec<CallResult> {
    let columns = input.parent_keys.unwrap_or_default();
    let runtime = shared.runtime(call.connector);
    let mut key = prefix(runtime, call, &input);
    columns.iter().for_each(|it| key.part(&[kind(it)]));
    let key = key.prefix();
    let loader = memo.loader(key, columns.len());
    let places = loader.register_keys(columns, &encode_keys(columns, names(shared, call)));
    if let Some(level) = level {
        level.complete().await;
    }
    let common = None;
    let mut told = loader
        .load(&places, |columns, keys| async move {
            let input = FetchInput { parent_keys: Some(&columns), request_scope: common, ..input };
            let told = ask_for(shared, ids, call, input, keys, batch_max).await;
            memo.count_loader(key, &told);
            told
        })
        .await;
    for (told, _) in told.iter_mut().zip(&places).filter(|it| it.1.is_again) {
        if let Ok(served) = told {
            *served = shared.cache.serve_again(&runtime.rule, served);
        }
    }
    told
}

/// Distinguishes columns with different kinds of keys.
fn kind(column: &Column) -> u8 {
    match &column.data {
        Data::Bool(_) => 0,
        Data::Int(_) => 1,
        Data::Float(_) => 2,
        Data::Text(_) => 3,
        Data::Json(_) => 4,
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => 5,
    }
}

/// Prefix of a connector's keys, before the id.
fn prefix(runtime: &ConnectorRuntime, call: &ConnectorCall, input: &FetchInput<'_>) -> Key {
    let mut prefix = Key::default();
    prefix.begin(&runtime.fingerprint);
    if !call.selection.is_empty() {
        prefix.part(call.selection.as_bytes());
    }
    for name in &runtime.reads_headers {
        push_header(input.headers, name, &mut prefix);
    }
    for name in &runtime.reads_claims {
        push_claim(input.caller, name, &mut prefix);
    }
    prefix
}

/// The keys that `call` is asked by.
fn names<'s>(shared: &'s Shared, call: &ConnectorCall) -> &'s [KeyField] {
    &shared.connector(call.connector).keys
}

/// The keys of all rows.
fn encode_keys(columns: &[Column], names: &[KeyField]) -> KeyList {
    let rows = columns.first().map_or(0, Column::len);
    let mut keys = KeyList::default();
    keys.reserve(rows, 0);
    for row in 0..rows {
        row_key(columns, names, row, keys.write());
        keys.push_written();
    }
    keys
}

/// Fetches all keys of `input`, encoded as `keys`. None of them was fetched in this request before.
async fn ask_for(
    shared: &Arc<Shared>,
    ids: &Arc<Ids>,
    call: &ConnectorCall,
    input: FetchInput<'_>,
    keys: KeyList,
    batch_max: usize,
) -> Vec<CallResult> {
    let columns = input.parent_keys.unwrap_or_default();
    let rows = keys.len();
    let keys = Arc::new(keys);
    let runtime = shared.runtime(call.connector);
    let prefix = prefix(runtime, call, &input);
    let own_tags = own_tags(shared, ids, call, input, rows);
    let rule = if own_tags.is_some() { runtime.rule_for(&input) } else { &runtime.alone };
    let own_tags = &own_tags.unwrap_or_default();
    let wanted =
        Wanted { key: prefix.prefix(), rule, tags: &runtime.tags, own_tags, deadline: input.deadline };
    let taker = shared.upstream(call.connector).answer_taker();
    let asking = || -> Arc<dyn AskMany> {
        let mut headers = Owned { lines: Vec::new(), request_id: input.headers.request_id().into() };
        let is_unread = |name: &&str| runtime.reads_headers.iter().all(|it| **it != **name);
        let of_trace = [TRACE_STATE, BAGGAGE].into_iter().filter(is_unread);
        let of_trace = of_trace.filter(|_| input.span.is_some());
        for name in runtime.reads_headers.iter().map(|it| &**it).chain(of_trace) {
            input.headers.each(name, &mut |value| headers.lines.push((name.into(), value.into())));
        }
        let about = About {
            shared: Arc::clone(shared),
            ids: Arc::clone(ids),
            connector: call.connector,
            member: call.member,
            selection: Arc::clone(&call.selection),
            output: Arc::clone(input.output),
            variables: Arc::clone(input.variables),
            headers,
            caller: input.caller.clone(),
            deadline: input.deadline,
            trace: input.span.map(BatchTrace::of),
            taker: taker.clone(),
        };
        let about = Arc::new(about);
        let encoded = Arc::clone(&keys);
        Arc::new(Asking { about, keys: columns.to_vec(), encoded, batch_max })
    };
    let results = shared.cache.get_many(wanted, &keys, asking).await;
    if let Some(taker) = taker.filter(|_| results.iter().flatten().any(|it| it.outcome.is_own_call())) {
        taker.note(input.headers.notes(), place(call.member, 0));
    }
    results
}

/// Additional tags per key; `None` if one of them cannot be determined.
fn own_tags(
    shared: &Shared,
    ids: &Ids,
    call: &ConnectorCall,
    input: FetchInput<'_>,
    rows: usize,
) -> Option<Vec<Vec<Arc<str>>>> {
    let runtime = shared.runtime(call.connector);
    if runtime.named.is_empty() {
        return Some(Vec::new());
    }
    let of = |row| runtime.own_tags(&bind_inputs(shared, ids, call.call_target(), input, row..row + 1));
    (0..rows).map(of).collect()
}

/// A copy of the headers that lives as long as a batch.
struct Owned {
    lines: Vec<(Box<str>, Box<[u8]>)>,
    request_id: Box<str>,
}

impl Headers for Owned {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.lines.iter().filter(|it| &*it.0 == name).for_each(|it| take(&it.1));
    }

    fn request_id(&self) -> &str {
        &self.request_id
    }
}

/// Data of a node's batches, owned because a batch may outlive its request.
struct About {
    shared: Arc<Shared>,
    ids: Arc<Ids>,
    connector: ConnectorId,
    member: u32,
    selection: Arc<str>,
    output: Arc<OutputPlan>,
    variables: Arc<Variables>,
    headers: Owned,
    caller: Caller,
    deadline: Instant,
    trace: Option<BatchTrace>,
    taker: Option<AnswerTaker>,
}

/// A copy of the fetch's span that lives as long as a batch.
struct BatchTrace {
    context: SpanContext,
    observer: Arc<dyn Observer>,
    trace_state: Option<Arc<str>>,
}

impl BatchTrace {
    fn of(span: &FetchSpan<'_>) -> Self {
        let FetchSpan { context, observer, trace_state } = *span;
        Self { context, observer: Arc::clone(observer), trace_state: trace_state.cloned() }
    }

    fn span(&self) -> FetchSpan<'_> {
        let Self { context, observer, trace_state } = self;
        FetchSpan { context: *context, observer, trace_state: trace_state.as_ref() }
    }
}

impl About {
    fn input<'r>(&'r self, keys: &'r [Column]) -> FetchInput<'r> {
        FetchInput {
            output: &self.output,
            variables: &self.variables,
            caller: &self.caller,
            parent_keys: Some(keys),
            headers: &self.headers,
            deadline: self.deadline,
            hold_back_bytes: 0,
            request_scope: None,
            objects: None,
            changes: None,
            span: None,
            may_join: false,
            stream: None,
            first_items: None,
        }
    }

    /// Variables of templates and selections for a batch of `keys`.
    fn inputs<'r>(&'r self, keys: &'r [Column]) -> Inputs<'r> {
        let rows = keys.first().map_or(0, Column::len);
        let call = Called { connector: self.connector, member: self.member, selection: &self.selection };
        bind_inputs(&self.shared, &self.ids, call, self.input(keys), 0..rows)
    }
}

struct Asking {
    about: Arc<About>,
    keys: Vec<Column>,
    encoded: Arc<KeyList>,
    batch_max: usize,
}

impl AskMany for Asking {
    fn batch_max(&self) -> usize {
        self.batch_max
    }

    fn ask(&self, places: &[u32]) -> BoxFuture<'static, Result<Batch, Failure>> {
        let keys: Vec<Column> = self.keys.iter().map(|it| take(it, places)).collect();
        let about = Arc::clone(&self.about);
        let mut rendered = Rendered::default();
        let request = &about.shared.connector(about.connector).request;
        if let Err(error) = request.render(&about.inputs(&keys), &mut rendered) {
            let told = error.for_client().message.into();
            let why = error.to_string().into();
            let error = CallError::Unmade { told, why };
            return Box::pin(std::future::ready(Err(error.into())));
        }
        let span = about.trace.as_ref().map(BatchTrace::span);
        let input = FetchInput { span: span.as_ref(), ..about.input(&keys) };
        let call = ask::call(&about.shared, about.connector, &rendered, &input, None, about.taker.clone());
        let mut wanted = WantedItems::default();
        places.iter().for_each(|&at| wanted.push(self.encoded.key(at as usize)));
        Box::pin(async move { Ok(taken_apart(&about, &keys, wanted, call.await?)) })
    }
}

/// Keys of a batch, matched to the items of its answer.
#[derive(Default)]
struct WantedItems {
    distinct: Interner,
    /// By position in the batch: number of the key.
    numbers: Vec<u32>,
    /// By number of the key: node of its item.
    items: Vec<Option<u32>>,
    /// Number of the key after the last match. Most services answer in key order, so this is tried first.
    next: u32,
}

impl WantedItems {
    fn push(&mut self, key: KeyRef<'_>) {
        let (number, is_new) = self.distinct.intern(key);
        self.numbers.push(number);
        if is_new {
            self.items.push(None);
        }
    }

    /// Sets the item of `key` to node `at`. A later item replaces an earlier one.
    fn set_item(&mut self, key: &[u8], at: u32) {
        let is_next =
            (self.next as usize) < self.distinct.len() && self.distinct.key(self.next).bytes() == key;
        let number = if is_next { Some(self.next) } else { self.distinct.find(KeyRef::of(key)) };
        if let Some(number) = number {
            self.items[number as usize] = Some(at);
            self.next = number + 1;
        }
    }

    /// By position in the batch: node of its item.
    fn values(&self) -> Vec<Option<u32>> {
        self.numbers.iter().map(|&number| self.items[number as usize]).collect()
    }
}

/// Splits an answer into the items of the keys. A failure has no items; its whole body belongs to every key.
fn taken_apart(about: &About, keys: &[Column], mut wanted: WantedItems, mut answer: Answer) -> Batch {
    let shared = &about.shared;
    let id = about.connector;
    let connector = shared.connector(id);
    let body = Body::read(std::mem::take(&mut answer.body), &answer.headers, &shared.runtime(id).rule);
    let is_success = {
        let json = body.tape().map(Tape::json);
        is_batch(connector, &answer, json.as_ref(), &about.inputs(keys))
    };
    let in_order = connector.items.as_ref().filter(|it| it.matching == Matching::Order);
    let ordered = in_order.map(|items| {
        let json = body.tape().filter(|_| is_success)?.json();
        let all = items.items_in_order(json.root(), wanted.numbers.len())?;
        Some(all.iter().map(|it| (!it.is_null()).then_some(it.at)).collect::<Vec<_>>())
    });
    let is_misfit = is_success && matches!(ordered, Some(None));
    if is_misfit {
        let call = &shared.runtime(id).shown;
        let keys = wanted.numbers.len();
        tracing::warn!(%call, keys, "a service answered a batch with no list of that length");
    }
    let is_success = is_success && !is_misfit;
    // From here on the status decides per key, whatever `isSuccess` said.
    let status = match (is_success && body.tape().is_some(), answer.status.is_success()) {
        (true, false) => StatusCode::OK,
        // A success that cannot be parsed, or that `isSuccess` rejects, is a failure of the service.
        (false, true) => StatusCode::BAD_GATEWAY,
        // A missing GraphQL server says nothing about the keys.
        (false, false) if connector.graphql.is_some() => StatusCode::BAD_GATEWAY,
        (true, true) | (false, false) => answer.status,
    };
    let answer = Answer { status, ..answer };
    let (Some(tape), true) = (body.tape(), is_success) else {
        let body = match body {
            Body::Json(tape) if tape.text().len() > FAILURE_BYTES_MAX => Body::Absent,
            // The body of a 4xx need not be JSON.
            Body::Unreadable(_) if !answer.status.is_server_error() => Body::Absent,
            body => body,
        };
        return Batch { answer, body, values: wanted.values() };
    };
    if let Some(Some(values)) = ordered {
        return Batch { answer, body, values };
    }
    if let Some(items) = &connector.items {
        let json = tape.json();
        let inputs = about.inputs(keys);
        let mut key = Vec::new();
        for item in items.of(json.root()) {
            key.clear();
            if items.key(item, &connector.selection, &inputs, &mut key) {
                wanted.set_item(&key, item.at);
            }
        }
    }
    let values = wanted.values();
    Batch { answer, body, values }
}

/// Copies some rows of a key column, whose cells are leaves.
fn take(column: &Column, places: &[u32]) -> Column {
    fn some<T: Copy>(values: &[T], places: &[u32]) -> Vec<T> {
        places.iter().map(|&at| values[at as usize]).collect()
    }
    let texts = |all: &Texts| {
        let mut texts = Texts::default();
        places.iter().for_each(|&at| texts.push(all.get(at as usize)));
        texts
    };
    let data = match &column.data {
        Data::Bool(values) => Data::Bool(some(values, places)),
        Data::Int(values) => Data::Int(some(values, places)),
        Data::Float(values) => Data::Float(some(values, places)),
        Data::Text(all) => Data::Text(texts(all)),
        Data::Json(all) => Data::Json(texts(all)),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            Data::Empty
        }
    };
    let mut taken = Column { data, ..Column::default() };
    for (to, from) in [(&mut taken.nulls, &column.nulls), (&mut taken.digits, &column.digits)] {
        (0..places.len()).filter(|&it| from.get(places[it] as usize)).for_each(|it| to.set(it));
    }
    taken
}
