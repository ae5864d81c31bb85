//! `@custom` and `@remote`: what is read of them, and what is refused, all at once and with places.

use super::read;
use crate::custom::{Customs, Owner, UrlPart};
use proptest::prelude::*;
use weir_language::error::Error;
use weir_language::json::quote;

const BOAT: &str =
    "type Boat { id: ID! reg: String! @id tons: Int tags: [String] harbour: Harbour mine: Int @custom(HTTP) }
type Harbour { name: String! @id }
type Fee @remote { amount: Int }
input Size { tons: Int }
";

fn render_errors(text: &str, errors: &[Error]) -> Vec<String> {
    let place = |it: &Error| {
        it.locations(text).first().map_or_else(String::new, |it| format!("{}:{}", it.line, it.column))
    };
    errors.iter().map(|it| format!("{} {}", place(it), it.message)).collect()
}

#[track_caller]
fn customs(text: &str) -> Customs {
    match read(text) {
        Ok(read) => read.customs,
        Err(errors) => panic!("{}", render_errors(text, &errors).join("\n")),
    }
}

/// The first complaint about a custom field of `Boat` whose `http` is this.
#[track_caller]
fn check_refused(http: &str, expected: &str) {
    let text = BOAT.replace("HTTP", &format!("http: {{{http}}}"));
    let Err(errors) = read(&text) else { panic!("accepted: {http}") };
    assert_eq!(errors[0].message, expected, "{http}");
}

/// Checks the first complaint about a field of `Query` or `Mutation`, given in full.
#[track_caller]
fn refused_root(root: &str, expected: &str) {
    let text = format!("{}{root}", BOAT.replace(" mine: Int @custom(HTTP)", ""));
    let Err(errors) = read(&text) else { panic!("accepted: {root}") };
    assert_eq!(errors[0].message, expected, "{root}");
}

#[test]
fn custom_fields_are_no_part_of_the_model() {
    let http = "http: {url: \"https://h:8/a/$reg?t=$tons&u=1\", method: GET, forwardHeaders: [\"X-A:X-B\"], secretHeaders: [\"Key:k\"]}";
    let text = format!("{}# Dgraph.Secret k \"v\"\n", BOAT.replace("HTTP", http));
    let read = read(&text).unwrap_or_else(|errors| panic!("{}", render_errors(&text, &errors).join("\n")));
    assert!(read.model.fields.iter().all(|it| it.name != "mine"));
    assert_eq!(read.model.types.len(), 2);
    let field = &read.customs.fields[0];
    assert_eq!((&field.owner, field.signature.as_str()), (&Owner::Type("Boat".into()), "mine: Int"));
    assert_eq!(field.optional, ["tons"]);
    let url = &field.request.url;
    let of = |name: &str| UrlPart::Variable { name: name.into(), is_list: false };
    assert_eq!((url.origin.as_str(), &url.path[1]), ("https://h:8", &of("reg")));
    assert_eq!(url.query, [("t".into(), of("tons")), ("u".into(), UrlPart::Fixed("1".into()))]);
    assert_eq!(field.request.forwarded[0].local, "X-B");
    assert!(!format!("{:?}", read.customs).contains("\"v\""), "a secret is never shown");
}

#[test]
fn roots_have_fields_of_ones_own() {
    let text = "type Boat { reg: String! @id }
extend type Query { \"Words.\" old(size: Size! = {tons: 1}, kind: Kind): [Fee!] @deprecated(reason: \"x\") @custom(http: {url: \"http://h/\", method: POST, body: \"{ a: [$size, 1.50], k: $kind }\"}) }
type Mutation { pay(id: ID!): Fee @custom(http: {url: \"http://h/$id\", method: PUT}) }
type Fee @remote { \"Of it.\" amount: Int64 @remoteResponse(name: \"the-amount\") kind: Kind! }
input Size { tons: Int = 3 }
input Other { a: Int } enum Kind { A B @deprecated }
interface Priced @remote { kind: Kind }
type Toll implements Priced @remote { kind: Kind }
union Charge @remote = Fee | Toll";
    let customs = customs(text);
    let signatures: Vec<&str> = customs.fields.iter().map(|it| it.signature.as_str()).collect();
    let old = "\"Words.\" old(size: Size! = {tons: 1} kind: Kind): [Fee!] @deprecated(reason: \"x\")";
    assert_eq!(signatures, [old, "pay(id: ID!): Fee"]);
    let definitions: Vec<&str> = customs.definitions.iter().map(|it| it.text.as_str()).collect();
    let expected = [
        "union Charge = Fee | Toll",
        "type Fee { \"Of it.\" amount: Int64 kind: Kind! }",
        "scalar Int64",
        "enum Kind { A B @deprecated(reason: \"No longer supported\") }",
        "interface Priced { kind: Kind }",
        "input Size { tons: Int = 3 }",
        "type Toll implements Priced { kind: Kind }",
    ];
    assert_eq!(definitions, expected);
    assert_eq!(customs.names[0].name, "the-amount");
    let warnings = read(text).map(|it| it.warnings).unwrap_or_default();
    let told: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["the input `Other` is ignored: Weir makes those that its mutations take"]);
}

#[test]
fn templates_are_checked_against_what_is_stored() {
    check_refused("url: \"http://h/\"", "`@custom(http:)` needs `url` and `method`");
    check_refused("url: \"/a\", method: GET", "`url` is a whole address, as in `https://host/path`");
    let host = "no value chooses the host: write it out, and variables as `/$name` or `?key=$name`";
    check_refused("url: \"http://$reg/a\", method: GET", host);
    check_refused("url: \"http://$reg.h/a\", method: GET", host);
    check_refused("url: \"http://h/{$reg}\", method: GET", host);
    check_refused(
        "url: \"http://h/$tons/$reg\", method: GET",
        "`$tons` is a segment of the path, so it has to be non-null: write `!` behind its type",
    );
    check_refused(
        "url: \"http://h/$rge\", method: GET",
        "`Boat` has no stored field `rge`; did you mean `reg`?",
    );
    for other in ["mine", "tags", "harbour"] {
        let expected =
            format!("`${other}`: a template reads stored single values of `Boat`, and `{other}` is none");
        check_refused(&format!("url: \"http://h/?a=${other}&b=$reg\", method: GET"), &expected);
    }
    let key = |part: &str| {
        format!(
            "Type Boat; Field mine: @custom directive, {part} must use a field with type ID! or a field with @id directive."
        )
    };
    check_refused("url: \"http://h/?a=$tons\", method: GET", &key("url"));
    check_refused("url: \"http://h/\", method: POST, body: \"{ t: $tons }\"", &key("body template"));
    check_refused(
        "url: \"http://h/$reg\", method: POST, mode: BATCH, body: \"{ r: $reg }\"",
        "`$reg`: with `mode: BATCH` no variable stands in the URL: put it into `body`",
    );
    check_refused(
        "url: \"http://h/\", method: POST, mode: BATCH",
        "`mode: BATCH` needs `body`: the list of what it makes of each object is sent",
    );
    check_refused(
        "url: \"http://h/$reg\", method: GET, body: \"{ r: }\"",
        "`body` is an object or a list, as in `{ reg: $reg, kind: \"boat\" }`",
    );
    check_refused(
        "url: \"http://h/$reg\", method: FETCH",
        "`method` is one of GET, POST, PUT, PATCH, DELETE",
    );
    check_refused(
        "url: \"http://h/$reg\", method: GET, secretHeaders: [\"a:b\"]",
        "there is no secret `b`: write `# Dgraph.Secret b \"…\"`",
    );
    check_refused(
        "url: \"http://h/$reg\", method: GET, forwardHeaders: [\"a:b\", \"A:c\"]",
        "two headers of the call are called `A`: keep one",
    );
}

#[test]
fn remote_operations_are_checked() {
    let check = |graphql: &str, expected: &str| {
        check_refused(&format!("url: \"http://h/\", method: POST, graphql: \"{graphql}\""), expected);
    };
    let one = "`graphql`: write one operation, as in `query($reg: String!) { inspect(reg: $reg) }`";
    check("query { a } query { b }", one);
    check("query Q($reg: String!) { a(reg: $reg) }", "`graphql`: it is a query or mutation without a name");
    check("query { a b }", "`graphql`: it has one field");
    let bare = "`graphql`: its field has no alias, directive or selection: the client's is put in";
    check("query($reg: String!) { a: b(reg: $reg) }", bare);
    check("query($reg: String!) { a(reg: $reg) { c } }", bare);
    check("query($nope: String!) { a(nope: $nope) }", "`Boat` has no stored field `nope`");
    check_refused(
        "url: \"http://h/\", method: GET, graphql: \"query($reg: String!) { a(reg: $reg) }\"",
        "`graphql` is sent by `method: POST`",
    );
    check_refused(
        "url: \"http://h/\", method: POST, graphql: \"query($reg: String!) { a(reg: $reg) }\", body: \"{ r: $reg }\"",
        "`graphql` and `body` exclude each other in `mode: SINGLE`: remove `body`",
    );
    check_refused(
        "url: \"http://h/\", method: POST, mode: BATCH, graphql: \"query($reg: [B], $t: Int) { a(reg: $reg) }\", body: \"{ r: $reg }\"",
        "`graphql` in `mode: BATCH` has one argument that is one variable, as in `query($input: [BoatInput]) { fees(input: $input) }`",
    );
}

#[test]
fn other_places_and_names_are_refused() {
    refused_root(
        "type Query { a: Int @custom(dql: \"{ q(func: has(a)) { a } }\") }",
        "`@custom(dql:)` is not served: DQL is Dgraph's own language; ask with the queries that are made of the types, or let a service answer by `@custom(http: …)`",
    );
    refused_root(
        "type Query { a: Int }",
        "`Query` has fields of one's own only with `@custom(http: …)`; the others are made of the types: remove it",
    );
    let http = "@custom(http: {url: \"http://h/\", method: GET})";
    for name in ["getBoat", "queryHarbour", "aggregateBoat", "checkBoatPassword"] {
        let expected = format!("`Query.{name}` is a name that Weir makes of a type: choose another name");
        refused_root(&format!("type Query {{ {name}: Int {http} }}"), &expected);
    }
    refused_root(
        &format!("type Mutation {{ addBoat: Int {http} }}"),
        "`Mutation.addBoat` is a name that Weir makes of a type: choose another name",
    );
    refused_root(
        &format!("type Query {{ boats: [Boat] {http} }}"),
        "`Boat` is stored, and a service gives no stored objects: declare a type of its answers with `@remote`, or give their keys and ask for them by `getBoat`",
    );
    refused_root(
        &format!("type Query {{ a(b: Boat): Int {http} }}"),
        "`Boat` is a type, which no argument can be: define an `input`",
    );
    refused_root(
        &format!("type Query {{ a: Int @search {http} }}"),
        "`@search` stands on a field, not on a custom field: move it",
    );
    refused_root(
        "type Query { a: Int @custom(http: {url: \"http://h/\", method: POST, mode: BATCH, body: \"{}\"}) }",
        "`mode` stands on fields of types: a root field is one call, remove it",
    );
    refused_root("union U @remote = Boat", "`Boat` is no type with `@remote`: write the directive there too");
    refused_root(
        "type P { id: ID! fee: Fee }",
        "`Fee` is not stored (`@remote`): only a field with `@custom` can be one; write the directive here",
    );
    refused_root(
        "type R @remote @auth(query: {rule: \"{$A: {eq: 1}}\"}) { a: Int }",
        "Type R; cannot have both @auth and @remote directive",
    );
    refused_root(
        &format!("type R @remote {{ a: Int {http} }}"),
        "`@custom` stands on a field of a stored type, of `Query` or `Mutation`, not on a field of a remote type: remove it",
    );
    refused_root(
        &format!("type N {{ a: Int b: Int {http} }}"),
        "Type N; Field b: @custom directive is only allowed on fields where the type definition has a field with type ID! or a field with @id directive.",
    );
    refused_root(
        &format!("interface I {{ id: ID! a: Int {http} }}"),
        "`@custom` stands on fields of types, not of interfaces: write the field in the types that implement it",
    );
    refused_root(
        &format!("type D {{ id: ID! ds: [Boat] dsAggregate: Int {http} }}"),
        "Weir makes a field `dsAggregate` of `D`: choose another name",
    );
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = "type Boat {
  reg: String! @id
  a: Nope @custom(http: {url: \"http://h/$reg\", method: GET})
  b: Int @custom(http: {url: \"h/$reg\", method: GET})
}
# Dgraph.Secret nothing
";
    let errors = read(text).map(|_| ()).unwrap_err();
    let expected = [
        "3:6 there is no type `Nope`",
        "4:30 `url` is a whole address, as in `https://host/path`",
        "6:1 a secret is written `# Dgraph.Secret name \"value\"`",
    ];
    assert_eq!(render_errors(text, &errors), expected);
}

proptest! {
    #[test]
    fn no_template_makes_the_reader_panic(
        url in "(https?://|)[a-z$/?&={}#%é. ]{0,20}",
        body in "[{}\\[\\]a-c$:,\"\\\\ é1.#\n]{0,24}",
        graphql in "(query|mutation|)[(){}$a-c:!\\[\\] é,\"#]{0,24}",
        secret in "[a-c\" \\\\#é]{0,8}",
    ) {
        let quoted = |text: &str| {
            let mut out = String::new();
            quote(text, &mut out);
            out
        };
        let url = quoted(&url);
        let body = quoted(&body);
        let graphql = quoted(&graphql);
        for more in [format!("body: {body}"), format!("graphql: {graphql}"), format!("mode: BATCH, graphql: {graphql}, body: {body}")] {
            let http = format!("http: {{url: {url}, method: POST, secretHeaders: [\"a\"], {more}}}");
            let _ = read(&format!("{}# Dgraph.Secret {secret}\n", BOAT.replace("HTTP", &http)));
        }
    }
}

#[test]
fn queries_may_be_subscribed_to_and_nothing_else() {
    let http = "@custom(http: {url: \"http://h/\", method: GET})";
    let text = BOAT.replace(" mine: Int @custom(HTTP)", "");
    let read = customs(&format!("{text}type Query {{ a: Int {http} @withSubscription b: Int {http} }}"));
    assert_eq!(read.fields.iter().map(|it| it.is_live).collect::<Vec<_>>(), [true, false]);
    refused_root(
        &format!("type Mutation {{ a: Int {http} @withSubscription }}"),
        "a mutation cannot be subscribed to: remove `@withSubscription`",
    );
    refused_root(
        "type Query { a: Int @withSubscription }",
        "`Query` has fields of one's own only with `@custom(http: …)`; the others are made of the types: remove it",
    );
    let of_boat = http.replace("http://h/", "http://h/$reg");
    let of_type = BOAT.replace("@custom(HTTP)", &format!("{of_boat} @withSubscription"));
    let Err(errors) = super::read(&of_type) else { panic!("accepted") };
    assert_eq!(
        errors[0].message,
        "subscriptions to the type bring this field: write `@withSubscription` on the type"
    );
}
