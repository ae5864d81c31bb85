//! The cause of each result of a subscription: told to an operator who asks for it, and to nobody else.

use crate::auth::{JWT, token};
use crate::live::{read_until, rename, stream};
use crate::live_slow::metric;
use crate::sockets::{ACK, NEW, begin, hear, say, socket};
use crate::support::{Folder, Weir, body, message, until};
use serde_json::{Value, json};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::WebSocket;

/// A subscription to the first pet whose client asks for causes.
const ASKED: &str =
    r#"{"query":"subscription { pet_by_pk(id: 1) { name } }","extensions":{"weirPush":true}}"#;
const SECRET: (&str, &str) = ("x-weir-admin-secret", "hush");

/// Pets that the role `user` sees as `filter` says.
fn yaml(filter: &str, more: &str) -> String {
    format!(
        "listen: 127.0.0.1:0
threads: 1
limits: {{socket_init_s: 60}}
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {{role: user, permission: {{columns: [id, name], filter: {filter}}}}}
{more}
"
    )
}

fn serve_live(more: &str) -> Weir {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &yaml("{}", more));
    Weir::by_file(&file, folder)
}

/// A socket of a client with these headers that has begun `operation`.
fn subscribe(weir: &Weir, headers: &[(&str, &str)], operation: &str) -> WebSocket<TcpStream> {
    let headers: Value = headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let mut socket = socket(weir, "/graphql", NEW);
    say(&mut socket, &json!({"type": "connection_init", "payload": {"headers": headers}}).to_string());
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "a", operation));
    socket
}

/// The name of the pet in the next result, and what is told of its cause; the time is told as true.
fn push(socket: &mut WebSocket<TcpStream>) -> (String, Value) {
    let heard = hear(socket);
    let mut message: Value = serde_json::from_str(&heard).expect("it is JSON");
    let name = message["payload"]["data"]["pet_by_pk"]["name"].as_str().unwrap_or_else(|| panic!("{heard}"));
    let name = name.to_owned();
    let push = &mut message["payload"]["extensions"]["weirPush"];
    if let Some(ms) = push.get_mut("ms") {
        *ms = ms.as_f64().is_some_and(|it| it >= 0.0).into();
    }
    (name, push.take())
}

/// Waits until the feed of the file tells of every change, which is one more read.
fn await_feed(weir: &Weir) {
    until("the feed tells of every change", || metric(weir, "weir_live_reads_total") >= 2);
}

fn change(weir: &Weir, headers: &[(&str, &str)], mutation: &str) {
    let answer = weir.post("/graphql", headers, body(mutation).as_bytes());
    assert!(answer.text().starts_with(r#"{"data":"#), "{}", answer.text());
}

fn name_by(filter: &str, name: &str) -> String {
    format!("mutation {{ update_pet(where: {{{filter}}}, _set: {{name: \"{name}\"}}) {{ affected_rows }} }}")
}

#[test]
fn an_operator_who_asks_is_told_what_caused_each_result() {
    let weir = serve_live("");
    let mut socket = subscribe(&weir, &[], ASKED);
    let first = json!({"cause": "first", "ms": true, "bytes": 37});
    assert_eq!(push(&mut socket), ("Ada".to_owned(), first));
    await_feed(&weir);
    rename(&weir, "Eve");
    let row =
        json!({"cause": "change", "changed": {"tag": "main.pet", "key": ["1"]}, "ms": true, "bytes": 37});
    assert_eq!(push(&mut socket), ("Eve".to_owned(), row));
    change(&weir, &[], &name_by("name: {_eq: \"Eve\"}", "Zoe"));
    let table = json!({"cause": "change", "changed": {"tag": "main.pet"}, "ms": true, "bytes": 37});
    assert_eq!(push(&mut socket), ("Zoe".to_owned(), table));
    let beside = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("the file opens");
    beside.execute("UPDATE pet SET name = 'Kim' WHERE id = 1", []).expect("it is changed");
    let source = json!({"cause": "change", "changed": {"source": "pets"}, "ms": true, "bytes": 37});
    assert_eq!(push(&mut socket), ("Kim".to_owned(), source));
}

#[test]
fn events_and_parts_tell_causes_too() {
    for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        let weir = serve_live("");
        let headers = [("content-type", "application/json"), ("accept", accept)];
        let (_, mut reader) = stream(&weir, &message("POST", "/graphql", &headers, Some(ASKED.as_bytes())));
        read_until(&mut reader, r#"}},"extensions":{"weirPush":{"cause":"first","ms":"#);
        await_feed(&weir);
        rename(&weir, "Eve");
        read_until(&mut reader, r#""cause":"change","changed":{"tag":"main.pet","key":["1"]}"#);
    }
}

#[test]
fn who_tries_a_role_out_with_the_secret_is_told_also_of_changed_settings() {
    let weir = serve_live("admin_secret: hush");
    let headers = [SECRET, ("x-hasura-role", "user")];
    let mut socket = subscribe(
        &weir,
        &headers,
        r#"{"query":"subscription { pet(order_by: {id: asc}) { id } }","extensions":{"weirPush":true}}"#,
    );
    let heard = hear(&mut socket);
    assert!(
        heard.contains(r#"[{"id":1},{"id":2},{"id":3}]"#) && heard.contains(r#""cause":"first""#),
        "{heard}"
    );
    weir.folder().write("weir.yaml", &yaml("{id: {_lt: 3}}", "admin_secret: hush"));
    weir.signal("-HUP");
    let heard = hear(&mut socket);
    assert!(heard.contains(r#"[{"id":1},{"id":2}]"#) && heard.contains(r#""cause":"settings""#), "{heard}");
    change(&weir, &[SECRET], "mutation { delete_pet_by_pk(id: 2) { id } }");
    let heard = hear(&mut socket);
    assert!(heard.contains(r#"[{"id":1}]"#) && heard.contains(r#""cause":"change""#), "{heard}");
}

/// The client's results are those of one who did not ask.
fn check_untold(weir: &Weir, headers: &[(&str, &str)], admin: &[(&str, &str)]) {
    let told = |name: &str| {
        format!(r#"{{"type":"next","id":"a","payload":{{"data":{{"pet_by_pk":{{"name":"{name}"}}}}}}}}"#)
    };
    let mut socket = subscribe(weir, headers, ASKED);
    assert_eq!(hear(&mut socket), told("Ada"));
    change(weir, admin, &name_by("id: {_eq: 1}", "Eve"));
    assert_eq!(hear(&mut socket), told("Eve"));
    change(weir, admin, &name_by("id: {_eq: 1}", "Ada"));
    assert_eq!(hear(&mut socket), told("Ada"));
    let mut all = vec![("content-type", "application/json"), ("accept", "text/event-stream")];
    all.extend(headers);
    let (_, mut reader) = stream(weir, &message("POST", "/graphql", &all, Some(ASKED.as_bytes())));
    read_until(&mut reader, "event: next\ndata: {\"data\":{\"pet_by_pk\":{\"name\":\"Ada\"}}}\n\n");
}

#[test]
fn nobody_else_is_told() {
    // Dev mode opens nothing to callers whose role a token or the configuration gives.
    let weir = serve_live(&format!("{JWT}\n  unauthorized_role: user\ndev: true"));
    let bearer = |roles: &[&str]| format!("Bearer {}", token(roles, ""));
    let (user, both) = (bearer(&["user"]), bearer(&["user", "admin"]));
    check_untold(&weir, &[("authorization", &user)], &[SECRET]);
    check_untold(&weir, &[("authorization", &both)], &[SECRET]);
    check_untold(&weir, &[], &[SECRET]);
    // The same token is told once it is used as the admin.
    let mut socket = subscribe(&weir, &[("authorization", &both), ("x-hasura-role", "admin")], ASKED);
    assert_eq!(push(&mut socket).1["cause"], "first");
    // Everybody is the admin of a server without a secret; beyond dev mode nobody is an operator.
    let open = serve_live("dev: false");
    check_untold(&open, &[], &[]);
    check_untold(&open, &[("x-hasura-role", "user")], &[]);
}

#[test]
fn an_operator_who_does_not_ask_gets_the_shared_bytes() {
    let weir = serve_live("admin_secret: hush");
    let plain = ASKED.replace(r#","extensions":{"weirPush":true}"#, "");
    let mut one = subscribe(&weir, &[SECRET], ASKED);
    let mut two = subscribe(&weir, &[SECRET], &plain);
    assert_eq!(push(&mut one).1["cause"], "first");
    assert_eq!(push(&mut two), ("Ada".to_owned(), Value::Null));
    let page = weir.get("/metrics", &[SECRET]).text().to_string();
    assert!(page.contains("weir_subscriptions 2\n") && page.contains("weir_live_operations 1\n"), "{page}");
    drop((one, two));
    until("both are gone", || weir.get("/metrics", &[SECRET]).text().contains("weir_subscriptions 0\n"));
}
