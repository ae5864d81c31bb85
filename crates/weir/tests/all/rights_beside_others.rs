//! Rights that are taken away while a store of native types or another GraphQL server is down: those on a database beside it by the
//! file and by the metadata API, its own by its file. It comes back by itself, with the rights that it has by then.

use crate::cluster_kit::Cluster;
use crate::support::{Answer, Folder, Weir, body, until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

fn replace(file: &Path, text: &str) {
    let draft = file.with_extension("draft");
    std::fs::write(&draft, text).expect("it is written");
    std::fs::rename(draft, file).expect("it takes the place of the other");
}

/// A server of boats in a file, whose rights are metadata, beside the source `far`.
struct Scene {
    weir: Weir,
    metadata: PathBuf,
    url: String,
    _folder: Folder,
}

impl Scene {
    /// `far`: the entry of the source in the configuration.
    fn start(folder: Folder, far: &str) -> Self {
        let file = folder.file("fleet.db");
        let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
        let boats =
            "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO boat VALUES (1, 'Argo')";
        connection.execute_batch(boats).expect("the statements are right");
        let metadata = folder.file("metadata.json");
        let url = format!("sqlite:{}", file.display());
        let yaml = format!(
            "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: {}\nsources:\n- {far}\n",
            metadata.display()
        );
        replace(&metadata, &write_document(&url, &["id", "name"]).to_string());
        let weir = Weir::by_file(&folder.write("weir.yaml", &yaml), Folder::new());
        Self { weir, metadata, url, _folder: folder }
    }

    fn ask(&self, role: &str, query: &str) -> String {
        let headers = [SECRET, ("x-hasura-role", role)];
        let answer: Answer = self.weir.post("/graphql", &headers, body(query).as_bytes());
        answer.text().to_owned()
    }

    fn is_hidden(&self, role: &str, query: &str) -> bool {
        self.ask(role, query).contains("Cannot query field")
    }

    #[track_caller]
    fn check(&self, role: &str, query: &str, part: &str) {
        let answer = self.ask(role, query);
        assert!(answer.contains(part), "{query}: {part} is not in {answer}\n{}", self.weir.log());
    }

    /// The probe names the source that is down, and `query` of it fails for who may ask.
    #[track_caller]
    fn check_down(&self, name: &str, query: &str) {
        self.check("admin", query, "SOURCE_UNAVAILABLE");
        let ready = self.weir.get("/readyz", &[]);
        assert!(ready.status == 503 && ready.text().contains(name), "{}", ready.text());
    }

    /// Takes the rights on boats away, first by the file, then by the API, while `name` is down.
    fn take_away_beside(&self, name: &str, of_far: &str) {
        let names = "{ boat { name } }";
        let numbers = "{ boat { id } }";
        replace(&self.metadata, &write_document(&self.url, &["id"]).to_string());
        until("the column is gone", || self.is_hidden("user", names));
        self.check("user", numbers, r#"{"data":{"boat":[{"id":1}]}}"#);
        self.check_down(name, of_far);
        let drop = json!({ "type": "sqlite_drop_select_permission",
            "args": { "source": "near", "table": "boat", "role": "user" } });
        let answer = self.weir.post("/v1/metadata", &[SECRET], drop.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(self.is_hidden("user", numbers), "{}", self.ask("user", numbers));
        self.check("admin", names, "Argo");
        self.check_down(name, of_far);
    }
}

fn write_document(url: &str, columns: &[&str]) -> Value {
    let permission = json!({ "role": "user", "permission": { "columns": columns, "filter": {} } });
    json!({ "version": 3, "sources": [{ "name": "near", "kind": "sqlite",
        "configuration": { "connection_info": { "database_url": url } },
        "tables": [{ "table": "boat", "select_permissions": [permission] }] }] })
}

/// Types whose ships everybody sees, or a role alone.
fn write_types(rule: &str) -> String {
    format!(
        "type Ship {rule} {{ id: ID! name: String }}\n# Dgraph.Authorization \
         {{\"VerificationKey\":\"0123456789abcdef0123456789abcdef\",\"Header\":\"x-token\",\"Namespace\":\"claims\",\"Algo\":\"HS256\"}}\n"
    )
}

#[test]
fn beside_a_native_store_that_is_down_rights_go() {
    let folder = Folder::new();
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql("CREATE DATABASE fleet");
    let text = folder.write("far.graphql", &write_types(""));
    let store = format!("postgres://postgres@127.0.0.1:{}/fleet?sslmode=disable", cluster.port);
    let scene = Scene::start(folder, &format!("{{name: far, native: {}, store: '{store}'}}", text.display()));
    let ships = "{ queryShip { name } }";
    scene.check("admin", "mutation { addShip(input: [{name: \"Fram\"}]) { numUids } }", r#""numUids":1"#);
    scene.check("user", "{ boat { name } }", "Argo");
    scene.check("user", ships, "Fram");
    cluster.stop();
    scene.take_away_beside("far", ships);
    // Rules of the store itself, while it is down.
    let reloads = || {
        let metrics = scene.weir.get("/metrics", &[SECRET]);
        let line = metrics.text().lines().find(|it| it.starts_with("weir_reloads_total ")).map(str::to_owned);
        line.expect("reloads are counted")
    };
    let before = reloads();
    replace(&text, &write_types(r#"@auth(query: {rule: "{$ROLE: {eq: \"ADMIN\"}}"})"#));
    until("the rule is taken over", || reloads() != before);
    scene.check_down("far", ships);
    cluster.start();
    until("it comes back", || scene.weir.get("/readyz", &[]).status == 200);
    scene.check("user", ships, r#"{"data":{"queryShip":[]}}"#);
    assert!(scene.is_hidden("user", "{ boat { id } }"));
}

/// A text of services with a GraphQL server that these roles see.
fn write_services(address: std::net::SocketAddr, roles: &str) -> String {
    format!(
        "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\"])
           @graphql(url: \"http://{address}/graphql\", prefix: \"up_\", visible: {{roles: [{roles}]}})"
    )
}

#[test]
fn beside_a_graphql_server_that_is_down_rights_go() {
    let folder = Folder::new();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], crate::port_kit::free_port()));
    let pets = Folder::new();
    let target = format!("sqlite:{}", pets.pets().display());
    let upstream = || Weir::start(&["serve", &target, "--listen", &address.to_string()], Folder::new());
    let running = upstream();
    let text = folder.write("far.graphql", &write_services(address, "\"user\", \"guest\""));
    let scene = Scene::start(folder, &format!("{{name: far, file: {}}}", text.display()));
    let names = "{ up_pet(order_by: {id: asc}, limit: 1) { name } }";
    until("the server is there", || scene.ask("user", names).contains("Ada"));
    scene.check("user", "{ boat { name } }", "Argo");
    drop(running);
    scene.take_away_beside("far", names);
    // Who sees it, while it is down.
    scene.check("user", names, "SOURCE_UNAVAILABLE");
    replace(&text, &write_services(address, "\"guest\""));
    until("the server is hidden", || scene.is_hidden("user", names));
    scene.check("guest", names, "SOURCE_UNAVAILABLE");
    let _running = upstream();
    until("it comes back", || scene.ask("guest", names).contains("Ada"));
    until("the probe says so", || scene.weir.get("/readyz", &[]).status == 200);
    assert!(scene.is_hidden("user", names));
    assert!(scene.is_hidden("user", "{ boat { id } }"));
}
