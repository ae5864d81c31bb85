//! A receiver of events, and servers with event triggers on both databases.

use crate::postgres_kit::Database;
use crate::support::{Answer, Folder, Weir, until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
pub(crate) const SUCCESS: &str = r#"{"message":"success"}"#;

/// A call that came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

#[derive(Default)]
struct Heard {
    calls: Vec<Call>,
    /// Answers by path, each used once but the last: a head behind `HTTP/1.1`, without the length.
    answers: HashMap<String, Vec<String>>,
    /// Paths that never answer.
    silent: Vec<String>,
}

/// A webhook on loopback, which ends with the test.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        Self::at("127.0.0.1:0".parse().expect("an address"))
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).expect("it listens");
        let address = listener.local_addr().expect("it has an address");
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let known = Arc::clone(&heard);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let known = Arc::clone(&known);
                std::thread::spawn(move || drop(serve(socket, &known)));
            }
        });
        Self { address, heard }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers calls of `path` one after the other; the last answer stays.
    pub(crate) fn answer(&self, path: &str, answers: &[&str]) {
        let answers = answers.iter().map(|it| (*it).to_owned()).collect();
        self.heard.lock().expect("no panic").answers.insert(path.to_owned(), answers);
    }

    /// Never answers calls of `path`.
    pub(crate) fn hang(&self, path: &str) {
        self.heard.lock().expect("no panic").silent.push(path.to_owned());
    }

    pub(crate) fn calls(&self, path: &str) -> Vec<Call> {
        self.heard.lock().expect("no panic").calls.iter().filter(|it| it.path == path).cloned().collect()
    }

    /// Waits for `count` calls of `path`.
    pub(crate) fn wait(&self, path: &str, count: usize) -> Vec<Call> {
        until(&format!("{count} calls of {path}"), || self.calls(path).len() >= count);
        self.calls(path)
    }
}

fn serve(socket: TcpStream, known: &Mutex<Heard>) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    loop {
        let mut line = String::new();
        if socket.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            socket.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        socket.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let answer = {
            let mut heard = known.lock().expect("no panic");
            heard.calls.push(Call { path: path.clone(), headers, body, at: Instant::now() });
            if heard.silent.contains(&path) {
                None
            } else {
                let list = heard.answers.entry(path).or_insert_with(|| vec!["200 OK".to_owned()]);
                Some(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
            }
        };
        let Some(answer) = answer else {
            std::thread::park();
            return Ok(());
        };
        write!(socket.get_mut(), "HTTP/1.1 {answer}\r\ncontent-length: 2\r\n\r\nok")?;
    }
}

/// The database of a server.
pub(crate) enum Store {
    Sqlite(std::path::PathBuf),
    Postgres(Database),
}

impl Store {
    /// Runs SQL as another program would.
    pub(crate) fn run(&self, sql: &str) {
        match self {
            Self::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("it is opened");
                connection.busy_timeout(Duration::from_secs(10)).expect("it is set");
                connection.execute_batch(sql).expect(sql);
            }
            Self::Postgres(database) => drop(database.run(sql)),
        }
    }

    /// The first column of the rows, as text.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("it is opened");
                let mut statement = connection.prepare(sql).expect(sql);
                let text = |row: &rusqlite::Row<'_>| {
                    Ok(match row.get_ref(0)? {
                        rusqlite::types::ValueRef::Null => String::new(),
                        rusqlite::types::ValueRef::Integer(it) => it.to_string(),
                        rusqlite::types::ValueRef::Real(it) => it.to_string(),
                        rusqlite::types::ValueRef::Text(it) | rusqlite::types::ValueRef::Blob(it) => {
                            String::from_utf8_lossy(it).into_owned()
                        }
                    })
                };
                let rows = statement.query_map([], text).expect(sql);
                rows.map(|it| it.expect("a row")).collect()
            }
            Self::Postgres(database) => database.run(sql).lines().map(str::to_owned).collect(),
        }
    }

    /// The table of events.
    pub(crate) fn log(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "hdb_event_log",
            Self::Postgres(_) => "hdb_catalog.event_log",
        }
    }

    /// The table of calls.
    pub(crate) fn calls(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "hdb_event_invocation_logs",
            Self::Postgres(_) => "hdb_catalog.event_invocation_logs",
        }
    }
}

/// Tables of a shop.
pub(crate) const SHOP: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, total NUMERIC); CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)";

/// Writes metadata of one source with the tables of a shop, whose orders have `triggers`.
pub(crate) fn write_shop(folder: &Folder, store: &Store, triggers: &Value) {
    let root = folder.file("metadata");
    std::fs::create_dir_all(root.join("databases")).expect("a folder can be made");
    std::fs::write(root.join("version.yaml"), "version: 3\n").expect("it is written");
    let (kind, url) = match store {
        Store::Sqlite(path) => ("sqlite", format!("sqlite:{}", path.display())),
        Store::Postgres(database) => ("postgres", database.socket_url()),
    };
    let source = json!([{
        "name": "default", "kind": kind, "configuration": { "connection_info": { "database_url": url } },
        "tables": [
            { "table": { "schema": "public", "name": "orders" }, "event_triggers": triggers },
            { "table": { "schema": "public", "name": "notes" } },
        ],
    }]);
    std::fs::write(root.join("databases/databases.yaml"), source.to_string()).expect("it is written");
}

/// A store of the shop in a file.
pub(crate) fn sqlite_shop(folder: &Folder) -> Store {
    let path = folder.file("shop.db");
    rusqlite::Connection::open(&path).expect("it is made").execute_batch(SHOP).expect("tables are made");
    Store::Sqlite(path)
}

/// A server with the shop, whose orders have `triggers`; `yaml` is more of weir.yaml.
pub(crate) fn serve_shop(folder: Folder, store: &Store, triggers: &Value, yaml: &str) -> Weir {
    serve_shop_with(folder, store, triggers, yaml, &[])
}

/// The same with variables of the environment.
pub(crate) fn serve_shop_with(
    folder: Folder,
    store: &Store,
    triggers: &Value,
    yaml: &str,
    variables: &[(&str, &str)],
) -> Weir {
    write_shop(&folder, store, triggers);
    let text = format!("listen: 127.0.0.1:0\nthreads: 1\nadmin_secret: hush\nmetadata: metadata\n{yaml}");
    let file = folder.write("weir.yaml", &text);
    let mut command = crate::support::command();
    command.args(["serve", file.to_str().expect("it is UTF-8")]).envs(variables.iter().copied());
    Weir::run(&mut command, folder)
}

/// A trigger of all operations.
pub(crate) fn trigger(name: &str, url: &str) -> Value {
    json!({
        "name": name, "webhook": url, "retry_conf": { "interval_sec": 1, "num_retries": 0, "timeout_sec": 5 },
        "definition": { "enable_manual": true, "insert": { "columns": "*" }, "update": { "columns": "*" }, "delete": { "columns": "*" } },
    })
}

pub(crate) fn command(weir: &Weir, name: &str, args: Value) -> Answer {
    weir.post("/v1/metadata", &[SECRET], json!({ "type": name, "args": args }).to_string().as_bytes())
}

/// Runs a command that succeeds, and returns its answer.
pub(crate) fn run(weir: &Weir, name: &str, args: Value) -> Value {
    let answer = command(weir, name, args);
    assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    answer.json()
}

/// Runs a command that is refused with this code and message.
pub(crate) fn check_refusal(weir: &Weir, name: &str, args: Value, code: &str, message: &str) {
    let answer = command(weir, name, args);
    let error = answer.json();
    assert_eq!((answer.status, error["code"].as_str()), (400, Some(code)), "{name}: {error}");
    assert_eq!(error["error"].as_str(), Some(message), "{name}");
}
