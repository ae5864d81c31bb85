//! Definitions that change while a server has prepared statements over them: what can go on goes on, and what cannot says so without
//! having changed a row.

use crate::hasura_kit::{Served, serve, serve_with};
use crate::postgres_kit::database;
use crate::postgres_kit::release::on_each_release;

on_each_release! {
    async changes_that_leave_the_values_alone_fail_nothing,
    a_table_an_enum_and_a_domain_that_grow_fail_nothing,
    a_mutation_whose_rows_cannot_be_given_changes_nothing,
    a_mutation_in_a_group_whose_rows_cannot_be_given_changes_nothing,
}

const NOTES: &str = "
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN short AS text;
CREATE TABLE place (id int4 PRIMARY KEY, name varchar(10) NOT NULL);
CREATE TABLE note (id int4 PRIMARY KEY, place_id int4 NOT NULL REFERENCES place, word varchar(10) NOT NULL,
    price numeric(10, 4) NOT NULL, at timestamp(3) NOT NULL, mood mood NOT NULL, short short NOT NULL, hits int4 NOT NULL);
INSERT INTO place VALUES (1, 'here');
INSERT INTO note VALUES (1, 1, 'w', 1.5, '2026-01-02 03:04:05', 'good', 's', 0);
";

/// Statements over every column, in all the ways in which they are sent.
const ASKED: &[&str] = &[
    "{ note_by_pk(id: 1) { id word price at mood short place { name } } }",
    "{ note(limit: 5) { id word price at mood short place { name } } }",
    "{ note { word price place { name notes { word price at mood } } } place { name } }",
    "{ note_aggregate { aggregate { count max { word price at } } nodes { word } } }",
    r#"{ note(where: {word: {_eq: "w"}, mood: {_eq: good}, price: {_gt: "1"}}) { short } }"#,
    "mutation { update_note_by_pk(pk_columns: {id: 1}, _set: {mood: good}) { word price at mood short } }",
    "mutation { update_note(where: {id: {_eq: 1}}, _set: {mood: good}) { returning { word price place { name } } } }",
    "mutation { a: delete_note(where: {id: {_lt: 0}}) { returning { word price } } b: delete_note_by_pk(id: -1) { at mood } }",
    r#"mutation { insert_note_one(object: {id: 1, place_id: 1, word: "w", price: "1", at: "2026-01-01", mood: bad, short: "s", hits: 1}, on_conflict: {constraint: note_pkey, update_columns: [place_id]}) { word price at } }"#,
];

async fn answers(served: &Served) -> Vec<String> {
    let mut answers = Vec::with_capacity(ASKED.len());
    for query in ASKED {
        answers.push(served.ask(&query.replace(": good", ": \"good\"").replace(": bad", ": \"bad\"")).await);
    }
    answers
}

/// The types of columns change, and the types of the values do not.
async fn changes_that_leave_the_values_alone_fail_nothing() {
    let served = serve(database(NOTES)).await;
    let before = answers(&served).await;
    assert!(before.iter().all(|it| !it.contains("errors")), "{before:#?}");
    for change in [
        "ALTER TABLE note ALTER word TYPE varchar(20)",
        "ALTER TABLE note ALTER word TYPE text, ALTER price TYPE numeric(14, 4)",
        "ALTER TABLE place ALTER name TYPE text",
        "ALTER TABLE note ALTER at TYPE timestamp(6), ALTER word TYPE varchar(40)",
        "ALTER TABLE note ALTER word TYPE varchar(30) COLLATE \"C\"",
        "ALTER TABLE place ALTER name TYPE varchar(11); ALTER TABLE note ALTER price TYPE numeric(12, 4)",
        "BEGIN; ALTER TABLE note RENAME TO other; CREATE TABLE note (LIKE other INCLUDING ALL); \
         INSERT INTO note SELECT * FROM other; ALTER TABLE note ADD FOREIGN KEY (place_id) REFERENCES place; \
         ALTER TABLE other RENAME CONSTRAINT note_pkey TO other_pkey; ALTER INDEX note_pkey1 RENAME TO note_pkey; COMMIT",
        "BEGIN; ALTER TABLE note RENAME word TO sword; ALTER TABLE note RENAME sword TO word; COMMIT",
    ] {
        served.database.run(change);
        for _ in 0..2 {
            assert_eq!(answers(&served).await, before, "{change}");
        }
    }
}

async fn a_table_an_enum_and_a_domain_that_grow_fail_nothing() {
    let served = serve(database(NOTES)).await;
    let before = answers(&served).await;
    for change in [
        "ALTER TABLE note ADD more text NOT NULL DEFAULT 'more'",
        "ALTER TYPE mood ADD VALUE 'fair' AFTER 'good'",
        "ALTER DOMAIN short ADD CHECK (length(value) < 10)",
        "ALTER DOMAIN short SET NOT NULL; ALTER DOMAIN short SET DEFAULT 'x'",
        "ALTER TABLE note DROP more; ALTER TABLE note ADD first int4",
    ] {
        served.database.run(change);
        assert_eq!(answers(&served).await, before, "{change}");
    }
    served.database.run("UPDATE note SET mood = 'fair'");
    let fair = r#"{ note(where: {mood: {_eq: "fair"}, id: {_gte: 1}}, order_by: {mood: asc}) { mood } }"#;
    assert_eq!(served.ask(fair).await, r#"{"data":{"note":[{"mood":"fair"}]}}"#);
    let long = r#"mutation { update_note(where: {}, _set: {short: "much too long"}) { affected_rows } }"#;
    assert!(served.error(long, "").await.starts_with("CHECK_VIOLATION"));
}

const COUNT: &str = "mutation { update_note_by_pk(pk_columns: {id: 1}, _inc: {place_id: 0}, _set: {short: \"new\"}) { hits } }";
const COUNT_ALL: &str = "mutation { a: update_note(where: {}, _set: {short: \"new\"}) { affected_rows } b: update_note(where: {id: {_gt: 0}}, _set: {short: \"new\"}) { returning { hits } } }";

async fn check_nothing_changed(served: &Served) {
    for mutation in [COUNT, COUNT_ALL] {
        for _ in 0..3 {
            assert!(served.error(mutation, "").await.starts_with("SCHEMA_CHANGED"), "{mutation}");
        }
    }
    assert_eq!(served.database.run("SELECT short FROM note"), "s\n");
    served.database.run("ALTER TABLE note ALTER hits TYPE int4 USING hits::int4");
}

/// The type of a column itself changes: the row that a mutation gives back cannot be read as planned.
async fn a_mutation_whose_rows_cannot_be_given_changes_nothing() {
    let served = serve(database(NOTES)).await;
    served.database.run("ALTER TABLE note ALTER hits TYPE text");
    check_nothing_changed(&served).await;
}

async fn a_mutation_in_a_group_whose_rows_cannot_be_given_changes_nothing() {
    let served = serve_with(database(NOTES), &["public"], |it| it.batch_mutations = true).await;
    let other = "mutation { update_place(where: {}, _set: {name: \"there\"}) { returning { name } } }";
    let done = r#"{"data":{"update_place":{"returning":[{"name":"there"}]}}}"#;
    assert_eq!(served.ask(other).await, done);
    served.database.run("ALTER TABLE note ALTER hits TYPE text");
    let both = tokio::join!(served.ask(COUNT), served.ask(other));
    assert!(both.0.contains("SCHEMA_CHANGED"), "{}", both.0);
    assert_eq!(both.1, done);
    check_nothing_changed(&served).await;
}
