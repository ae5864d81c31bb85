//! Reads over Chinook, each answer checked against plain SQL.

use crate::kit;
use crate::kit::{CHINOOK, serve};
use serde_json::Value;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Request};

#[test]
fn rows_that_refer_to_one_row_are_answered_as_each_alone() {
    let served = serve(CHINOOK);
    let change = "UPDATE Artist SET Name = CAST(x'ff' AS TEXT) WHERE ArtistId = 2; \
         UPDATE Track SET AlbumId = NULL WHERE TrackId = 8";
    served.beside.execute_batch(change).unwrap();
    let ask = |query: &str| serde_json::from_str::<Value>(&served.ask(query, "")).unwrap();
    let errors = |answer: &Value| answer["errors"].as_array().map_or(0, Vec::len);
    let asked = "{ TrackId Track_Album { Title Album_Artist { Name Artist_Albums { Title } } } Track_Genre { Name } }";
    let all = ask(&format!("{{ Track(limit: 40, order_by: {{TrackId: asc}}) {asked} }}"));
    let mut rows = 0;
    let mut wrong = 0;
    for row in all["data"]["Track"].as_array().unwrap() {
        let alone = ask(&format!("{{ Track_by_pk(TrackId: {}) {asked} }}", row["TrackId"]));
        assert_eq!(alone["data"]["Track_by_pk"], *row);
        rows += 1;
        wrong += errors(&alone);
    }
    // Four of the tracks are by the artist whose name is no text.
    assert_eq!((rows, wrong, errors(&all)), (40, 4, 4));
}

fn check(query: &str, variables: &str, expected: &str) {
    assert_eq!(serve(CHINOOK).ask(query, variables), expected, "{query} {variables}");
}

const ODD: &str = r#"
CREATE TABLE odd (id INTEGER PRIMARY KEY, small INT NOT NULL, maybe INT, big BIGINT, price DECIMAL(10, 2), word TEXT,
    flag BOOLEAN, doc JSON, raw BLOB, day DATE);
INSERT INTO odd VALUES (1, 5, 3000000000, 9223372036854775807, '12345678901234567890.1200', 'a"b', 1,
    '{"a": {"b": [1, 2.50]}}', x'00ff', '2024-02-29');
INSERT INTO odd VALUES (2, 4000000000, 1, 2, 0.1, CAST(x'ff' AS TEXT), 0, '{broken', NULL, NULL);
"#;

#[test]
fn values_come_out_as_documented() {
    let served = serve(ODD);
    let answer = served.ask("{ odd_by_pk(id: 1) { small big word flag doc raw day } }", "");
    let expected = r#"{"data":{"odd_by_pk":{"small":5,"big":9223372036854775807,"word":"a\"b","flag":true,"doc":{"a": {"b": [1, 2.50]}},"raw":"\\x00ff","day":"2024-02-29"}}}"#;
    assert_eq!(answer, expected);
    let path = served.ask(r#"{ odd_by_pk(id: 1) { doc(path: "$.a.b[1]") none: doc(path: "x") } }"#, "");
    assert_eq!(path, r#"{"data":{"odd_by_pk":{"doc":2.50,"none":null}}}"#);
}

#[test]
fn a_value_that_does_not_fit_is_a_field_error_and_bubbles() {
    let served = serve(ODD);
    let nullable = served.ask("{ odd(order_by: {id: asc}) { id maybe } }", "");
    assert!(nullable.contains(r#""path":["odd",0,"maybe"]"#), "{nullable}");
    assert!(nullable.contains(r#"{"id":1,"maybe":null},{"id":2,"maybe":1}"#), "{nullable}");
    let bubbles = served.ask("{ odd_by_pk(id: 2) { id small } }", "");
    assert!(bubbles.contains(r#""code":"INT_RANGE""#), "{bubbles}");
    assert!(bubbles.contains(r#""path":["odd_by_pk","small"]"#), "{bubbles}");
    assert!(bubbles.contains(r#""data":{"odd_by_pk":null}"#), "{bubbles}");
    let root = served.ask("{ odd { small } }", "");
    assert!(root.contains(r#""path":["odd",1,"small"]"#) && root.contains(r#""data":null"#), "{root}");
    let broken = served.ask("{ odd_by_pk(id: 2) { word doc } }", "");
    assert!(broken.contains("INVALID_TEXT") && broken.contains("INVALID_VALUE"), "{broken}");
}

#[test]
fn a_warm_structural_variable_renders_no_sql() {
    let served = serve(CHINOOK);
    let query = "query ($w: Album_bool_exp, $o: [Album_order_by!]) { Album(where: $w, order_by: $o, limit: 2) { AlbumId } }";
    let ask = |variables: &str| served.ask(query, variables);
    let first = r#"{"w": {"AlbumId": {"_in": [3, 4]}, "Album_Artist": {"Name": {"_like": "A%"}}}, "o": [{"AlbumId": "desc"}]}"#;
    assert_eq!(ask(first), r#"{"data":{"Album":[{"AlbumId":4},{"AlbumId":3}]}}"#);
    let rendered = served.source.renderings();
    let other = r#"{"w": {"AlbumId": {"_in": [1, 2, 3, 5]}, "Album_Artist": {"Name": {"_like": "A%"}}}, "o": [{"AlbumId": "desc"}]}"#;
    assert_eq!(ask(other), r#"{"data":{"Album":[{"AlbumId":5},{"AlbumId":3}]}}"#);
    assert_eq!(served.source.renderings(), rendered, "same form, other scalars");
    ask(r#"{"w": {"AlbumId": {"_in": [1]}}, "o": [{"AlbumId": "asc"}]}"#);
    assert_eq!(served.source.renderings(), rendered + 1, "another form");
    for at in 0..200 {
        ask(&format!(
            r#"{{"w": {{"_or": [{}]}}}}"#,
            vec![r#"{"AlbumId": {"_eq": 1}}"#; at % 7 + 1].join(",")
        ));
    }
    assert_eq!(served.source.renderings(), rendered + 8);
}

#[test]
fn conditions_mean_what_hasura_means() {
    let served = serve(CHINOOK);
    let count = |condition: &str, plain: &str| {
        let query = format!("{{ Album_aggregate(where: {condition}) {{ aggregate {{ count }} }} }}");
        let sql = format!("SELECT count(*) FROM Album a WHERE {plain}");
        let expected: u32 = served.beside.query_row(&sql, [], |row| row.get(0)).unwrap();
        let answer = served.ask(&query, "");
        let whole = format!(r#"{{"data":{{"Album_aggregate":{{"aggregate":{{"count":{expected}}}}}}}}}"#);
        assert_eq!(answer, whole, "{condition}");
    };
    for always in ["{}", "{_and: []}", "{Album_Tracks: {}}", "{AlbumId: {_nin: []}}"] {
        count(always, "true");
    }
    for never in ["{_or: []}", "{_not: {}}", "{AlbumId: {_in: []}}", "{Title: {_like: \"let there%\"}}"] {
        count(never, "false");
    }
    count("{_or: {AlbumId: {_eq: 1}, ArtistId: {_eq: 2}}}", "AlbumId = 1 AND ArtistId = 2");
    count("{_or: [{AlbumId: {_eq: 1}}, {ArtistId: {_eq: 2}}]}", "AlbumId = 1 OR ArtistId = 2");
    count("{Title: {_ilike: \"let there%\"}}", "Title LIKE 'let there%'");
    count("{Title: {_nlike: \"%o%\"}}", "NOT Title GLOB '*o*'");
    count("{Title: {_regex: \"^Let.*Rock$\"}}", "Title GLOB 'Let*Rock'");
    count("{Title: {_similar: \"(Let|For) %\"}}", "Title GLOB 'Let *' OR Title GLOB 'For *'");
    count("{Album_Artist: {Name: {_is_null: true}}}", "false");
    let tracks = "(SELECT count(*) FROM Track t WHERE t.AlbumId = a.AlbumId";
    count("{Album_Tracks_aggregate: {count: {predicate: {_gt: 30}}}}", &format!("{tracks}) > 30"));
    count(
        "{Album_Tracks_aggregate: {count: {predicate: {_eq: 0}, filter: {Milliseconds: {_gt: 300000}}}}}",
        &format!("{tracks} AND t.Milliseconds > 300000) = 0"),
    );
    count(
        "{Album_Artist: {Artist_Albums: {Album_Tracks: {UnitPrice: {_gt: \"0.99\"}}}}}",
        "ArtistId IN (SELECT ArtistId FROM Album JOIN Track USING (AlbumId) WHERE UnitPrice > 0.99)",
    );
}

#[test]
fn long_answers_leave_in_chunks_and_are_whole() {
    let served = serve(CHINOOK);
    let answer = served.ask("{ Track(order_by: {TrackId: asc}) { TrackId Name Composer Track_Album { Title Album_Artist { Name } } } }", "");
    assert!(answer.len() > 500_000, "{}", answer.len());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let tracks = answer["data"]["Track"].as_array().unwrap();
    assert_eq!(tracks.len(), 3503);
    assert_eq!(tracks[3502]["TrackId"], 3503);
}

/// `levels` fragments, each of which asks twice for the next, over a row with a long text that is its own parent.
fn doubled(levels: usize) -> String {
    let mut query = "{ node_by_pk(id: 1) { ...f0 } }".to_string();
    for level in 0..levels {
        let next = level + 1;
        let halves = format!("a: node_node {{ ...f{next} }} b: node_node {{ ...f{next} }}");
        query += &format!(" fragment f{level} on node {{ {halves} }}");
    }
    query + &format!(" fragment f{levels} on node {{ word }}")
}

#[test]
fn an_item_that_would_fill_the_memory_is_refused() {
    let served = serve(
        "CREATE TABLE node (id INTEGER PRIMARY KEY, parent INT NOT NULL REFERENCES node (id), word TEXT NOT NULL);
         INSERT INTO node VALUES (1, 1, hex(zeroblob(500000)))",
    );
    assert_eq!(served.ask(&doubled(2), "").len(), 4_000_101);
    let refused = served.ask(&doubled(8), "");
    assert!(refused.contains("LIMIT_RESPONSE") && refused.len() < 400, "{} bytes", refused.len());
}

#[test]
fn a_statement_that_takes_too_long_is_stopped() {
    let served = serve(CHINOOK);
    let query = "{ Track_aggregate(where: {Track_Genre: {Genre_Tracks: {Track_Genre: {Genre_Tracks: {Name: {_regex: \"zzz.*zzz\"}}}}}}) { aggregate { count } } }";
    let answer = served.bytes(query, "", weir_engine::source::Protocol::GraphqlOverHttp, 1);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.contains("SOURCE_TIMEOUT"), "{answer}");
    let after = served.ask("{ Album_by_pk(AlbumId: 1) { AlbumId } }", "");
    assert_eq!(after, r#"{"data":{"Album_by_pk":{"AlbumId":1}}}"#);
}

#[test]
fn text_of_sql_in_values_stays_text() {
    check(
        "query ($t: String!) { Album(where: {Title: {_eq: $t}}) { AlbumId } }",
        r#"{"t": "x' OR '1'='1"}"#,
        r#"{"data":{"Album":[]}}"#,
    );
    let served = serve(CHINOOK);
    let answer = served.ask(r#"{ Album(where: {Title: {_eq: "a\u0000b"}}) { AlbumId } }"#, "");
    assert!(answer.contains("INVALID_TEXT"), "{answer}");
}

#[test]
fn hasuras_accent_reads_leniently_and_says_errors_its_way() {
    let served = serve(CHINOOK);
    let check = |query: &str, variables: &str, expected: &str| {
        let answer = served.bytes(query, variables, weir_engine::source::Protocol::Hasura, 60);
        assert_eq!(String::from_utf8(answer).unwrap(), expected, "{query} {variables}");
    };
    check(r#"{ Album_by_pk(AlbumId: "1") { AlbumId } }"#, "", r#"{"data":{"Album_by_pk":{"AlbumId":1}}}"#);
    check(
        r#"{ Album(limit: 1, offset: "1", order_by: {AlbumId: asc}) { AlbumId } }"#,
        "",
        r#"{"data":{"Album":[{"AlbumId":2}]}}"#,
    );
    check(
        "query ($x: Int) { Album(where: {AlbumId: {_eq: $x}}) { AlbumId } }",
        "",
        r#"{"errors":[{"message":"unexpected null value for type 'Int'","extensions":{"path":"$.selectionSet.Album.args.where.AlbumId._eq","code":"validation-failed"}}]}"#,
    );
    check(
        "{ a: Album(limit: -1) { AlbumId } }",
        "",
        r#"{"errors":[{"message":"expected a non-negative 32-bit integer for type 'Int', but found an integer","extensions":{"path":"$.selectionSet.a.args.limit","code":"validation-failed"}}]}"#,
    );
    check(
        r#"{ Album(where: {Title: {_regex: "("}}) { AlbumId } }"#,
        "",
        r#"{"errors":[{"message":"invalid regular expression: unclosed group, at byte 0","extensions":{"path":"$.selectionSet.Album","code":"data-exception"}}]}"#,
    );
}

#[test]
fn one_snapshot_answers_all_of_a_query() {
    let served = serve(CHINOOK);
    let query = "{ a: Album_aggregate { aggregate { count } } Album_aggregate { aggregate { count } nodes { AlbumId } } }";
    std::thread::scope(|scope| {
        let path = served.beside.path().unwrap().to_owned();
        let writes = scope.spawn(move || {
            let writer = rusqlite::Connection::open(path).unwrap();
            writer.execute_batch("PRAGMA synchronous = OFF").unwrap();
            for at in 0..300 {
                writer
                    .execute("INSERT INTO Album (Title, ArtistId) VALUES (?1, 1)", [at.to_string()])
                    .unwrap();
            }
        });
        for _ in 0..50 {
            let answer: Value = serde_json::from_str(&served.ask(query, "")).unwrap();
            let count = answer["data"]["a"]["aggregate"]["count"].as_u64().unwrap();
            let rest = &answer["data"]["Album_aggregate"];
            assert_eq!(rest["aggregate"]["count"].as_u64(), Some(count));
            assert_eq!(rest["nodes"].as_array().unwrap().len() as u64, count);
        }
        writes.join().unwrap();
    });
}

#[test]
fn documents_are_compared_as_in_postgresql() {
    let served = serve(
        r#"CREATE TABLE note (id INTEGER PRIMARY KEY, doc JSONB);
        INSERT INTO note VALUES (1, '{"a": 1, "b": {"c": [1, 2]}}'), (2, '["a", "x"]'), (3, NULL), (4, '{"x": "a"}');"#,
    );
    let ids = |condition: &str, expected: &[i64]| {
        let answer = served
            .ask(&format!("{{ note(where: {{doc: {condition}}}, order_by: {{id: asc}}) {{ id }} }}"), "");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let rows = answer["data"]["note"].as_array().unwrap_or_else(|| panic!("{condition}: {answer}"));
        let found: Vec<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert_eq!(found, expected, "{condition}");
    };
    ids("{_has_key: \"a\"}", &[1, 2]);
    ids("{_has_keys_any: [\"b\", \"x\"]}", &[1, 2, 4]);
    ids("{_has_keys_all: [\"a\", \"x\"]}", &[2]);
    ids("{_contains: {b: {c: [2]}}}", &[1]);
    ids("{_contained_in: {x: \"a\", y: 1}}", &[4]);
    ids("{_is_null: true}", &[3]);
    ids("{_has_key: \"' OR 1=1 --\"}", &[]);
}

#[test]
fn wide_and_deep_conditions_are_answered_or_refused_in_words() {
    let served = serve(CHINOOK);
    let count = |condition: &str| {
        let variables = format!("{{\"w\": {condition}}}");
        let query = "query ($w: Album_bool_exp) { Album_aggregate(where: $w) { aggregate { count } } }";
        String::from_utf8(served.bytes(query, &variables, weir_engine::source::Protocol::GraphqlOverHttp, 60))
            .unwrap()
    };
    let answered =
        |count: u32| format!(r#"{{"data":{{"Album_aggregate":{{"aggregate":{{"count":{count}}}}}}}}}"#);
    let wide: Vec<String> = (0..5000).map(|at| format!(r#"{{"AlbumId": {{"_eq": {at}}}}}"#)).collect();
    assert_eq!(count(&format!(r#"{{"_or": [{}]}}"#, wide.join(","))), answered(347));
    let deep = |levels: usize, open: &str, close: &str| {
        format!("{}{{}}{}", open.repeat(levels), close.repeat(levels))
    };
    assert_eq!(count(&deep(40, r#"{"_not": "#, "}")), answered(347));
    let related = r#"{"Album_Artist": {"Artist_Albums": "#;
    assert_eq!(count(&deep(10, related, "}}")), answered(347));
    let too_large = count(&deep(16, related, "}}"));
    assert!(too_large.contains("too large for the database"), "{too_large}");
    for refused in [count(&deep(99, r#"{"_and": [{"_not": "#, "}]}")), count(&deep(17, related, "}}"))] {
        assert!(refused.contains("nested too deeply"), "{refused}");
    }
}

#[test]
fn a_client_that_goes_away_frees_the_thread_that_answered() {
    let served = serve(CHINOOK);
    let query = "{ Track(order_by: {TrackId: asc}) { TrackId Name Composer Track_Album { Title Album_Artist { Name } } } }";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let caller = served.engine.caller(&Identity::admin());
    let ask = || {
        let request = Request {
            protocol: weir_engine::source::Protocol::GraphqlOverHttp,
            ..Request::new(query, Instant::now() + Duration::from_secs(20))
        };
        served.engine.execute(request, &caller)
    };
    let whole = runtime.block_on(async {
        for _ in 0..30 {
            let body = ask().await.body;
            assert!(matches!(body, Body::Stream { .. }), "it is long enough to leave in chunks");
        }
        let Body::Stream { mut head, mut rest } = ask().await.body else { return Vec::new() };
        while let Some(chunk) = rest.recv().await {
            head.extend(chunk.expect("the source lives"));
        }
        head
    });
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    assert_eq!(whole["data"]["Track"].as_array().unwrap().len(), 3503);
}

#[test]
fn as_much_is_held_back_as_the_settings_say() {
    let streams = |hold_back_bytes: usize| {
        let served = serve(CHINOOK).holding_back(hold_back_bytes);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let request = Request {
            protocol: weir_engine::source::Protocol::GraphqlOverHttp,
            ..Request::new(
                "{ Track(order_by: {TrackId: asc}) { TrackId Name Composer } }",
                Instant::now() + Duration::from_secs(20),
            )
        };
        let response =
            runtime.block_on(served.engine.execute(request, &served.engine.caller(&Identity::admin())));
        matches!(response.body, Body::Stream { .. })
    };
    assert_eq!([1 << 10, 64 << 20].map(streams), [true, false]);
}

#[test]
fn a_list_under_two_names_is_written_twice() {
    let served = kit::serve("CREATE TABLE line (id INTEGER PRIMARY KEY); INSERT INTO line VALUES (1), (2)");
    let list = "line(order_by: {id: asc}) { id }";
    let query = format!("{{ one: {list} kind: __typename other: {list} again: __typename }}");
    let expected = r#"{"data":{"one":[{"id":1},{"id":2}],"kind":"query_root","other":[{"id":1},{"id":2}],"again":"query_root"}}"#;
    assert_eq!(served.ask(&query, ""), expected);
}
