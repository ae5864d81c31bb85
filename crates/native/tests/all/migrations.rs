//! Migrations: from one text of types to another with data in between, as plan, as tables, and as what is refused.

use crate::file_kit::DatabaseFile;
use rusqlite::Connection;
use weir_native::layout::Database;
use weir_native::store::{Error, Place, Store, Types};

/// A file that goes with the test.
struct File(DatabaseFile);

impl File {
    fn new() -> Self {
        Self(DatabaseFile::new())
    }
    fn place(&self) -> Place {
        Place::Sqlite(self.0.0.clone())
    }
    fn open(&self) -> Connection {
        self.0.open()
    }
    /// All rows of a statement, columns with `|` and rows with `;` between.
    fn rows(&self, sql: &str) -> String {
        let database = self.open();
        let mut statement = database.prepare(sql).unwrap();
        let width = statement.column_count();
        let cell = |row: &rusqlite::Row<'_>, at| match row.get_ref(at).unwrap() {
            rusqlite::types::ValueRef::Null => "-".to_owned(),
            rusqlite::types::ValueRef::Integer(it) => it.to_string(),
            rusqlite::types::ValueRef::Real(it) => it.to_string(),
            rusqlite::types::ValueRef::Text(it) | rusqlite::types::ValueRef::Blob(it) => {
                String::from_utf8_lossy(it).into_owned()
            }
        };
        let rows = statement
            .query_map([], |row| Ok((0..width).map(|at| cell(row, at)).collect::<Vec<_>>().join("|")))
            .unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join(";")
    }
    /// The names and texts of all tables, indexes, views and triggers, in an order of their own.
    fn schema(&self) -> String {
        self.rows(
            "SELECT type, name, replace(replace(coalesce(sql, ''), '\"weir_new', '\"'), char(10), ' ') FROM sqlite_schema \
             WHERE name NOT LIKE 'weir_%' ORDER BY 1, 2",
        )
    }
}

fn types(sdl: &str) -> Types {
    Types::read(sdl, Database::Sqlite).unwrap_or_else(|errors| panic!("{sdl}: {errors:?}"))
}

fn made(sdl: &str, data: &str) -> File {
    let file = File::new();
    weir_native::store::open_and_migrate(&file.place(), &types(sdl)).unwrap();
    file.open().execute_batch(data).unwrap();
    file
}

/// Migrates a store of `old` with `data` to `new`; the plan in words, then what `asked` gives.
fn check(old: &str, data: &str, new: &str, allowed: &[&str], plan: &str, asked: &str, rows: &str) {
    let file = made(old, data);
    let mut store = Store::open(&file.place()).unwrap();
    let new_types = types(new);
    let allowed: Vec<String> = allowed.iter().map(|it| (*it).to_owned()).collect();
    let found = store.plan(&new_types, &allowed).unwrap();
    assert_eq!(found.to_string().trim(), plan, "{old} -> {new}: {:#?}", found.statements);
    let before = file.schema();
    match store.migrate(&new_types, &found) {
        Ok(()) => {
            let fresh = made(new, "");
            assert_eq!(columns(&file), columns(&fresh), "{old} -> {new}: {:#?}", found.statements);
            assert_eq!(store.version().unwrap().number, 2);
            assert_eq!(file.rows("PRAGMA foreign_key_check"), "");
            assert_eq!(file.rows("PRAGMA integrity_check"), "ok");
            let again = Store::open(&file.place()).unwrap().plan(&new_types, &[]).unwrap();
            assert!(again.is_nothing, "{again}");
        }
        Err(Error::Refused(_)) => assert_eq!(file.schema(), before),
        Err(other) => panic!("{old} -> {new}: {other}\n{:#?}", found.statements),
    }
    assert_eq!(file.rows(asked), rows, "{old} -> {new}: {:#?}", found.statements);
}

/// Columns of a store, in any order.
fn columns(file: &File) -> String {
    let names = file
        .rows("SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'weir_%' ORDER BY 1, 2, 3");
    let columns = file.rows(
        "SELECT s.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema s, pragma_table_xinfo(s.name) c \
         WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'weir_%' ORDER BY 1, 2",
    );
    let keys = file.rows(
        "SELECT s.name, k.\"from\", k.\"table\", k.\"to\" FROM sqlite_schema s, pragma_foreign_key_list(s.name) k \
         WHERE s.type = 'table' ORDER BY 1, 2",
    );
    format!("{names}\n{columns}\n{keys}")
}

const DISH: &str = "type Dish { id: ID!, name: String! }";
const DISHES: &str = "INSERT INTO Dish (id, name) VALUES (1, 'Pho'), (2, 'Pie')";

#[test]
fn types_and_fields_are_added() {
    check(
        DISH,
        DISHES,
        "type Dish { id: ID!, name: String!, price: Float, tags: [String], cook: Cook } type Cook { name: String! @id }",
        &[],
        "add type `Cook`\nadd field `Dish.price: Float`\nadd field `Dish.tags: [String]`\nadd field `Dish.cook: Cook`",
        "SELECT id, name, price, cook_id FROM Dish",
        "1|Pho|-|-;2|Pie|-|-",
    );
}

#[test]
fn a_required_field_needs_a_default_or_no_objects() {
    let new = "type Dish { id: ID!, name: String!, vegan: Boolean! }";
    check(
        DISH,
        DISHES,
        new,
        &[],
        "add field `Dish.vegan: Boolean!`\nrefused: there are objects without a `Dish.vegan` (0x1, 0x2): give it \
         `@default(add: {value: …})`, or leave the `!` out until all have one",
        "SELECT id FROM Dish",
        "1;2",
    );
    check(DISH, "", new, &[], "add field `Dish.vegan: Boolean!`", "SELECT * FROM Dish", "");
    check(
        DISH,
        DISHES,
        "type Dish { id: ID!, name: String!, vegan: Boolean! @default(add: {value: \"true\"}), at: DateTime! @default(add: {value: \"2020-01-02\"}) }",
        &[],
        "add field `Dish.vegan: Boolean!`\nadd field `Dish.at: DateTime!`",
        "SELECT id, vegan, at, at_at FROM Dish",
        "1|1|2020-01-02T00:00:00Z|1577923200000000;2|1|2020-01-02T00:00:00Z|1577923200000000",
    );
}

#[test]
fn names_change_and_data_stays() {
    check(
        "type Dish { id: ID!, name: String!, cook: Cook, tags: [String] } type Cook { name: String! @id, dishes: [Dish] @hasInverse(field: cook) }",
        "INSERT INTO Cook (id, name) VALUES (7, 'Ada'); INSERT INTO Dish (id, name, cook_id) VALUES (1, 'Pho', 7); \
         INSERT INTO Dish_tags (id, value) VALUES (1, 'hot')",
        "type Meal @renamedFrom(name: \"Dish\") { id: ID!, title: String! @renamedFrom(name: \"name\"), chef: Cook @renamedFrom(name: \"cook\"), tags: [String] } \
         type Cook { name: String! @id, dishes: [Meal] @hasInverse(field: chef) }",
        &[],
        "rename type `Dish` to `Meal`\nrename field `Dish.name` to `title`\nrename field `Dish.cook` to `chef`",
        "SELECT m.id, title, c.name, t.value FROM Meal m JOIN Cook c ON c.id = m.chef_id JOIN Meal_tags t ON t.id = m.id",
        "1|Pho|Ada|hot",
    );
    check(
        "type A { id: ID!, x: Int } type B { id: ID!, y: Int }",
        "INSERT INTO A VALUES (1, 10); INSERT INTO B VALUES (2, 20)",
        "type C @renamedFrom(name: \"A\") { id: ID!, x: Int } type D @renamedFrom(name: \"B\") { id: ID!, y: Int }",
        &[],
        "rename type `A` to `C`\nrename type `B` to `D`",
        "SELECT C.x, D.y FROM C, D",
        "10|20",
    );
}

#[test]
fn data_is_lost_only_where_that_is_allowed() {
    let old = "type Dish { id: ID!, name: String!, pic: String } type Cook { name: String! @id }";
    let data = "INSERT INTO Dish VALUES (1, 'Pho', 'x.png'); INSERT INTO Cook VALUES (2, 'Ada')";
    let refused = "drop type `Cook`\ndrop field `Dish.pic`\nrefused: 1 values or objects of `Cook` would be lost: allow it by \
                   `--allow-data-loss Cook`\nrefused: 1 values or objects of `Dish.pic` would be lost: allow it by \
                   `--allow-data-loss Dish.pic`";
    check(old, data, DISH, &[], refused, "SELECT pic FROM Dish", "x.png");
    let words = "drop type `Cook`\ndrop field `Dish.pic`";
    check(old, data, DISH, &["Cook", "Dish.pic"], words, "SELECT * FROM Dish", "1|Pho");
    check(old, "", DISH, &[], words, "SELECT * FROM Dish", "");
}

#[test]
fn types_change_where_the_values_fit() {
    let old = "type A { id: ID!, n: Int, big: Int64, f: Float, e: E, s: String, d: DateTime } enum E { X Y }";
    let new = "type A { id: ID!, n: Int64, big: Int, f: Int, e: String, s: E, d: String } enum E { X Y }";
    let plan = "change `A.n` from Int to Int64\nchange `A.big` from Int64 to Int\nchange `A.f` from Float to Int\n\
                change `A.e` from E to String\nchange `A.s` from String to E\nchange `A.d` from DateTime to String";
    check(
        old,
        "INSERT INTO A (id, n, big, f, e, s, d, d_at) VALUES (1, 5, 6, 7.0, 'X', 'Y', '2020', 0)",
        new,
        &[],
        plan,
        "SELECT n, big, f, e, s, d FROM A",
        "5|6|7|X|Y|2020",
    );
    let refused = format!(
        "{plan}\nrefused: `A.big` has values that are no Int (\"5000000000\"): change them first\n\
         refused: `A.f` has values that are no Int (\"0.5\"): change them first\n\
         refused: `A.s` has values that are no E (\"z\"): change them first"
    );
    check(
        old,
        "INSERT INTO A (id, big, f, s) VALUES (1, 5000000000, 0.5, 'z')",
        new,
        &[],
        &refused,
        "SELECT big, f, s FROM A",
        "5000000000|0.5|z",
    );
}

#[test]
fn required_and_optional_change_places() {
    let optional = "type A { id: ID!, s: String }";
    let required = "type A { id: ID!, s: String! }";
    check(
        required,
        "INSERT INTO A VALUES (1, 'x')",
        optional,
        &[],
        "change `A.s` from String! to String",
        "SELECT s FROM A",
        "x",
    );
    check(
        optional,
        "INSERT INTO A VALUES (1, 'x')",
        required,
        &[],
        "change `A.s` from String to String!",
        "SELECT s FROM A",
        "x",
    );
    check(
        optional,
        "INSERT INTO A VALUES (18, NULL)",
        required,
        &[],
        "change `A.s` from String to String!\nrefused: there are objects without a `A.s` (0x12): give them one, or give the \
         field `@default(add: {value: …})`, or leave the `!` out",
        "SELECT id FROM A",
        "18",
    );
    check(
        optional,
        "INSERT INTO A VALUES (1, NULL), (2, 'x')",
        "type A { id: ID!, s: String! @default(add: {value: \"none\"}) }",
        &[],
        "change `A.s` from String to String!",
        "SELECT id, s FROM A",
        "1|none;2|x",
    );
}

#[test]
fn a_required_edge_needs_to_be_there() {
    let types = |edge: &str| {
        format!("type Dish {{ id: ID!, name: String!, {edge} }} type Cook {{ name: String! @id }}")
    };
    let [optional, required] = ["cook: Cook", "cook: Cook!"].map(types);
    let cooks = "INSERT INTO Cook (id, name) VALUES (7, 'Ada');";
    let both = format!("{cooks} INSERT INTO Dish (id, name, cook_id) VALUES (1, 'Pho', 7), (2, 'Pie', 7)");
    let one = format!("{cooks} INSERT INTO Dish (id, name, cook_id) VALUES (1, 'Pho', 7), (2, 'Pie', NULL)");
    let words = "change `Dish.cook` from Cook to Cook!";
    check(&optional, &both, &required, &[], words, "SELECT id, cook_id FROM Dish ORDER BY 1", "1|7;2|7");
    let refused = "refused: there are objects without a `Dish.cook` (0x2): give them one, or leave the `!` out until all have one";
    check(
        &optional,
        &one,
        &required,
        &[],
        &format!("{words}\n{refused}"),
        "SELECT id, cook_id FROM Dish ORDER BY 1",
        "1|7;2|-",
    );
    // From the side of an edge that has no column for it.
    let sides = |cook: &str| types(cook).replace("@id }", "@id, dish: Dish @hasInverse(field: cook) }");
    let [alone, back] = ["cook: Cook", "cook: Cook!"].map(sides);
    let dish = "INSERT INTO Dish (id, name) VALUES (1, 'Pho');";
    let pair = format!("{dish} INSERT INTO Cook (id, name, dish_id) VALUES (7, 'Ada', 1)");
    check(&alone, &pair, &back, &[], words, "SELECT id, dish_id FROM Cook", "7|1");
    let refused = refused.replace("0x2", "0x1");
    check(&alone, dish, &back, &[], &format!("{words}\n{refused}"), "SELECT id FROM Dish", "1");
    // One that was not there.
    let added = "add field `Dish.cook: Cook!`\nrefused: there are objects without a `Dish.cook` (0x1, 0x2): give them one, or leave \
                 the `!` out until all have one";
    let plain = format!("{DISH} type Cook {{ name: String! @id }}");
    check(&plain, DISHES, &required, &[], added, "SELECT id FROM Dish", "1;2");
}

#[test]
fn a_scalar_becomes_a_list() {
    check(
        "type A { id: ID!, s: String }",
        "INSERT INTO A VALUES (1, 'x'), (2, NULL)",
        "type A { id: ID!, s: [String] }",
        &[],
        "change `A.s` from String to [String]",
        "SELECT id, value FROM A_s",
        "1|x",
    );
}

#[test]
fn keys_are_refused_while_values_stand_twice() {
    let old = "type A { id: ID!, s: String!, t: Int }";
    let words = "values of `A.s` become unique";
    let new = "type A { id: ID!, s: String! @id, t: Int }";
    check(
        old,
        "INSERT INTO A VALUES (1, 'x', 1), (2, 'y', 1)",
        new,
        &[],
        words,
        "SELECT s FROM A ORDER BY 1",
        "x;y",
    );
    check(
        old,
        "INSERT INTO A VALUES (1, 'x', 1), (2, 'x', 1)",
        new,
        &[],
        "values of `A.s` become unique\nrefused: values of `A.s` stand more than once (\"x\"): make them different first",
        "SELECT s FROM A",
        "x;x",
    );
    check(
        old,
        "INSERT INTO A VALUES (1, 'x', 1), (2, 'x', 2)",
        "type A @unique(fields: [\"s\", \"t\"]) { id: ID!, s: String!, t: Int }",
        &[],
        "values of `A(s, t)` become unique",
        "SELECT s, t FROM A",
        "x|1;x|2",
    );
}

#[test]
fn an_index_is_there_with_what_was_written_before() {
    check(
        DISH,
        DISHES,
        "type Dish { id: ID!, name: String! @search(by: [term, trigram, exact]) }",
        &[],
        "add index of values of `Dish.name`\nadd index of terms of `Dish.name`\nadd index of trigrams of `Dish.name`",
        "SELECT t.rowid, g.rowid FROM Dish_name_terms('pie') t, Dish_name_trigrams('Pie') g",
        "2|2",
    );
    check(
        "type Dish { id: ID!, name: String! @search(by: [term]), pic: String }",
        "INSERT INTO Dish VALUES (1, 'Pho', 'x'), (2, 'Pie', 'y')",
        "type Dish { id: ID!, name: String! @search(by: [term]) }",
        &["Dish.pic"],
        "drop field `Dish.pic`",
        "SELECT rowid FROM Dish_name_terms('pie')",
        "2",
    );
}

#[test]
fn texts_with_too_many_words_for_an_index_are_named_before_anything_is_changed() {
    let sdl = |by: &str| {
        format!("interface I {{ id: ID!, list: [String] {by} }} type T implements I {{ one: String {by} }}")
    };
    let texts = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
                 SELECT group_concat(printf('w%09d', i), ' ') AS many, group_concat(printf('w%09d', i % 9), ' ') AS few FROM n";
    let data = format!(
        "CREATE TEMP TABLE made AS {texts}; INSERT INTO T (id, one) SELECT 1, few FROM made UNION ALL SELECT 30, many FROM made; \
         INSERT INTO I VALUES (1, 'T'), (30, 'T'); INSERT INTO I_list (id, value) SELECT 1, many FROM made UNION ALL SELECT 30, few FROM made"
    );
    let words = "add index of terms of `T.one`\nadd index of terms of `I.list`";
    let refused = ["`T.one`", "`I.list`"].iter().zip(["0x1e", "0x1"]).map(|(name, id)| {
        format!(
            "\nrefused: there are objects whose words of {name} take more than the 1048575 bytes that an index of words holds \
             of a text ({id}): shorten it, or leave `term` and `fulltext` out of its `@search`"
        )
    });
    let plan = refused.fold(words.to_owned(), |all, it| all + &it);
    check(&sdl(""), &data, &sdl("@search(by: [term])"), &[], &plan, "SELECT count(*) FROM T", "2");
}

#[test]
fn an_inverse_is_added_to_an_edge_that_is_there() {
    let apart = "type Cook { id: ID!, dishes: [Dish] } type Dish { id: ID! name: String }";
    let data = "INSERT INTO Cook VALUES (1), (2); INSERT INTO Dish VALUES (3, 'Pho'), (4, 'Pie'); \
                INSERT INTO Cook_dishes VALUES (1, 3), (1, 4)";
    let sides = "type Cook { id: ID!, dishes: [Dish] } type Dish { id: ID! name: String, cook: Cook @hasInverse(field: dishes) }";
    let words = "`Cook.dishes` and `Dish.cook` become the two sides of one edge\nadd field `Dish.cook: Cook`\n`Dish.cook` holds one object";
    check(apart, data, sides, &[], words, "SELECT id, cook_id FROM Dish ORDER BY 1", "3|1;4|1");
    check(
        apart,
        &format!("{data}; INSERT INTO Cook_dishes VALUES (2, 3)"),
        sides,
        &[],
        &format!(
            "{words}\nrefused: some have several objects for `Dish.cook` (0x3): remove all but one first, or make it a list"
        ),
        "SELECT count(*) FROM Cook_dishes",
        "3",
    );
    check(
        sides,
        "INSERT INTO Cook VALUES (1); INSERT INTO Dish VALUES (3, 'Pho', 1)",
        apart,
        &[],
        "drop field `Dish.cook`",
        "SELECT cook_id, dish_id FROM Cook_dishes",
        "1|3",
    );
}

#[test]
fn edges_follow_what_they_may_lead_to() {
    let old = "interface Place { id: ID!, name: String } type Bar implements Place { seats: Int } type Club implements Place { open: Boolean } \
               type Visit { id: ID!, at: Place }";
    let data = "INSERT INTO Bar (id, name) VALUES (1, 'b'); INSERT INTO Club (id, name) VALUES (2, 'c'); \
                INSERT INTO Place (id, type) VALUES (1, 'Bar'), (2, 'Club'); INSERT INTO Visit (id, at_id) VALUES (3, 1), (4, 2)";
    let new = "type Bar { id: ID!, name: String, seats: Int } type Club { id: ID!, name: String, open: Boolean } \
               type Visit { id: ID!, at: Bar }";
    check(
        old,
        data,
        new,
        &[],
        "drop interface `Place`\nchange `Visit.at` from Place to Bar\nrefused: 1 values or objects of `Visit.at` would be lost: \
         allow it by `--allow-data-loss Visit.at`",
        "SELECT id, at_id FROM Visit",
        "3|1;4|2",
    );
    check(
        old,
        data,
        new,
        &["Visit.at"],
        "drop interface `Place`\nchange `Visit.at` from Place to Bar",
        "SELECT id, at_id FROM Visit",
        "3|1;4|-",
    );
    check(
        new,
        "INSERT INTO Bar VALUES (1, 'b', 3); INSERT INTO Visit VALUES (3, 1)",
        old,
        &[],
        "add interface `Place`\nchange `Visit.at` from Bar to Place",
        "SELECT p.type, a.name, v.at_id FROM Visit v JOIN Place p ON p.id = v.at_id JOIN Place_all a ON a.id = p.id",
        "Bar|b|1",
    );
}

#[test]
fn enums_grow_and_shrink_with_their_values() {
    let two = "type A { id: ID!, e: E } enum E { X Y }";
    let three = "type A { id: ID!, e: E } enum E { X Y Z }";
    check(two, "INSERT INTO A VALUES (1, 'X')", three, &[], "add value `E.Z`", "SELECT e FROM A", "X");
    check(three, "INSERT INTO A VALUES (1, 'X')", two, &[], "drop value `E.Z`", "SELECT e FROM A", "X");
    check(
        three,
        "INSERT INTO A VALUES (1, 'Z')",
        two,
        &[],
        "drop value `E.Z`\nrefused: `A.e` has values that are no E (\"Z\"): change them first",
        "SELECT e FROM A",
        "Z",
    );
}

#[test]
fn a_database_of_others_is_left_alone() {
    let file = File::new();
    file.open().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let found = Store::open(&file.place()).unwrap().plan(&types(DISH), &[]);
    assert!(matches!(found, Err(Error::Foreign { table }) if table == "theirs"));
    assert_eq!(file.rows("SELECT name FROM sqlite_schema"), "theirs");
}

#[test]
fn a_store_of_an_unknown_format_is_not_opened() {
    for format in [1, 99] {
        let file = made(DISH, &format!("UPDATE weir_store SET format = {format}"));
        assert!(
            matches!(Store::open(&file.place()), Err(Error::Format { found }) if found == format),
            "{format}"
        );
    }
}

#[test]
fn a_key_that_is_none_any_more_is_told() {
    let old = "type Dish @unique(fields: [\"a\", \"b\"]) { code: String @id, a: Int, b: Int }";
    check(
        old,
        "INSERT INTO Dish (id, code, a, b) VALUES (1, 'x', 1, 2)",
        "type Dish { code: String, a: Int, b: Int }",
        &[],
        "values of `Dish.code` need not be unique any more\nvalues of `Dish(a, b)` need not be unique any more",
        "SELECT code, a, b FROM Dish",
        "x|1|2",
    );
}

#[test]
fn a_name_that_stays_in_use_is_not_renamed() {
    let old = "type Dish { a: String, b: String } type Cook { n: Int } type Chef { n: Int }";
    let mend = "give that one a name of its own first, and this one its name with a second migration, or take `@renamedFrom` away";
    let plan = format!(
        "rename `Chef` to `Cook`\nrename `b` to `Dish.a`\nrename `a` to `Dish.b`\n\
         refused: `Cook` cannot be renamed from a name that is in use (\"Chef\"): {mend}\n\
         refused: `Dish.a` cannot be renamed from a name that is in use (\"b\"): {mend}\n\
         refused: `Dish.b` cannot be renamed from a name that is in use (\"a\"): {mend}"
    );
    let new = "type Dish { a: String @renamedFrom(name: \"b\"), b: String @renamedFrom(name: \"a\") } \
               type Cook @renamedFrom(name: \"Chef\") { n: Int } type Chef { n: Int }";
    check(
        old,
        "INSERT INTO Dish (id, a, b) VALUES (1, 'A', 'B')",
        new,
        &[],
        &plan,
        "SELECT a, b FROM Dish",
        "A|B",
    );
    // The old name of a renamed field may be given to another.
    let old = "type Dish { title: String @renamedFrom(name: \"name\") }";
    let new = "type Dish { title: String @renamedFrom(name: \"name\"), name: String }";
    check(old, "", new, &[], "add field `Dish.name: String`", "SELECT count(*) FROM Dish", "0");
}

#[test]
fn what_may_be_lost_has_to_be_there() {
    let old = "type Dish { id: ID!, name: String!, pic: String }";
    let data = "INSERT INTO Dish VALUES (1, 'Pho', 'x.png')";
    let lost =
        "refused: 1 values or objects of `Dish.pic` would be lost: allow it by `--allow-data-loss Dish.pic`";
    let unknown = |name: &str, mend: &str| {
        format!("refused: `{name}`, which may be lost, is no type and no field of the store: {mend}")
    };
    let near = unknown("Dish.pics", "did you mean `Dish.pic`?");
    let plan = format!("drop field `Dish.pic`\n{near}\n{lost}");
    check(old, data, DISH, &["Dish.pics"], &plan, "SELECT pic FROM Dish", "x.png");
    let far = unknown("Restaurant", "name a type, or a field as `Dish.pic`");
    check(
        old,
        data,
        DISH,
        &["Dish.pic", "Restaurant"],
        &format!("drop field `Dish.pic`\n{far}"),
        "SELECT pic FROM Dish",
        "x.png",
    );
    check(old, data, DISH, &["Dish.pic", "Dish"], "drop field `Dish.pic`", "SELECT name FROM Dish", "Pho");
}

#[test]
fn a_float_becomes_the_text_that_answers_have() {
    let old = "type A { id: ID!, f: Float }";
    let new = "type A { id: ID!, f: String }";
    check(
        old,
        "INSERT INTO A (id, f) VALUES (1, 1.0), (2, -0.5), (3, 1e15), (4, 9007199254740993e3), (5, 1e20), (6, 1e-5), (7, 2.5e-7), \
         (8, 1234567.1234567891), (9, NULL), (10, -0.0), (11, -1.5e300)",
        new,
        &[],
        "change `A.f` from Float to String",
        "SELECT f FROM A ORDER BY id",
        "1;-0.5;1000000000000000;9.007199254740993e+18;1e+20;0.00001;2.5e-7;1234567.1234567892;-;0;-1.5e+300",
    );
}

#[test]
fn an_index_of_words_is_made_anew_by_taking_its_search_away() {
    let [with, without] =
        ["name: String @search(by: [term])", "name: String"].map(|it| format!("type Dish {{ {it} }}"));
    let file = made(&with, "INSERT INTO Dish (id, name) VALUES (1, 'café')");
    let old = "DROP TABLE Dish_name_terms; \
               CREATE VIRTUAL TABLE Dish_name_terms USING fts5(name, content='', contentless_delete=1, tokenize='unicode61'); \
               INSERT INTO Dish_name_terms (rowid, name) SELECT id, name FROM Dish";
    file.open().execute_batch(old).unwrap();
    let found = |words: &str| {
        file.rows(&format!("SELECT count(*) FROM Dish_name_terms WHERE Dish_name_terms MATCH '{words}'"))
    };
    assert_eq!([found("cafe"), found("café")], ["1", "1"], "the words of an earlier Weir");
    for sdl in [&without, &with] {
        weir_native::store::open_and_migrate(&file.place(), &types(sdl)).unwrap();
    }
    assert_eq!([found("cafe"), found("café")], ["0", "1"]);
}
