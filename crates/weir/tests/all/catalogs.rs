//! `/admin/catalog` and `/admin/schema/plan`: what a source has, on SQLite, PostgreSQL and in a native store, and who may ask.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, message};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const TABLES: &str = "
CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'it''s new', price INTEGER CONSTRAINT dear CHECK (price > 9),
  harbour_id INTEGER NOT NULL REFERENCES harbour (id) ON DELETE CASCADE, twice INTEGER GENERATED ALWAYS AS (price * 2) STORED);
CREATE TABLE berth (b TEXT NOT NULL, a TEXT NOT NULL, PRIMARY KEY (a, b));
CREATE TABLE rope (b TEXT, a TEXT, FOREIGN KEY (a, b) REFERENCES berth (a, b));
CREATE INDEX by_price ON boat (price);
CREATE VIEW names AS SELECT name FROM boat;
";

const OF_SQLITE: &str = "CREATE TRIGGER bell AFTER INSERT ON boat BEGIN SELECT 1; END;";

const OF_POSTGRES: &str = "
CREATE FUNCTION ring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER bell AFTER INSERT ON boat FOR EACH ROW EXECUTE FUNCTION ring();
CREATE FUNCTION label(it boat) RETURNS text LANGUAGE sql STABLE AS $$ SELECT it.name $$;
CREATE FUNCTION dear_boats(lowest integer) RETURNS SETOF boat LANGUAGE sql STABLE AS $$ SELECT * FROM boat WHERE price >= lowest $$;
COMMENT ON TABLE boat IS 'floats';
COMMENT ON COLUMN boat.price IS 'in crowns';
CREATE SCHEMA store;
CREATE TABLE store.rope (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
";

fn serve(folder: Folder, url: &str) -> Weir {
    let yaml =
        format!("listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - {{name: main, url: \"{url}\"}}\n");
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

fn sqlite(more: &str) -> Weir {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file("boats.db")).unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection.execute_batch(OF_SQLITE).unwrap();
    connection.execute_batch(more).unwrap();
    serve(folder, "sqlite:boats.db")
}

fn ask(weir: &Weir, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    weir.post(path, headers, body.to_string().as_bytes())
}

fn catalog(weir: &Weir) -> Value {
    let answer = ask(weir, "/admin/catalog", &[SECRET], &json!({"source": "main"}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let catalog = answer.json();
    assert_eq!((&catalog["kind"], &catalog["unread"]), (&json!("database"), &json!([])));
    catalog
}

fn table<'c>(catalog: &'c Value, name: &str) -> &'c Value {
    let tables = catalog["tables"].as_array().unwrap();
    tables
        .iter()
        .find(|it| it["name"] == name && it["schema"] != "store")
        .unwrap_or_else(|| panic!("{name}: {catalog}"))
}

/// The member `key` of all items in the list `list` of a table.
fn all(table: &Value, list: &str, key: &str) -> Value {
    table[list].as_array().unwrap().iter().map(|it| it[key].clone()).collect()
}

/// Checks the parts of the catalog that both databases tell alike.
fn check_shared_parts(catalog: &Value) {
    let boat = table(catalog, "boat");
    assert_eq!(all(boat, "columns", "name"), json!(["id", "name", "price", "harbour_id", "twice"]));
    assert_eq!(all(boat, "columns", "nullable"), json!([false, true, true, false, true]));
    assert_eq!(boat["columns"][0]["default"], json!(null));
    assert!(boat["columns"][1]["default"].as_str().unwrap().starts_with("'it''s new'"), "{boat}");
    assert!(boat["columns"][4]["generated"].is_string() && boat["columns"][4]["default"].is_null(), "{boat}");
    assert_eq!(all(boat, "triggers", "name"), json!(["bell"]));
    assert!(all(boat, "indexes", "name").as_array().unwrap().contains(&json!("by_price")), "{boat}");
    let check = boat["constraints"].as_array().unwrap().iter().find(|it| it["kind"] == "check").unwrap();
    assert_eq!(check["name"], "dear");
    assert!(check["definition"].as_str().unwrap().contains("price > 9"), "{check}");
    let key = &boat["foreignKeys"][0];
    assert_eq!(
        (&key["columns"], &key["targetColumns"], &key["table"]["name"]),
        (&json!(["harbour_id"]), &json!(["id"]), &json!("harbour"))
    );
    assert!(key["definition"].as_str().unwrap().contains("ON DELETE CASCADE"), "{key}");
    // Columns of a key stand in its order, which is not that of the table.
    let rope = &table(catalog, "rope")["foreignKeys"][0];
    assert_eq!((&rope["columns"], &rope["targetColumns"]), (&json!(["a", "b"]), &json!(["a", "b"])));
    assert_eq!(table(catalog, "berth")["constraints"][0]["columns"], json!(["a", "b"]));
    let kinds: Vec<_> = all(table(catalog, "harbour"), "constraints", "kind").as_array().unwrap().clone();
    assert_eq!(kinds, [json!("primary key"), json!("unique")]);
    let view = table(catalog, "names");
    assert_eq!((&view["kind"], &all(view, "columns", "name")), (&json!("view"), &json!(["name"])));
    assert!(view["definition"].as_str().unwrap().contains("SELECT"), "{view}");
}

#[test]
fn a_file_tells_its_tables_whole() {
    let weir = sqlite("");
    let catalog = catalog(&weir);
    check_shared_parts(&catalog);
    assert_eq!(
        (&table(&catalog, "boat")["columns"][4]["generated"], &catalog["functions"]),
        (&json!("stored"), &json!([]))
    );
    assert!(!catalog.to_string().contains("sqlite_sequence"), "{catalog}");
}

#[test]
fn a_view_that_leads_nowhere_hides_no_columns_of_tables() {
    let weir =
        sqlite("CREATE TABLE gone (id INTEGER); CREATE VIEW lost AS SELECT id FROM gone; DROP TABLE gone;");
    let answer = ask(&weir, "/admin/catalog", &[SECRET], &json!({"source": "main"}));
    let catalog = answer.json();
    assert_eq!(all(table(&catalog, "harbour"), "columns", "name"), json!(["id", "name"]));
    assert_eq!(table(&catalog, "lost")["kind"], "view");
    assert_eq!(catalog["unread"].as_array().map(Vec::len), Some(1), "{catalog}");
}

#[test]
fn a_server_tells_its_tables_functions_and_comments() {
    let database = database(&format!("{TABLES}{OF_POSTGRES}"));
    let weir = serve(Folder::new(), &database.url());
    let catalog = catalog(&weir);
    check_shared_parts(&catalog);
    let boat = table(&catalog, "boat");
    assert_eq!((&boat["comment"], &boat["columns"][2]["comment"]), (&json!("floats"), &json!("in crowns")));
    let stored = catalog["tables"].as_array().unwrap().iter().find(|it| it["schema"] == "store").unwrap();
    assert_eq!((&stored["name"], &stored["columns"][0]["identity"]), (&json!("rope"), &json!("always")));
    let functions = catalog["functions"].as_array().unwrap();
    let of = |name: &str| functions.iter().find(|it| it["name"] == name);
    let dear = of("dear_boats").unwrap();
    assert_eq!(
        (&dear["returnsTable"]["name"], &dear["isSet"], &dear["volatility"]),
        (&json!("boat"), &json!(true), &json!("stable"))
    );
    let label = of("label").unwrap();
    assert_eq!((&label["argumentTables"][0]["name"], &label["returnsTable"]), (&json!("boat"), &json!(null)));
    assert!(of("ring").is_none(), "{functions:?}");
}

const DISHES: &str = "type Dish { name: String! @id, price: Float }";

#[test]
fn a_plan_is_told_and_changes_nothing() {
    let folder = Folder::new();
    folder.write("dishes.graphql", DISHES);
    let file = folder.write(
        "weir.yaml",
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources: [{name: main, native: dishes.graphql}]\n",
    );
    let weir = Weir::by_file(&file, folder);
    let added = weir.post(
        "/graphql",
        &[SECRET],
        br#"{"query":"mutation { addDish(input: [{name: \"Pie\", price: 3}]) { numUids } }"}"#,
    );
    assert_eq!(added.status, 200, "{}", added.text());
    let told = ask(&weir, "/admin/catalog", &[SECRET], &json!({"source": "main"})).json();
    assert_eq!((&told["kind"], &told["sdl"]), (&json!("native"), &json!(DISHES)));
    let plan = |sdl: &str, more: Value| {
        let mut asked = json!({"source": "main", "sdl": sdl});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&weir, "/admin/schema/plan", &[SECRET], &asked)
    };
    assert_eq!(plan(DISHES, json!({})).json()["nothing"], true);
    let more = plan(&DISHES.replace("price", "note: String, price"), json!({})).json();
    assert_eq!(
        (&more["changes"], &more["refusals"]),
        (&json!(["add field `Dish.note: String`"]), &json!([]))
    );
    assert!(more["statements"].to_string().contains("ADD COLUMN"), "{more}");
    let less = DISHES.replace(", price: Float", "");
    let refused = plan(&less, json!({})).json();
    assert_eq!(refused["refusals"][0]["allow"], "Dish.price", "{refused}");
    let allowed = plan(&less, json!({"allow_data_loss": ["Dish.price"]})).json();
    assert_eq!(
        (&allowed["refusals"], &allowed["changes"]),
        (&json!([]), &json!(["drop field `Dish.price`"]))
    );
    let wrong = plan("type Dish { name: Strin }", json!({}));
    assert_eq!((wrong.status, wrong.code().as_str()), (422, "SCHEMA_INVALID"), "{}", wrong.text());
    for more in [
        json!({"allow_data_loss": "Dish.price"}),
        json!({"allow_data_loss": [1]}),
        json!({"sdl": 7}),
        json!({"source": "none"}),
    ] {
        assert_eq!(plan(DISHES, more.clone()).status, 400, "{more}");
    }
    // After all of this the file, the store and the service are what they were.
    let found = weir.post("/graphql", &[SECRET], br#"{"query":"{ queryDish { name price } }"}"#);
    assert_eq!(found.json()["data"]["queryDish"], json!([{"name": "Pie", "price": 3}]));
    assert_eq!(std::fs::read_to_string(weir.folder().file("dishes.graphql")).unwrap(), DISHES);
}

#[test]
fn nobody_but_an_operator_asks_for_a_catalog_or_a_plan() {
    let weir = sqlite("");
    let own = json!({"source": "main", "sdl": DISHES});
    for path in ["/admin/catalog", "/admin/schema/plan"] {
        for headers in [
            &[][..],
            &[("x-hasura-admin-secret", "husk")],
            &[SECRET, ("x-hasura-role", "user")],
            &[SECRET, ("origin", "http://evil.example")],
            &[SECRET, ("origin", "null")],
        ] {
            let answer = ask(&weir, path, headers, &own);
            assert!(matches!(answer.status, 401 | 403), "{path} {headers:?}: {}", answer.text());
            assert!(!answer.text().contains("harbour"), "{}", answer.text());
        }
        let body = own.to_string();
        let plain = weir.raw(&message(
            "POST",
            path,
            &[SECRET, ("content-type", "text/plain")],
            Some(body.as_bytes()),
        ));
        assert_eq!(plain.status, 415, "{}", plain.text());
    }
    let no_types = ask(&weir, "/admin/schema/plan", &[SECRET], &own);
    assert_eq!(
        (no_types.status, &no_types.json()["errors"][0]["message"]),
        (400, &json!("`main` has no types of its own"))
    );
    let nameless = ask(&weir, "/admin/catalog", &[SECRET], &json!({"source": ""}));
    assert_eq!(nameless.status, 400, "{}", nameless.text());
}

#[test]
fn with_an_admin_listener_the_public_one_tells_nothing() {
    let weir = Weir::pets(&["--admin-listen", "127.0.0.1:0"]);
    for path in ["/admin/catalog", "/admin/schema/plan"] {
        assert_eq!(ask(&weir, path, &[], &json!({"source": "main"})).status, 404, "{path}");
    }
}
