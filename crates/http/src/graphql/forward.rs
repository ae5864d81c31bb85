//! A plan node that is forwarded: one operation for all root fields, or for up to fifty keys of a level.

use super::check_response::check_response;
use super::operation_text::{NUMBER, Text, VariableValue};
use super::remote_errors::{RemoteFailure, RemoteRefusal};
use super::remote_socket::{self, Opening, RemoteEvent};
use super::roles::RoleView;
use super::template::merge;
use super::{Contents, GraphqlLink};
use crate::cache::{Body, Served};
use crate::caching::ttl::Shortest;
use crate::call::Answer;
use crate::call::answer_rules::place;
use crate::error_report::CallLabel;
use crate::passthrough::answer_columns::{Columns, Errors};
use crate::passthrough::argument_json;
use crate::passthrough::argument_json::Arguments;
use crate::passthrough::{client_error, no_answer, unreadable};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use http::header::{ACCEPT, CONTENT_TYPE, SET_COOKIE};
use http::{HeaderName, HeaderValue};
use std::any::Any;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use weir_engine::caller::ADMIN;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::{CellError, Column, Table};
use weir_engine::source::{
    BoxFuture, EventStream, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Headers, Ids,
    PlanNode, PreparedFetch, Protocol, SourceError, Tag,
};
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonRef};

/// Maximum number of keys per operation. Servers limit root fields; Weir's own limit is 50.
const KEYS_MAX: usize = 50;

/// Maximum number of keys per operation of a remote schema, which has one for each level.
const REMOTE_KEYS_MAX: usize = 1000;

/// Headers of every call's body.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 2] = [
    (CONTENT_TYPE, HeaderValue::from_static("application/json")),
    (ACCEPT, HeaderValue::from_static("application/graphql-response+json, application/json")),
];

/// A prepared plan node.
pub(super) struct ForwardedFetch {
    contents: Arc<Contents>,
    link: Arc<GraphqlLink>,
    /// The view of the callers' role, if roles differ.
    role: Option<Arc<RoleView>>,
    protocol: Protocol,
    ids: Arc<Ids>,
    kind: OperationKind,
    fields: Vec<u32>,
    text: Text,
    /// Without parent keys: the whole operation as a JSON string.
    whole: Vec<u8>,
    /// Tags that invalidate the answers.
    touches: Vec<Tag>,
}

impl ForwardedFetch {
    pub(super) fn new(
        contents: Arc<Contents>,
        link: Arc<GraphqlLink>,
        role: Option<Arc<RoleView>>,
        node: &PlanNode<'_>,
    ) -> Self {
        let text = Text::of(node, &contents, role.as_deref());
        // Each call reports its changes once its result is known.
        let kind = match node.kind {
            // Fields behind a relationship are read, also below a mutation.
            _ if node.parent_keys.is_some() => OperationKind::Query,
            // A live query is polled.
            OperationKind::Subscription if link.sockets.is_none() => OperationKind::Query,
            kind => kind,
        };
        let is_change = kind == OperationKind::Mutation;
        let touches = if is_change { Vec::new() } else { link.keeper.tags(node) };
        let mut passed = Self {
            contents,
            link,
            role,
            protocol: node.protocol,
            ids: Arc::clone(node.ids),
            kind,
            fields: node.fields.to_vec(),
            text,
            whole: Vec::new(),
            touches,
        };
        if node.parent_keys.is_none() {
            argument_json::text(&passed.operation(1), &mut passed.whole);
        }
        passed
    }

    /// Text of the operation for `keys` keys. Keys are numbered from 0 in each operation, so the server sees few different texts.
    fn operation(&self, keys: usize) -> String {
        let mut out = String::from(match self.kind {
            OperationKind::Query => "query",
            OperationKind::Mutation => "mutation",
            OperationKind::Subscription => "subscription",
        });
        let mut between = '(';
        for variable in &self.text.variables {
            let times = if variable.is_keyed() { keys } else { 1 };
            for row in 0..times {
                let _ = write!(out, "{between}${}:{}", insert_row_number(&variable.name, row), variable.ty);
                between = ',';
            }
        }
        out.push_str(if between == ',' { "){" } else { "{" });
        for row in 0..keys {
            for (at, member) in self.text.members.iter().enumerate().filter(|it| !it.1.text.is_empty()) {
                let _ = write!(out, " {}:{}", root_key(at, row), insert_row_number(&member.text, row));
            }
        }
        out.push('}');
        out
    }

    /// Body of the call for `rows` of the keys.
    /// # Errors
    /// The caller lacks a session variable that a permission sets.
    fn body(&self, input: &FetchInput<'_>, rows: std::ops::Range<usize>) -> Result<Vec<u8>, FieldError> {
        let mut out = b"{\"query\":".to_vec();
        if self.whole.is_empty() {
            argument_json::text(&self.operation(rows.len()), &mut out)
        } else {
            out.extend_from_slice(&self.whole)
        }
        out.extend_from_slice(b",\"variables\":{");
        for variable in &self.text.variables {
            let times = if variable.is_keyed() { rows.len() } else { 1 };
            for row in 0..times {
                let before = out.len();
                argument_json::text(&insert_row_number(&variable.name, row), &mut out);
                out.push(b':');
                let schema = &self.contents.schema;
                let values = Arguments { schema, ids: &self.ids, input, row: rows.start + row };
                let is_given = self.write_value(&variable.value, &values, &mut out)?;
                if is_given { out.push(b',') } else { out.truncate(before) }
            }
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.extend_from_slice(b"}}");
        Ok(out)
    }

    /// Appends the value of a variable. Returns `false` and writes nothing if it has no value.
    fn write_value(
        &self,
        value: &VariableValue,
        values: &Arguments<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, FieldError> {
        let context = (values.input.caller, self.protocol);
        match (value, &self.role) {
            (VariableValue::Argument(argument), None) => Ok(values.write(*argument, out)),
            (VariableValue::Argument(argument), Some(role)) => {
                let mut given = Vec::new();
                if !values.write(*argument, &mut given) {
                    return Ok(false);
                }
                let schema = &self.contents.schema;
                let ty = schema.input(self.ids.input(argument.input)).ty.base;
                let mut json = String::new();
                role.write_value(schema, ty, &String::from_utf8_lossy(&given), context, &mut json)?;
                out.extend_from_slice(json.as_bytes());
                Ok(true)
            }
            (VariableValue::Fixed { template, columns, client, ty }, role) => {
                let mut fixed = String::new();
                let key = |at: usize, out: &mut String| {
                    values.write_key(columns.get(at).copied().unwrap_or(u32::MAX), out);
                };
                template.write(&key, &mut fixed);
                let mut given = Vec::new();
                let mut json = String::new();
                match client {
                    Some(client) if values.write(*client, &mut given) => {
                        merge(&String::from_utf8_lossy(&given), &fixed, &mut json);
                    }
                    Some(_) | None => json = fixed,
                }
                if let Some((role, ty)) = role.as_ref().zip(*ty) {
                    let mut preset = String::new();
                    role.write_value(&self.contents.schema, ty, &json, context, &mut preset)?;
                    json = preset;
                }
                out.extend_from_slice(json.as_bytes());
                Ok(true)
            }
            (VariableValue::Preset(preset), _) => {
                let mut json = String::new();
                preset.write(context.0, context.1, &mut json)?;
                out.extend_from_slice(json.as_bytes());
                Ok(true)
            }
        }
    }

    /// Calls the server for `rows` of the keys.
    async fn ask(&self, input: &FetchInput<'_>, rows: std::ops::Range<usize>) -> Result<Served, SourceError> {
        let unfit = |error| SourceError::Rejected { error, field: None };
        self.link.server.check_caller(input.caller).map_err(unfit)?;
        let first_row = rows.start;
        let body = Bytes::from(self.body(input, rows).map_err(unfit)?);
        let is_change = self.is_change();
        let cookies = self.link.server.remote.as_ref().map(|_| Arc::new(Mutex::new(Vec::new())));
        let taker = self.link.upstream.answer_taker();
        let call = || {
            let taker = taker.clone();
            let link = Arc::clone(&self.link);
            let mut ask = link.server.post(link.path.clone(), body.clone(), &HEADERS, Some(input));
            ask.idempotent = !is_change;
            let cookies = cookies.clone();
            async move {
                let answer = link.counts.count(link.upstream.call(&ask)).await?;
                taker.iter().for_each(|it| it.take(&answer));
                if let Some(cookies) = cookies {
                    note_cookies(&answer, &cookies);
                }
                Ok(check_response(answer))
            }
        };
        let keeper = &self.link.keeper;
        let served = if is_change {
            keeper.change(input, call).await
        } else {
            keeper.get(&[&body], &self.touches, input, call).await
        };
        if let Some(taker) = taker.filter(|_| served.as_ref().is_ok_and(|it| it.outcome.is_own_call())) {
            let member = self.fields.first().copied().unwrap_or_default();
            taker.note(input.headers.notes(), place(member, first_row));
        }
        if let Some((notes, cookies)) = input.headers.notes().zip(cookies) {
            let cookies = std::mem::take(&mut *cookies.lock().unwrap_or_else(PoisonError::into_inner));
            cookies.iter().for_each(|it| notes.add_cookie(it.as_bytes()));
        }
        served.map_err(|failure| {
            let told = self.remote_failure(input).and_then(|it| it.of_call(&failure.error));
            let usual = no_answer(self.call_label(input), failure);
            told.unwrap_or(usual)
        })
    }

    /// How clients of Hasura's protocol are told that a remote schema gives no answer.
    fn remote_failure(&self, input: &FetchInput<'_>) -> Option<RemoteFailure<'_>> {
        let remote = self.link.server.remote.as_deref().filter(|_| self.protocol == Protocol::Hasura)?;
        Some(RemoteFailure { remote, is_admin: input.caller.role() == ADMIN })
    }

    /// The JSON of an answer.
    fn read_json<'s>(&self, served: &'s Served, input: &FetchInput<'_>) -> Result<Json<'s>, SourceError> {
        json(served, self.call_label(input))
            .map_err(|usual| self.remote_failure(input).map_or(usual, |it| it.of_answer()))
    }

    fn call_label<'c>(&'c self, input: &FetchInput<'c>) -> CallLabel<'c> {
        CallLabel { shown: &self.link.server.name, headers: input.headers }
    }

    /// The data of an answer, by the rules of its server.
    fn read_data<'t>(
        &self,
        answer: JsonRef<'t>,
        output: &OutputPlan,
        errors: &mut Errors,
    ) -> Result<JsonRef<'t>, SourceError> {
        let Some(remote) = &self.link.server.remote else { return note_errors(answer, errors) };
        let refusal = RemoteRefusal {
            protocol: self.protocol,
            output,
            keys: &self.text.keys,
            fields: &self.fields,
            // A fetch below parents is that of a relationship, whose errors Hasura tells together.
            is_joined: self.whole.is_empty(),
        };
        refusal.read_data(answer, remote.prioritizes_data, errors)
    }

    fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }

    /// The events of a subscription.
    fn open_events(&self, input: &FetchInput<'_>) -> Result<EventStream, FieldError> {
        let server = &self.link.server;
        server.check_caller(input.caller)?;
        let operation = self.body(input, 0..1)?;
        let mut headers = Vec::new();
        server.pass(input.headers, Some(input.caller), &mut headers);
        let events = remote_socket::events(Opening { link: Arc::clone(&self.link), headers, operation });
        Ok(events.map(|it| Arc::new(it) as Arc<dyn Any + Send + Sync>).boxed())
    }

    /// The result of an event of a subscription.
    fn answer_event(&self, input: &FetchInput<'_>) -> Result<FetchResult, SourceError> {
        let event = input.headers.data().and_then(|it| it.downcast_ref::<RemoteEvent>());
        let body = match event {
            Some(RemoteEvent::Result(body)) => body,
            Some(RemoteEvent::Lost(words)) => return Err(SourceError::Unavailable(words.as_str().into())),
            Some(RemoteEvent::Late) => return Err(SourceError::Timeout),
            None => return Err(SourceError::Broken("a subscription ran without an event".into())),
        };
        let json = Json::parse(body, super::DEPTH_MAX).map_err(|_| unreadable())?;
        let mut errors = Errors::default();
        let data = self.read_data(json.root(), input.output, &mut errors)?;
        let column = |(at, field): (usize, &u32)| {
            let below = &self.text.members[at].below;
            let value = data.get(&root_key(at, 0));
            let value = below.iter().fold(value, |value, name| value?.get(name));
            self.columns(input, &errors).member(*field, &[value])
        };
        let columns = self.fields.iter().enumerate().map(column).collect();
        let table = Table { rows: 1, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None })
    }

    fn columns<'c>(&'c self, input: &FetchInput<'c>, errors: &'c Errors) -> Columns<'c> {
        Columns {
            is_fault: |_| false,
            schema: &self.contents.schema,
            ids: &self.ids,
            output: input.output,
            keys: &self.text.keys,
            errors,
        }
    }

    async fn answer(&self, input: &FetchInput<'_>) -> Result<FetchResult, SourceError> {
        let rows = input.parent_keys.map_or(1, |keys| keys.first().map_or(0, |it| it.len()));
        let keys_max = if self.link.server.remote.is_some() { REMOTE_KEYS_MAX } else { KEYS_MAX };
        let chunk = |number: usize| number * keys_max..rows.min((number + 1) * keys_max);
        let asked = join_all((0..rows.div_ceil(keys_max)).map(|it| self.ask(input, chunk(it)))).await;
        let mut failures: Vec<Option<SourceError>> = asked.iter().map(|_| None).collect();
        let served = asked.into_iter().zip(&mut failures);
        let served: Vec<Option<Served>> =
            served.map(|(served, failure)| take_failure(served, failure)).collect();
        let mut cache_control = Shortest::default();
        let reads = served.iter().flatten().filter(|_| !self.is_change());
        reads.for_each(|it| cache_control.add(self.link.keeper.ttl(it, input)));
        let tapes = served.iter().zip(&mut failures);
        let tapes =
            tapes.map(|(served, failure)| take_failure(self.read_json(served.as_ref()?, input), failure));
        let tapes: Vec<Option<Json<'_>>> = tapes.collect();
        let mut errors = Errors::default();
        let mut values = vec![Vec::with_capacity(rows); self.fields.len()];
        for (number, (json, failure)) in tapes.iter().zip(&mut failures).enumerate() {
            let data = json
                .as_ref()
                .and_then(|it| take_failure(self.read_data(it.root(), input.output, &mut errors), failure));
            for row in 0..chunk(number).len() {
                for (at, column) in values.iter_mut().enumerate() {
                    let below = &self.text.members[at].below;
                    let value = data.and_then(|it| it.get(&root_key(at, row)));
                    column.push(below.iter().fold(value, |value, name| value?.get(name)));
                }
            }
        }
        if failures.iter().all(Option::is_some)
            && let Some(first) = failures.iter_mut().find_map(Option::take)
        {
            return Err(first);
        }
        let made = self.columns(input, &errors);
        let columns = self.fields.iter().zip(&values).map(|(field, values)| made.member(*field, values));
        let mut columns: Vec<Column> = columns.collect();
        for (number, failure) in failures.iter().enumerate() {
            let Some(failure) = failure else { continue };
            failure.tell_operator();
            let error = failure.for_client();
            for column in &mut columns {
                let failed = chunk(number).map(|row| CellError { row: row as u32, error: error.clone() });
                column.errors.extend(failed);
            }
        }
        columns.iter_mut().for_each(|it| it.errors.sort_by_key(|it| it.row));
        let table = Table { rows: rows as u32, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: cache_control.0 })
    }
}

/// Moves an error to `failure`.
fn take_failure<T>(of: Result<T, SourceError>, failure: &mut Option<SourceError>) -> Option<T> {
    of.map_err(|error| *failure = Some(error)).ok()
}

/// The JSON of an answer. A GraphQL server may report errors under any status. A body that is not JSON comes from a proxy.
fn json<'s>(served: &'s Served, called: CallLabel<'_>) -> Result<Json<'s>, SourceError> {
    let entry = &served.entry;
    let error = match (&entry.body, entry.status) {
        (Body::Json(tape), status) if status < 500 || tape.json().root().is_object() => {
            return Ok(tape.json());
        }
        (_, 429) => SourceError::Busy,
        (_, status @ 500..) => SourceError::Unavailable(format!("status {status}").into()),
        _ => unreadable(),
    };
    called.bad_answer(entry, error.code());
    Err(error)
}

/// Response key of the member at `at` for key `row`.
fn root_key(at: usize, row: usize) -> String {
    format!("r{at}_{row}")
}

fn insert_row_number(text: &str, row: usize) -> String {
    text.replace(NUMBER, itoa::Buffer::new().format(row))
}

/// Returns `data` of an answer, and records its errors at their paths.
fn note_errors<'t>(answer: JsonRef<'t>, errors: &mut Errors) -> Result<JsonRef<'t>, SourceError> {
    let data = answer.get("data").filter(|it| it.is_object());
    let nothing = [];
    let listed = answer.get("errors").map(|it| it.items().collect::<Vec<_>>());
    for error in listed.as_deref().unwrap_or(&nothing) {
        let words = error.get("message").and_then(JsonRef::as_str).unwrap_or_default();
        let told = client_error("SOURCE_REFUSED", &words);
        let has_place = match (data, error.get("path")) {
            (Some(data), Some(path)) => errors.note(data, path, told.clone()),
            (Some(_), None) => false,
            (None, _) => {
                tracing::warn!(%words, "a GraphQL server refused an operation");
                return Err(SourceError::Rejected { error: told, field: None });
            }
        };
        if !has_place {
            tracing::warn!(%words, "a GraphQL server reports an error that explains no null");
        }
    }
    data.ok_or_else(|| {
        tracing::warn!("a GraphQL server's answer has neither data nor errors");
        unreadable()
    })
}

/// Collects the cookies of a remote schema's answer, which are passed on to the client.
fn note_cookies(answer: &Answer, cookies: &Mutex<Vec<HeaderValue>>) {
    let mut cookies = cookies.lock().unwrap_or_else(PoisonError::into_inner);
    cookies.extend(answer.headers.get_all(SET_COOKIE).iter().cloned());
}

impl PreparedFetch for ForwardedFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            match self.kind {
                OperationKind::Query | OperationKind::Mutation => self.answer(&input).await,
                OperationKind::Subscription => self.answer_event(&input),
            }
        })
    }

    fn events(&self, input: FetchInput<'_>) -> Option<Result<EventStream, FieldError>> {
        (self.kind == OperationKind::Subscription).then(|| self.open_events(&input))
    }

    fn touches(&self) -> &[Tag] {
        &self.touches
    }

    fn reads_headers(&self) -> &[Box<str>] {
        self.link.keeper.reads_headers()
    }

    fn reads_claims(&self) -> &[Box<str>] {
        self.link.keeper.reads_claims()
    }

    fn reads_all_headers(&self) -> bool {
        self.link.server.remote.as_ref().is_some_and(|it| it.forwards_client)
    }

    fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.reads_all_headers() || self.link.keeper.is_personal(headers)
    }

    fn has_lifetime(&self) -> bool {
        !self.is_change() && self.link.keeper.may_share()
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        let _ = writeln!(out, "POST {}", self.link.path);
        out.push_str(&self.operation(1));
        out.push('\n');
    }
}
