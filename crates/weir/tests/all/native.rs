//! Native sources from the outside: a store is made, changed while it is served, filled, saved; and whoever is killed meanwhile
//! leaves what can be gone on with.

use crate::support::{Folder, Weir, command, read, until};
use std::fmt::Write;
use std::path::Path;
use std::process::{Output, Stdio};

const SHOP: &str = "type Dish { id: ID!, name: String! @search(by: [term]), price: Float, cook: Cook }\n\
                    type Cook { name: String! @id, dishes: [Dish] @hasInverse(field: cook) }\n";

fn weir(folder: &Folder, arguments: &[&str]) -> Output {
    command().current_dir(&folder.0).args(arguments).output().expect("the binary starts")
}

fn check(output: &Output, ok: bool, part: &str) {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() == ok && text.contains(part), "{part}: {text}");
}

fn serve_folder(folder: Folder) -> Weir {
    let file = folder.file("shop.graphql");
    Weir::start(&["serve", file.to_str().expect("it is UTF-8"), "--listen", "127.0.0.1:0"], folder)
}

/// Rows of one number or text.
fn rows(file: &Path, sql: &str) -> String {
    let database = rusqlite::Connection::open(file).expect("the store opens");
    let mut statement = database.prepare(sql).expect("the statement is right");
    let rows = statement.query_map([], |row| row.get::<_, rusqlite::types::Value>(0)).expect("it runs");
    let text = |value| match value {
        rusqlite::types::Value::Integer(it) => it.to_string(),
        rusqlite::types::Value::Text(it) => it,
        other => format!("{other:?}"),
    };
    rows.map(|it| text(it.expect("a row"))).collect::<Vec<_>>().join(";")
}

/// So many dishes, each of one of ten cooks, one line each.
fn dishes(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let cook = 1 + at % 10;
        writeln!(
            text,
            "{{\"id\":{},\"name\":\"dish {at}\",\"price\":{at}.5,\"cook\":\"{cook:#x}\"}}",
            at + 100
        )
        .expect("a string takes all");
    }
    text
}

fn cooks() -> String {
    (1..=10).fold(String::new(), |text, id| format!("{text}{{\"__id\":{id},\"name\":\"cook {id}\"}}\n"))
}

#[test]
fn a_text_of_types_is_enough_to_be_served() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", "{\"name\":\"Pho with mint\",\"price\":7.5}\n{\"name\":\"Pie\"}\n");
    check(
        &weir(&folder, &["import", "Dish.ndjson", "--into", "shop.graphql"]),
        true,
        "loaded 2 objects into shop.weir.db",
    );
    let weir = serve_folder(folder);
    let answer = weir.query("{ queryDish(filter: {name: {anyofterms: \"mint\"}}) { name price } }");
    assert_eq!(answer.text(), r#"{"data":{"queryDish":[{"name":"Pho with mint","price":7.5}]}}"#);
}

#[test]
fn the_file_of_rejects_is_that_of_the_last_import() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    let import = |file: &str| weir(&folder, &["import", file, "--into", "shop.graphql"]);
    folder.write("Dish.ndjson", "{\"name\":5}\n{\"name\":6}\n");
    check(&import("Dish.ndjson"), false, "not taken: 2 objects; see rejects.ndjson");
    let quads = "<0x1> <dgraph.type> \"Dish\" .\n<0x1> <Dish.name> \"Pho\" .\n<0x1> <Dish.mood> \"x\" .\n<0x1> <Dish.year> \"1\" .\n";
    folder.write("g01.rdf", quads);
    let imported = import("g01.rdf");
    check(&imported, false, "loaded 1 object into");
    check(&imported, false, "not taken: 2 statements; see rejects.ndjson");
    for (name, line) in [("mood", 3), ("year", 4)] {
        let words = format!(
            "warning: 1 statement was not taken, because `Dish.{name}` is no field of its object; the first in line {line} of g01.rdf"
        );
        check(&imported, false, &words);
    }
    let rejects = folder.file("rejects.ndjson");
    let text = std::fs::read_to_string(&rejects).expect("it is there");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|it| it.contains("g01.rdf")), "{text}");
    folder.write("Dish.ndjson", "{\"name\":\"Pie\"}\n");
    check(&import("Dish.ndjson"), true, "loaded 1 object into");
    assert!(!rejects.exists(), "nothing was rejected");
}

#[test]
fn types_change_while_they_are_served() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", &dishes(20_000));
    check(
        &weir(&folder, &["import", "Dish.ndjson", "--into", "shop.graphql"]),
        false,
        "not taken: 20000 edges; see rejects.ndjson",
    );
    let weir = serve_folder(folder);
    let more = SHOP.replace("price: Float", "price: Float, note: String @search(by: [fulltext])");
    let more = more.replace("[term]", "[term, fulltext]");
    let answer = weir.post("/admin/schema", &[], more.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let changes = answer.json()["changes"].to_string();
    assert!(changes.contains("add field `Dish.note: String`"), "{changes}");
    // The index of 20,000 names is built behind the server's back.
    until("the index is built", || {
        let answer = weir.query("{ queryDish(filter: {name: {alloftext: \"dishes 77\"}}) { name note } }");
        answer.text() == r#"{"data":{"queryDish":[{"name":"dish 77","note":null}]}}"#
    });
    let answer = weir.post("/admin/schema", &[], SHOP.replace(", price: Float", "").as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (422, "MIGRATION_REFUSED"), "{}", answer.text());
    assert!(
        answer.text().contains("20000 values or objects of `Dish.price` would be lost"),
        "{}",
        answer.text()
    );
    let answer = weir.post("/admin/schema", &[], b"type Dish { name: Strin }");
    assert_eq!((answer.status, answer.code().as_str()), (422, "SCHEMA_INVALID"), "{}", answer.text());
    let less = SHOP.replace(", price: Float", "");
    let of_a_page = [("origin", "https://evil.example")];
    let answer = weir.post("/admin/schema?allow_data_loss=Dish.price", &of_a_page, less.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (403, "ACCESS_DENIED"), "{}", answer.text());
    let answer = weir.post("/admin/schema?allow_data_loss=Dish.price", &[], less.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(read(&weir.folder().file("shop.graphql")), less);
    assert!(weir.query("{ queryDish(first: 1) { price } }").text().contains("GRAPHQL_VALIDATION_FAILED"));
}

#[test]
fn a_plan_is_shown_before_and_refuses_what_would_be_lost() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", "{\"name\":\"Pie\",\"price\":3}\n");
    check(&weir(&folder, &["import", "Dish.ndjson", "--into", "shop.graphql"]), true, "loaded 1 object into");
    folder.write("shop.graphql", &SHOP.replace(", price: Float", ""));
    let refused = "refused: 1 values or objects of `Dish.price` would be lost: allow it by `--allow-data-loss Dish.price`";
    check(&weir(&folder, &["migrate", "shop.graphql", "--plan"]), false, refused);
    check(
        &weir(&folder, &["migrate", "shop.graphql", "--plan", "--store", "none.db"]),
        true,
        "CREATE TABLE \"Dish\"",
    );
    assert!(!folder.file("none.db").exists());
    check(&weir(&folder, &["export", "shop.graphql", "--store", "none.db"]), false, "there is no store yet");
    check(&weir(&folder, &["migrate", "shop.graphql"]), false, refused);
    assert_eq!(rows(&folder.file("shop.weir.db"), "SELECT max(version) FROM weir_versions"), "1");
    let allowed = ["migrate", "shop.graphql", "--allow-data-loss", "Dish.price"];
    check(&weir(&folder, &allowed), true, "drop field `Dish.price`\nshop.weir.db is at version 2");
    check(&weir(&folder, &["migrate", "shop.graphql"]), true, "nothing changes");
}

#[test]
fn a_load_that_is_killed_goes_on_where_it_was() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", &dishes(60_000));
    folder.write("Cook.ndjson", &cooks());
    let store = folder.file("shop.weir.db");
    let arguments = ["import", "Dish.ndjson", "Cook.ndjson", "--into", "shop.graphql"];
    check(&weir(&folder, &["migrate", "shop.graphql"]), true, "add `Dish`");
    for kept in [1, 20_000, 40_000] {
        let mut child = command()
            .current_dir(&folder.0)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        until("enough is loaded", || {
            let loaded = rows(
                &store,
                "SELECT coalesce(max(objects), 0) FROM weir_loads WHERE file LIKE '%/Dish.ndjson'",
            );
            loaded.parse::<usize>().expect("a number") >= kept
                || child.try_wait().is_ok_and(|it| it.is_some())
        });
        // One that has ended already is as good.
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!(rows(&store, "PRAGMA integrity_check"), "ok");
    }
    // Killed again and again, and the last time not: it says how many there are, not how many came now.
    let last = weir(&folder, &arguments);
    let text = String::from_utf8_lossy(&last.stdout).into_owned() + &String::from_utf8_lossy(&last.stderr);
    assert_eq!(
        rows(&store, "SELECT count(*) || ' ' || sum(cook_id) || ' ' || count(DISTINCT name) FROM Dish"),
        "60000 330000 60000",
        "{text}"
    );
    assert_eq!(rows(&store, "SELECT count(*) FROM Dish_name_terms('59999')"), "1");
    assert_eq!(rows(&store, "SELECT count(*) FROM weir_loads"), "0");
    assert_eq!(rows(&store, "SELECT count(*) FROM weir_builds"), "0");
    assert_eq!(rows(&store, "SELECT next_id FROM weir_store"), "60100");
}

#[test]
fn a_migration_that_is_killed_is_whole_or_was_not() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", &dishes(60_000));
    folder.write("Cook.ndjson", &cooks());
    check(
        &weir(&folder, &["import", "Dish.ndjson", "Cook.ndjson", "--into", "shop.graphql"]),
        true,
        "60010 objects",
    );
    let store = folder.file("shop.weir.db");
    let pristine = std::fs::read(&store).expect("the store is a file");
    // A table that is written anew, an edge that moves, a name that changes.
    let new = "type Meal @renamedFrom(name: \"Dish\") { id: ID!, name: String! @search(by: [term]), price: String, vegan: Boolean! @default(add: {value: \"false\"}), cook: [Cook] }\n\
               type Cook { name: String! @id, dishes: [Meal] @hasInverse(field: cook) }\n";
    folder.write("shop.graphql", new);
    let log = folder.file("shop.weir.db-wal");
    for bytes in [1, 1 << 20, 3 << 20, 5 << 20, 7 << 20] {
        std::fs::write(&store, &pristine).expect("the store can be put back");
        let mut child = command()
            .current_dir(&folder.0)
            .args(["migrate", "shop.graphql"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        until("enough is written", || {
            let written = std::fs::metadata(&log).map_or(0, |it| it.len());
            written >= bytes || child.try_wait().is_ok_and(|it| it.is_some())
        });
        let _ = child.kill();
        let _ = child.wait();
        let version = rows(&store, "SELECT max(version) FROM weir_versions");
        let expected = match version.as_str() {
            "1" => "SELECT count(*) || ' ' || sum(cook_id) FROM Dish",
            _ => "SELECT count(*) || ' ' || (SELECT sum(cook_id) FROM Cook_dishes) FROM Meal",
        };
        assert_eq!(rows(&store, expected), "60000 330000");
        assert_eq!(rows(&store, "PRAGMA integrity_check"), "ok");
        check(&weir(&folder, &["migrate", "shop.graphql"]), true, "is at version 2");
        assert_eq!(
            rows(&store, "SELECT count(*) || ' ' || (SELECT sum(cook_id) FROM Cook_dishes) FROM Meal"),
            "60000 330000"
        );
        assert_eq!(rows(&store, "SELECT price || vegan FROM Meal WHERE id = 107"), "7.50");
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", store.display()));
        }
    }
}

#[test]
fn a_copy_is_made_while_the_store_is_served() {
    let folder = Folder::new();
    folder.write("shop.graphql", SHOP);
    folder.write("Dish.ndjson", "{\"name\":\"Pie\",\"price\":3}\n");
    check(&weir(&folder, &["import", "Dish.ndjson", "--into", "shop.graphql"]), true, "loaded 1 object into");
    let server = serve_folder(folder);
    assert!(server.query("{ queryDish { name } }").text().contains("Pie"));
    let folder = server.folder();
    check(
        &weir(folder, &["backup", "monday.db", "shop.graphql"]),
        true,
        "monday.db is a copy of shop.weir.db",
    );
    check(&weir(folder, &["backup", "monday.db", "shop.graphql"]), false, "is there already");
    assert_eq!(rows(&folder.file("monday.db"), "SELECT rowid FROM Dish_name_terms('pie')"), "1");
    let from_copy = ["export", "shop.graphql", "--store", "monday.db"];
    check(
        &weir(folder, &from_copy),
        true,
        "{\"__typename\":\"Dish\",\"__id\":\"0x1\",\"name\":\"Pie\",\"price\":3}\n",
    );
}

#[test]
fn the_types_in_an_export_of_dgraph_are_read_as_they_are() {
    let folder = Folder::new();
    let json = serde_json::json!([{ "Namespace": 0, "Schema": SHOP }]).to_string();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, json.as_bytes()).expect("it is packed");
    let packed = packed.finish().expect("it is packed");
    std::fs::write(folder.file("g01.gql_schema.gz"), packed).expect("it is written");
    folder.write("shop.graphql", &json);
    folder.write("g01.json", "[\n  {\"uid\":\"0x1\",\"namespace\":\"0x0\",\"dgraph.type\":\"Dish\"},\n  {\"uid\":\"0x1\",\"namespace\":\"0x0\",\"Dish.name\":\"Pho\"}\n]\n");
    for types in ["g01.gql_schema.gz", "shop.graphql"] {
        check(&weir(&folder, &["migrate", types, "--plan"]), true, "Dish");
        check(&weir(&folder, &["import", "g01.json", "--into", types]), true, "loaded 1 object into");
    }
    let printed = weir(&folder, &["import", "dgraph", "g01.gql_schema.gz"]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout).trim_end(), SHOP.trim_end());
    folder.write(
        "wrong.graphql",
        &serde_json::json!([{ "Namespace": 0, "Schema": "type A {\n  a: Nope\n}" }]).to_string(),
    );
    check(&weir(&folder, &["migrate", "wrong.graphql", "--plan"]), false, "wrong.graphql:2:6");
    let file = folder.file("g01.gql_schema.gz").display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    let answer = weir.query("{ queryDish { name } }");
    assert_eq!(answer.text(), r#"{"data":{"queryDish":[{"name":"Pho"}]}}"#);
    // A change of the types over HTTP leaves SDL in the file.
    let more = serde_json::json!([{ "Namespace": 0, "Schema": SHOP.replace("price: Float", "price: Float, note: String") }]);
    let changed = weir.post("/admin/schema", &[], more.to_string().as_bytes());
    assert_eq!(changed.status, 200, "{}", changed.text());
    let text = std::fs::read_to_string(weir.folder().file("g01.gql_schema.gz")).expect("it is text now");
    assert!(text.contains("note: String") && !text.starts_with('['), "{text}");
}
