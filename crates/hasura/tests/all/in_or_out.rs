//! A mutation is in or out, and its answer says which: mutations over values that do not fit their place, compared with what is in
//! the database after.

use crate::answer_kit::{execute, whole};
use crate::hasura_kit::{Served, serve_with};
use crate::kit::serve;
use crate::postgres_kit::database;
use crate::postgres_kit::hand::Hand;
use crate::wall_kit::ask::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_engine::engine::Engine;
use weir_engine::source::Protocol;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::function::FunctionEntry;

const PROTOCOLS: [Protocol; 2] = [Protocol::GraphqlOverHttp, Protocol::Hasura];

async fn ask(engine: &Engine, protocol: Protocol, query: &str) -> Value {
    let body = execute(engine, &Identity::admin(), protocol, (query, "")).await;
    serde_json::from_str(&whole(body)).unwrap()
}

fn in_turn<T>(run: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run)
}

/// The code and the place of the first error, and what it says of the root fields that stand.
fn told(answer: &Value) -> (String, String, Value) {
    let error = &answer["errors"][0];
    let extensions = &error["extensions"];
    let place = if extensions["path"].is_null() { &error["path"] } else { &extensions["path"] };
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), ToOwned::to_owned);
    (text(&extensions["code"]), text(place), extensions["committed"].clone())
}

#[test]
fn a_value_that_cannot_be_given_undoes_the_mutation() {
    let tables = "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER NOT NULL); INSERT INTO a VALUES (1, 5000000000), (2, 2);
        CREATE TABLE log(id INTEGER PRIMARY KEY, t TEXT)";
    let served = serve(tables);
    let log = "insert_log_one(object: {t: \"first\"}) { id }";
    for (change, path) in [
        ("delete_a_by_pk(id: 1) { id n }", json!(["delete_a_by_pk", "n"])),
        ("delete_a(where: {}) { returning { n } affected_rows }", json!(["delete_a", "returning", 0, "n"])),
        (
            "update_a(where: {id: {_eq: 2}}, _set: {n: 3}) { affected_rows } x: update_log(where: {}, _set: {t: null}) { returning { id } } y: update_a_many(updates: [{where: {id: {_eq: 2}}, _inc: {n: 1}}, {where: {id: {_eq: 1}}, _set: {id: 9}}]) { returning { n } }",
            json!(["y", 1, "returning", 0, "n"]),
        ),
    ] {
        let query = format!("mutation {{ {log} {change} }}");
        for protocol in PROTOCOLS {
            let answer = in_turn(ask(&served.engine, protocol, &query));
            let (code, place, committed) = told(&answer);
            let expected = match protocol {
                Protocol::GraphqlOverHttp => ("INT_RANGE", path.to_string()),
                Protocol::Hasura => ("unexpected", hasura_path(&path)),
            };
            assert_eq!((code.as_str(), place), expected, "{answer}");
            assert_eq!(committed, Value::Null, "{answer}");
            let state =
                "SELECT json_array((SELECT count(*) FROM log), json((SELECT json_group_array(n) FROM a)))";
            assert_eq!(served.plain(state), json!([0, [5_000_000_000_i64, 2]]), "{query}");
        }
    }
}

fn hasura_path(path: &Value) -> String {
    let steps = path.as_array().unwrap().iter().map(|step| match step.as_str() {
        Some(key) => format!(".selectionSet.{key}"),
        None => format!("[{step}]"),
    });
    format!("${}", steps.collect::<String>())
}

#[test]
fn a_part_of_a_document_that_is_not_there_is_null() {
    let sql = |json: &str| {
        format!(
            "CREATE TABLE doc (id INTEGER PRIMARY KEY, meta {json} NOT NULL); INSERT INTO doc VALUES (1, '{{\"a\": 1}}'), (2, '{{}}')"
        )
    };
    let asked = [
        (
            "{ doc(order_by: {id: asc}) { meta(path: \"a\") } }",
            r#"{"data":{"doc":[{"meta":1},{"meta":null}]}}"#,
        ),
        (
            "mutation { delete_doc(where: {}) { returning { id meta(path: \"a\") } } }",
            r#"{"data":{"delete_doc":{"returning":[{"id":1,"meta":1},{"id":2,"meta":null}]}}}"#,
        ),
        ("{ doc { id } }", r#"{"data":{"doc":[]}}"#),
    ];
    for protocol in PROTOCOLS {
        let served = serve(&sql("jsonb"));
        for (query, expected) in asked {
            assert_eq!(in_turn(ask(&served.engine, protocol, query)).to_string(), expected);
        }
        in_turn(async {
            let served = serve_with(database(&sql("jsonb")), &["public"], |_| {}).await;
            for (query, expected) in asked {
                assert_eq!(ask(&served.engine, protocol, query).await.to_string(), expected);
            }
        });
    }
}

/// A related row that a deferred key promises only at the end is missing while its child is answered.
#[tokio::test]
async fn a_related_row_that_is_not_there_yet_undoes_the_mutation() {
    let served = serve_with(
        database(
            "CREATE TABLE parent (id int4 PRIMARY KEY);
             CREATE TABLE child (id int4 PRIMARY KEY, parent_id int4 NOT NULL REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
        ),
        &["public"],
        |_| {},
    )
    .await;
    let mut hand = served.hand().await;
    let rows = "SELECT (SELECT count(*) FROM parent) || ',' || (SELECT count(*) FROM child)";
    for (selected, code, expected) in [("id", "null", "1,1"), ("parent { id }", "NULL_FOR_NON_NULL", "0,0")] {
        let query = format!(
            "mutation {{ insert_child_one(object: {{id: 1, parent_id: 5}}) {{ {selected} }} insert_parent_one(object: {{id: 5}}) {{ id }} }}"
        );
        let answer = ask(&served.engine, Protocol::GraphqlOverHttp, &query).await;
        assert_eq!(told(&answer).0, code, "{answer}");
        assert_eq!(hand.run(rows).await, expected, "{answer}");
        hand.run("TRUNCATE parent, child").await;
    }
}

/// A column whose values may not fit: its type, a value that fits and one that does not.
struct Loose {
    declared: &'static str,
    good: &'static str,
    bad: &'static str,
    /// Does not fit on Hasura's endpoint either.
    is_bad_for_hasura: bool,
}

const fn loose(declared: &'static str, good: &'static str, bad: &'static str) -> Loose {
    Loose { declared, good, bad, is_bad_for_hasura: true }
}

const LOOSE: [Loose; 8] = [
    loose("INTEGER NOT NULL", "7", "5000000000"),
    loose("INTEGER", "7", "'seven'"),
    loose("BIGINT NOT NULL", "7", "'seven'"),
    loose("BOOLEAN", "1", "2"),
    loose("JSON NOT NULL", "'{}'", "'{a'"),
    loose("TEXT NOT NULL", "'x'", "CAST(x'ff' AS TEXT)"),
    loose("NUMERIC", "1.5", "'x'"),
    Loose { declared: "REAL NOT NULL", good: "1.5", bad: "9e999", is_bad_for_hasura: false },
];

/// A row of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    tag: u32,
    is_bad: bool,
}

type Rows = BTreeMap<u32, Row>;

fn some_rows(random: &mut Random) -> Rows {
    let row = |random: &mut Random, id| (id, Row { tag: id, is_bad: random.below(3) == 0 });
    (1..=1 + random.below(4)).map(|id| row(random, id)).collect()
}

/// As the statements of [`state_sql`] say it.
fn state(rows: &Rows) -> String {
    let rows: Vec<String> = rows.iter().map(|(id, row)| format!("{id}={}", row.tag)).collect();
    rows.join(",")
}

/// A mutation over the rows of one table.
struct Change {
    text: String,
    keys: Vec<String>,
    after: Rows,
    /// A bad value is selected.
    returns_bad: bool,
    calls_function: bool,
}

impl Change {
    /// Some root fields over the table number `table`, whose rows are `before`.
    fn random(random: &mut Random, table: usize, before: &Rows, has_functions: bool) -> Self {
        let mut it = Self {
            text: "mutation {".to_owned(),
            keys: Vec::new(),
            after: before.clone(),
            returns_bad: false,
            calls_function: false,
        };
        for at in 0..1 + random.below(3) {
            let key = format!("f{at}");
            let (field, is_bad) = it.field(random, table, has_functions);
            it.text.push_str(&format!(" {key}: {field}"));
            it.keys.push(key);
            it.returns_bad |= is_bad;
        }
        it.text.push_str(" }");
        it
    }

    /// A root field, and whether a bad value is in its answer.
    fn field(&mut self, random: &mut Random, table: usize, has_functions: bool) -> (String, bool) {
        let id = 1 + random.below(6);
        let tag = 10 + random.below(90);
        let selected = ["{ tag }", "{ id tag loose }", "{ loose }"][random.below(3) as usize];
        let shows = selected.contains("loose");
        let rows = &mut self.after;
        let is_bad = |rows: &Rows, id: u32| shows && rows.get(&id).is_some_and(|it| it.is_bad);
        let affected = format!("{{ affected_rows returning {selected} }}");
        match random.below(if has_functions { 7 } else { 6 }) {
            0 => {
                let id = rows.keys().last().map_or(1, |it| it + 1);
                rows.insert(id, Row { tag, is_bad: false });
                (format!("insert_t{table}_one(object: {{id: {id}, tag: {tag}}}) {selected}"), false)
            }
            1 => {
                let bad = is_bad(rows, id);
                rows.entry(id).and_modify(|it| it.tag = tag);
                let arguments = format!("pk_columns: {{id: {id}}}, _set: {{tag: {tag}}}");
                (format!("update_t{table}_by_pk({arguments}) {selected}"), bad)
            }
            2 => {
                let bad = is_bad(rows, id);
                rows.remove(&id);
                (format!("delete_t{table}_by_pk(id: {id}) {selected}"), bad)
            }
            3 => {
                let bad = rows.keys().any(|it| *it >= id && is_bad(rows, *it));
                rows.range_mut(id..).for_each(|it| it.1.tag = tag);
                (
                    format!(
                        "update_t{table}(where: {{id: {{_gte: {id}}}}}, _set: {{tag: {tag}}}) {affected}"
                    ),
                    bad,
                )
            }
            4 => {
                let bad = rows.keys().any(|it| *it <= id && is_bad(rows, *it));
                rows.retain(|it, _| *it > id);
                (format!("delete_t{table}(where: {{id: {{_lte: {id}}}}}) {affected}"), bad)
            }
            5 => {
                let bad = is_bad(rows, id);
                rows.entry(id).and_modify(|it| it.tag = tag);
                (
                    format!(
                        "update_t{table}_many(updates: [{{where: {{id: {{_eq: {id}}}}}, _set: {{tag: {tag}}}}}]) {affected}"
                    ),
                    bad,
                )
            }
            _ => {
                self.calls_function = true;
                let bad = is_bad(rows, id);
                rows.entry(id).and_modify(|it| it.tag = tag);
                (format!("touch_t{table}(args: {{_id: {id}, _tag: {tag}}}) {selected}"), bad)
            }
        }
    }

    /// Compares the answer with the state of the table that `before` was of; gives the rows that it has now.
    fn check(&self, answer: &Value, now: &str, before: &Rows, is_bad: bool) -> Rows {
        let story = format!("{}\n{answer}\nbefore {}", self.text, state(before));
        assert_eq!(answer["errors"].is_array(), is_bad, "{story}");
        let (_, _, committed) = told(answer);
        let stands = match &committed {
            Value::Null => !is_bad,
            list => {
                assert_eq!(*list, json!(self.keys), "a transaction stands as one: {story}");
                true
            }
        };
        let rows = if stands { &self.after } else { before };
        assert_eq!(now, state(rows), "{story}");
        rows.clone()
    }
}

/// So many tables, one for each of the mutations that are asked at the same time.
const TABLES: usize = 3;

/// Random mutations of random schemas: each is in or out as a whole, also where several wait for the writer together.
#[test]
fn random_mutations_are_in_or_out_on_sqlite() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut tables: Vec<(Rows, &Loose)> = Vec::new();
        let mut sql = String::new();
        for at in 0..TABLES {
            let rows = some_rows(&mut random);
            let loose = &LOOSE[random.below(LOOSE.len() as u32) as usize];
            let Loose { declared, good, bad, .. } = loose;
            sql.push_str(&format!("CREATE TABLE t{at} (id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, loose {declared} DEFAULT {good});"));
            for (id, row) in &rows {
                let value = if row.is_bad { bad } else { good };
                sql.push_str(&format!("INSERT INTO t{at} VALUES ({id}, {}, {value});", row.tag));
            }
            tables.push((rows, loose));
        }
        let served = serve(&sql);
        for _ in 0..12 {
            let protocol = PROTOCOLS[random.below(2) as usize];
            let changes = tables.iter().enumerate();
            let changes: Vec<Change> =
                changes.map(|(at, (rows, _))| Change::random(&mut random, at, rows, false)).collect();
            let asked = changes.iter().map(|it| ask(&served.engine, protocol, &it.text));
            let answers = in_turn(futures_util::future::join_all(asked));
            for (at, (change, answer)) in changes.iter().zip(&answers).enumerate() {
                let (rows, loose) = &mut tables[at];
                let is_bad = change.returns_bad && (protocol != Protocol::Hasura || loose.is_bad_for_hasura);
                let now = format!(
                    "SELECT json_quote(coalesce((SELECT group_concat(id || '=' || tag, ',' ORDER BY id) FROM t{at}), ''))"
                );
                let now = served.plain(&now);
                assert!(answer["errors"][0]["extensions"]["committed"].is_null(), "seed {seed}: {answer}");
                *rows = change.check(answer, now.as_str().unwrap(), rows, is_bad);
            }
        }
    }
}

/// Serves the tables of the random mutations, with functions that return their rows.
async fn serve_with_functions(sql: &str, batches: bool) -> Served {
    let database = database(sql);
    let settings = open_settings(&database, batches);
    let functions: Vec<Value> = (0..TABLES)
        .map(|at| json!({"function": format!("touch_t{at}"), "configuration": {"exposed_as": "mutation"}}))
        .collect();
    let functions: Vec<FunctionEntry> = serde_json::from_value(json!(functions)).unwrap();
    let model = ModelOptions { functions: &functions, ..ModelOptions::default() };
    let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
    let opened = open_postgres("main", settings, options, std::time::Duration::from_secs(60)).await;
    let source = Arc::new(opened.unwrap().0);
    let engine = crate::kit::engine(&source, 256 << 10, &[]);
    Served { engine, source, database }
}

fn open_settings(database: &crate::postgres_kit::Database, batches: bool) -> weir_postgres::Settings {
    let mut settings = weir_postgres::Settings::parse(&database.socket_url(), |_| None).unwrap();
    settings.batch_mutations = batches;
    settings
}

/// The catalog promises values that are no longer there: such an answer fails after the commit, and says so. Rows of functions may be
/// anything: they are read before it.
#[tokio::test]
async fn random_mutations_are_in_or_out_on_postgres() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let mut tables: Vec<Rows> = Vec::new();
        let mut sql = String::new();
        let mut spoil = Vec::new();
        for at in 0..TABLES {
            let rows = some_rows(&mut random);
            let ty = ["int4", "text"][random.below(2) as usize];
            sql.push_str(&format!("CREATE TABLE t{at} (id int4 PRIMARY KEY, tag int4 NOT NULL, loose {ty} NOT NULL DEFAULT '7');
                CREATE FUNCTION touch_t{at}(_id int4, _tag int4) RETURNS SETOF t{at} LANGUAGE sql AS 'UPDATE t{at} SET tag = _tag WHERE id = _id RETURNING *';"));
            for (id, row) in &rows {
                sql.push_str(&format!(
                    "INSERT INTO t{at} VALUES ({id}, {}, '{}');",
                    row.tag,
                    u8::from(row.is_bad)
                ));
            }
            spoil.push(format!("ALTER TABLE t{at} ALTER loose DROP NOT NULL"));
            spoil.push(format!("UPDATE t{at} SET loose = NULL WHERE loose = '1'"));
            tables.push(rows);
        }
        let served = serve_with_functions(&sql, random.below(2) == 0).await;
        let mut hand = served.hand().await;
        for it in &spoil {
            hand.run(it).await;
        }
        for _ in 0..12 {
            let protocol = PROTOCOLS[random.below(2) as usize];
            let changes = tables.iter().enumerate();
            let changes: Vec<Change> =
                changes.map(|(at, rows)| Change::random(&mut random, at, rows, true)).collect();
            let asked = changes.iter().map(|it| ask(&served.engine, protocol, &it.text));
            let answers = futures_util::future::join_all(asked).await;
            for (at, (change, answer)) in changes.iter().zip(&answers).enumerate() {
                let now = now(&mut hand, at).await;
                let is_committed = !answer["errors"][0]["extensions"]["committed"].is_null();
                assert!(!(change.calls_function && is_committed), "seed {seed}: {}\n{answer}", change.text);
                assert_eq!(
                    change.returns_bad && !change.calls_function,
                    is_committed,
                    "seed {seed}: {}\n{answer}",
                    change.text
                );
                tables[at] = change.check(answer, &now, &tables[at], change.returns_bad);
            }
        }
    }
}

async fn now(hand: &mut Hand, table: usize) -> String {
    let sql = format!("SELECT coalesce(string_agg(id || '=' || tag, ',' ORDER BY id), '') FROM t{table}");
    hand.run(&sql).await
}
