//! A server with few files that it may have open: clients that hold connections lock nobody out, and take nothing from databases.
#![cfg(target_os = "linux")]

use crate::live_slow::metric;
use crate::support::{Folder, Weir};
use std::net::TcpStream;
use std::process::Command;

/// Serves the pets with the soft and hard limit `limits`, under `clients` who connect and say nothing.
fn check(limits: &str, raised: &str, clients: usize) {
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let mut command = Command::new("prlimit");
    command.env_remove("WEIR_ADMIN_SECRET").env_remove("HASURA_GRAPHQL_ADMIN_SECRET");
    command.args([&format!("--nofile={limits}"), env!("CARGO_BIN_EXE_weir"), "serve", &target]);
    let weir = Weir::run(command.args(["--listen", "127.0.0.1:0"]), folder);
    let of_process = std::fs::read_to_string(format!("/proc/{}/limits", weir.child.id())).expect("it runs");
    let line = of_process.lines().find_map(|it| it.strip_prefix("Max open files")).expect("one of files");
    assert_eq!(line.split_whitespace().next(), Some(raised), "{line}");
    let silent: Vec<TcpStream> = (0..clients).map(|_| weir.connect()).collect();
    // The first write opens files, and a read on each thread.
    let write = "mutation { insert_pet_one(object: {id: 9, name: \"Dee\"}) { name } }";
    assert_eq!(weir.query(write).text(), r#"{"data":{"insert_pet_one":{"name":"Dee"}}}"#);
    for _ in 0..20 {
        let found = weir.query("{ pet_by_pk(id: 9) { name } }");
        assert_eq!(found.text(), r#"{"data":{"pet_by_pk":{"name":"Dee"}}}"#);
        assert!(weir.query("{ pet_aggregate { aggregate { count } } }").text().contains("4"));
    }
    assert!(metric(&weir, "weir_connections_evicted_total") > 0);
    drop(silent);
}

#[test]
fn idle_clients_leave_descriptors_to_databases() {
    check("64:200", "200", 400);
}

#[test]
fn without_descriptors_the_longest_idle_connection_is_closed() {
    check("64:64", "64", 200);
}
