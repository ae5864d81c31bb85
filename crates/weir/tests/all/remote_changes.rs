//! Remote schemas whose servers change, go and come again, and servers with types of the same names.

use crate::remote_kit::{SECRET, Scene, introspect, server, url};
use crate::support::{Folder, Weir, until};
use crate::upstream_kit::Upstream;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SCHEMAS: [&str; 2] = [
    "type Query { sum: Sum } type Sum { total: Int old: Int }",
    "type Query { sum: Sum fresh: Int } type Sum { total: Int new: Int }",
];

/// A server that tells one of [`SCHEMAS`], or nothing if there is none, in an order of its own each time.
struct Changing {
    upstream: Upstream,
    schema: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

impl Changing {
    fn start() -> Self {
        let (schema, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let shared = (Arc::clone(&schema), Arc::clone(&told));
        let upstream = Upstream::start_with(move |asked| {
            let sent: Value = serde_json::from_str(&asked.body).expect("it is JSON");
            let text = sent["query"].as_str().expect("it is a text");
            if !text.contains("__schema") {
                return (200, json!({ "data": { "r0_0": { "total": 1 } } }).to_string());
            }
            let Some(sdl) = SCHEMAS.get(shared.0.load(Ordering::SeqCst)) else { return (503, "no".into()) };
            let mut told: Value = serde_json::from_str(&introspect(sdl, text)).expect("it is JSON");
            if shared.1.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
                told["data"]["__schema"]["types"].as_array_mut().expect("there are types").reverse();
            }
            (200, told.to_string())
        });
        Self { upstream, schema, told }
    }

    fn set(&self, schema: usize) {
        self.schema.store(schema, Ordering::SeqCst);
    }

    fn entry(&self) -> Value {
        json!({ "name": "sums", "definition": { "url": url(&self.upstream) } })
    }
}

fn command(weir: &Weir, name: &str, args: Value) -> Value {
    let sent = json!({ "type": name, "args": args }).to_string();
    weir.post("/v1/metadata", &[SECRET], sent.as_bytes()).json()
}

#[test]
fn a_change_is_noticed_by_command_and_a_server_that_is_down_keeps_its_schema() {
    let changing = Changing::start();
    let scene = Scene::start(json!([changing.entry()]), json!({}), &[]);
    scene.check_hidden("admin", "{ fresh }", "fresh");
    for (name, args) in [
        ("reload_remote_schema", json!({ "name": "sums" })),
        ("reload_metadata", json!({ "reload_remote_schemas": true })),
        ("reload_metadata", json!({ "reload_remote_schemas": ["sums"] })),
    ] {
        changing.set(1);
        assert_eq!(command(&scene.weir, name, args.clone())["message"], "success");
        scene.check_hidden("admin", "{ sum { old } }", "old");
        assert!(!scene.ask("admin", "{ sum { new } fresh }").contains("not found"));
        changing.set(0);
        assert_eq!(command(&scene.weir, name, args.clone())["message"], "success");
        scene.check_hidden("admin", "{ fresh }", "fresh");
    }
    // Down, it is served as before, and told; a change of something else is not held up.
    changing.set(9);
    let state = command(&scene.weir, "reload_remote_schema", json!({ "name": "sums" }));
    assert_eq!(state["is_consistent"], false, "{state}");
    let words = scene.inconsistent().to_string();
    assert!(
        words.contains("HTTP exception occurred while sending the request to")
            && words.contains("\"remote_schema\""),
        "{words}"
    );
    scene.check("admin", "{ sum { total } }", r#"{"sum":{"total":1}}"#);
    let added = command(
        &scene.weir,
        "sqlite_create_select_permission",
        json!({ "source": "fleet", "table": "boat", "role": "guest", "permission": { "columns": ["id"], "filter": {} } }),
    );
    assert_eq!(added["message"], "success", "{added}");
    scene.check(
        "guest",
        "{ boat(limit: 1) { id } sum { total } }",
        r#"{"boat":[{"id":1}],"sum":{"total":1}}"#,
    );
    // It is asked again, so that it is consistent by itself once it is up.
    changing.set(1);
    until("the server is read again", || scene.inconsistent() == json!([]));
    assert!(!scene.ask("admin", "{ fresh }").contains("not found"));
}

#[test]
fn a_change_is_noticed_at_the_interval_and_an_order_is_no_change() {
    let changing = Changing::start();
    let folder = Folder::new();
    let document = json!({ "version": 3, "sources": [], "remote_schemas": [changing.entry()] });
    folder.write("metadata.json", &document.to_string());
    let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.json\nremote_schema_poll_s: 1\n";
    let weir = Weir::by_file(&folder.write("weir.yaml", yaml), folder);
    until("it was asked several times", || changing.told.load(Ordering::SeqCst) > 3);
    assert!(!weir.log().contains("the schema of the server changed"), "{}", weir.log());
    changing.set(1);
    let asks = |text: &str| {
        weir.post("/v1/graphql", &[SECRET], crate::support::body(text).as_bytes()).text().to_owned()
    };
    until("the new schema is served", || !asks("{ sum { new } }").contains("not found"));
    assert!(asks("{ sum { old } }").contains("not found"));
}

#[test]
fn identical_types_of_two_servers_are_one_and_others_leave_the_later_out() {
    fn answer(text: &str, _: &Value) -> (u16, Value) {
        let total = if text.contains("second") { 2 } else { 1 };
        let one = json!({ "total": total, "tags": [{ "name": "t" }], "f2": "t", "t": "Tag", "name": "t" });
        (200, json!({ "data": { "r0_0": one, "r1_0": one } }))
    }
    let shared = "type Sum { total(unit: Unit = EUR, by: By): Int tags: [Tag!] } type Tag implements Named { name: String } interface Named { name: String } union Any = Sum | Tag enum Unit { EUR USD } input By { a: Int }";
    let first = server(
        Box::leak(format!("type Query {{ first: Sum tag: Named any: Any }} {shared}").into_boxed_str()),
        answer,
    );
    let second = server(
        Box::leak(format!("type Query {{ second: Sum other: [Tag] }} {shared}").into_boxed_str()),
        answer,
    );
    let third = server("type Query { third: Sum } type Sum { total: Int } ", answer);
    let fourth = server(
        Box::leak(
            format!("type Query {{ fourth: Sum }} {}", shared.replace("a: Int", "a: String"))
                .into_boxed_str(),
        ),
        answer,
    );
    let entry =
        |name: &str, upstream: &Upstream| json!({ "name": name, "definition": { "url": url(upstream) } });
    let entries = json!([
        entry("first", &first),
        entry("second", &second),
        entry("third", &third),
        entry("fourth", &fourth)
    ]);
    let scene = Scene::start(entries, json!({}), &[]);
    scene.check(
        "user",
        "{ first { total(unit: USD) tags { name } } second { total(by: {a: 1}) } }",
        r#"{"first":{"total":1,"tags":[{"name":"t"}]},"second":{"total":2}}"#,
    );
    let words = scene.inconsistent().to_string();
    for part in [
        r#"Found conflicting definitions for GraphQL type \"Sum\""#,
        r#"Found conflicting definitions for GraphQL type \"By\""#,
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    scene.check_hidden("admin", "{ third { total } }", "third");
    scene.check_hidden("admin", "{ fourth { total } }", "fourth");
    // A role would see the same of a type in both, so permissions keep them apart.
    let mut limited = entry("second", &second);
    limited["permissions"] = json!([{ "role": "user", "definition": { "schema": "type Query { second: Sum } type Sum { tags: [Tag!] } type Tag { name: String }" } }]);
    let scene = Scene::start(json!([entry("first", &first), limited]), json!({}), &[]);
    scene.check_hidden("user", "{ second { tags { name } } }", "second");
    let words = scene.inconsistent().to_string();
    assert!(words.contains(r#"Found conflicting definitions for GraphQL type \"Sum\""#), "{words}");
}

#[test]
fn an_address_is_told_as_it_is_written() {
    let entry = json!({ "name": "payments", "definition": { "url": "{{PAY}}/graphql" } });
    let scene = Scene::start(json!([entry]), json!({}), &[("PAY", "http://127.0.0.1:1")]);
    let found = scene.inconsistent();
    let words = "HTTP exception occurred while sending the request to \"{{PAY}}/graphql\"";
    assert!(found[0]["reason"].as_str().is_some_and(|it| it.contains(words)), "{found}");
    assert!(!scene.weir.log().contains("127.0.0.1:1/"), "{}", scene.weir.log());
}
