//! `weir mcp`: an agent over standard input and output.

use crate::support::{Folder, command};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A running `weir mcp`. Ends with the test.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: Folder,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Agent {
    fn start(folder: Folder, arguments: &[&str]) -> Self {
        let mut child = command()
            .arg("mcp")
            .args(arguments)
            .current_dir(&folder.0)
            .env("XDG_CACHE_HOME", folder.file("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.file("stderr")).expect("it can be made"))
            .spawn()
            .expect("the binary starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let input = child.stdin.take();
        Self { child, input, output, folder }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).expect("it is read");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it can be read");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }).to_string());
        let answer = self.hear();
        assert_eq!(answer["id"], method, "{answer}");
        answer
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].clone()
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|it| it["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

#[test]
fn a_database_alone_has_tools_over_its_schema() {
    let folder = Folder::new();
    folder.pets();
    let mut agent = Agent::start(folder, &["pets.db"]);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
    assert_eq!(agent.ask("initialize", &hello)["result"]["protocolVersion"], "2025-11-25");
    agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(agent.tools(), ["execute", "introspect", "search"]);
    let found = agent.call("search", &json!({ "terms": "pet" }));
    assert!(
        found["content"][0]["text"].as_str().is_some_and(|it| it.starts_with("query_root.pet(")),
        "{found}"
    );
    let found = agent.call("execute", &json!({ "query": "{ pet_by_pk(id: 1) { name } }" }));
    assert_eq!(found["content"][0]["text"], r#"{"pet_by_pk":{"name":"Ada"}}"#);
    let refused =
        agent.call("execute", &json!({ "query": "mutation { delete_pet(where: {}) { affected_rows } }" }));
    assert_eq!(
        (&refused["isError"], &refused["content"][0]["text"]),
        (&json!(true), &json!("only queries are run here"))
    );
    // The end of the input ends the process.
    drop(agent.input.take());
    assert!(agent.child.wait().is_ok_and(|it| it.success()));
}

#[test]
fn both_eras_are_served_and_a_probe_is_answered_at_once() {
    let folder = Folder::new();
    folder.pets();
    let mut agent = Agent::start(folder, &["pets.db", "--tools", "execute", "--execute-mutations"]);
    let meta = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let found = agent.ask("server/discover", &meta);
    assert_eq!(found["result"]["resultType"], "complete", "{found}");
    assert_eq!(agent.ask("resources/list", &meta)["error"]["code"], -32601);
    let mut other = meta.clone();
    other["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    assert_eq!(agent.ask("server/discover", &other)["error"]["code"], -32022);
    assert_eq!(agent.tools(), ["execute"]);
    let made = agent.call("execute", &json!({ "query": "mutation { delete_pet_by_pk(id: 3) { name } }" }));
    assert_eq!(made["content"][0]["text"], r#"{"delete_pet_by_pk":{"name":"Cyd"}}"#);
    // A line that is no message is answered with an error, and the next one is read.
    agent.say("{");
    assert_eq!(agent.hear()["error"]["code"], -32700);
    agent.say("[]");
    assert_eq!(agent.hear()["error"]["code"], -32600);
    assert_eq!(agent.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn the_role_of_the_command_line_holds() {
    let folder = Folder::new();
    folder.pets();
    folder.write(
        "weir.yaml",
        "listen: 0.0.0.0:8080\nadmin_secret: hush\nsources:
  - name: pets
    url: pets.db
    tables: [{table: pet, select_permissions: [{role: user, permission: {columns: [id], filter: {id: {_eq: x-hasura-user-id}}}}]}]
operations:
  allow_list: true
  allowlist: [{collection: a}]
  mcp: {schema_tools: [execute]}
  collections:
    - {name: a, definition: {queries: [{name: ids, query: 'query Ids { pet { id } }'}, {name: names, query: 'query Names { pet { name } }'}]}}
",
    );
    let mut agent = Agent::start(folder, &["--role", "user", "--claims", r#"{"x-hasura-user-id": "2"}"#]);
    assert_eq!(agent.tools(), ["execute", "ids"]);
    assert_eq!(agent.call("ids", &json!({}))["structuredContent"], json!({ "pet": [{ "id": 2 }] }));
    assert_eq!(agent.ask("tools/call", &json!({ "name": "names" }))["error"]["code"], -32602);
    let refused = agent.call("execute", &json!({ "query": "{ pet { id } }" }));
    assert!(refused["content"][0]["text"].as_str().is_some_and(|it| it.contains("allow list")), "{refused}");
}

#[test]
fn a_call_that_is_cancelled_is_not_answered() {
    let folder = Folder::new();
    folder.pets();
    // A statement that takes long: each row meets each other one.
    let ids: Vec<String> = (10..2010).map(|it| format!("({it}, 'n')")).collect();
    rusqlite::Connection::open(folder.file("pets.db"))
        .and_then(|it| it.execute_batch(&format!("INSERT INTO pet VALUES {}; CREATE VIEW slow AS SELECT count(*) AS n FROM pet a, pet b, pet c, pet d", ids.join(","))))
        .expect("SQLite takes them");
    let mut agent = Agent::start(folder, &["pets.db"]);
    agent.ask("ping", &json!({}));
    agent.say(r#"{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"execute","arguments":{"query":"{ slow { n } }"}}}"#);
    agent.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"#);
    assert_eq!(agent.ask("ping", &json!({}))["result"], json!({}));
    drop(agent.input.take());
    let mut line = String::new();
    assert_eq!(agent.output.read_line(&mut line).ok(), Some(0), "{line}");
    assert!(agent.folder.file("pets.db").exists());
}

#[test]
fn the_sample_database_is_one_command_away() {
    let mut agent = Agent::start(Folder::new(), &["--demo"]);
    let found = agent.call("search", &json!({ "terms": "album title" }));
    assert!(found["content"][0]["text"].to_string().contains("query_root.Album("), "{found}");
    let query = r#"query ($name: String!) { Album(where: {Album_Artist: {Name: {_eq: $name}}}, order_by: {Title: asc}) { Title } }"#;
    let found = agent.call("execute", &json!({ "query": query, "variables": { "name": "AC/DC" } }));
    assert_eq!(
        found["content"][0]["text"],
        r#"{"Album":[{"Title":"For Those About To Rock We Salute You"},{"Title":"Let There Be Rock"},{"Title":"Trying now"}]}"#
    );
}

#[test]
fn rates_limits_and_the_log_hold_without_a_server() {
    let folder = Folder::new();
    folder.pets();
    folder.write(
        "metadata.yaml",
        "version: 3
sources:
- name: default
  kind: sqlite
  configuration: {connection_info: {database_url: sqlite:pets.db}}
  tables:
  - {table: pet, select_permissions: [{role: user, permission: {columns: [id, name], filter: {}}}]}
api_limits: {node_limit: {global: 1}}
",
    );
    folder.write(
        "weir.yaml",
        "metadata: metadata.yaml\nlog: {access: true}
operations: {mcp: {schema_tools: [execute, search]}}
limits: {rates: [{name: all, requests: 4, window_s: 86400}]}
",
    );
    let mut agent = Agent::start(folder, &["--role", "user"]);
    assert_eq!(agent.tools(), ["execute", "search"]);
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let wide = agent.call("execute", &json!({ "query": "{ one: pet { id } other: pet { id } }" }));
    assert!(text(&wide).contains("the operation has 2 nodes, 1 are allowed"), "{wide}");
    let flat = agent.call("execute", &json!({ "query": "{ __typename }" }));
    assert_eq!(flat["isError"], false, "{flat}");
    assert_eq!(agent.call("search", &json!({ "terms": "pet" }))["isError"], false);
    for (tool, arguments) in
        [("search", json!({ "terms": "pet" })), ("execute", json!({ "query": "{ __typename }" }))]
    {
        let refused = agent.call(tool, &arguments);
        assert!(
            text(&refused).starts_with("too many requests by the rate `all`: try again in "),
            "{refused}"
        );
        assert_eq!(refused["isError"], true);
    }
    assert_eq!(agent.ask("tools/list", &json!({}))["error"]["code"], -32000);
    assert_eq!(agent.ask("ping", &json!({}))["result"], json!({}));
    drop(agent.input.take());
    assert!(agent.child.wait().is_ok_and(|it| it.success()));
    let log = crate::support::read(&agent.folder.file("stderr"));
    let lines: Vec<&str> = log.lines().filter(|it| it.contains("an agent called a tool")).collect();
    assert_eq!(lines.len(), 5, "{log}");
    assert!(lines[0].contains("tool=\"execute\"") && lines[0].contains("role=\"user\""), "{log}");
    assert!(!log.contains("__typename"), "{log}");
}

#[test]
fn slow_calls_keep_neither_a_ping_nor_a_cancellation_waiting() {
    let folder = Folder::new();
    folder.pets();
    let endless = "CREATE VIEW slow AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0";
    rusqlite::Connection::open(folder.file("pets.db"))
        .and_then(|it| it.execute_batch(endless))
        .expect("SQLite takes it");
    let mut agent = Agent::start(folder, &["pets.db"]);
    for id in 0..66 {
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"execute","arguments":{{"query":"{{ slow {{ x }} }}"}}}}}}"#));
    }
    // 16 run and 48 wait; the others are refused at once.
    for id in [64, 65] {
        let refused = agent.hear();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32000)), "{refused}");
    }
    assert_eq!(agent.ask("ping", &json!({}))["result"], json!({}));
    // Those that wait are cancelled as those that run.
    for id in (0..64).rev() {
        agent.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }
    let found = agent.call("execute", &json!({ "query": "{ pet_by_pk(id: 1) { name } }" }));
    assert_eq!(found["content"][0]["text"], r#"{"pet_by_pk":{"name":"Ada"}}"#);
}
