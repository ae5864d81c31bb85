//! Answered values find their rows, on SQLite: every declaration of a type, with every form of a value that SQLite can store.
//!
//! Types come from `facts` and declarations from `sqlite_type`: one that is new is asked, or fails the test until someone says why it
//! cannot be declared.

use crate::finds_its_row_kit::{Answering, Counts, Subject, check};
use crate::kit::{Served, serve};
use rusqlite::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use weir_relational::catalog::{ColumnType, Storage};
use weir_relational::dialect::sqlite_type::{Integers, NAMED, column_type, storage};

/// Declarations that name no type: by the words in them, and by nothing.
const UNNAMED: [&str; 14] = [
    "INTEGER UNSIGNED",
    "UNSIGNED BIG INT",
    "INT(11)",
    "UINT8",
    "POINT",
    "INTEGER_OR_TEXT",
    "FLOATING POINT",
    "VARCHAR(20)",
    "MEDIUMTEXT",
    "LONGBLOB",
    "ANY",
    "geometry",
    "Decimal(10, 5)",
    "uuid_text",
];

/// The only types of tables that are `STRICT`.
const STRICT: [&str; 6] = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"];

/// Integers: of 32 bits and more, with more digits than floating point numbers have.
const INTEGERS: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "-7",
    "2147483647",
    "2147483648",
    "1700000000",
    "9007199254740993",
    "4611686018427388000",
    "9223372036854775807",
    "-9223372036854775808",
];

/// Floating point numbers: with all their digits, whole ones, one without digits.
const REALS: &[&str] = &[
    "0.5",
    "-0.0",
    "3.0",
    "0.1 + 0.2",
    "1e15",
    "1e22",
    "1e300",
    "-1.5e-7",
    "5e-324",
    "4611686018427387904.0",
    "9e999",
    "2459580.5",
    "0.30000000000000004e-30",
    "123456789.123456789",
    "1.7976931348623157e308",
];

/// Texts: of every type, and of none.
const TEXTS: &[&str] = &[
    "''",
    "'t'",
    "'T'",
    "'f'",
    "'true'",
    "'TRUE'",
    "'tRuE'",
    "'False'",
    "'yes'",
    "'0'",
    "'1'",
    "'5.0'",
    "'05'",
    "'1e5'",
    "'abc'",
    "'ABC'",
    "'it''s'",
    "' x '",
    "'\\x4'",
    "'\\xg'",
    "'\\x4142'",
    "'inf'",
    "'NaN'",
    "'Infinity'",
    "'ä🎵'",
    "'null'",
    "'0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001'",
    "'0B5A1F34-66C1-4A2C-8A5E-27D1B0A0C002'",
    "'0b5a1f3466c14a2c8a5e27d1b0a0c003'",
    "'2024-02-29'",
    "'2024-02-29 03:04:05'",
    "'12:30'",
    "'{\"a\": 1.50, \"b\": [true, null]}'",
    "'{\"b\":[true,null],\"a\":1.5}'",
    "'[1, 2]'",
    "'\"x\"'",
    "'{a}'",
    "'a' || char(0) || 'b'",
    "'99999999999999999999'",
    "'0.1234567890123456789'",
];

/// Bytes: a UUID, documents, texts.
const BLOBS: &[&str] = &[
    "x''",
    "x'41'",
    "x'00ff'",
    "x'616263'",
    "x'0b5a1f3466c14a2c8a5e27d1b0a0c004'",
    "CAST('{\"z\": 1}' AS BLOB)",
    "CAST('[3, 4]' AS BLOB)",
    "jsonb('{\"y\": [1, \"two\", 3.5]}')",
    "jsonb('[]')",
    "CAST('5' AS BLOB)",
];

/// Values of each of SQLite's classes.
fn values(class: Type) -> &'static [&'static str] {
    match class {
        Type::Null => &["NULL"],
        Type::Integer => INTEGERS,
        Type::Real => REALS,
        Type::Text => TEXTS,
        Type::Blob => BLOBS,
    }
}

const CLASSES: [Type; 5] = [Type::Null, Type::Integer, Type::Real, Type::Text, Type::Blob];

/// True for types that no declaration of SQLite names.
fn is_of_postgres(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::Money
        | ColumnType::Ltree
        | ColumnType::Geometry
        | ColumnType::Geography
        | ColumnType::Raster
        | ColumnType::Enum(_)
        | ColumnType::Composite(_)
        | ColumnType::Array(_) => true,
        ColumnType::SmallInt
        | ColumnType::Int
        | ColumnType::BigInt
        | ColumnType::Real
        | ColumnType::Double
        | ColumnType::Numeric
        | ColumnType::Boolean
        | ColumnType::Text
        | ColumnType::Char
        | ColumnType::CiText
        | ColumnType::Uuid
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::TimestampTz
        | ColumnType::Time
        | ColumnType::TimeTz
        | ColumnType::Interval
        | ColumnType::Json
        | ColumnType::Jsonb
        | ColumnType::Bytes
        | ColumnType::Other(_) => false,
    }
}

/// The affinity of a declaration. Source: sqlite.org/datatype3.html, section 3.1.
fn affinity(declared: &str) -> &'static str {
    let declared = declared.to_uppercase();
    let has = |words: &[&str]| words.iter().any(|it| declared.contains(it));
    match () {
        () if has(&["INT"]) => "integer",
        () if has(&["CHAR", "CLOB", "TEXT"]) => "text",
        () if declared.is_empty() || has(&["BLOB"]) => "none",
        () if has(&["REAL", "FLOA", "DOUB"]) => "real",
        () => "numeric",
    }
}

/// A table per declaration, with every value that it takes.
struct Asked {
    served: Served,
    /// Tables and the ways in which each holds its values.
    tables: BTreeMap<String, Storage>,
}

impl Asked {
    fn new() -> Self {
        let named = NAMED.iter().flat_map(|(_, names)| names.iter().copied()).chain(UNNAMED);
        let loose = named.map(|declared| (declared, false));
        let mut declared: Vec<(&str, bool)> = loose.chain(STRICT.map(|it| (it, true))).collect();
        // One is asked of those that SQLite and Weir take for one.
        let mut kinds = BTreeSet::new();
        declared.retain(|(declared, is_strict)| {
            let ty = format!("{:?}", column_type(declared, Integers::Declared));
            kinds.insert((ty, affinity(declared), *is_strict))
        });
        let mut sql = String::new();
        let mut tables = BTreeMap::new();
        for (at, (declared, is_strict)) in declared.iter().enumerate() {
            // One with an index, one without, and before them, as rows are deleted, views of columns and of expressions.
            let strict = if *is_strict { "STRICT" } else { "" };
            sql.push_str(&format!(
                "CREATE TABLE k{at} (v {declared}, id INT NOT NULL, n INT, PRIMARY KEY (v)) {strict};
                 CREATE TABLE p{at} (v {declared}, id INT NOT NULL, n INT) {strict};
                 CREATE VIEW c{at} AS SELECT v, id FROM p{at};
                 CREATE VIEW e{at} AS SELECT coalesce(v, v) AS v, id FROM p{at};"
            ));
            let ty = column_type(declared, Integers::Declared);
            // A view is no strict table, and an expression has no type.
            let [strict, loose] = [*is_strict, false].map(|it| storage(declared, &ty, it));
            let of = [("c", loose), ("e", Storage::Anything), ("k", strict), ("p", strict)];
            tables.extend(of.map(|(name, storage)| (format!("{name}{at}"), storage)));
        }
        let served = serve(&sql);
        for at in 0..declared.len() {
            for (number, value) in CLASSES.iter().flat_map(|it| values(*it)).enumerate() {
                for table in ["k", "p"] {
                    // A strict table and a key refuse some.
                    let insert = format!("INSERT INTO {table}{at} (v, id) VALUES ({value}, {number})");
                    let _ = served.beside.execute(&insert, []);
                }
            }
        }
        let asked = Self { served, tables };
        asked.tables.keys().filter(|it| it.starts_with('k')).for_each(|it| asked.drop_unread(it));
        asked
    }

    /// Deletes the rows whose key is refused where it may not be null: a list of them would be null as a whole.
    fn drop_unread(&self, table: &str) {
        for id in self.stored(table).into_keys() {
            let answer =
                self.served.ask(&format!("{{ a: {table}(where: {{id: {{_eq: {id}}}}}) {{ v }} }}"), "");
            if answer.ends_with("\"data\":null}") {
                self.served.beside.execute(&format!("DELETE FROM {table} WHERE id = {id}"), []).unwrap();
            }
        }
    }

    fn scalar(&self, table: &str) -> String {
        let answer = self.served.ask(
            &format!(
                "{{ __type(name: \"{table}\") {{ fields {{ name type {{ name ofType {{ name }} }} }} }} }}"
            ),
            "",
        );
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let fields =
            answer["data"]["__type"]["fields"].as_array().unwrap_or_else(|| panic!("{table}: {answer}"));
        let v = fields.iter().find(|it| it["name"] == "v").unwrap();
        let name = v["type"]["name"].as_str().or(v["type"]["ofType"]["name"].as_str());
        name.unwrap().to_owned()
    }
}

impl Answering for Asked {
    fn answer(&self, operation: &str, variables: &str) -> String {
        self.served.ask(operation, variables)
    }

    fn stored(&self, table: &str) -> BTreeMap<i64, String> {
        let sql = format!("SELECT id, typeof(v), iif(typeof(v) = 'text', hex(v), quote(v)) FROM {table}");
        let mut statement = self.served.beside.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| {
            let class: String = row.get(1)?;
            let value: String = row.get(2)?;
            // A document that is null is given as a null.
            let is_null =
                class == "null" || (self.tables[table] == Storage::Documents && value == "6E756C6C");
            Ok((row.get(0)?, if is_null { "null".to_owned() } else { format!("{class} {value}") }))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn is_same(&self, one: &str, other: &str) -> bool {
        // Numbers and documents are equal by their content.
        let [one, other] = [one, other].map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
        let number = |it: &serde_json::Value| it.as_f64().filter(|_| it.is_number());
        match (&one, &other) {
            (serde_json::Value::String(_), _) => {
                let uuid = |it: &serde_json::Value| {
                    let digits = it.as_str().unwrap_or_default().replace('-', "").to_lowercase();
                    (digits.len() == 32 && digits.bytes().all(|it| it.is_ascii_hexdigit())).then_some(digits)
                };
                uuid(&one).is_some() && uuid(&one) == uuid(&other)
            }
            _ if one.is_i64() && other.is_i64() => one == other,
            _ => one == other || number(&one).is_some_and(|it| number(&other) == Some(it)),
        }
    }

    fn has_order(&self, subject: &Subject, id: i64) -> bool {
        // In the order of texts and bytes, digits of bytes stand for the bytes.
        let is_digits = self.stored(&subject.table)[&id].starts_with("text 5C78");
        !is_digits || self.tables[&subject.table] == Storage::Exact
    }
}

#[test]
fn every_type_has_a_declaration_or_is_not_of_sqlite() {
    let declared: Vec<ColumnType> = NAMED
        .iter()
        .flat_map(|it| it.1)
        .chain(&UNNAMED)
        .map(|declared| column_type(declared, Integers::Declared))
        .collect();
    for ty in ColumnType::every() {
        let is_declared = declared.iter().any(|it| std::mem::discriminant(it) == std::mem::discriminant(&ty));
        assert_ne!(is_declared, is_of_postgres(&ty), "{ty:?}");
    }
}

#[test]
fn what_is_answered_finds_its_row() {
    let asked = Asked::new();
    let mut seen = BTreeSet::new();
    let mut all = Counts::default();
    for (table, storage) in &asked.tables {
        let is_table = table.starts_with(['k', 'p']);
        let subject = Subject {
            table: table.clone(),
            scalar: asked.scalar(table),
            is_keyed: table.starts_with('k'),
            is_writable: is_table,
            is_ordered: true,
        };
        let counts = check(&asked, &subject);
        assert!(counts.answered > 0, "{table}");
        seen.insert(format!("{storage:?}"));
        all = Counts { answered: all.answered + counts.answered, refused: all.refused + counts.refused };
    }
    let storages = [
        Storage::Exact,
        Storage::Texts,
        Storage::Truths,
        Storage::Uuids,
        Storage::Bytes,
        Storage::Documents,
        Storage::Anything,
    ];
    assert_eq!(seen, storages.iter().map(|it| format!("{it:?}")).collect());
    assert!(all.answered > 1_000 && all.refused > 100, "{all:?}");
}
