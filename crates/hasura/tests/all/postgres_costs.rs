//! Conditions and orders on a real PostgreSQL: lists for equalities, terms that stand once, numbers at the end of their range.

use crate::hasura_kit::serve;
use crate::postgres_kit::hand::soon;
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{chinook, database};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;

/// A row of columns of many types, and one where all is null.
const TYPED: &str = r#"
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'so so');
CREATE TABLE v (id int4 PRIMARY KEY, i2 int2, i8 int8, n numeric, f float8, t text, c char(3), ci citext, u uuid, d date,
    tz timestamptz, iv interval, m mood, b bool, j jsonb, a int4[], r int4range);
INSERT INTO v VALUES (1, 1, 9007199254740993, 1.10, 0.1, 'a', 'a', 'A', '00000000-0000-0000-0000-000000000001', '2024-01-01',
    '2024-01-01 00:00:00+00', '1 day', 'sad', true, '{"a": 1}', '{1,2}', '[1,3)'),
    (2, 2, 2, 1e400, 2e300, 'it''s "{b}"', 'b', 'b', '00000000-0000-0000-0000-000000000002', '2024-01-02', '2024-01-02 00:00:00+00',
    '24:00:00', 'so so', false, '[2]', '{}', 'empty');
INSERT INTO v (id) VALUES (3)"#;

#[tokio::test]
async fn equalities_of_one_column_are_one_array_for_every_type() {
    let served = serve(database(TYPED)).await;
    let explain = |query: &str| {
        let request = Request::new(query, soon());
        served.engine.explain(request, &served.engine.caller(&Identity::admin())).unwrap().steps[0].1.clone()
    };
    let shown = explain(
        "{ v(where: {_or: [{i8: {_eq: 1}}, {t: {_eq: \"a\"}}, {i8: {_eq: \"3\"}}]}, limit: 1) { id } }",
    );
    assert!(shown.contains(r#"(t0."i8" = ANY($1) OR t0."t" = $2)"#), "{shown}");
    for (column, one, two) in [
        ("i2", "1", "\"2\""),
        ("i8", "9007199254740993", "\"2\""),
        ("n", "1.1", "1e400"),
        ("f", "0.1", "2e300"),
        ("t", r#""a""#, r#""it's \"{b}\"""#),
        ("c", r#""a""#, r#""b""#),
        ("ci", r#""a""#, r#""B""#),
        ("u", r#""00000000-0000-0000-0000-000000000001""#, r#""00000000-0000-0000-0000-000000000002""#),
        ("d", r#""2024-01-01""#, r#""2024-01-02""#),
        ("tz", r#""2024-01-01T02:00:00+02:00""#, r#""2024-01-02T00:00:00Z""#),
        ("m", r#""sad""#, r#""so so""#),
        ("b", "true", "false"),
        ("j", r#"{"a": 1}"#, "[2]"),
        ("a", "[1, 2]", "[]"),
        ("r", r#""[1,3)""#, r#""empty""#),
    ] {
        let query = "query ($w: [v_bool_exp!]) { v(where: {_or: $w}, order_by: {id: asc}) { id } not: v(where: {_not: {_or: $w}}) { id } }";
        let variables =
            format!(r#"{{"w": [{{"{column}": {{"_eq": {one}}}}}, {{"{column}": {{"_eq": {two}}}}}]}}"#);
        let answer = served.ask_with(query, &variables).await;
        assert_eq!(answer, r#"{"data":{"v":[{"id":1},{"id":2}],"not":[]}}"#, "{variables}");
    }
}

#[tokio::test]
async fn an_order_has_each_term_once_and_what_is_costly_goes_over_a_connection_of_its_own() {
    let served = serve(chinook()).await;
    let terms = "{Artist: {ArtistId: desc}}, {AlbumId: asc}, ".repeat(400);
    let query = format!("{{ Album(order_by: [{terms}], limit: 1) {{ AlbumId }} }}");
    let explained = served
        .engine
        .explain(Request::new(&query, soon()), &served.engine.caller(&Identity::admin()))
        .unwrap();
    assert_eq!(explained.steps[0].1.matches("SELECT t1.\"ArtistId\"").count(), 1, "{}", explained.steps[0].1);
    let albums = r#"{"data":{"Album":[{"AlbumId":347}]}}"#;
    assert_eq!(served.ask(&query).await, albums);
    assert_eq!(served.source.counts().statements, 1);
    let term =
        |depth: usize| format!("{}{{EmployeeId: asc}}{}", "{Employee: ".repeat(depth), "}".repeat(depth));
    let far = term(5);
    let query = format!("{{ Employee(order_by: [{far}], limit: 1) {{ EmployeeId }} }}");
    assert_eq!(served.ask(&query).await, r#"{"data":{"Employee":[{"EmployeeId":1}]}}"#);
    assert_eq!(served.source.counts().statements, 1);
    // Three lists below each other multiply, two are usual.
    let two = "{ Album(limit: 1, order_by: {AlbumId: asc}) { Tracks { Album { Tracks { TrackId } } } } }";
    assert!(!served.ask(two).await.contains("errors"));
    assert_eq!(served.source.counts().statements, 2);
    let three = two.replace("TrackId }", "Album { Tracks { TrackId } } }");
    assert!(!served.ask(&three).await.contains("errors"));
    assert_eq!(served.source.counts().statements, 2);
    let too_far = format!("{}, {}", term(50), term(51));
    let query = format!("{{ Employee(order_by: [{too_far}], limit: 1) {{ EmployeeId }} }}");
    assert!(served.error(&query, "").await.starts_with("LIMIT_RELATIONSHIPS"));
}

#[tokio::test]
async fn a_decimal_keeps_every_digit_and_a_float_beyond_its_range_is_refused() {
    let served = serve(database(TYPED)).await;
    let insert = |column: &str, digits: &str| {
        format!("mutation {{ insert_v_one(object: {{id: 9, {column}: {digits}}}) {{ {column} }} }}")
    };
    for digits in ["1e400", "-1e309", "\"1e400\""] {
        assert!(served.error(&insert("f", digits), "").await.starts_with("INVALID_VALUE"), "{digits}");
        let filter =
            format!("{{ v(where: {{_or: [{{f: {{_eq: 1}}}}, {{f: {{_gt: {digits}}}}}]}}) {{ id }} }}");
        assert!(served.error(&filter, "").await.starts_with("INVALID_VALUE"), "{digits}");
        let increment =
            format!("mutation {{ update_v(where: {{}}, _inc: {{f: {digits}}}) {{ affected_rows }} }}");
        assert!(served.error(&increment, "").await.starts_with("INVALID_VALUE"), "{digits}");
    }
    let increment =
        "mutation { update_v(where: {id: {_eq: 2}}, _inc: {f: 1.7e308, n: 1}) { affected_rows } }";
    assert_eq!(served.ask(increment).await, r#"{"data":{"update_v":{"affected_rows":1}}}"#);
    assert!(served.error(increment, "").await.starts_with("INVALID_VALUE"));
    let digits = format!("1{}", "0".repeat(400));
    let answer = served.ask(&insert("n", "1e400")).await;
    assert_eq!(answer, format!(r#"{{"data":{{"insert_v_one":{{"n":{digits}}}}}}}"#));
    assert_eq!(served.ask("{ v(where: {n: {_eq: 1e400}}) { id } }").await, r#"{"data":{"v":[{"id":9}]}}"#);
    assert!(served.error(&insert("n", "1e200000"), "").await.starts_with("INVALID_VALUE"));
}

/// Types of PostgreSQL's own, with a value each.
const OWN: [(&str, &str); 38] = [
    ("json", "[1]"),
    ("jsonb", "[1]"),
    ("xml", "<a/>"),
    ("point", "(1,2)"),
    ("line", "{1,2,3}"),
    ("lseg", "[(1,2),(3,4)]"),
    ("box", "(3,4),(1,2)"),
    ("path", "((1,2),(3,4))"),
    ("polygon", "((1,2),(3,4),(5,6))"),
    ("circle", "<(1,2),3>"),
    ("xid", "7"),
    ("xid8", "7"),
    ("cid", "7"),
    ("tid", "(1,2)"),
    ("oid", "7"),
    ("name", "a"),
    ("\"char\"", "a"),
    ("refcursor", "a"),
    ("jsonpath", "$.a"),
    ("pg_lsn", "0/1"),
    ("pg_snapshot", "10:20:10,14"),
    ("txid_snapshot", "10:20:10,14"),
    ("aclitem", "postgres=r/postgres"),
    ("regclass", "pg_class"),
    ("regtype", "integer"),
    ("int2vector", "1 2"),
    ("oidvector", "1 2"),
    ("tsvector", "a"),
    ("tsquery", "a"),
    ("inet", "10.0.0.1"),
    ("cidr", "10.0.0.0/8"),
    ("macaddr", "08:00:2b:01:02:03"),
    ("macaddr8", "08:00:2b:01:02:03:04:05"),
    ("bit", "1"),
    ("varbit", "10"),
    ("money", "1"),
    ("int4range", "[1,3)"),
    ("int4multirange", "{[1,3)}"),
];

/// Says whether the database has what a statement is made of.
const RUNS: &str = "CREATE FUNCTION runs(statement text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE statement;
    RETURN true;
EXCEPTION WHEN undefined_function THEN
    RETURN false;
END $$";

/// Conditions on a column `%` with the value `$`, each with its SQL.
const ASKED: [(&str, &str); 13] = [
    ("{ own(where: {%: {_eq: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% = b.%"),
    ("{ own(where: {%: {_neq: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% <> b.%"),
    ("{ own(where: {%: {_gt: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% > b.%"),
    ("{ own(where: {%: {_gte: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% >= b.%"),
    ("{ own(where: {%: {_lt: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% < b.%"),
    ("{ own(where: {%: {_lte: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% <= b.%"),
    ("{ own(where: {%: {_in: [$]}}) { id } }", "SELECT FROM own a, own b WHERE a.% = b.%"),
    ("{ own(where: {%: {_nin: [$]}}) { id } }", "SELECT FROM own a, own b WHERE a.% <> b.%"),
    ("{ own(order_by: {%: asc}) { id } }", "SELECT FROM own ORDER BY %"),
    ("{ own(distinct_on: %) { id } }", "SELECT DISTINCT ON (%) id FROM own"),
    ("{ own_group_by(by: [%]) { aggregate { count } } }", "SELECT count(*) FROM own GROUP BY %"),
    (
        "{ own_aggregate { aggregate { count(columns: [%], distinct: true) } } }",
        "SELECT count(DISTINCT %) FROM own",
    ),
    (
        "{ own_aggregate { aggregate { count(columns: [%, id], distinct: true) } } }",
        "SELECT count(DISTINCT (%, id)) FROM own",
    ),
];

/// Conditions on a list alone.
const OF_LISTS: [(&str, &str); 2] = [
    ("{ own(where: {%: {_contains: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% @> b.%"),
    ("{ own(where: {%: {_contained_in: $}}) { id } }", "SELECT FROM own a, own b WHERE a.% <@ b.%"),
];

/// Composites, of which one field decides, and the types of an extension.
const MADE: [(&str, &str); 5] = [
    ("of_json", "(1,[1])"),
    ("of_point", "(1,\"(1,2)\")"),
    ("of_int", "(1,2)"),
    ("lquery", "a.*"),
    ("query_int", "1&2"),
];

const MAKE: &str = "CREATE TYPE of_json AS (n int, j json); CREATE TYPE of_point AS (n int, p point);
    CREATE TYPE of_int AS (n int, m int); CREATE EXTENSION ltree; CREATE EXTENSION intarray;";

/// Types whose largest value PostgreSQL finds, by itself or as another type.
const WITH_EXTREMES: [&str; 6] = ["name", "cidr", "oid", "pg_lsn", "xid8", "inet"];

async fn an_operator_that_a_type_lacks_is_refused_by_name_and_no_other_is() {
    let mut columns = Vec::new();
    let mut values = Vec::new();
    let types: Vec<(&str, &str)> = OWN.into_iter().chain(MADE).collect();
    for (at, (ty, value)) in types.iter().enumerate() {
        columns.push(format!("c{at} {ty}, a{at} {ty}[]"));
        values.push(format!("'{value}', ARRAY['{value}']::{ty}[]"));
    }
    let columns = columns.join(", ");
    let values = values.join(", ");
    let rows = format!("INSERT INTO own VALUES (1, {values}), (2, {values})");
    let served =
        serve(database(&format!("{MAKE} CREATE TABLE own (id int4, {columns}); {rows}; {RUNS}"))).await;
    let mut hand = served.hand().await;
    for (at, (ty, value)) in types.iter().enumerate() {
        let is_json = matches!(*ty, "json" | "jsonb");
        let value = if is_json { (*value).to_owned() } else { format!("{value:?}") };
        for (column, value) in [(format!("c{at}"), value.clone()), (format!("a{at}"), format!("[{value}]"))] {
            let of_lists = if column.starts_with('a') { &OF_LISTS[..] } else { &[] };
            for (query, sql) in ASKED.iter().chain(of_lists) {
                let query = query.replace('%', &column).replace('$', &value);
                let mut sql = sql.replace('%', &column);
                if *ty == "json" && column.starts_with('c') && query.contains("where") {
                    // JSON is compared as what can be.
                    sql = sql.replace(&column, &format!("{column}::jsonb"));
                }
                if matches!(*ty, "box" | "circle" | "point" | "polygon") && column.starts_with('c') {
                    // Shapes are equal where they are the same.
                    sql = sql.replace(" <> ", " ~= ").replace(" = ", " ~= ");
                }
                let answer = served.ask(&query).await;
                let words = ["has no operator", "have no order", "cannot be told apart"];
                let is_told = words.iter().any(|it| answer.contains(it));
                assert!(is_told || !answer.contains("errors"), "{ty}: {query}: {answer}");
                let runs = hand.run(&format!("SELECT runs('{sql}')::text")).await;
                assert_eq!(runs, (!is_told).to_string(), "{ty}: {query}: {sql}");
            }
        }
    }
    for (at, (ty, value)) in OWN.iter().enumerate().filter(|it| WITH_EXTREMES.contains(&it.1.0)) {
        let answer = served.ask(&format!("{{ own_aggregate {{ aggregate {{ max {{ c{at} }} }} }} }}")).await;
        assert!(answer.contains(value), "{ty}: {answer}");
    }
    let told = "BAD_USER_INPUT: the type `xml` has no operator `=`";
    assert_eq!(served.error("{ own(where: {c2: {_eq: \"<a/>\"}}) { id } }", "").await, told);
    let told = "BAD_USER_INPUT: values of the type `json` have no order";
    assert_eq!(served.error("{ own(order_by: {c0: asc}) { id } }", "").await, told);
}

/// Shapes of one area and as many points, of which each finds itself alone.
async fn a_shape_is_equal_to_the_same_shape_alone() {
    let served = serve(database(
        "CREATE TABLE shape (id int4 PRIMARY KEY, b box, c circle, p polygon);
         INSERT INTO shape VALUES (1, '(3,4),(1,2)', '<(1,2),3>', '((0,0),(1,1),(1,0))'),
           (2, '(2,4),(1,0)', '<(2,1),3>', '((0,0),(2,2),(1,0))')",
    ))
    .await;
    for (column, value) in [("b", "(3,4),(1,2)"), ("c", "<(1,2),3>"), ("p", "((1,1),(1,0),(0,0))")] {
        for (condition, id) in [
            (format!("_eq: \"{value}\""), 1),
            (format!("_in: [\"{value}\"]"), 1),
            (format!("_neq: \"{value}\""), 2),
            (format!("_nin: [\"{value}\"]"), 2),
        ] {
            let query = format!("{{ shape(where: {{{column}: {{{condition}}}}}) {{ id }} }}");
            let expected = format!(r#"{{"data":{{"shape":[{{"id":{id}}}]}}}}"#);
            assert_eq!(served.ask(&query).await, expected, "{query}");
        }
    }
}

on_each_release! {
    async
    an_operator_that_a_type_lacks_is_refused_by_name_and_no_other_is,
    a_shape_is_equal_to_the_same_shape_alone,
}
