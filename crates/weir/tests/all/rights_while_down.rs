//! Rights that are taken away while one source of two is down: by the file and by the metadata API, in every process that watches the
//! file or hears of it through Redis. Whatever else, a source that is down keeps no right in service.

use crate::cluster_kit::Cluster;
use crate::postgres_kit::database;
use crate::redis_kit::Redis;
use crate::support::{Answer, Folder, Weir, body, until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

/// Two sources, of which `near` stays there.
struct Sources {
    near: String,
    far: String,
}

impl Sources {
    fn metadata(&self, near: &[&str], far: &[&str]) -> Value {
        let source = |name: &str, url: &str, table: Value, columns: &[&str]| {
            let permission = json!({ "role": "user", "permission": { "columns": columns, "filter": {} } });
            json!({
                "name": name,
                "kind": if url.starts_with("sqlite") { "sqlite" } else { "postgres" },
                "configuration": { "connection_info": { "database_url": url } },
                "tables": [{ "table": table, "select_permissions": [permission] }],
            })
        };
        let table = |url: &str, name: &str| {
            if url.starts_with("sqlite") { json!(name) } else { json!({ "schema": "public", "name": name }) }
        };
        let near = source("near", &self.near, table(&self.near, "boat"), near);
        let far = source("far", &self.far, table(&self.far, "thing"), far);
        json!({ "version": 3, "sources": [near, far] })
    }

    fn write(&self, file: &Path, near: &[&str], far: &[&str]) {
        let draft = file.with_extension("draft");
        std::fs::write(&draft, self.metadata(near, far).to_string()).expect("it is written");
        std::fs::rename(draft, file).expect("it takes the place of the other");
    }
}

const BOATS: &str =
    "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO boat VALUES (1, 'Argo')";
const BOTH: [&str; 2] = ["id", "name"];
const ID: [&str; 1] = ["id"];

/// A server of the metadata in `file`.
fn serve(file: &Path, more: &str) -> Weir {
    let folder = Folder::new();
    let yaml = format!("listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: {}\n{more}", file.display());
    Weir::by_file(&folder.write("weir.yaml", &yaml), folder)
}

fn ask(weir: &Weir, query: &str) -> Answer {
    weir.post("/graphql", &[SECRET, ("x-hasura-role", "user")], body(query).as_bytes())
}

#[track_caller]
fn check(weir: &Weir, query: &str, part: &str) {
    let answer = ask(weir, query);
    assert!(answer.text().contains(part), "{query}: {part} is not in {}\n{}", answer.text(), weir.log());
}

fn command(weir: &Weir, command: &Value) -> Answer {
    weir.post("/v1/metadata", &[SECRET], command.to_string().as_bytes())
}

fn is_hidden(weir: &Weir, query: &str) -> bool {
    ask(weir, query).text().contains(r#"Cannot query field \"name\""#)
}

/// A state in which `far` is down: its fields are there for who may ask, and fail; the operator is told.
#[track_caller]
fn check_down(weir: &Weir) {
    check(weir, "{ thing(limit: 1) { id } }", r#""code":"SOURCE_UNAVAILABLE""#);
    let ready = weir.get("/readyz", &[]);
    assert_eq!(ready.status, 503, "{}", ready.text());
    let ready = ready.json();
    let sources = ready["sources"].as_array().expect("a list");
    let states: Vec<_> = sources.iter().map(|it| (it["name"].as_str(), it["ready"].as_bool())).collect();
    assert_eq!(states, [(Some("near"), Some(true)), (Some("far"), Some(false))], "{ready}");
    let told = command(weir, &json!({ "type": "get_inconsistent_metadata", "args": {} })).json();
    assert_eq!(told["is_consistent"], false, "{told}");
    assert_eq!(told["inconsistent_objects"][0]["name"], "source far", "{told}");
}

/// Takes rights away on both sources while `far` is stopped by `stop`, and starts it again by `start`.
fn rights_go_while_a_source_is_down(sources: &Sources, stop: impl FnOnce(), start: impl FnOnce()) {
    let folder = Folder::new();
    let file: PathBuf = folder.file("metadata.json");
    sources.write(&file, &BOTH, &BOTH);
    let servers = [serve(&file, ""), serve(&file, "")];
    let boat = "{ boat(limit: 1) { name } }";
    let thing = "{ thing(limit: 1) { name } }";
    for weir in &servers {
        check(weir, boat, r#"{"data":{"boat":[{"name":"Argo"}]}}"#);
        check(weir, thing, r#"{"data":{"thing":[{"name":"#);
    }
    stop();
    // By the file, on the source that is there.
    sources.write(&file, &ID, &BOTH);
    for weir in &servers {
        until("the column is gone", || is_hidden(weir, boat));
        check(weir, "{ boat(limit: 1) { id } }", r#"{"data":{"boat":[{"id":1}]}}"#);
        check_down(weir);
    }
    // By the API, on the source that is down: at once in that process, soon in the one that watches the file.
    let drop = json!({ "type": "pg_drop_select_permission", "args": { "source": "far", "role": "user",
        "table": sources.metadata(&ID, &ID)["sources"][1]["tables"][0]["table"] } });
    let create = json!({ "type": "pg_create_select_permission", "args": { "source": "far", "role": "user",
        "permission": { "columns": ID, "filter": {} },
        "table": sources.metadata(&ID, &ID)["sources"][1]["tables"][0]["table"] } });
    let answer = command(&servers[0], &json!({ "type": "bulk", "args": [drop, create] }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(is_hidden(&servers[0], thing), "{}", ask(&servers[0], thing).text());
    until("the column is gone", || is_hidden(&servers[1], thing));
    servers.iter().for_each(check_down);
    // A whole document that may not be inconsistent: that a source is down is not the document's fault.
    let whole = sources.metadata(&BOTH, &ID);
    let answer = command(&servers[0], &json!({ "type": "replace_metadata", "args": whole }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    check(&servers[0], boat, r#"{"data":{"boat":[{"name":"Argo"}]}}"#);
    servers[0].post("/v1/reload", &[SECRET], b"");
    check_down(&servers[0]);
    start();
    for weir in &servers {
        until("it comes back", || weir.get("/readyz", &[]).status == 200);
        check(weir, "{ thing(limit: 1) { id } }", r#"{"data":{"thing":[{"id":1}]}}"#);
        assert!(is_hidden(weir, thing));
    }
}

fn file_of(folder: &Folder) -> (PathBuf, String) {
    let file = folder.file("fleet.db");
    let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
    connection.execute_batch(BOATS).expect("the statements are right");
    let url = format!("sqlite:{}", file.display());
    (file, url)
}

fn running() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster
}

fn url(cluster: &Cluster) -> String {
    format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", cluster.port)
}

#[test]
fn beside_a_file_a_server_that_is_stopped_keeps_no_right() {
    let folder = Folder::new();
    let cluster = std::cell::RefCell::new(running());
    let sources = Sources { near: file_of(&folder).1, far: url(&cluster.borrow()) };
    rights_go_while_a_source_is_down(
        &sources,
        || cluster.borrow_mut().stop(),
        || cluster.borrow_mut().start(),
    );
}

#[test]
fn beside_a_server_another_that_hangs_keeps_no_right() {
    let database = database(BOATS);
    let cluster = running();
    let sources = Sources { near: database.url(), far: url(&cluster) };
    let frozen = std::cell::RefCell::new(None);
    rights_go_while_a_source_is_down(
        &sources,
        || *frozen.borrow_mut() = Some(cluster.freeze()),
        || drop(frozen.take()),
    );
}

#[test]
fn beside_a_server_a_file_that_is_gone_keeps_no_right() {
    let database = database(BOATS);
    let folder = Folder::new();
    let file = folder.file("thing.db");
    let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
    let things = "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO thing VALUES (1, 'x')";
    connection.execute_batch(things).expect("the statements are right");
    drop(connection);
    let sources = Sources { near: database.url(), far: format!("sqlite:{}", file.display()) };
    let away = folder.file("away.db");
    rights_go_while_a_source_is_down(
        &sources,
        || std::fs::rename(&file, &away).expect("it moves"),
        || std::fs::rename(&away, &file).expect("it moves"),
    );
}

#[test]
fn a_source_never_reached_is_left_out_and_keeps_no_right_of_another() {
    let folder = Folder::new();
    let mut cluster = running();
    let sources = Sources { near: file_of(&folder).1, far: url(&cluster) };
    cluster.stop();
    let file = folder.file("metadata.json");
    sources.write(&file, &BOTH, &BOTH);
    let weir = serve(&file, "");
    check(&weir, "{ boat { name } }", "Argo");
    check(&weir, "{ thing(limit: 1) { id } }", r#"Cannot query field \"thing\""#);
    let answer = command(&weir, &json!({ "type": "replace_metadata", "args": sources.metadata(&ID, &BOTH) }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(is_hidden(&weir, "{ boat { name } }"));
    assert_eq!(weir.get("/readyz", &[]).status, 503);
    cluster.start();
    until("it comes", || weir.get("/readyz", &[]).status == 200);
    check(&weir, "{ thing(limit: 1) { id } }", r#"{"data":{"thing":[{"id":1}]}}"#);
}

#[test]
fn a_server_with_a_copy_of_the_file_hears_of_a_change_through_redis() {
    let folder = Folder::new();
    let mut cluster = running();
    let redis = Redis::start();
    let sources = Sources { near: file_of(&folder).1, far: url(&cluster) };
    let more = format!("cache: {{redis: 'redis://127.0.0.1:{}', namespace: rights}}\n", redis.port);
    let first = folder.file("first.json");
    let second = folder.file("second.json");
    let servers = [&first, &second].map(|file| {
        sources.write(file, &BOTH, &BOTH);
        let weir = serve(file, &more);
        let is_connected = || weir.get("/metrics", &[SECRET]).text().contains("weir_cache_redis_connected 1");
        until("Redis is there", is_connected);
        weir
    });
    cluster.stop();
    replace_unseen(&second, &sources.metadata(&ID, &BOTH));
    let answer =
        command(&servers[0], &json!({ "type": "replace_metadata", "args": sources.metadata(&ID, &BOTH) }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    for weir in &servers {
        until("the column is gone", || is_hidden(weir, "{ boat { name } }"));
        check_down(weir);
    }
}

/// Writes into a file so that its time and its length stay: no watcher sees it.
fn replace_unseen(file: &Path, document: &Value) {
    let facts = std::fs::metadata(file).expect("it is there");
    let length = usize::try_from(facts.len()).expect("a short file");
    let text = format!("{:length$}", document.to_string());
    assert_eq!(text.len(), length);
    std::fs::write(file, text).expect("it is written");
    let opened = std::fs::File::options().append(true).open(file).expect("it opens");
    opened.set_modified(facts.modified().expect("a time")).expect("a time can be set");
}

/// Types with the rule that `Boat` is for a role alone, or for everybody.
fn types(rule: &str) -> String {
    format!(
        "type Boat {rule} {{ id: ID! name: String }}\n# Dgraph.Authorization \
         {{\"VerificationKey\":\"0123456789abcdef0123456789abcdef\",\"Header\":\"x-token\",\"Namespace\":\"claims\",\"Algo\":\"HS256\"}}\n"
    )
}

#[test]
fn a_native_store_that_is_stopped_keeps_no_right() {
    let folder = Folder::new();
    let mut cluster = running();
    cluster.sql("CREATE DATABASE fleet");
    let text = folder.file("fleet.graphql");
    std::fs::write(&text, types("")).expect("it is written");
    let beside = file_of(&folder).1;
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n- {{name: near, url: '{beside}'}}\n\
         - {{name: far, native: {}, store: '{}'}}\n",
        text.display(),
        url(&cluster).replace("/postgres?", "/fleet?")
    );
    let weir = Weir::by_file(&folder.write("weir.yaml", &yaml), Folder::new());
    let boats = || weir.query("{ queryBoat { name } }").text().to_owned();
    let as_admin = |query: &str| weir.post("/graphql", &[SECRET], body(query).as_bytes());
    let added = as_admin("mutation { addBoat(input: [{name: \"Argo\"}]) { numUids } }");
    assert_eq!(added.text(), r#"{"data":{"addBoat":{"numUids":1}}}"#);
    assert_eq!(boats(), r#"{"data":{"queryBoat":[{"name":"Argo"}]}}"#);
    cluster.stop();
    let reloads = |count: u32| {
        let metrics = weir.get("/metrics", &[SECRET]);
        metrics.text().contains(&format!("weir_reloads_total {count}\n"))
    };
    assert!(reloads(0));
    let rule = r#"@auth(query: {rule: "{$ROLE: {eq: \"ADMIN\"}}"})"#;
    let draft = folder.file("draft");
    std::fs::write(&draft, types(rule)).expect("it is written");
    std::fs::rename(draft, &text).expect("it takes the place of the other");
    until("the rule is taken over", || reloads(1));
    assert!(!boats().contains("Cannot query"), "{}", boats());
    let near = as_admin("{ boat { name } }");
    assert_eq!(near.text(), r#"{"data":{"boat":[{"name":"Argo"}]}}"#);
    assert_eq!(weir.get("/readyz", &[]).status, 503);
    cluster.start();
    until("it comes back", || weir.get("/readyz", &[]).status == 200);
    assert_eq!(boats(), r#"{"data":{"queryBoat":[]}}"#);
}
