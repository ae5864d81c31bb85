//! Rights and promises that are less than whole: columns that a login may write, constraints that hold for new rows alone; and the words
//! of what PostgreSQL refuses for reasons that its codes do not tell.

use crate::hasura_kit::{Served, serve, serve_with};
use crate::postgres_kit::database;
use crate::postgres_kit::release::{Release, on_each_release};
use weir_postgres::Settings;

on_each_release! {
    async columns_that_may_be_written_are_offered,
    a_column_whose_constraint_is_not_valid_may_be_null,
    refusals_say_what_to_do,
    a_right_that_is_missing_is_told,
}

/// Serves what `sql` makes to the login `name`.
async fn serve_to(name: &str, sql: &str) -> Served {
    let login = format!(
        "DO $$ BEGIN CREATE ROLE {name} LOGIN PASSWORD 'x'; EXCEPTION WHEN duplicate_object THEN NULL; END $$; {sql}"
    );
    let database = database(&login);
    let url = database.url();
    let host = url.split_once('@').unwrap().1;
    let settings = Settings::parse(&format!("postgres://{name}:x@{host}"), |_| None).unwrap();
    serve_with(database, &["public"], |it| *it = settings).await
}

/// The fields of an input or the values of an enum, in their order.
async fn members(served: &Served, name: &str) -> Vec<String> {
    let query = format!("{{ __type(name: \"{name}\") {{ inputFields {{ name }} enumValues {{ name }} }} }}");
    let json: serde_json::Value = serde_json::from_str(&served.ask(&query).await).unwrap();
    let ty = &json["data"]["__type"];
    let all = [&ty["inputFields"], &ty["enumValues"]].into_iter().filter_map(|it| it.as_array()).flatten();
    all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

async fn columns_that_may_be_written_are_offered() {
    let sql = "CREATE TABLE user_note (id int4 PRIMARY KEY, word text, hits int4 DEFAULT 0, info jsonb, owner text DEFAULT 'nobody');
        GRANT SELECT, INSERT (id, word, info), UPDATE (word, hits, owner) ON user_note TO writer_of_some;
        CREATE TABLE log (id int4 PRIMARY KEY, line text);
        GRANT SELECT, INSERT (line, id) ON log TO writer_of_some;
        INSERT INTO user_note (id, word) VALUES (1, 'old');";
    let served = serve_to("writer_of_some", sql).await;
    assert_eq!(members(&served, "user_note_insert_input").await, ["id", "word", "info"]);
    assert_eq!(members(&served, "user_note_set_input").await, ["word", "hits", "owner"]);
    assert_eq!(members(&served, "user_note_inc_input").await, ["hits"]);
    assert_eq!(members(&served, "user_note_update_column").await, ["word", "hits", "owner"]);
    assert_eq!(members(&served, "user_note_append_input").await, [""; 0]);
    assert_eq!(members(&served, "log_insert_input").await, ["id", "line"]);
    assert_eq!(members(&served, "log_set_input").await, [""; 0]);
    for (mutation, expected) in [
        (
            r#"insert_user_note_one(object: {id: 2, word: "new"}) { word hits owner }"#,
            r#"{"insert_user_note_one":{"word":"new","hits":0,"owner":"nobody"}}"#,
        ),
        (
            r#"update_user_note_by_pk(pk_columns: {id: 1}, _inc: {hits: 2}, _set: {owner: "one"}) { hits owner word }"#,
            r#"{"update_user_note_by_pk":{"hits":2,"owner":"one","word":"old"}}"#,
        ),
        (
            r#"insert_user_note_one(object: {id: 1, word: "third"}, on_conflict: {constraint: user_note_pkey, update_columns: [word]}) { word hits }"#,
            r#"{"insert_user_note_one":{"word":"third","hits":2}}"#,
        ),
        (
            r#"insert_log(objects: [{id: 1, line: "a"}]) { affected_rows }"#,
            r#"{"insert_log":{"affected_rows":1}}"#,
        ),
    ] {
        let answer = served.ask(&format!("mutation {{ {mutation} }}")).await;
        assert_eq!(answer, format!(r#"{{"data":{expected}}}"#), "{mutation}");
    }
}

async fn a_column_whose_constraint_is_not_valid_may_be_null() {
    let sql = "CREATE TABLE thing (id int4 PRIMARY KEY, name text, size int4 NOT NULL); INSERT INTO thing VALUES (1, NULL, 2);";
    let is_18 = Release::current() == Release::Eighteen;
    let constraint =
        if is_18 { "ALTER TABLE thing ADD CONSTRAINT named NOT NULL name NOT VALID" } else { "" };
    let served = serve(database(&format!("{sql} {constraint}"))).await;
    let query = r#"{ thing(where: {name: {_is_null: true}}, order_by: {name: desc_nulls_first}) { id name size } __type(name: "thing") { fields { name type { kind } } } }"#;
    let expected = concat!(
        r#"{"data":{"thing":[{"id":1,"name":null,"size":2}],"__type":{"fields":["#,
        r#"{"name":"id","type":{"kind":"NON_NULL"}},{"name":"name","type":{"kind":"SCALAR"}},{"name":"size","type":{"kind":"NON_NULL"}}]}}}"#
    );
    assert_eq!(served.ask(query).await, expected);
    let valid = "UPDATE thing SET name = 'n'; ALTER TABLE thing ALTER name SET NOT NULL";
    let again = serve(database(&format!("{sql} {constraint}; {valid}"))).await;
    assert!(again.ask(query).await.contains(r#"{"name":"name","type":{"kind":"NON_NULL"}}"#));
}

/// Operations that PostgreSQL refuses on [`REFUSING`], and the answers.
const REFUSED: &[(&str, &str)] = &[
    ("{ unfilled { id } }", "DATABASE_ERROR: the materialized view was never filled: refresh it first"),
    (
        r#"{ folded(where: {word: {_regex: "a"}}) { word } }"#,
        "NOT_SUPPORTED: the database matches no pattern and no part of a text by a collation that is not deterministic",
    ),
    (
        r#"{ folded(where: {word: {_ilike: "a%"}}) { word } }"#,
        "NOT_SUPPORTED: the database matches no pattern and no part of a text by a collation that is not deterministic",
    ),
    (
        r#"mutation { insert_ruled(objects: [{word: "a"}]) { affected_rows returning { word } } }"#,
        "NOT_SUPPORTED: the rule that does the change of the view gives no rows back: it needs a RETURNING clause",
    ),
    (
        r#"mutation { insert_ruled_table(objects: [{id: 1}], on_conflict: {constraint: ruled_table_pkey}) { affected_rows } }"#,
        "NOT_SUPPORTED: a table or view with rules takes no `on_conflict`",
    ),
    (
        "mutation { update_published(where: {}, _set: {id: 2}) { affected_rows } }",
        "DATABASE_ERROR: the table's changes are published and its rows have no identity there: give the table a replica identity",
    ),
];

const REFUSING: &str = "
CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS id WITH NO DATA;
CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE folded (id int4 PRIMARY KEY, word text COLLATE folding);
INSERT INTO folded VALUES (1, 'a');
CREATE VIEW ruled AS SELECT * FROM folded;
CREATE RULE into_folded AS ON INSERT TO ruled DO INSTEAD INSERT INTO folded VALUES (9, new.word);
CREATE TABLE ruled_table (id int4 PRIMARY KEY);
CREATE RULE also AS ON INSERT TO ruled_table DO ALSO NOTIFY ruled;
CREATE TABLE published (id int4 PRIMARY KEY);
INSERT INTO published VALUES (1);
ALTER TABLE published REPLICA IDENTITY NOTHING;
CREATE PUBLICATION all_of_it FOR TABLE published;
";

async fn refusals_say_what_to_do() {
    let served = serve(database(REFUSING)).await;
    for (query, expected) in REFUSED {
        assert_eq!(served.error(query, "").await, *expected, "{query}");
    }
}

async fn a_right_that_is_missing_is_told() {
    let sql = "CREATE TABLE counted (id serial PRIMARY KEY, word text); GRANT ALL ON counted TO writer_without;
        CREATE TABLE walled (id int4 PRIMARY KEY, word text); ALTER TABLE walled ENABLE ROW LEVEL SECURITY; GRANT ALL ON walled TO writer_without;
        CREATE POLICY shown ON walled USING (true) WITH CHECK (id < 10);";
    let served = serve_to("writer_without", sql).await;
    for (mutation, expected) in [
        (
            r#"insert_counted_one(object: {word: "a"}) { id }"#,
            "DATABASE_ERROR: the login at the database may not use the sequence of a column: grant it USAGE",
        ),
        (
            r#"insert_walled_one(object: {id: 10}) { id }"#,
            "CHECK_VIOLATION: new row violates a row-level security policy",
        ),
    ] {
        assert_eq!(served.error(&format!("mutation {{ {mutation} }}"), "").await, expected, "{mutation}");
    }
    served.database.run("REVOKE INSERT ON walled FROM writer_without");
    let answer = served.error("mutation { insert_walled_one(object: {id: 1}) { id } }", "").await;
    assert_eq!(
        answer,
        "DATABASE_ERROR: the login at the database lacks a right that the request needs: the log names it"
    );
}
