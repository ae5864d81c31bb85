//! A folder with every feature, as `hasura metadata export` writes it: served from PostgreSQL, from a file of SQLite, and written back.

use crate::postgres_kit::chinook;
use crate::support::{Folder, Weir, body, command};
use std::path::{Path, PathBuf};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hasura_folder");

/// Tables that the folder names beside those of Chinook.
const MORE: &str = "CREATE TABLE mood (name TEXT PRIMARY KEY, comment TEXT); INSERT INTO mood VALUES ('calm', NULL), ('loud', 'with bass')";
const FUNCTIONS: &str = "CREATE FUNCTION artist_label(\"Artist\") RETURNS text LANGUAGE sql STABLE AS $$ SELECT upper($1.\"Name\") $$; \
                         CREATE FUNCTION albums_named(word text) RETURNS SETOF \"Album\" LANGUAGE sql STABLE AS $$ SELECT * FROM \"Album\" WHERE \"Title\" LIKE '%' || word || '%' $$";

/// Copies the folder to where it can be changed.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("it is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            _ = std::fs::copy(entry.path(), target).expect("it can be copied")
        }
    }
}

/// The folder in `folder`, and a weir.yaml beside it.
fn moved_in(folder: &Folder, url: &str) -> PathBuf {
    copy(Path::new(FOLDER), &folder.file("metadata"));
    let own = if url.starts_with("postgres") {
        String::new()
    } else {
        format!("sources: [{{name: default, url: {url}}}]\n")
    };
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\noperations: {{allow_list: true}}\n{own}"
    );
    folder.write("weir.yaml", &yaml)
}

fn ask(weir: &Weir, role: &[(&str, &str)], query: &str) -> String {
    let mut headers = vec![SECRET];
    headers.extend_from_slice(role);
    weir.post("/v1/graphql", &headers, body(query).as_bytes()).text().to_owned()
}

/// Checks that hold for every database.
fn serves(weir: &Weir) {
    assert_eq!(
        ask(
            weir,
            &[],
            "{ musician(ArtistId: 1) { called albums(order_by: {AlbumId: asc}, limit: 1) { Title artist { ArtistId } } } }"
        ),
        r#"{"data":{"musician":{"called":"AC/DC","albums":[{"Title":"For Those About To Rock We Salute You","artist":{"ArtistId":1}}]}}}"#
    );
    assert_eq!(
        ask(weir, &[], "{ Customer_by_pk(CustomerId: 1) { support { EmployeeId } } }"),
        r#"{"data":{"Customer_by_pk":{"support":{"EmployeeId":3}}}}"#
    );
    assert_eq!(
        ask(weir, &[], "{ mood(order_by: {name: asc}) { name } }"),
        r#"{"data":{"mood":[{"name":"calm"},{"name":"loud"}]}}"#
    );
    // The allow list holds for roles.
    let listener = [("x-hasura-role", "listener")];
    assert!(ask(weir, &listener, "{ Album(limit: 1) { Title } }").contains("query is not allowed"));
    let saved = "query album($id: Int!) { Album_by_pk(AlbumId: $id) { Title } }";
    let asked = serde_json::json!({ "query": saved, "variables": { "id": 4 } }).to_string();
    let answer = weir.post("/v1/graphql", &[SECRET, listener[0]], asked.as_bytes());
    assert_eq!(answer.text(), r#"{"data":{"Album_by_pk":{"Title":"Let There Be Rock"}}}"#);
    let rest = weir.get("/api/rest/album/4", &[SECRET]);
    assert_eq!(rest.text(), r#"{"Album_by_pk":{"Title":"Let There Be Rock"}}"#);
    assert_eq!(weir.get("/api/rest/gone", &[SECRET]).status, 404);
    assert!(weir.get("/healthz", &[]).text().contains("WARN"));
}

/// All that is told of the folder; `more` are the parts of one database.
fn tells(said: &str, more: &[&str]) {
    let parts = [
        "in relationship \"weather\": remote schema with name \"weather\" is not found",
        "HTTP exception occurred while sending the request to \"http://localhost:9/graphql\"",
        "in table \"Track\": in relationship \"genre\": table `Genre` is not tracked",
        "`unique_params` is `IP`, or a list of session variables",
        "in query \"lost\": Cannot query field \"Nothing\"",
        "query with name \"gone\" does not exist in the collection \"saved\"",
    ];
    for part in parts.iter().chain(more) {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn a_whole_folder_is_served_from_its_server_and_exported_as_it_was() {
    let database = chinook();
    database.run(&format!("{MORE}; {FUNCTIONS}"));
    let folder = Folder::new();
    let file = moved_in(&folder, &database.url());
    let checked =
        command().args(["check"]).arg(&file).env("CHINOOK_URL", database.url()).output().expect("it runs");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    tells(&said, &[]);
    assert_eq!(
        (checked.status.code(), said.lines().filter(|it| it.starts_with("error: ")).count()),
        (Some(1), 6),
        "{said}"
    );
    let mut serve = command();
    serve.arg("serve").arg(&file).env("CHINOOK_URL", database.url());
    let weir = Weir::run(&mut serve, folder);
    serves(&weir);
    assert_eq!(
        ask(
            &weir,
            &[],
            "{ albumsNamed(args: {word: \"Jagged\"}) { Title } musician(ArtistId: 1) { label } }"
        ),
        r#"{"data":{"albumsNamed":[{"Title":"Jagged Little Pill"}],"musician":{"label":"AC/DC"}}}"#
    );
    let export =
        |weir: &Weir| weir.post("/v1/metadata", &[SECRET], br#"{"type":"export_metadata","args":{}}"#).json();
    let before = export(&weir);
    let reload = serde_json::json!({ "type": "replace_metadata", "args": { "metadata": before, "allow_inconsistent_metadata": true } });
    let replaced = weir.post("/v1/metadata", &[SECRET], reload.to_string().as_bytes());
    assert_eq!(replaced.text(), r#"{"message":"success"}"#);
    assert_eq!(export(&weir), before);
    let read = |path: &Path| {
        let document = weir_metadata::read::path(path).expect("it is read").document;
        weir_metadata::export::json(&document).expect("it can be written")
    };
    assert_eq!(read(&weir.folder().file("metadata")), read(Path::new(FOLDER)));
    serves(&weir);
}

#[test]
fn a_whole_folder_is_served_from_a_file() {
    let folder = Folder::new();
    let sql = include_str!("../../../../examples/chinook/chinook.sql");
    let connection = rusqlite::Connection::open(folder.file("chinook.db")).expect("SQLite makes a file");
    connection.execute_batch(&format!("{sql};{MORE}")).expect("the statements are right");
    let file = moved_in(&folder, "chinook.db");
    let checked = command().args(["check"]).arg(&file).output().expect("it runs");
    tells(
        &String::from_utf8_lossy(&checked.stderr),
        &[
            "albums_named",
            "in computed field \"label\": this database has no functions",
            "in permission for role \"editor\"",
        ],
    );
    let weir = Weir::by_file(&file, folder);
    serves(&weir);
    let editor = [("x-hasura-role", "editor"), ("x-hasura-artist-id", "1")];
    assert!(ask(&weir, &editor, "{ musicians { called } }").contains("query is not allowed"));
}
