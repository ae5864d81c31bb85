//! One graph of two sources, proved on a real database: a field of Rust values under a list of SQLite, and a table of SQLite
//! under a list of Rust values. In both directions the keys of all parents are gathered, made unique, and asked in one call.

use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Value};
use weir_engine::source::{Accent, Caller, Source};
use weir_language::limits::Limits;
use weir_language::schema::Schema;
use weir_sql::catalog::sqlite::{self, SqliteOptions};
use weir_sql::model::Model;
use weir_sql::sqlite::SqliteSource;
use weir_sql::sqlite::connection::Tuning;

fn chinook(folder: &Path) -> Arc<dyn Source> {
    let file = folder.join("chinook.db");
    let connection = Connection::open(&file).expect("a new database");
    connection.execute_batch(include_str!("../../../examples/chinook/chinook.sql")).expect("the seed loads");
    let (catalog, _) = sqlite::read(&connection, SqliteOptions::default()).expect("the catalog can be read");
    let (model, _) =
        Model::build(catalog, Default::default(), &mut |table| sqlite::enum_values(&connection, table));
    let api = Arc::new(weir_sql::api::generate(model).expect("an API"));
    Arc::new(SqliteSource::new("chinook", api, &file, Tuning::USUAL).expect("the database opens"))
}

/// Reviews of albums by their key, and a shelf that names albums.
fn reviews(calls: &Arc<AtomicUsize>, keys: &Arc<Mutex<Vec<i64>>>) -> Arc<dyn Source> {
    let sdl = "type Query { reviews_of(album: Int!): [Review!]! shelf: [Slot!]! } \
               type Review { stars: Int! text: String } type Slot { place: Int! album: Int }";
    let schema = Arc::new(Schema::from_sdl(sdl).expect("the SDL is right"));
    let (calls, keys) = (Arc::clone(calls), Arc::clone(keys));
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

struct Fixture {
    engine: Engine,
    calls: Arc<AtomicUsize>,
    keys: Arc<Mutex<Vec<i64>>>,
    folder: std::path::PathBuf,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn fixture(name: &str) -> Fixture {
    let folder = std::env::temp_dir().join(format!("weir-compose-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let (calls, keys) = (Arc::default(), Arc::default());
    let joins = [
        join("Album", "reviews", "reviews", "reviews_of", "(album: $this.AlbumId)"),
        join("Slot", "row", "chinook", "Album_by_pk", "(AlbumId: $this.album)"),
        join("Slot", "others", "chinook", "Album", "(where: {AlbumId: {_gt: $this.album}})"),
    ];
    let graph = Graph::compose(vec![chinook(&folder), reviews(&calls, &keys)], &joins);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    let settings = Settings {
        limits: Limits::STANDARD,
        plan_cache_bytes_max: 1 << 20,
        introspection: true,
        suggestions: true,
        edition_2026: false,
        hold_back_bytes: 256 << 10,
    };
    Fixture { engine: Engine::new(graph, settings), calls, keys, folder }
}

fn ask(engine: &Engine, query: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let deadline = Instant::now() + Duration::from_secs(30);
    let request = Request {
        query,
        operation_name: None,
        variables: None,
        accent: Accent::Spec,
        queries_only: false,
        deadline,
    };
    match runtime.block_on(engine.execute(request, &Caller::Admin)).body {
        Body::Whole(bytes) => String::from_utf8(bytes).expect("an answer is text"),
        Body::Stream { .. } => panic!("a short answer is whole"),
    }
}

#[test]
fn a_field_of_rust_values_hangs_under_a_list_of_sqlite_and_is_asked_once() {
    let it = fixture("under-sqlite");
    let answer = ask(
        &it.engine,
        "{ Artist(where: {ArtistId: {_in: [1, 2]}}, order_by: {ArtistId: asc}) { Name Artist_Albums(order_by: {AlbumId: asc}) { reviews { stars text } Title } } }",
    );
    let row = |id: i64, title: &str| {
        format!(r#"{{"reviews":[{{"stars":{},"text":"about {id}"}}],"Title":"{title}"}}"#, id % 5)
    };
    let (first, second) = (
        [row(1, "For Those About To Rock We Salute You"), row(4, "Let There Be Rock")].join(","),
        [row(2, "Balls to the Wall"), row(3, "Restless and Wild")].join(","),
    );
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
fn a_table_of_sqlite_hangs_under_a_list_of_rust_values() {
    let it = fixture("under-values");
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
    let it = fixture("depth");
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
    let it = fixture("arguments");
    let answer = ask(&it.engine, "{ shelf { others(limit: 1, order_by: {AlbumId: asc}) { AlbumId } } }");
    assert_eq!(
        answer,
        r#"{"data":{"shelf":[{"others":[{"AlbumId":5}]},{"others":null},{"others":[{"AlbumId":5}]},{"others":[{"AlbumId":2}]},{"others":[{"AlbumId":1}]}]}}"#
    );
}
