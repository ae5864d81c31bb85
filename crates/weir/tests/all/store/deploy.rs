//! The example deployed on an empty PostgreSQL database, with the requests of Hasura's command line in the order of its recorded
//! conversation `deploy-with-seeds`: metadata before there are tables, migrations, metadata again, seeds.

use super::{SECRET, Services, Store, example, follow_readme, serve, url};
use crate::postgres_kit::{Database, database};
use crate::support::{Folder, Weir, command, message, read};
use serde_json::{Value, json};
use std::path::Path;

const VERSION: &str = "1767225600000";

/// The metadata of `folder`, as the command line sends it.
fn read_metadata(folder: &Path) -> Value {
    let document = weir_metadata::read::path(folder).expect("it is metadata").document;
    let text = weir_metadata::export::json(&document).expect("it can be written");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The command line, against one server.
struct Tool<'w> {
    weir: &'w Weir,
}

impl Tool<'_> {
    #[track_caller]
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(|it| format!("{it}\n"));
        let mut headers = vec![("user-agent", "Go-http-client/1.1"), SECRET];
        headers.extend(body.as_ref().map(|_| ("content-type", "application/json")));
        let answer = self.weir.raw(&message(method, path, &headers, body.as_deref().map(str::as_bytes)));
        assert_eq!(answer.status, 200, "{path} {body:?}: {}", answer.text());
        answer.json()
    }

    #[track_caller]
    fn command(&self, name: &str, args: &Value) -> Value {
        self.send("POST", "/v1/metadata", Some(&json!({ "type": name, "args": args })))
    }

    fn begin(&self) {
        self.send("GET", "/v1/version", None);
        self.send("GET", "/v1/version", None);
        self.send("GET", "/v1alpha1/config", None);
        let exported =
            self.send("POST", "/v1/query", Some(&json!({ "type": "export_metadata", "args": {} })));
        assert_eq!(exported["version"], 3);
        self.command("get_catalog_state", &json!({}));
    }

    /// Puts `metadata` in the place of what is there; the answer.
    fn replace_metadata(&self, metadata: &Value) -> Value {
        let args = json!({ "allow_inconsistent_metadata": true, "metadata": metadata });
        self.send(
            "POST",
            "/v1/metadata",
            Some(&json!({ "type": "replace_metadata", "version": 2, "args": args })),
        )
    }

    fn set_state(&self, state: &Value) {
        self.command("set_catalog_state", &json!({ "type": "cli", "state": state }));
        assert_eq!(&self.command("get_catalog_state", &json!({}))["cli_state"], state);
    }

    fn migrate(&self) {
        let asked = "SELECT COUNT(1) FROM information_schema.tables WHERE table_name = 'schema_migrations' \
                     AND table_schema = 'hdb_catalog' LIMIT 1";
        self.set_state(&json!({ "settings": { "migration_mode": "true" }, "isStateCopyCompleted": false }));
        let asked = json!({ "type": "run_sql", "args": { "source": "store", "sql": asked } });
        assert_eq!(self.send("POST", "/v2/query", Some(&asked))["result"], json!([["count"], ["0"]]));
        self.set_state(&json!({ "settings": { "migration_mode": "true" }, "isStateCopyCompleted": true }));
        let up = read(&example().join(format!("migrations/store/{VERSION}_init/up.sql")));
        let args = json!({ "source": "store", "sql": up, "check_metadata_consistency": false });
        self.send("POST", "/v2/query", Some(&json!({ "type": "run_sql", "args": args })));
        self.set_state(&json!({
            "migrations": { "store": { VERSION: false } },
            "settings": { "migration_mode": "true" },
            "isStateCopyCompleted": true,
        }));
    }

    fn seed(&self) {
        let rows = read(&example().join("seeds/store/rows.sql"));
        let insert = json!({ "type": "run_sql", "args": { "source": "store", "sql": rows } });
        self.send("POST", "/v2/query", Some(&json!({ "type": "bulk", "args": [insert] })));
    }
}

impl Store {
    /// A server with no metadata that has the variables of the example, and its empty database.
    fn begin_empty() -> (Self, Database) {
        let services = Services::start();
        let file = example().join("carriers.graphql").display().to_string();
        let carriers = serve(&file, &services, None, Folder::new());
        let database = database("");
        let folder = Folder::new();
        std::fs::create_dir_all(folder.file("metadata/databases")).expect("a folder can be made");
        folder.write("metadata/version.yaml", "version: 3\n");
        folder.write("metadata/databases/databases.yaml", "[]\n");
        folder.write("weir.yaml", &format!("metadata: metadata\nadmin_secret: {}\n", SECRET.1));
        let mut command = command();
        command
            .args(["serve", "weir.yaml", "--listen", "127.0.0.1:0"])
            .current_dir(&folder.0)
            .env("STORE_DATABASE_URL", database.url())
            .env("STORE_MAIL_KEY", "the key of the example")
            .env("STORE_SERVICES", url(services.address))
            .env("STORE_CARRIERS", url(carriers.address));
        let weir = Weir::run(&mut command, folder);
        (Self { services, carriers, weir }, database)
    }
}

/// Names of files below `folder`.
fn list_files(folder: &Path, below: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder.join(below)).expect("it is a folder").flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            list_files(folder, &path, names);
        } else {
            names.push(path.display().to_string());
        }
    }
}

#[test]
fn the_project_is_deployed_on_an_empty_database() {
    let (store, _database) = Store::begin_empty();
    let tool = Tool { weir: &store.weir };
    let metadata = read_metadata(&example().join("metadata"));
    tool.begin();
    // Tables that are not there yet are inconsistent, and what needs no table is served.
    let first = tool.replace_metadata(&metadata);
    assert_eq!(first["is_consistent"], false, "{first}");
    tool.command("export_metadata", &json!({}));
    tool.migrate();
    let second = tool.replace_metadata(&metadata);
    assert_eq!(second, json!({ "is_consistent": true, "inconsistent_objects": [] }));
    let reloaded = tool.command("reload_metadata", &json!({}));
    assert_eq!(reloaded["is_consistent"], true, "{reloaded}");
    tool.seed();
    follow_readme(&store);
    // Each file that Weir keeps is that of the project, byte for byte; empty ones the example leaves out.
    assert_eq!(tool.command("export_metadata", &json!({})), metadata);
    let kept = store.weir.folder().file("metadata");
    let mut names = Vec::new();
    list_files(&example().join("metadata"), Path::new(""), &mut names);
    assert_eq!(names.len(), 10);
    for name in names {
        assert_eq!(read(&kept.join(&name)), read(&example().join("metadata").join(&name)), "{name}");
    }
    // A second time there is nothing left to do, and nothing is sent again.
    tool.begin();
    assert_eq!(tool.replace_metadata(&metadata)["is_consistent"], true);
    assert_eq!(tool.command("export_metadata", &json!({})), metadata);
}
