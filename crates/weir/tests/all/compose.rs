//! One graph of two sources, proved on real databases: a field of Rust values under a list of a database, and a table of it
//! under a list of Rust values. In both directions the keys of all parents are gathered, made unique, and asked in one call.

use crate::hasura_kit::open;
use crate::postgres_kit;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Value};
use weir_engine::source::Source;
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_language::schema::Schema;
use weir_postgres::Settings as PostgresSettings;
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::{self, SqliteOptions};

/// Source of Chinook.
#[derive(Clone, Copy, Debug)]
enum Side {
    Sqlite,
    Postgres,
}

const SIDES: [Side; 2] = [Side::Sqlite, Side::Postgres];

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Chinook as the source `chinook`.
fn chinook(side: Side, folder: &Path) -> Arc<dyn Source> {
    match side {
        Side::Sqlite => sqlite_chinook(folder),
        Side::Postgres => {
            let settings = PostgresSettings::parse(&postgres_kit::chinook().socket_url(), |_| None);
            let schemas = ["public".to_owned()];
            let options =
                PostgresOptions { model: ModelOptions::default(), schemas: &schemas, stringify: false };
            let patience = Duration::from_secs(60);
            let opened = open_postgres("chinook", settings.expect("a right URL"), options, patience);
            Arc::new(runtime().block_on(opened).expect("the database opens").0)
        }
    }
}

fn sqlite_chinook(folder: &Path) -> Arc<dyn Source> {
    let file = folder.join("chinook.db");
    let connection = Connection::open(&file).expect("a new database");
    connection
        .execute_batch(include_str!("../../../../examples/chinook/chinook.sql"))
        .expect("the seed loads");
    let (catalog, _) =
        introspect::read(&connection, SqliteOptions::default()).expect("the catalog can be read");
    let (model, _) =
        Model::build(catalog, Default::default(), &mut |table| introspect::enum_values(&connection, table));
    let api = Arc::new(
        weir_hasura::api::generate(model, weir_hasura::permission::Permissions::default()).expect("an API"),
    );
    Arc::new(SqliteSource::new("chinook", api, &file, Tuning::USUAL).expect("the database opens"))
}

/// Reviews of albums by their key, and a shelf that names albums.
fn reviews(calls: &Arc<AtomicUsize>, keys: &Arc<Mutex<Vec<i64>>>) -> Arc<dyn Source> {
    let sdl = "type Query { reviews_of(album: Int!): [Review!]! shelf: [Slot!]! } \
               type Review { stars: Int! text: String } type Slot { place: Int! album: Int }";
    let schema = Arc::new(Schema::from_sdl(sdl).expect("the SDL is right"));
    let calls = Arc::clone(calls);
    let keys = Arc::clone(keys);
    let review = |album: i64| {
        Value::Object(weir_engine::memory::Object {
            ty: "Review".into(),
            fields: vec![
                ("stars".into(), Value::Int(album % 5)),
                ("text".into(), Value::text(&format!("about {album}"))),
            ],
        })
    };
    let slot =
        |place: i64, album: Value| Value::object("Slot", [("place", Value::Int(place)), ("album", album)]);
    let memory = Memory::new("reviews", schema)
        .field_many("reviews_of", move |asked| {
            calls.fetch_add(1, Ordering::Relaxed);
            let album = |call: &weir_engine::memory::Call<'_>| match call.argument("album") {
                Some(Value::Int(album)) => album,
                other => panic!("a key is an integer, not {other:?}"),
            };
            keys.lock().expect("no panic").extend(asked.iter().map(album));
            asked.iter().map(|call| Value::List(vec![review(album(call))])).collect::<Vec<_>>()
        })
        .field("shelf", move |_| {
            Value::List(vec![
                slot(1, Value::Int(4)),
                slot(2, Value::Null),
                slot(3, Value::Int(4)),
                slot(4, Value::Int(1)),
                slot(5, Value::Int(-7)),
            ])
        });
    Arc::new(memory)
}

fn join(on: &str, name: &str, source: &str, target: &str, arguments: &str) -> Join {
    let [on, name, source, target, arguments] = [on, name, source, target, arguments].map(String::from);
    Join { on, name, description: String::new(), source, target, arguments }
}

const SETTINGS: Settings = Settings::STANDARD;

struct Fixture {
    engine: Engine,
    calls: Arc<AtomicUsize>,
    keys: Arc<Mutex<Vec<i64>>>,
    folder: PathBuf,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn fixture(side: Side, name: &str) -> Fixture {
    let folder = std::env::temp_dir().join(format!("weir-compose-{side:?}-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let calls = Arc::default();
    let keys = Arc::default();
    let joins = [
        join("Album", "reviews", "reviews", "reviews_of", "(album: $this.AlbumId)"),
        join("Slot", "row", "chinook", "Album_by_pk", "(AlbumId: $this.album)"),
        join("Slot", "others", "chinook", "Album", "(where: {AlbumId: {_gt: $this.album}})"),
    ];
    let graph = Graph::compose(vec![chinook(side, &folder), reviews(&calls, &keys)], &joins);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    Fixture { engine: Engine::new(graph, SETTINGS), calls, keys, folder }
}
fn ask(engine: &Engine, query: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    let request = Request::new(query, deadline);
    match runtime().block_on(engine.execute(request, &engine.caller(&Identity::admin()))).body {
        Body::Whole(bytes) => String::from_utf8(bytes).expect("an answer is text"),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("a short answer is whole"),
    }
}

#[test]
fn a_field_of_rust_values_hangs_under_a_list_of_a_database_and_is_asked_once() {
    SIDES.into_iter().for_each(field_under_list);
}

fn field_under_list(side: Side) {
    let it = fixture(side, "under-rows");
    let answer = ask(
        &it.engine,
        "{ Artist(where: {ArtistId: {_in: [1, 2]}}, order_by: {ArtistId: asc}) { Name Artist_Albums(order_by: {AlbumId: asc}) { reviews { stars text } Title } } }",
    );
    let row = |id: i64, title: &str| {
        format!(r#"{{"reviews":[{{"stars":{},"text":"about {id}"}}],"Title":"{title}"}}"#, id % 5)
    };
    let first = [row(1, "For Those About To Rock We Salute You"), row(4, "Let There Be Rock")].join(",");
    let second = [row(2, "Balls to the Wall"), row(3, "Restless and Wild")].join(",");
    assert_eq!(
        answer,
        format!(
            r#"{{"data":{{"Artist":[{{"Name":"AC/DC","Artist_Albums":[{first}]}},{{"Name":"Accept","Artist_Albums":[{second}]}}]}}}}"#
        )
    );
    assert_eq!(it.calls.load(Ordering::Relaxed), 1, "one call for the albums of both artists");
    assert_eq!(*it.keys.lock().expect("no panic"), [1, 4, 2, 3]);
}

#[test]
fn a_table_hangs_under_a_list_of_rust_values() {
    SIDES.into_iter().for_each(table_under_values);
}

fn table_under_values(side: Side) {
    let it = fixture(side, "under-values");
    let answer = ask(&it.engine, "{ shelf { place row { Title Album_Artist { Name } } } }");
    assert_eq!(
        answer,
        concat!(
            r#"{"data":{"shelf":[{"place":1,"row":{"Title":"Let There Be Rock","Album_Artist":{"Name":"AC/DC"}}},{"place":2,"row":null},"#,
            r#"{"place":3,"row":{"Title":"Let There Be Rock","Album_Artist":{"Name":"AC/DC"}}},"#,
            r#"{"place":4,"row":{"Title":"For Those About To Rock We Salute You","Album_Artist":{"Name":"AC/DC"}}},{"place":5,"row":null}]}}"#
        )
    );
}

#[test]
fn joins_go_to_any_depth_and_back_again() {
    SIDES.into_iter().for_each(depth);
}

fn depth(side: Side) {
    let it = fixture(side, "depth");
    let answer = ask(&it.engine, "{ shelf { row { reviews { stars } } } }");
    assert_eq!(
        answer,
        r#"{"data":{"shelf":[{"row":{"reviews":[{"stars":4}]}},{"row":null},{"row":{"reviews":[{"stars":4}]}},{"row":{"reviews":[{"stars":1}]}},{"row":null}]}}"#
    );
    assert_eq!(it.calls.load(Ordering::Relaxed), 1);
    assert_eq!(*it.keys.lock().expect("no panic"), [4, 1], "keys are unique");
}

#[test]
fn arguments_the_join_leaves_open_are_the_clients() {
    SIDES.into_iter().for_each(open_arguments);
}

fn open_arguments(side: Side) {
    let it = fixture(side, "arguments");
    let answer = ask(&it.engine, "{ shelf { others(limit: 1, order_by: {AlbumId: asc}) { AlbumId } } }");
    assert_eq!(
        answer,
        r#"{"data":{"shelf":[{"others":[{"AlbumId":5}]},{"others":null},{"others":[{"AlbumId":5}]},{"others":[{"AlbumId":2}]},{"others":[{"AlbumId":1}]}]}}"#
    );
}

/// Things with keys of several types, and slips that name them, some in other spellings and some not at all.
const KEYS: &str = r#"
CREATE TABLE thing (big int8 PRIMARY KEY, tag uuid UNIQUE, code text UNIQUE, price numeric UNIQUE);
INSERT INTO thing VALUES (9007199254740993, '00000000-0000-0000-0000-00000000000A', 'NULL', 1.50),
    (-1, '00000000-0000-0000-0000-00000000000b', '{"\🎵}', 12345678901234567890.10), (0, NULL, '', 0);
CREATE TABLE slip (id int4 PRIMARY KEY, big int8, tag uuid, code text, price numeric);
INSERT INTO slip VALUES (1, 9007199254740993, '00000000-0000-0000-0000-00000000000a', 'NULL', 1.5),
    (2, -1, '00000000-0000-0000-0000-00000000000b', '{"\🎵}', 12345678901234567890.1), (3, 0, NULL, '', 0.00),
    (4, 9007199254740992, '00000000-0000-0000-0000-00000000000c', 'null', 1.51), (5, NULL, NULL, NULL, NULL),
    (6, 9007199254740993, NULL, NULL, 1.500);
"#;

#[test]
fn keys_of_postgresql_find_each_other_across_a_join_whatever_their_type() {
    let database = postgres_kit::database(KEYS);
    let source: Arc<dyn Source> = Arc::new(runtime().block_on(open(&database, &["public"], |_| {})));
    let joins = [
        join("slip", "by_big", "main", "thing_by_pk", "(big: $this.big)"),
        join("slip", "by_tag", "main", "thing", "(where: {tag: {_eq: $this.tag}})"),
        join("slip", "by_code", "main", "thing", "(where: {code: {_eq: $this.code}})"),
        join("slip", "by_price", "main", "thing", "(where: {price: {_eq: $this.price}})"),
        join("thing", "slips", "main", "slip", "(where: {big: {_eq: $this.big}})"),
    ];
    let graph = Graph::compose(vec![source], &joins).unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, SETTINGS);
    for (field, expected) in [
        (
            "by_big { big }",
            r#"{"big":9007199254740993} {"big":-1} {"big":0} null null {"big":9007199254740993}"#,
        ),
        ("by_tag { big }", r#"[{"big":9007199254740993}] [{"big":-1}] null [] null null"#),
        ("by_code { code }", r#"[{"code":"NULL"}] [{"code":"{\"\\🎵}"}] [{"code":""}] [] null null"#),
        (
            "by_price { price }",
            r#"[{"price":1.50}] [{"price":12345678901234567890.10}] [{"price":0}] [] null [{"price":1.50}]"#,
        ),
        (
            "by_big { slips(order_by: {id: asc}) { id } }",
            r#"{"slips":[{"id":1},{"id":6}]} {"slips":[{"id":2}]} {"slips":[{"id":3}]} null null {"slips":[{"id":1},{"id":6}]}"#,
        ),
        (
            "by_tag { slips_of: slips(order_by: {id: desc}, limit: 1) { id by_price { big } } }",
            r#"[{"slips_of":[{"id":6,"by_price":[{"big":9007199254740993}]}]}] [{"slips_of":[{"id":2,"by_price":[{"big":-1}]}]}] null [] null null"#,
        ),
    ] {
        let name = field.split(' ').next().unwrap_or_default();
        let rows: Vec<String> = expected.split(' ').map(|it| format!(r#"{{"{name}":{it}}}"#)).collect();
        let rows = rows.join(",");
        let answer = ask(&engine, &format!("{{ slip(order_by: {{id: asc}}) {{ {field} }} }}"));
        assert_eq!(answer, format!(r#"{{"data":{{"slip":[{rows}]}}}}"#), "{field}");
    }
}
