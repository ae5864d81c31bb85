//! Mutations of the same objects at once, on both databases: each is whole or not there, and both sides of an edge agree.

use crate::answer_kit::ask_whole;
use crate::file_kit::DatabaseFile;
use crate::postgres_kit;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use weir_database::postgres::PostgresSource;
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings as EngineSettings};
use weir_engine::source::Source;
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::{Place, Types, open_and_migrate};
use weir_postgres::Settings;
use weir_sqlite::connection::Tuning;

const TYPES: &str = "
type Country { id: ID!, code: String! @id, cities: [City] @hasInverse(field: country) }
type City { id: ID!, name: String! @id, tags: [String], country: Country, visitors: [Person] }
type Person { id: ID!, nick: String! @id, spouse: Person @hasInverse(field: spouse), seen: [City] @hasInverse(field: visitors) }
";

/// So many mutations run at once.
const CROWD: usize = 24;

async fn answer(engine: &Engine, query: &str) -> Value {
    serde_json::from_str(&ask_whole(engine, &Identity::admin(), query).await).expect("an answer is JSON")
}

/// Asks all of `crowd` at once, then `after`; gives the answers to `check`.
async fn together(source: Arc<dyn Source>, crowd: Vec<String>, after: &str, check: fn(&[Value], &Value)) {
    let graph = Graph::compose(vec![source], &[]).expect("one source composes");
    let settings = EngineSettings::STANDARD;
    let engine = Arc::new(Engine::new(graph, settings));
    let tasks: Vec<_> = crowd
        .into_iter()
        .map(|query| {
            let engine = Arc::clone(&engine);
            tokio::spawn(async move { answer(&engine, &query).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("it does not panic"));
    }
    check(&answers, &answer(&engine, after).await);
}

/// Runs a test on a new store in each database, after the mutation `before`.
fn on_both(before: &str, crowd: &dyn Fn() -> Vec<String>, after: &str, check: fn(&[Value], &Value)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("one starts");
    let frontend = |types: Types, database| {
        let api = weir_native::api::generate(types.model).expect("the API is sound");
        Arc::new(Native::new(api, types.layout, database))
    };
    let test = |source: Arc<dyn Source>| {
        let first = vec![before.to_owned()];
        runtime.block_on(together(Arc::clone(&source), first, "{ __typename }", |answers, _| {
            assert!(answers[0].get("errors").is_none(), "{}", answers[0]);
        }));
        runtime.block_on(together(source, crowd(), after, check));
    };
    let file = DatabaseFile::new();
    let types = Types::read(TYPES, Database::Sqlite).expect("the types are sound");
    open_and_migrate(&Place::Sqlite(file.0.clone()), &types).expect("the store is made");
    let style_here = frontend(types, Database::Sqlite);
    test(Arc::new(SqliteSource::new("main", style_here, &file.0, Tuning::USUAL).expect("it is served")));

    let database = postgres_kit::database("");
    let settings = Settings::parse(&database.url(), |_| None).expect("a sound address");
    let types = Types::read(TYPES, Database::Postgres).expect("the types are sound");
    open_and_migrate(&Place::Postgres(Box::new(settings.clone())), &types).expect("the store is made");
    let opening =
        PostgresSource::new("main", frontend(types, Database::Postgres), settings, Duration::from_secs(30));
    test(Arc::new(runtime.block_on(opening).expect("it is served")));
}

fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_default()
}

#[test]
fn of_many_that_add_one_key_one_succeeds() {
    let crowd = || {
        vec![
            r#"mutation { addCountry(input: [{code: "x", cities: [{name: "X"}]}]) { numUids } }"#.into();
            CROWD
        ]
    };
    on_both(
        "mutation { addCity(input: []) { numUids } }",
        &crowd,
        "{ queryCountry { code cities { name } } }",
        |answers, after| {
            let done = answers.iter().filter(|it| it["data"]["addCountry"]["numUids"] == 2).count();
            let told = answers
                .iter()
                .filter(|it| message(it).contains("id x already exists for field code"))
                .count();
            assert_eq!((done, told), (1, CROWD - 1), "{answers:?}");
            assert_eq!(
                after["data"]["queryCountry"],
                serde_json::json!([{"code": "x", "cities": [{"name": "X"}]}])
            );
        },
    );
}

#[test]
fn many_that_upsert_one_key_make_one_object_with_what_all_said() {
    let crowd = || {
        let upsert = |at| {
            format!(
                r#"mutation {{ addCity(input: [{{name: "X", tags: ["t{at}"]}}], upsert: true) {{ numUids }} }}"#
            )
        };
        (0..CROWD / 4).map(upsert).collect()
    };
    on_both(
        "mutation { addCity(input: []) { numUids } }",
        &crowd,
        "{ queryCity { name tags } }",
        |answers, after| {
            let made: i64 = answers.iter().filter_map(|it| it["data"]["addCity"]["numUids"].as_i64()).sum();
            let failed: Vec<&Value> = answers.iter().filter(|it| it.get("errors").is_some()).collect();
            assert_eq!(made, 1, "{answers:?}");
            assert!(
                failed.iter().all(|it| it["errors"][0]["extensions"]["code"] == "CONCURRENT_UPDATE"),
                "{failed:?}"
            );
            let tags = after["data"]["queryCity"][0]["tags"].as_array().expect("a list").len();
            assert_eq!(tags + failed.len(), answers.len(), "{after}");
        },
    );
}

#[test]
fn partners_agree_however_many_take_them() {
    let people: String = (0..5).map(|it| format!(r#"{{nick: "p{it}"}} "#)).collect();
    let before = format!("mutation {{ addPerson(input: [{people}]) {{ numUids }} }}");
    let crowd = || {
        let take = |at: usize| {
            let one = at % 5;
            let other = (at / 5 + at + 1) % 5;
            format!(
                r#"mutation {{ updatePerson(input: {{filter: {{nick: {{eq: "p{one}"}}}}, set: {{spouse: {{nick: "p{other}"}}}}}}) {{ numUids }} }}"#
            )
        };
        (0..CROWD).map(take).collect()
    };
    on_both(&before, &crowd, "{ queryPerson { nick spouse { spouse { nick } } } }", |answers, after| {
        let sound = |it: &&Value| {
            it["data"]["updatePerson"]["numUids"] == 1
                || it["errors"][0]["extensions"]["code"] == "CONCURRENT_UPDATE"
        };
        assert!(answers.iter().all(|it| sound(&it)), "{answers:?}");
        for person in after["data"]["queryPerson"].as_array().expect("a list") {
            let back = &person["spouse"]["spouse"]["nick"];
            assert!(person["spouse"].is_null() || *back == person["nick"], "{after}");
        }
    });
}

#[test]
fn an_object_that_is_deleted_while_others_link_it_is_linked_by_none() {
    let before = r#"mutation { addCity(input: [{name: "X"}]) { numUids } addPerson(input: [{nick: "a"}]) { numUids } }"#;
    let crowd = || {
        let link = |at: usize| match at % 4 {
            3 => r#"mutation { deleteCity(filter: {name: {eq: "X"}}) { numUids } }"#.to_owned(),
            _ => format!(
                r#"mutation {{ addPerson(input: [{{nick: "n{at}", seen: [{{id: "0x1"}}]}}]) {{ numUids }} }}"#
            ),
        };
        (0..CROWD).map(link).collect()
    };
    on_both(before, &crowd, "{ queryCity { name } queryPerson { nick seen { name } } }", |answers, after| {
        let deleted: i64 = answers.iter().filter_map(|it| it["data"]["deleteCity"]["numUids"].as_i64()).sum();
        assert_eq!(deleted, 1, "{answers:?}");
        assert_eq!(after["data"]["queryCity"], serde_json::json!([]));
        let people = after["data"]["queryPerson"].as_array().expect("a list");
        assert!(people.iter().all(|it| it["seen"] == serde_json::json!([])), "{after}");
        let refused = answers.iter().filter(|it| message(it).contains("isn't a City"));
        // A delete may lose the race too; nobody is missing by it.
        let lost = |it: &&Value| {
            it["errors"][0]["extensions"]["code"] == "CONCURRENT_UPDATE"
                && it["errors"][0]["path"][0] == "addPerson"
        };
        let raced = answers.iter().filter(lost);
        assert_eq!(people.len() - 1 + refused.count() + raced.count(), CROWD * 3 / 4, "{answers:?}");
    });
}
