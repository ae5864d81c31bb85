//! A store that its server may not write: what can be read is, what cannot is said with a remedy.
#![cfg(unix)]

use crate::support::{Folder, Weir, command};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Nobody, to whom rights apply.
const NOBODY: u32 = 65534;

/// Sets the rights of `folder`, and those of its files.
fn set_rights(folder: &Path, of_folder: u32, of_files: u32) {
    fs::set_permissions(folder, Permissions::from_mode(of_folder)).expect("it is ours");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::set_permissions(path, Permissions::from_mode(of_files)).expect("it is ours");
    }
}

/// Weir as a user who may not write what is in `folder`: the one of this test, unless everything is allowed to that one.
fn reader_of(source: &str, folder: &Path) -> Command {
    set_rights(folder, 0o555, 0o444);
    let mut command = command();
    if fs::write(folder.join("probe"), "").is_ok() {
        fs::remove_file(folder.join("probe")).expect("it was made");
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(folder).args(["serve", source, "--listen", "127.0.0.1:0"]);
    command
}

fn reader(folder: &Path) -> Command {
    reader_of("shop.graphql", folder)
}

/// A folder with a store of one type that has one object; nothing of it is in a log.
fn shop() -> Folder {
    let folder = Folder::new();
    folder.write("shop.graphql", "type Dish { id: ID! name: String! @search(by: [hash]) }");
    folder.write("Dish.ndjson", "{\"name\":\"Pho\"}\n");
    let import = ["import", "Dish.ndjson", "--into", "shop.graphql"];
    assert!(command().current_dir(&folder.0).args(import).status().expect("it runs").success());
    let store = rusqlite::Connection::open(folder.file("shop.weir.db")).expect("the store opens");
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("nobody else has it open");
    store.close().expect("it closes");
    assert!(!folder.file("shop.weir.db-wal").exists(), "who closes it last removes the log");
    folder
}

/// Message of a Weir that does not start.
fn complaint(folder: &Folder) -> String {
    let output = reader(&folder.0).output().expect("the binary starts");
    set_rights(&folder.0, 0o755, 0o644);
    assert!(!output.status.success(), "it serves");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_store_that_another_server_writes_is_read_by_one_that_may_not() {
    let folder = shop();
    let path = folder.0.clone();
    let log = Folder::new();
    let arguments = ["serve", "shop.graphql", "--listen", "127.0.0.1:0"];
    let writer = Weir::run(command().current_dir(&path).args(arguments), log);
    let add = |name: &str| format!("mutation {{ addDish(input: [{{name: \"{name}\"}}]) {{ numUids }} }}");
    assert_eq!(writer.query(&add("Pie")).text(), r#"{"data":{"addDish":{"numUids":1}}}"#);
    // It is not brought to another format by who may not write it.
    let store = rusqlite::Connection::open(folder.file("shop.weir.db")).expect("the store opens");
    store.execute_batch("UPDATE weir_store SET format = 2").expect("the statement is right");
    let reading = Weir::run(&mut reader(&path), Folder::new());
    let query = "{ queryDish { name } }";
    assert_eq!(reading.query(query).text(), r#"{"data":{"queryDish":[{"name":"Pho"},{"name":"Pie"}]}}"#);
    let refused = reading.query(&add("Dal"));
    let refused = refused.text();
    assert!(refused.contains("READ_ONLY") && refused.ends_with(r#""data":{"addDish":null}}"#), "{refused}");
    assert_eq!(writer.query(&add("Dal")).text(), r#"{"data":{"addDish":{"numUids":1}}}"#);
    let after = r#"{"data":{"queryDish":[{"name":"Pho"},{"name":"Pie"},{"name":"Dal"}]}}"#;
    assert_eq!(reading.query(query).text(), after);
    set_rights(&path, 0o755, 0o644);
}

#[test]
fn a_server_that_cannot_read_without_writing_says_what_it_needs() {
    let folder = shop();
    let remedy = "write the file and its folder";
    let closed = complaint(&folder);
    assert!(closed.contains("shop.weir.db") && closed.contains(remedy), "{closed}");
    fs::remove_file(folder.file("shop.weir.db")).expect("it is there");
    let absent = complaint(&folder);
    assert!(absent.contains("unable to open") && absent.contains(remedy), "{absent}");
}

/// The pets, in WAL mode without a log.
fn pets_in_wal_mode(folder: &Folder) {
    let pets = rusqlite::Connection::open(folder.pets()).expect("it opens");
    pets.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("the statement is right");
    pets.close().expect("it closes");
}

#[test]
fn a_file_in_wal_mode_on_a_medium_that_nobody_writes_is_read() {
    let folder = Folder::new();
    pets_in_wal_mode(&folder);
    // A file system of the server alone, which cannot be written once the file is there.
    let medium = folder.file("medium ?");
    fs::create_dir(&medium).expect("a folder can be made");
    let script = "mount -t tmpfs medium \"$1\" && cp pets.db \"$1\" && mount -o remount,ro \"$1\" && cd \"$1\" \
        && exec \"$2\" serve sqlite:pets.db --listen 127.0.0.1:0";
    let mut serve = Command::new("unshare");
    serve.current_dir(&folder.0).args(["-r", "-m", "sh", "-c", script, "sh"]);
    serve.arg(&medium).arg(command().get_program());
    let weir = Weir::run(&mut serve, Folder::new());
    let query = "{ pet(order_by: {id: asc}) { name } }";
    let rows = r#"{"data":{"pet":[{"name":"Ada"},{"name":"Bob"},{"name":"Cyd"}]}}"#;
    assert_eq!(weir.query(query).text(), rows);
    let refused = weir.query("mutation { delete_pet(where: {}) { affected_rows } }");
    assert!(refused.text().contains(r#""code":"READ_ONLY""#), "{}", refused.text());
    assert_eq!(weir.query(query).text(), rows);
}

#[test]
fn a_file_in_wal_mode_that_another_may_write_says_what_it_needs() {
    let folder = Folder::new();
    pets_in_wal_mode(&folder);
    let output = reader_of("sqlite:pets.db", &folder.0).output().expect("the binary starts");
    set_rights(&folder.0, 0o755, 0o644);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && words.contains("it is in WAL mode"), "{words}");
    assert!(words.contains("PRAGMA journal_mode = DELETE"), "{words}");
}

#[test]
fn a_file_in_a_folder_that_may_not_be_written_is_read() {
    for of_file in [0o444, 0o666] {
        let folder = Folder::new();
        let before = fs::read(folder.pets()).expect("it was made");
        let mut command = reader_of("sqlite:pets.db", &folder.0);
        fs::set_permissions(folder.file("pets.db"), Permissions::from_mode(of_file)).expect("it is ours");
        let weir = Weir::run(&mut command, Folder::new());
        let query = "{ pet(order_by: {id: asc}) { name } }";
        let rows = r#"{"data":{"pet":[{"name":"Ada"},{"name":"Bob"},{"name":"Cyd"}]}}"#;
        assert_eq!(weir.query(query).text(), rows);
        let refused = weir.query("mutation { delete_pet(where: {}) { affected_rows } }");
        assert!(refused.text().contains(r#""code":"READ_ONLY""#), "{of_file:o}: {}", refused.text());
        assert_eq!(weir.query(query).text(), rows);
        drop(weir);
        set_rights(&folder.0, 0o755, 0o644);
        assert_eq!(fs::read(folder.file("pets.db")).expect("it is there"), before);
    }
}
