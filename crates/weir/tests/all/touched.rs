//! Cached answers that a mutation invalidates: all that show changed data, also of tables that the mutation does not name.

use crate::postgres_kit::database;
use crate::support::{Folder, Weir};

/// Rows that go or change with others, also in a circle, and a view. `NUMBER` is a key that the database gives.
const TABLES: &str = "
CREATE TABLE author (id NUMBER, name text NOT NULL, n_books int NOT NULL DEFAULT 0, code text UNIQUE);
CREATE TABLE book (id int PRIMARY KEY, title text, author_id int REFERENCES author ON DELETE CASCADE);
CREATE TABLE review (id int PRIMARY KEY, book_id int REFERENCES book ON DELETE SET NULL);
CREATE TABLE label (id int PRIMARY KEY, author_code text REFERENCES author (code) ON UPDATE CASCADE);
CREATE TABLE egg (id int PRIMARY KEY, hen_id int HEN);
CREATE TABLE hen (id int PRIMARY KEY, egg_id int REFERENCES egg ON DELETE CASCADE);
CREATE TABLE pet (id int PRIMARY KEY, name text);
CREATE TABLE shelf (id int PRIMARY KEY);
CREATE TABLE log (id NUMBER, t text);
CREATE VIEW v_author AS SELECT name FROM author;
INSERT INTO author (name, code) VALUES ('Ada', 'a'), ('Bob', 'b');
INSERT INTO book VALUES (1, 'One', 1), (2, 'Two', 2);
INSERT INTO review VALUES (1, 1), (2, 2);
INSERT INTO label VALUES (1, 'b');
INSERT INTO egg VALUES (1, NULL);
INSERT INTO hen VALUES (1, 1);
UPDATE egg SET hen_id = 1;
INSERT INTO pet VALUES (1, 'Cyd');
";

const SQLITE: &str = "
CREATE TRIGGER shelved AFTER INSERT ON shelf BEGIN
  INSERT INTO log (t) VALUES ('shelved');
  UPDATE author SET n_books = n_books + 1;
END;
CREATE TRIGGER made INSTEAD OF INSERT ON v_author BEGIN INSERT INTO author (name) VALUES (new.name); END;
";

const POSTGRES: &str = "
ALTER TABLE egg ADD FOREIGN KEY (hen_id) REFERENCES hen ON DELETE CASCADE;
CREATE FUNCTION shelved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO log (t) VALUES ('shelved');
  UPDATE author SET n_books = n_books + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER shelved AFTER INSERT ON shelf FOR EACH ROW EXECUTE FUNCTION shelved();
";

/// All that is kept, each table's name with what is asked of it.
const KEPT: [&str; 10] = [
    "author { name n_books code }",
    "book { title }",
    "review { book_id }",
    "label { author_code }",
    "egg { id }",
    "hen { id }",
    "pet { name }",
    "shelf { id }",
    "log { t }",
    "v_author { name }",
];

/// Has all answers kept, changes something, and wants those of `old` tables anew and the others from what is kept.
#[track_caller]
fn check(weir: &Weir, mutation: &str, old: &str) {
    let ask = |of: &str| weir.query(&format!("query @cached(ttl: 600) {{ {of} }}"));
    let is_hit = |of: &str| ask(of).header("x-weir-cache").is_some_and(|it| it.starts_with("hit"));
    for of in KEPT {
        ask(of);
        assert!(is_hit(of), "{of} is kept");
    }
    let changed = weir.query(&format!("mutation {{ {mutation} }}"));
    assert!(!changed.text().contains("errors"), "{changed:?}");
    let name = |of: &'static str| of.split(' ').next().unwrap_or(of);
    let found: Vec<&str> = KEPT.into_iter().filter(|it| !is_hit(it)).map(name).collect();
    assert_eq!(found.join(" "), old, "{mutation}");
    for of in KEPT {
        assert_eq!(ask(of).text(), weir.query(&format!("{{ {of} }}")).text(), "{mutation}: {of}");
    }
}

fn check_all(weir: &Weir) {
    const ALL: &str = "author book review label egg hen pet shelf log v_author";
    check(weir, "insert_pet_one(object: {id: 2, name: \"Dot\"}) { id }", "pet v_author");
    check(weir, "update_author_by_pk(pk_columns: {id: 2}, _set: {name: \"Eve\"}) { id }", "author v_author");
    let code = "update_author_by_pk(pk_columns: {id: 2}, _set: {code: \"z\"}) { id }";
    check(weir, code, "author label v_author");
    let upsert = "insert_author_one(object: {id: 2, name: \"Eve\", code: \"y\"}, \
                  on_conflict: {constraint: author_pkey, update_columns: [code]}) { id }";
    check(weir, upsert, "author label v_author");
    check(weir, "delete_author_by_pk(id: 1) { id }", "author book review v_author");
    check(weir, "delete_book(where: {id: {_eq: 2}}) { affected_rows }", "book review v_author");
    check(weir, "delete_hen_by_pk(id: 1) { id }", "egg hen v_author");
    check(weir, "insert_shelf_one(object: {id: 1}) { id }", ALL);
    check(weir, "insert_v_author(objects: [{name: \"Fay\"}]) { affected_rows }", ALL);
}

#[test]
fn on_sqlite_all_is_old_that_shows_what_was_changed() {
    let folder = Folder::new();
    let file = folder.file("tables.db");
    let tables =
        TABLES.replace("NUMBER", "INTEGER PRIMARY KEY").replace("HEN", "REFERENCES hen ON DELETE CASCADE");
    let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
    connection.execute_batch(&[&tables, SQLITE].concat()).expect("the statements are right");
    drop(connection);
    let target = format!("sqlite:{}", file.display());
    check_all(&Weir::start(&["serve", &target, "--listen", "127.0.0.1:0"], folder));
}

#[test]
fn on_postgresql_all_is_old_that_shows_what_was_changed() {
    let tables = TABLES.replace("NUMBER", "serial PRIMARY KEY").replace("HEN", "");
    let more = "
CREATE TABLE part (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part_one PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TRIGGER shelved AFTER INSERT ON part_one FOR EACH ROW EXECUTE FUNCTION shelved();
CREATE TABLE base (id int PRIMARY KEY);
CREATE TABLE heir (PRIMARY KEY (id)) INHERITS (base);
CREATE TABLE ruled (id int PRIMARY KEY);
CREATE RULE noted AS ON INSERT TO ruled DO ALSO INSERT INTO log (t) VALUES ('ruled');
";
    let database = database(&[&tables, POSTGRES, more].concat());
    let weir = Weir::serving(&database.url());
    check_all(&weir);
    const ALL: &str = "author book review label egg hen pet shelf log v_author";
    check(&weir, "insert_part_one(object: {id: 1}) { id }", ALL);
    check(&weir, "insert_heir_one(object: {id: 1}) { id }", ALL);
    check(&weir, "insert_ruled(objects: [{id: 1}]) { affected_rows }", ALL);
}
