//! Calls of events within the traces of their changes.

use crate::events_kit::{Receiver, SECRET, SHOP, Store, run, serve_shop_with, sqlite_shop, trigger};
use crate::postgres_kit::database;
use crate::support::{Folder, body, until};
use crate::traces::{Collector, PARENT, hex};
use serde_json::json;

/// `traceparent` of a call: the trace, and the span that made it.
fn read(header: &str) -> (String, String) {
    let parts: Vec<&str> = header.split('-').collect();
    assert_eq!((parts.len(), parts[0], parts[3]), (4, "00", "01"), "{header}");
    (parts[1].to_owned(), parts[2].to_owned())
}

fn settings(collector: &Collector) -> String {
    format!("tracing: {{endpoint: 'http://{}', ratio: 1}}\n", collector.address)
}

#[test]
fn an_event_continues_the_trace_of_its_mutation_on_postgres() {
    check_continued(&Store::Postgres(database(SHOP)));
}

#[test]
fn an_event_continues_the_trace_of_its_mutation_on_sqlite() {
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    check_continued(&store);
    assert_eq!(store.texts("SELECT value FROM hdb_trace"), [""], "others that write have no trace");
}

#[test]
fn without_a_collector_an_event_has_the_trace_of_the_client() {
    let kept = Folder::new();
    for store in [Store::Postgres(database(SHOP)), sqlite_shop(&kept)] {
        let receiver = Receiver::start();
        let triggers = json!([trigger("told", &receiver.url("/told"))]);
        let weir = serve_shop_with(Folder::new(), &store, &triggers, "", &[]);
        let mutation = body("mutation { insert_orders_one(object: {id: 1}) { id } }");
        weir.post("/v1/graphql", &[SECRET, ("traceparent", PARENT)], mutation.as_bytes());
        let call = receiver.wait("/told", 1).remove(0);
        let context = json!({ "trace_id": PARENT[3..35], "span_id": PARENT[36..52], "sampling_state": "1" });
        assert_eq!(call.body["event"]["trace_context"], context);
        assert_eq!(read(&call.headers["traceparent"]).0, PARENT[3..35]);
        weir.post("/v1/graphql", &[SECRET], mutation.replace("id: 1", "id: 2").as_bytes());
        assert_eq!(receiver.wait("/told", 2)[1].body["event"]["trace_context"], json!(null));
    }
}

fn check_continued(store: &Store) {
    let (receiver, collector) = (Receiver::start(), Collector::start());
    let triggers = json!([trigger("told", &receiver.url("/told"))]);
    let delay = [("OTEL_BSP_SCHEDULE_DELAY", "20")];
    let weir = serve_shop_with(Folder::new(), store, &triggers, &settings(&collector), &delay);
    let mutation = body("mutation Order { insert_orders_one(object: {id: 1}) { id } }");
    weir.post("/v1/graphql", &[SECRET, ("traceparent", PARENT)], mutation.as_bytes());
    let call = receiver.wait("/told", 1).remove(0);
    let (trace, span) = read(&call.headers["traceparent"]);
    assert_eq!(trace, PARENT[3..35]);
    assert_eq!(call.body["event"]["trace_context"]["trace_id"], PARENT[3..35]);
    assert_eq!(call.body["event"]["trace_context"]["sampling_state"], "1");
    let found = |name: &str| collector.spans().into_iter().find(|it| it.name == name);
    let call_name = format!("POST {}", receiver.url("/told"));
    until("the spans have come", || found(&call_name).is_some() && found("event told").is_some());
    let (sent, delivery) = (found(&call_name).expect("it came"), found("event told").expect("it came"));
    assert_eq!((hex(&sent.span_id), &sent.parent_span_id), (span, &delivery.span_id));
    assert_eq!((hex(&sent.trace_id), hex(&delivery.trace_id)), (trace.clone(), trace));
    let parent = call.body["event"]["trace_context"]["span_id"].clone();
    assert_eq!(json!(hex(&delivery.parent_span_id)), parent);
}

#[test]
fn events_without_a_trace_begin_one_if_there_is_a_collector() {
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    let (receiver, collector) = (Receiver::start(), Collector::start());
    let triggers = json!([trigger("told", &receiver.url("/told"))]);
    let weir = serve_shop_with(Folder::new(), &store, &triggers, &settings(&collector), &[]);
    store.run("INSERT INTO orders (id) VALUES (1)");
    let call = receiver.wait("/told", 1).remove(0);
    read(&call.headers["traceparent"]);
    assert_eq!(call.body["event"]["trace_context"], json!(null));
    let args = json!({ "webhook": receiver.url("/once"), "schedule_at": "2020-01-01T00:00:00Z", "retry_conf": { "tolerance_seconds": 4_000_000_000_u32 } });
    run(&weir, "create_scheduled_event", args);
    read(&receiver.wait("/once", 1)[0].headers["traceparent"]);
    drop(weir);
    let _weir = serve_shop_with(Folder::new(), &store, &triggers, "", &[]);
    store.run("INSERT INTO orders (id) VALUES (2)");
    assert!(!receiver.wait("/told", 2)[1].headers.contains_key("traceparent"));
}
