//! Custom fields as a text of services.

use super::{check, custom_sdl};
use std::path::Path;
use weir_native::custom::Customs;

const TYPES: &str = r##"type Boat {
  reg: String! @id
  tons: Int
  fee: Int @custom(http: {url: "http://h/a/$reg?t=$tons&u=1&%5B=$tons", method: GET, forwardHeaders: ["A:B"], secretHeaders: ["K:k"]})
  rate: [Rate] @custom(http: {url: "http://h/b", method: POST, mode: BATCH, body: "{ r: $reg, s: [{ t: $tons }, \"a\\\"b\"] }"})
  due: Int @custom(http: {url: "http://h/c", method: POST, mode: BATCH, graphql: "query($bs: [B]) { dues(bs: $bs) }", body: "{ r: $reg }"})
}
type Rate @remote { n: Int64 }
type Query { ports(ids: [ID!]!, at: String): [Int] @custom(http: {url: "http://h/p/$ids", method: POST, body: "{ at: $at }"}) }
type Mutation { pay(reg: ID!): Int @custom(http: {url: "http://h/g", method: POST, graphql: "mutation($reg: ID!) { pay(in: {reg: $reg}) }"}) }
# Dgraph.Secret k "hush"
"##;

fn customs(types: &str) -> Customs {
    match weir_native::sdl::read(types) {
        Ok(read) => read.customs,
        Err(errors) => panic!("{errors:?}"),
    }
}

#[test]
fn fields_become_a_text_of_services() {
    let customs = customs(TYPES);
    let made = custom_sdl::translate(&customs);
    let errors = r#"errors: {message: "$.errors->first.message"}"#;
    let expected = [
        r#"extend schema @link(url: "https://specs.apollo.dev/connect/v0.4", import: ["@connect"])"#,
        "extend type Boat {",
        r#"  fee: Int @connect(http: {GET: "http://h/a/{$this.reg}?u=1&%5B={$this.tons}", headers: [{name: "A", from: "B"}, {name: "K", value: "{$config.secret0}"}], queryParams: "\"t\": $this.tons"}, selection: "$", ERRORS)"#,
        r#"  rate: [Rate] @connect(http: {POST: "http://h/b", body: "$($batch { reg tons })->map({\"r\": @.reg, \"s\": [{\"t\": @.tons}, \"a\\\"b\"]})"}, selection: "$", ERRORS)"#,
        r#"  due: Int @connect(http: {POST: "http://h/c", body: "$({\"query\": [\"query($bs: [B]) { dues(bs: $bs)\", $selection, \" }\"]->joinNotNull(\"\"), \"variables\": {\"bs\": $batch { reg }}})"}, selection: "$.data.dues", graphql: "dues", ERRORS)"#,
        "}",
        "type Query {",
        r#"  ports(ids: [ID!]! at: String): [Int] @connect(http: {POST: "http://h/p/{$args.ids->joinNotNull(',')}", body: "$({\"at\": $args.at})"}, selection: "$", ERRORS)"#,
        "}",
        "type Mutation {",
        r#"  pay(reg: ID!): Int @connect(http: {POST: "http://h/g", body: "$({\"query\": [\"mutation($reg: ID!) { pay(in: {reg: $reg})\", $selection, \" }\"]->joinNotNull(\"\"), \"variables\": {\"reg\": $args.reg}})"}, selection: "$.data.pay", graphql: "pay", ERRORS)"#,
        "}",
        "scalar Int64",
        "type Rate { n: Int64 }",
    ];
    let expected: Vec<String> = expected.iter().map(|it| it.replace("ERRORS", errors)).collect();
    assert_eq!(made.text.lines().collect::<Vec<_>>(), expected);
    assert!(!made.text.contains("hush"));
    assert_eq!(check(Path::new("a.graphql"), &customs), Ok(()));
}

#[test]
fn what_only_services_know_of_is_told_at_the_directive() {
    let told = |from: &str, to: &str| check(Path::new("a.graphql"), &customs(&TYPES.replacen(from, to, 1)));
    let host = "a.graphql:4:12: header `Host` belongs to the connection and cannot be sent on or set";
    assert_eq!(told("A:B", "Host"), Err(host.to_owned()));
    for name in
        ["Connection", "TE", "Content-Length", "Transfer-Encoding", "Upgrade", "X-Forwarded-For", "Forwarded"]
    {
        let expected =
            format!("a.graphql:4:12: header `{name}` belongs to the connection and cannot be sent on or set");
        assert_eq!(told("A:B", name), Err(expected));
    }
    let path = "a.graphql:4:12: `.` and `..` cannot stand in a path";
    assert_eq!(told("h/a/", "h/../"), Err(path.to_owned()));
    let change = "a.graphql:5:16: PUT changes something: it stands on fields of `Mutation` only";
    let put = TYPES.replace("http://h/b\", method: POST, mode: BATCH", "http://h/b\", method: PUT");
    assert_eq!(check(Path::new("a.graphql"), &customs(&put)), Err(change.to_owned()));
    let client = told("A:B", "A:X-Hasura-Role").expect_err("it is refused");
    assert!(client.starts_with("a.graphql:4:12: any client can send `X-Hasura-Role`"), "{client}");
    let two = TYPES.replace("A:B", "Host").replace("h/p/$ids", "h/p/../$ids");
    let two = check(Path::new("a.graphql"), &customs(&two)).expect_err("it is refused");
    assert_eq!(two.lines().count(), 2, "{two}");
}
