//! Files into a store and out again: every kind of value and edge, in every format, equal; and what is not taken.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use weir_native::layout::Database;
use weir_native::store::{Place, Types, bring};
use weir_native::transfer::export::export;
use weir_native::transfer::{Format, Hooks, Mapping, Report, Source, load};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-transfer-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn store(&self, name: &str, sdl: &str) -> Place {
        let place = Place::Sqlite(self.0.join(name));
        bring(&place, &Types::read(sdl, Database::Sqlite).unwrap()).unwrap();
        place
    }
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
    fn rows(&self, store: &str, sql: &str) -> String {
        let database = rusqlite::Connection::open(self.0.join(store)).unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let width = statement.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            (0..width)
                .map(|at| row.get::<_, rusqlite::types::Value>(at))
                .map(|it| match it? {
                    rusqlite::types::Value::Null => Ok("-".to_owned()),
                    rusqlite::types::Value::Integer(it) => Ok(it.to_string()),
                    rusqlite::types::Value::Real(it) => Ok(it.to_string()),
                    rusqlite::types::Value::Text(it) => Ok(it),
                    rusqlite::types::Value::Blob(_) => Ok("blob".to_owned()),
                })
                .collect::<rusqlite::Result<Vec<String>>>()
        };
        let rows = statement.query_map([], |row| Ok(line(row)?.join("|"))).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join(";")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn source(path: &Path, target: Option<&str>) -> Source {
    let mapping = Mapping { target: target.map(str::to_owned), columns: Vec::new() };
    Source { path: path.to_owned(), format: Format::of(path).unwrap(), mapping }
}

/// Loads files and gives the report and what was not taken.
fn loaded(place: &Place, sources: &[Source]) -> (Report, Vec<String>) {
    let mut rejects = Vec::new();
    let mut reject = |it: &weir_native::transfer::Reject| {
        let file = Path::new(&it.file).file_name().unwrap().to_string_lossy().into_owned();
        rejects.push(format!("{file}:{}: {}", it.line, it.why));
    };
    let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut reject };
    let report = load(place, sources, &mut hooks).unwrap();
    (report, rejects)
}

fn exported(place: &Place, format: Format, folder: &Path) -> Vec<PathBuf> {
    let ending = match format {
        Format::Ndjson => "ndjson",
        Format::Csv => "csv",
        Format::Nquads => "rdf",
    };
    let mut files = Vec::new();
    let mut open = |ty: &str| -> std::io::Result<Box<dyn std::io::Write>> {
        let path = folder.join(format!("{ty}.{ending}"));
        files.push(path.clone());
        Ok(Box::new(std::fs::File::create(path)?))
    };
    export(place, format, None, &mut open, &mut |_| {}).unwrap();
    files
}

/// Every kind of value and of edge.
const ALL: &str = r#"
interface Place { id: ID!, name: String! @search(by: [term]), code: String @id(interface: true), near: Place, tags: [String] @search(by: [exact]) }
type Bar implements Place { seats: Int, open: Boolean!, mood: Mood, moods: [Mood], since: DateTime, days: [DateTime], numbers: [Int64], visits: [Visit] @hasInverse(field: at) }
type Club implements Place { big: Int64, loud: Float, at: Point @search, area: Polygon, areas: MultiPolygon, friends: [Club], owner: Person }
type Person @secret(field: "pwd") { nick: String! @id, club: Club @hasInverse(field: owner), likes: [Thing] }
type Visit { at: Bar, by: Person, note: String @search(by: [fulltext]) }
union Thing = Bar | Club
enum Mood { DARK BRIGHT }
"#;

const DATA: &str = r#"{"__typename":"Bar","__id":"0x10","name":"Zoë's \"Bar\"","code":"a","open":true,"seats":3,"mood":"DARK","moods":["BRIGHT","DARK"],"since":"2020-01-02T03:04:05+01:00","days":["2020-01-01"],"numbers":[9007199254740993,-1],"tags":["x, y",""],"near":"0x20"}
{"__typename":"Bar","__id":"0x11","name":"","open":false}
{"__typename":"Club","__id":"0x20","name":"Line\nbreak","code":"b","big":9223372036854775807,"loud":1e300,"at":{"longitude":1.5,"latitude":-2.25},"area":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]},"areas":{"type":"MultiPolygon","coordinates":[[[[0,0],[0,2],[2,2],[0,0]]]]},"friends":["0x21"],"near":"0x10","owner":{"nick":"ada"}}
{"__typename":"Club","__id":"0x21","name":"\u2028 tab\t\\"}
{"__typename":"Person","__id":"0x30","nick":"ada","pwd":"$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA","likes":["0x10","0x21"]}
{"__typename":"Visit","__id":"0x40","at":"0x10","by":{"nick":"ada"},"note":"was there"}
{"__typename":"Visit","at":"0x11","by":{"__id":"0x30"}}
"#;

#[test]
fn what_goes_out_comes_in_again_equal() {
    let folder = Folder::new();
    let first = folder.store("first.db", ALL);
    let file = folder.write("all.ndjson", DATA);
    let (report, rejects) = loaded(&first, &[source(&file, None)]);
    assert_eq!((report.objects, rejects), (7, Vec::new()));
    let expected = std::fs::read_to_string(&exported(&first, Format::Ndjson, &folder.0)[1]).unwrap();
    assert!(expected.contains(r#""big":9223372036854775807,"loud":1e300"#), "{expected}");
    for format in [Format::Ndjson, Format::Csv, Format::Nquads] {
        let name = format!("{format:?}.db");
        let copy = folder.store(&name, ALL);
        let files = exported(&first, format, &folder.0);
        let sources: Vec<Source> = files.iter().map(|it| source(it, None)).collect();
        let (report, rejects) = loaded(&copy, &sources);
        assert_eq!((report.objects, rejects), (7, Vec::new()), "{format:?}");
        for table in folder.rows("first.db", TABLES).split(';') {
            let sql = format!("SELECT * FROM \"{table}\" ORDER BY 1, 2");
            assert_eq!(folder.rows(&name, &sql), folder.rows("first.db", &sql), "{format:?}: {table}");
        }
        assert_eq!(folder.rows(&name, "PRAGMA foreign_key_check"), "");
        assert_eq!(folder.rows(&name, "SELECT rowid FROM Bar_name_terms('zoe')"), "16");
        assert_eq!(folder.rows(&name, "SELECT next_id FROM weir_store"), "66");
        assert_eq!(folder.rows(&name, "SELECT count(*) FROM weir_builds"), "0");
    }
}

/// Tables with rows of people.
const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%' AND name NOT LIKE 'weir_%'";

/// Loads one file and compares what was not taken.
fn check(sdl: &str, name: &str, text: &str, target: Option<&str>, objects: u64, expected: &[&str]) {
    let folder = Folder::new();
    let place = folder.store("a.db", sdl);
    let file = folder.write(name, text);
    let (report, rejects) = loaded(&place, &[source(&file, target)]);
    assert_eq!(rejects, expected, "{text}");
    assert_eq!((report.objects, report.rejects), (objects, expected.len() as u64), "{text}");
    assert_eq!(folder.rows("a.db", "PRAGMA foreign_key_check"), "");
}

const COOKS: &str = "type Cook { id: ID!, name: String! @id, age: Int, dishes: [Dish] @hasInverse(field: cook) } \
                     type Dish { id: ID!, name: String!, cook: Cook, at: DateTime! @default(add: {value: \"$now\"}) }";

#[test]
fn lines_that_break_a_rule_are_named() {
    check(
        COOKS,
        "cook.ndjson",
        "{\"id\":1,\"name\":\"ada\"}\n{\"id\":2,\"name\":\"ada\"}\n\n{\"id\":1,\"name\":\"bob\"}\n{\"age\":1}\n{\"name\":\"c\",\"age\":3000000000}\n\
         {\"name\":\"d\",\"agee\":3}\n{\"name\":5}\n{\"name\":\nnull\n{\"id\":\"x\",\"name\":\"e\"}\n",
        None,
        1,
        &[
            "cook.ndjson:6: age: `3000000000` is no Int",
            "cook.ndjson:7: `agee` is no field of `Cook`; map it to one, or to null to leave it out",
            "cook.ndjson:8: name: `5` is no String",
            "cook.ndjson:9: unexpected end at byte 8",
            "cook.ndjson:10: a line has to hold a JSON object",
            "cook.ndjson:11: id: `x` is no ID",
            "cook.ndjson:2: `Cook.name` is taken already",
            "cook.ndjson:4: `Cook.id` is taken already",
            "cook.ndjson:5: `name` needs a value",
        ],
    );
}

#[test]
fn edges_that_lead_nowhere_are_named_and_the_objects_stay() {
    check(
        COOKS,
        "all.ndjson",
        "{\"__typename\":\"Dish\",\"name\":\"pho\",\"cook\":\"0x99\"}\n{\"__typename\":\"Dish\",\"name\":\"pie\",\"cook\":{\"name\":\"bob\"}}\n\
         {\"__typename\":\"Dish\",\"name\":\"tea\",\"cook\":{\"name\":\"ada\"}}\n{\"__typename\":\"Cook\",\"id\":7,\"name\":\"ada\",\"dishes\":[\"0x77\"]}\n",
        None,
        4,
        &[
            "all.ndjson:4: Cook.dishes: there is no `Dish` 0x77",
            "all.ndjson:1: Dish.cook: there is no `Cook` 0x99",
            "all.ndjson:2: Dish.cook: there is no `Cook` with name \"bob\"",
        ],
    );
}

#[test]
fn a_number_names_one_object_over_all_types() {
    check(
        COOKS,
        "all.ndjson",
        "{\"__typename\":\"Cook\",\"id\":7,\"name\":\"ada\"}\n{\"__typename\":\"Dish\",\"id\":7,\"name\":\"pho\"}\n",
        None,
        1,
        &["all.ndjson:2: 0x7 is the ID of a `Cook`"],
    );
}

#[test]
fn a_number_that_leaves_none_for_new_objects_is_not_taken() {
    let too_great = |id: &str| {
        format!("`{id}` is greater than 0x3fffffffffffffff: no numbers would be left for new objects")
    };
    check(
        COOKS,
        "cook.csv",
        "id,name\n0x3fffffffffffffff,ada\n,bob\n0x4000000000000000,c\n9223372036854775807,d\n0xffffffffffffffff,e\n",
        None,
        2,
        &[
            &format!("cook.csv:4: {}", too_great("0x4000000000000000")),
            &format!("cook.csv:5: {}", too_great("9223372036854775807")),
            &format!("cook.csv:6: {}", too_great("0xffffffffffffffff")),
        ],
    );
    check(
        COOKS,
        "g01.rdf",
        "<0x7fffffffffffffff> <dgraph.type> \"Cook\" .\n",
        None,
        0,
        &[&format!("g01.rdf:1: {}", too_great("0x7fffffffffffffff"))],
    );
}

#[test]
fn columns_are_found_by_field_and_by_column_of_the_table() {
    check(
        COOKS,
        "cook.csv",
        "id,name,age\n1,\"a \"\"b\"\"\nc\",3\n2,,4\n0x3,c\n",
        None,
        1,
        &["cook.csv:5: 2 fields where the first line has 3", "cook.csv:4: `name` needs a value"],
    );
    check(COOKS, "dish.csv", "ID,NAME,cook_id\n1,pho,\n", None, 1, &[]);
}

#[test]
fn statements_of_an_object_may_stand_anywhere() {
    check(
        COOKS,
        "g01.rdf",
        "<0x1> <dgraph.type> \"Dish\" .\n<0x2> <Cook.name> \"ada\" .\n<0x2> <Cook.dishes> <0x1> .\n<0x1> <Dish.name> \"pho\"^^<xs:string> .\n\
         <0x3> <Dish.name> \"lost\" .\n<0x2> <dgraph.type> \"Cook\" .\n<0x2> <Cook.age> \"x\" .\n",
        None,
        1,
        &[
            "g01.rdf:2: Cook.age: `x` is no Int",
            "g01.rdf:5: 0x3 has no dgraph.type",
            "g01.rdf:1: Dish.cook: there is no `Cook` 0x2",
        ],
    );
}
