//! The example of roles: its metadata, its tokens, and what its README says of each caller.

use crate::support::{Folder, Weir, body, command};
use std::path::{Path, PathBuf};
use std::process::Command;

const SECRET: &str = "the secret of the example";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet")
}

/// The example in a folder of its own.
fn fleet() -> Weir {
    let folder = Folder::new();
    copy(&example(), &folder.0);
    let database = rusqlite::Connection::open(folder.file("fleet.db")).unwrap();
    database.execute_batch(&std::fs::read_to_string(example().join("schema.sql")).unwrap()).unwrap();
    let checked = command().arg("check").current_dir(&folder.0).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let arguments = ["serve", "weir.yaml", "--listen", "127.0.0.1:0"];
    let mut command = command();
    command.args(arguments).current_dir(&folder.0);
    Weir::run(&mut command, folder)
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else if entry.path().extension().is_none_or(|it| it != "db") {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The header with a token of `ann` for these roles.
fn bearer(roles: &[&str]) -> String {
    let token = Command::new(example().join("token.sh")).arg("ann").args(roles).output().unwrap();
    assert!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
    format!("Bearer {}", String::from_utf8(token.stdout).unwrap().trim())
}

#[track_caller]
fn check(weir: &Weir, headers: &[(&str, &str)], query: &str, expected: &str) {
    let answer = weir.post("/v1/graphql", headers, body(query).as_bytes());
    assert_eq!(answer.text(), expected, "{query}");
}

#[test]
fn each_caller_of_the_example_sees_what_its_readme_says() {
    let weir = fleet();
    let secret = ("x-hasura-admin-secret", SECRET);
    let boats = "{ boat { name owner } }";
    let all = r#"{"data":{"boat":[{"name":"Ada","owner":"ann"},{"name":"Bel","owner":"ben"},{"name":"Cid","owner":null},{"name":"Dot","owner":"ann"}]}}"#;
    let hers = r#"{"data":{"boat":[{"name":"Ada","owner":"ann"},{"name":"Dot","owner":"ann"}]}}"#;
    check(&weir, &[secret], boats, all);
    let tried = [secret, ("x-hasura-role", "sailor"), ("x-hasura-user-id", "ann")];
    check(&weir, &tried, boats, hers);
    let sailor = bearer(&["sailor", "trader"]);
    let ann = ("authorization", sailor.as_str());
    check(&weir, &[ann], boats, hers);
    check(
        &weir,
        &[ann, ("x-hasura-role", "trader")],
        "{ boat(order_by: {number: asc}) { name owner price } }",
        r#"{"data":{"boat":[{"name":"Ada","owner":"ann","price":10},{"name":"Bel","owner":null,"price":90},{"name":"Dot","owner":"ann","price":null}]}}"#,
    );
    check(
        &weir,
        &[ann, ("x-hasura-role", "buyer")],
        boats,
        r#"{"errors":[{"message":"Your requested role is not in allowed roles","extensions":{"path":"$","code":"access-denied"}}]}"#,
    );
    check(&weir, &[], "{ harbour { name } }", r#"{"data":{"harbour":[{"name":"Oslo"},{"name":"Rio"}]}}"#);
    check(
        &weir,
        &[],
        boats,
        r#"{"errors":[{"message":"field 'boat' not found in type: 'query_root'","extensions":{"path":"$.selectionSet.boat","code":"validation-failed"}}]}"#,
    );
    let insert = |price: u32| {
        format!(
            r#"mutation {{ insert_boat_one(object: {{number: "N-5", name: "Eva", price: {price}, harbour_code: "OSL"}}) {{ owner }} }}"#
        )
    };
    check(
        &weir,
        &[ann],
        &insert(5000),
        r#"{"errors":[{"message":"check constraint of an insert/update permission has failed","extensions":{"path":"$.selectionSet.insert_boat_one.args.object","code":"permission-error"}}]}"#,
    );
    check(&weir, &[ann], &insert(50), r#"{"data":{"insert_boat_one":{"owner":"ann"}}}"#);
}
