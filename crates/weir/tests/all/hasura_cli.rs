//! Hasura's command line as it is: its recorded conversations with a server, sent request by request to a Weir over PostgreSQL, and the answers
//! compared with those on which it goes on.
//!
//! An answer is compared as JSON, an export to the letter, as the order of its keys becomes that of the project's files.
//! `docs/coming-from/hasura.md` says which answers differ and why.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, command, message, read};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/hasura_cli");
const SECRET: &str = "shop-admin-secret";
/// The command line sends no version of the metadata, so its change conflicts with none: `docs/coming-from/hasura.md`.
const FORCED: &str = "metadata-apply-conflict";
/// A machine without the program, which the conversation is about.
const WITHOUT_PG_DUMP: &str = "migrate-create-from-server-no-pg-dump";

/// Documents and statements that conversations name.
#[derive(Deserialize)]
struct Documents {
    sql: BTreeMap<String, String>,
    metadata: BTreeMap<String, Box<RawValue>>,
    sent: BTreeMap<String, Value>,
    config: Value,
}

#[derive(Deserialize)]
struct Before {
    sql: Vec<String>,
    metadata: String,
    cli_state: Value,
}

/// One request and its answer.
#[derive(Deserialize)]
struct Step {
    method: String,
    path: String,
    /// Without it the right one.
    #[serde(default = "right_secret")]
    secret: Option<String>,
    body: Option<Value>,
    status: u16,
    #[serde(rename = "type")]
    content_type: Option<String>,
    answer: Value,
}

#[derive(Deserialize)]
struct After {
    cli_state: Value,
    metadata: Value,
}

#[derive(Deserialize)]
struct Conversation {
    before: Before,
    conversation: Vec<Step>,
    after: After,
}

fn right_secret() -> Option<String> {
    Some(SECRET.into())
}

fn documents() -> Documents {
    serde_json::from_str(&read(&Path::new(PLACE).join("documents.json"))).expect("it is as the type says")
}

/// The conversations by name.
fn list_recordings() -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(PLACE).expect("the folder is there");
    let files = entries.map(|it| it.expect("it can be read").path());
    let files = files.filter(|it| it.extension().is_some_and(|it| it == "json"));
    let named = files.map(|it| (it.file_stem().unwrap_or_default().to_string_lossy().into_owned(), it));
    named.filter(|it| it.0 != "documents").collect()
}

/// `text` of JSON without blanks between its values.
pub(crate) fn compact(text: &str) -> String {
    let mut is_text = false;
    let mut is_escape = false;
    let mut out = String::new();
    for sign in text.chars() {
        if is_text || !sign.is_whitespace() {
            out.push(sign);
        }
        is_text ^= sign == '"' && !is_escape;
        is_escape = sign == '\\' && !is_escape;
    }
    out
}

impl Documents {
    /// `value` with the documents that it names.
    fn fill(&self, value: &Value) -> Value {
        match value.get("$use").and_then(Value::as_str) {
            Some("config") => self.config.clone(),
            Some(name) => match name.split_once('.') {
                Some(("sent", name)) => self.sent[name].clone(),
                Some(("metadata", name)) => self.metadata(name),
                _ => panic!("{name} names no document"),
            },
            None => match value {
                Value::Object(members) => {
                    members.iter().map(|(key, it)| (key.clone(), self.fill(it))).collect()
                }
                Value::Array(items) => items.iter().map(|it| self.fill(it)).collect(),
                plain => plain.clone(),
            },
        }
    }

    fn metadata(&self, name: &str) -> Value {
        serde_json::from_str(self.metadata[name].get()).expect("it is JSON")
    }
}

/// A server with the state before a conversation, and what has been seen of it.
struct Replay<'d> {
    documents: &'d Documents,
    weir: Weir,
    id: Option<String>,
}

impl Replay<'_> {
    fn send(&self, step: &Step) -> Answer {
        let body = step.body.as_ref().map(|it| format!("{}\n", self.documents.fill(it)));
        let mut headers = vec![("user-agent", "Go-http-client/1.1")];
        headers.extend(step.secret.as_deref().map(|it| ("x-hasura-admin-secret", it)));
        headers.extend(body.as_ref().map(|_| ("content-type", "application/json")));
        self.weir.raw(&message(&step.method, &step.path, &headers, body.as_deref().map(str::as_bytes)))
    }

    fn command(&self, name: &str, args: &Value) -> Answer {
        let body = json!({ "type": name, "args": args }).to_string();
        self.weir.post("/v1/metadata", &[("x-hasura-admin-secret", SECRET)], body.as_bytes())
    }

    /// The difference between the answer to `step` and the recorded one.
    fn difference(&mut self, step: &Step) -> Option<String> {
        let answer = self.send(step);
        let content_type = step.content_type.as_deref().unwrap_or("application/json; charset=utf-8");
        if (answer.status, answer.header("content-type")) != (step.status, Some(content_type)) {
            return Some(format!("{} {:?}: {}", answer.status, answer.headers, answer.text()));
        }
        if let Some(text) = step.answer.as_str() {
            return (answer.text() != text).then(|| answer.text().to_owned());
        }
        if let Some(name) = step.answer.get("$use").and_then(Value::as_str)
            && let Some(name) = name.strip_prefix("metadata.")
        {
            let expected = compact(self.documents.metadata[name].get());
            return (compact(answer.text()) != expected).then(|| compact(answer.text()));
        }
        let mut expected = self.documents.fill(&step.answer);
        let mut told = answer.json();
        match step.path.as_str() {
            // Members of ours stand beside, and there are metrics in Weir.
            "/v1/version" | "/v1alpha1/config" => {
                keep_members_of(&expected, &mut told);
                if let Some(has_metrics) = expected.get_mut("is_prometheus_metrics_enabled") {
                    *has_metrics = true.into();
                }
            }
            "/v1alpha1/pg_dump" if expected["error"] == "internal exception while executing pg_dump" => {
                // The words are those of the system.
                assert!(told["internal"].as_str().is_some_and(|it| it.starts_with("pg_dump: ")), "{told}");
                told["internal"] = expected["internal"].clone();
            }
            _ => {}
        }
        if expected.get("id").is_some() {
            let id = told["id"].as_str().unwrap_or_default().to_owned();
            assert!(id.len() == 36 && *self.id.get_or_insert(id.clone()) == id, "{told}");
            expected["id"] = id.into();
        }
        for value in [&mut expected, &mut told] {
            sort_objects(value);
        }
        (told != expected).then(|| told.to_string())
    }
}

/// Removes from `told` what `expected` does not have.
fn keep_members_of(expected: &Value, told: &mut Value) {
    let (Some(expected), Some(told)) = (expected.as_object(), told.as_object_mut()) else { return };
    told.retain(|key, _| expected.contains_key(key));
}

/// Inconsistent objects have no order.
fn sort_objects(value: &mut Value) {
    for key in ["inconsistent_objects", "internal"] {
        if let Some(objects) = value.get_mut(key).and_then(Value::as_array_mut) {
            objects.sort_by_key(|it| it["name"].as_str().map(str::to_owned));
        }
    }
}

/// Plays one conversation; the requests that were answered otherwise.
fn play(documents: &Documents, name: &str, file: &Path) -> Vec<String> {
    let told: Conversation =
        serde_json::from_str(&read(file)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let sql: Vec<&str> = told.before.sql.iter().map(|it| documents.sql[it].as_str()).collect();
    // The databases of the recorded server were made with a schema that says nothing of itself.
    let database = database(&format!("COMMENT ON SCHEMA public IS NULL; {}", sql.concat()));
    let folder = Folder::new();
    let metadata = folder.file("metadata");
    std::fs::create_dir_all(metadata.join("databases")).expect("a folder can be made");
    std::fs::write(metadata.join("version.yaml"), "version: 3\n").expect("it is written");
    std::fs::write(metadata.join("databases/databases.yaml"), "[]\n").expect("it is written");
    let config = format!("listen: 127.0.0.1:0\nadmin_secret: {SECRET}\nmetadata: metadata\n");
    let config = folder.write("weir.yaml", &config);
    let mut serve = command();
    serve
        .arg("serve")
        .arg(config)
        .env("HASURA_GRAPHQL_DATABASE_URL", database.url())
        .env_remove("ARCHIVE_URL");
    if name == WITHOUT_PG_DUMP {
        serve.env("PATH", folder.file("nothing"));
    }
    let mut replay = Replay { documents, weir: Weir::run(&mut serve, folder), id: None };
    let first =
        json!({ "allow_inconsistent_metadata": true, "metadata": documents.metadata(&told.before.metadata) });
    assert_eq!(replay.command("replace_metadata", &first).status, 200, "{name}");
    if told.before.cli_state != json!({}) {
        let state = json!({ "type": "cli", "state": told.before.cli_state });
        assert_eq!(replay.command("set_catalog_state", &state).status, 200, "{name}");
    }
    let last = told.conversation.len();
    let mut wrong = Vec::new();
    for (at, step) in told.conversation.iter().enumerate() {
        let difference = replay.difference(step);
        if let Some(difference) = difference.filter(|_| name != FORCED || at + 1 < last) {
            let body = step.body.as_ref().map(Value::to_string).unwrap_or_default();
            wrong.push(format!(
                "{name} {at}: {} {body}\n  got  {difference}\n  want {}",
                step.path, step.answer
            ));
        }
    }
    let state = replay.command("get_catalog_state", &json!({})).json()["cli_state"].clone();
    if state != told.after.cli_state {
        wrong.push(format!("{name}: the state is {state} in the end, not {}", told.after.cli_state));
    }
    let left = replay.command("export_metadata", &json!({})).json();
    let expected = match told.after.metadata.as_str() {
        Some(name) => documents.metadata(name),
        None => told.after.metadata,
    };
    if left != expected {
        wrong.push(format!("{name}: the metadata is {left} in the end"));
    }
    wrong
}

/// Plays the conversations whose names begin so.
fn play_all(beginnings: &[&str]) {
    let documents = documents();
    let mut wrong = Vec::new();
    for (name, file) in list_recordings() {
        if GROUPS
            .iter()
            .flat_map(|it| *it)
            .filter(|it| name.starts_with(**it))
            .max_by_key(|it| it.len())
            .is_some_and(|it| beginnings.contains(it))
        {
            wrong.extend(play(&documents, &name, &file));
        }
    }
    assert!(wrong.is_empty(), "{} requests are answered otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// Beginnings of names; the longest that fits counts.
const GROUPS: [&[&str]; 4] = [
    &["metadata-", "version", "wrong-", "no-", "init"],
    &["migrate-apply-"],
    &["migrate-", "deploy"],
    &["config-", "scripts-", "seed-"],
];

#[test]
fn metadata_is_applied_exported_and_compared() {
    play_all(GROUPS[0]);
}

#[test]
fn migrations_are_applied() {
    play_all(GROUPS[1]);
}

#[test]
fn migrations_are_made_deleted_and_deployed() {
    play_all(GROUPS[2]);
}

#[test]
fn seeds_and_older_projects_are_served() {
    play_all(GROUPS[3]);
}

#[test]
fn every_conversation_is_played() {
    let all = list_recordings();
    let requests = all.values().map(|it| {
        let told: Conversation = serde_json::from_str(&read(it)).expect("it is a conversation");
        told.conversation.len()
    });
    assert_eq!((all.len(), requests.sum::<usize>()), (74, 846));
    for name in all.keys() {
        assert!(GROUPS.iter().flat_map(|it| *it).any(|it| name.starts_with(it)), "{name} is in no group");
    }
}
