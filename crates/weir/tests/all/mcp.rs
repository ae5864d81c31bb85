//! Tools of agents over HTTP: both eras of the protocol, roles, digits, limits, over SQLite and PostgreSQL.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, command};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
pub(crate) const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];
const CAPTAIN: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "captain")];
const ADMIN: [(&str, &str); 1] = [SECRET];

const TABLES: &str = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL, chip TEXT, big BIGINT);
INSERT INTO pet VALUES (1, 'Ada', 'c-1', 9007199254740993), (2, 'Bob', 'c-2', 2), (3, 'Cyd', NULL, NULL);
CREATE TABLE vault (id INTEGER PRIMARY KEY, code TEXT);
INSERT INTO vault VALUES (1, 'open sesame');";

/// Permissions: the user reads two columns, the captain adds too; nobody else than the admin sees chips and the vault.
const SOURCE_TABLES: &str = "    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name, big], filter: {id: {_lt: 3}}}}
          - {role: captain, permission: {columns: [id, name, big], filter: {}}}
        insert_permissions:
          - {role: captain, permission: {columns: [id, name], check: {}}}
      - table: vault
";

const QUERIES: [(&str, &str); 7] = [
    ("one", "# One pet by its number.\nquery One($id: Int!) { pet_by_pk(id: $id) { id name } }"),
    (
        "find",
        "query Find($where: pet_bool_exp = {}, $limit: Int = 10) { pet(where: $where, limit: $limit, order_by: {id: asc}) { id name big } }",
    ),
    ("chips", "query Chips { pet { chip } }"),
    ("vault", "query Vault($where: vault_bool_exp) { vault(where: $where) { code } }"),
    (
        "add",
        "mutation Add($id: Int!, $name: String!) { insert_pet_one(object: {id: $id, name: $name}) { id name } }",
    ),
    ("live", "subscription Live { pet { id } }"),
    ("big", "query Big($big: bigint!) { pet(where: {big: {_eq: $big}}) { id big } }"),
];

/// Serves the database at `url` with these further settings of `operations` and `operations.mcp`.
fn serve(url: &str, operations: &str, mcp: &str) -> Weir {
    serve_in(Folder::new(), url, operations, mcp)
}

fn serve_in(folder: Folder, url: &str, operations: &str, mcp: &str) -> Weir {
    let mut yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - name: main\n    url: \"{url}\"\n{SOURCE_TABLES}operations:\n{operations}  collections:\n    - name: agents\n      definition:\n        queries:\n"
    );
    for (name, text) in QUERIES {
        yaml.push_str(&format!("          - {{name: {name}, query: {}}}\n", Value::from(text)));
    }
    yaml.push_str(&format!("  mcp: {{enabled: true{mcp}}}\n"));
    Weir::by_file(&folder.write("weir.yaml", &yaml), folder)
}

/// Runs `check` with a server over each database.
fn on_each_database(operations: &str, mcp: &str, check: impl Fn(&Weir)) {
    let folder = Folder::new();
    let file = folder.file("pets.db");
    rusqlite::Connection::open(&file).and_then(|it| it.execute_batch(TABLES)).expect("SQLite takes them");
    let url = format!("sqlite:{}", file.display());
    check(&serve_in(folder, &url, operations, mcp));
    let database = database(TABLES);
    check(&serve(&database.url(), operations, mcp));
}

/// Sends a message of the era with handshakes.
pub(crate) fn rpc(weir: &Weir, headers: &[(&str, &str)], method: &str, params: &Value) -> Answer {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    post(weir, headers, &message.to_string())
}

fn post(weir: &Weir, headers: &[(&str, &str)], body: &str) -> Answer {
    let accept = ("accept", "application/json, text/event-stream");
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain([accept]).collect();
    weir.post("/mcp", &headers, body.as_bytes())
}

/// Sends a message of the era without state.
fn modern(weir: &Weir, headers: &[(&str, &str)], method: &str, params: &Value) -> Answer {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = headers.to_vec();
    headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]);
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    rpc(weir, &headers, method, &params)
}

/// Tools of a caller, by name.
fn tools(weir: &Weir, headers: &[(&str, &str)]) -> Vec<Value> {
    let answer = rpc(weir, headers, "tools/list", &json!({})).json();
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn names(tools: &[Value]) -> BTreeSet<&str> {
    tools.iter().filter_map(|it| it["name"].as_str()).collect()
}

/// Calls a tool; returns its result.
pub(crate) fn call(weir: &Weir, headers: &[(&str, &str)], name: &str, arguments: &Value) -> Value {
    let answer = rpc(weir, headers, "tools/call", &json!({ "name": name, "arguments": arguments }));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["result"].clone()
}

/// Calls a tool in which something goes wrong; returns what its model is told.
fn fail(weir: &Weir, headers: &[(&str, &str)], name: &str, arguments: &Value) -> String {
    let result = call(weir, headers, name, arguments);
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    result["content"][0]["text"].as_str().expect("it has a text").to_owned()
}

#[test]
fn agents_of_both_eras_list_and_call_tools() {
    on_each_database("", "", |weir| {
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let result = &rpc(weir, &USER, "initialize", &hello).json()["result"];
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(result["serverInfo"]["name"], "weir");
        assert!(result["capabilities"]["tools"].is_object(), "{result}");
        for asked in ["2026-07-28", "1999-01-01"] {
            let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": {} });
            let result = &rpc(weir, &USER, "initialize", &hello).json()["result"];
            assert_eq!(result["protocolVersion"], "2025-11-25", "{asked}");
        }
        let note = post(weir, &USER, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!((note.status, note.text()), (202, ""));
        assert_eq!(
            rpc(weir, &USER, "ping", &json!({})).json(),
            json!({ "jsonrpc": "2.0", "id": 7, "result": {} })
        );
        let result = call(weir, &USER, "one", &json!({ "id": 1 }));
        let data = json!({ "pet_by_pk": { "id": 1, "name": "Ada" } });
        assert_eq!(result["structuredContent"], data);
        assert_eq!(result["content"][0]["text"], data.to_string());
        assert!(result.get("resultType").is_none(), "{result}");

        let found = &modern(weir, &USER, "server/discover", &json!({})).json()["result"];
        assert_eq!(found["resultType"], "complete");
        assert!(found["supportedVersions"].as_array().is_some_and(|it| it.contains(&json!("2026-07-28"))));
        assert_eq!(found["cacheScope"], "private");
        assert!(found["ttlMs"].is_u64(), "{found}");
        let list = &modern(weir, &USER, "tools/list", &json!({})).json()["result"];
        assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
        assert_eq!(list["tools"], json!(tools(weir, &USER)));
        let answer = modern(weir, &USER, "tools/call", &json!({ "name": "one", "arguments": { "id": 2 } }));
        let result = &answer.json()["result"];
        assert_eq!(result["structuredContent"]["pet_by_pk"]["name"], "Bob");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "weir");
    });
}

#[test]
fn a_tool_says_what_it_takes_and_gives() {
    on_each_database("", "", |weir| {
        let all = tools(weir, &USER);
        let tool = |name: &str| all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}"));
        let one = tool("one");
        assert_eq!(one["description"], "One pet by its number.");
        assert_eq!(
            one["annotations"],
            json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true })
        );
        assert_eq!(
            one["inputSchema"],
            json!({
                "type": "object",
                "properties": { "id": { "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX } },
                "required": ["id"],
                "additionalProperties": false,
            })
        );
        let pet = json!({
            "type": ["object", "null"],
            "properties": { "id": { "type": "integer" }, "name": { "type": "string" } },
            "required": ["id", "name"],
        });
        assert_eq!(
            one["outputSchema"],
            json!({ "type": "object", "properties": { "pet_by_pk": pet }, "required": ["pet_by_pk"] })
        );
        let find = tool("find");
        assert_eq!(find["inputSchema"]["properties"]["limit"]["default"], 10);
        assert_eq!(find["inputSchema"]["properties"]["where"]["$ref"], "#/$defs/pet_bool_exp");
        let where_properties = &find["inputSchema"]["$defs"]["pet_bool_exp"]["properties"];
        assert!(where_properties["name"].is_object(), "{where_properties}");
        let captain = tools(weir, &CAPTAIN);
        let add = captain.iter().find(|it| it["name"] == "add").expect("the captain adds");
        assert_eq!(
            add["annotations"],
            json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false })
        );
    });
}

#[test]
fn a_role_has_its_own_tools_and_learns_nothing_of_others() {
    on_each_database("", ", schema_tools: [search, introspect, execute]", |weir| {
        let schema_tools = ["execute", "introspect", "search"];
        let user = tools(weir, &USER);
        let expected =
            |own: &[&'static str]| own.iter().chain(&schema_tools).copied().collect::<BTreeSet<_>>();
        assert_eq!(names(&user), expected(&["big", "find", "one"]));
        assert_eq!(names(&tools(weir, &CAPTAIN)), expected(&["add", "big", "find", "one"]));
        assert_eq!(names(&tools(weir, &ADMIN)), expected(&["add", "big", "chips", "find", "one", "vault"]));
        // Neither a list nor a message names what is hidden.
        let all = Value::from(user).to_string();
        assert!(!all.contains("chip") && !all.contains("vault"), "{all}");
        for other in ["chips", "vault", "add", "nothing"] {
            let answer = rpc(weir, &USER, "tools/call", &json!({ "name": other }));
            assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32602)), "{other}");
            assert_eq!(answer.json()["error"]["message"], format!("there is no tool `{other}`"));
        }
        let said = |tool: &str, arguments: Value| {
            let text = call(weir, &USER, tool, &arguments)["content"][0]["text"].to_string();
            assert!(!text.contains("c-1") && !text.contains("sesame"), "{text}");
            text
        };
        assert!(said("search", json!({ "terms": "chip vault" })).contains("nothing has these words"));
        assert!(said("introspect", json!({ "type": "vault" })).contains("there is no type"));
        assert!(!said("introspect", json!({ "type": "query_root", "depth": 3 })).contains("chip"));
        assert!(said("execute", json!({ "query": "{ vault { code } }" })).contains("Error: "));
        assert!(!said("execute", json!({ "query": "{ pet { chi } }" })).contains("chip"));
        assert!(said("find", json!({ "where": { "chip": { "_eq": "c-1" } } })).contains("Error: "));
        let found = call(weir, &USER, "execute", &json!({ "query": "{ pet { id } }" }));
        assert_eq!(found["content"][0]["text"], r#"{"pet":[{"id":1},{"id":2}]}"#);
        assert!(
            call(weir, &ADMIN, "search", &json!({ "terms": "vault" }))["content"][0]["text"]
                .to_string()
                .contains("vault")
        );
        for wrong in [&[][..], &[("x-hasura-admin-secret", "guess")]] {
            let answer = rpc(weir, wrong, "tools/list", &json!({}));
            assert_eq!(answer.status, 401, "{answer:?}");
        }
    });
}

#[test]
fn digits_go_in_and_come_out_as_they_are() {
    on_each_database("", "", |weir| {
        let message = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"big","arguments":{"big":9007199254740993}}}"#;
        let answer = post(weir, &USER, message);
        let text = answer.text();
        assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":9007199254740993,"#), "{text}");
        assert!(text.contains(r#""structuredContent":{"pet":[{"id":1,"big":9007199254740993}]}"#), "{text}");
    });
}

#[test]
fn wrong_arguments_are_told_to_the_model() {
    on_each_database("", ", schema_tools: [search, introspect, execute]", |weir| {
        let check = |tool: &str, arguments: Value, part: &str| {
            let text = fail(weir, &USER, tool, &arguments);
            assert!(text.contains(part), "{text}");
        };
        check("one", json!({}), "id");
        check("one", json!({ "id": "x" }), "Int");
        check(
            "one",
            json!({ "id": 1, "name": "Ada" }),
            "there is no argument `name`; those of this tool are: id",
        );
        let absent = json!({ "terms": "pet", "limit": null });
        assert_eq!(call(weir, &USER, "search", &absent)["isError"], false);
        let absent = json!({ "query": "{ pet { id } }", "variables": null, "operationName": null });
        assert_eq!(call(weir, &USER, "execute", &absent)["isError"], false);
        check(
            "execute",
            json!({ "query": "{ pet { id } }", "operationName": 7 }),
            "`operationName` has to be a string",
        );
        check("search", json!({ "terms": 7 }), "`terms` has to be a string");
        check("introspect", json!({ "type": "pet", "depth": -1 }), "`depth` has to be an integer");
        check(
            "execute",
            json!({ "query": "{ pet { id } }", "variables": [] }),
            "`variables` has to be an object",
        );
        check("execute", json!({ "query": "{ pet {" }), "Error: ");
        check("execute", json!({ "query": "subscription { pet { id } }" }), "queries");
        let answer = rpc(weir, &USER, "tools/call", &json!({ "name": "one", "arguments": [] }));
        assert_eq!(answer.json()["error"]["code"], -32602);
    });
}

#[test]
fn mutations_run_where_a_setting_and_the_role_let_them() {
    let add = json!({ "query": "mutation { insert_pet_one(object: {id: 9, name: \"Zoe\"}) { id } }" });
    on_each_database("", ", schema_tools: [execute]", |weir| {
        assert_eq!(fail(weir, &CAPTAIN, "execute", &add), "only queries are run here");
        let made = call(weir, &CAPTAIN, "add", &json!({ "id": 8, "name": "Yan" }));
        assert_eq!(made["structuredContent"]["insert_pet_one"], json!({ "id": 8, "name": "Yan" }));
    });
    on_each_database("", ", schema_tools: [execute], execute_mutations: true, mutations: false", |weir| {
        assert!(!names(&tools(weir, &ADMIN)).contains("add"));
        assert!(fail(weir, &USER, "execute", &add).contains("Error: "));
        let made = call(weir, &CAPTAIN, "execute", &add);
        assert_eq!(made["content"][0]["text"], r#"{"insert_pet_one":{"id":9}}"#);
    });
}

#[test]
fn the_allow_list_decides_about_tools() {
    let operations =
        "  allow_list: true\n  allowlist: [{collection: agents, scope: {global: false, roles: [captain]}}]\n";
    on_each_database(operations, ", schema_tools: [execute]", |weir| {
        assert_eq!(names(&tools(weir, &USER)), BTreeSet::from(["execute"]));
        assert_eq!(names(&tools(weir, &CAPTAIN)), BTreeSet::from(["add", "big", "execute", "find", "one"]));
        let query = json!({ "query": "{ pet { id } }" });
        assert!(fail(weir, &USER, "execute", &query).contains("allow list"));
        assert!(fail(weir, &CAPTAIN, "execute", &query).contains("allow list"));
        assert_eq!(call(weir, &ADMIN, "execute", &query)["isError"], false);
        let listed = json!({ "query": QUERIES[0].1, "variables": { "id": 1 } });
        assert_eq!(call(weir, &CAPTAIN, "execute", &listed)["isError"], false);
    });
    on_each_database("  persisted: {require_id: true}\n", ", schema_tools: [execute]", |weir| {
        assert_eq!(names(&tools(weir, &USER)), BTreeSet::from(["big", "find", "one"]));
        assert!(names(&tools(weir, &ADMIN)).contains("execute"));
    });
}

#[test]
fn answers_and_lists_are_bounded() {
    on_each_database("", ", answer_bytes_max: 60", |weir| {
        assert_eq!(call(weir, &USER, "one", &json!({ "id": 1 }))["isError"], false);
        let text = fail(weir, &CAPTAIN, "find", &json!({}));
        assert!(text.contains("longer than 60 bytes"), "{text}");
    });
    let folder = Folder::new();
    folder.pets();
    let queries: String = (0..150)
        .map(|it| format!("          - {{name: q{it:03}, query: \"query Q{it} {{ pet {{ id }} a{it}: __typename }}\"}}\n"))
        .collect();
    let yaml = format!(
        "limits: {{body_bytes_max: 5000, nesting_max: 30}}\noperations:\n  mcp: {{enabled: true, tools_max: 120}}\n  collections:\n    - name: many\n      definition:\n        queries:\n{queries}"
    );
    let weir = Weir::in_folder(folder, &yaml);
    let first = &rpc(&weir, &[], "tools/list", &json!({})).json()["result"];
    assert_eq!(first["tools"].as_array().map(Vec::len), Some(100));
    let next = json!({ "cursor": first["nextCursor"] });
    let second = &rpc(&weir, &[], "tools/list", &next).json()["result"];
    assert_eq!(second["tools"].as_array().map(Vec::len), Some(20));
    assert_eq!(second["tools"][0]["name"], "q100");
    assert!(second.get("nextCursor").is_none(), "{second}");
    let wrong = rpc(&weir, &[], "tools/list", &json!({ "cursor": "nonsense" }));
    assert_eq!(wrong.json()["error"]["code"], -32602);
    crate::support::until("the bound is told", || {
        weir.log().contains("`q120` is no tool, as `tools_max` is reached; 30 are left out")
    });
    assert_eq!(post(&weir, &[], &" ".repeat(6000)).status, 413);
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}}}}}"#, "[".repeat(40));
    let deep = post(&weir, &[], &deep);
    assert_eq!((deep.status, &deep.json()["error"]["code"]), (400, &json!(-32700)));
}

#[test]
fn requests_that_are_no_messages_are_refused() {
    let folder = Folder::new();
    folder.pets();
    let weir = Weir::in_folder(folder, "operations: {mcp: {enabled: true}}");
    let check = |answer: Answer, status: u16, code: i32| {
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{answer:?}");
    };
    check(post(&weir, &[], "{"), 400, -32700);
    check(post(&weir, &[], "[]"), 400, -32600);
    check(post(&weir, &[], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), 400, -32600);
    check(rpc(&weir, &[], "resources/list", &json!({})), 200, -32601);
    check(rpc(&weir, &[], "server/discover", &json!({})), 400, -32602);
    check(modern(&weir, &[], "initialize", &json!({})), 404, -32601);
    check(modern(&weir, &[], "ping", &json!({})), 404, -32601);
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } });
    check(rpc(&weir, &[], "tools/list", &meta), 400, -32020);
    let answer = rpc(&weir, &[("mcp-protocol-version", "2099-01-01")], "tools/list", &json!({}));
    assert!(answer.json()["error"]["data"]["supported"].to_string().contains("2025-06-18"), "{answer:?}");
    check(answer, 400, -32022);
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(weir.get("/mcp", &[]).status, 405);
    assert_eq!(weir.post("/mcp", &[("accept", "text/event-stream")], body).status, 406);
    assert_eq!(weir.post("/mcp", &[("origin", "https://evil.example")], body).status, 403);
    assert_eq!(weir.post("/mcp", &[("host", "evil.example")], body).status, 421);
    assert_eq!(weir.post("/mcp", &[("origin", "http://localhost:3000")], body).status, 200);
    let text = crate::support::message("POST", "/mcp", &[("content-type", "text/plain")], Some(body));
    assert_eq!(weir.raw(&text).status, 415);
    let off = Weir::pets(&[]);
    assert_eq!(off.post("/mcp", &[], body).status, 404);
}

#[test]
fn endpoints_and_files_are_tools_as_the_settings_say() {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("web.json", r#"{"md5a":"query FromFile { pet { id } }"}"#);
    let yaml = format!(
        "operations:
  persisted: {{files: [{{path: {}}}]}}
  collections:
    - {{name: kept, definition: {{queries: [{{name: names, query: 'query Names {{ pet {{ name }} }}'}}]}}}}
    - {{name: other, definition: {{queries: [{{name: ids, query: 'query Ids {{ pet {{ id }} }}'}}]}}}}
  rest_endpoints:
    - {{name: all names, comment: Names of all., url: names, methods: [GET], definition: {{query: {{collection_name: kept, query_name: names}}}}}}
",
        file.display()
    );
    let serve = |mcp: &str| {
        let folder = Folder::new();
        folder.pets();
        Weir::in_folder(folder, &format!("{yaml}  mcp: {{enabled: true{mcp}}}\n"))
    };
    let weir = serve("");
    let all = tools(&weir, &[]);
    assert_eq!(names(&all), BTreeSet::from(["FromFile", "all_names", "ids"]));
    assert_eq!(
        all.iter().find(|it| it["name"] == "all_names").expect("it is there")["description"],
        "Names of all."
    );
    let weir = serve(
        ", collections: [web, kept], rest_endpoints: false, output_schemas: false, instructions: Be brief., overrides: {names: {title: Names, description: All of them., open_world: false}}",
    );
    let all = tools(&weir, &[]);
    assert_eq!(names(&all), BTreeSet::from(["FromFile", "names"]));
    let named = all.iter().find(|it| it["name"] == "names").expect("it is there");
    assert_eq!((&named["title"], &named["description"]), (&json!("Names"), &json!("All of them.")));
    assert_eq!(named["annotations"]["openWorldHint"], false);
    assert!(named.get("outputSchema").is_none(), "{named}");
    let result = call(&weir, &[], "names", &json!({}));
    assert!(result.get("structuredContent").is_none(), "{result}");
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
    assert_eq!(rpc(&weir, &[], "initialize", &hello).json()["result"]["instructions"], "Be brief.");
    drop(folder);
}

#[test]
fn a_reload_changes_the_tools() {
    let folder = Folder::new();
    folder.pets();
    let settings = |name: &str| {
        crate::support::config(&format!(
            "operations:\n  mcp: {{enabled: true}}\n  collections: [{{name: a, definition: {{queries: [{{name: {name}, query: '{{ pet {{ id }} }}'}}]}}}}]"
        ))
    };
    let file = folder.write("weir.yaml", &settings("before"));
    let weir = Weir::by_file(&file, folder);
    assert_eq!(names(&tools(&weir, &[])), BTreeSet::from(["before"]));
    weir.folder().write("weir.yaml", &settings("after"));
    crate::support::until("the tool is there", || names(&tools(&weir, &[])).contains("after"));
    assert_eq!(rpc(&weir, &[], "tools/call", &json!({ "name": "before" })).json()["error"]["code"], -32602);
}

#[test]
fn calls_are_counted_and_logged_without_their_values() {
    let folder = Folder::new();
    folder.pets();
    let yaml = "log: {access: true}\noperations:\n  mcp: {enabled: true}\n  collections: [{name: a, definition: {queries: [{name: one, query: 'query One($id: Int!) { pet_by_pk(id: $id) { name } }'}]}}]";
    let weir = Weir::in_folder(folder, yaml);
    call(&weir, &[], "one", &json!({ "id": 424242 }));
    let page = weir.get("/metrics", &[]);
    assert!(
        page.text().contains(r#"weir_requests_total{door="mcp",verdict="executed"} 1"#),
        "{}",
        page.text()
    );
    crate::support::until("the call is logged", || weir.log().contains("an agent called a tool"));
    assert!(weir.log().contains("tool=\"one\"") && !weir.log().contains("424242"), "{}", weir.log());
}

#[test]
fn a_check_tells_mistakes_about_tools() {
    let folder = Folder::new();
    folder.pets();
    let check = |mcp: &str| {
        let yaml = crate::support::config(&format!("operations: {{mcp: {{enabled: true, {mcp}}}}}"));
        let file = folder.write("weir.yaml", &yaml);
        let output = command().arg("check").arg(&file).output().expect("it runs");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    for (mcp, part) in [
        ("collections: [lost]", "the collection `lost` does not exist, so it has no tools"),
        ("overrides: {lost: {title: x}}", "`overrides` has the tool `lost`, which does not exist"),
        ("execute_mutations: true", "add it to `schema_tools`"),
        ("tools_max: 0", "`operations.mcp.tools_max` is 0"),
        ("schema_tools: [delete]", "delete"),
    ] {
        let found = check(mcp);
        assert!(found.contains(part), "{mcp}: {found}");
    }
}

#[test]
fn a_client_finds_where_to_log_in() {
    let settings = "admin_secret: hush
auth: {jwt: [{type: HS256, key: \"abcdefghijklmnopqrstuvwxyz012345\", audience: \"https://api.example/mcp\"}]}
operations: {mcp: {enabled: true, authorization: {resource: \"https://api.example/mcp\", authorization_servers: [\"https://login.example\"], scopes: [music]}}}";
    let weir = Weir::with_settings(settings);
    let answer = rpc(&weir, &[], "tools/list", &json!({}));
    assert_eq!(answer.status, 401, "{answer:?}");
    let challenge = answer.header("www-authenticate").expect("it says where");
    let place = "https://api.example/.well-known/oauth-protected-resource/mcp";
    assert_eq!(challenge, format!("Bearer resource_metadata=\"{place}\", scope=\"music\""));
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let metadata = weir.get(path, &[]).json();
        assert_eq!(metadata["resource"], "https://api.example/mcp");
        assert_eq!(metadata["authorization_servers"], json!(["https://login.example"]));
    }
    assert_eq!(rpc(&weir, &ADMIN, "tools/list", &json!({})).status, 200);
    let off = Weir::pets(&[]);
    assert_eq!(off.get("/.well-known/oauth-protected-resource/mcp", &[]).status, 404);
    let folder = Folder::new();
    folder.pets();
    let lax = crate::support::config(&settings.replace(", audience: \"https://api.example/mcp\"", ""));
    let output = command().arg("check").arg(folder.write("weir.yaml", &lax)).output().expect("it runs");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("needs `auth.jwt` with an `audience`"),
        "{output:?}"
    );
}

/// The configuration and the database of `tests/clients/mcp`, in which clients of the official SDKs were recorded.
fn serve_recorded(url: &str) -> Weir {
    let folder = Folder::new();
    let yaml = include_str!("../../../../tests/clients/mcp/weir.yaml");
    let yaml = yaml.replace("url: SOURCE", &format!("url: \"{url}\""));
    Weir::by_file(&folder.write("weir.yaml", &yaml), folder)
}

/// An answer without the version of this program.
fn without_version(mut answer: Value) -> Value {
    for place in ["/result/serverInfo/version", "/result/_meta/io.modelcontextprotocol~1serverInfo/version"] {
        if let Some(version) = answer.pointer_mut(place) {
            *version = Value::Null;
        }
    }
    answer
}

/// Sends each recorded message again; answers have to be what the client got.
fn replay(weir: &Weir) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kits/written/mcp");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("there are recordings") {
        let path = file.expect("it can be read").path();
        for line in crate::support::read(&path).lines() {
            let said: Value = serde_json::from_str(line).expect("it is JSON");
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            let mut headers = vec![
                (SECRET.0.to_owned(), SECRET.1.to_owned()),
                ("x-hasura-role".into(), text(&said["role"])),
            ];
            headers.extend(
                said["headers"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.clone(), text(value))),
            );
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
            let message =
                crate::support::message("POST", "/mcp", &headers, Some(said["body"].to_string().as_bytes()));
            let answer = weir.raw(&message);
            assert_eq!(json!(answer.status), said["status"], "{}: {}", path.display(), said["body"]);
            let found = if answer.body.is_empty() { Value::Null } else { answer.json() };
            assert_eq!(
                without_version(found),
                without_version(said["answer"].clone()),
                "{}: {}",
                path.display(),
                said["body"]
            );
            count += 1;
        }
    }
    assert!(count > 50, "{count} messages were recorded");
}

#[test]
fn recorded_clients_get_what_they_got() {
    let shop = include_str!("../../../../tests/clients/shop.sql");
    let folder = Folder::new();
    let file = folder.file("shop.db");
    rusqlite::Connection::open(&file)
        .and_then(|it| it.execute_batch(&shop.replace("@ID@", "INTEGER PRIMARY KEY")))
        .expect("SQLite takes them");
    replay(&serve_recorded(&format!("sqlite:{}", file.display())));
    let key = "integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY";
    let database = database(&shop.replace("@ID@", key));
    replay(&serve_recorded(&database.url()));
}
