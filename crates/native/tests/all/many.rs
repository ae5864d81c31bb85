//! More objects than fit into memory as anything but their numbers are deleted in one transaction.

use crate::kit;

/// Deletes all by `mutation` from a store that `sql` has filled.
fn check(sdl: &str, sql: &str, mutation: &str, expected: &str, left: &str) {
    let served = kit::serve(sdl, sql);
    assert_eq!(served.ask(&format!("mutation {{ {mutation} }}"), ""), expected);
    let count = |it: &str| served.beside.query_row(it, [], |row| row.get::<_, i64>(0)).expect("it is there");
    assert_eq!(count(left), 0);
}

/// A row of `table` for each number up to `last`.
fn fill(table: &str, from: i64, last: i64) -> String {
    format!(
        "INSERT INTO {table} WITH RECURSIVE n(id) AS (SELECT {from} UNION ALL SELECT id + 1 FROM n WHERE id < {last}) \
         SELECT n.* FROM n;"
    )
}

#[test]
fn a_million_objects_and_more_are_deleted_at_once() {
    check(
        "type Mote { id: ID!, size: Int }",
        &fill("Mote (id)", 1, 1_000_020),
        "deleteMote(filter: {}) { msg numUids }",
        r#"{"data":{"deleteMote":{"msg":"Deleted","numUids":1000020}}}"#,
        "SELECT count(*) FROM Mote",
    );
}

#[test]
fn those_that_are_shown_are_fewer() {
    let sdl = "type Mote { id: ID!, size: Int }";
    let served = kit::serve(sdl, &fill("Mote (id)", 1, 1_000_001));
    let answer = served.ask("mutation { deleteMote(filter: {}) { mote { id } } }", "");
    assert!(answer.contains("more than 1000000 objects in one mutation"), "{answer}");
    assert!(answer.contains("LIMIT_OBJECTS"), "{answer}");
}

#[test]
fn objects_of_an_interface_are_deleted_in_parts() {
    let sql = fill("Cat (id)", 1, 60_000)
        + &fill("Dog (id)", 60_001, 60_010)
        + "INSERT INTO Animal SELECT id, 'Cat' FROM Cat; INSERT INTO Animal SELECT id, 'Dog' FROM Dog";
    check(
        "interface Animal { id: ID!, size: Int } type Cat implements Animal { lives: Int } type Dog implements Animal { breed: String }",
        &sql,
        "deleteAnimal(filter: {}) { numUids }",
        r#"{"data":{"deleteAnimal":{"numUids":60010}}}"#,
        "SELECT (SELECT count(*) FROM Cat) + (SELECT count(*) FROM Dog) + (SELECT count(*) FROM Animal)",
    );
}
