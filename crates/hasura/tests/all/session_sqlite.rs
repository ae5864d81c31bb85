//! The session inside a file of SQLite: the row of `hdb_session`, for triggers alone.

use crate::answer_kit::ask_whole;
use crate::kit::{Served, serve};
use futures_util::future::join_all;
use weir_engine::caller::{Claims, Identity, Token};

/// A trigger as a program with an old SQLite would have it.
const AUDITED: &str = "
CREATE TABLE hdb_session (value TEXT);
CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE audit (id INTEGER, session TEXT);
CREATE TRIGGER early BEFORE INSERT ON thing BEGIN INSERT INTO audit VALUES (NEW.id, json((SELECT value FROM hdb_session))); END;
CREATE TRIGGER late AFTER UPDATE ON thing BEGIN INSERT INTO audit VALUES (NEW.id, json((SELECT value FROM hdb_session))); END;
";

async fn ask(served: &Served, role: &str, id: &str, query: &str) -> String {
    let variables = [("x-hasura-user-id".to_owned(), id.to_owned())];
    let claims = Claims::new(variables, Token::Absent).into();
    let identity = Identity { role: role.into(), is_backend: true, is_anonymous: false, claims };
    ask_whole(&served.engine, &identity, query).await
}

fn noted(served: &Served) -> Vec<String> {
    let mut statement = served
        .beside
        .prepare("SELECT id || ': ' || coalesce(session, 'nobody') FROM audit ORDER BY rowid")
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn session_row(served: &Served) -> Option<String> {
    served.beside.query_row("SELECT max(value) FROM hdb_session", [], |row| row.get(0)).unwrap()
}

fn said(id: u32, user: u32) -> String {
    format!(r#"{id}: {{"x-hasura-role":"admin","x-hasura-user-id":"{user}"}}"#)
}

#[tokio::test]
async fn each_mutation_of_a_group_has_its_own_session_and_others_have_none() {
    let served = serve(AUDITED);
    let insert = |id: u32| format!("mutation {{ insert_thing_one(object: {{id: {id}}}) {{ id }} }}");
    let queries: Vec<(String, String)> = (1..=20).map(|id| (id.to_string(), insert(id))).collect();
    join_all(queries.iter().map(|(id, query)| ask(&served, "admin", id, query))).await;
    let mut found = noted(&served);
    found.sort_by_key(|it| it.split(':').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(found, (1..=20).map(|id| said(id, id)).collect::<Vec<_>>());
    assert_eq!(session_row(&served), None);
    served.beside.execute_batch("DELETE FROM audit; INSERT INTO thing VALUES (99, NULL)").unwrap();
    assert_eq!(noted(&served), ["99: nobody"]);
}

#[tokio::test]
async fn a_mutation_that_fails_leaves_no_session() {
    let served = serve(AUDITED);
    let both = "mutation { insert_thing_one(object: {id: 1}) { id } again: insert_thing_one(object: {id: 1}) { id } }";
    assert!(ask(&served, "admin", "7", both).await.contains("errors"));
    assert_eq!((noted(&served), session_row(&served)), (Vec::new(), None));
    let change = r#"mutation { insert_thing_one(object: {id: 2}) { id } update_thing(where: {id: {_eq: 2}}, _set: {name: "b"}) { affected_rows } }"#;
    assert!(ask(&served, "admin", "8", change).await.contains("\"affected_rows\":1"));
    assert_eq!(noted(&served), [said(2, 8), said(2, 8)]);
}

#[tokio::test]
async fn no_schema_shows_the_row_and_a_table_that_comes_later_is_found() {
    let served = serve("CREATE TABLE thing (id INTEGER PRIMARY KEY)");
    let one = "mutation { insert_thing_one(object: {id: 1}) { id } }";
    assert!(ask(&served, "admin", "7", one).await.contains("data"));
    let later = "CREATE TABLE hdb_session (value TEXT); CREATE TABLE audit (id, session);
        CREATE TRIGGER late AFTER INSERT ON thing BEGIN INSERT INTO audit VALUES (NEW.id, (SELECT value FROM hdb_session)); END;";
    served.beside.execute_batch(later).unwrap();
    assert!(ask(&served, "admin", "7", &one.replace("id: 1", "id: 2")).await.contains("data"));
    assert_eq!(noted(&served), [said(2, 7)]);
    let hidden = serve(AUDITED);
    let schema = ask(&hidden, "admin", "7", "{ __schema { types { name } } }").await;
    assert!(schema.contains("\"thing\"") && !schema.contains("hdb_session"), "{schema}");
}
