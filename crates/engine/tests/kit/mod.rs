//! A source over JSON documents for tests: answers in rows, counts what it is asked, fails on demand.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "every test that has it uses a part of it")]

pub mod flow;
pub mod rows;
pub mod silent;

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
pub use weir_engine::engine::Settings;
use weir_engine::engine::{Body, Engine, Request, Response};
use weir_engine::source::{
    AnswerForm, BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Ids, PlanError,
    PlanNode, PreparedFetch, Protocol, Source, SourceError, Tag,
};
use weir_language::json::Json;
use weir_language::schema::Schema;

/// Answer of a root field, by its name and arguments.
pub type Resolve = dyn Fn(&str, &Value) -> Result<Value, SourceError> + Send + Sync;

/// A source over JSON.
pub struct Documents {
    name: &'static str,
    schema: Arc<Schema>,
    resolve: Arc<Resolve>,
    /// Every call: `field(arguments)`, one line per member; with keys one line for all of them.
    pub log: Arc<Mutex<Vec<String>>>,
    /// Pieces prepared.
    pub prepared: Arc<AtomicUsize>,
    /// The threads that prepared them.
    pub prepared_on: Arc<Mutex<Vec<ThreadId>>>,
    /// Later items of a streamed list flow, so many at a time; `None`: all come at once.
    batch: Option<usize>,
    /// Tags of the data that is read.
    tags: Vec<Tag>,
}

impl Documents {
    pub fn new(
        name: &'static str,
        sdl: &str,
        resolve: impl Fn(&str, &Value) -> Result<Value, SourceError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            schema: Arc::new(schema(sdl)),
            resolve: Arc::new(resolve),
            log: Arc::default(),
            prepared: Arc::default(),
            prepared_on: Arc::default(),
            batch: None,
            tags: Vec::new(),
        })
    }

    /// As it is, but what is read has this tag.
    pub fn tagged(self: Arc<Self>, tag: &str) -> Arc<Self> {
        let own = Arc::into_inner(self).expect("nobody else has it");
        Arc::new(Self { tags: vec![Tag(tag.into())], ..own })
    }

    /// As it is, but later items of a streamed list flow, `batch` at a time.
    pub fn flowing(self: Arc<Self>, batch: usize) -> Arc<Self> {
        let own = Arc::into_inner(self).expect("nobody else has it");
        Arc::new(Self { batch: Some(batch), ..own })
    }

    /// Requests since the last call.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

pub fn schema(sdl: &str) -> Schema {
    Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"))
}

impl Source for Documents {
    fn name(&self) -> &str {
        self.name
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        self.prepared_on.lock().unwrap().push(std::thread::current().id());
        let refused = piece
            .fields
            .iter()
            .find(|&&field| piece.schema.field_name(piece.output.fields[field as usize].field) == "refused");
        if let Some(&field) = refused {
            let error = FieldError {
                code: "NOT_SUPPORTED",
                message: "not here".into(),
                hasura_path: None,
                extensions: None,
            };
            return Err(PlanError { error, field });
        }
        Ok(Box::new(DocumentFetch {
            schema: Arc::clone(&self.schema),
            ids: Arc::clone(piece.ids),
            fields: piece.fields.to_vec(),
            keyed: piece.parent_keys.is_some(),
            is_finished: matches!(piece.answer, AnswerForm::Any { .. }) && self.name == "finished",
            resolve: Arc::clone(&self.resolve),
            log: Arc::clone(&self.log),
            batch: self.batch,
            tags: self.tags.clone(),
        }))
    }
}

pub struct DocumentFetch {
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    fields: Vec<u32>,
    keyed: bool,
    is_finished: bool,
    resolve: Arc<Resolve>,
    log: Arc<Mutex<Vec<String>>>,
    batch: Option<usize>,
    tags: Vec<Tag>,
}

impl PreparedFetch for DocumentFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            // Once round the scheduler, so that answers do not come at once.
            tokio::task::yield_now().await;
            if let Some((first, batch)) = input.first_items.zip(self.batch) {
                let body = self.flow(&input, first as usize, batch)?;
                return Ok(FetchResult { body, errors: Vec::new(), cache_control: None });
            }
            let table = if self.keyed { self.keyed(&input)? } else { self.root(&input)? };
            if self.is_finished {
                let (finished, errors) = rows::finish(self, &input, &table);
                return Ok(FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None });
            }
            Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None })
        })
    }
    fn touches(&self) -> &[Tag] {
        &self.tags
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("documents");
    }
}

impl DocumentFetch {
    fn root(&self, input: &FetchInput<'_>) -> Result<weir_engine::rows::Rows, SourceError> {
        Ok(self.rows(input, &self.values(input)?))
    }

    /// The values of the members, at the root.
    fn values(&self, input: &FetchInput<'_>) -> Result<Vec<Value>, SourceError> {
        self.fields.iter().map(|it| self.ask(input, *it, None)).collect()
    }

    fn rows(&self, input: &FetchInput<'_>, values: &[Value]) -> weir_engine::rows::Rows {
        let columns = self.fields.iter().zip(values).map(|(&field, value)| {
            let member = input.output.fields[field as usize].member;
            rows::column(&self.schema, &self.ids, input.output, member, &[value])
        });
        weir_engine::rows::Table { rows: 1, columns: columns.collect(), hidden: Vec::new() }
    }

    /// The members, of whose last list only the `first` items are there; the others follow, `batch` at a time.
    fn flow(&self, input: &FetchInput<'_>, first: usize, batch: usize) -> Result<FetchBody, SourceError> {
        let mut values = self.values(input)?;
        let later = match values.last_mut() {
            Some(Value::Array(items)) if !items.is_empty() && items.len() >= first => {
                Some(items.split_off(first))
            }
            _ => None,
        };
        let rows = self.rows(input, &values);
        let Some(later) = later else { return Ok(FetchBody::Rows(rows)) };
        let field = *self.fields.last().expect("the list is a member");
        let of = (&*self.schema, &*self.ids, &**input.output);
        Ok(FetchBody::FirstItems(rows, flow::chunks(flow::batches(of, field, &later, batch))))
    }

    fn keyed(&self, input: &FetchInput<'_>) -> Result<weir_engine::rows::Rows, SourceError> {
        let keys = input.parent_keys.expect("keys below the root");
        let rows = rows::len(&keys[0]);
        self.log.lock().unwrap().push(format!("{rows} keys"));
        let field = self.fields[0];
        let values: Result<Vec<Value>, _> = (0..rows).map(|row| self.ask(input, field, Some(row))).collect();
        let values = values?;
        let member = input.output.fields[field as usize].member;
        let column =
            rows::column(&self.schema, &self.ids, input.output, member, &values.iter().collect::<Vec<_>>());
        Ok(weir_engine::rows::Table { rows: rows as u32, columns: vec![column], hidden: Vec::new() })
    }

    fn ask(&self, input: &FetchInput<'_>, field: u32, row: Option<usize>) -> Result<Value, SourceError> {
        let member = &input.output.fields[field as usize];
        let name = self.schema.field_name(self.ids.field(member.field)).to_owned();
        let mut arguments = json!({});
        for argument in input.output.arguments(member) {
            let name = self.schema.input_name(self.ids.input(argument.input)).to_owned();
            if let Some(value) = rows::argument(&self.schema, &self.ids, input, argument, row) {
                arguments[name] = value;
            }
        }
        self.log.lock().unwrap().push(format!("{name}{arguments}"));
        (self.resolve)(&name, &arguments)
    }
}

pub fn settings() -> Settings {
    Settings { suggestions: false, ..Settings::STANDARD }
}

pub fn engine(sources: &[Arc<Documents>], joins: &[Join]) -> Engine {
    engine_of(sources.iter().map(|it| Arc::clone(it) as Arc<dyn Source>).collect(), joins)
}

pub fn engine_of(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Engine {
    let graph = Graph::compose(sources, joins).unwrap_or_else(|errors| panic!("{errors:?}"));
    Engine::new(graph, settings())
}

pub async fn run(engine: &Engine, protocol: Protocol, query: &str, variables: &str) -> Response {
    let variables = Json::parse(variables.as_bytes(), 64).expect("variables are JSON");
    let request = Request {
        variables: Some(variables.root()),
        protocol,
        ..Request::new(query, Instant::now() + Duration::from_secs(5))
    };
    engine.execute(request, &engine.caller(&Identity::admin())).await
}

/// The plan, or why there is none.
pub fn print(engine: &Engine, query: &str, variables: &str) -> String {
    let variables = Json::parse(variables.as_bytes(), 64).expect("variables are JSON");
    let request = Request {
        variables: Some(variables.root()),
        ..Request::new(query, Instant::now() + Duration::from_secs(5))
    };
    match engine.explain(request, &engine.caller(&Identity::admin())) {
        Ok(explanation) => explanation.plan,
        Err(bytes) => String::from_utf8(bytes).expect("UTF-8"),
    }
}

/// The answer as text.
pub async fn answer(engine: &Engine, query: &str, variables: &str) -> String {
    text(run(engine, Protocol::GraphqlOverHttp, query, variables).await)
}

pub fn text(response: Response) -> String {
    match response.body {
        Body::Whole(bytes) => String::from_utf8(bytes).expect("UTF-8"),
        Body::Shared(bytes) => String::from_utf8(bytes.into()).expect("UTF-8"),
        Body::Stream { .. } | Body::Increments { .. } => panic!("nothing here is long enough to be streamed"),
    }
}
