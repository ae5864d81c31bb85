//! Texts written for other servers behind a running one: bare names, objects of ids, forms, versions and directives of federation.

use crate::support::{Folder, Weir, command};
use crate::upstream_kit::{Upstream, answers};
use serde_json::json;
use std::path::PathBuf;

/// As the public writes it: an older version, paths without a slash, directives of federation, a form.
const SHOP: &str = r##"extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.10", import: ["@key", "@shareable"])
  @link(url: "https://specs.apollo.dev/connect/v0.2", import: ["@source", "@connect"])
  @source(name: "shop", http: {baseURL: "http://upstream/v1/"})

type Query {
  user(id: ID!): User
    @connect(source: "shop", http: {GET: "users/{$args.id}"}, entity: true, selection: """
      id
      name
      may: active->or(admin)
      total: price->mul(qty)
      level: kind->match(["a", nameA], [@, "none"])
      half: price->div(none)
      friends: friend_ids { id: $ }
      raw: { ids: friend_ids->map({ id: @, of: id }) }
      done: $(true)
    """)
  gone(id: ID!): Gone @connect(source: "shop", http: {GET: "gone/{$args.id}"}, selection: "id done: $(true)")
}

type Mutation {
  pay(amount: Int!, lines: [Line!]): Paid
    @connect(source: "shop", selection: "ok", http: {
      POST: "pay"
      headers: [{name: "Content-Type", value: "application/x-www-form-urlencoded; charset=utf-8"}]
      body: "amount: $args.amount lines: $args.lines note: $('a b&c')"
    })
}

input Line { sku: String! count: Int }
type Paid { ok: Boolean }
type Gone { id: ID done: Boolean }
scalar JSON

type User @key(fields: "id") {
  id: ID! @shareable
  name: String
  may: Boolean
  total: Float
  level: String
  half: Float
  friends: [User]
  raw: JSON
  done: Boolean
  badge: Badge @connect(source: "shop", http: {GET: "/badges", queryParams: "of: $this.id"}, selection: "id")
}
type Badge @connect(source: "shop", http: {POST: "badges", body: "ids: $batch.id"}, selection: "id colour") { id: Int! colour: String }
"##;

const ANSWERS: &str = r#"
- {ask: GET /v1/users/1, text: '{"id": 1, "name": "Ada", "active": false, "admin": true, "price": 2.5, "qty": 2, "kind": "a", "nameA": "gold", "none": 0, "friend_ids": [2, null]}'}
- {ask: GET /v1/users/2, answer: {id: 2, name: Bob, active: true, friend_ids: null}}
- {ask: 'GET /v1/badges?of=1', answer: {id: 7}}
- {ask: POST /v1/badges, text: '[{"id": 7.0, "colour": "red"}]'}
- {ask: POST /v1/pay, answer: {ok: true}}
- {ask: GET /v1/gone/1, status: 204}
"#;

fn serve() -> (Upstream, Weir, PathBuf) {
    let upstream = Upstream::start(answers(ANSWERS));
    let folder = Folder::new();
    let text = SHOP.replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("shop.graphql", &text);
    let target = file.display().to_string();
    (upstream, Weir::start(&["serve", &target, "--listen", "127.0.0.1:0"], folder), file)
}

#[test]
fn a_public_text_gives_what_it_gives_elsewhere() {
    let (upstream, weir, _) = serve();
    let answer = weir.query(
        "{ user(id: 1) { may total level half friends { id name } raw done badge { colour } } gone(id: 1) { id done } }",
    );
    let answer = answer.json();
    assert_eq!(
        answer["data"],
        json!({
            "user": {
                "may": true, "total": 5.0, "level": "gold", "half": null,
                "friends": [{"id": "2", "name": "Bob"}, null],
                "raw": {"ids": [{"id": 2, "of": 1}, {"id": null, "of": 1}]},
                "done": true, "badge": {"colour": "red"},
            },
            "gone": {"id": null, "done": true},
        })
    );
    let errors: Vec<_> =
        answer["errors"].as_array().into_iter().flatten().map(|it| it["path"].clone()).collect();
    assert_eq!(errors, [json!(["user", "half"])]);
    let badges = upstream.take_requests().into_iter().find(|it| it.line == "POST /v1/badges");
    assert_eq!(badges.map(|it| it.body), Some(r#"{"ids":[7]}"#.to_owned()));
}

#[test]
fn a_form_is_sent_as_one() {
    let (upstream, weir, _) = serve();
    let paid =
        weir.query(r#"mutation { pay(amount: 5, lines: [{sku: "x/y", count: 2}, {sku: "é"}]) { ok } }"#);
    assert_eq!(paid.json(), json!({"data": {"pay": {"ok": true}}}));
    let [asked] = &upstream.take_requests()[..] else { panic!("one call") };
    let kind = asked.headers.iter().find(|it| it.0 == "content-type").map(|it| it.1.as_str());
    assert_eq!(kind, Some("application/x-www-form-urlencoded; charset=utf-8"));
    assert_eq!(
        asked.body,
        "amount=5&lines%5B0%5D%5Bsku%5D=x%2Fy&lines%5B0%5D%5Bcount%5D=2&lines%5B1%5D%5Bsku%5D=%C3%A9&note=a+b%26c"
    );
}

#[test]
fn directives_that_do_nothing_are_warnings() {
    let (_upstream, weir, file) = serve();
    let checked = command().arg("check").arg(&file).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    let note = "shop.graphql:2:14`: of federation, ignored for one graph: `@key` `@shareable`";
    assert!(checked.status.success() && said.contains("warning: ") && said.contains(note), "{said}");
    assert!(weir.log().contains("ignored for one graph"), "{}", weir.log());
}

/// Keys of a scalar of one's own.
const THINGS: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query { refs(of: Int): [Ref] @connect(source: "s", http: {GET: "/refs/{$args.of}"}, selection: "thing: {id: ref}") }
type Mutation { refs: [Ref] @connect(source: "s", http: {POST: "/refs"}, selection: "thing: {id: ref}") }
type Ref { thing: Thing }
type Thing @connect(source: "s", http: {GET: "/things", queryParams: "id: $batch.id"}, selection: "id name") { id: Any name: String }
scalar Any
"#;

#[test]
fn numbers_that_are_equal_are_one_key_however_they_are_written() {
    let known = r#"
- {ask: GET /refs/1, text: '[{"ref": 1}, {"ref": 1.0}, {"ref": 10e-1}, {"ref": 2.50}]'}
- {ask: POST /refs, text: '[{"ref": 1.0}, {"ref": 1}]'}
- {ask: 'GET /refs/2', text: '[{"ref": [1, [2]]}]'}
- {ask: 'GET /things?id=1&id=2.50', text: '[{"id": 2.5, "name": "two"}, {"id": 1.00, "name": "one"}]'}
- {ask: 'GET /things?id=1.0', text: '[{"id": 1, "name": "one"}]'}
"#;
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let text = THINGS.replace("http://upstream", &format!("http://{}", upstream.address));
    let target = folder.write("things.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &target, "--listen", "127.0.0.1:0"], folder);
    let names = |query: &str| {
        let answer = weir.query(query).json();
        let refs = answer["data"]["refs"].as_array().cloned().unwrap_or_default();
        refs.iter().map(|it| it["thing"]["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("{ refs(of: 1) { thing { name } } }"), ["one", "one", "one", "two"]);
    assert_eq!(names("mutation { refs { thing { name } } }"), ["one", "one"]);
    // A value that makes no request is no fault of the service.
    let error = weir.query("{ refs(of: 2) { thing { name } } }").json()["errors"][0].clone();
    assert_eq!(error["message"], "A value this field depends on is not a single value.");
    assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT");
}
