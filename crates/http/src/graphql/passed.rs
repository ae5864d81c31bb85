//! A piece passed on: one operation for all root fields, or for up to fifty keys of a level.

use super::Link;
use super::text::{NUMBER, Text};
use crate::shaped::arguments::{self, Arguments};
use crate::shaped::columns::{Columns, Errors};
use crate::shaped::{failed, no_answer, unreadable};
use bytes::Bytes;
use futures_util::future::join_all;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::rows::Table;
use weir_engine::source::{BoxFuture, Fetch, FetchInput, Ids, Piece, Reply, ReplyBody, SourceError, Tag};
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonRef};
use weir_language::schema::Schema;

/// How many keys one operation asks for: servers bound the root fields of an operation, Weir itself at 50.
const KEYS_MAX: usize = 50;

/// How deep an answer may nest: deeper than a selection is.
pub(super) const DEPTH_MAX: u32 = 200;

/// What every call says about its body.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 2] = [
    (CONTENT_TYPE, HeaderValue::from_static("application/json")),
    (ACCEPT, HeaderValue::from_static("application/graphql-response+json, application/json")),
];

/// A prepared piece.
pub(super) struct Passed {
    /// The source's own.
    schema: Arc<Schema>,
    link: Arc<Link>,
    ids: Arc<Ids>,
    kind: OperationKind,
    fields: Vec<u32>,
    text: Text,
    /// Of a piece without keys: the operation, as a JSON string.
    whole: Vec<u8>,
}

/// What one operation brought.
struct Answered {
    body: Bytes,
    /// How many keys it was asked for.
    keys: usize,
}

impl Passed {
    pub(super) fn new(schema: Arc<Schema>, link: Arc<Link>, piece: &Piece<'_>) -> Self {
        let text = Text::of(piece, &schema, &link.server.prefix);
        let mut passed = Self {
            schema,
            link,
            ids: Arc::clone(piece.ids),
            kind: piece.kind,
            fields: piece.fields.to_vec(),
            text,
            whole: Vec::new(),
        };
        if piece.parent_keys.is_none() {
            arguments::text(&passed.operation(1), &mut passed.whole);
        }
        passed
    }

    /// The operation that asks for so many keys. They are numbered from 0 in each, so that the server sees few texts.
    fn operation(&self, keys: usize) -> String {
        let mut out = String::from(if self.kind == OperationKind::Mutation { "mutation" } else { "query" });
        let mut between = '(';
        for variable in &self.text.variables {
            let times = if variable.is_keyed() { keys } else { 1 };
            for row in 0..times {
                let _ = write!(out, "{between}${}:{}", numbered(&variable.name, row), variable.ty);
                between = ',';
            }
        }
        out.push_str(if between == ',' { "){" } else { "{" });
        for row in 0..keys {
            for (at, member) in self.text.members.iter().enumerate().filter(|it| !it.1.is_empty()) {
                let _ = write!(out, " {}:{}", root_key(at, row), numbered(member, row));
            }
        }
        out.push('}');
        out
    }

    /// The body of a call for `rows` of the keys.
    fn body(&self, input: &FetchInput<'_>, rows: std::ops::Range<usize>) -> Vec<u8> {
        let mut out = b"{\"query\":".to_vec();
        match self.whole.is_empty() {
            true => arguments::text(&self.operation(rows.len()), &mut out),
            false => out.extend_from_slice(&self.whole),
        }
        out.extend_from_slice(b",\"variables\":{");
        for variable in &self.text.variables {
            let times = if variable.is_keyed() { rows.len() } else { 1 };
            for row in 0..times {
                let before = out.len();
                arguments::text(&numbered(&variable.name, row), &mut out);
                out.push(b':');
                let values = Arguments { schema: &self.schema, ids: &self.ids, input, row: rows.start + row };
                match values.write(variable.argument, &mut out) {
                    true => out.push(b','),
                    false => out.truncate(before),
                }
            }
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.extend_from_slice(b"}}");
        out
    }

    async fn ask(
        &self,
        input: &FetchInput<'_>,
        rows: std::ops::Range<usize>,
    ) -> Result<Answered, SourceError> {
        let keys = rows.len();
        let mut ask =
            self.link.server.post(self.link.path.clone(), self.body(input, rows), &HEADERS, Some(input));
        ask.idempotent = self.kind != OperationKind::Mutation;
        let answer = self.link.upstream.call(&ask).await.map_err(no_answer)?;
        // A GraphQL server may say what is wrong under any status; what is no JSON is the business of others on the way.
        match answer.status.is_server_error() && !answer.body.starts_with(b"{") {
            true => Err(SourceError::Unavailable(format!("status {}", answer.status.as_u16()).into())),
            false => Ok(Answered { body: answer.body, keys }),
        }
    }

    async fn answer(&self, input: &FetchInput<'_>) -> Result<Reply, SourceError> {
        let rows = input.parent_keys.map_or(1, |keys| keys.first().map_or(0, |it| it.len()));
        let calls = (0..rows).step_by(KEYS_MAX).map(|at| self.ask(input, at..rows.min(at + KEYS_MAX)));
        let answers: Vec<Answered> = join_all(calls).await.into_iter().collect::<Result<_, _>>()?;
        let tapes =
            answers.iter().map(|it| Json::parse(&it.body, DEPTH_MAX).map_err(|error| unreadable(&error)));
        let tapes: Vec<Json<'_>> = tapes.collect::<Result<_, _>>()?;
        let mut errors = Errors::default();
        let mut values = vec![Vec::with_capacity(rows); self.fields.len()];
        for (json, answered) in tapes.iter().zip(&answers) {
            let data = note_errors(json.root(), &mut errors)?;
            for row in 0..answered.keys {
                for (at, column) in values.iter_mut().enumerate() {
                    column.push(data.get(&root_key(at, row)));
                }
            }
        }
        let made = Columns {
            schema: &self.schema,
            ids: &self.ids,
            shape: input.shape,
            keys: &self.text.keys,
            errors: &errors,
        };
        let columns = self.fields.iter().zip(&values).map(|(field, values)| made.member(*field, values));
        let table = Table { rows: rows as u32, columns: columns.collect(), hidden: Vec::new() };
        Ok(Reply { body: ReplyBody::Rows(table), errors: Vec::new(), freshness: None })
    }
}

/// Under what a member of the piece stands in an answer.
fn root_key(at: usize, row: usize) -> String {
    format!("r{at}_{row}")
}

fn numbered(text: &str, row: usize) -> String {
    text.replace(NUMBER, itoa::Buffer::new().format(row))
}

/// `data` of an answer, and its errors where they stand.
fn note_errors<'t>(answer: JsonRef<'t>, errors: &mut Errors) -> Result<JsonRef<'t>, SourceError> {
    let data = answer.get("data").filter(|it| it.is_object());
    let nothing = [];
    let listed = answer.get("errors").map(|it| it.items().collect::<Vec<_>>());
    for error in listed.as_deref().unwrap_or(&nothing) {
        let words = error.get("message").and_then(JsonRef::as_str).unwrap_or_default();
        let told = failed("SOURCE_REFUSED", &words);
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
    data.ok_or_else(|| unreadable(&"it has neither data nor errors"))
}

impl Fetch for Passed {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        Box::pin(async move { self.answer(&input).await })
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn reads_headers(&self) -> &[Box<str>] {
        self.link.reads_headers()
    }

    fn explain(&self, out: &mut String) {
        let _ = writeln!(out, "POST {}", self.link.path);
        out.push_str(&self.operation(1));
        out.push('\n');
    }
}
