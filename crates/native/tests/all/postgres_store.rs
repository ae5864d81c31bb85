//! The same stores in PostgreSQL: made, migrated, filled and read out as on SQLite.

use crate::postgres_kit::database;
use std::path::PathBuf;
use weir_native::layout::Database;
use weir_native::store::{Error, Pace, Place, Store, Types, open_and_migrate};
use weir_native::transfer::export::export;
use weir_native::transfer::{Format, Hooks, Mapping, Source, load};
use weir_postgres::Settings;

fn types(sdl: &str) -> Types {
    Types::read(sdl, Database::Postgres).unwrap_or_else(|errors| panic!("{sdl}: {errors:?}"))
}

fn place(url: &str) -> Place {
    Place::Postgres(Box::new(Settings::parse(url, |_| None).unwrap()))
}

/// Migrates a store of `old` with `data` to `new` and compares the end of the plan, then what `asked` gives.
fn check(old: &str, data: &str, new: &str, allowed: &[&str], plan: &str, asked: &str, rows: &str) {
    let database = database("");
    let place = place(&database.url());
    open_and_migrate(&place, &types(old)).unwrap();
    database.run(data);
    let mut store = Store::open(&place).unwrap();
    let allowed: Vec<String> = allowed.iter().map(|it| (*it).to_owned()).collect();
    let found = store.plan(&types(new), &allowed).unwrap();
    assert!(found.to_string().contains(plan), "{found}");
    match store.migrate(&types(new), &found) {
        Ok(()) => assert_eq!(store.version().unwrap().number, 2),
        Err(Error::Refused(_)) => assert_eq!(store.version().unwrap().number, 1),
        Err(other) => panic!("{old} -> {new}: {other}\n{:#?}", found.statements),
    }
    while store.build_next(&types(new), Pace::Beside, &mut |_, _, _| true).unwrap() {}
    assert_eq!(database.run(asked).trim().replace('\n', ";"), rows, "{:#?}", found.statements);
}

const DISH: &str = "type Dish { id: ID!, name: String!, pic: String }";
const DISHES: &str = r#"INSERT INTO "Dish" (id, name, pic) VALUES (1, 'Pho', 'x'), (2, 'Pie', NULL)"#;

#[test]
fn tables_follow_their_types() {
    check(
        DISH,
        DISHES,
        "type Meal @renamedFrom(name: \"Dish\") { id: ID!, title: String! @renamedFrom(name: \"name\") @search(by: [term, fulltext, trigram]) pic: String, vegan: Boolean! @default(add: {value: \"true\"}), \
         tags: [String], cook: Cook } type Cook { name: String! @id, meals: [Meal] @hasInverse(field: cook) }",
        &[],
        "rename type `Dish` to `Meal`",
        r#"SELECT id, title, pic, vegan, cook_id FROM "Meal" ORDER BY 1"#,
        "1|Pho|x|t|;2|Pie||t|",
    );
    check(
        DISH,
        DISHES,
        "type Dish { id: ID!, name: String! @id }",
        &[],
        "refused: 1 values or objects of `Dish.pic` would be lost",
        r#"SELECT coalesce(pic, '-') FROM "Dish" ORDER BY id"#,
        "x;-",
    );
    check(
        DISH,
        DISHES,
        "type Dish { id: ID!, name: String! @id, pic: [String] }",
        &[],
        "change `Dish.pic` from String to [String]\nvalues of `Dish.name` become unique",
        r#"SELECT id, value FROM "Dish_pic""#,
        "1|x",
    );
}

#[test]
fn values_and_edges_are_kept() {
    check(
        "type A { id: ID!, n: Int, b: Boolean, d: DateTime } ",
        r#"INSERT INTO "A" (id, n, b, d, d_at) VALUES (1, 5, true, '2020', 0)"#,
        "type A { id: ID!, n: Float, b: String, d: String }",
        &[],
        "change `A.n` from Int to Float",
        r#"SELECT n, b, d FROM "A""#,
        "5|true|2020",
    );
    let apart = "type Cook { id: ID!, dishes: [Dish] } type Dish { id: ID!, name: String }";
    let sides = "type Cook { id: ID!, dishes: [Dish] } type Dish { id: ID!, name: String, cook: Cook @hasInverse(field: dishes) }";
    let data = r#"INSERT INTO "Cook" VALUES (1); INSERT INTO "Dish" VALUES (3, 'Pho'); INSERT INTO "Cook_dishes" VALUES (1, 3)"#;
    check(apart, data, sides, &[], "two sides of one edge", r#"SELECT id, cook_id FROM "Dish""#, "3|1");
    let data = r#"INSERT INTO "Cook" VALUES (1); INSERT INTO "Dish" VALUES (3, 'Pho', 1)"#;
    check(
        sides,
        data,
        apart,
        &[],
        "drop field `Dish.cook`",
        r#"SELECT cook_id, dish_id FROM "Cook_dishes""#,
        "1|3",
    );
    check(
        "interface Place { id: ID!, name: String } type Bar implements Place { seats: Int } type Visit { at: Place, notes: [String] }",
        r#"INSERT INTO "Bar" VALUES (1, 'b', 2); INSERT INTO "Place" VALUES (1, 'Bar'); INSERT INTO "Visit" (id, at_id) VALUES (3, 1);
           INSERT INTO "Visit_notes" (id, value) VALUES (3, 'x')"#,
        "interface Place { id: ID!, name: String } type Pub implements Place @renamedFrom(name: \"Bar\") { seats: Int64! @default(add: {value: \"1\"}) } type Visit { at: Place, notes: [String!] }",
        &[],
        "rename type `Bar` to `Pub`",
        r#"SELECT p.type, a.seats, v.id, n.value FROM "Visit" v JOIN "Place" p ON p.id = v.at_id JOIN "Pub" a ON a.id = p.id JOIN "Visit_notes" n ON n.id = v.id"#,
        "Pub|2|3|x",
    );
}

const ALL: &str = r#"
interface Place { id: ID!, name: String! @search(by: [term]), code: String @id(interface: true), near: Place, tags: [String] @search(by: [exact]) }
type Bar implements Place { seats: Int, open: Boolean!, mood: Mood, moods: [Mood], since: DateTime, numbers: [Int64], visits: [Visit] @hasInverse(field: at) }
type Club implements Place { big: Int64, loud: Float, at: Point @search, area: Polygon, friends: [Club] }
type Person { nick: String! @id, likes: [Thing] }
type Visit { at: Bar, by: Person, note: String @search(by: [fulltext]) }
union Thing = Bar | Club
enum Mood { DARK BRIGHT }
"#;

const DATA: &str = r#"{"__typename":"Bar","__id":"0x10","name":"Zoë's \"Bar\" \\ {x}","code":"a","open":true,"seats":3,"mood":"DARK","moods":["BRIGHT"],"since":"2020-01-02T03:04:05+01:00","numbers":[9007199254740993],"tags":["x, y"],"near":"0x20"}
{"__typename":"Bar","__id":"0x11","name":"","open":false,"code":"a"}
{"__typename":"Bar","__id":"0x12","name":"NULL","open":false}
{"__typename":"Club","__id":"0x20","name":"Line\nbreak","code":"b","big":9223372036854775807,"loud":1e300,"at":{"longitude":1.5,"latitude":-2.25},"area":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]},"friends":["0x20"],"near":"0x10"}
{"__typename":"Person","nick":"ada","likes":["0x10","0x20"]}
{"__typename":"Visit","at":"0x12","by":{"nick":"ada"},"note":"was there"}
"#;

#[test]
fn a_load_and_an_export_are_as_on_sqlite() {
    let database = database("");
    let folder = std::env::temp_dir().join(format!("weir-postgres-store-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("all.ndjson");
    std::fs::write(&file, DATA).unwrap();
    let sqlite = Place::Sqlite(folder.join("a.db"));
    let postgres = place(&database.url());
    let both = [sqlite, postgres].map(|place| {
        open_and_migrate(&place, &Types::read(ALL, place.kind()).unwrap()).unwrap();
        let mut rejects = Vec::new();
        let mut reject = |it: &weir_native::transfer::Reject| rejects.push(it.line);
        let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut reject };
        let source = Source { path: file.clone(), format: Format::Ndjson, mapping: Mapping::default() };
        let report = load(&place, &[source], &mut hooks).unwrap();
        let to: PathBuf = folder.join(format!("{:?}.ndjson", place.kind()));
        let mut open = |_: &str| -> std::io::Result<Box<dyn std::io::Write>> {
            Ok(Box::new(std::fs::File::options().create(true).append(true).open(&to)?))
        };
        export(&place, Format::Ndjson, None, &mut open, &mut |_| {}).unwrap();
        (report, rejects, std::fs::read_to_string(&to).unwrap())
    });
    assert_eq!(both[0].1, [2], "a key that an object of another type may not have again");
    assert_eq!(both[0], both[1]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_index_waits_for_an_extension_that_nobody_may_make() {
    let database =
        database("CREATE ROLE low LOGIN PASSWORD 'low'; GRANT CREATE, USAGE ON SCHEMA public TO low");
    let url = database.url();
    let (_, host) = url.split_once('@').unwrap();
    let place = place(&format!("postgres://low:low@{host}"));
    let sdl = |name: &str| types(&format!("type Dish {{ {name}: String @search(by: [regexp]) }}"));
    let plan = open_and_migrate(&place, &sdl("name")).unwrap();
    assert!(
        plan.to_string().contains("index `Dish_name_trigrams` waits for the extension pg_trgm"),
        "{plan}"
    );
    let plan = open_and_migrate(&place, &sdl("title")).unwrap();
    assert!(
        plan.to_string().contains("index `Dish_title_trigrams` waits for the extension pg_trgm"),
        "{plan}"
    );
    let mut store = Store::open(&place).unwrap();
    while store.build_next(&sdl("title"), Pace::Beside, &mut |_, _, _| true).unwrap() {}
    let building = store.building(&sdl("title")).unwrap();
    assert!(building.iter().all(|it| it.waits_for.is_some() && !it.is_needed), "{building:?}");
    assert_eq!(building.len(), 1);

    database.run("CREATE EXTENSION pg_trgm");
    while store.build_next(&sdl("title"), Pace::Beside, &mut |_, _, _| true).unwrap() {}
    assert_eq!(store.building(&sdl("title")).unwrap(), []);
    let made = database.run("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%trigrams'");
    assert_eq!(made.trim(), "Dish_title_trigrams");
}

#[test]
fn a_load_ends_with_statistics_of_every_table_it_filled() {
    let database = database("");
    let place = place(&database.url());
    open_and_migrate(
        &place,
        &types(
            "type Cook { name: String! @id, dishes: [Dish] @hasInverse(field: cook), friends: [Cook], tags: [String] } \
             type Dish { id: ID!, name: String, cook: Cook }",
        ),
    )
    .unwrap();
    // Nobody else looks over them: what is known then is from the load.
    database.run(
        "DO $$ DECLARE it record; BEGIN
           FOR it IN SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
           LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', it.name); END LOOP;
         END $$",
    );
    let analysed = "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'public' AND tablename IN ('Cook', 'Cook_friends', 'Cook_tags', 'Dish') ORDER BY 1";
    assert_eq!(database.run(analysed).trim(), "");
    let file = std::env::temp_dir().join(format!("weir-postgres-analysed-{}.ndjson", std::process::id()));
    let data = "{\"__typename\":\"Cook\",\"__id\":1,\"name\":\"Ada\",\"friends\":[\"0x2\"],\"tags\":[\"x\"]}\n\
                {\"__typename\":\"Cook\",\"__id\":2,\"name\":\"Bob\"}\n\
                {\"__typename\":\"Dish\",\"__id\":3,\"name\":\"Pho\",\"cook\":\"0x1\"}\n";
    std::fs::write(&file, data).unwrap();
    let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut |it| panic!("{it:?}") };
    let source = Source { path: file.clone(), format: Format::Ndjson, mapping: Mapping::default() };
    load(&place, &[source], &mut hooks).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(database.run(analysed).trim().replace('\n', " "), "Cook Cook_friends Cook_tags Dish");
    let rows = r#"SELECT relname, reltuples FROM pg_class WHERE oid IN ('"Cook"'::regclass, '"Dish"'::regclass) ORDER BY 1"#;
    assert_eq!(database.run(rows).trim().replace('\n', " "), "Cook|2 Dish|1");
}

/// A text of 3 200 bytes or more that no compression makes shorter, as SQL.
const NOISE: &str = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 100) n)";

#[test]
fn a_text_that_is_too_long_for_an_index_is_named_before_it_is_built() {
    let old = "type Dish { id: ID!, name: String @search(by: [hash]) }";
    let data = format!(r#"INSERT INTO "Dish" (id, name) VALUES (1, 'pho'), (2, {NOISE})"#);
    for new in ["name: String @search(by: [exact])", "name: String @id"] {
        let plan = "there are objects with a longer `Dish.name` (0x2): shorten it, or search it by `hash`";
        let new = format!("type Dish {{ id: ID!, {new} }}");
        check(old, &data, &new, &[], plan, r#"SELECT count(*) FROM "Dish""#, "2");
    }
    let data = r#"INSERT INTO "Dish" (id, name) VALUES (1, 'pho')"#;
    let made = "SELECT indexdef LIKE '%(name)' FROM pg_indexes WHERE indexname = 'Dish_name_idx'";
    let new = "type Dish { id: ID!, name: String @search(by: [exact]) }";
    check(old, data, new, &[], "`Dish.name` takes 2600 bytes at most", made, "t");
    check(new, data, old, &[], "add index of equal values of `Dish.name`", made, "f");
}

#[test]
fn a_line_with_a_text_that_is_too_long_is_not_taken() {
    let database = database("");
    let place = place(&database.url());
    open_and_migrate(
        &place,
        &types("type Dish { id: ID!, name: String @search(by: [hash]), code: String @id, tags: [String] }"),
    )
    .unwrap();
    let long: String = (0..3000).map(|it| char::from(b'a' + (it * it % 23) as u8)).collect();
    let file = std::env::temp_dir().join(format!("weir-postgres-long-{}.ndjson", std::process::id()));
    let lines = [
        format!(r#"{{"name":"{long}"}}"#),
        format!(r#"{{"code":"{long}"}}"#),
        format!(r#"{{"tags":["a","{long}"]}}"#),
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    let mut rejects = Vec::new();
    let mut reject = |it: &weir_native::transfer::Reject| rejects.push((it.line, it.why.clone()));
    let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut reject };
    let mapping = Mapping { target: Some("Dish".into()), columns: Vec::new() };
    let source = Source { path: file.clone(), format: Format::Ndjson, mapping };
    let report = load(&place, &[source], &mut hooks).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((report.count.objects, report.count.refused_count(), report.unbuilt), (1, 2, Vec::new()));
    let words = |name: &str| {
        format!(
            "{name}: `Dish.{name}` takes 2600 bytes at most, because an index holds it whole; these are 3000"
        )
    };
    assert_eq!(rejects, [(2, words("code")), (3, words("tags"))]);
}

#[test]
fn a_line_with_too_many_words_is_not_taken() {
    let sdl = "type Note { key: String! @id, text: String @search(by: [fulltext]), lines: [String] @search(by: [term]), at: DateTime }";
    let words: String = (0..100_000).map(|at| format!("w{at:09} ")).collect();
    let file = std::env::temp_dir().join(format!("weir-postgres-words-{}", std::process::id()));
    let lines = [
        r#"{"key":"b","text":"few","at":"2003"}"#.to_owned(),
        format!(r#"{{"key":"c","text":"{words}"}}"#),
        format!(r#"{{"key":"d","lines":["few","{words}"]}}"#),
        r#"{"key":"","text":"none"}"#.to_owned(),
        r#"{"key":"e","text":"few","at":"2019-03-28T14:41:57.70Z"}"#.to_owned(),
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    let database = database("");
    let place = place(&database.url());
    open_and_migrate(&place, &types(sdl)).unwrap();
    // A table that has rows keeps its indexes while it is loaded.
    database.run(r#"INSERT INTO "Note" (id, key) VALUES (100, 'a')"#);
    let mut rejects = Vec::new();
    let mut reject = |it: &weir_native::transfer::Reject| rejects.push((it.line, it.why.clone()));
    let mut hooks = Hooks { progress: &mut |_| {}, reject: &mut reject };
    let mapping = Mapping { target: Some("Note".into()), columns: Vec::new() };
    let source = Source { path: file.clone(), format: Format::Ndjson, mapping };
    let report = load(&place, &[source], &mut hooks).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((report.count.objects, report.count.refused_count(), report.unbuilt), (2, 3, Vec::new()));
    let words =
        "text: the words of `Note.text` take 1500000 bytes, and its index of words holds 1048575 of a text";
    let long =
        "lines: `Note.lines` takes 2600 bytes at most, because an index holds it whole; these are 1100000";
    let empty = "key: `Note.key` is an `@id`, which is not empty";
    let expected = [(2, words), (3, long), (4, empty)].map(|(line, why)| (line, why.to_owned()));
    assert_eq!(rejects, expected);
    let moments = database.run(r#"SELECT string_agg(at, ' ' ORDER BY key) FROM "Note""#);
    assert_eq!(moments.trim(), "2003-01-01T00:00:00Z 2019-03-28T14:41:57.7Z");
}

#[test]
fn texts_with_too_many_words_for_an_index_are_named_before_anything_is_changed() {
    let old = "type Dish { id: ID!, name: String @search(by: [hash]) }";
    let texts = "(SELECT string_agg('w' || lpad(n::text, 9, '0'), ' ') many, string_agg('w' || n % 9, ' ') few FROM generate_series(1, 100000) n) t";
    let few = format!(r#"INSERT INTO "Dish" (id, name) SELECT 1, few FROM {texts}"#);
    let data = format!(r#"{few}; INSERT INTO "Dish" (id, name) SELECT 30, many FROM {texts}"#);
    let new = "type Dish { id: ID!, name: String @search(by: [hash, term, fulltext]) }";
    let plan = "add index of terms of `Dish.name`\nrefused: there are objects whose words of `Dish.name` take more than the 1048575 \
                bytes that an index of words holds of a text (0x1e): shorten it, or leave `term` and `fulltext` out of its `@search`";
    let indexes = "SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'Dish_name%'";
    check(old, &data, new, &[], plan, indexes, "1");
    check(old, &few, new, &[], "add index of full text of `Dish.name`", indexes, "3");
}

#[test]
fn an_index_that_the_data_does_not_allow_is_told_once_and_leaves_nothing() {
    let database = database("");
    let place = place(&database.url());
    let sdl = |search: &str| types(&format!("type Dish {{ id: ID!, name: String {search} }}"));
    open_and_migrate(&place, &sdl("")).unwrap();
    database.run(r#"INSERT INTO "Dish" (id, name) SELECT n, 'pho' FROM generate_series(1, 10001) n"#);
    let wanted = sdl("@search(by: [fulltext])");
    open_and_migrate(&place, &wanted).unwrap();
    // Others write to the tables too, and ask nobody.
    database.run(
        r#"INSERT INTO "Dish" (id, name) SELECT 20000, string_agg(md5(n::text), ' ') FROM generate_series(1, 50000) n"#,
    );
    let mut store = Store::open(&place).unwrap();
    let mut build = || store.build_next(&wanted, Pace::Beside, &mut |_, _, _| true);
    let Err(Error::Unfit(why)) = build() else { panic!("it fits") };
    assert!(
        why.contains("`Dish_name_fulltext` cannot be built") && why.contains("too long for tsvector"),
        "{why}"
    );
    assert!(!build().unwrap(), "it is not tried again");
    let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'Dish_name%'";
    assert_eq!(database.run(left).trim(), "0");
    let building = store.building(&wanted).unwrap();
    assert!(building.len() == 1 && building[0].waits_for.is_some(), "{building:?}");

    database.run(r#"DELETE FROM "Dish" WHERE id = 20000"#);
    store.retry_builds().unwrap();
    while store.build_next(&wanted, Pace::Beside, &mut |_, _, _| true).unwrap() {}
    assert_eq!((database.run(left).trim(), store.building(&wanted).unwrap()), ("1", Vec::new()));
}

#[test]
fn a_float_becomes_the_text_that_answers_have() {
    check(
        "type A { id: ID!, f: Float }",
        r#"INSERT INTO "A" (id, f) VALUES (1, 1.0), (2, -0.5), (3, 1e15), (4, 9007199254740993e3), (5, 1e20), (6, 1e-5), (7, 2.5e-7),
           (8, 1234567.1234567891), (9, NULL), (10, '-0'), (11, -1.5e300)"#,
        "type A { id: ID!, f: String }",
        &[],
        "change `A.f` from Float to String",
        r#"SELECT coalesce(f, '-') FROM "A" ORDER BY id"#,
        "1;-0.5;1000000000000000;9.007199254740993e+18;1e+20;0.00001;2.5e-7;1234567.1234567892;-;0;-1.5e+300",
    );
}

#[test]
fn an_index_is_made_anew_by_taking_its_search_away() {
    let database = database("");
    let place = place(&database.url());
    let [with, without] =
        ["@search(by: [term, hash])", ""].map(|it| types(&format!("type Dish {{ name: String {it} }}")));
    open_and_migrate(&place, &with).unwrap();
    let made = "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'Dish_name%' ORDER BY indexname";
    let fresh = database.run(made);
    database.run(
        r#"DROP INDEX "Dish_name_terms", "Dish_name_idx"; CREATE INDEX "Dish_name_idx" ON "Dish" (name);
           CREATE INDEX "Dish_name_terms" ON "Dish" USING gin (to_tsvector('simple', name))"#,
    );
    assert_ne!(database.run(made), fresh, "those of an earlier Weir");
    open_and_migrate(&place, &without).unwrap();
    assert_eq!(database.run(made).trim(), "");
    open_and_migrate(&place, &with).unwrap();
    assert_eq!(database.run(made), fresh);
}

#[test]
fn a_store_in_a_schema_of_its_own_is_served() {
    use crate::kit::in_postgres::serve_in_schema;
    let sdl = "interface Named { name: String! @id(interface: true) } type Boat implements Named { id: ID!, tags: [String], crew: [Sailor] @hasInverse(field: boat) } \
               type Sailor @secret(field: \"pwd\") { nick: String! @id, boat: Boat, bio: String @search(by: [fulltext]) }";
    let served = serve_in_schema(sdl, "fleet");
    for (request, expected) in [
        (
            r#"mutation { addBoat(input: [{name: "Ada", tags: ["a"], crew: [{nick: "n", pwd: "secret", bio: "sails fast"}]}]) { numUids boat { name tags crew { nick } } } }"#,
            r#"{"data":{"addBoat":{"numUids":2,"boat":[{"name":"Ada","tags":["a"],"crew":[{"nick":"n"}]}]}}}"#,
        ),
        (
            r#"mutation { updateSailor(input: {filter: {nick: {eq: "n"}}, set: {bio: "sailed"}, remove: {boat: {name: "Ada"}}}) { sailor { bio boat { name } } } }"#,
            r#"{"data":{"updateSailor":{"sailor":[{"bio":"sailed","boat":null}]}}}"#,
        ),
        (
            r#"{ queryNamed { name } querySailor(filter: {bio: {alloftext: "sails"}}) { nick } checkSailorPassword(nick: "n", pwd: "secret") { nick } }"#,
            r#"{"data":{"queryNamed":[{"name":"Ada"}],"querySailor":[{"nick":"n"}],"checkSailorPassword":{"nick":"n"}}}"#,
        ),
        ("mutation { deleteBoat(filter: {}) { numUids } }", r#"{"data":{"deleteBoat":{"numUids":1}}}"#),
    ] {
        assert_eq!(served.ask(request, ""), expected, "{request}");
    }
}
