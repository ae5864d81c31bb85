//! A Weir in front of another by `@graphql`: its schema is asked for at the start, or as soon as it answers.

mod support;

use support::{Folder, Weir, command, until};

/// A Weir whose graph is what the server at `address` has, with `pets_` before its names.
fn before(address: std::net::SocketAddr) -> Weir {
    let folder = Folder::new();
    let text = format!(
        "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\"])
           @graphql(url: \"http://{address}/graphql\", prefix: \"pets_\")"
    );
    let file = folder.write("services.graphql", &text);
    Weir::start(&["serve", file.to_str().unwrap(), "--listen", "127.0.0.1:0"], folder)
}

const QUESTION: &str = "{ pets_pet(where: {name: {_eq: \"Ada\"}}) { name __typename } }";

#[test]
fn a_server_behind_another_answers_through_it() {
    let pets = Weir::pets(&[]);
    let direct = pets.query("{ pet(limit: 2, order_by: {name: asc}) { name } }").text().to_owned();
    let weir = before(pets.address);
    let through = weir.query("{ pets_pet(limit: 2, order_by: {name: asc}) { name } }").text().to_owned();
    assert_eq!(through, direct.replace("\"pet\"", "\"pets_pet\""));
    assert!(weir.query(QUESTION).text().contains("pets_pet"), "{}", weir.query(QUESTION).text());
}

#[test]
fn a_server_that_is_down_at_the_start_joins_the_graph_when_it_answers() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let weir = before(address);
    assert!(
        weir.get("/readyz", &[]).text().contains("services/pets_"),
        "{}",
        weir.get("/readyz", &[]).text()
    );
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let _pets = Weir::start(&["serve", &target, "--listen", &address.to_string()], folder);
    until("the server's fields are there", || weir.query(QUESTION).json()["data"]["pets_pet"].is_array());
}

#[test]
fn a_description_of_a_grpc_server_is_printed_as_types() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/grpc/shop.proto");
    let printed = command().args(["import", "proto", file]).output().unwrap();
    let expected = std::fs::read_to_string(file.replace(".proto", ".graphql")).unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected);
    let none = command().args(["import", "proto", "nowhere.proto"]).output().unwrap();
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("nowhere.proto"));
}
