//! A plan node of a gRPC source: a call for each root field, or for each key of a level.

use super::grpc_schema::{GrpcMethod, Model, is_one_value};
use super::{GrpcLink, frame, grpc_answer, message};
use crate::cache::Served;
use crate::caching::ttl::Shortest;
use crate::call::answer_rules::place;
use crate::call::{Ask, milliseconds_left};
use crate::error_report::CallLabel;
use crate::passthrough::answer_columns::{Columns, Errors, ResponseKeys};
use crate::passthrough::argument_json::Arguments;
use crate::passthrough::{client_error, no_answer};
use bytes::Bytes;
use futures_util::future::join_all;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, HeaderName};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor};
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputArgument, OutputKind, SelectionSetId};
use weir_engine::rows::{CellError, Table};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Headers, Ids, PlanNode,
    PreparedFetch, SourceError, Tag,
};
use weir_language::ast::OperationKind;
use weir_language::json::Json;

/// Header with the deadline for the server.
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// Header with the compressions that we accept.
const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// A prepared plan node.
pub(super) struct Calls {
    model: Arc<Model>,
    link: Arc<GrpcLink>,
    ids: Arc<Ids>,
    kind: OperationKind,
    fields: Vec<MethodCall>,
    keys: ResponseKeys,
    /// Tags that invalidate the answers.
    touches: Vec<Tag>,
}

/// A member of the node.
struct MethodCall {
    /// Position in the output plan.
    place: u32,
    /// The method's name in [`Model::methods`]; `None` if it repeats an earlier member.
    method: Option<Box<str>>,
    arguments: Vec<OutputArgument>,
}

impl Calls {
    pub(super) fn new(model: Arc<Model>, link: Arc<GrpcLink>, node: &PlanNode<'_>) -> Self {
        let mut keys = ResponseKeys::default();
        let fields = node.fields.iter().map(|&place| {
            let output_field = &node.output.fields[place as usize];
            let field = node.schema.field(output_field.field);
            let own = node.output.arguments(output_field).iter().copied();
            // Arguments of directives follow those of the field and are skipped here.
            let arguments = own.filter(|it| field.arguments.range().contains(&it.input.index())).collect();
            let method = output_field.same_as.is_none().then(|| node.schema.str(field.name).into());
            if let OutputKind::Object(set) = output_field.member {
                name_members(node, set, &mut keys);
            }
            MethodCall { place, method, arguments }
        });
        let fields = fields.collect();
        // Each call reports its changes once its result is known.
        let is_change = node.kind == OperationKind::Mutation;
        let touches = if is_change { Vec::new() } else { link.keeper.tags(node) };
        Self { model, link, ids: Arc::clone(node.ids), kind: node.kind, fields, keys, touches }
    }

    fn method(&self, asked: &MethodCall) -> Option<&GrpcMethod> {
        self.model.methods.get(asked.method.as_ref()?)
    }

    /// Calls the method of `asked` with the key of `row`. Returns the message as JSON; `None` for a repeated member.
    async fn call(
        &self,
        asked: &MethodCall,
        input: &FetchInput<'_>,
        row: usize,
    ) -> Result<Option<Served>, FieldError> {
        let Some(method) = self.method(asked) else { return Ok(None) };
        self.link.server.check_caller(input.caller)?;
        let arguments = self.arguments(method, asked, input, row);
        let message = Bytes::from(frame::wrap(&request(method, &arguments)?));
        let taker = self.link.upstream.answer_taker();
        let call = || {
            let taker = taker.clone();
            let link = Arc::clone(&self.link);
            let output = method.output.clone();
            let ask = self.ask(method, message, input);
            async move {
                let bytes_max = link.server.policy.body_bytes_max;
                let answer = link.counts.count(link.upstream.call(&ask)).await?;
                taker.iter().for_each(|it| it.take(&answer));
                Ok(grpc_answer::read(answer, output, bytes_max))
            }
        };
        let keeper = &self.link.keeper;
        let path = method.path.as_str().as_bytes();
        let served = match method.kind {
            OperationKind::Query | OperationKind::Subscription => {
                keeper.get(&[path, &arguments], &self.touches, input, call).await
            }
            OperationKind::Mutation => keeper.change(input, call).await,
        };
        if let Some(taker) = taker.filter(|_| served.as_ref().is_ok_and(|it| it.outcome.is_own_call())) {
            taker.note(input.headers.notes(), place(asked.place, row));
        }
        let called = CallLabel { shown: method.path.as_str(), headers: input.headers };
        let served = served.map_err(|failure| no_answer(called, failure).for_client())?;
        Ok(Some(served))
    }

    fn ask(&self, method: &GrpcMethod, message: Bytes, input: &FetchInput<'_>) -> Ask {
        let left_ms = milliseconds_left(input.deadline, self.link.server.policy.timeout);
        let timeout = HeaderValue::from_str(&format!("{}m", left_ms.min(99_999_999)));
        let own = [
            (ACCEPT_ENCODING, HeaderValue::from_static("identity,gzip")),
            (CONTENT_TYPE, HeaderValue::from_static("application/grpc")),
            (TIMEOUT, timeout.unwrap_or(HeaderValue::from_static("1m"))),
        ];
        let ask = self.link.server.post(method.path.clone(), message, &own, Some(input));
        Ask { idempotent: method.kind == OperationKind::Query, ..ask }
    }

    /// Arguments as JSON: an object, or the single value that the method takes; null if it is absent.
    fn arguments(
        &self,
        method: &GrpcMethod,
        asked: &MethodCall,
        input: &FetchInput<'_>,
        row: usize,
    ) -> Vec<u8> {
        let schema = &*self.model.schema;
        let values = Arguments { schema, ids: &self.ids, input, row };
        if method.takes_value() {
            let mut json = Vec::new();
            let is_given = asked.arguments.first().is_some_and(|it| values.write(*it, &mut json));
            return if is_given { json } else { NULL.to_vec() };
        }
        let mut json = b"{".to_vec();
        for argument in &asked.arguments {
            let before = json.len();
            json.extend_from_slice(
                format!("\"{}\":", schema.input_name(self.ids.input(argument.input))).as_bytes(),
            );
            if values.write(*argument, &mut json) { json.push(b',') } else { json.truncate(before) }
        }
        if json.last() == Some(&b',') {
            json.pop();
        }
        json.push(b'}');
        json
    }

    async fn answer(&self, input: &FetchInput<'_>) -> Result<FetchResult, SourceError> {
        let rows = input.parent_keys.map_or(1, |keys| keys.first().map_or(0, |it| it.len()));
        let mut columns = Vec::with_capacity(self.fields.len());
        let calls = self
            .fields
            .iter()
            .map(|asked| async move { join_all((0..rows).map(|row| self.call(asked, input, row))).await });
        let answers = match self.kind {
            OperationKind::Query | OperationKind::Subscription => join_all(calls).await,
            OperationKind::Mutation => {
                let mut answers = Vec::new();
                for call in calls {
                    answers.push(call.await);
                }
                answers
            }
        };
        for (asked, answers) in self.fields.iter().zip(&answers) {
            columns.push(self.column(asked, input, answers));
        }
        let mut cache_control = Shortest::default();
        let is_change = self.kind == OperationKind::Mutation;
        let served = answers.iter().flatten().filter_map(|it| it.as_ref().ok()).flatten();
        served.filter(|_| !is_change).for_each(|it| cache_control.add(self.link.keeper.ttl(it, input)));
        let table = Table { rows: rows as u32, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: cache_control.0 })
    }

    /// Column of a member, with one answer per row.
    fn column(
        &self,
        asked: &MethodCall,
        input: &FetchInput<'_>,
        answers: &[Result<Option<Served>, FieldError>],
    ) -> weir_engine::rows::Column {
        let called = CallLabel { shown: &self.link.server.name, headers: input.headers };
        let jsons = answers.iter().map(|it| match it {
            Ok(Some(served)) => {
                let json = grpc_answer::json(&served.entry).map(Some);
                json.inspect_err(|error| match grpc_answer::reason(&served.entry) {
                    Some(reason) => called.bad_answer_for(&served.entry, error.code, Some(&reason)),
                    None => called.bad_answer(&served.entry, error.code),
                })
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error.clone()),
        });
        let tapes: Vec<_> = jsons.collect();
        let values: Vec<_> =
            tapes.iter().map(|it| it.as_ref().ok().and_then(Option::as_ref).map(Json::root)).collect();
        let schema = &*self.model.schema;
        let errors = Errors::default();
        let made = Columns {
            schema,
            ids: &self.ids,
            output: input.output,
            keys: &self.keys,
            errors: &errors,
            is_fault: message::is_fault,
        };
        let mut column = made.member(asked.place, &values);
        for (row, tape) in tapes.iter().enumerate() {
            if let Err(error) = tape {
                column.errors.push(CellError { row: row as u32, error: error.clone() });
            }
        }
        column.errors.sort_by_key(|it| it.row);
        column
    }
}

/// The JSON text `null`.
const NULL: &[u8] = b"null";

/// Removes fields whose value is an empty `Any`, which protobuf cannot encode; true if `value` itself is one. Recursion is bounded by the
/// JSON's nesting.
fn leave_out_empty_any(value: &mut serde_json::Value, message: &MessageDescriptor) -> bool {
    if message.full_name() == "google.protobuf.Any" {
        return value.as_object().is_some_and(serde_json::Map::is_empty);
    }
    let Some(members) = value.as_object_mut().filter(|_| !is_one_value(message.full_name())) else {
        return false;
    };
    members.retain(|name, value| {
        let field = message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
        match field.filter(|it| !it.is_map()).map(|it| it.kind()) {
            Some(Kind::Message(inner)) => match value.as_array_mut() {
                Some(items) => {
                    items.iter_mut().for_each(|it| {
                        leave_out_empty_any(it, &inner);
                    });
                    true
                }
                None => !leave_out_empty_any(value, &inner),
            },
            _ => true,
        }
    });
    false
}

/// Encodes the arguments as the request message. Null is a value only for one type; otherwise it means the empty message.
fn request(method: &GrpcMethod, json: &[u8]) -> Result<Vec<u8>, FieldError> {
    if json == NULL && method.input.full_name() != "google.protobuf.Value" {
        return Ok(Vec::new());
    }
    let message = serde_json::from_slice(json).and_then(|mut value| {
        if leave_out_empty_any(&mut value, &method.input) {
            return Ok(DynamicMessage::new(method.input.clone()));
        }
        DynamicMessage::deserialize(method.input.clone(), value)
    });
    let unfit = |error: serde_json::Error| {
        tracing::debug!(%error, "arguments do not fit a message");
        client_error("BAD_USER_INPUT", "An argument does not fit what the source takes.")
    };
    Ok(message.map_err(unfit)?.encode_to_vec())
}

/// Maps each member to its key in the answer, which is its field name.
fn name_members(node: &PlanNode<'_>, set: SelectionSetId, keys: &mut ResponseKeys) {
    for place in node.output.set(set).range() {
        let output_field = &node.output.fields[place];
        match output_field.member {
            OutputKind::Object(below) => name_members(node, below, keys),
            OutputKind::Leaf => {}
            OutputKind::Abstract(_) | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => continue,
        }
        if output_field.same_as.is_none() {
            keys.members.insert(place as u32, node.schema.field_name(output_field.field).into());
        }
    }
    let hidden = node.output.set(set).hidden.iter();
    keys.hidden.insert(set, hidden.map(|field| node.schema.field_name(*field).into()).collect());
}

impl PreparedFetch for Calls {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move { self.answer(&input).await })
    }

    fn touches(&self) -> &[Tag] {
        &self.touches
    }

    /// gRPC has no marker for methods without side effects.
    fn may_change_data(&self) -> bool {
        true
    }

    fn reads_headers(&self) -> &[Box<str>] {
        self.link.keeper.reads_headers()
    }

    fn reads_claims(&self) -> &[Box<str>] {
        self.link.keeper.reads_claims()
    }

    fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.link.keeper.is_personal(headers)
    }

    fn has_lifetime(&self) -> bool {
        self.kind != OperationKind::Mutation && self.link.keeper.may_share()
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        for method in self.fields.iter().filter_map(|it| self.method(it)) {
            let _ = writeln!(out, "gRPC {}", method.path);
        }
    }
}
