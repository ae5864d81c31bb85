//! Files into a store and out again: every kind of value and edge, in every format, equal; and what is not taken.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use weir_native::layout::Database;
use weir_native::store::{Place, Types, open_and_migrate};
use weir_native::transfer::export::export;
use weir_native::transfer::{Count, Event, Format, Hooks, LoadError, Mapping, Report, Source, load};

/// A folder that goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-transfer-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    pub(crate) fn store(&self, name: &str, sdl: &str) -> Place {
        let place = Place::Sqlite(self.0.join(name));
        open_and_migrate(&place, &Types::read(sdl, Database::Sqlite).unwrap()).unwrap();
        place
    }
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
    pub(crate) fn rows(&self, store: &str, sql: &str) -> String {
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

pub(crate) fn source(path: &Path, target: Option<&str>) -> Source {
    let mapping = Mapping { target: target.map(str::to_owned), columns: Vec::new() };
    Source { path: path.to_owned(), format: Format::of(path).unwrap(), mapping }
}

/// Loads files and gives the report and what was not taken.
pub(crate) fn loaded(place: &Place, sources: &[Source]) -> (Report, Vec<String>) {
    tried(place, sources).unwrap()
}

/// As [`loaded`], where it may fail.
fn tried(place: &Place, sources: &[Source]) -> Result<(Report, Vec<String>), LoadError> {
    let mut rejects = Vec::new();
    let mut reject = |it: &weir_native::transfer::Reject| {
        let file = Path::new(&it.file).file_name().unwrap().to_string_lossy().into_owned();
        rejects.push(format!("{file}:{}: {}", it.line, it.why));
    };
    let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut reject };
    let report = load(place, sources, &mut hooks)?;
    Ok((report, rejects))
}

pub(crate) fn exported(place: &Place, format: Format, folder: &Path) -> Vec<PathBuf> {
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
    assert_eq!((report.count.objects, rejects), (7, Vec::new()));
    let expected = std::fs::read_to_string(&exported(&first, Format::Ndjson, &folder.0)[1]).unwrap();
    assert!(expected.contains(r#""big":9223372036854775807,"loud":1e+300"#), "{expected}");
    let bars = std::fs::read_to_string(&exported(&first, Format::Ndjson, &folder.0)[0]).unwrap();
    assert!(
        bars.contains(r#""since":"2020-01-02T03:04:05+01:00","days":["2020-01-01T00:00:00Z"]"#),
        "{bars}"
    );
    for format in [Format::Ndjson, Format::Csv, Format::Nquads] {
        let name = format!("{format:?}.db");
        let copy = folder.store(&name, ALL);
        let files = exported(&first, format, &folder.0);
        let sources: Vec<Source> = files.iter().map(|it| source(it, None)).collect();
        let (report, rejects) = loaded(&copy, &sources);
        assert_eq!((report.count.objects, rejects), (7, Vec::new()), "{format:?}");
        for table in folder.rows("first.db", TABLES).split(';') {
            let sql = format!("SELECT * FROM \"{table}\" ORDER BY 1, 2");
            assert_eq!(folder.rows(&name, &sql), folder.rows("first.db", &sql), "{format:?}: {table}");
        }
        assert_eq!(folder.rows(&name, "PRAGMA foreign_key_check"), "");
        assert_eq!(folder.rows(&name, "SELECT rowid FROM Bar_name_terms('zoë')"), "16");
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
    assert_eq!(
        (report.count.objects, report.count.refused_count()),
        (objects, expected.len() as u64),
        "{text}"
    );
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
         {\"name\":\"d\",\"agee\":3}\n{\"name\":5}\n{\"name\":\nnull\n{\"id\":\"x\",\"name\":\"e\"}\n{\"name\":\"\"}\n",
        None,
        1,
        &[
            "cook.ndjson:6: age: `3000000000` is no Int",
            "cook.ndjson:7: `agee` is no field of `Cook`; map it to one, or to null to leave it out",
            "cook.ndjson:8: name: `5` is no String",
            "cook.ndjson:9: unexpected end at byte 8",
            "cook.ndjson:10: a line has to hold a JSON object",
            "cook.ndjson:11: id: `x` is no ID",
            "cook.ndjson:12: name: `Cook.name` is an `@id`, which is not empty",
            "cook.ndjson:2: `Cook.name` is taken already",
            "cook.ndjson:4: `Cook.id` is taken already",
            "cook.ndjson:5: `name` needs a value",
        ],
    );
}

#[test]
fn a_line_with_more_words_than_postgresql_takes_is_not_taken() {
    let words: String = (0..100_000).map(|at| format!("w{at:09} ")).collect();
    check(
        "type Note { key: String! @id, text: String @search(by: [term]) }",
        "note.csv",
        &format!("key,text\na,few\nb,{words}\nc,{}\n", "few words ".repeat(200_000)),
        None,
        2,
        &[
            "note.csv:3: the words of `Note.text` take 1500000 bytes, and its index of words holds 1048575 of a text",
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
fn an_edge_of_one_to_one_is_not_taken_from_whoever_has_it() {
    const SDL: &str = "type Car { plate: String! @id, driver: Driver! }\n\
                       type Driver { name: String! @id, car: Car @hasInverse(field: driver), pass: Pass @hasInverse(field: owner) }\n\
                       type Pass { number: Int! @id, owner: Driver! }\n";
    let folder = Folder::new();
    let place = folder.store("one.db", SDL);
    let drivers =
        folder.write("Driver.ndjson", "{\"name\":\"ann\"}\n{\"name\":\"ben\"}\n{\"name\":\"cem\"}\n");
    let car = |plate: &str, driver: &str| {
        format!("{{\"plate\":\"{plate}\",\"driver\":{{\"name\":\"{driver}\"}}}}\n")
    };
    let pass =
        |number: u32, owner: &str| format!("{{\"number\":{number},\"owner\":{{\"name\":\"{owner}\"}}}}\n");
    // The same line of two files, and two lines of one.
    let cars = folder.write("Car.ndjson", &(car("a", "ann") + &car("b", "ben")));
    let more = folder.write("more.ndjson", &(car("c", "ann") + &car("d", "cem")));
    let passes = folder.write("Pass.ndjson", &(pass(1, "ann") + &pass(2, "ann")));
    let sources = [
        source(&drivers, None),
        source(&cars, Some("Car")),
        source(&more, Some("Car")),
        source(&passes, None),
    ];
    let (report, rejects) = loaded(&place, &sources);
    assert_eq!(
        rejects,
        [
            "more.ndjson:1: Car.driver: 0x1 has another already",
            "Pass.ndjson:2: Pass.owner: 0x1 has another already",
        ]
    );
    assert_eq!(report.count, Count { objects: 9, edges_refused: 2, ..Count::default() });
    let lacking: Vec<(&str, u64, u64)> =
        report.lacking.iter().map(|it| (it.field.as_str(), it.objects, it.line)).collect();
    assert_eq!(lacking, [("Car.driver", 1, 1), ("Pass.owner", 1, 2)]);
    // Objects in the store keep their own too.
    let later = folder.write("later.ndjson", &(pass(3, "ann") + &pass(4, "ben")));
    let (_, rejects) = loaded(&place, &[source(&later, Some("Pass"))]);
    assert_eq!(rejects, ["later.ndjson:1: Pass.owner: 0x1 has another already"]);
    let sql = "SELECT d.name, c.plate, p.number FROM Driver d LEFT JOIN Car c ON c.driver_id = d.id \
               LEFT JOIN Pass p ON p.id = d.pass_id ORDER BY d.id";
    assert_eq!(folder.rows("one.db", sql), "ann|a|1;ben|b|4;cem|d|-");
    assert_eq!(folder.rows("one.db", "SELECT number FROM Pass ORDER BY number"), "1;2;3;4");
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
        2,
        &["g01.rdf:7: Cook.age: `x` is no Int", "g01.rdf:5: 0x3 has no dgraph.type"],
    );
}

#[test]
fn what_dgraph_writes_beside_a_value_is_left_out_and_counted() {
    let folder = Folder::new();
    let sdl = "type User @secret(field: \"pwd\") { id: ID!, name: String! @id, friends: [User] }";
    let place = folder.store("a.db", sdl);
    let hash = "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe";
    let file = folder.write(
        "g01.rdf",
        &format!(
            "<0x1> <dgraph.type> \"User\" <0x0> .\n<0x1> <User.name> \"ada\"^^<xs:string> <0x0> (origin=\"f\") .\n\
             <0x1> <User.pwd> \"{hash}\"^^<xs:password> <0x0> .\n<0x1> <User.friends> <0x1> <0x0> (since=2006-01-02T15:04:05Z) .\n\
             <0x2> <dgraph.type> \"User\" .\n<0x2> <User.name> \"bob\" .\n<0x2> <User.pwd> \"plain text\" .\n"
        ),
    );
    let (report, rejects) = loaded(&place, &[source(&file, None)]);
    let expected = Count { objects: 2, statements_refused: 1, facets_left_out: 2, ..Count::default() };
    assert_eq!(report.count, expected, "{rejects:?}");
    assert_eq!(
        rejects,
        ["g01.rdf:7: User.pwd: a password is loaded as its hash only: of argon2, or of bcrypt up to cost 15"]
    );
    let rows = folder.rows(
        "a.db",
        "SELECT u.name, u.pwd, f.friends_id FROM User u JOIN User_friends f ON f.user_id = u.id",
    );
    assert_eq!(rows, format!("ada|{hash}|1"));
}

#[test]
fn a_quote_that_is_not_closed_costs_its_own_line() {
    check(
        COOKS,
        "cook.csv",
        "name,age\nada,1\n\"bob,2\nc,3\n\"d\ne\",4\n",
        None,
        3,
        &["cook.csv:3: a `\"` is not closed"],
    );
}

const KITCHENS: &str = "type Cook { id: ID!, name: String! @id, kitchen: Kitchen!, dishes: [Dish] @hasInverse(field: cook), best: Dish } \
                        type Dish { id: ID!, name: String!, cook: Cook!, tags: [String] } \
                        type Kitchen { id: ID!, name: String! @id }";

#[test]
fn objects_that_lack_an_edge_are_taken_and_told() {
    let folder = Folder::new();
    let place = folder.store("a.db", KITCHENS);
    let file = folder.write(
        "all.ndjson",
        "{\"__typename\":\"Kitchen\",\"id\":1,\"name\":\"big\"}\n\
         {\"__typename\":\"Cook\",\"id\":2,\"name\":\"ada\",\"kitchen\":\"0x1\",\"dishes\":[\"0x6\"],\"best\":\"0x8\"}\n\
         {\"__typename\":\"Cook\",\"id\":3,\"name\":\"bob\"}\n\
         {\"__typename\":\"Dish\",\"id\":4,\"name\":\"pho\",\"cook\":\"0x3\",\"tags\":[\"hot\"]}\n\
         {\"__typename\":\"Dish\",\"id\":5,\"name\":\"pie\",\"cook\":{\"name\":\"eve\"}}\n\
         {\"__typename\":\"Dish\",\"id\":6,\"name\":\"tea\"}\n\
         {\"__typename\":\"Dish\",\"id\":7,\"name\":\"ale\",\"cook\":\"0x2\"}\n\
         {\"__typename\":\"Dish\",\"id\":8,\"cook\":\"0x2\"}\n\
         {\"__typename\":\"Dish\",\"id\":9,\"name\":\"oat\"}\n",
    );
    let (report, rejects) = loaded(&place, &[source(&file, None)]);
    assert_eq!(
        rejects,
        [
            "all.ndjson:8: `name` needs a value",
            "all.ndjson:2: Cook.best: there is no `Dish` 0x8",
            "all.ndjson:5: Dish.cook: there is no `Cook` with name \"eve\"",
        ]
    );
    let expected = Count { objects: 8, objects_refused: 1, edges_refused: 2, ..Count::default() };
    assert_eq!(report.count, expected, "nine lines");
    let lacking: Vec<(&str, u64, u64)> =
        report.lacking.iter().map(|it| (it.field.as_str(), it.objects, it.line)).collect();
    assert_eq!(lacking, [("Cook.kitchen", 1, 3), ("Dish.cook", 2, 5)]);
    assert_eq!(folder.rows("a.db", "SELECT name, cook_id FROM Dish"), "pho|3;pie|-;tea|2;ale|2;oat|-");
}

#[test]
fn a_store_with_edges_that_a_delete_emptied_goes_out_and_comes_in_equal() {
    let folder = Folder::new();
    let place = folder.store("a.db", KITCHENS);
    let rows = "INSERT INTO Cook (id, name) VALUES (1, 'ada'); INSERT INTO Dish (id, name, cook_id) VALUES (2, 'pho', 1), (3, 'pie', NULL)";
    rusqlite::Connection::open(folder.0.join("a.db")).unwrap().execute_batch(rows).unwrap();
    for (number, format) in [Format::Ndjson, Format::Csv, Format::Nquads].into_iter().enumerate() {
        let to = folder.0.join(format!("{number}"));
        std::fs::create_dir_all(&to).unwrap();
        let files = exported(&place, format, &to);
        let sources: Vec<Source> = files.iter().map(|it| source(it, None)).collect();
        let name = format!("{number}.db");
        let again = folder.store(&name, KITCHENS);
        let (report, rejects) = loaded(&again, &sources);
        assert_eq!(
            (report.count, rejects),
            (Count { objects: 3, ..Count::default() }, Vec::new()),
            "{format:?}"
        );
        let lacking: Vec<(&str, u64)> =
            report.lacking.iter().map(|it| (it.field.as_str(), it.objects)).collect();
        assert_eq!(lacking, [("Cook.kitchen", 1), ("Dish.cook", 1)], "{format:?}");
        assert_eq!(folder.rows(&name, "SELECT id, name, cook_id FROM Dish"), "2|pho|1;3|pie|-");
    }
}

#[test]
fn all_that_is_in_the_files_is_counted() {
    let folder = Folder::new();
    let sdl = "type Cook { id: ID!, name: String! @id, friends: [Cook], best: Cook, tags: [String] }";
    let place = folder.store("a.db", sdl);
    let cooks =
        folder.write("Cook.csv", "id,name,best\n1,ada,0x2\n2,bob,0x9\n2,cem,\n3,,\n4,dan,x\n5,eve,0x1\n");
    let friends = folder.write("friends.csv", "a,b\n1,2\n1,5\n1,3\n9,1\n2,x\n");
    let tags = folder.write("tags.csv", "a,b\n1,hot\n8,cold\n");
    let quads = folder.write(
        "more.rdf",
        "<0x10> <dgraph.type> \"Cook\" .\n<0x10> <Cook.name> \"fay\" .\n<0x10> <Cook.best> <0x11> .\n<0x11> <Cook.name> \"gus\" .\nx\n",
    );
    let sources = [
        source(&cooks, None),
        source(&friends, Some("Cook.friends")),
        source(&tags, Some("Cook.tags")),
        source(&quads, None),
    ];
    let (report, rejects) = loaded(&place, &sources);
    let expected = Count {
        objects: 4,
        objects_refused: 4,
        pairs: 3,
        pairs_refused: 4,
        edges_refused: 2,
        statements_refused: 1,
        ..Count::default()
    };
    assert_eq!(report.count, expected, "{rejects:#?}");
    assert_eq!(rejects.len() as u64, report.count.refused_count());
    assert!(
        rejects.contains(&"friends.csv:4: Cook.friends: there is no `Cook` 0x3".to_owned()),
        "{rejects:#?}"
    );
    assert_eq!(folder.rows("a.db", "SELECT name, best_id FROM Cook"), "ada|2;bob|-;eve|1;fay|-");

    let (again, rejects) = loaded(&place, &[source(&cooks, None)]);
    assert_eq!(again.count, Count { objects_refused: 6, ..Count::default() }, "{rejects:#?}");
}

/// Loads until a parcel is in the store, then ends as by a kill.
fn interrupted(place: &Place, sources: &[Source]) {
    let mut progress = |event: Event<'_>| {
        if let Event::Loaded { objects: 1.., .. } = event {
            std::panic::resume_unwind(Box::new("killed"));
        }
    };
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut hooks = Hooks { progress: &mut progress, reject: &mut |_| {} };
        load(place, sources, &mut hooks)
    }));
    assert!(killed.is_err());
}

/// Cooks `from..to`, each in a line.
fn report(objects: u64) -> Report {
    Report { count: Count { objects, ..Count::default() }, ..Report::default() }
}

fn cooks(from: u32, to: u32) -> String {
    (from..to).map(|it| format!("{{\"name\":\"cook {it}\",\"age\":{it}}}\n")).collect()
}

#[test]
fn what_was_not_taken_before_an_interruption_counts() {
    let folder = Folder::new();
    let place = folder.store("a.db", COOKS);
    let file = folder.write("Cook.ndjson", &format!("{{\n{}", cooks(1, 25_001)));
    interrupted(&place, &[source(&file, None)]);
    let (report, rejects) = loaded(&place, &[source(&file, None)]);
    let expected = Count { objects: 25_000, objects_refused: 1, ..Count::default() };
    assert_eq!((report.count, rejects), (expected, Vec::new()), "it was told before");
}

#[test]
fn another_load_does_not_make_an_interrupted_one_forget() {
    let folder = Folder::new();
    let place = folder.store("a.db", COOKS);
    let waits = "{\"__typename\":\"Dish\",\"name\":\"pho\",\"cook\":{\"name\":\"cook 24999\"}}\n";
    let cooks_of = |from, to| cooks(from, to).replace("{\"name\"", "{\"__typename\":\"Cook\",\"name\"");
    let one = [source(&folder.write("x.ndjson", &format!("{waits}{}", cooks_of(0, 25_000))), None)];
    let other = [source(&folder.write("y.ndjson", &cooks_of(30_000, 30_010)), None)];
    interrupted(&place, &one);
    assert_eq!(loaded(&place, &other).0.count.objects, 10);
    let both = [one[0].clone(), other[0].clone()];
    let words = tried(&place, &both).unwrap_err().to_string();
    assert!(words.contains("x.ndjson is part of an import that was interrupted"), "{words}");
    assert_eq!(loaded(&place, &one), (report(25_001), Vec::new()));
    assert_eq!(folder.rows("a.db", "SELECT count(*) FROM Cook"), "25010");
    assert_eq!(
        folder.rows("a.db", "SELECT c.name FROM Dish d JOIN Cook c ON c.id = d.cook_id"),
        "cook 24999"
    );
    assert_eq!(folder.rows("a.db", "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'weir_edges%'"), "0");
    assert_eq!(folder.rows("a.db", "SELECT count(*) FROM weir_loads"), "0");
}

#[test]
fn lines_behind_the_mark_may_be_mended_and_lines_before_it_may_not() {
    let folder = Folder::new();
    let place = folder.store("a.db", COOKS);
    let file = folder.write("Cook.ndjson", &cooks(0, 25_000));
    interrupted(&place, &[source(&file, None)]);
    folder.write("Cook.ndjson", &cooks(0, 25_000).replace("cook 3\"", "Cook 3\""));
    let words = tried(&place, &[source(&file, None)]).unwrap_err().to_string();
    assert!(words.contains("it is not as it was when its first 10000 lines were loaded"), "{words}");
    folder.write("Cook.ndjson", &cooks(0, 25_007).replace("cook 20000\"", "twenty thousand\""));
    assert_eq!(loaded(&place, &[source(&file, None)]), (report(25_007), Vec::new()));
    assert_eq!(
        folder.rows("a.db", "SELECT name FROM Cook WHERE age IN (3, 20000)"),
        "cook 3;twenty thousand"
    );
}

#[test]
fn one_load_writes_into_a_store_at_a_time() {
    let folder = Folder::new();
    let place = folder.store("a.db", COOKS);
    let file = folder.write("Cook.ndjson", &cooks(0, 10));
    let sources = [source(&file, None)];
    let mut refused = Vec::new();
    let mut progress = |event: Event<'_>| {
        if let Event::Settling = event {
            refused.push(tried(&place, &sources).unwrap_err().to_string());
        }
    };
    let mut hooks = Hooks { progress: &mut progress, reject: &mut |_| {} };
    load(&place, &sources, &mut hooks).unwrap();
    assert_eq!(refused, ["another import loads into this store; wait until it has ended"]);
    assert!(!folder.0.join("a.db-import").exists());
}

#[test]
fn who_has_the_store_open_can_search_while_it_is_loaded() {
    let sdl = "type Note { id: ID!, text: String! @search(by: [term]) }";
    let folder = Folder::new();
    let place = folder.store("a.db", sdl);
    let server = rusqlite::Connection::open(folder.0.join("a.db")).unwrap();
    let found = |word: &str| {
        let sql = "SELECT count(*) FROM Note_text_terms(?1)";
        server.query_row(sql, [word], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(found("note"), 0);
    let text: String = (0..15_000).map(|it| format!("{{\"text\":\"note {it}\"}}\n")).collect();
    let file = folder.write("Note.ndjson", &text);
    let mut seen = Vec::new();
    let mut progress = |event: Event<'_>| {
        if let Event::Loaded { .. } = event {
            seen.push(found("note"));
        }
    };
    let mut hooks = Hooks { progress: &mut progress, reject: &mut |_| {} };
    load(&place, &[source(&file, None)], &mut hooks).unwrap();
    assert_eq!((seen, found("14999")), (vec![10_000, 15_000], 1));
}
