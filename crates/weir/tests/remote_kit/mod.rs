//! Remote schemas for tests: real servers on loopback, and a Weir that serves boats beside them.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use crate::support::{Folder, Weir, body, command};
use crate::upstream_kit::{Asked, Upstream};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::Memory;
use weir_engine::source::Source;
use weir_language::schema::Schema;

pub const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

pub const PAYMENTS: &str = "type Query { bill(id: Int!, kind: Kind = OPEN, by: BillBy): Bill bills(ids: [Int!], by: BillBy): [Bill!]! ledger: Ledger fail: String bill_of(key: ID): Bill }
    type Mutation { pay(id: Int!, note: String): Bill }
    type Ledger { bill(id: Int!): Bill }
    type Bill { id: Int! total: Float boat_id: Int owner: Owner currency: String secret: String }
    type Owner { id: ID! name: String bill_id: Int }
    enum Kind { OPEN PAID LOST }
    input BillBy { owner: OwnerBy tags: [String!] tenant: String limit: Int }
    input OwnerBy { name: String tenant: String }";

/// The answer of a server with the types `sdl` to the introspection query in `text`.
pub fn introspect(sdl: &str, text: &str) -> String {
    let schema = Arc::new(Schema::from_sdl(sdl).expect("the types are right"));
    let source: Arc<dyn Source> = Arc::new(Memory::new("types", schema));
    let engine = Engine::new(Graph::compose(vec![source], &[]).expect("it is a graph"), Settings::STANDARD);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    let request = Request::new(text, deadline);
    let caller = engine.caller(&Identity::admin());
    match runtime.block_on(engine.execute(request, &caller)).body {
        Body::Whole(bytes) => String::from_utf8(bytes).expect("it is text"),
        _ => panic!("an introspection is whole"),
    }
}

/// A server with the types `sdl` that answers by `answer`, from the operation's text and its variables.
pub fn server(sdl: &'static str, answer: fn(&str, &Value) -> (u16, Value)) -> Upstream {
    Upstream::start_with(move |asked| {
        let sent: Value = serde_json::from_str(&asked.body).expect("it is JSON");
        let text = sent["query"].as_str().expect("it is a text");
        if text.contains("__schema") {
            return (200, introspect(sdl, text));
        }
        let (status, body) = answer(text, &sent["variables"]);
        (status, body.to_string())
    })
}

/// Gives every alias of an operation the bill whose number is the variable of that alias.
pub fn bills(text: &str, variables: &Value) -> (u16, Value) {
    let mut data = serde_json::Map::new();
    for alias in text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')) {
        if alias.strip_prefix('r').is_none_or(|it| !it.contains('_')) {
            continue;
        }
        // The number stands in the first variable behind the alias.
        let behind = text.split_once(&format!("{alias}:")).map_or("", |it| it.1);
        let names = behind.split('$').skip(1).map(|it| {
            let end = it.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(it.len());
            &it[..end]
        });
        let number = names.filter_map(|it| variables[it].as_i64()).next().unwrap_or(0);
        let bill = json!({ "id": number, "total": 1.5, "boat_id": number, "currency": "EUR", "secret": "s",
            "f1": number, "owner": { "id": "o", "name": "Ada", "bill_id": number } });
        let value = if text.contains("ledger") { json!({ "bill": bill }) } else { bill };
        data.insert(alias.to_owned(), if number == 404 { Value::Null } else { value });
    }
    (200, json!({ "data": data }))
}

pub const BOATS: &str = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, bill INTEGER, is_old BOOLEAN);
    INSERT INTO boat (id, name, bill) VALUES (1, 'Argo', 7), (2, 'Fram', 7), (3, 'Beagle', NULL), (4, 'Vega', 404), (5, 'Gjoa', 9)";

pub struct Scene {
    pub weir: Weir,
}

impl Scene {
    /// Serves boats and these remote schemas; `boat` are further members of the table's entry.
    pub fn start(schemas: Value, boat: Value, environment: &[(&str, &str)]) -> Self {
        Self::start_with(schemas, boat, json!({}), environment)
    }

    /// The same with further `members` of the metadata.
    pub fn start_with(schemas: Value, boat: Value, members: Value, environment: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let file = folder.file("fleet.db");
        let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
        connection.execute_batch(BOATS).expect("the statements are right");
        let mut table = json!({ "table": "boat", "select_permissions": [
            { "role": "user", "permission": { "columns": ["id", "name", "bill"], "filter": { "id": { "_lt": 5 } } } },
            { "role": "blind", "permission": { "columns": ["id"], "filter": {} } } ] });
        for (key, value) in boat.as_object().into_iter().flatten() {
            table[key] = value.clone();
        }
        let url = format!("sqlite:{}", file.display());
        let mut document = json!({ "version": 3, "remote_schemas": schemas, "sources": [{ "name": "fleet", "kind": "sqlite",
            "configuration": { "connection_info": { "database_url": url } }, "tables": [table] }] });
        for (key, value) in members.as_object().into_iter().flatten() {
            document[key] = value.clone();
        }
        folder.write("metadata.json", &document.to_string());
        let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.json\n";
        let settings = folder.write("weir.yaml", yaml);
        let mut command = command();
        command.arg("serve").arg(&settings);
        for (name, value) in environment {
            command.env(name, value);
        }
        Self { weir: Weir::run(&mut command, folder) }
    }

    pub fn ask_with(&self, path: &str, headers: &[(&str, &str)], query: &str) -> String {
        let headers: Vec<_> = std::iter::once(SECRET).chain(headers.iter().copied()).collect();
        self.weir.post(path, &headers, body(query).as_bytes()).text().to_owned()
    }

    pub fn ask(&self, role: &str, query: &str) -> String {
        self.ask_with("/v1/graphql", &[("x-hasura-role", role)], query)
    }

    #[track_caller]
    pub fn check(&self, role: &str, query: &str, expected: &str) {
        let answer = self.ask(role, query);
        assert_eq!(answer, format!("{{\"data\":{expected}}}"), "{query}\n{}", self.weir.log());
    }

    #[track_caller]
    pub fn check_hidden(&self, role: &str, query: &str, name: &str) {
        let answer = self.ask_with("/graphql", &[("x-hasura-role", role)], query);
        let is_hidden = answer.contains("\"errors\"") && answer.contains(&format!("\\\"{name}\\\""));
        assert!(is_hidden, "{query}: {answer}");
    }

    pub fn inconsistent(&self) -> Value {
        let sent = br#"{"type":"get_inconsistent_metadata","args":{}}"#;
        self.weir.post("/v1/metadata", &[SECRET], sent).json()["inconsistent_objects"].clone()
    }
}

pub fn url(upstream: &Upstream) -> String {
    format!("http://{}/graphql", upstream.address)
}

pub fn payments(upstream: &Upstream, members: Value) -> Value {
    let mut definition = json!({ "url": url(upstream) });
    let mut entry = json!({ "name": "payments" });
    for (key, value) in members.as_object().into_iter().flatten() {
        let of_definition = ["headers", "customization", "forward_client_headers", "timeout_seconds"];
        let target = if of_definition.contains(&key.as_str()) { &mut definition } else { &mut entry };
        target[key] = value.clone();
    }
    entry["definition"] = definition;
    entry
}

/// Requests but for those for the schema.
pub fn operations(upstream: &Upstream) -> Vec<Asked> {
    upstream.take_requests().into_iter().filter(|it| !it.body.contains("__schema")).collect()
}

/// A relationship to the field `field` of the server of payments.
pub fn to_remote(name: &str, lhs: &[&str], field: Value) -> Value {
    json!({ "name": name, "definition": { "to_remote_schema": { "remote_schema": "payments", "lhs_fields": lhs, "remote_field": field } } })
}
