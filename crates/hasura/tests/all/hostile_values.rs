//! Hostile names, paths and orders on both databases.

use crate::role_kit::side::{Database, Side, ask};
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;
use weir_hasura::model::ModelOptions;

/// Asks both databases, made by `sql` with `JSON` for its type of documents: an answer has to be `expected`, or hold what stands after
/// `~` and have no data.
#[track_caller]
fn check(sql: &str, asked: &[(&str, &str)]) {
    for (database, json) in [(Database::Sqlite, "JSONB"), (Database::Postgres, "jsonb")] {
        let side = Side::serve(database, &sql.replace("JSON", json), ModelOptions::default(), &[]);
        for (operation, expected) in asked {
            let found = ask(&side.engine, &Identity::admin(), operation, Protocol::GraphqlOverHttp);
            let is_right = match expected.strip_prefix('~') {
                Some(part) => found.contains(part) && found.contains("\"errors\""),
                None => found == *expected,
            };
            assert!(is_right, "{database:?} {operation}: {found}");
        }
    }
}

/// Texts that would be SQL, or the syntax of a path, if they were not bound.
const TEXTS: &[&str] =
    &["' OR 1=1 --", "'; DROP TABLE note; --", "$$", "/*", "?", "$1", ":x", "%s", "{{x}}", "a\")", "]", "||"];

const NOTES: &str = r#"CREATE TABLE note (id INTEGER PRIMARY KEY, doc JSON);
    INSERT INTO note VALUES (1, '{"a": 1, "''": {"x": 2}}'), (2, '{"$1": 3, "k": "v"}');"#;

const ALL_NOTES: (&str, &str) = ("{ note_aggregate { aggregate { count } } }", TWO_NOTES);
const TWO_NOTES: &str = r#"{"data":{"note_aggregate":{"aggregate":{"count":2}}}}"#;

#[test]
fn json_paths_and_keys_are_never_sql() {
    for text in TEXTS {
        let literal = serde_json::to_string(text).unwrap();
        let none = r#"{"data":{"note":[]}}"#;
        let has_key = format!("{{ note(where: {{doc: {{_has_key: {literal}}}}}) {{ id }} }}");
        let expected = if *text == "$1" { r#"{"data":{"note":[{"id":2}]}}"# } else { none };
        let any = format!("{{ note(where: {{doc: {{_has_keys_any: [{literal}]}}}}) {{ id }} }}");
        let contains = format!("{{ note(where: {{doc: {{_contains: {{k: {literal}}}}}}}) {{ id }} }}");
        check(
            NOTES,
            &[
                (&has_key, expected),
                (&any, expected),
                (&contains, none),
                ("{ note(where: {doc: {_contains: {k: \"v\"}}}) { id } }", r#"{"data":{"note":[{"id":2}]}}"#),
                ALL_NOTES,
            ],
        );
        // A path is one of keys, whatever they hold, or none.
        let path = serde_json::to_string(&format!("['{}']", text.replace('\'', ""))).unwrap();
        let asked = format!("{{ note(where: {{id: {{_eq: 2}}}}) {{ doc(path: {path}) }} }}");
        for (database, json) in [(Database::Sqlite, "JSONB"), (Database::Postgres, "jsonb")] {
            let side = Side::serve(database, &NOTES.replace("JSON", json), ModelOptions::default(), &[]);
            let found = ask(&side.engine, &Identity::admin(), &asked, Protocol::GraphqlOverHttp);
            let is_found = found
                == format!(
                    r#"{{"data":{{"note":[{{"doc":{}}}]}}}}"#,
                    if *text == "$1" { "3" } else { "null" }
                );
            assert!(is_found || found.contains("INVALID_PATH"), "{database:?} {path}: {found}");
        }
    }
    check(
        NOTES,
        &[
            (
                "{ note(order_by: {id: asc}) { doc(path: \"$.a\") } }",
                r#"{"data":{"note":[{"doc":1},{"doc":null}]}}"#,
            ),
            (
                r#"{ note(where: {id: {_eq: 1}}) { doc(path: "[\"'\"].x") } }"#,
                r#"{"data":{"note":[{"doc":2}]}}"#,
            ),
            (r#"{ note { doc(path: "a..b") } }"#, "~INVALID_PATH"),
            (r#"{ note { doc(path: "a' OR '1'='1") } }"#, r#"{"data":{"note":[{"doc":null},{"doc":null}]}}"#),
            (
                r#"mutation { update_note(where: {id: {_eq: 1}}, _delete_key: {doc: "' OR 1=1 --"}) { affected_rows } }"#,
                r#"{"data":{"update_note":{"affected_rows":1}}}"#,
            ),
            (
                r#"mutation { update_note(where: {id: {_eq: 1}}, _delete_at_path: {doc: ["' OR 1=1 --", "}"]}) { returning { doc(path: "a") } } }"#,
                r#"{"data":{"update_note":{"returning":[{"doc":1}]}}}"#,
            ),
            ALL_NOTES,
        ],
    );
}

#[test]
fn database_names_are_quoted_mapped_or_left_out() {
    let long = "n".repeat(63);
    let sql = format!(
        r#"CREATE TABLE "a""b" (id INTEGER PRIMARY KEY, "x';--" TEXT, "select" TEXT, "order" INTEGER, "😀" TEXT, "{long}" TEXT, "__typename" TEXT, "a.b" TEXT);
        CREATE TABLE "group" (id INTEGER PRIMARY KEY, "from" INTEGER REFERENCES "a""b" (id));
        CREATE TABLE "{long}" (id INTEGER PRIMARY KEY, "Ünï" TEXT);
        INSERT INTO "a""b" VALUES (1, 'one', 'two', 3, 'smile', 'long', 'type', 'dot');
        INSERT INTO "group" VALUES (1, 1);
        INSERT INTO "{long}" VALUES (1, 'u');"#
    );
    let all = format!("id x select order {long} _typename a_b");
    let row = format!(
        r#""id":1,"x":"one","select":"two","order":3,"{long}":"long","_typename":"type","a_b":"dot""#
    );
    let long_row = format!("{{ {long} {{ id Uni }} }}");
    check(
        &sql,
        &[
            (&format!("{{ a_b {{ {all} }} }}"), &format!(r#"{{"data":{{"a_b":[{{{row}}}]}}}}"#)),
            (
                "{ a_b(where: {x: {_eq: \"one\"}, order: {_gt: 2}, select: {_neq: \"\\\"\"}}, order_by: [{order: asc}, {a_b: desc}], distinct_on: order) { id } }",
                r#"{"data":{"a_b":[{"id":1}]}}"#,
            ),
            (
                "{ a_b_aggregate { aggregate { max { x order } count(columns: [select]) } } group { id from } }",
                r#"{"data":{"a_b_aggregate":{"aggregate":{"max":{"x":"one","order":3},"count":1}},"group":[{"id":1,"from":1}]}}"#,
            ),
            (
                r#"mutation { insert_a_b_one(object: {id: 2, x: "';--", select: "\"", order: 4}) { x select order } }"#,
                r#"{"data":{"insert_a_b_one":{"x":"';--","select":"\"","order":4}}}"#,
            ),
            (
                r#"mutation { update_a_b(where: {id: {_eq: 2}}, _set: {x: "$$"}, _inc: {order: 1}) { returning { x order } } delete_group(where: {from: {_eq: 1}}) { affected_rows } }"#,
                r#"{"data":{"update_a_b":{"returning":[{"x":"$$","order":5}]},"delete_group":{"affected_rows":1}}}"#,
            ),
            (
                "{ __type(name: \"a_b\") { fields { name } } }",
                &format!(
                    r#"{{"data":{{"__type":{{"fields":[{{"name":"id"}},{{"name":"x"}},{{"name":"select"}},{{"name":"order"}},{{"name":"{long}"}},{{"name":"_typename"}},{{"name":"a_b"}},{{"name":"a_b_groups"}},{{"name":"a_b_groups_aggregate"}}]}}}}}}"#
                ),
            ),
            (&long_row, &format!(r#"{{"data":{{"{long}":[{{"id":1,"Uni":"u"}}]}}}}"#)),
        ],
    );
}

#[test]
fn long_aliases_that_differ_in_the_last_byte_stay_distinct() {
    for length in [59, 62, 63, 64, 200] {
        let [one, other] = ["1", "2"].map(|end| format!("{}{end}", "a".repeat(length)));
        let asked = format!(
            "{{ {one}: unit(where: {{id: {{_eq: 1}}}}) {{ {one}: id {other}: name }} {other}: unit(where: {{id: {{_eq: 2}}}}) {{ {other}: id parts: unit_parts(order_by: {{id: asc}}) {{ {one}: id {other}: unit_id }} {one}: unit_parts_aggregate {{ aggregate {{ {one}: count {other}: max {{ id }} }} }} }} }}"
        );
        let expected = format!(
            r#"{{"data":{{"{one}":[{{"{one}":1,"{other}":"x"}}],"{other}":[{{"{other}":2,"parts":[{{"{one}":3,"{other}":2}},{{"{one}":4,"{other}":2}}],"{one}":{{"aggregate":{{"{one}":2,"{other}":{{"id":4}}}}}}}}]}}}}"#
        );
        check(UNITS, &[(&asked, &expected)]);
    }
}

const UNITS: &str = "CREATE TABLE unit (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER);
    CREATE TABLE part (id INTEGER PRIMARY KEY, unit_id INTEGER REFERENCES unit (id), n INTEGER);
    INSERT INTO unit VALUES (1, 'x', 2), (2, 'y', 1), (3, 'x', NULL);
    INSERT INTO part VALUES (1, 1, 5), (3, 2, 7), (4, 2, 1), (5, NULL, 0);";

#[test]
fn order_by_is_well_defined_or_refused() {
    let ids = |field: &str, ids: &[u32]| {
        let ids: Vec<String> = ids.iter().map(|it| format!(r#"{{"id":{it}}}"#)).collect();
        format!(r#"{{"data":{{"{field}":[{}]}}}}"#, ids.join(","))
    };
    let unit = |order: &str| format!("{{ unit(order_by: {order}) {{ id }} }}");
    let part = |order: &str| format!("{{ part(order_by: {order}) {{ id }} }}");
    let many = |terms: &str| format!("[{}]", vec![terms; 1_000].join(", "));
    let alternating =
        format!("[{}]", vec!["{rank: desc_nulls_last}, {name: asc}, {id: desc}"; 400].join(", "));
    check(
        UNITS,
        &[
            (&unit("{id: up}"), "~Value \\\"up\\\" does not exist in \\\"order_by\\\" enum"),
            (&unit("{id: \"asc\"}"), "~cannot represent non-enum value"),
            (&unit("{nothing: asc}"), "~\\\"nothing\\\""),
            (&unit("{id: null}"), &ids("unit", &[1, 2, 3])),
            // Keys of one object count as they are written, in a list or alone.
            (&unit("{name: asc, id: desc}"), &ids("unit", &[3, 1, 2])),
            (&unit("{id: desc, name: asc}"), &ids("unit", &[3, 2, 1])),
            (&unit("[{name: asc}, {id: asc}]"), &ids("unit", &[1, 3, 2])),
            (&unit("[]"), &ids("unit", &[1, 2, 3])),
            (&unit("{rank: asc_nulls_first}"), &ids("unit", &[3, 2, 1])),
            (&part("[{part_unit: {rank: asc}}, {id: desc}]"), &ids("part", &[4, 3, 1, 5])),
            (&unit("[{unit_parts_aggregate: {count: desc}}, {id: asc}]"), &ids("unit", &[2, 1, 3])),
            (
                &unit("[{unit_parts_aggregate: {max: {n: desc_nulls_last}}}, {id: asc}]"),
                &ids("unit", &[2, 1, 3]),
            ),
            // A count below a row that is not there is null.
            (
                &part("[{part_unit: {unit_parts_aggregate: {count: desc_nulls_last}}}, {id: asc}]"),
                &ids("part", &[3, 4, 1, 5]),
            ),
            (
                &part("[{part_unit: {unit_parts_aggregate: {count: asc_nulls_last}}}, {id: asc}]"),
                &ids("part", &[1, 3, 4, 5]),
            ),
            (
                &part("[{part_unit: {unit_parts_aggregate: {count: desc_nulls_first}}}, {id: asc}]"),
                &ids("part", &[5, 3, 4, 1]),
            ),
            // The same term is one, however often it is there.
            (&unit(&many("{id: desc}")), &ids("unit", &[3, 2, 1])),
            (&unit(&alternating), &ids("unit", &[1, 2, 3])),
            (&part(&many("{part_unit: {rank: asc}}, {id: asc}")), &ids("part", &[3, 4, 1, 5])),
        ],
    );
}
