//! Root fields that cannot be asked leave those beside them alone, in both databases: in short answers and in those that leave in
//! parts.

use crate::kit;
use crate::kit::in_postgres;
use serde_json::{Value, json};

const TYPES: &str = "
type Note {
  id: ID!
  key: String! @id
  text: String @search(by: [regexp])
  at: DateTime @search
  size: Int @search
}
";

/// Both stores of a thousand notes, the keys `k1` to `k1000`.
fn stores() -> (kit::Served, in_postgres::Served) {
    let fill = |numbers: &str| {
        format!(
            r#"WITH {numbers} INSERT INTO "Note" (id, key, text, size) SELECT n, 'k' || n, 'n', n FROM s"#
        )
    };
    let sqlite = "RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 1000)";
    let postgres = "s(n) AS (SELECT * FROM generate_series(1, 1000))";
    (kit::serve(TYPES, &fill(sqlite)), in_postgres::serve(TYPES, &fill(postgres)))
}

/// The answers of both stores, with their names.
fn both(
    stores: &(kit::Served, in_postgres::Served),
    query: &str,
    variables: &str,
) -> [(&'static str, Value); 2] {
    let answers =
        [("SQLite", stores.0.ask(query, variables)), ("PostgreSQL", stores.1.ask(query, variables))];
    answers.map(|(name, it)| {
        (name, serde_json::from_str(&it).unwrap_or_else(|error| panic!("{name}: {error}: {it}")))
    })
}

/// The keys of the root fields that have errors, in their order.
fn blamed(answer: &Value) -> Vec<&str> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    errors.map(|it| it["path"][0].as_str().expect("a key")).collect()
}

#[test]
fn others_are_answered_wherever_the_refused_ones_stand() {
    let stores = stores();
    // Declarations of their variables, and the fields.
    let refused = [
        ("", r#"getNote(id: "zz") { key }"#),
        ("", r#"queryNote(filter: {at: {eq: "nonsense"}}) { key }"#),
        ("", "queryNote(filter: {size: {in: [1, null]}}) { key }"),
        ("query ($sizes: [Int])", "queryNote(filter: {size: {in: $sizes}}) { key }"),
        ("query ($filter: NoteFilter)", "queryNote(filter: $filter) { key }"),
        ("", r#"queryNote(filter: {text: {regexp: "no slashes"}}) { key }"#),
        ("", r#"aggregateNote(filter: {text: {regexp: "/[/"}}) { count }"#),
    ];
    let variables = r#"{"sizes": [1, null], "filter": {"at": {"le": "never"}}}"#;
    let good = [r#"getNote(key: "k2") { key }"#, "queryNote(first: 2) { key }", "aggregateNote { count }"];
    let expected = [json!({"key": "k2"}), json!([{"key": "k1"}, {"key": "k2"}]), json!({"count": 1000})];
    let ask = |head: &str, members: [&str; 3]| {
        let [a, b, c] = members;
        both(&stores, &format!("{head} {{ m0: {a} m1: {b} m2: {c} }}"), variables)
    };
    for (head, bad) in refused {
        // First, in the middle, last, and two with one between.
        for at in 0..3 {
            let mut members = good;
            members[at] = bad;
            for (name, answer) in ask(head, members) {
                assert_eq!(blamed(&answer), [format!("m{at}")], "{name}: {bad}: {answer}");
                for (other, expected) in expected.iter().enumerate() {
                    let expected = if other == at { &Value::Null } else { expected };
                    assert_eq!(&answer["data"][format!("m{other}")], expected, "{name}: {bad}: {answer}");
                }
            }
        }
        for (name, answer) in ask(head, [bad, good[0], refused[0].1]) {
            assert_eq!(blamed(&answer), ["m0", "m2"], "{name}: {bad}: {answer}");
            assert_eq!(answer["data"], json!({"m0": null, "m1": expected[0], "m2": null}), "{name}: {bad}");
        }
    }
}

#[test]
fn words_of_a_refused_field_are_those_it_has_alone() {
    let stores = stores();
    let bad = r#"b: queryNote(filter: {at: {eq: "nonsense"}}) { key }"#;
    let alone = both(&stores, &format!("{{ {bad} }}"), "");
    let beside = both(&stores, &format!("{{ {bad} a: aggregateNote {{ count }} }}"), "");
    for ((name, alone), (_, beside)) in alone.iter().zip(&beside) {
        assert_eq!(alone["errors"], beside["errors"], "{name}");
        assert_eq!(beside["data"], json!({"b": null, "a": {"count": 1000}}), "{name}");
    }
}

#[test]
fn long_answers_are_whole_beside_what_is_refused() {
    let stores = stores();
    let update = format!(
        r#"mutation {{ updateNote(input: {{filter: {{}}, set: {{text: "{}"}}}}) {{ numUids }} }}"#,
        "x".repeat(1000)
    );
    for (name, answer) in both(&stores, &update, "") {
        assert_eq!(answer, json!({"data": {"updateNote": {"numUids": 1000}}}), "{name}");
    }
    let long = "queryNote { key text }";
    let bad = r#"queryNote(filter: {at: {ge: "nonsense"}}) { key }"#;
    let queries = [
        format!("{{ b: {bad} a: {long} c: {long} }}"),
        format!("{{ a: {long} b: {bad} c: {long} }}"),
        format!("{{ a: {long} c: {long} b: {bad} }}"),
    ];
    for query in &queries {
        for (name, answer) in both(&stores, query, "") {
            assert_eq!(blamed(&answer), ["b"], "{name}: {query}");
            assert_eq!(answer["data"]["b"], Value::Null, "{name}: {query}");
            for key in ["a", "c"] {
                let items = answer["data"][key].as_array().map_or(0, Vec::len);
                assert_eq!(items, 1000, "{name}: {query}: {key}");
            }
        }
    }
}

#[test]
fn root_fields_of_a_mutation_are_done_in_turn_until_one_is_refused() {
    let stores = (kit::serve(TYPES, ""), in_postgres::serve(TYPES, ""));
    let query = r#"mutation { a: addNote(input: [{key: "new"}]) { numUids } b: deleteNote(filter: {at: {eq: "nonsense"}}) { numUids } c: addNote(input: [{key: "newer"}]) { numUids } }"#;
    for (name, answer) in both(&stores, query, "") {
        assert_eq!(blamed(&answer), ["b", "c"], "{name}: {answer}");
        assert_eq!(answer["data"], json!({"a": {"numUids": 1}, "b": null, "c": null}), "{name}");
    }
    let keys = r#"SELECT key FROM "Note""#;
    assert_eq!(stores.0.beside.query_row(keys, [], |row| row.get::<_, String>(0)).unwrap(), "new");
    assert_eq!(stores.1.database.run(keys).trim(), "new");
}
