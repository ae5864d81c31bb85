//! The example of a store: its README is followed, request by request, with the services that stand around it.

mod deploy;

use crate::cluster_kit::await_port;
use crate::hasura_cli::compact;
use crate::port_kit::free_port;
use crate::support::{Folder, Weir, body, command, read, until};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "the secret of the example");

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store")
}

/// The mock of what stands around the shop. Ends with the test.
struct Services {
    child: Child,
    address: SocketAddr,
}

impl Services {
    fn start() -> Self {
        let port = free_port();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut command = command();
        command.arg("mock").arg(example().join("services.yaml")).args(["--listen", &address.to_string()]);
        let child = command.stdout(Stdio::null()).spawn().expect("the binary starts");
        await_port(port);
        Self { child, address }
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        // One that has ended is as it should be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The example with all that `serve.sh` starts.
struct Store {
    services: Services,
    carriers: Weir,
    weir: Weir,
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Serves `target` beside `services`, and beside `carriers` if it needs them.
fn serve(target: &str, services: &Services, carriers: Option<&Weir>, folder: Folder) -> Weir {
    let mut command = command();
    command.args(["serve", target, "--listen", "127.0.0.1:0"]).current_dir(&folder.0);
    command.env("STORE_MAIL_KEY", "the key of the example").env("STORE_SERVICES", url(services.address));
    command.envs(carriers.map(|it| ("STORE_CARRIERS", url(it.address))));
    Weir::run(&mut command, folder)
}

impl Store {
    fn open() -> Self {
        let services = Services::start();
        let file = example().join("carriers.graphql").display().to_string();
        let carriers = serve(&file, &services, None, Folder::new());
        let folder = Folder::new();
        let database = rusqlite::Connection::open(folder.file("store.db")).expect("SQLite makes a file");
        database.execute_batch(&read(&example().join("store.sql"))).expect("the statements are right");
        drop(database);
        folder.write("weir.yaml", &read(&example().join("weir.yaml")));
        copy(&example().join("metadata"), &folder.file("metadata"));
        let weir = serve("weir.yaml", &services, Some(&carriers), folder);
        Self { services, carriers, weir }
    }

    /// The output of `request`, a line of the README.
    fn run(&self, request: &str) -> String {
        let (function, rest) = request.split_once(' ').unwrap_or((request, ""));
        let (before, quoted) = rest.split_once('\'').unwrap_or((rest, ""));
        let text = quoted.trim_end_matches('\'');
        let answer = match function {
            "ask" => {
                let headers = [SECRET, ("x-hasura-role", before.trim()), ("x-hasura-user-id", "1")];
                let query = text.replace("\\\"", "\"");
                self.weir.post("/v1/graphql", &headers, body(&query).as_bytes())
            }
            "tell" => self.weir.post("/v1/metadata", &[SECRET], text.as_bytes()),
            _ => panic!("the README has no function `{function}`"),
        };
        // PostgreSQL has blanks in its documents, SQLite has none.
        compact(answer.text())
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("it is a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("it can be copied");
        }
    }
}

/// True if `answer` is `expected`, in which `…` stands for anything.
fn fits(answer: &str, expected: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = answer.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// Makes each request of the README and compares its answer.
fn follow_readme(store: &Store) {
    let readme = read(&example().join("README.md"));
    let lines: Vec<&str> = readme.lines().collect();
    let asked: Vec<(&str, &str)> =
        lines.windows(2).filter_map(|it| Some((it[0].strip_prefix("$ ")?, it[1]))).collect();
    // Counts of the mock are for people to see; Weir's log says which events were delivered.
    let asked: Vec<(&str, &str)> = asked.into_iter().filter(|it| it.0 != "called").collect();
    assert_eq!(asked.len(), 10);
    for (request, expected) in asked {
        let mut answer = store.run(request);
        if request.contains("\"get_") || request.contains("\"pg_get_") {
            // Events are stored ahead and delivered a moment later.
            until(&format!("{request} shows {expected}"), || {
                answer = store.run(request);
                fits(&answer, expected)
            });
        }
        assert!(fits(&answer, expected), "{request}: {answer}");
    }
}

#[test]
fn each_request_of_the_readme_is_answered_as_it_says() {
    let store = Store::open();
    follow_readme(&store);
    // A report of the cron trigger that is due.
    let file = store.weir.folder().file(".metadata.weir-state/state.db");
    let state = rusqlite::Connection::open(file).expect("it is opened");
    let due = "UPDATE hdb_cron_events SET scheduled_time = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-1 seconds') \
               WHERE id = (SELECT id FROM hdb_cron_events ORDER BY scheduled_time LIMIT 1)";
    assert_eq!(state.execute(due, []).expect("it is changed"), 1);
    let delivered = r#"tell '{"type": "get_scheduled_events", "args": {"type": "cron", "trigger_name": "daily_report", "status": ["delivered"]}}'"#;
    until("the report is delivered", || store.run(delivered).contains(r#""status":"delivered""#));
}

#[test]
fn all_of_the_project_is_served() {
    let store = Store::open();
    let checked = command()
        .args(["check", "weir.yaml"])
        .current_dir(&store.weir.folder().0)
        .env("STORE_SERVICES", url(store.services.address))
        .env("STORE_CARRIERS", url(store.carriers.address))
        .env("STORE_MAIL_KEY", "the key of the example")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{said}");
    assert!(said.contains("state: file ") && said.contains("run in one process only"), "{said}");
    assert!(said.ends_with("report: differs: nothing\nreport: not served: nothing\n"), "{said}");
    // The script starts what the test does.
    let script = read(&example().join("serve.sh"));
    for line in ["mock services.yaml --listen", "serve carriers.graphql --listen", "serve \"$@\""] {
        assert!(script.contains(&format!("\"$weir\" {line}")), "{line}");
    }
}
