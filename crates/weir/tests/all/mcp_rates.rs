//! Rates over messages of agents: each list and each call is one request of its caller.

use crate::mcp::{USER, call, rpc};
use crate::support::{Folder, Weir};
use serde_json::json;

#[test]
fn lists_and_tools_over_the_schema_are_counted_as_requests() {
    let folder = Folder::new();
    folder.pets();
    let weir = Weir::in_folder(
        folder,
        "admin_secret: hush
operations: {mcp: {enabled: true, schema_tools: [search, introspect, execute]}}
limits: {rates: [{name: all, roles: [user], requests: 5, window_s: 86400}]}",
    );
    let calls = [
        ("search", json!({ "terms": "pet" })),
        ("introspect", json!({ "type": "query_root" })),
        ("execute", json!({ "query": "{ __typename }" })),
    ];
    assert!(rpc(&weir, &USER, "tools/list", &json!({})).json()["result"].is_object());
    for (name, arguments) in &calls {
        let result = call(&weir, &USER, name, arguments);
        let text = result["content"][0]["text"].to_string();
        assert!(!text.contains("too many requests"), "{name}: {result}");
    }
    // A tool that does not exist costs a request too.
    assert_eq!(rpc(&weir, &USER, "tools/call", &json!({ "name": "lost" })).json()["error"]["code"], -32602);
    for (name, arguments) in &calls {
        let result = call(&weir, &USER, name, arguments);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("too many requests by the rate `all`: try again in "), "{name}: {result}");
        assert_eq!(result["isError"], true, "{name}");
    }
    for (method, params) in [("tools/list", json!({})), ("tools/call", json!({ "name": "lost" }))] {
        let answer = rpc(&weir, &USER, method, &params);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (429, &json!(-32000)), "{method}");
        assert!(answer.header("retry-after").is_some(), "{method}: {answer:?}");
    }
    assert_eq!(rpc(&weir, &USER, "ping", &json!({})).status, 200);
}
