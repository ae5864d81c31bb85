//! Native queries on PostgreSQL and SQLite: bound arguments, pages, permissions, relationships; and ways around a permission.

use crate::answer_kit;
use crate::hasura_kit::engine_settings;
use crate::kit;
use crate::postgres_kit::database;
use crate::postgres_kit::hand::soon;
use crate::postgres_kit::release::on_each_release;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{LiveQueries, LiveSettings, Subscription};
use weir_engine::source::Source;
use weir_hasura::model::{ModelOptions, Track};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::logical_model::LogicalModelEntry;
use weir_metadata::document::native_query::NativeQueryEntry;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_relational::catalog::Warning;

/// Boats and trips. What is not one owner's is secret.
const TABLES: &str = "
CREATE TABLE boat (id integer PRIMARY KEY, name text NOT NULL, owner text, price integer);
CREATE TABLE trip (id integer PRIMARY KEY, boat_id integer NOT NULL REFERENCES boat, miles integer);
INSERT INTO boat VALUES (1, 'Ada', 'ann', 10), (2, 'Bob', 'ann', 20), (3, 'Cid', 'ben', 30);
INSERT INTO trip VALUES (1, 1, 5), (2, 1, 7), (3, 3, 9);
";

/// Entries of the metadata that a test serves.
struct Entries {
    inherited_roles: Vec<InheritedRole>,
    tables: Vec<TableEntry>,
    queries: Vec<NativeQueryEntry>,
    models: Vec<LogicalModelEntry>,
}

impl Entries {
    fn options(&self) -> ModelOptions<'_> {
        ModelOptions {
            track: Track::Listed,
            tables: &self.tables,
            inherited_roles: &self.inherited_roles,
            native_queries: &self.queries,
            logical_models: &self.models,
            ..ModelOptions::default()
        }
    }
}

fn entries(queries: Value, models: Value) -> Entries {
    let tables = json!([
        {"table": "trip",
         "object_relationships": [{"name": "boat", "using": {"manual_configuration":
            {"column_mapping": {"boat_id": "id"}, "insertion_order": null, "remote_table": "boat"}}}],
         "array_relationships": [{"name": "fleet_boats", "using": {"manual_configuration":
            {"column_mapping": {"boat_id": "id"}, "insertion_order": null, "remote_native_query": "fleet"}}}],
         "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}],
         "update_permissions": [{"role": "user", "permission": {"columns": ["miles"], "filter": {}, "check": {}}}],
         "delete_permissions": [{"role": "user", "permission": {"filter": {}}}]},
        {"table": "boat",
         "array_relationships": [{"name": "summaries", "using": {"manual_configuration":
            {"column_mapping": {"id": "boat_id"}, "insertion_order": null, "remote_native_query": "far_trips"}}}],
         "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}]},
    ]);
    let read = |it| serde_json::from_value(it);
    let inherited_roles = json!([{"role_name": "both", "role_set": ["user", "buyer"]}]);
    Entries {
        inherited_roles: serde_json::from_value(inherited_roles).unwrap(),
        tables: read(tables).unwrap(),
        queries: serde_json::from_value(queries).unwrap(),
        models: serde_json::from_value(models).unwrap(),
    }
}

fn usual() -> Entries {
    let argument = |ty: &str, nullable: bool| json!({"type": ty, "nullable": nullable});
    let to = |name: &str, target: (&str, &str), mapping: Value| {
        json!({"name": name, "using": {"manual_configuration":
            {"column_mapping": mapping, "insertion_order": null, target.0: target.1}}})
    };
    let queries = json!([
        {"root_field_name": "fleet", "returns": "fleet_boat", "arguments": {"above": argument("integer", true), "named": argument("text", true)},
         "code": "SELECT id, name, owner, price, price * 2 AS twice FROM boat\n WHERE (price > {{above}} OR {{above}} IS NULL) AND ({{named}} IS NULL OR name = {{named}}) -- all\n;",
         "array_relationships": [to("trips", ("remote_table", "trip"), json!({"id": "boat_id"}))],
         "object_relationships": [to("far", ("remote_native_query", "far_trips"), json!({"id": "boat_id"}))]},
        {"root_field_name": "far_trips", "returns": "far_trip", "arguments": {"miles": argument("integer", false)},
         "code": "SELECT boat_id, sum(miles) AS total, count(*) AS trips FROM trip WHERE miles >= {{miles}} GROUP BY boat_id"},
        {"root_field_name": "inline", "returns": {"fields": [{"name": "one", "type": "integer"}]}, "code": "SELECT 1 AS one"},
    ]);
    let models = json!([
        {"name": "fleet_boat", "description": "Boats of the fleet", "fields": [
            {"name": "id", "type": "integer"},
            {"name": "name", "type": {"scalar": "text", "nullable": false}},
            {"name": "owner", "type": "text", "nullable": true},
            {"name": "price", "type": {"scalar": "integer", "nullable": true}},
            {"name": "twice", "type": {"scalar": "integer", "nullable": true}}],
         "select_permissions": [{"role": "user", "permission": {"columns": ["id", "name", "owner"], "filter": {"owner": {"_eq": "X-Hasura-User-Id"}}}},
            {"role": "buyer", "permission": {"columns": ["id", "price"], "filter": {"price": {"_lt": 25}}}}]},
        {"name": "far_trip", "fields": [
            {"name": "boat_id", "type": "integer"},
            {"name": "total", "type": {"scalar": "bigint", "nullable": true}},
            {"name": "trips", "type": {"scalar": "bigint", "nullable": false}}],
         "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}]},
        {"name": "unused", "fields": [{"name": "x", "type": "integer"}]},
    ]);
    entries(queries, models)
}

fn user(id: &str) -> Identity {
    let claims = Claims::new([("x-hasura-user-id".to_owned(), id.to_owned())], Token::Absent).into();
    Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims }
}

async fn ask(engine: &Engine, identity: &Identity, query: &str) -> Value {
    serde_json::from_str(&answer_kit::ask(engine, identity, query).await).expect("it is JSON")
}

async fn postgres(entries: &Entries, sql: &str) -> (Engine, Vec<Warning>, crate::postgres_kit::Database) {
    let database = database(sql);
    let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    let options =
        PostgresOptions { model: entries.options(), schemas: &["public".to_owned()], stringify: false };
    let (source, warnings) = open_postgres("main", settings, options, Duration::from_secs(60)).await.unwrap();
    let graph = Graph::compose(vec![Arc::new(source) as Arc<dyn Source>], &[]).unwrap();
    (Engine::new(graph, engine_settings(256 << 10)), warnings, database)
}

/// All that both databases answer alike.
async fn check_answers(engine: &Engine) {
    let admin = Identity::admin();
    let check = async |identity: &Identity, query: &str, expected: Value| {
        assert_eq!(ask(engine, identity, query).await, json!({"data": expected}), "{query}");
    };
    check(
        &admin,
        "{ fleet(order_by: {id: asc}) { name twice } }",
        json!({"fleet": [
        {"name": "Ada", "twice": 20}, {"name": "Bob", "twice": 40}, {"name": "Cid", "twice": 60}]}),
    )
    .await;
    check(
        &admin,
        "{ fleet(args: {above: 10}, where: {price: {_lt: 30}}) { id } }",
        json!({"fleet": [{"id": 2}]}),
    )
    .await;
    check(&admin, "{ fleet(args: {above: null, named: \"Ada\"}) { id } none: fleet(args: {named: \"' OR 1=1 --\"}) { id } }",
        json!({"fleet": [{"id": 1}], "none": []})).await;
    check(
        &admin,
        "{ fleet(order_by: {price: desc}, limit: 1, offset: 1) { name } }",
        json!({"fleet": [{"name": "Bob"}]}),
    )
    .await;
    check(
        &admin,
        "{ fleet(distinct_on: [owner], order_by: [{owner: asc}, {price: desc}]) { name } }",
        json!({"fleet": [{"name": "Bob"}, {"name": "Cid"}]}),
    )
    .await;
    check(&admin, "{ inline { one } far_trips(args: {miles: 6}, order_by: {boat_id: asc}) { boat_id total trips } }",
        json!({"inline": [{"one": 1}], "far_trips": [{"boat_id": 1, "total": 7, "trips": 1}, {"boat_id": 3, "total": 9, "trips": 1}]})).await;
    // Ways from a query to a table, to a query, and from a table to a query.
    check(&admin, "{ fleet(args: {above: 10}, order_by: {id: asc}) { id trips(order_by: {id: asc}) { miles } far(args: {miles: 1}) { total } } }",
        json!({"fleet": [{"id": 2, "trips": [], "far": null}, {"id": 3, "trips": [{"miles": 9}], "far": {"total": 9}}]})).await;
    check(&admin, "{ boat(order_by: {id: asc}) { id summaries(args: {miles: 6}) { total } } }",
        json!({"boat": [{"id": 1, "summaries": [{"total": 7}]}, {"id": 2, "summaries": []}, {"id": 3, "summaries": [{"total": 9}]}]})).await;
    // A role sees its rows and columns.
    let ann = user("ann");
    check(&ann, "{ fleet(order_by: {id: desc}) { id owner trips { miles } } }", json!({"fleet": [
        {"id": 2, "owner": "ann", "trips": []}, {"id": 1, "owner": "ann", "trips": [{"miles": 5}, {"miles": 7}]}]})).await;
    check(&user("zoe"), "{ fleet { id } }", json!({"fleet": []})).await;
}

/// An inherited role sees the rows of its roles, each with the cells that one of them sees.
async fn check_inherited(engine: &Engine) {
    let both = |id: &str| Identity { role: "both".into(), ..user(id) };
    let rows = "{ fleet(order_by: {id: asc}) { id name price } }";
    let expected = json!({"data": {"fleet": [{"id": 1, "name": null, "price": 10}, {"id": 2, "name": null, "price": 20},
        {"id": 3, "name": "Cid", "price": null}]}});
    assert_eq!(ask(engine, &both("ben"), rows).await, expected);
    // A hidden cell is not found by a condition or an order, either.
    for query in
        ["{ fleet(where: {name: {_eq: \"Ada\"}}) { id } }", "{ fleet(where: {price: {_gt: 25}}) { id } }"]
    {
        assert_eq!(ask(engine, &both("ben"), query).await, json!({"data": {"fleet": []}}), "{query}");
    }
    let by_price = ask(engine, &both("ben"), "{ fleet(order_by: {price: asc_nulls_first}) { id } }").await;
    assert_eq!(by_price, json!({"data": {"fleet": [{"id": 3}, {"id": 1}, {"id": 2}]}}));
    let hidden = ask(engine, &both("ben"), "{ fleet { twice } }").await;
    assert!(hidden.get("errors").is_some(), "{hidden}");
}

/// A native query is read again for its subscribers, each with the rows of its role.
async fn check_live(engine: &Engine) {
    let live =
        LiveQueries::of(engine, LiveSettings { poll: Duration::from_millis(50), ..LiveSettings::STANDARD });
    let text = "subscription { fleet(args: {above: 5}, order_by: {id: asc}) { id name trips { miles } } }";
    let mut running = Vec::new();
    for identity in [user("ann"), user("ben")] {
        let request = Request::new(text, soon());
        let bound = engine
            .bind(request, &engine.caller(&identity))
            .await
            .unwrap_or_else(|it| panic!("{:?}", it.body));
        running.push(live.subscribe(bound).expect("it begins"));
    }
    let hear = async |subscription: &mut Subscription| -> Value {
        let result = subscription.next().await.expect("it is read");
        serde_json::from_slice(&result.body).expect("it is JSON")
    };
    let first = hear(&mut running[0]).await;
    assert_eq!(
        first["data"]["fleet"][0],
        json!({"id": 1, "name": "Ada", "trips": [{"miles": 5}, {"miles": 7}]})
    );
    let second = hear(&mut running[1]).await;
    assert_eq!(second, json!({"data": {"fleet": [{"id": 3, "name": "Cid", "trips": [{"miles": 9}]}]}}));
    let rename = "mutation { update_boat_by_pk(pk_columns: {id: 3}, _set: {name: \"Dee\"}) { id } }";
    assert!(ask(engine, &Identity::admin(), rename).await.get("errors").is_none());
    let second = hear(&mut running[1]).await;
    assert_eq!(second["data"]["fleet"][0]["name"], "Dee", "{second}");
    let hidden = Request::new("subscription { fleet(order_by: {price: asc}) { id } }", soon());
    assert!(engine.bind(hidden, &engine.caller(&user("ann"))).await.is_err());
}

/// A role tries to learn of what is hidden from it.
async fn check_walls(engine: &Engine) {
    let ann = user("ann");
    // Columns that it may not see cannot be named anywhere.
    for query in [
        "{ fleet { price } }",
        "{ fleet(where: {price: {_gt: 25}}) { id } }",
        "{ fleet(where: {_not: {_or: [{twice: {_gt: 25}}]}}) { id } }",
        "{ fleet(order_by: {price: desc}) { id } }",
        "{ fleet(distinct_on: [price]) { id } }",
        "{ inline { one } }",
        "{ unused { x } }",
        "{ fleet_boat { id } }",
        "{ fleet_aggregate { aggregate { count } } }",
        "{ fleet_by_pk(id: 1) { id } }",
        "mutation { insert_fleet_boat(objects: {id: 1}) { affected_rows } }",
        "mutation { update_trip(where: {boat: {summaries: {total: {_gt: 1}}}}, _set: {miles: 1}) { affected_rows } }",
        "mutation { update_trip(where: {}, _set: {miles: 1}) { returning { fleet_boats(where: {price: {_gt: 25}}) { id } } } }",
        "mutation { update_trip(where: {}, _set: {miles: 1}) { returning { fleet_boats(order_by: {price: asc}) { id } } } }",
        "mutation { update_trip(where: {}, _set: {miles: 1}) { returning { fleet_boats(distinct_on: [price]) { id } } } }",
        "mutation { update_trip(where: {fleet_boats: {price: {_gt: 25}}}, _set: {miles: 1}) { affected_rows } }",
        "mutation { delete_trip(where: {fleet_boats: {id: {_gt: 0}}}) { affected_rows } }",
    ] {
        let answer = ask(engine, &ann, query).await;
        assert!(answer.get("errors").is_some() && answer.get("data").is_none(), "{query}: {answer}");
    }
    // Relationships of returned rows lead to the rows of the role alone.
    let returned = "mutation { update_trip(where: {}, _inc: {miles: 0}) { returning { id fleet_boats(where: {id: {_gt: 0}}) { id owner } } } }";
    let returned = ask(engine, &ann, returned).await;
    let boats = |at: usize| returned["data"]["update_trip"]["returning"][at]["fleet_boats"].clone();
    assert_eq!([boats(0), boats(2)], [json!([{"id": 1, "owner": "ann"}]), json!([])], "{returned}");
    // Rows of others stay hidden, whatever is asked, and an argument is a value.
    for query in [
        "{ fleet(where: {owner: {_eq: \"ben\"}}) { id } }",
        "{ fleet(where: {_or: [{owner: {_is_null: true}}, {id: {_eq: 3}}]}) { id } }",
        "{ fleet(args: {above: 25}) { id } }",
        "{ fleet(args: {named: \"Cid\"}) { id } }",
        "{ fleet(args: {named: \"x') OR true) --\"}) { id } }",
        "{ fleet(args: {named: \"{{above}}\"}) { id } }",
    ] {
        assert_eq!(ask(engine, &ann, query).await, json!({"data": {"fleet": []}}), "{query}");
    }
    let wrong = ask(engine, &ann, "{ fleet(args: {above: \"1) OR (1=1\"}) { id } }").await.to_string();
    assert!(wrong.contains("errors") && !wrong.contains("Cid"), "{wrong}");
    let missing = ask(engine, &ann, "{ far_trips(args: {}) { total } }").await.to_string();
    assert!(missing.contains("miles"), "{missing}");
    let nobody = Identity { role: "guest".into(), ..user("ann") };
    assert!(ask(engine, &nobody, "{ fleet { id } }").await.get("errors").is_some());
}

on_each_release! { async
    a_native_query_is_asked_as_a_table_is,
    a_role_does_not_get_around_its_permission,
    inherited_roles_and_subscribers_have_their_rows,
    what_the_database_does_not_give_is_left_out,
    a_query_that_changes_data_changes_it_once,
}

async fn a_native_query_is_asked_as_a_table_is() {
    let (engine, warnings, _database) = postgres(&usual(), TABLES).await;
    assert_eq!(warnings, []);
    check_answers(&engine).await;
    let types = "{ a: __type(name: \"far_trips_arguments\") { inputFields { name type { kind } } } b: __type(name: \"fleet_boat_enum_name\") { enumValues { name } }
        c: __type(name: \"fleet_boat\") { description fields { name type { kind name } } } }";
    let shown = ask(&engine, &Identity::admin(), types).await["data"].take();
    assert_eq!(shown["a"]["inputFields"], json!([{"name": "miles", "type": {"kind": "NON_NULL"}}]));
    assert_eq!(shown["b"]["enumValues"].as_array().map(Vec::len), Some(5));
    assert_eq!(shown["c"]["description"], "Boats of the fleet");
}

async fn a_role_does_not_get_around_its_permission() {
    let (engine, _, _database) = postgres(&usual(), TABLES).await;
    check_walls(&engine).await;
}

async fn inherited_roles_and_subscribers_have_their_rows() {
    let (engine, _, _database) = postgres(&usual(), TABLES).await;
    check_inherited(&engine).await;
    check_live(&engine).await;
}

/// Native queries with the warning about each.
fn faulty() -> [(Value, &'static str); 7] {
    let query = |code: &str, arguments: Value| json!({"root_field_name": "q", "returns": "m", "code": code, "arguments": arguments});
    [
        (
            query("SELECT {{b}} AS x", json!({})),
            "The following columns are used in the query, but are not declared as arguments: b",
        ),
        (
            query("SELECT 1 AS x", json!({"a": {"type": "integer"}})),
            "The following columns are declared as arguments, but are not used in the query: a",
        ),
        (
            query("SELECT {{a", json!({"a": {"type": "integer"}})),
            "Found '{{' without a matching closing '}}'",
        ),
        (
            query("SELECT 1 AS y", json!({})),
            "Failed to validate query: Column named 'x' is not returned from the query.",
        ),
        (query("SELECT nothing AS x FROM boat", json!({})), "Failed to validate query: "),
        (
            json!({"root_field_name": "q", "returns": "nowhere", "code": "SELECT 1 AS x"}),
            "Logical model 'nowhere' not found.",
        ),
        (query("DROP TABLE boat", json!({})), "Failed to validate query: "),
    ]
}

fn one_field(ty: &str) -> Value {
    json!([{"name": "m", "fields": [{"name": "x", "type": ty}]}])
}

fn check_fault(warnings: &[Warning], expected: &str) {
    let found: Vec<String> =
        warnings.iter().filter(|it| it.place == "q").map(|it| it.reason.clone()).collect();
    assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?} instead of {expected}");
}

async fn what_the_database_does_not_give_is_left_out() {
    for (query, expected) in faulty() {
        let (engine, warnings, _database) =
            postgres(&entries(json!([query]), one_field("integer")), TABLES).await;
        check_fault(&warnings, expected);
        assert!(ask(&engine, &Identity::admin(), "{ boat { id } }").await.get("data").is_some());
        assert!(ask(&engine, &Identity::admin(), "{ q { x } }").await.get("errors").is_some());
    }
    let query = json!([{"root_field_name": "q", "returns": "m", "code": "SELECT 'a'::text AS x"}]);
    let wrong = entries(query, one_field("integer"));
    let (_, warnings, _database) = postgres(&wrong, TABLES).await;
    check_fault(
        &warnings,
        "Failed to validate query: Return column 'x' has a type mismatch. The expected type is 'integer', but the actual type is 'text'.",
    );
    let database = database(TABLES);
    let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    let model = ModelOptions { trusts_natives: true, ..wrong.options() };
    let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
    let (_, warnings) = open_postgres("main", settings, options, Duration::from_secs(60)).await.unwrap();
    assert!(warnings.iter().all(|it| it.place != "q"), "{warnings:?}");
    let unknown = entries(
        json!([{"root_field_name": "q", "returns": "m", "code": "SELECT 1 AS x"}]),
        one_field("no such type; DROP TABLE boat"),
    );
    let (_, warnings, _database) = postgres(&unknown, TABLES).await;
    assert!(warnings.iter().any(|it| it.reason.contains("the database has no type")), "{warnings:?}");
}

async fn a_query_that_changes_data_changes_it_once() {
    let queries = json!([
        {"root_field_name": "q", "returns": "m", "arguments": {"name": {"type": "text"}},
         "code": "INSERT INTO boat VALUES ((SELECT max(id) + 1 FROM boat), {{name}}) RETURNING id AS x"},
        {"root_field_name": "calls", "returns": "m", "code": "SELECT nextval('tries')::integer AS x"}]);
    let (engine, warnings, database) =
        postgres(&entries(queries, one_field("integer")), &format!("{TABLES} CREATE SEQUENCE tries;")).await;
    let others = ["boat.summaries", "trip.fleet_boats", "both"];
    assert!(warnings.iter().all(|it| others.contains(&it.place.as_str())), "{warnings:?}");
    let admin = Identity::admin();
    let inserted = ask(&engine, &admin, "{ q(args: {name: \"Dan\"}) { x } }").await;
    assert_eq!(inserted, json!({"data": {"q": [{"x": 4}]}}));
    assert_eq!(database.run("SELECT name FROM boat WHERE id = 4"), "Dan\n");
    let both = futures_util::future::join(
        ask(&engine, &admin, "{ calls { x } }"),
        ask(&engine, &admin, "{ calls { x } }"),
    );
    let (one, other) = both.await;
    assert_ne!(one, other);
}

#[tokio::test]
async fn sqlite_serves_native_queries_too() {
    let entries = usual();
    let served = kit::serve_as(TABLES, entries.options(), &[]);
    check_answers(&served.engine).await;
    check_walls(&served.engine).await;
    check_inherited(&served.engine).await;
    check_live(&served.engine).await;
}

#[test]
fn what_sqlite_does_not_give_is_left_out() {
    for (query, expected) in faulty() {
        let entries = entries(json!([query]), one_field("integer"));
        let (_, warnings) = kit::serve_warned(TABLES, entries.options());
        check_fault(&warnings, expected);
    }
}
