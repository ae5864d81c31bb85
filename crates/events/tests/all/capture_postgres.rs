//! Triggers in PostgreSQL: what they write, and that no write fails by them.

use crate::capture_sqlite::{all, trigger};
use crate::postgres_kit::hand::Hand;
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{Database, database};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use weir_events::capture::postgres::{CatalogOwner, WideNumbers, look, plan, reconcile, take_over};
use weir_events::capture::{CaptureDifference, Leftovers};
use weir_events::trigger::CapturedTrigger;
use weir_postgres::Settings;

on_each_release!(async
    rows_are_told_and_lists_of_columns_hold,
    values_that_are_no_jsonb_fail_no_write,
    comparison_is_by_value_or_by_image,
    writers_without_rights_and_with_settings_are_told_alike,
    tables_of_users_may_change_before_the_triggers_do,
    a_column_that_is_renamed_takes_nothing_else_along,
    a_role_that_may_not_make_a_schema_is_seen,
    a_role_that_may_only_read_the_schema_is_seen,
    partitions_are_told_as_their_table,
    a_foreign_catalog_is_left_alone,
    triggers_follow_definitions,
    a_lock_delays_triggers_of_its_table_alone,
    computed_columns_are_told_on_each_release,
    replicated_rows_and_heirs_are_told_if_they_are_wanted,
    rows_by_foreign_keys_come_behind_their_parent,
);

fn settings(database: &Database) -> Settings {
    Settings::parse(&database.socket_url(), |_| None).expect("it is an address")
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

async fn make(database: &Database, triggers: &[CapturedTrigger]) -> CaptureDifference {
    let settings = settings(database);
    let owner = look(&settings, deadline()).await.expect("it is asked").owner;
    let made = reconcile(&settings, owner, triggers, WideNumbers::Numbers, Leftovers::Drop, deadline()).await;
    made.expect("the triggers are made")
}

/// Payloads of the events so far, in their order.
fn events(database: &Database) -> Vec<Value> {
    let printed = database.run("SELECT payload FROM hdb_catalog.event_log ORDER BY weir_seq");
    printed.lines().map(|it| serde_json::from_str(it).expect("it is JSON")).collect()
}

/// Events of `sql` alone.
fn told_by(database: &Database, sql: &str) -> Vec<Value> {
    database.run("DELETE FROM hdb_catalog.event_log");
    database.run(sql);
    events(database)
}

async fn rows_are_told_and_lists_of_columns_hold() {
    let database = database(
        "CREATE SCHEMA shop; CREATE TABLE shop.\"a b\" (id int PRIMARY KEY, name text, price numeric, at timestamptz)",
    );
    let made = make(&database, &[trigger("shop.a b", "told", all())]).await;
    assert_eq!(made.made.len(), 3, "{made:?}");
    let found = told_by(
        &database,
        "INSERT INTO shop.\"a b\" VALUES (1, 'Ada', 1.50, '2024-05-01T10:00:00Z'); UPDATE shop.\"a b\" SET name = 'B'; UPDATE shop.\"a b\" SET name = 'B'; DELETE FROM shop.\"a b\"",
    );
    let row = json!({ "id": 1, "name": "Ada", "price": 1.50, "at": "2024-05-01T10:00:00+00:00" });
    let insert = json!({ "op": "INSERT", "data": { "old": null, "new": row }, "session_variables": null, "trace_context": null });
    assert_eq!((found.len(), &found[0]), (3, &insert));
    assert_eq!(
        (&found[1]["data"]["old"]["name"], &found[1]["data"]["new"]["name"]),
        (&json!("Ada"), &json!("B"))
    );
    assert_eq!((&found[2]["op"], &found[2]["data"]["new"]), (&json!("DELETE"), &Value::Null));
    let facts = database.run("SELECT schema_name, table_name, trigger_name, delivered, error, archived, tries, abs(extract(epoch FROM created_at - (now() AT TIME ZONE 'UTC'))) < 60 FROM hdb_catalog.event_log LIMIT 1");
    assert_eq!(facts.trim(), "shop|a b|told|f|f|f|0|t");
    let listed = json!({ "update": { "columns": ["price"], "payload": ["id"] } });
    make(&database, &[trigger("shop.a b", "told", listed)]).await;
    let found = told_by(
        &database,
        "INSERT INTO shop.\"a b\" VALUES (2, 'C', 1.5, NULL); UPDATE shop.\"a b\" SET name = 'D'; UPDATE shop.\"a b\" SET price = 1.50; UPDATE shop.\"a b\" SET price = NULL",
    );
    let expected = json!({ "old": { "id": 2 }, "new": { "id": 2 } });
    assert_eq!((found.len(), &found[0]["data"]), (1, &expected));
    let session = "BEGIN; SELECT set_config('hasura.user', '{\"x-hasura-role\":\"user\"}', true); UPDATE shop.\"a b\" SET price = 2; COMMIT; \
                   BEGIN; SELECT set_config('hasura.user', 'no json', true); UPDATE shop.\"a b\" SET price = 3; COMMIT; \
                   UPDATE shop.\"a b\" SET price = 4 WHERE current_setting('hasura.user', true) = ''";
    let found: Vec<Value> =
        told_by(&database, session).iter().map(|it| it["session_variables"].clone()).collect();
    // A connection that had the setting once has an empty text for ever.
    assert_eq!(found, [json!({ "x-hasura-role": "user" }), Value::Null, Value::Null]);
    let id = database.run("SELECT length(hdb_catalog.insert_event_log('shop', 'a b', 'told', 'MANUAL', '{\"old\": null, \"new\": {\"a\": 1}}'))");
    assert_eq!(id.trim(), "36");
}

async fn values_that_are_no_jsonb_fail_no_write() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY, j json, x text); INSERT INTO a VALUES (1, '{\"a\": \"\\u0000\"}', 'x'), (2, '1e999999', 'y')",
    );
    make(&database, &[trigger("public.a", "told", all())]).await;
    let found = told_by(
        &database,
        "UPDATE a SET x = 'z'; INSERT INTO a VALUES (3, '\"\\ud800\"', 'w'); DELETE FROM a",
    );
    let operations: Vec<&str> = found.iter().filter_map(|it| it["op"].as_str()).collect();
    assert_eq!(operations, ["UPDATE", "UPDATE", "INSERT", "DELETE", "DELETE", "DELETE"]);
    assert_eq!(found[0]["data"]["new"], json!({ "id": 1, "j": "{\"a\": \"\\u0000\"}", "x": "z" }));
    assert_eq!(found[1]["data"]["old"], json!({ "id": 2, "j": "1e999999", "x": "y" }));
}

async fn comparison_is_by_value_or_by_image() {
    let database = database(
        "CREATE TYPE pair AS (a int, b point); CREATE TABLE public.a (id int PRIMARY KEY, n numeric DEFAULT 1.0, j json DEFAULT '{\"a\": 1}', p point, b box DEFAULT '(1,1),(0,0)', c pair, t text[])",
    );
    make(&database, &[trigger("public.a", "told", json!({ "update": { "columns": "*" } }))]).await;
    database.run("INSERT INTO a (id) VALUES (1)");
    for (set, expected) in [
        ("n = 1.00", 0),
        ("j = '{\"a\":  1}'", 1),
        ("j = '{\"a\":  1}'", 0),
        ("b = '(2,2),(1,1)'", 1),
        ("p = '(1,2)'", 1),
        ("c = (1, '(1,2)')", 1),
        ("c = (1, '(1,2)')", 0),
        ("t = '{a}'", 1),
        ("n = NULL", 1),
        ("n = NULL", 0),
    ] {
        assert_eq!(told_by(&database, &format!("UPDATE a SET {set}")).len(), expected, "{set}");
    }
}

async fn writers_without_rights_and_with_settings_are_told_alike() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY, at timestamptz, i interval, b bytea, f float8); DO $$ BEGIN CREATE ROLE weak_writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT INSERT ON a TO weak_writer",
    );
    make(&database, &[trigger("public.a", "told", all())]).await;
    let found = told_by(
        &database,
        "SET ROLE weak_writer; SET search_path = ''; SET timezone = 'Asia/Kolkata'; SET intervalstyle = 'iso_8601'; SET bytea_output = 'escape'; SET extra_float_digits = -5; \
         INSERT INTO public.a VALUES (1, '2024-05-01T10:00:00Z', '1 day', '\\x00ff', 0.1::float8 + 0.2::float8)",
    );
    let time = database.run("SELECT abs(extract(epoch FROM created_at - (now() AT TIME ZONE 'UTC'))) < 60 FROM hdb_catalog.event_log");
    assert_eq!(time.trim(), "t", "the zone of the writer has no effect");
    let expected = json!({ "id": 1, "at": "2024-05-01T10:00:00+00:00", "i": "1 day", "b": "\\x00ff", "f": 0.30000000000000004 });
    assert_eq!(found[0]["data"]["new"], expected);
}

async fn tables_of_users_may_change_before_the_triggers_do() {
    let database = database("CREATE TABLE public.a (id int PRIMARY KEY, x int, y int)");
    let triggers = [
        trigger("public.a", "whole", all()),
        trigger("public.a", "listed", json!({ "update": { "columns": ["x"], "payload": ["y"] } })),
    ];
    make(&database, &triggers).await;
    database.run("INSERT INTO a VALUES (1, 2, 3)");
    let found = told_by(&database, "ALTER TABLE a ADD COLUMN j json; UPDATE a SET x = 3, j = '1'");
    assert_eq!((found.len(), found.iter().any(|it| it["data"]["new"]["j"] == json!(1))), (2, true));
    assert_eq!(told_by(&database, "ALTER TABLE a DROP COLUMN y; UPDATE a SET x = 4").len(), 2);
    assert_eq!(
        told_by(&database, "ALTER TABLE a ALTER COLUMN x TYPE json USING to_json(x); UPDATE a SET x = '5'")
            .len(),
        2
    );
    let made = make(&database, &triggers).await;
    assert_eq!(made.failed, [("listed".to_owned(), "column \"y\" does not exist in table \"a\"".to_owned())]);
    database.run("DROP TABLE hdb_catalog.event_log; UPDATE a SET x = '6'; INSERT INTO a VALUES (2)");
}

async fn a_column_that_is_renamed_takes_nothing_else_along() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY, x int, secret text); INSERT INTO a VALUES (1, 2, 's')",
    );
    let all_of_x = json!({ "update": { "columns": ["x"] } });
    let listed = json!({ "update": { "columns": ["x"], "payload": ["id", "x"] } });
    make(&database, &[trigger("public.a", "whole", all_of_x), trigger("public.a", "listed", listed)]).await;
    let found = told_by(&database, "ALTER TABLE a RENAME COLUMN x TO z; UPDATE a SET z = 3");
    let rows: Vec<&Value> = found.iter().map(|it| &it["data"]["new"]).collect();
    let whole = json!({ "id": 1, "z": 3, "secret": "s" });
    assert!(rows.contains(&&whole) && rows.contains(&&json!({ "id": 1 })), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

async fn a_role_that_may_not_make_a_schema_is_seen() {
    let database = database("CREATE TABLE public.a (id int PRIMARY KEY)");
    let role = format!("app_{}", std::process::id());
    database.run(&format!(
        "DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT ALL ON a TO {role}"
    ));
    let mut settings = settings(&database);
    assert!(look(&settings, deadline()).await.expect("it is asked").may_make);
    settings.user = role.clone();
    assert!(!look(&settings, deadline()).await.expect("it is asked").may_make);
    database.run(&format!("GRANT CREATE ON DATABASE \"{}\" TO {role}", database.name));
    assert!(look(&settings, deadline()).await.expect("it is asked").may_make);
    database.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

async fn partitions_are_told_as_their_table() {
    let database = database(
        "CREATE TABLE public.a (id int, x int) PARTITION BY LIST (id); CREATE TABLE a_1 PARTITION OF a FOR VALUES IN (1); CREATE TABLE a_2 PARTITION OF a FOR VALUES IN (2)",
    );
    make(&database, &[trigger("public.a", "told", all())]).await;
    told_by(&database, "INSERT INTO a VALUES (1, 1); UPDATE a SET x = 2; UPDATE a SET id = 2");
    let found =
        database.run("SELECT table_name, payload ->> 'op' FROM hdb_catalog.event_log ORDER BY weir_seq");
    assert_eq!(found, "a|INSERT\na|UPDATE\na|DELETE\na|INSERT\n");
    assert!(make(&database, &[trigger("public.a", "told", all())]).await.is_empty());
}

async fn a_foreign_catalog_is_left_alone() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY); CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_source_catalog_version (version text, upgraded_on timestamptz); \
         CREATE TABLE hdb_catalog.event_log (id text PRIMARY KEY DEFAULT gen_random_uuid()::text, schema_name text NOT NULL, table_name text NOT NULL, trigger_name text NOT NULL, payload jsonb NOT NULL, \
         delivered boolean NOT NULL DEFAULT false, error boolean NOT NULL DEFAULT false, tries int NOT NULL DEFAULT 0, created_at timestamp DEFAULT now(), locked timestamptz, next_retry_at timestamp, archived boolean NOT NULL DEFAULT false); \
         INSERT INTO hdb_catalog.event_log (schema_name, table_name, trigger_name, payload) VALUES ('public', 'a', 'told', '{}')",
    );
    let settings = settings(&database);
    let state = look(&settings, deadline()).await.expect("it is asked");
    assert_eq!((state.owner, state.is_read_only), (CatalogOwner::Other { pending: 1 }, false));
    assert!(make(&database, &[trigger("public.a", "told", all())]).await.is_empty());
    assert_eq!(database.run("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").trim(), "0");
    take_over(&settings, deadline()).await.expect("it is taken over");
    assert_eq!(look(&settings, deadline()).await.expect("it is asked").owner, CatalogOwner::Weir);
    assert_eq!(make(&database, &[trigger("public.a", "told", all())]).await.made.len(), 3);
    assert_eq!(told_by(&database, "INSERT INTO a VALUES (1)").len(), 1);
}

async fn triggers_follow_definitions() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY); CREATE TABLE public.b (id int); CREATE VIEW public.v AS SELECT 1 AS id",
    );
    let told = [trigger("public.a", "told", all())];
    let settings = settings(&database);
    let planned =
        plan(&settings, &told, WideNumbers::Numbers, Leftovers::Drop, deadline()).await.expect("asked");
    assert_eq!(planned.made.len(), 3);
    assert_eq!(look(&settings, deadline()).await.expect("it is asked").owner, CatalogOwner::Nobody);
    assert_eq!(make(&database, &told).await.made, planned.made);
    assert!(make(&database, &told).await.is_empty());
    let moved = [trigger("public.b", "told", json!({ "insert": { "columns": "*" } }))];
    let made = make(&database, &moved).await;
    assert_eq!((made.replaced.len(), made.dropped.len()), (1, 2), "{made:?}");
    assert_eq!(told_by(&database, "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)").len(), 1);
    let on_view = make(&database, &[trigger("public.v", "told", all())]).await;
    assert_eq!(
        on_view.failed,
        [("told".to_owned(), "\"v\" is no table on which triggers can stand".to_owned())]
    );
    assert_eq!(make(&database, &[]).await.dropped.len(), 1);
    assert_eq!(database.run("SELECT count(*) FROM pg_proc WHERE proname LIKE 'notify%'").trim(), "0");
}

async fn a_lock_delays_triggers_of_its_table_alone() {
    let database =
        database("CREATE TABLE public.a (id int PRIMARY KEY); CREATE TABLE public.b (id int PRIMARY KEY)");
    make(&database, &[trigger("public.a", "gone", all())]).await;
    let mut hand = Hand::new(&database).await;
    hand.run("BEGIN").await;
    hand.run("INSERT INTO a VALUES (1)").await;
    let triggers = [trigger("public.a", "told", all()), trigger("public.b", "other", all())];
    let made = make(&database, &triggers).await;
    let words = "its table is locked by another transaction".to_owned();
    assert_eq!(made.delayed, [("told".to_owned(), words.clone())]);
    let kept = ["DELETE", "INSERT", "UPDATE"].map(|it| (format!("notify_hasura_gone_{it}"), words.clone()));
    assert_eq!(made.kept, kept);
    assert_eq!((made.made.len(), made.dropped.len(), made.failed.len()), (3, 0, 0), "{made:?}");
    hand.run("COMMIT").await;
    let made = make(&database, &triggers).await;
    assert_eq!((made.made.len(), made.dropped.len()), (3, 3), "{made:?}");
    assert!(made.delayed.is_empty() && made.kept.is_empty(), "{made:?}");
}

async fn a_role_that_may_only_read_the_schema_is_seen() {
    let database =
        database("CREATE TABLE public.a (id int PRIMARY KEY); CREATE TABLE public.b (id int PRIMARY KEY)");
    make(&database, &[trigger("public.b", "other", all())]).await;
    let role = format!("reader_{}", std::process::id());
    database.run(&format!(
        "DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT TRIGGER ON a TO {role}; \
         GRANT USAGE ON SCHEMA hdb_catalog TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA hdb_catalog TO {role}"
    ));
    let mut reader = settings(&database);
    reader.user = role.clone();
    let told = [trigger("public.a", "told", all())];
    let plan = async || {
        let planned = plan(&reader, &told, WideNumbers::Numbers, Leftovers::Keep, deadline()).await;
        planned.expect("it is asked")
    };
    for (words, right) in [
        ("make functions", "CREATE ON SCHEMA hdb_catalog"),
        ("write the tables", "INSERT, UPDATE ON ALL TABLES IN SCHEMA hdb_catalog"),
    ] {
        let planned = plan().await;
        assert!(planned.is_empty() && planned.failed[0].1.contains(words), "{planned:?}");
        database.run(&format!("GRANT {right} TO {role}"));
    }
    assert_eq!(plan().await.made.len(), 3);
    database.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// PostgreSQL 18 computes a virtual column whenever it is read: a trigger's row has null there.
async fn computed_columns_are_told_on_each_release() {
    let has_virtual = database("").version() >= 18;
    let kind = if has_virtual { "VIRTUAL" } else { "STORED" };
    let database = database(&format!(
        "CREATE TABLE public.a (id int PRIMARY KEY, x int, y int, w int GENERATED ALWAYS AS (x * 2) {kind}); INSERT INTO a VALUES (1, 1, 1)"
    ));
    let listed = json!({ "update": { "columns": ["w"] }, "delete": { "columns": "*" } });
    make(&database, &[trigger("public.a", "told", listed)]).await;
    let found = told_by(&database, "UPDATE a SET y = 2; UPDATE a SET x = 3; DELETE FROM a");
    let told: Vec<Value> =
        found.iter().map(|it| json!([it["data"]["old"]["w"], it["data"]["new"]["w"]])).collect();
    assert_eq!(told, [json!([2, 6]), json!([6, null])]);
}

async fn replicated_rows_and_heirs_are_told_if_they_are_wanted() {
    let database = database("CREATE TABLE public.a (id int PRIMARY KEY); CREATE TABLE heir () INHERITS (a)");
    let mut told = trigger("public.a", "told", all());
    let replicated = "SET session_replication_role = replica; INSERT INTO a VALUES (1); RESET session_replication_role; INSERT INTO heir VALUES (2)";
    let made = make(&database, std::slice::from_ref(&told)).await;
    let heirs = "rows of tables that inherit from \"a\" are not told: they need triggers of their own";
    assert_eq!(made.warned, [("told".to_owned(), heirs.to_owned())]);
    assert_eq!(told_by(&database, replicated).len(), 0);
    told.on_replication = true;
    let made = make(&database, std::slice::from_ref(&told)).await;
    assert_eq!((made.replaced.len(), made.warned.len()), (3, 2), "{made:?}");
    assert_eq!(told_by(&database, &replicated.replace("(1)", "(3)")).len(), 1);
    assert_eq!(told_by(&database, "TRUNCATE a").len(), 0);
}

async fn rows_by_foreign_keys_come_behind_their_parent() {
    let database = database(
        "CREATE TABLE public.a (id int PRIMARY KEY); CREATE TABLE public.b (id int, a int REFERENCES a ON DELETE CASCADE); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1, 1)",
    );
    let definition = json!({ "delete": { "columns": "*" } });
    make(
        &database,
        &[trigger("public.b", "child", definition.clone()), trigger("public.a", "parent", definition)],
    )
    .await;
    database.run("DELETE FROM a");
    let found = database.run("SELECT trigger_name FROM hdb_catalog.event_log ORDER BY weir_seq");
    assert_eq!(found, "parent\nchild\n");
}

/// PostGIS stands beside the installed release alone.
#[test]
fn shapes_are_geojson_and_fail_no_write() {
    crate::postgres_kit::release::wait(async {
        let database = database(
            "CREATE EXTENSION postgis; CREATE TABLE public.a (id int PRIMARY KEY, g geometry, w geography)",
        );
        make(&database, &[trigger("public.a", "told", all())]).await;
        let found = told_by(
            &database,
            "INSERT INTO a VALUES (1, 'POINT(1 2)', 'POINT(3 4)'), (2, 'CIRCULARSTRING(0 0,1 1,2 0)', NULL); UPDATE a SET id = id + 2; DELETE FROM a",
        );
        assert_eq!(found.len(), 6);
        let row = &found[0]["data"]["new"];
        assert_eq!(row["g"], json!({ "type": "Point", "coordinates": [1, 2] }));
        assert_eq!(row["w"], json!({ "type": "Point", "coordinates": [3, 4] }));
        assert_eq!(found[1]["data"]["new"]["id"], 2);
    });
}
