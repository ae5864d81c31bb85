//! Relay's form over real sockets: its address, the option at `/graphql`, callers, lists of requests, the allow list.

use crate::sockets::{ACK, NEW, OLD, begin, hear, open, say, socket};
use crate::support::{Folder, Weir, body, command};

const PETS: &str = "listen: 127.0.0.1:0
admin_secret: hush
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name], filter: {id: {_lt: 3}}}}
          - {role: guest, permission: {columns: [name], filter: {}}}
";

const RELAY: &str = "/v1beta1/relay";
const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];
const GUEST: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "guest")];
const FIRST: &str =
    "{ pet_connection(first: 1) { edges { cursor node { id name } } pageInfo { hasNextPage } } }";
/// Base64 of `{"id" : 1}` and of `[1, "main", "pet", 1]`.
const ADA: &str = "{\"data\":{\"pet_connection\":{\"edges\":[{\"cursor\":\"eyJpZCIgOiAxfQ==\",\"node\":\
                   {\"id\":\"WzEsICJtYWluIiwgInBldCIsIDFd\",\"name\":\"Ada\"}}],\"pageInfo\":{\"hasNextPage\":true}}}}";

fn serve_relay(yaml: &str) -> Weir {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &format!("{PETS}{yaml}"));
    Weir::by_file(&file, folder)
}

fn ask(weir: &Weir, path: &str, headers: &[(&str, &str)], query: &str) -> (u16, String) {
    let answer = weir.post(path, headers, body(query).as_bytes());
    (answer.status, answer.text().to_owned())
}

#[test]
fn connections_are_at_the_address_of_hasura() {
    let weir = serve_relay("");
    assert_eq!(ask(&weir, RELAY, &[SECRET], FIRST), (200, ADA.into()));
    assert_eq!(ask(&weir, RELAY, &USER, FIRST), (200, ADA.into()));
    // The lists stay where they are.
    assert_eq!(
        ask(&weir, "/v1/graphql", &USER, "{ pet(limit: 1) { id } }"),
        (200, "{\"data\":{\"pet\":[{\"id\":1}]}}".into())
    );
    let (status, text) = ask(&weir, RELAY, &USER, "{ pet { id } }");
    assert!(status == 200 && text.contains("field 'pet' not found in type: 'query_root'"), "{text}");
    let (status, text) = ask(&weir, "/graphql", &USER, FIRST);
    assert!(status == 200 && text.contains("pet_connection"), "{text}");
    let (_, text) = ask(&weir, RELAY, &GUEST, FIRST);
    assert!(text.contains("field 'pet_connection' not found in type: 'query_root'"), "{text}");
    // A list of requests, each answered in the same form.
    let list = format!("[{},{}]", body(FIRST), body("{ __typename }"));
    let answer = weir.post(RELAY, &USER, list.as_bytes());
    assert_eq!(answer.text(), format!("[{ADA},{{\"data\":{{\"__typename\":\"query_root\"}}}}]"));
    let (_, text) = ask(&weir, RELAY, &USER, "{ node(id: \"WzEsICJtYWluIiwgInBldCIsIDNd\") { id } }");
    assert_eq!(text, "{\"data\":{\"node\":null}}");
    assert_eq!(weir.get(RELAY, &[SECRET]).status, 404);
}

#[test]
fn connections_may_stand_at_the_specifications_address() {
    let weir = serve_relay("relay: {graphql: true}\n");
    assert_eq!(ask(&weir, "/graphql", &USER, FIRST), (200, ADA.into()));
    assert_eq!(ask(&weir, RELAY, &USER, FIRST), (200, ADA.into()));
    let get = format!("/graphql?query={}", FIRST.replace(' ', "%20").replace('{', "%7B").replace('}', "%7D"));
    let answer = weir.get(&get, &USER);
    assert_eq!((answer.status, answer.text()), (200, ADA));
    let wrong = "{ pet_connection(after: \"eyJuYW1lIiA6IDF9\") { edges { cursor } } }";
    let (_, text) = ask(&weir, "/graphql", &USER, wrong);
    assert!(text.contains("\"code\":\"INVALID_CURSOR\""), "{text}");
    let (_, text) = ask(&weir, RELAY, &USER, wrong);
    assert!(text.contains("\"code\":\"validation-failed\""), "{text}");
}

#[test]
fn whoever_may_not_ask_gets_no_answer_in_this_form_either() {
    let weir = serve_relay("");
    let (status, text) = ask(&weir, RELAY, &[], FIRST);
    assert!(status == 200 && text.contains("access-denied") && !text.contains("data\":"), "{text}");
    let weir = serve_relay("relay: {graphql: true}\n");
    let (status, text) = ask(&weir, "/graphql", &[], FIRST);
    assert!(status == 401 && text.contains("ACCESS_DENIED"), "{status} {text}");
    let weir = serve_relay("relay: {enabled: false}\n");
    assert_eq!(weir.post(RELAY, &[SECRET], body(FIRST).as_bytes()).status, 404);
    let weir = serve_relay("operations: {allow_list: true}\n");
    let (_, text) = ask(&weir, RELAY, &USER, FIRST);
    assert!(text.contains("query is not allowed"), "{text}");
    assert_eq!(ask(&weir, RELAY, &[SECRET], FIRST), (200, ADA.into()));
}

#[test]
fn a_change_in_one_form_is_seen_in_the_other() {
    let weir = serve_relay("");
    let cached = "query @cached { pet_connection(last: 1) { edges { node { name } } } }";
    let before = ask(&weir, RELAY, &[SECRET], cached).1;
    assert_eq!(ask(&weir, RELAY, &[SECRET], cached).1, before);
    let query = "mutation { insert_pet_one(object: {id: 99, name: \"Zoe\"}) { id } }";
    assert_eq!(ask(&weir, "/v1/graphql", &[SECRET], query).1, "{\"data\":{\"insert_pet_one\":{\"id\":99}}}");
    let after = ask(&weir, RELAY, &[SECRET], cached).1;
    assert_eq!(after, "{\"data\":{\"pet_connection\":{\"edges\":[{\"node\":{\"name\":\"Zoe\"}}]}}}");
    let query = "mutation { delete_pet(where: {id: {_eq: 99}}) { returning { id } } }";
    let id = "WzEsICJtYWluIiwgInBldCIsIDk5XQ==";
    assert_eq!(
        ask(&weir, RELAY, &[SECRET], query).1,
        format!("{{\"data\":{{\"delete_pet\":{{\"returning\":[{{\"id\":\"{id}\"}}]}}}}}}")
    );
    assert_eq!(ask(&weir, RELAY, &[SECRET], cached).1, before);
}

#[test]
fn a_source_that_is_no_database_is_told() {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &format!("{PETS}relay: {{source: cats}}\n"));
    let output = command().args(["check", &file.display().to_string()]).output().expect("it runs");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && text.contains("`relay.source` is `cats`"), "{text}");
}

#[test]
fn a_socket_at_the_address_speaks_of_connections() {
    let weir = serve_relay("");
    for (subprotocol, kind) in [(NEW, "next"), (OLD, "data")] {
        let mut socket = socket(&weir, RELAY, subprotocol);
        say(
            &mut socket,
            r#"{"type":"connection_init","payload":{"headers":{"x-hasura-admin-secret":"hush"}}}"#,
        );
        assert_eq!(hear(&mut socket), ACK);
        let said =
            |id: &str, payload: &str| format!(r#"{{"type":"{kind}","id":"{id}","payload":{payload}}}"#);
        say(&mut socket, &begin(subprotocol, "1", &body(FIRST)));
        assert_eq!(hear(&mut socket), said("1", ADA));
        assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"1"}"#);
        say(&mut socket, &begin(subprotocol, "2", &body(&format!("subscription {FIRST}"))));
        assert_eq!(hear(&mut socket), said("2", ADA));
        let rename = |name: &str| {
            let update = format!(
                "mutation {{ update_pet_by_pk(pk_columns: {{id: 1}}, _set: {{name: \"{name}\"}}) {{ name }} }}"
            );
            let (_, text) = ask(&weir, RELAY, &[SECRET], &update);
            assert!(text.contains(name), "{text}");
        };
        rename("Ann");
        assert_eq!(hear(&mut socket), said("2", &ADA.replace("Ada", "Ann")));
        rename("Ada");
        assert_eq!(hear(&mut socket), said("2", ADA));
        // The lists are not there.
        say(&mut socket, &begin(subprotocol, "3", &body("{ pet { id } }")));
        let text = hear(&mut socket);
        assert!(text.contains("field 'pet' not found in type: 'query_root'"), "{text}");
    }
}

#[test]
fn without_the_form_its_address_takes_no_socket() {
    let weir = serve_relay("relay: {enabled: false}\n");
    let refused = open(&weir, RELAY, &[("sec-websocket-protocol", NEW)]);
    assert_eq!(refused.err().map(|it| it.0), Some(404));
    assert_eq!(ask(&weir, RELAY, &[SECRET], FIRST).0, 404);
    drop(socket(&weir, "/v1/graphql", NEW));
}
