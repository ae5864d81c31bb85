//! Values and statements at their edges: what would lose digits, outgrow SQLite or compare the wrong things.

use crate::kit::{CHINOOK, Served, serve, serve_as};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use weir_engine::compose::Join;
use weir_hasura::model::{MissingRow, ModelOptions};

/// A row with a word that is its own parent.
const NODE: &str =
    "CREATE TABLE node (id INTEGER PRIMARY KEY, parent INT NOT NULL REFERENCES node (id), word TEXT);
    INSERT INTO node VALUES (1, 1, 'x')";

/// Asks in turn; each answer whole.
fn check(served: &Served, asked: &[(&str, &str)]) {
    for (query, expected) in asked {
        assert_eq!(served.ask(query, ""), *expected, "{query}");
    }
}

/// The code of the only error.
fn code(served: &Served, query: &str, variables: &str) -> String {
    let answer = served.ask(query, variables);
    let tree: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let code = tree["errors"][0]["extensions"]["code"].as_str();
    code.unwrap_or_else(|| panic!("{query}: {answer}")).to_owned()
}

#[test]
fn an_increment_beyond_the_type_fails_and_changes_nothing() {
    let served = serve(
        "CREATE TABLE n (id INTEGER PRIMARY KEY, big BIGINT, i INT); \
         INSERT INTO n VALUES (1, 9223372036854775807, 2147483647)",
    );
    for set in ["{big: 1}", "{i: 1}"] {
        let query = format!("mutation {{ update_n_by_pk(pk_columns: {{id: 1}}, _inc: {set}) {{ big i }} }}");
        assert_eq!(code(&served, &query, ""), "INVALID_VALUE", "{set}");
    }
    check(
        &served,
        &[
            ("{ n { big i } }", r#"{"data":{"n":[{"big":9223372036854775807,"i":2147483647}]}}"#),
            (
                "mutation { update_n(where: {}, _inc: {big: -1, i: -2}) { returning { big i } } }",
                r#"{"data":{"update_n":{"returning":[{"big":9223372036854775806,"i":2147483645}]}}}"#,
            ),
        ],
    );
}

#[test]
fn bytes_are_found_in_lists() {
    let served = serve(
        "CREATE TABLE b (id INTEGER PRIMARY KEY, raw BLOB); \
         INSERT INTO b VALUES (1, x'00ff'), (2, x''), (3, NULL), (4, x'de')",
    );
    check(
        &served,
        &[
            (
                r#"{ b(where: {raw: {_in: ["\\x00FF", "\\x"]}}, order_by: {id: asc}) { id raw } }"#,
                r#"{"data":{"b":[{"id":1,"raw":"\\x00ff"},{"id":2,"raw":"\\x"}]}}"#,
            ),
            (
                r#"{ b(where: {raw: {_nin: ["\\x00FF"]}}, order_by: {id: asc}) { id } }"#,
                r#"{"data":{"b":[{"id":2},{"id":4}]}}"#,
            ),
        ],
    );
}

#[test]
fn many_alternatives_are_one_statement() {
    let served = serve(CHINOOK);
    let any: Vec<String> = (0..5_000).map(|id| format!(r#"{{"AlbumId": {{"_eq": {id}}}}}"#)).collect();
    let variables = format!(r#"{{"w": {{"_or": [{}]}}}}"#, any.join(","));
    let query = "query ($w: Album_bool_exp) { Album_aggregate(where: $w) { aggregate { count } } }";
    let expected = r#"{"data":{"Album_aggregate":{"aggregate":{"count":347}}}}"#;
    assert_eq!(served.ask(query, &variables), expected);
}

#[test]
fn what_outgrows_the_database_is_the_clients_to_mend() {
    let served = serve(CHINOOK);
    let mut deep = r#"{"EmployeeId": {"_gt": 0}}"#.to_owned();
    for _ in 0..80 {
        deep = format!(r#"{{"Employee_Employees": {deep}}}"#);
    }
    let query = "query ($w: Employee_bool_exp) { Employee(where: $w) { EmployeeId } }";
    assert_eq!(code(&served, query, &format!(r#"{{"w": {deep}}}"#)), "LIMIT_NESTING");
    let nots = format!("{}{{}}{}", "{_not: ".repeat(120), "}".repeat(120));
    assert_eq!(code(&served, &format!("{{ Album(where: {nots}) {{ AlbumId }} }}"), ""), "LIMIT_NESTING");
    let side_by_side = |count: usize| vec![r#"{"Album_Tracks": {"TrackId": {"_gt": 0}}}"#; count].join(",");
    let query = "query ($w: Album_bool_exp) { Album(where: $w, limit: 0) { AlbumId } }";
    let many = format!(r#"{{"w": {{"_and": [{}]}}}}"#, side_by_side(100));
    assert_eq!(served.ask(query, &many), r#"{"data":{"Album":[]}}"#);
    let last = r#"{"_not": {"Album_Tracks_aggregate": {"count": {"predicate": {"_gt": 9}}}}}"#;
    let more = format!(r#"{{"w": {{"_and": [{}], "_or": [{last}]}}}}"#, side_by_side(100));
    assert_eq!(code(&served, query, &more), "LIMIT_RELATIONSHIPS");
    let change = "mutation ($w: Album_bool_exp!) { delete_Album(where: $w) { affected_rows } }";
    assert_eq!(code(&served, change, &more), "LIMIT_RELATIONSHIPS");
    let pattern = format!(r#"{{"p": "{}"}}"#, "%a".repeat(100_000));
    let query = "query ($p: String) { Album(where: {Title: {_like: $p}}) { AlbumId } }";
    assert_eq!(code(&served, query, &pattern), "INVALID_PATTERN");
}

/// Conditions over a row that is its own parent: each is true or false whatever lies between.
fn nested(depth: u32) -> impl Strategy<Value = (String, bool)> {
    let leaf = any::<bool>().prop_map(|truth| {
        let by = if truth { "_gt" } else { "_lt" };
        (format!(r#"{{"id": {{"{by}": 0}}}}"#), truth)
    });
    let step = (0_u8..6, any::<bool>());
    (leaf, proptest::collection::vec(step, 1..=depth as usize)).prop_map(|((mut text, mut truth), steps)| {
        for (step, beside) in steps {
            let side = if beside { r#"{"id": {"_eq": 1}}"# } else { r#"{"id": {"_eq": 2}}"# };
            (text, truth) = match step {
                0 => (format!(r#"{{"_and": [{text}, {side}]}}"#), truth && beside),
                1 => (format!(r#"{{"_or": [{side}, {text}]}}"#), truth || beside),
                2 => (format!(r#"{{"_not": {text}}}"#), !truth),
                3 => (format!(r#"{{"node_node": {text}}}"#), truth),
                4 => (format!(r#"{{"node_nodes": {text}}}"#), truth),
                _ => {
                    let count = r#""predicate": {"_eq": 1}"#;
                    (
                        format!(r#"{{"node_nodes_aggregate": {{"count": {{{count}, "filter": {text}}}}}}}"#),
                        truth,
                    )
                }
            };
        }
        (text, truth)
    })
}

#[test]
fn conditions_of_any_depth_are_answered_or_refused_with_a_code() {
    let served = serve(NODE);
    let query = "query ($w: node_bool_exp!) { node(where: $w) { id } }";
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let run = runner.run(&nested(100), |(condition, truth)| {
        let answer = served.ask(query, &format!(r#"{{"w": {condition}}}"#));
        let found = if truth { r#"{"data":{"node":[{"id":1}]}}"# } else { r#"{"data":{"node":[]}}"# };
        let refused = ["LIMIT_STATEMENT", "LIMIT_NESTING"].iter().any(|code| answer.contains(code));
        prop_assert!(answer == found || refused, "{} -> {}", condition, answer);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    // A shallow document is accepted.
    let shallow =
        (0..15).fold(r#"{"id": {"_eq": 1}}"#.to_owned(), |it, _| format!(r#"{{"node_nodes": {it}}}"#));
    let answer = served.ask(query, &format!(r#"{{"w": {shallow}}}"#));
    assert_eq!(answer, r#"{"data":{"node":[{"id":1}]}}"#);
}

#[test]
fn rows_for_other_sources_are_bounded_as_answers_are() {
    let again = Join {
        on: "node".into(),
        name: "again".into(),
        description: String::new(),
        source: "main".into(),
        target: "node_by_pk".into(),
        arguments: "(id: $this.parent)".into(),
    };
    let many = format!("{NODE}; UPDATE node SET word = hex(zeroblob(1000000))");
    let served = serve_as(&many, ModelOptions::default(), &[again]);
    let words = |count: usize| {
        let words: Vec<String> =
            (1..=count).map(|it| format!("n{it}: node_nodes(limit: {it}) {{ word }}")).collect();
        format!("{{ node {{ again {{ id }} {} }} }}", words.join(" "))
    };
    let fits = served.ask(&words(5), "");
    assert!(fits.len() > 10_000_000 && !fits.contains("errors"), "{} bytes", fits.len());
    let refused = served.ask(&words(40), "");
    assert!(refused.contains("LIMIT_RESPONSE") && refused.len() < 400, "{} bytes", refused.len());
}

#[test]
fn rows_that_a_mutation_returns_are_bounded_and_nothing_is_changed() {
    let served = serve(&format!(
        "{NODE}; WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO node SELECT i, 1, hex(zeroblob(1000000)) FROM n"
    ));
    let query = "mutation { update_node(where: {id: {_gt: 0}}, _set: {parent: 2}) { affected_rows returning { word } } }";
    assert_eq!(code(&served, query, ""), "LIMIT_RESPONSE");
    let check = "{ node_aggregate(where: {parent: {_eq: 2}}) { aggregate { count } } }";
    assert_eq!(served.ask(check, ""), r#"{"data":{"node_aggregate":{"aggregate":{"count":0}}}}"#);
}

#[test]
fn rows_of_several_columns_are_counted_though_some_are_null() {
    let served = serve(
        "CREATE TABLE c (a INT, b TEXT); INSERT INTO c VALUES (NULL, NULL), (1, NULL), (1, NULL), (1, 'x')",
    );
    check(
        &served,
        &[
            (
                "{ c_aggregate { aggregate { count all: count(columns: [a, b]) one: count(columns: [b]) } } }",
                r#"{"data":{"c_aggregate":{"aggregate":{"count":4,"all":4,"one":1}}}}"#,
            ),
            (
                "{ c_aggregate { aggregate { count(columns: [a, b], distinct: true) one: count(columns: a, distinct: true) } } }",
                r#"{"data":{"c_aggregate":{"aggregate":{"count":3,"one":1}}}}"#,
            ),
        ],
    );
}

#[test]
fn an_update_without_operator_is_refused_and_an_empty_one_does_nothing() {
    let served = serve(CHINOOK);
    for arguments in ["where: {}", "where: {}, _set: null", "pk_columns: {AlbumId: 1}"] {
        let end = if arguments.starts_with("pk") { "_by_pk" } else { "" };
        let select = if end.is_empty() { "affected_rows" } else { "Title" };
        let query = format!("mutation {{ update_Album{end}({arguments}) {{ {select} }} }}");
        assert_eq!(code(&served, &query, ""), "BAD_USER_INPUT", "{query}");
    }
    let query =
        "mutation { update_Album_many(updates: [{where: {}, _set: {}}, {where: {}}]) { affected_rows } }";
    assert_eq!(code(&served, query, ""), "BAD_USER_INPUT");
    let query = "mutation ($s: Album_set_input) { update_Album(where: {}, _set: $s) { affected_rows } }";
    assert_eq!(code(&served, query, "{}"), "BAD_USER_INPUT");
    let empty = served.ask(query, r#"{"s": {}}"#);
    assert_eq!(empty, r#"{"data":{"update_Album":{"affected_rows":0}}}"#);
}

#[test]
fn null_in_a_list_is_refused_wherever_it_comes_from() {
    let served = serve(CHINOOK);
    let literal = "{ Album(where: {AlbumId: {_in: [1, null]}}) { AlbumId } }";
    assert_eq!(code(&served, literal, ""), "GRAPHQL_VALIDATION_FAILED");
    let list = "query ($l: [Int!]) { Album(where: {AlbumId: {_in: $l}}) { AlbumId } }";
    assert_eq!(code(&served, list, r#"{"l": [1, null]}"#), "BAD_USER_INPUT");
    assert_eq!(code(&served, list, r#"{"l": null}"#), "BAD_USER_INPUT");
    let filter = "query ($w: Album_bool_exp) { Album(where: $w) { AlbumId } }";
    assert_eq!(code(&served, filter, r#"{"w": {"AlbumId": {"_nin": [null]}}}"#), "BAD_USER_INPUT");
}

#[test]
fn offset_is_an_int_that_takes_no_string_but_in_hasuras_accent() {
    let served = serve(CHINOOK);
    let query = r#"{ Album(offset: "345", order_by: {AlbumId: asc}) { AlbumId } }"#;
    assert_eq!(code(&served, query, ""), "GRAPHQL_VALIDATION_FAILED");
    let lenient = served.bytes(query, "", weir_engine::source::Protocol::Hasura, 60);
    assert_eq!(lenient, br#"{"data":{"Album":[{"AlbumId":346},{"AlbumId":347}]}}"#);
    for page in ["limit: -1", "offset: -1"] {
        assert_eq!(
            code(&served, &format!("{{ Album({page}) {{ AlbumId }} }}"), ""),
            "BAD_USER_INPUT",
            "{page}"
        );
    }
}

#[test]
fn a_change_by_key_that_finds_no_row_is_an_error_where_that_is_wanted() {
    let strict = ModelOptions { missing_row: MissingRow::Error, ..ModelOptions::default() };
    let served = serve_as(CHINOOK, strict, &[]);
    let update = |id: u32| {
        format!(
            "u{id}: update_Album_by_pk(pk_columns: {{AlbumId: {id}}}, _set: {{Title: \"new\"}}) {{ AlbumId }}"
        )
    };
    let query = format!("mutation {{ {} {} }}", update(1), update(999));
    assert_eq!(
        served.ask(&query, ""),
        r#"{"errors":[{"message":"no row of `Album` has this key","locations":[{"line":1,"column":95}],"path":["u999"],"extensions":{"code":"ROW_NOT_FOUND"}}],"data":{"u1":null,"u999":null}}"#
    );
    assert_eq!(
        served.ask("{ Album_by_pk(AlbumId: 1) { Title } }", ""),
        r#"{"data":{"Album_by_pk":{"Title":"For Those About To Rock We Salute You"}}}"#
    );
    assert_eq!(
        code(&served, "mutation { delete_Album_by_pk(AlbumId: 999) { AlbumId } }", ""),
        "ROW_NOT_FOUND"
    );
    let lenient = serve(CHINOOK);
    let answer = lenient.ask("mutation { delete_Album_by_pk(AlbumId: 999) { AlbumId } }", "");
    assert_eq!(answer, r#"{"data":{"delete_Album_by_pk":null}}"#);
}

#[test]
fn constraints_speak_in_the_words_of_the_configuration() {
    let messages = [
        ("t_word_key", "this word is taken"),
        ("t_word_not_null", "a word is needed"),
        ("positive", "size has to be positive"),
    ];
    let messages = messages.map(|(name, words)| (name.to_owned(), words.to_owned())).into();
    let spoken = ModelOptions { messages: Some(&messages), ..ModelOptions::default() };
    let served = serve_as(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, size INT CONSTRAINT positive CHECK (size > 0));
         INSERT INTO t VALUES (1, 'a', 1)",
        spoken,
        &[],
    );
    for (row, code, words) in [
        (r#"{id: 2, word: "a", size: 1}"#, "UNIQUE_VIOLATION", "this word is taken"),
        ("{id: 2, size: 1}", "NOT_NULL_VIOLATION", "a word is needed"),
        (r#"{id: 2, word: "b", size: 0}"#, "CHECK_VIOLATION", "size has to be positive"),
        (
            r#"{id: 1, word: "b", size: 1}"#,
            "UNIQUE_VIOLATION",
            "Uniqueness violation. duplicate key value violates unique constraint \"t_pkey\"",
        ),
    ] {
        let answer = served.ask(&format!("mutation {{ insert_t_one(object: {row}) {{ id }} }}"), "");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let error = &answer["errors"][0];
        assert_eq!(
            (error["extensions"]["code"].as_str(), error["message"].as_str()),
            (Some(code), Some(words)),
            "{row}"
        );
    }
}

#[test]
fn documents_are_compared_by_what_they_say_not_how() {
    let served = serve(
        r#"CREATE TABLE d (id INTEGER PRIMARY KEY, doc JSONB);
        INSERT INTO d VALUES (1, '{ "b": 1.50, "a": "\u00e9" }'), (2, '[1, 2]'), (3, NULL), (4, '{"a": 12345678901234567890}')"#,
    );
    let found = |condition: &str, ids: &str| {
        let query = format!("{{ d(where: {{doc: {condition}}}, order_by: {{id: asc}}) {{ id }} }}");
        let ids: Vec<_> = ids.split_whitespace().map(|id| format!(r#"{{"id":{id}}}"#)).collect();
        check(&served, &[(&query, &format!(r#"{{"data":{{"d":[{}]}}}}"#, ids.join(",")))]);
    };
    found(r#"{_eq: {a: "é", b: 1.5}}"#, "1");
    found(r#"{_neq: {a: "é", b: 1.5}}"#, "2 4");
    found("{_in: [[1, 2.0], {}]}", "2");
    found("{_eq: {a: 12345678901234567891}}", "");
    found("{_contains: {a: 12345678901234567891}}", "");
    found(r#"{_contains: {a: "é"}}"#, "1");
    found(r#"{_has_key: "a"}"#, "1 4");
    let query = r#"{ d(where: {_not: {doc: {_has_key: "a"}}}) { id } }"#;
    check(&served, &[(query, r#"{"data":{"d":[{"id":2}]}}"#)]);
}

#[test]
fn columns_without_a_type_are_compared_as_the_text_they_show() {
    let served = serve(
        "CREATE TABLE u (k PRIMARY KEY, v ANY); INSERT INTO u VALUES (1, 31), ('2', 'two'), (3.5, NULL);
        CREATE VIEW w AS SELECT v, count(*) AS n FROM u GROUP BY v",
    );
    check(
        &served,
        &[
            (r#"{ u_by_pk(k: "1") { k v } }"#, r#"{"data":{"u_by_pk":{"k":"1","v":"31"}}}"#),
            (r#"{ u_by_pk(k: "2") { k v } }"#, r#"{"data":{"u_by_pk":{"k":"2","v":"two"}}}"#),
            (r#"{ u_by_pk(k: "01") { k v } }"#, r#"{"data":{"u_by_pk":null}}"#),
            (
                r#"{ u(where: {k: {_in: ["3.5", "2", "x"]}}, order_by: {k: asc}) { k } }"#,
                r#"{"data":{"u":[{"k":"2"},{"k":"3.5"}]}}"#,
            ),
            (r#"{ u(where: {_not: {v: {_eq: "31"}}}) { v } }"#, r#"{"data":{"u":[{"v":"two"}]}}"#),
            (
                r#"{ w(where: {n: {_eq: "1"}, v: {_neq: "two"}}) { v n } }"#,
                r#"{"data":{"w":[{"v":"31","n":"1"}]}}"#,
            ),
            (
                r#"mutation { update_u_by_pk(pk_columns: {k: "1"}, _set: {v: "x"}) { v } }"#,
                r#"{"data":{"update_u_by_pk":{"v":"x"}}}"#,
            ),
        ],
    );
}

/// A column for each type whose values SQLite keeps in floating point.
const FLOATS: &str = "CREATE TABLE f (id INTEGER PRIMARY KEY, r REAL, d DOUBLE, n NUMERIC);
    INSERT INTO f VALUES (1, 1.5, 1.5, 1.5), (2, 1.7e308, 1.7e308, 1.7e308)";

/// True if any stored number is an infinity.
fn holds_infinity(served: &Served) -> bool {
    let found = "SELECT count(*) FROM f WHERE max(abs(r), abs(d), abs(n)) > 1.7976931348623157e308 OR max(r, d, n) IS NULL";
    served.beside.query_row(found, [], |row| row.get::<_, i64>(0)).unwrap() > 0
}

#[test]
fn numbers_beyond_floating_point_are_refused_before_anything_is_written() {
    let served = serve(FLOATS);
    let before = served.ask("{ f(order_by: {id: asc}) { r d n } }", "");
    for (column, ty) in [("r", "Float"), ("d", "float8"), ("n", "numeric")] {
        for digits in [
            "1e400",
            "-1e400",
            "1e309",
            "17976931348623159e293",
            &"9".repeat(400),
            &format!("{}.5", "9".repeat(310)),
        ] {
            let asked = [
                format!("{{ f(where: {{{column}: {{_gt: X}}}}) {{ id }} }}"),
                format!("{{ f(where: {{{column}: {{_in: [1, X]}}}}) {{ id }} }}"),
                format!(
                    "{{ f(where: {{_or: [{{{column}: {{_eq: 1}}}}, {{{column}: {{_eq: X}}}}]}}) {{ id }} }}"
                ),
                format!(
                    "{{ f_aggregate(where: {{_not: {{{column}: {{_lte: X}}}}}}) {{ aggregate {{ count }} }} }}"
                ),
                format!("mutation {{ insert_f(objects: [{{r: 1}}, {{{column}: X}}]) {{ affected_rows }} }}"),
                format!(
                    "mutation {{ insert_f_one(object: {{id: 1, {column}: X}}, on_conflict: {{constraint: f_pkey, update_columns: [{column}]}}) {{ id }} }}"
                ),
                format!("mutation {{ update_f(where: {{}}, _set: {{{column}: X}}) {{ affected_rows }} }}"),
                format!("mutation {{ update_f(where: {{}}, _inc: {{{column}: X}}) {{ affected_rows }} }}"),
                format!(
                    "mutation {{ update_f_by_pk(pk_columns: {{id: 1}}, _set: {{{column}: X}}) {{ id }} }}"
                ),
                format!("mutation {{ delete_f(where: {{{column}: {{_lt: X}}}}) {{ affected_rows }} }}"),
            ];
            for query in asked {
                let refused = |answer: Vec<u8>| {
                    let answer = String::from_utf8(answer).unwrap();
                    assert!(answer.contains("\"errors\"") && answer.len() < 2_000, "{query}: {answer}");
                };
                let (operation, rest) = query.split_once('{').unwrap();
                let kind = if operation.is_empty() { "query " } else { operation };
                let declared = format!("{kind}($x: {ty}!) {{{}", rest.replace('X', "$x"));
                for protocol in
                    [weir_engine::source::Protocol::GraphqlOverHttp, weir_engine::source::Protocol::Hasura]
                {
                    refused(served.bytes(&query.replace('X', digits), "", protocol, 60));
                    refused(served.bytes(&declared, &format!(r#"{{"x": {digits}}}"#), protocol, 60));
                    refused(served.bytes(&declared, &format!(r#"{{"x": "{digits}"}}"#), protocol, 60));
                }
            }
        }
    }
    assert_eq!(served.ask("{ f(order_by: {id: asc}) { r d n } }", ""), before);
    // A number that fits as a decimal is accepted, to its last digit.
    let query = r#"mutation { update_f_by_pk(pk_columns: {id: 1}, _set: {d: 1.7976931348623157e308, n: -0.1e-7}) { d n } }"#;
    let taken = r#"{"data":{"update_f_by_pk":{"d":1.7976931348623157e+308,"n":-1e-8}}}"#;
    assert_eq!(served.ask(query, ""), taken);
}

#[test]
fn a_sum_that_leaves_floating_point_is_refused() {
    let served = serve(FLOATS);
    let before = served.ask("{ f(order_by: {id: asc}) { r d n } }", "");
    for column in ["r", "d", "n"] {
        let query =
            format!("mutation {{ update_f(where: {{}}, _inc: {{{column}: 1e308}}) {{ affected_rows }} }}");
        assert_eq!(code(&served, &query, ""), "INVALID_VALUE", "{column}");
    }
    assert_eq!(served.ask("{ f(order_by: {id: asc}) { r d n } }", ""), before);
    let query = "mutation { update_f_by_pk(pk_columns: {id: 1}, _inc: {r: 1, d: -0.25, n: 0.5}) { r d n } }";
    assert_eq!(served.ask(query, ""), r#"{"data":{"update_f_by_pk":{"r":2.5,"d":1.25,"n":2}}}"#);
    served.beside.execute("UPDATE f SET n = 'none'", []).unwrap();
    let query = "mutation { update_f(where: {}, _inc: {n: 1}) { affected_rows } }";
    assert_eq!(code(&served, query, ""), "INVALID_VALUE");
}

#[test]
fn no_numbers_at_random_make_an_infinity() {
    let served = serve(FLOATS);
    let number = ("-?[0-9]{1,330}(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,4})?", 0_usize..3, 0_usize..3);
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let run = runner.run(&number, |(digits, column, way)| {
        let (column, ty) = [("r", "Float!"), ("d", "float8!"), ("n", "numeric!")][column];
        let query = match way {
            0 => format!("mutation ($x: {ty}) {{ update_f_by_pk(pk_columns: {{id: 1}}, _set: {{{column}: $x}}) {{ r d n }} }}"),
            1 => format!("mutation ($x: {ty}) {{ update_f_by_pk(pk_columns: {{id: 1}}, _inc: {{{column}: $x}}) {{ r d n }} }}"),
            _ => format!("mutation ($x: {ty}) {{ insert_f_one(object: {{r: 0, d: 0, n: 0, {column}: $x}}) {{ r d n }} }}"),
        };
        // Zeros in front are no JSON.
        let zeros = digits.trim_start_matches('-').len() - digits.trim_start_matches('-').trim_start_matches('0').len();
        prop_assume!(zeros == 0);
        let answer = served.ask(&query, &format!(r#"{{"x": {digits}}}"#));
        let reads = served.ask("{ f { r d n } }", "");
        prop_assert!(!reads.contains("errors") && !holds_infinity(&served), "{} {}: {} {}", query, digits, answer, reads);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_stored_infinity_takes_no_other_row_with_it() {
    let served = serve(FLOATS);
    served.beside.execute_batch("INSERT INTO f VALUES (3, 9e999, -9e999, 9e999)").unwrap();
    let query = "{ f(order_by: {id: asc}, offset: 1) { id r d n } f_by_pk(id: 3) { id r } }";
    let spec: serde_json::Value = serde_json::from_str(&served.ask(query, "")).unwrap();
    let row = serde_json::json!({"id": 3, "r": null, "d": null, "n": null});
    assert_eq!(spec["data"]["f"][1], row);
    assert_eq!(spec["data"]["f"][0]["id"], 2);
    assert_eq!(spec["errors"].as_array().unwrap().len(), 4);
    assert!(spec["errors"].as_array().unwrap().iter().all(|it| it["extensions"]["code"] == "FLOAT_RANGE"));
    // There an error would be the whole answer.
    let hasura = served.bytes(query, "", weir_engine::source::Protocol::Hasura, 60);
    let expected = concat!(
        r#"{"data":{"f":[{"id":2,"r":1.7e+308,"d":1.7e+308,"n":1.7e+308},"#,
        r#"{"id":3,"r":"Infinity","d":"-Infinity","n":"Infinity"}],"f_by_pk":{"id":3,"r":"Infinity"}}}"#
    );
    assert_eq!(String::from_utf8(hasura).unwrap(), expected);
    // The row is found and mended.
    let mend = "mutation { update_f(where: {r: {_gt: 1.7976931348623157e308}}, _set: {r: 0, d: 0, n: 0}) { affected_rows } }";
    assert_eq!(served.ask(mend, ""), r#"{"data":{"update_f":{"affected_rows":1}}}"#);
    assert!(!served.ask("{ f { r d n } }", "").contains("errors"));
}

#[test]
fn no_column_makes_an_infinity_of_a_text_that_it_reads_as_a_number() {
    const KEPT: &str =
        "CREATE TABLE k (id INTEGER PRIMARY KEY, j json, b jsonb, d date, ts timestamp, u uuid, t text);
        INSERT INTO k (id, t) VALUES (1, '1e400')";
    let served = serve(KEPT);
    for (column, value) in
        [("j", "1e400"), ("b", "-1e400"), ("d", "\"1e400\""), ("ts", "\"1e400\""), ("u", "\"1e400\"")]
    {
        let asked = served.ask(
            &format!(
                "mutation {{ update_k_by_pk(pk_columns: {{id: 1}}, _set: {{{column}: {value}}}) {{ id }} }}"
            ),
            "",
        );
        assert!(asked.contains("out of range"), "{column}: {asked}");
    }
    let stored = served.ask("{ k { j b d ts u t } }", "");
    assert_eq!(stored, r#"{"data":{"k":[{"j":null,"b":null,"d":null,"ts":null,"u":null,"t":"1e400"}]}}"#);
}
