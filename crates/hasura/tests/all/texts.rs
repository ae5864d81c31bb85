//! Statements for PostgreSQL and compatible databases, for questions about Chinook, without a server.

#![allow(unreachable_pub, reason = "a module of tests")]

use rusqlite::Connection;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_database::frontend::ApiFrontend;
use weir_engine::caller::{Facts, Identity};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchInput, FetchResult, PlanError, PlanNode, PreparedFetch, Source,
    SourceError, Tag,
};
use weir_hasura::api::generate;
use weir_hasura::api::meaning::Api;
use weir_hasura::model::{Model, ModelOptions, RelationshipNames};
use weir_language::schema::{Schema, Visibility};
use weir_language::value::{Node, Values};
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::postgres_types::{Types, oid};
use weir_relational::catalog::{Catalog, ColumnType};
use weir_relational::dialect::Floats;
use weir_relational::dialect::flavour::Flavour;
use weir_relational::dialect::postgres::Postgres;
use weir_relational::plan::write::WriteAnswer;
use weir_relational::plan::{Origin, Parameter, Plan};
use weir_relational::sql::assemble::{Arm, Assembly, Parents, assemble, assemble_alone};
use weir_relational::sql::write::{ChangeStatement, render_change};
use weir_sqlite::introspect::{SqliteOptions, read};

/// Statements of a request.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The changes of a mutation, each with what is bound after its values.
    pub changes: Vec<(ChangeStatement, Vec<String>)>,
    /// Reads, if any, and the reads below rows that changes return.
    pub reads: Vec<Read>,
    /// It is refused before anything is sent.
    pub is_refused: bool,
}

/// A reading.
#[derive(Clone, Debug)]
pub struct Read {
    /// The statement.
    pub assembly: Assembly,
    /// Bound values after the keys of parents, as text.
    pub values: Vec<String>,
    /// By arm: whether an order was asked.
    pub ordered: Vec<bool>,
}

/// Chinook as PostgreSQL's catalog would tell it.
pub fn chinook() -> Catalog {
    catalog(include_str!("../../../../examples/chinook/chinook.sql"))
}

/// The tables of `sql`, statements of SQLite, as PostgreSQL's catalog would tell them.
pub fn catalog(sql: &str) -> Catalog {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    let (mut catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
    catalog.default_schema = "public";
    for table in &mut catalog.tables {
        table.schema = "public".into();
        if let Some(key) = &mut table.primary_key {
            key.name = format!("{}_pkey", table.name);
        }
        for key in &mut table.foreign_keys {
            key.enforced = true;
        }
        for column in &mut table.columns {
            column.oid = match column.ty {
                ColumnType::Int => oid::INT4,
                ColumnType::Text => oid::VARCHAR,
                ColumnType::Numeric => oid::NUMERIC,
                ColumnType::Timestamp => oid::TIMESTAMP,
                ref other => panic!("no table of the tests has a column of type {other:?}"),
            };
        }
    }
    catalog
}

/// The API over Chinook.
pub fn api() -> Arc<Api> {
    api_over(chinook())
}

/// The API over a catalog.
pub fn api_over(catalog: Catalog) -> Arc<Api> {
    api_of(catalog, ModelOptions::default())
}

/// The API over a catalog, with short names and entries of its tables.
pub fn api_with(catalog: Catalog, tables: &[TableEntry]) -> Arc<Api> {
    api_of(
        catalog,
        ModelOptions { relationship_names: RelationshipNames::Short, tables, ..ModelOptions::default() },
    )
}

fn api_of(catalog: Catalog, options: ModelOptions<'_>) -> Arc<Api> {
    let (model, _) = Model::build(catalog, options, &mut |_| Err("none".into()));
    let (permissions, warnings) = weir_hasura::permission::build(&model, &options);
    // Keys without an entry are advice.
    assert!(warnings.iter().all(|it| it.entry.is_empty()), "{warnings:?}");
    Arc::new(generate(model, permissions).unwrap())
}

/// Plans pieces, and keeps what would be sent.
struct Texts {
    api: Arc<Api>,
    dialect: Postgres,
    sent: Arc<Mutex<Vec<Sent>>>,
}

/// Statements for `flavour` and `query`, whose arguments are all literals.
pub fn sent(api: &Arc<Api>, flavour: Flavour, query: &str) -> Sent {
    sent_as(&Identity::admin(), api, flavour, query)
}

/// The same for another caller.
pub fn sent_as(identity: &Identity, api: &Arc<Api>, flavour: Flavour, query: &str) -> Sent {
    let mut sent = all_sent(identity, api, flavour, query).unwrap_or_else(|error| panic!("{query}: {error}"));
    sent.pop().expect("a piece was planned")
}

/// The statements of each piece of a query.
/// # Errors
/// The answer to a query that is none.
pub fn all_sent(
    identity: &Identity,
    api: &Arc<Api>,
    flavour: Flavour,
    query: &str,
) -> Result<Vec<Sent>, String> {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let dialect = Postgres { flavour, types: Types::builtin(), floats: Floats::AsPostgres };
    let source: Arc<dyn Source> = Arc::new(Texts { api: Arc::clone(api), dialect, sent: Arc::clone(&sent) });
    let graph = Graph::compose(vec![source], &[]).unwrap();
    let settings = Settings { hold_back_bytes: 1 << 16, ..Settings::STANDARD };
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let engine = Engine::new(graph, settings);
    let explained = engine.explain(request, &engine.caller(identity));
    explained.map_err(|it| String::from_utf8_lossy(&it).into_owned())?;
    let mut sent = sent.lock().unwrap();
    Ok(std::mem::take(&mut *sent))
}

impl Source for Texts {
    fn name(&self) -> &str {
        "chinook"
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.api.schema
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.api.profile(identity, facts);
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        self.api.visibility(facts)
    }

    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let ask = self.api.ask(piece);
        let plan =
            weir_database::exec::plans::planning::plan(&*self.api, piece.ids, piece.output, &ask, None)?;
        let changes = plan.changes.iter().map(|change| {
            let statement = render_change(&self.dialect, &self.api.model.relations, change);
            let values = values(piece.output, &statement.parameters);
            (statement, values)
        });
        let changes = changes.collect();
        let mut reads = Vec::new();
        let read = |tops: &[u32], parents: Parents<'_>| {
            let relations = &self.api.model.relations;
            let assembly = || assemble(&self.dialect, relations, &plan, tops, parents).unwrap();
            (!tops.is_empty()).then(|| of_assembly(piece, &plan, assembly()))
        };
        match plan.first {
            Some(first) => {
                let alone = assemble_alone(&self.dialect, &self.api.model.relations, &plan, first).unwrap();
                reads.push(of_assembly(piece, &plan, alone));
                let tops = plan.levels_of(first);
                reads.extend(read(&tops, Parents::Row(&keys_of(&plan, &tops))));
            }
            None => reads.extend(read(&plan.levels_below(plan.root), Parents::None)),
        }
        for write in &plan.writes {
            let (WriteAnswer::Row(run)
            | WriteAnswer::Rows(run)
            | WriteAnswer::Response(run)
            | WriteAnswer::Responses(run)) = write.answer;
            let tops = plan.levels_below(run);
            reads.extend(read(&tops, Parents::Rows(&keys_of(&plan, &tops))));
        }
        let is_refused = !plan.unsupported.is_empty();
        self.sent.lock().unwrap().push(Sent { changes, reads, is_refused });
        Ok(Box::new(Silent))
    }
}

fn of_assembly(piece: &PlanNode<'_>, plan: &Plan, assembly: Assembly) -> Read {
    let values = values(piece.output, &assembly.parameters);
    let order = |it: &Arm| !plan.levels[it.level as usize].query.order.is_empty();
    let ordered = assembly.arms.iter().map(order).collect();
    Read { assembly, values, ordered }
}

/// The columns that the levels `tops` are found by: numbers all.
fn keys_of(plan: &Plan, tops: &[u32]) -> Vec<(u16, u32)> {
    let nests = tops.iter().flat_map(|&it| &plan.levels[it as usize].query.nest);
    let mut keys: Vec<u16> = nests.map(|it| it.1).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().map(|it| (it, oid::INT4)).collect()
}

/// Literals as PostgreSQL reads them.
fn values(shape: &OutputPlan, parameters: &[Parameter]) -> Vec<String> {
    parameters.iter().map(|it| value(shape, &it.origin)).collect()
}

fn value(shape: &OutputPlan, origin: &Origin) -> String {
    match origin {
        Origin::Literal(at) => text(&shape.literals, *at as usize),
        Origin::Claim(name) => format!("claim {name}"),
        Origin::Constant(text) => text.to_string(),
        // Of the first batch of a stream; a value that the client left out is null there, and any will do where shards are counted.
        Origin::Position(position) => {
            position.first.as_ref().map_or_else(|| "0".to_owned(), |it| value(shape, it))
        }
        other => panic!("{other:?} is no literal"),
    }
}

fn text(values: &Values, at: usize) -> String {
    match values.nodes[at] {
        Node::Int(value) | Node::QuotedInt(value) => value.to_string(),
        Node::Bool(value) => value.to_string(),
        Node::Float(value) => value.to_string(),
        Node::Number(span) | Node::Text(span) | Node::Json(span) => values.str(span).to_owned(),
        Node::List { .. } => {
            let items: Vec<String> = values.items(at).map(|it| format!("{:?}", text(values, it))).collect();
            format!("{{{}}}", items.join(","))
        }
        other => panic!("{other:?} cannot be bound"),
    }
}

/// Never asked.
struct Silent;

impl PreparedFetch for Silent {
    fn run<'r>(&'r self, _input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async { Err(SourceError::Timeout) })
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn explain(&self, _: ExplainInput<'_>, _out: &mut String) {}
}
