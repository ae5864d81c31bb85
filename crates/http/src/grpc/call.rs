//! A piece of a gRPC source: a call for each root field, or for each key of a level.

use super::model::{Method, Model};
use super::{Link, frame, status};
use crate::shaped::arguments::Arguments;
use crate::shaped::columns::{Columns, Errors, Keys};
use crate::shaped::{failed, no_answer};
use futures_util::future::join_all;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, HeaderName};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, SerializeOptions};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::plan::shape::{Member, SetId, ShapeArgument};
use weir_engine::rows::{CellError, Table};
use weir_engine::source::{
    BoxFuture, Fetch, FetchInput, FieldError, Ids, Piece, Reply, ReplyBody, SourceError, Tag,
};
use weir_language::ast::OperationKind;
use weir_language::json::Json;

/// How deep an answer may nest.
const DEPTH_MAX: u32 = 200;

/// Until when the server has to answer, as it is told.
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// How answers are written: all that cannot be missing, 64 bits as numbers.
const AS_JSON: SerializeOptions =
    SerializeOptions::new().skip_default_fields(false).stringify_64_bit_integers(false);

/// A prepared piece.
pub(super) struct Calls {
    model: Arc<Model>,
    link: Arc<Link>,
    ids: Arc<Ids>,
    kind: OperationKind,
    fields: Vec<Asked>,
    keys: Keys,
}

/// A member of the piece.
struct Asked {
    /// Its place in the shape.
    place: u32,
    /// The method's name in [`Model::methods`]; `None` if it repeats an earlier member.
    method: Option<Box<str>>,
    arguments: Vec<ShapeArgument>,
}

impl Calls {
    pub(super) fn new(model: Arc<Model>, link: Arc<Link>, piece: &Piece<'_>) -> Self {
        let mut keys = Keys::default();
        let fields = piece.fields.iter().map(|&place| {
            let of = &piece.shape.fields[place as usize];
            let field = piece.schema.field(of.field);
            let own = piece.shape.arguments(of).iter().copied();
            // Those of directives follow the field's own.
            let arguments = own.filter(|it| field.arguments.range().contains(&it.input.index())).collect();
            let method = of.same_as.is_none().then(|| piece.schema.str(field.name).into());
            if let Member::Object(set) = of.member {
                name_members(piece, set, &mut keys);
            }
            Asked { place, method, arguments }
        });
        let fields = fields.collect();
        Self { model, link, ids: Arc::clone(piece.ids), kind: piece.kind, fields, keys }
    }

    fn method(&self, asked: &Asked) -> Option<&Method> {
        self.model.methods.get(asked.method.as_ref()?)
    }

    /// Calls the method of `asked` with the key of `row`; what comes is its message as JSON.
    async fn call(&self, asked: &Asked, input: &FetchInput<'_>, row: usize) -> Result<Vec<u8>, FieldError> {
        let Some(method) = self.method(asked) else { return Ok(b"null".to_vec()) };
        let message = self.request(method, asked, input, row)?;
        let left =
            input.deadline.saturating_duration_since(Instant::now()).min(self.link.server.policy.timeout);
        let timeout = HeaderValue::from_str(&format!("{}m", left.as_millis().clamp(1, 99_999_999)));
        let own = [
            (CONTENT_TYPE, HeaderValue::from_static("application/grpc")),
            (TIMEOUT, timeout.unwrap_or(HeaderValue::from_static("1m"))),
        ];
        let mut ask = self.link.server.post(method.path.clone(), frame::wrap(&message), &own, Some(input));
        ask.idempotent = method.kind == OperationKind::Query;
        let answer = self.link.upstream.call(&ask).await.map_err(|error| {
            tracing::warn!(%error, method = %method.path, "a gRPC server did not answer");
            no_answer(error).for_client()
        })?;
        status::check(&answer)?;
        if method.is_silent() {
            return Ok(b"true".to_vec());
        }
        let unreadable = || failed("SOURCE_ANSWER", "The source's answer cannot be read.");
        let bytes = frame::unwrap(&answer.body).ok_or_else(unreadable)?;
        let message = DynamicMessage::decode(method.output.clone(), bytes).map_err(|_| unreadable())?;
        let mut json = serde_json::Serializer::new(Vec::new());
        message.serialize_with_options(&mut json, &AS_JSON).map_err(|_| unreadable())?;
        Ok(json.into_inner())
    }

    /// The arguments as the method's message.
    fn request(
        &self,
        method: &Method,
        asked: &Asked,
        input: &FetchInput<'_>,
        row: usize,
    ) -> Result<Vec<u8>, FieldError> {
        let schema = &*self.model.schema;
        let values = Arguments { schema, ids: &self.ids, input, row };
        let mut json = b"{".to_vec();
        for argument in &asked.arguments {
            let before = json.len();
            json.extend_from_slice(
                format!("\"{}\":", schema.input_name(self.ids.input(argument.input))).as_bytes(),
            );
            match values.write(*argument, &mut json) {
                true => json.push(b','),
                false => json.truncate(before),
            }
        }
        if json.last() == Some(&b',') {
            json.pop();
        }
        json.push(b'}');
        let mut reader = serde_json::Deserializer::from_slice(&json);
        let message = DynamicMessage::deserialize(method.input.clone(), &mut reader);
        let unfit = |error: serde_json::Error| {
            tracing::debug!(%error, "arguments do not fit a message");
            failed("BAD_USER_INPUT", "An argument does not fit what the source takes.")
        };
        Ok(message.map_err(unfit)?.encode_to_vec())
    }

    async fn answer(&self, input: &FetchInput<'_>) -> Result<Reply, SourceError> {
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
        let table = Table { rows: rows as u32, columns, hidden: Vec::new() };
        Ok(Reply { body: ReplyBody::Rows(table), errors: Vec::new(), freshness: None })
    }

    /// The column of a member, an answer each row.
    fn column(
        &self,
        asked: &Asked,
        input: &FetchInput<'_>,
        answers: &[Result<Vec<u8>, FieldError>],
    ) -> weir_engine::rows::Column {
        let mut tapes = Vec::with_capacity(answers.len());
        for answer in answers {
            tapes.push(match answer {
                Ok(bytes) => Json::parse(bytes, DEPTH_MAX)
                    .map_err(|_| failed("SOURCE_ANSWER", "The source's answer cannot be read.")),
                Err(error) => Err(error.clone()),
            });
        }
        let values: Vec<_> = tapes.iter().map(|it| it.as_ref().ok().map(Json::root)).collect();
        let (schema, errors) = (&*self.model.schema, Errors::default());
        let made = Columns { schema, ids: &self.ids, shape: input.shape, keys: &self.keys, errors: &errors };
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

/// Members stand in answers under their own names.
fn name_members(piece: &Piece<'_>, set: SetId, keys: &mut Keys) {
    for place in piece.shape.set(set).range() {
        let of = &piece.shape.fields[place];
        match of.member {
            Member::Object(below) => name_members(piece, below, keys),
            Member::Leaf => {}
            Member::Abstract(_) | Member::Constant { .. } | Member::Foreign { .. } => continue,
        }
        if of.same_as.is_none() {
            keys.members.insert(place as u32, piece.schema.field_name(of.field).into());
        }
    }
    let hidden = piece.shape.set(set).hidden.iter();
    keys.hidden.insert(set, hidden.map(|field| piece.schema.field_name(*field).into()).collect());
}

impl Fetch for Calls {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        Box::pin(async move { self.answer(&input).await })
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn reads_headers(&self) -> &[Box<str>] {
        &self.link.reads_headers
    }

    fn explain(&self, out: &mut String) {
        for method in self.fields.iter().filter_map(|it| self.method(it)) {
            let _ = writeln!(out, "gRPC {}", method.path);
        }
    }
}
