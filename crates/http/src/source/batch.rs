//! Entities by their keys: each is kept by itself, and those that are not there are asked for together.
//!
//! **Invariant:** an item of the answer belongs to a key if the fields that the key names are the same bytes in both; what
//! has no item does not exist.

use super::fetch::{Call, Outcome, inputs};
use super::{Shared, ask, told};
use crate::cache::{AskMany, Batch, Key, Tape, Wanted};
use crate::call::{Answer, CallError, Cause};
use crate::project::row_key;
use crate::sdl::ConnectorId;
use crate::template::Rendered;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::plan::shape::Shape;
use weir_engine::rows::{Column, Data, Texts};
use weir_engine::source::{Caller, FetchInput, Headers, Ids};
use weir_language::value::Variables;

/// Asks for all keys of `input`.
pub(super) async fn ask(
    shared: &Arc<Shared>,
    ids: &Arc<Ids>,
    call: &Call,
    input: FetchInput<'_>,
    batch_max: usize,
) -> Vec<Outcome> {
    let columns = input.parent_keys.unwrap_or_default();
    let rows = columns.first().map_or(0, Column::len);
    let line = shared.line(call.connector);
    let mut prefix = Key::default();
    prefix.begin(&line.fingerprint);
    for name in &line.reads_headers {
        ask::push_header(input.headers, name, &mut prefix);
    }
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows));
    for row in 0..rows {
        // Keys below the root are never null.
        let _ = row_key(columns, row, &mut bytes);
        ends.push(bytes.len());
    }
    let starts = std::iter::once(&0).chain(&ends);
    let keys: Vec<&[u8]> = starts.zip(&ends).map(|(&start, &end)| &bytes[start..end]).collect();
    let rule = line.rule_for(input.headers);
    let wanted = Wanted { key: &prefix, rule, tags: &line.tags, deadline: input.deadline };
    let asking = || -> Arc<dyn AskMany> {
        let mut headers = Owned(Vec::new());
        for name in &line.reads_headers {
            input.headers.each(name, &mut |value| headers.0.push((name.clone(), value.into())));
        }
        Arc::new(Asking {
            shared: Arc::clone(shared),
            ids: Arc::clone(ids),
            connector: call.connector,
            member: call.member,
            shape: Arc::clone(input.shape),
            variables: Arc::clone(input.variables),
            keys: columns.to_vec(),
            headers,
            deadline: input.deadline,
            batch_max,
        })
    };
    let served = shared.cache.get_many(wanted, &keys, asking).await;
    served.into_iter().map(|it| it.map_err(|failure| told::no_answer(line, &failure))).collect()
}

/// Headers for as long as a batch may take.
struct Owned(Vec<(Box<str>, Box<[u8]>)>);

impl Headers for Owned {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.iter().filter(|it| &*it.0 == name).for_each(|it| take(&it.1));
    }
}

/// What batches of one piece are made of: all that is borrowed elsewhere, as one may outlive its request.
struct Asking {
    shared: Arc<Shared>,
    ids: Arc<Ids>,
    connector: ConnectorId,
    member: u32,
    shape: Arc<Shape>,
    variables: Arc<Variables>,
    keys: Vec<Column>,
    headers: Owned,
    deadline: Instant,
    batch_max: usize,
}

impl AskMany for Asking {
    fn batch_max(&self) -> usize {
        self.batch_max
    }

    fn ask(&self, places: &[u32]) -> BoxFuture<'static, Result<Batch, CallError>> {
        let keys: Vec<Column> = self.keys.iter().map(|it| take(it, places)).collect();
        let input = FetchInput {
            shape: &self.shape,
            variables: &self.variables,
            caller: &Caller::Admin,
            parent_keys: Some(&keys),
            headers: &self.headers,
            deadline: self.deadline,
            hold_back_bytes: 0,
        };
        let (shared, id) = (Arc::clone(&self.shared), self.connector);
        let mut rendered = Rendered::default();
        let inputs = inputs(&shared, &self.ids, id, self.member, input, 0..places.len());
        if let Err(error) = shared.connector(id).request.render(&inputs, &mut rendered) {
            let error = CallError::Unavailable(Cause::Connection, error.to_string().into());
            return Box::pin(std::future::ready(Err(error)));
        }
        let call = ask::call(&shared, id, &rendered, self.deadline);
        Box::pin(async move { taken_apart(&shared, id, &keys, call.await?) })
    }
}

/// The rows of keys by their bytes.
fn places_of(keys: &[Column]) -> HashMap<Vec<u8>, usize> {
    let rows = keys.first().map_or(0, Column::len);
    let key = |row| {
        let mut key = Vec::new();
        row_key(keys, row, &mut key).then_some((key, row))
    };
    (0..rows).filter_map(key).collect()
}

/// Finds the items of the keys in an answer; in one that is no success there are none.
fn taken_apart(
    shared: &Shared,
    id: ConnectorId,
    keys: &[Column],
    answer: Answer,
) -> Result<Batch, CallError> {
    let rows = keys.first().map_or(0, Column::len);
    let mut values = vec![None; rows];
    let read = Tape::parse(answer.body.clone(), shared.line(id).rule.depth_max);
    let (Ok(tape), true) = (read, answer.status.is_success()) else {
        // A success that cannot be read is the service's failure.
        let status = if answer.status.is_success() { StatusCode::BAD_GATEWAY } else { answer.status };
        let tape = Tape::parse(Bytes::from_static(b"null"), 1);
        let tape =
            tape.map_err(|error| CallError::Unavailable(Cause::Connection, error.to_string().into()))?;
        return Ok(Batch { answer: Answer { status, ..answer }, tape, values });
    };
    if let Some(items) = &shared.connector(id).items {
        let places = places_of(keys);
        let json = tape.json();
        let mut key = Vec::new();
        for item in items.of(json.root()) {
            key.clear();
            if items.key(item, &mut key)
                && let Some(&row) = places.get(&key)
            {
                values[row] = Some(item.at);
            }
        }
    }
    Ok(Batch { answer, tape, values })
}

/// Some rows of a column of keys, which holds single leaves without nulls.
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
    Column { data, ..Column::default() }
}
