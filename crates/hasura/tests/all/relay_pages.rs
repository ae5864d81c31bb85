//! Pages of connections, held against a plain list: random rows with nulls and ties, random orders, both directions, on both databases.

use crate::fleet_kit::{Fleet, both, caller};
use serde_json::{Value, json};
use std::cmp::Ordering;
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_metadata::document::table::TableEntry;

/// Orders for each database; `WEIR_RELAY_CASES` asks for more.
const CASES: u64 = 40;
const ITEMS: u64 = 23;
/// The limit of the role `few`.
const FEW: usize = 7;

const TABLES: &str = r#"[
  {"table": "item", "select_permissions": [{"role": "few", "permission":
    {"columns": "*", "filter": {"a": {"_gt": 0}}, "limit": 7, "allow_aggregations": true}}]},
  {"table": "box", "select_permissions": [{"role": "few", "permission":
    {"columns": "*", "filter": {}, "allow_aggregations": true}}]},
  {"table": "part", "select_permissions": [{"role": "few", "permission":
    {"columns": "*", "filter": {}, "allow_aggregations": true}}]}]"#;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A row, and the values that it can be sorted by.
struct Item {
    a: i64,
    b: i64,
    /// Parallel to [`TERMS`].
    values: Vec<Value>,
}

/// Orders of rows: arguments before and after the direction.
const TERMS: [(&str, &str); 9] = [
    ("a: ", ""),
    ("b: ", ""),
    ("x: ", ""),
    ("t: ", ""),
    ("f: ", ""),
    ("box: {rank: ", "}"),
    ("box: {label: ", "}"),
    ("parts_aggregate: {count: ", "}"),
    ("parts_aggregate: {max: {weight: ", "}}"),
];

const DIRECTIONS: [(&str, bool, bool); 6] = [
    ("asc", false, false),
    ("asc_nulls_first", false, true),
    ("asc_nulls_last", false, false),
    ("desc", true, true),
    ("desc_nulls_first", true, true),
    ("desc_nulls_last", true, false),
];

const SCHEMA: &str = "
    CREATE TABLE box (number INTEGER PRIMARY KEY, rank INTEGER, label TEXT);
    CREATE TABLE item (
        a INTEGER NOT NULL, b INTEGER NOT NULL, x INTEGER, t TEXT, f DOUBLE PRECISION,
        box_number INTEGER REFERENCES box (number), PRIMARY KEY (a, b)
    );
    CREATE TABLE part (
        number INTEGER PRIMARY KEY, item_a INTEGER, item_b INTEGER, weight INTEGER,
        FOREIGN KEY (item_a, item_b) REFERENCES item (a, b)
    );";

fn sql(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

/// Rows with many nulls and ties, and SQL that makes them.
fn world(dice: &mut Dice) -> (String, Vec<Item>) {
    let mut text = SCHEMA.to_owned();
    let labels = [Value::Null, json!("a"), json!("B"), json!("it's \\\"é")];
    let boxes: Vec<[Value; 2]> = (0..4)
        .map(|_| {
            [
                dice.pick(&[None, Some(1), Some(2)]).map_or(Value::Null, |it| json!(it)),
                labels[dice.below(4) as usize].clone(),
            ]
        })
        .collect();
    for (at, [rank, label]) in boxes.iter().enumerate() {
        text.push_str(&format!("INSERT INTO box VALUES ({}, {}, {});\n", at + 1, sql(rank), sql(label)));
    }
    let floats = [Value::Null, json!(0.1), json!(-2.5), json!(1e10), json!(3.0)];
    let mut items = Vec::new();
    let mut parts = 0;
    let mut more = String::new();
    for at in 0..ITEMS {
        let a = at as i64 / 4 - 1;
        let b = at as i64 % 4;
        let x = dice.pick(&[None, Some(0), Some(1), Some(-3)]).map_or(Value::Null, |it| json!(it));
        let t = labels[dice.below(4) as usize].clone();
        let f = floats[dice.below(5) as usize].clone();
        let of = dice.below(5) as usize;
        let number = if of == 4 { Value::Null } else { json!(of + 1) };
        let [rank, label] = boxes.get(of).cloned().unwrap_or([Value::Null, Value::Null]);
        text.push_str(&format!(
            "INSERT INTO item VALUES ({a}, {b}, {}, {}, {}, {});\n",
            sql(&x),
            sql(&t),
            sql(&f),
            sql(&number)
        ));
        let weights: Vec<Option<i64>> =
            (0..dice.below(3)).map(|_| dice.pick(&[None, Some(1), Some(2)])).collect();
        for weight in &weights {
            parts += 1;
            let weight = weight.map_or("NULL".to_owned(), |it| it.to_string());
            more.push_str(&format!("INSERT INTO part VALUES ({parts}, {a}, {b}, {weight});\n"));
        }
        let max = weights.iter().flatten().max().map_or(Value::Null, |it| json!(it));
        items.push(Item {
            a,
            b,
            values: vec![json!(a), json!(b), x, t, f, rank, label, json!(weights.len()), max],
        });
    }
    (text + &more, items)
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.cmp(other),
        _ => one.as_f64().unwrap().total_cmp(&other.as_f64().unwrap()),
    }
}

/// A term of [`TERMS`] and a direction.
type Term = (usize, (&'static str, bool, bool));

fn sorted<'w>(items: &'w [Item], terms: &[Term]) -> Vec<&'w Item> {
    let mut rows: Vec<&Item> = items.iter().collect();
    rows.sort_by(|one, other| {
        for &(term, (_, descending, nulls_first)) in terms {
            let one = &one.values[term];
            let other = &other.values[term];
            let order = match (one.is_null(), other.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) => {
                    if nulls_first {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
                (false, true) => {
                    if nulls_first {
                        Ordering::Greater
                    } else {
                        Ordering::Less
                    }
                }
                (false, false) if descending => compare(other, one),
                (false, false) => compare(one, other),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        (one.a, one.b).cmp(&(other.a, other.b))
    });
    rows
}

fn keys(rows: &[&Item]) -> Vec<(i64, i64)> {
    rows.iter().map(|it| (it.a, it.b)).collect()
}

/// A page as the API gives it.
struct Page {
    rows: Vec<(i64, i64)>,
    cursors: Vec<String>,
    info: Value,
}

struct Asker<'f> {
    fleet: &'f Fleet,
    identity: Identity,
    arguments: String,
}

impl Asker<'_> {
    /// The page of these arguments; a cursor travels as a variable.
    fn page(&self, count: (&str, usize), cursor: Option<(&str, &str)>) -> Page {
        let (declared, place) = match cursor {
            Some((side, _)) => ("($c: String)", format!(", {side}: $c")),
            None => ("", String::new()),
        };
        let query = format!(
            "query {declared} {{ item_connection({}: {}{}{place}) {{ pageInfo {{ hasNextPage hasPreviousPage \
             startCursor endCursor }} edges {{ cursor node {{ a b }} }} }} }}",
            count.0, count.1, self.arguments
        );
        let variables = json!({ "c": cursor.map(|it| it.1) }).to_string();
        let answer = self.fleet.ask_with(&self.identity, &query, &variables, Protocol::GraphqlOverHttp);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let of = &answer["data"]["item_connection"];
        let edges = of["edges"].as_array().unwrap_or_else(|| panic!("{query} {variables}: {answer}"));
        let number = |edge: &Value, key: &str| edge["node"][key].as_i64().unwrap();
        Page {
            rows: edges.iter().map(|it| (number(it, "a"), number(it, "b"))).collect(),
            cursors: edges.iter().map(|it| it["cursor"].as_str().unwrap().to_owned()).collect(),
            info: of["pageInfo"].clone(),
        }
    }

    /// Holds a page against `expected`, the rows from place `from` of `all` on.
    #[track_caller]
    fn check(&self, page: &Page, all: &[(i64, i64)], shown: std::ops::Range<usize>, what: &str) {
        let what = || format!("{what}, {}", self.arguments);
        assert_eq!(page.rows, all[shown.clone()], "{}", what());
        let is_empty = shown.is_empty();
        let info = json!({
            "hasNextPage": !is_empty && shown.end < all.len(),
            "hasPreviousPage": !is_empty && shown.start > 0,
            "startCursor": page.cursors.first().cloned().unwrap_or_default(),
            "endCursor": page.cursors.last().cloned().unwrap_or_default(),
        });
        assert_eq!(page.info, info, "{}", what());
    }

    /// Walks all rows forth and back, and asks for pages on either side of a cursor.
    fn walk(&self, all: &[(i64, i64)], size: usize, what: &str) {
        let mut at = 0;
        let mut cursor = None::<String>;
        let mut cursors = Vec::new();
        loop {
            let page = self.page(("first", size), cursor.as_deref().map(|it| ("after", it)));
            let end = all.len().min(at + size);
            self.check(&page, all, at..end, what);
            cursors.extend(page.cursors.iter().cloned());
            at = end;
            cursor = page.cursors.last().cloned();
            if page.info["hasNextPage"] == json!(false) {
                break;
            }
        }
        assert_eq!(at, all.len(), "{what}, {}", self.arguments);
        let mut at = all.len();
        let mut cursor = None::<String>;
        loop {
            let page = self.page(("last", size), cursor.as_deref().map(|it| ("before", it)));
            let start = at.saturating_sub(size);
            self.check(&page, all, start..at, what);
            assert_eq!(page.cursors, cursors[start..at], "{what}, {}", self.arguments);
            at = start;
            cursor = page.cursors.first().cloned();
            if page.info["hasPreviousPage"] == json!(false) {
                break;
            }
        }
        assert_eq!(at, 0, "{what}, {}", self.arguments);
        for place in [0, all.len() / 2, all.len() - 1] {
            let behind = self.page(("last", size), Some(("after", &cursors[place])));
            self.check(&behind, all, (all.len() - size.min(all.len() - place - 1))..all.len(), what);
            let ahead = self.page(("first", size), Some(("before", &cursors[place])));
            self.check(&ahead, all, 0..size.min(place), what);
        }
    }
}

fn check(is_postgres: bool) {
    let cases = std::env::var("WEIR_RELAY_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(CASES);
    let tables: Vec<TableEntry> = serde_json::from_str(TABLES).unwrap();
    let options = ModelOptions {
        tables: &tables,
        relationship_names: RelationshipNames::Short,
        ..ModelOptions::default()
    };
    let mut dice = Dice(7);
    let mut made: Option<(Fleet, Vec<Item>)> = None;
    for case in 0..cases {
        if case % 20 == 0 {
            let (sql, items) = world(&mut dice);
            let [sqlite, postgres] = both(&sql, options);
            let fleet = if is_postgres { postgres } else { sqlite };
            made = Some((fleet.in_relay_form(), items));
        }
        let (fleet, items) = made.as_ref().unwrap();
        let mut terms: Vec<Term> = Vec::new();
        for _ in 0..dice.below(4) {
            let term = dice.below(TERMS.len() as u64) as usize;
            if terms.iter().all(|it| it.0 != term) {
                terms.push((term, dice.pick(&DIRECTIONS)));
            }
        }
        let written: Vec<String> = terms
            .iter()
            .map(|(term, direction)| format!("{{{}{}{}}}", TERMS[*term].0, direction.0, TERMS[*term].1))
            .collect();
        let order = format!(", order_by: [{}]", written.join(", "));
        let size = 1 + dice.below(9) as usize;
        let rows = sorted(items, &terms);
        let admin = Asker { fleet, identity: Identity::admin(), arguments: order.clone() };
        admin.walk(&keys(&rows), size, &format!("case {case}"));
        let mut few: Vec<&Item> = rows.iter().copied().filter(|it| it.a > 0).collect();
        few.truncate(FEW);
        let few_asker = Asker { fleet, identity: caller("few", &[]), arguments: order.clone() };
        few_asker.walk(&keys(&few), size, &format!("case {case} as few"));
        // The first row of each value, in the order of the rows.
        let distinct_on = terms.first().filter(|it| it.0 < 5).copied();
        if let Some((term, _)) = distinct_on {
            let mut seen: Vec<&Value> = Vec::new();
            let first: Vec<&Item> = rows
                .iter()
                .copied()
                .filter(|it| {
                    let value = &it.values[term];
                    let is_new = !seen.contains(&value);
                    seen.push(value);
                    is_new
                })
                .collect();
            let column = TERMS[term].0.trim_end_matches(": ");
            let arguments = format!(", distinct_on: [{column}]{order}");
            let asker = Asker { fleet, identity: Identity::admin(), arguments };
            asker.forth(&keys(&first), size, &format!("case {case}, distinct"));
        }
    }
}

impl Asker<'_> {
    /// Walks forth alone.
    fn forth(&self, all: &[(i64, i64)], size: usize, what: &str) {
        let mut at = 0;
        let mut cursor = None::<String>;
        while at < all.len() {
            let page = self.page(("first", size), cursor.as_deref().map(|it| ("after", it)));
            let end = all.len().min(at + size);
            self.check(&page, all, at..end, what);
            at = end;
            cursor = page.cursors.last().cloned();
        }
        let cursor = cursor.unwrap();
        let ahead = self.page(("first", size), Some(("before", &cursor)));
        self.check(&ahead, all, 0..size.min(all.len() - 1), what);
    }
}

#[test]
fn pages_are_those_of_a_list_on_sqlite() {
    check(false);
}

#[test]
fn pages_are_those_of_a_list_on_postgres() {
    check(true);
}
