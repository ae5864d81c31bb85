//! Small projects, one for each part that public projects of Hasura have: what `weir check` reports of each, and that it serves.

use crate::postgres_kit::{Database, database};
use crate::support::{Folder, Weir, command};
use std::path::Path;
use std::process::Command;

const PROJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/projects");
const SCHEMA: &str = include_str!("../../../../tests/projects/schema.sql");

/// The names of the folders.
fn list_projects() -> Vec<String> {
    let entries = std::fs::read_dir(PROJECTS).expect("the folder is there").flatten();
    let mut names: Vec<String> =
        entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    assert!(names.len() >= 13, "{names:?}");
    names
}

/// Gives a command the variables that the projects name.
fn set_variables<'c>(command: &'c mut Command, database: &Database, remote: &Weir) -> &'c mut Command {
    command
        .env("PROJECT_DATABASE_URL", database.url())
        .env("PROJECT_HANDLER", "http://127.0.0.1:1")
        .env("PROJECT_KEY", "key")
        .env("PROJECT_REMOTE", format!("http://{}", remote.address))
        .env("PROJECT_PLACES", format!("http://{}/graphql", remote.address))
}

/// The server of the remote schema.
fn serve_remote() -> Weir {
    let folder = Folder::new();
    let services =
        std::fs::read_to_string(Path::new(PROJECTS).join("payments.graphql")).expect("it is there");
    folder.write("payments.graphql", &services);
    let file = folder
        .write("weir.yaml", "listen: 127.0.0.1:0\nsources: [{name: payments, file: payments.graphql}]\n");
    Weir::by_file(&file, folder)
}

/// Checks the report of the project `name`, or writes it anew.
fn check_report(name: &str, remote: &Weir) -> Result<(), String> {
    let database = database(SCHEMA);
    let metadata = Path::new(PROJECTS).join(name).join("metadata");
    let mut command = command();
    command.args(["check", "--metadata"]).arg(&metadata);
    let output = set_variables(&mut command, &database, remote).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let report = said.find("report: ").map_or("", |at| &said[at..]);
    let report = report.replace(&format!("{}/", metadata.display()), "");
    let report = format!("exit {}\n{report}", output.status.code().unwrap_or(-1));
    let file = Path::new(PROJECTS).join(name).join("report.txt");
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&file, &report).expect("it can be written");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    if report == expected {
        Ok(())
    } else {
        Err(format!("{name}: {report}\ninstead of\n{expected}\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}

#[test]
fn each_kind_of_project_is_reported_as_it_is_served() {
    let remote = serve_remote();
    let faults: Vec<String> =
        list_projects().iter().filter_map(|it| check_report(it, &remote).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn each_kind_of_project_is_exported_as_it_was_written() {
    let remote = serve_remote();
    let database = database(SCHEMA);
    for name in list_projects() {
        let metadata = Path::new(PROJECTS).join(&name).join("metadata");
        let folder = Folder::new();
        let mut command = command();
        command
            .args(["metadata", "export", "--to", "again", "--metadata"])
            .arg(&metadata)
            .current_dir(folder.file(""));
        let output = set_variables(&mut command, &database, &remote).output().expect("it runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |path: &Path| {
            let document = weir_metadata::read::path(path).expect("it is read").document;
            weir_metadata::export::json(&document).expect("it can be written")
        };
        assert_eq!(read(&folder.file("again")), read(&metadata), "{name}");
    }
}
