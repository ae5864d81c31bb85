//! The meaning of filters where two readings are near: one item of a list or several, ids beside an `or`; in queries, aggregates,
//! updates, deletes and rules, in both databases.

use crate::kit;
use crate::kit::in_postgres;
use weir_engine::caller::{Claims, Identity, Token};

/// Asks both stores of `sdl` each of `requests` in turn and compares the data.
fn check(sdl: &str, requests: &[(&str, &str)]) {
    let sqlite = kit::serve(sdl, "");
    let postgres = in_postgres::serve(sdl, "");
    for &(request, expected) in requests {
        let expected = format!(r#"{{"data":{{{expected}}}}}"#);
        assert_eq!(sqlite.ask(request, ""), expected, "SQLite: {request}");
        assert_eq!(postgres.ask(request, ""), expected, "PostgreSQL: {request}");
    }
}

const LISTS: &str = "interface Listed { k: String! @id, ints: [Int!] @search, texts: [String] @search(by: [exact]) }
    type T implements Listed { bigs: [Int64] @search, floats: [Float] @search, days: [DateTime] @search, owner: Owner }
    type Owner { name: String! @id, ts: [T] @hasInverse(field: owner) }";

const APART: &str = r#"mutation { addT(input: [
    {k: "apart", ints: [1, 9], texts: ["a", "z"], bigs: [1, 9], floats: [1, 9], days: ["2001", "2009"], owner: {name: "o"}}
    {k: "inside", ints: [5], texts: ["m"], bigs: [5], floats: [5], days: ["2005"], owner: {name: "p"}}
    {k: "none"}]) { numUids } }"#;

#[test]
fn one_item_of_a_list_is_between_both_bounds() {
    let mut requests = vec![(APART.to_owned(), r#""addT":{"numUids":5}"#.to_owned())];
    for (field, min, max) in [
        ("ints", "4", "6"),
        ("bigs", "4", "6"),
        ("floats", "4.5", "5.5"),
        ("texts", "\"k\"", "\"n\""),
        ("days", "\"2004\"", "\"2006\""),
    ] {
        let filter = format!("{{{field}: {{between: {{min: {min}, max: {max}}}}}}}");
        let inside = r#"[{"k":"inside"}]"#;
        requests.push((
            format!(
                "{{ queryT(filter: {filter}) {{ k }} n: queryT(filter: {{not: {filter}}}) {{ k }} aggregateT(filter: {filter}) {{ count }} \
                 queryOwner(filter: {{ts: {filter}}}) {{ name }} }}"
            ),
            format!(
                r#""queryT":{inside},"n":[{{"k":"apart"}},{{"k":"none"}}],"aggregateT":{{"count":1}},"queryOwner":[{{"name":"p"}}]"#
            ),
        ));
        if matches!(field, "ints" | "texts") {
            requests.push((
                format!("{{ queryListed(filter: {filter}) {{ k }} }}"),
                format!(r#""queryListed":{inside}"#),
            ));
        }
        requests.push((
            format!("mutation {{ updateT(input: {{filter: {filter}, set: {{floats: [5]}}}}) {{ numUids t {{ k }} }} }}"),
            format!(r#""updateT":{{"numUids":1,"t":{inside}}}"#),
        ));
    }
    requests.push((
        "mutation { deleteT(filter: {ints: {between: {min: 4, max: 6}}}) { numUids t { k } } }".to_owned(),
        r#""deleteT":{"numUids":1,"t":[{"k":"inside"}]}"#.to_owned(),
    ));
    requests.push(("{ queryT { k } }".to_owned(), r#""queryT":[{"k":"apart"},{"k":"none"}]"#.to_owned()));
    check(LISTS, &requests.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect::<Vec<_>>());
}

#[test]
fn each_operator_on_a_list_may_be_met_by_another_item() {
    check(
        LISTS,
        &[
            (APART, r#""addT":{"numUids":5}"#),
            (
                "{ queryT(filter: {ints: {ge: 4, le: 6}}) { k } and: queryT(filter: {and: [{ints: {ge: 4}}, {ints: {le: 6}}]}) { k } }",
                r#""queryT":[{"k":"apart"},{"k":"inside"}],"and":[{"k":"apart"},{"k":"inside"}]"#,
            ),
            (
                "{ queryT(filter: {ints: {between: {min: 1, max: 6}, ge: 9}}) { k } }",
                r#""queryT":[{"k":"apart"}]"#,
            ),
            ("{ queryT(filter: {ints: {between: {min: 2, max: 6}, ge: 9}}) { k } }", r#""queryT":[]"#),
        ],
    );
}

#[test]
fn a_rule_with_a_range_over_a_list_grants_what_one_item_meets() {
    let sdl = LISTS.replace(
        "type T implements Listed {",
        r#"type T implements Listed @auth(query: {rule: "query { queryT(filter: {ints: {between: {min: 4, max: 6}}}) { k } }"}) {"#,
    );
    let sqlite = kit::serve(&sdl, "");
    let postgres = in_postgres::serve(&sdl, "");
    let claims = std::sync::Arc::new(Claims::new(Vec::new(), Token::Absent));
    let user = Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims };
    assert_eq!(sqlite.ask(APART, ""), r#"{"data":{"addT":{"numUids":5}}}"#);
    assert_eq!(postgres.ask(APART, ""), r#"{"data":{"addT":{"numUids":5}}}"#);
    let seen = r#"{"data":{"queryT":[{"k":"inside"}]}}"#;
    assert_eq!(sqlite.ask_as("{ queryT { k } }", &user), seen);
    assert_eq!(postgres.ask_as("{ queryT { k } }", &user), seen);
}

const NAMED: &str = "interface Numbered { id: ID!, k: String @search(by: [hash]) }
    type M implements Numbered { box: Box }
    type Box { name: String! @id, ms: [M] @hasInverse(field: box) }";

#[test]
fn ids_beside_an_or_bound_the_filter_of_a_root_field() {
    let add = r#"mutation { addM(input: [{k: "1"}, {k: "2"}, {k: "3"}]) { numUids }
        addBox(input: [{name: "b", ms: [{id: "0x1"}, {id: "0x2"}, {id: "0x3"}]}]) { numUids } }"#;
    let filter = r#"{id: ["0x1"], or: {k: {eq: "2"}}}"#;
    let asked = |filter: &str, ks: &str| {
        let ks: Vec<String> = ks.split_whitespace().map(|it| format!(r#"{{"k":"{it}"}}"#)).collect();
        let count = ks.len();
        let ks = ks.join(",");
        (
            format!(
                "{{ queryM(filter: {filter}) {{ k }} aggregateM(filter: {filter}) {{ count }} queryNumbered(filter: {filter}) {{ k }} }}"
            ),
            format!(r#""queryM":[{ks}],"aggregateM":{{"count":{count}}},"queryNumbered":[{ks}]"#),
        )
    };
    let mut requests = vec![
        (add.to_owned(), r#""addM":{"numUids":3},"addBox":{"numUids":1}"#.to_owned()),
        asked(filter, ""),
        asked(r#"{id: ["0x1", "0x2"], or: [{k: {eq: "2"}}, {k: {eq: "3"}}]}"#, "2"),
        asked(r#"{id: ["0x1", "0x2"], k: {eq: "1"}, or: [{k: {eq: "2"}}, {k: {eq: "3"}}]}"#, "1 2"),
        asked(r#"{id: [], or: [{k: {eq: "2"}}]}"#, ""),
        asked(r#"{id: null, or: [{k: {eq: "2"}}]}"#, "2"),
        asked(r#"{id: ["0x1"], or: {}}"#, "1"),
        // Deeper, they are a part of the rest.
        asked(&format!("{{and: [{filter}]}}"), "1 2"),
        asked(&format!("{{or: [{filter}, {{k: {{eq: \"3\"}}}}]}}"), "1 2 3"),
    ];
    requests.extend([
        (
            format!("{{ queryBox(filter: {{ms: {filter}}}) {{ ms(filter: {filter}) {{ k }} msAggregate(filter: {filter}) {{ count }} }} }}"),
            r#""queryBox":[{"ms":[{"k":"1"},{"k":"2"}],"msAggregate":{"count":2}}]"#.to_owned(),
        ),
        (
            format!("mutation {{ updateM(input: {{filter: {filter}, set: {{k: \"x\"}}}}) {{ numUids }} }}"),
            r#""updateM":{"numUids":0}"#.to_owned(),
        ),
        (
            format!("mutation {{ updateM(input: {{filter: {{k: {{eq: \"1\"}}}}, set: {{k: \"1\"}}}}) {{ m(filter: {filter}) {{ k }} }} }}"),
            r#""updateM":{"m":[]}"#.to_owned(),
        ),
        (
            format!("mutation {{ deleteM(filter: {filter}) {{ msg numUids }} deleteNumbered(filter: {filter}) {{ numUids }} }}"),
            r#""deleteM":{"msg":"No nodes were deleted","numUids":0},"deleteNumbered":{"numUids":0}"#.to_owned(),
        ),
        asked("{}", "1 2 3"),
    ]);
    check(NAMED, &requests.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect::<Vec<_>>());
}
