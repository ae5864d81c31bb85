//! Callers of servers that are passed through, GraphQL and gRPC, over real sockets: what each sees, what of a session reaches the
//! server, and whose answers are kept apart.

use crate::grpc_kit;
use crate::support::{Folder, Weir, body, command};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A token of a user in a role, with scopes.
fn token(user: &str, role: &str, scope: &str) -> String {
    let claims = format!(
        r#"{{"scope":"{scope}","https://hasura.io/jwt/claims":{{"x-hasura-allowed-roles":["{role}"],"x-hasura-default-role":"{role}","x-hasura-user-id":"{user}"}}}}"#
    );
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes()), signed.as_bytes());
    format!("Bearer {signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// A server whose users see the pet of their number alone.
fn pets() -> Weir {
    let folder = Folder::new();
    folder.pets();
    let yaml = "listen: 127.0.0.1:0
admin_secret: up
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: '*', filter: {id: {_eq: X-Hasura-User-Id}}, allow_aggregations: true}}
          - {role: chief, permission: {columns: '*', filter: {}, allow_aggregations: true}}
";
    let file = folder.write("weir.yaml", yaml);
    Weir::by_file(&file, folder)
}

/// A gateway with a text of services, callers with tokens, and a role for those without.
fn gateway(services: &str) -> Weir {
    let folder = Folder::new();
    folder.write("services.graphql", services);
    std::fs::copy(grpc_kit::description(), folder.file("shop.proto")).unwrap();
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nauth: {{jwt: [{{type: HS256, key: {KEY}}}], unauthorized_role: guest}}\nsources: [{{name: s, file: services.graphql}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

const LINK: &str = r#"extend schema @link(url: "https://weir.example/spec/v1", import: ["@graphql", "@grpc", "@cache", "@allow", "@authenticated", "@requiresScopes"])"#;

fn before(pets: &Weir, visible: &str, more: &str) -> Weir {
    let text = format!(
        r#"{LINK}
        @graphql(url: "http://{}/graphql", prefix: "up_", {visible} headers: [{{name: "x-weir-admin-secret", value: "up"}},
          {{name: "x-hasura-role", value: "{{$role}}"}}, {{name: "x-hasura-user-id", value: "{{$claims.'user-id'}}"}}])
        @cache(source: "up_", default: 600)
        {more}"#,
        pets.address
    );
    gateway(&text)
}

/// The answer to the holder of a token; without one, to a guest.
fn ask(weir: &Weir, token: &str, query: &str) -> Value {
    let header = [("authorization", token)];
    let headers = if token.is_empty() { &[][..] } else { &header };
    weir.post("/graphql", headers, body(query).as_bytes()).json()
}

fn admin(weir: &Weir, query: &str) -> Value {
    weir.post("/graphql", &[("x-weir-admin-secret", "hush")], body(query).as_bytes()).json()
}

const NAMES: &str = "{ up_pet(order_by: {id: asc}) { name } }";

#[test]
fn users_of_a_server_are_told_apart_by_what_their_tokens_say() {
    let pets = pets();
    let weir = before(&pets, "visible: {authenticated: true},", "");
    let ann = token("1", "user", "");
    let bob = token("2", "user", "");
    let chief = token("9", "chief", "");
    for _ in 0..3 {
        for (token, names) in [(&ann, &["Ada"][..]), (&bob, &["Bob"]), (&chief, &["Ada", "Bob", "Cyd"])] {
            let names: Vec<Value> = names.iter().map(|it| json!({"name": it})).collect();
            assert_eq!(ask(&weir, token, NAMES), json!({"data": {"up_pet": names}}));
        }
    }
    // Without a token there is nothing of the server.
    let none = ask(&weir, "", "{ __schema { queryType { fields { name } } types { name } } }").to_string();
    assert!(none.contains("no_queries_available") && !none.contains("pet"), "{none}");
    // An operator's address asks a guest for a credential, and refuses a user's.
    let metrics = |headers: &[(&str, &str)]| weir.get("/metrics", headers).status;
    assert_eq!((metrics(&[]), metrics(&[("authorization", &ann)])), (401, 403));
    // A client's own header says nothing.
    let claimed = weir.post(
        "/graphql",
        &[("authorization", &ann), ("x-hasura-user-id", "2"), ("x-hasura-role", "user")],
        body(NAMES).as_bytes(),
    );
    assert_eq!(claimed.json(), json!({"data": {"up_pet": [{"name": "Ada"}]}}));
    let splits = token("1\\r\\nx-hasura-role: chief", "user", "");
    let answer = ask(&weir, &splits, NAMES);
    assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{answer}");
}

#[test]
fn a_server_without_a_word_on_callers_is_the_admin_s() {
    let pets = pets();
    let weir = before(&pets, "", "");
    let ann = token("1", "user", "");
    let denied = ask(&weir, &ann, NAMES).to_string();
    assert!(denied.contains("Cannot query field") && !denied.contains("\"data\""), "{denied}");
    assert_eq!(
        ask(&weir, &ann, "{ up_nothing { name } }").to_string(),
        denied.replace("up_pet", "up_nothing")
    );
    // The admin has no claims, so the server is asked as its own admin.
    assert_eq!(
        admin(&weir, "{ up_pet_by_pk(id: 2) { name } }"),
        json!({"data": {"up_pet_by_pk": {"name": "Bob"}}})
    );
}

#[test]
fn types_and_fields_of_a_server_are_shown_to_whom_the_text_says() {
    let pets = pets();
    let guards = r#"
        extend type Query {
          up_pet_aggregate: Boolean @allow(roles: ["chief"])
          up_pet_by_pk: Boolean @allow(roles: ["chief"]) @requiresScopes(scopes: [["read", "pets"], ["all"]])
        }
        extend type up_pet { name: String @requiresScopes(scopes: [["names"]]) }
        extend type Mutation { up_delete_pet: Boolean @allow(roles: ["nobody"]) }
    "#;
    let weir = before(&pets, "visible: {roles: [\"user\", \"chief\"]},", guards);
    let cases = [
        (token("1", "user", ""), [true, false, false, false]),
        (token("1", "user", "names"), [true, false, false, true]),
        (token("1", "chief", "read"), [true, true, false, false]),
        (token("1", "chief", "read pets names"), [true, true, true, true]),
        (token("1", "chief", "all"), [true, true, true, false]),
        (token("1", "other", "all names"), [false; 4]),
        (String::new(), [false; 4]),
    ];
    let asked = [
        "{ up_pet { id } }",
        "{ up_pet_aggregate { aggregate { count } } }",
        "{ up_pet_by_pk(id: 1) { id } }",
        "{ up_pet { name } }",
    ];
    for (token, shown) in cases {
        let schema =
            ask(&weir, &token, "{ __schema { types { name fields { name } inputFields { name } } } }");
        let schema = schema.to_string();
        for (query, is_shown) in asked.iter().zip(shown) {
            let answer = ask(&weir, &token, query).to_string();
            let is_unknown = answer.contains("Cannot query field");
            assert_eq!(is_unknown, !is_shown, "{query}: {answer}");
        }
        for (name, is_shown) in ["\"up_pet\"", "\"up_pet_aggregate\"", "\"up_pet_by_pk\""].iter().zip(shown) {
            assert_eq!(schema.contains(name), is_shown, "{name} {schema}");
        }
        assert!(!schema.contains("up_delete_pet\""), "{schema}");
    }
    // A hidden field is answered as one that is not there.
    let user = token("1", "user", "");
    let told = |field: &str| ask(&weir, &user, &format!("{{ up_pet {{ {field} }} }}")).to_string();
    assert_eq!(told("name"), told("eman").replace("eman", "name"));
    let all =
        admin(&weir, "{ __schema { types { fields { name } } } up_pet(limit: 1) { name } }").to_string();
    assert!(all.contains("up_delete_pet") && all.contains("Ada"), "{all}");
}

#[test]
fn callers_of_a_grpc_server_are_told_apart_too() {
    let (address, log) = grpc_kit::serve();
    let text = format!(
        r#"{LINK}
        @grpc(url: "http://{address}", proto: "shop.proto", prefix: "shop_", visible: {{roles: ["user"]}},
          headers: [{{name: "x-user", value: "{{$claims.'user-id' ?? 'nobody'}} {{$role}}"}}])
        @cache(source: "shop_", default: 600)
        extend type shop_Product {{ price: Float @requiresScopes(scopes: [["prices"]]) }}"#
    );
    let weir = gateway(&text);
    let asked = || std::mem::take(&mut *log.lock().unwrap());
    let query = "{ shop_getProduct(id: 3) { name } }";
    let ann = token("ann", "user", "prices");
    let bob = token("bob", "user", "");
    for (token, user) in [(&ann, "ann"), (&bob, "bob")] {
        for _ in 0..2 {
            assert_eq!(ask(&weir, token, query), json!({"data": {"shop_getProduct": {"name": "Lamp"}}}));
        }
        assert_eq!(asked(), [format!(r#"GetProduct {{"id":"3"}} true {user} user"#)]);
    }
    let price = "{ shop_getProduct(id: 3) { price } }";
    assert_eq!(ask(&weir, &ann, price), json!({"data": {"shop_getProduct": {"price": 1.5}}}));
    for (token, query) in [(&*bob, price), (&*token("ann", "chief", "prices"), query), ("", query)] {
        let answer = ask(&weir, token, query).to_string();
        assert!(answer.contains("Cannot query field"), "{answer}");
    }
    assert_eq!(admin(&weir, query), json!({"data": {"shop_getProduct": {"name": "Lamp"}}}));
    assert!(asked().iter().any(|it| it.ends_with("nobody admin")));
}

#[test]
fn guards_of_what_no_server_has_are_told_with_their_places() {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/grpc/shop.proto");
    let folder = Folder::new();
    let check = |visible: &str, more: &str| {
        let text = format!(
            "{LINK}\n@grpc(url: \"http://localhost:50051\", proto: \"{proto}\", prefix: \"shop_\"{visible})\n{more}"
        );
        let checked = command().arg("check").arg(folder.write("services.graphql", &text)).output().unwrap();
        String::from_utf8_lossy(&checked.stderr).into_owned()
    };
    let all = ", visible: {}";
    assert!(!check(all, "extend type shop_Product @authenticated").contains("services.graphql:"));
    let none = check(all, "extend type shop_Prodct @authenticated");
    assert!(none.contains("services.graphql:3:25: no server of this text has `shop_Prodct`"), "{none}");
    let none = check(all, "extend type Query { shop_nothing: Int @authenticated }");
    assert!(
        none.contains("services.graphql:3:39: no server of this text has `Query.shop_nothing`"),
        "{none}"
    );
    let closed = check("", "extend type shop_Product @authenticated");
    assert!(
        closed.contains("the admin alone sees the server that has `shop_Product`: give it `visible`"),
        "{closed}"
    );
    let wrong = check(", visible: {role: [\"a\"]}", "");
    assert!(wrong.contains("`visible` has no `role`; did you mean `roles`?"), "{wrong}");
    let header = check(", headers: [{name: \"a\", value: \"{$request.headers.b}\"}]", "");
    assert!(
        header.contains("only `$config.name`, `$env.name`, `$claims.name` and `$role` can stand in it"),
        "{header}"
    );
}
