//! Values and statements at their edges: what would lose digits, outgrow SQLite or compare the wrong things.

mod kit;

use kit::{CHINOOK, Served, serve};

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
    assert_eq!(code(&served, query, &format!(r#"{{"w": {deep}}}"#)), "LIMIT_STATEMENT");
    let terms = vec![r#"{"AlbumId": "asc"}"#; 3_000].join(",");
    let query = "query ($o: [Album_order_by!]) { Album(order_by: $o) { AlbumId } }";
    assert_eq!(code(&served, query, &format!(r#"{{"o": [{terms}]}}"#)), "LIMIT_STATEMENT");
    let nots = format!("{}{{}}{}", "{_not: ".repeat(120), "}".repeat(120));
    assert_eq!(code(&served, &format!("{{ Album(where: {nots}) {{ AlbumId }} }}"), ""), "LIMIT_NESTING");
    let pattern = format!(r#"{{"p": "{}"}}"#, "%a".repeat(100_000));
    let query = "query ($p: String) { Album(where: {Title: {_like: $p}}) { AlbumId } }";
    assert_eq!(code(&served, query, &pattern), "INVALID_PATTERN");
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
                r#"{"data":{"u":[{"k":"3.5"},{"k":"2"}]}}"#,
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
