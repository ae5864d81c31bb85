//! Costly conditions and orders, long statements: what is refused, what becomes cheaper, what is ended.

use crate::answer_kit::whole;
use crate::kit;
use crate::kit::{CHINOOK, Served, serve, serve_tuned};
use std::task::Poll;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Request, Settings};
use weir_engine::source::Protocol;
use weir_sqlite::connection::Tuning;

const WHERE: &str = "query ($w: Track_bool_exp!) { Track_aggregate(where: $w) { aggregate { count } } }";

/// The statement of the only level of `query`.
fn sql(served: &Served, query: &str) -> String {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let explanation =
        served.engine.explain(request, &served.engine.caller(&Identity::admin())).expect("it can be planned");
    explanation.steps[0].1.lines().skip(1).collect()
}

/// The code of the only error.
fn code(answer: &str) -> String {
    let tree: serde_json::Value = serde_json::from_str(answer).unwrap();
    tree["errors"][0]["extensions"]["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// A list of `count` members, each written by `member`.
fn list(count: usize, member: impl Fn(usize) -> String) -> String {
    (0..count).map(member).collect::<Vec<_>>().join(", ")
}

#[test]
fn an_order_has_each_term_once() {
    let served = serve(CHINOOK);
    let terms = "{Album_Artist: {Name: desc}}, {AlbumId: asc}, ".repeat(400);
    let query = format!("{{ Album(order_by: [{terms}], limit: 1) {{ AlbumId }} }}");
    assert_eq!(
        sql(&served, &query),
        concat!(
            r#"SELECT t0."AlbumId" FROM "Album" AS t0 ORDER BY (SELECT t1."Name" FROM "Artist" AS t1 "#,
            r#"WHERE t1."ArtistId" = t0."ArtistId" LIMIT 1) DESC NULLS FIRST, t0."AlbumId" LIMIT ?1"#
        )
    );
    let variables = format!(r#"{{"o": [{}]}}"#, list(3_000, |_| r#"{"AlbumId": "asc"}"#.into()));
    let query = "query ($o: [Album_order_by!]) { Album(order_by: $o, limit: 1) { AlbumId } }";
    assert_eq!(served.ask(query, &variables), r#"{"data":{"Album":[{"AlbumId":1}]}}"#);
    // The first of two ways is the one that counts.
    let query = "{ Album(order_by: [{AlbumId: desc}, {AlbumId: asc}], limit: 1) { AlbumId } }";
    assert_eq!(served.ask(query, ""), r#"{"data":{"Album":[{"AlbumId":347}]}}"#);
    let query = "{ Track_group_by(by: [GenreId], order_by: [{count: desc}, {count: asc}, {key: {GenreId: asc}}, {key: {GenreId: desc}}], limit: 1) { key { GenreId } } }";
    let shown = sql(&served, query);
    assert!(shown.ends_with(r#"ORDER BY count(*) DESC, t0."GenreId" NULLS LAST LIMIT ?1"#), "{shown}");
}

#[test]
fn relationships_of_an_order_count_with_those_of_the_condition() {
    let served = serve(CHINOOK);
    let columns = ["EmployeeId", "LastName", "FirstName", "Title", "City"];
    let deep = |column: &str, depth: usize| {
        format!("{}{{{column}: asc}}{}", "{Employee_Employee: ".repeat(depth), "}".repeat(depth))
    };
    let ask = |terms: &str, condition: &str| {
        served.ask(
            &format!("{{ Employee(order_by: [{terms}], where: {condition}, limit: 1) {{ EmployeeId }} }}"),
            "",
        )
    };
    let hundred = list(5, |at| deep(columns[at], 20));
    assert_eq!(ask(&hundred, "{}"), r#"{"data":{"Employee":[{"EmployeeId":1}]}}"#);
    assert_eq!(code(&ask(&hundred, "{Employee_Employees: {}}")), "LIMIT_RELATIONSHIPS");
    let more = format!("{hundred}, {}", deep("Phone", 1));
    assert_eq!(code(&ask(&more, "{}")), "LIMIT_RELATIONSHIPS");
    let hasura = served.bytes(
        &format!("{{ Employee(order_by: [{more}]) {{ EmployeeId }} }}"),
        "",
        Protocol::Hasura,
        60,
    );
    assert_eq!(code(std::str::from_utf8(&hasura).unwrap()), "validation-failed");
}

#[test]
fn conditions_have_a_bound_on_parts_and_a_list_is_one_part() {
    let served = serve(CHINOOK);
    let count =
        |tracks: u32| format!(r#"{{"data":{{"Track_aggregate":{{"aggregate":{{"count":{tracks}}}}}}}}}"#);
    let any = |of: &str| format!(r#"{{"w": {{"_or": [{of}]}}}}"#);
    let greater = |at: usize| format!(r#"{{"TrackId": {{"_gt": {}}}}}"#, at + 3_000);
    assert_eq!(served.ask(WHERE, &any(&list(1_000, greater))), count(503));
    for parts in [1_001, 9_000] {
        assert_eq!(code(&served.ask(WHERE, &any(&list(parts, greater)))), "LIMIT_CONDITIONS", "{parts}");
    }
    let hasura = served.bytes(WHERE, &any(&list(1_001, greater)), Protocol::Hasura, 60);
    assert_eq!(code(std::str::from_utf8(&hasura).unwrap()), "validation-failed");
    // Empty objects and nested ones count as parts.
    assert_eq!(code(&served.ask(WHERE, &any(&list(1_001, |_| "{}".into())))), "LIMIT_CONDITIONS");
    let nots = |at: usize| format!(r#"{{"_and": [{{"_not": {}}}, {}]}}"#, greater(at), greater(at));
    assert_eq!(code(&served.ask(WHERE, &any(&list(501, nots)))), "LIMIT_CONDITIONS");
    // A list is one part, also one that was written as equalities.
    let ids = list(10_000, |at| at.to_string());
    assert_eq!(served.ask(WHERE, &format!(r#"{{"w": {{"TrackId": {{"_in": [{ids}]}}}}}}"#)), count(3_503));
    let equal = |at: usize| format!(r#"{{"TrackId": {{"_eq": {at}}}}}"#);
    assert_eq!(served.ask(WHERE, &any(&list(9_000, equal))), count(3_503));
    for change in ["delete_Track(where: $w)", "update_Track(where: $w, _set: {Name: \"x\"})"] {
        let query = format!("mutation ($w: Track_bool_exp!) {{ {change} {{ affected_rows }} }}");
        assert_eq!(code(&served.ask(&query, &any(&list(1_001, greater)))), "LIMIT_CONDITIONS", "{change}");
    }
}

#[test]
fn the_conditions_of_a_request_are_bounded_together_and_the_bound_can_be_set() {
    let mut served = serve(CHINOOK);
    let fields =
        |count: usize| list(count, |at| format!("f{at}: Album_Tracks(where: $w, limit: {at}) {{ TrackId }}"));
    let query =
        |count: usize| format!("query ($w: Track_bool_exp!) {{ Album(limit: 0) {{ {} }} }}", fields(count));
    let parts = |count: usize| {
        format!(
            r#"{{"w": {{"_and": [{}]}}}}"#,
            list(count, |at| format!(r#"{{"TrackId": {{"_gt": {at}}}}}"#))
        )
    };
    assert!(!served.ask(&query(10), &parts(1_000)).contains("errors"));
    assert_eq!(code(&served.ask(&query(11), &parts(1_000))), "LIMIT_CONDITIONS");
    let settings = Settings { conditions_max: 2, ..Settings::STANDARD };
    served.engine = kit::engine_with(&served.source, &[], settings);
    assert!(!served.ask(&query(1), &parts(2)).contains("errors"));
    assert_eq!(code(&served.ask(&query(1), &parts(3))), "LIMIT_CONDITIONS");
}

#[test]
fn equalities_of_one_column_become_one_list() {
    let served = serve(
        "CREATE TABLE v (id INTEGER PRIMARY KEY, i INT, big BIGINT, word TEXT, price NUMERIC, day DATE, size REAL, other TEXT);
        INSERT INTO v VALUES (1, 1, 9223372036854775807, 'a', 0.10, '2024-01-01', 0.1, 'x'),
            (2, 2, -1, 'it''s', 2, '2024-01-02', 2e300, 'y'), (3, 3, 5, '\"é\"', 12345678901234567.5, '2024', 3, NULL), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    let shown =
        sql(&served, "{ v(where: {_or: [{i: {_eq: 1}}, {i: {_eq: 3}}, {word: {_eq: \"a\"}}]}) { id } }");
    assert_eq!(
        shown,
        r#"SELECT t0."id" FROM "v" AS t0 WHERE (t0."i" IN (SELECT value FROM json_each(?1)) OR t0."word" = ?2)"#
    );
    for (column, values, ids) in [
        ("i", "1, 3, 3, 9", "1 3"),
        ("big", "9223372036854775807, 5", "1 3"),
        ("word", r#""it's", "\"é\"", "nobody""#, "2 3"),
        ("price", "0.10, 12345678901234567.5", "1 3"),
        ("day", r#""2024-01-02", "2024""#, "2 3"),
        ("size", "0.1, 2e300", "1 2"),
    ] {
        let values: Vec<&str> = values.split(", ").collect();
        let expected = ids.split(' ').map(|id| format!(r#"{{"id":{id}}}"#)).collect::<Vec<_>>().join(",");
        let expected = format!(r#"{{"data":{{"v":[{expected}]}}}}"#);
        let literals = list(values.len(), |at| format!("{{{column}: {{_eq: {}}}}}", values[at]));
        let query = format!("{{ v(where: {{_or: [{literals}]}}, order_by: {{id: asc}}) {{ id }} }}");
        assert_eq!(served.ask(&query, ""), expected, "{query}");
        let variables = list(values.len(), |at| format!(r#"{{"{column}": {{"_eq": {}}}}}"#, values[at]));
        let query = "query ($w: [v_bool_exp!]) { v(where: {_or: $w}, order_by: {id: asc}) { id } }";
        assert_eq!(
            served.ask(query, &format!(r#"{{"w": [{variables}]}}"#)),
            expected,
            "{column} {variables}"
        );
        let not = query.replace("{_or: $w}", "{_not: {_or: $w}}");
        let rest: Vec<String> = ["1", "2", "3"]
            .iter()
            .filter(|it| !ids.contains(**it))
            .map(|id| format!(r#"{{"id":{id}}}"#))
            .collect();
        let expected = format!(r#"{{"data":{{"v":[{}]}}}}"#, rest.join(","));
        assert_eq!(served.ask(&not, &format!(r#"{{"w": [{variables}]}}"#)), expected, "not {column}");
    }
    // A variable among literals, and a value that does not fit, with the path of its own place.
    let query =
        "query ($i: Int!) { v(where: {_or: [{i: {_eq: $i}}, {i: {_eq: 2}}]}, order_by: {id: asc}) { id } }";
    assert_eq!(served.ask(query, r#"{"i": 3}"#), r#"{"data":{"v":[{"id":2},{"id":3}]}}"#);
    let wrong = served.bytes(
        r#"{ v(where: {_or: [{word: {_eq: "a"}}, {word: {_eq: "\u0000"}}]}) { id } }"#,
        "",
        Protocol::Hasura,
        60,
    );
    let wrong = String::from_utf8(wrong).unwrap();
    assert!(wrong.contains("$.selectionSet.v.args.where._or[1].word._eq"), "{wrong}");
}

/// A view that takes for ever, a table of its own, and a trigger that does.
const ENDLESS: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT); INSERT INTO t VALUES (1, 'one');
    CREATE TABLE log (id INTEGER PRIMARY KEY, word TEXT);
    CREATE VIEW endless AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0;
    CREATE TRIGGER slow AFTER UPDATE ON t BEGIN INSERT INTO log (word) SELECT x FROM endless; END";

#[test]
fn a_statement_ends_long_before_the_request_where_it_works_too_long() {
    let tuning = Tuning { statement_max: Duration::from_millis(50), ..Tuning::USUAL };
    let served = serve_tuned(ENDLESS, tuning);
    for query in [
        "{ endless { x } }",
        "{ endless(limit: 1) { x } }",
        "{ endless_aggregate { aggregate { count } } }",
        "{ t(where: {id: {_eq: 1}}) { word } endless { x } }",
        "mutation { update_t(where: {id: {_eq: 1}}, _set: {word: \"two\"}) { affected_rows } }",
        "mutation { update_t_by_pk(pk_columns: {id: 1}, _set: {word: \"two\"}) { id } }",
    ] {
        assert_eq!(code(&served.ask(query, "")), "SOURCE_TIMEOUT", "{query}");
    }
    assert_eq!(served.ask("{ t { word } }", ""), r#"{"data":{"t":[{"word":"one"}]}}"#);
    let insert = "mutation { insert_t_one(object: {id: 2, word: \"two\"}) { id } }";
    assert_eq!(served.ask(insert, ""), r#"{"data":{"insert_t_one":{"id":2}}}"#);
}

/// Asks for what never ends, by more requests than there are threads and rooms for long reads.
const ENDLESS_READS: [&str; 3] = [
    "{ endless { x } }",
    "{ endless_aggregate { aggregate { count } } }",
    "{ t(where: {id: {_eq: 1}}) { word } endless { x } }",
];

#[test]
fn reads_that_take_long_do_not_stop_the_others() {
    let tuning = Tuning { statement_max: Duration::from_secs(600), ..Tuning::USUAL };
    let served = serve_tuned(ENDLESS, tuning);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let caller = served.engine.caller(&Identity::admin());
    let request = |query: &'static str, seconds| {
        let request = Request::new(query, Instant::now() + Duration::from_secs(seconds));
        Box::pin(served.engine.execute(request, &caller))
    };
    runtime.block_on(async {
        let mut endless: Vec<_> =
            (0..30).map(|at| request(ENDLESS_READS[at % ENDLESS_READS.len()], 600)).collect();
        let waits = std::future::poll_fn(|cx| {
            endless.iter_mut().for_each(|it| assert!(it.as_mut().poll(cx).is_pending(), "it never ends"));
            Poll::<()>::Pending
        });
        let short = async {
            // The first by key, the others by reading a whole table in the pool.
            for query in
                ["{ t_by_pk(id: 1) { word } }", "{ t(where: {word: {_eq: \"one\"}}) { word } }"].repeat(20)
            {
                let answer = request(query, 20).await;
                let text = whole(answer.body);
                assert!(text.starts_with(r#"{"data":{"t"#) && text.contains("one"), "{query}: {text}");
            }
        };
        tokio::select! {
            biased;
            () = waits => unreachable!("it never ends"),
            () = short => {}
        }
    });
}
