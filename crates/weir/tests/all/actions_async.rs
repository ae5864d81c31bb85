//! Asynchronous actions: calls that are stored, made later, and read by whom they belong to, with the state in a file and in PostgreSQL.

use crate::actions::SECRET;
use crate::postgres_kit::{Database, database};
use crate::sockets::{ACK, INIT, NEW, begin, hear, say};
use crate::support::{Folder, Weir, body, command, until};
use crate::upstream_kit::{Asked, Upstream};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};

const DATABASES: &str = "- name: pets
  kind: sqlite
  configuration:
    connection_info: {database_url: sqlite:../pets.db}
  tables:
  - table: pet
    select_permissions: [{role: user, permission: {columns: [id, name], filter: {}}}]
";

const SDL: &str = "
type Mutation {
  settle(n: Int): Receipt
  slow(n: Int): Receipt
  weigh(n: Int): Int!
}
type Receipt { number: String! pet_id: Int }
";

const YAML: &str = "
actions:
- name: settle
  definition:
    kind: asynchronous
    handler: '{{SHOP_URL}}/settle'
    forward_client_headers: true
    headers: [{name: X-Key, value_from_env: SHOP_KEY}]
    timeout: 5
  permissions: [{role: user}, {role: guest}]
- name: slow
  definition: {kind: asynchronous, handler: '{{SHOP_URL}}/slow', timeout: 60}
  permissions: [{role: user}]
- name: weigh
  definition: {kind: asynchronous, handler: '{{SHOP_URL}}/weigh'}
  permissions: [{role: user}]
custom_types:
  objects:
  - name: Receipt
    relationships:
    - {name: pet, type: object, source: pets, remote_table: pet, field_mapping: {pet_id: id}}
";

/// The database of the state.
pub(crate) enum State {
    /// The file beside the metadata.
    File,
    Postgres(Database),
}

impl State {
    /// The line of weir.yaml.
    fn line(&self) -> String {
        match self {
            Self::File => String::new(),
            Self::Postgres(database) => format!("state: {}\n", database.socket_url()),
        }
    }

    /// Runs SQL over the log, `LOG` in it, as an operator would; the first column of its rows.
    pub(crate) fn run(&self, folder: &Folder, sql: &str) -> Vec<String> {
        match self {
            Self::File => {
                let file = folder.file(".metadata.weir-state/state.db");
                let connection = rusqlite::Connection::open(file).expect("it is opened");
                let mut statement =
                    connection.prepare(&sql.replace("LOG", "hdb_action_log")).expect("it is SQL");
                let rows = statement.query_map([], |row| row.get(0)).expect("it runs");
                rows.map(|it| it.expect("a text")).collect()
            }
            Self::Postgres(database) => {
                let sql = sql.replace("LOG", "hdb_catalog.hdb_action_log");
                database.run(&sql).lines().map(str::to_owned).collect()
            }
        }
    }
}

/// Runs `test` with the state in a file, and in PostgreSQL.
pub(crate) fn on_both(test: impl Fn(State)) {
    test(State::File);
    test(State::Postgres(database("SELECT 1")));
}

/// Runs `test` with a server of the project, for each place of the state.
fn serve_both(test: impl Fn(&State, &Handlers, &Weir)) {
    on_both(|state| {
        let handlers = Handlers::start();
        let weir = serve(&state, &handlers, &[]);
        test(&state, &handlers, &weir);
    });
}

/// A door that callers wait at until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Door(Arc<(Mutex<bool>, Condvar)>);

impl Door {
    pub(crate) fn open(&self) {
        *self.0.0.lock().expect("no test panics with it") = true;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let is_open = self.0.0.lock().expect("no test panics with it");
        drop(self.0.1.wait_while(is_open, |it| !*it).expect("no test panics with it"));
    }
}

/// Handlers of a shop; `slow` answers once its door is open.
pub(crate) struct Handlers {
    pub(crate) upstream: Upstream,
    pub(crate) door: Door,
    heard: Mutex<Vec<Asked>>,
}

pub(crate) fn body_of(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).expect("it is JSON")
}

impl Handlers {
    pub(crate) fn start() -> Self {
        let door = Door::default();
        let of_calls = door.clone();
        let upstream = Upstream::start_with(move |asked| {
            let n = body_of(asked)["input"]["n"].as_i64().unwrap_or_default();
            match (asked.line.as_str(), n) {
                ("POST /settle", 13) => {
                    return (422, r#"{"message":"sold out","code":"stock"}"#.to_owned());
                }
                ("POST /settle", 14) => {
                    return (200, r#"{"number":"\u0000"}"#.to_owned());
                }
                ("POST /weigh", _) => return (200, format!("{n}")),
                ("POST /slow", _) => of_calls.pass(),
                _ => {}
            }
            (200, format!(r#"{{"number":"R-{n}","pet_id":1,"more":true}}"#))
        });
        Self { upstream, door, heard: Mutex::default() }
    }

    fn url(&self) -> String {
        format!("http://{}", self.upstream.address)
    }

    /// Calls of `path` so far.
    pub(crate) fn calls(&self, path: &str) -> Vec<Asked> {
        let mut heard = self.heard.lock().expect("no test panics with it");
        heard.extend(self.upstream.take_requests());
        heard.iter().filter(|it| it.line == format!("POST {path}")).cloned().collect()
    }
}

/// Writes a project over `state`.
pub(crate) fn write_project(state: &State, yaml: &str) -> Folder {
    let folder = Folder::new();
    folder.pets();
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", DATABASES),
        ("actions.yaml", YAML),
        ("actions.graphql", SDL),
    ];
    for (name, text) in files {
        let path = folder.file("metadata").join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    let settings = "listen: 127.0.0.1:0\nthreads: 1\nadmin_secret: hush\nmetadata: metadata\n";
    folder.write("weir.yaml", &format!("{settings}{}{yaml}", state.line()));
    folder
}

/// The command that serves the project in `folder`.
pub(crate) fn serving(folder: &Folder, handlers: &Handlers, variables: &[(&str, &str)]) -> Command {
    let mut command = command();
    command.arg("serve").arg(folder.file("weir.yaml"));
    command.env("SHOP_URL", handlers.url()).env("SHOP_KEY", "k1");
    command.env_remove("HASURA_GRAPHQL_DEV_MODE").envs(variables.iter().copied());
    command
}

pub(crate) fn serve(state: &State, handlers: &Handlers, variables: &[(&str, &str)]) -> Weir {
    let folder = write_project(state, "");
    Weir::run(&mut serving(&folder, handlers, variables), folder)
}

pub(crate) fn ask_as(weir: &Weir, role: &str, user: &str, query: &str) -> Value {
    let headers =
        [SECRET, ("x-hasura-role", role), ("x-hasura-user-id", user), ("x-own", "mine"), ("cookie", "a=b")];
    weir.post("/v1/graphql", &headers, body(query).as_bytes()).json()
}

/// Stores a call as a user, and returns its id.
pub(crate) fn store(weir: &Weir, action: &str, n: i64) -> String {
    let stored = ask_as(weir, "user", "4", &format!("mutation {{ {action}(n: {n}) }}"));
    stored["data"][action].as_str().unwrap_or_else(|| panic!("{stored}")).to_owned()
}

/// Stores a call of the handler that waits for its door, and returns its id once that was called.
pub(crate) fn begin_slow(weir: &Weir, handlers: &Handlers, n: i64) -> String {
    let before = handlers.calls("/slow").len();
    let id = store(weir, "slow", n);
    until("it is called", || handlers.calls("/slow").len() == before + 1);
    id
}

/// Stores a call whose answer is a number, and waits for it.
fn weigh(weir: &Weir, n: i64) {
    let query = format!("{{ weigh(id: \"{}\") {{ output }} }}", store(weir, "weigh", n));
    until("it is weighed", || ask_as(weir, "user", "4", &query)["data"]["weigh"]["output"] == n);
}

/// The call as a user reads it.
pub(crate) fn read(weir: &Weir, action: &str, id: &str) -> Value {
    let query = format!("{{ {action}(id: \"{id}\") {{ id created_at errors output {{ number }} }} }}");
    ask_as(weir, "user", "4", &query)["data"][action].clone()
}

/// Waits until the call has this number as its result.
pub(crate) fn await_result(weir: &Weir, action: &str, id: &str, number: &str) {
    until(&format!("{number} is there"), || read(weir, action, id)["output"]["number"] == number);
}

#[test]
fn a_stored_call_is_made_and_its_result_read() {
    serve_both(|_, handlers, weir| {
        let id = store(weir, "settle", 7);
        await_result(weir, "settle", &id, "R-7");
        let calls = handlers.calls("/settle");
        let [call] = &calls[..] else { panic!("{calls:?}") };
        let session = json!({ "x-hasura-role": "user", "x-hasura-user-id": "4" });
        let expected = json!({ "action": { "name": "settle" }, "input": { "n": 7 }, "session_variables": session, "request_query": null });
        assert_eq!(body_of(call), expected);
        let has = |name: &str, value: &str| call.headers.contains(&(name.to_owned(), value.to_owned()));
        assert!(has("x-key", "k1") && has("x-own", "mine") && has("cookie", "a=b"), "{call:?}");
        assert!(has("content-type", "application/json"), "{call:?}");
        assert!(!call.headers.iter().any(|it| it.0.starts_with("x-hasura-")), "{call:?}");
        let query = format!(
            "{{ it: settle(id: \"{id}\") {{ i: id errors output {{ number pet {{ name }} }} created_at }} }}"
        );
        let mut result = ask_as(weir, "user", "4", &query);
        let time = result["data"]["it"].as_object_mut().and_then(|it| it.remove("created_at"));
        let time = time.as_ref().and_then(Value::as_str).expect("it has a time").to_owned();
        assert!(time.len() > 24 && time.contains('T') && time.ends_with("+00:00"), "{time}");
        let output = json!({ "number": "R-7", "pet": { "name": "Ada" } });
        assert_eq!(result, json!({ "data": { "it": { "i": id, "errors": null, "output": output } } }));
        let log = weir.log();
        assert!(log.contains("action-handler-log") && log.contains("mutation-asynchronous"), "{log}");
        // An action whose answer is a scalar.
        weigh(weir, 8);
    });
}

#[test]
fn a_result_is_its_caller_s_and_the_admin_s() {
    serve_both(|_, _, weir| {
        let id = store(weir, "settle", 7);
        await_result(weir, "settle", &id, "R-7");
        let query = format!("{{ settle(id: \"{id}\") {{ output {{ number }} }} }}");
        let seen = json!({ "data": { "settle": { "output": { "number": "R-7" } } } });
        let nothing = json!({ "data": { "settle": null } });
        for (role, user, expected) in
            [("user", "4", &seen), ("user", "5", &nothing), ("guest", "4", &nothing), ("admin", "1", &seen)]
        {
            assert_eq!(&ask_as(weir, role, user, &query), expected, "{role} {user}");
        }
        let unknown = "{ settle(id: \"00000000-0000-4000-8000-000000000000\") { output { number } } }";
        assert_eq!(ask_as(weir, "user", "4", unknown), nothing);
        // The id of another action.
        let other = query.replace("settle", "slow");
        assert_eq!(ask_as(weir, "user", "4", &other), json!({ "data": { "slow": null } }));
    });
}

#[test]
fn errors_are_stored_and_their_details_are_the_admin_s() {
    serve_both(|state, handlers, weir| {
        let id = store(weir, "settle", 13);
        until("it has failed", || !read(weir, "settle", &id)["errors"].is_null());
        let refused = read(weir, "settle", &id);
        assert_eq!(refused["errors"], json!({ "path": "$", "error": "sold out", "code": "stock" }));
        assert_eq!(refused["output"], Value::Null);
        let query = format!("{{ settle(id: \"{id}\") {{ errors }} }}");
        let errors = ask_as(weir, "admin", "1", &query)["data"]["settle"]["errors"].clone();
        assert_eq!(
            (&errors["error"], &errors["internal"]["response"]["status"]),
            (&json!("sold out"), &json!(422))
        );
        // PostgreSQL has no text with a null byte.
        let id = store(weir, "settle", 14);
        until("it is over", || {
            let result = read(weir, "settle", &id);
            match state {
                State::File => result["output"]["number"] == "\u{0}",
                State::Postgres(_) => {
                    result["errors"]["error"] == "the answer of the handler cannot be stored"
                }
            }
        });
        assert_eq!(handlers.calls("/settle").len(), 2);
    });
}

#[test]
fn a_subscription_ends_with_the_result() {
    let handlers = Handlers::start();
    let weir = serve(&State::File, &handlers, &[]);
    let id = store(&weir, "slow", 3);
    let (mut socket, _) = crate::sockets::open(
        &weir,
        "/v1/graphql",
        &[("sec-websocket-protocol", NEW), SECRET, ("x-hasura-role", "user"), ("x-hasura-user-id", "4")],
    )
    .unwrap_or_else(|it| panic!("{it:?}"));
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    let subscribe = |fields: &str| {
        begin(NEW, "1", &body(&format!("subscription {{ slow(id: \"{id}\") {{ {fields} }} }}")))
    };
    let payload = |json: &str| format!(r#"{{"type":"next","id":"1","payload":{{"data":{json}}}}}"#);
    let complete = r#"{"type":"complete","id":"1"}"#;
    say(&mut socket, &subscribe("output { number }"));
    assert_eq!(hear(&mut socket), payload(r#"{"slow":{"output":null}}"#));
    handlers.door.open();
    assert_eq!(hear(&mut socket), payload(r#"{"slow":{"output":{"number":"R-3"}}}"#));
    assert_eq!(hear(&mut socket), complete);
    // One that comes later hears the result alone.
    say(&mut socket, &subscribe("output { number }"));
    assert_eq!(hear(&mut socket), payload(r#"{"slow":{"output":{"number":"R-3"}}}"#));
    assert_eq!(hear(&mut socket), complete);
    // A call of which nobody ever learns ends at once.
    let unknown = subscribe("id").replace(&id, "00000000-0000-4000-8000-000000000000");
    say(&mut socket, &unknown);
    assert_eq!(hear(&mut socket), payload(r#"{"slow":null}"#));
    assert_eq!(hear(&mut socket), complete);
    // The first result and the last may be equal.
    let id = store(&weir, "settle", 1);
    let same = format!("subscription {{ settle(id: \"{id}\") {{ id }} }}");
    say(&mut socket, &begin(NEW, "1", &body(&same)));
    assert_eq!(hear(&mut socket), payload(&format!(r#"{{"settle":{{"id":"{id}"}}}}"#)));
    assert_eq!(hear(&mut socket), complete);
    // A row beside the result may change on.
    let joined = format!("subscription {{ settle(id: \"{id}\") {{ output {{ pet {{ name }} }} }} }}");
    await_result(&weir, "settle", &id, "R-1");
    say(&mut socket, &begin(NEW, "1", &body(&joined)));
    let named = |name: &str| payload(&format!(r#"{{"settle":{{"output":{{"pet":{{"name":"{name}"}}}}}}}}"#));
    assert_eq!(hear(&mut socket), named("Ada"));
    let pets = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("it is opened");
    pets.execute("UPDATE pet SET name = 'Eve' WHERE id = 1", []).expect("it is changed");
    assert_eq!(hear(&mut socket), named("Eve"));
}

#[test]
fn a_slow_handler_holds_up_no_other() {
    on_both(|state| {
        let handlers = Handlers::start();
        let weir = serve(&state, &handlers, &[("HASURA_GRAPHQL_ASYNC_ACTIONS_FETCH_BATCH_SIZE", "2")]);
        let slow: Vec<String> = (0..5).map(|n| store(&weir, "slow", n)).collect();
        until("two are called", || handlers.calls("/slow").len() == 2);
        for n in 20..30 {
            let id = store(&weir, "settle", n);
            await_result(&weir, "settle", &id, &format!("R-{n}"));
        }
        assert_eq!(handlers.calls("/slow").len(), 2, "no more than may be in flight");
        handlers.door.open();
        for (n, id) in slow.iter().enumerate() {
            await_result(&weir, "slow", id, &format!("R-{n}"));
        }
        assert_eq!(handlers.calls("/slow").len(), 5);
    });
}

#[test]
fn a_dropped_action_takes_its_calls_with_it_unless_it_is_told_not_to() {
    serve_both(|state, _, weir| {
        let kept = store(weir, "settle", 1);
        await_result(weir, "settle", &kept, "R-1");
        weigh(weir, 8);
        for args in [json!({ "name": "settle", "clear_data": false }), json!({ "name": "weigh" })] {
            let text = json!({ "type": "drop_action", "args": args }).to_string();
            let dropped = weir.post("/v1/metadata", &[SECRET], text.as_bytes());
            assert_eq!(dropped.text(), r#"{"message":"success"}"#);
        }
        assert_eq!(state.run(weir.folder(), "SELECT action_name FROM LOG"), ["settle"]);
    });
}
