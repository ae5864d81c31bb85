//! Random questions over random objects give what maps and lists say: filters, orders, pages, in both databases; updates and
//! deletes hit the same objects.

use crate::kit;
use crate::kit::in_postgres;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use weir_relational::values::instant;

const TYPES: &str = r#"
type P {
  id: ID!
  n: Int @search
  s: String @search(by: [exact, term, ngram])
  b: Boolean @search
  d: DateTime @search
  tags: [String] @search(by: [hash, term])
  ints: [Int] @search
  bigs: [Int64] @search
  floats: [Float] @search
  texts: [String] @search(by: [exact])
  days: [DateTime] @search
  boss: P @hasInverse(field: staff)
  staff: [P]
}
"#;

/// Points in time in their order; the second and the third are the same.
const TIMES: [(&str, i64); 4] = [
    ("2020-01-01T00:30:00+02:00", 1),
    ("2020-01-01T00:00:00Z", 2),
    ("2019-12-31T23:00:00.0-01:00", 2),
    ("2020-01-01T00:00:00.5Z", 3),
];
const MICROS: [i64; 4] =
    [1_577_831_400_000_000, 1_577_836_800_000_000, 1_577_836_800_000_000, 1_577_836_800_500_000];
const TEXTS: [&str; 7] = ["a", "b", "a b", "B-a", "ab", "", "b a Houses"];
const TAGS: [&str; 3] = ["x", "y", "z x"];
const FIELDS: [&str; 8] = ["n", "s", "b", "d", "tags", "ints", "boss", "staff"];
/// Lists whose items are numbers of a small range, each written in its own way, which keeps their order.
const LISTS: [&str; 5] = ["ints", "bigs", "floats", "texts", "days"];

/// An item of a list as the API takes it.
fn item(list: &str, number: i64) -> Value {
    match list {
        "ints" => json!(number),
        "bigs" => json!(number * 3_000_000_000),
        "floats" => json!(number as f64 + 0.5),
        "texts" => json!(format!("t{}", number + 5)),
        _ => json!(format!("20{}-01-01T00:00:00Z", 20 + number)),
    }
}

/// An object; its id is its place, from one.
#[derive(Clone, Debug)]
struct Object {
    n: Option<i64>,
    s: Option<&'static str>,
    b: Option<bool>,
    d: Option<usize>,
    tags: Vec<&'static str>,
    /// Of each of the lists.
    items: [Vec<i64>; LISTS.len()],
    boss: Option<usize>,
}

fn object() -> impl Strategy<Value = Object> {
    let maybe = |it| prop::option::weighted(0.8, it);
    let tags = subsequence(TAGS.to_vec(), 0..=3);
    let values = (maybe(-2..3_i64), prop::option::weighted(0.8, select(&TEXTS[..])), any::<Option<bool>>());
    let edges = (prop::option::weighted(0.8, 0..TIMES.len()), tags, prop::option::of(0..12_usize));
    let items = prop::array::uniform(subsequence((-3..4).collect::<Vec<i64>>(), 0..=3));
    (values, edges, items).prop_map(|((n, s, b), (d, tags, boss), items)| Object {
        n,
        s,
        b,
        d,
        tags,
        items,
        boss,
    })
}

/// One member of a filter.
#[derive(Clone, Debug)]
enum Part {
    /// Of `n`: an operator and its numbers.
    Number(&'static str, Vec<i64>),
    Text(&'static str, Vec<&'static str>),
    Words(&'static str, &'static str),
    /// Words of `s` in a row.
    Ngram(&'static str),
    Is(bool),
    Time(&'static str, usize),
    Tags(Vec<&'static str>),
    /// Of one of the lists: operators and their numbers. Each of them is met by one item.
    Items(usize, Vec<(&'static str, Vec<i64>)>),
    /// Numbers of objects.
    Ids(Vec<usize>),
    /// Words of `tags`, over all items.
    TagWords(&'static str, &'static str),
    /// A field that has no value.
    Lacks(&'static str),
    Has(Vec<&'static str>),
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Filter),
    Boss(Filter),
    Staff(Filter),
}

type Filter = Vec<Part>;

impl Part {
    fn name(&self) -> &'static str {
        match self {
            Self::Number(..) => "n",
            Self::Text(..) | Self::Words(..) | Self::Ngram(_) => "s",
            Self::Is(_) => "b",
            Self::Time(..) => "d",
            Self::Tags(_) | Self::TagWords(..) => "tags",
            Self::Items(list, _) => LISTS[*list],
            Self::Ids(_) => "id",
            Self::Lacks(field) => field,
            Self::Has(_) => "has",
            Self::And(_) => "and",
            Self::Or(_) => "or",
            Self::Not(_) => "not",
            Self::Boss(_) => "boss",
            Self::Staff(_) => "staff",
        }
    }

    fn given(&self) -> Value {
        let list = |filters: &[Filter]| Value::Array(filters.iter().map(given).collect());
        match self {
            Self::Number("between", of) => json!({ "between": { "min": of[0], "max": of[1] } }),
            Self::Number("in", of) => json!({ "in": of }),
            Self::Number(by, of) => json!({ *by: of[0] }),
            Self::Text("in", of) => json!({ "in": of }),
            Self::Text(by, of) => json!({ *by: of[0] }),
            Self::Words(by, words) | Self::TagWords(by, words) => json!({ *by: words }),
            Self::Ngram(words) => json!({ "ngram": words }),
            Self::Is(it) => json!(it),
            Self::Time(by, at) => json!({ *by: TIMES[*at].0 }),
            Self::Tags(of) => json!({ "in": of }),
            Self::Items(list, said) => {
                let item = |it: i64| item(LISTS[*list], it);
                let operand = |(by, of): &(&'static str, Vec<i64>)| {
                    let operand = match *by {
                        "between" => json!({ "min": item(of[0]), "max": item(of[1]) }),
                        "in" => json!([item(of[0]), item(of[1])]),
                        _ => item(of[0]),
                    };
                    ((*by).to_owned(), operand)
                };
                Value::Object(said.iter().map(operand).collect())
            }
            Self::Ids(of) => of.iter().map(|at| format!("{:#x}", at + 1)).collect(),
            Self::Lacks(_) => json!({ "eq": null }),
            Self::Has(fields) => json!(fields),
            Self::And(of) | Self::Or(of) => list(of),
            Self::Not(of) | Self::Boss(of) | Self::Staff(of) => given(of),
        }
    }
}

/// As the API takes it; of members of one name the first counts.
fn given(filter: &Filter) -> Value {
    let members = filter.iter().rev().map(|it| (it.name().to_owned(), it.given()));
    Value::Object(members.collect::<Map<_, _>>())
}

fn said(filter: &Filter) -> impl Iterator<Item = &Part> {
    let is_first = |at: &usize| filter[..*at].iter().all(|it| it.name() != filter[*at].name());
    (0..filter.len()).filter(is_first).map(|at| &filter[at])
}

/// True if a filter has any condition.
fn says(filter: &Filter) -> bool {
    said(filter).any(|it| match it {
        Part::And(of) | Part::Or(of) => of.iter().any(says),
        Part::Not(of) | Part::Boss(of) | Part::Staff(of) => says(of),
        Part::Has(fields) => !fields.is_empty(),
        Part::Number(..)
        | Part::Text(..)
        | Part::Words(..)
        | Part::Ngram(_)
        | Part::Is(_)
        | Part::Time(..)
        | Part::Tags(_)
        | Part::TagWords(..)
        | Part::Ids(_)
        | Part::Lacks(_) => true,
        Part::Items(_, said) => !said.is_empty(),
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let number =
        (select(vec!["eq", "le", "lt", "ge", "gt", "in", "between"]), prop::collection::vec(-3..4_i64, 2));
    let text =
        (select(vec!["eq", "le", "lt", "ge", "gt", "in"]), prop::collection::vec(select(&TEXTS[..]), 2));
    let words = (select(vec!["allofterms", "anyofterms"]), select(vec!["a", "a b", "B", "ab x", "x", ""]));
    let tag_words =
        (select(vec!["allofterms", "anyofterms"]), select(vec!["x", "Z y", "z x", "y x z", "z w", "!"]));
    let time = (select(vec!["eq", "le", "lt", "ge", "gt"]), 0..TIMES.len());
    let operators = subsequence(vec!["eq", "le", "lt", "ge", "gt", "in", "between"], 0..=2);
    let items = (0..LISTS.len(), operators, prop::collection::vec(-3..4_i64, 2))
        .prop_map(|(list, by, of)| Part::Items(list, by.into_iter().map(|by| (by, of.clone())).collect()));
    let leaf = prop_oneof![
        1 => number.prop_map(|it| Part::Number(it.0, it.1)),
        1 => text.prop_map(|it| Part::Text(it.0, it.1)),
        1 => words.prop_map(|it| Part::Words(it.0, it.1)),
        1 => select(vec!["b", "a b", "B an housing", "house", "ab", "a", "x", ""]).prop_map(Part::Ngram),
        1 => any::<bool>().prop_map(Part::Is),
        1 => time.prop_map(|it| Part::Time(it.0, it.1)),
        1 => subsequence(TAGS.to_vec(), 1..=2).prop_map(Part::Tags),
        3 => items,
        2 => prop::collection::vec(0..12_usize, 0..4).prop_map(Part::Ids),
        1 => tag_words.prop_map(|it| Part::TagWords(it.0, it.1)),
        1 => select(vec!["n", "s", "d", "tags"]).prop_map(Part::Lacks),
        1 => subsequence(FIELDS.to_vec(), 0..=2).prop_map(Part::Has),
    ];
    let leaves = prop::collection::vec(leaf.clone(), 0..3);
    leaves.prop_recursive(3, 24, 3, move |inner| {
        let many = prop::collection::vec(inner.clone(), 0..3);
        let part = prop_oneof![
            3 => leaf.clone(),
            1 => many.clone().prop_map(Part::And),
            1 => many.prop_map(Part::Or),
            1 => inner.clone().prop_map(Part::Not),
            1 => inner.clone().prop_map(Part::Boss),
            1 => inner.prop_map(Part::Staff),
        ];
        prop::collection::vec(part, 0..4)
    })
}

/// Objects and what they refer to.
struct World(Vec<Object>);

impl World {
    fn boss(&self, at: usize) -> Option<usize> {
        self.0[at].boss.filter(|it| *it < self.0.len())
    }

    fn staff(&self, at: usize) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(move |it| self.boss(*it) == Some(at))
    }

    fn has(&self, at: usize, field: &str) -> bool {
        let it = &self.0[at];
        match field {
            "n" => it.n.is_some(),
            "s" => it.s.is_some(),
            "b" => it.b.is_some(),
            "d" => it.d.is_some(),
            "tags" => !it.tags.is_empty(),
            "ints" => !it.items[0].is_empty(),
            "boss" => self.boss(at).is_some(),
            _ => self.staff(at).next().is_some(),
        }
    }

    /// The ids of a root field's filter bound all the rest of it.
    fn fits_root(&self, filter: &Filter, at: usize) -> bool {
        let (ids, rest): (Filter, Filter) = filter.iter().cloned().partition(|it| matches!(it, Part::Ids(_)));
        self.fits(&ids, at) && self.fits(&rest, at)
    }

    fn fits(&self, filter: &Filter, at: usize) -> bool {
        let any: Vec<&Filter> = said(filter)
            .filter_map(|it| if let Part::Or(of) = it { Some(of) } else { None })
            .flatten()
            .filter(|it| says(it))
            .collect();
        let is_rest = |it: &&Part| !matches!(it, Part::Or(_)) && says(&vec![(*it).clone()]);
        let rest: Vec<&Part> = said(filter).filter(is_rest).collect();
        let rest_fits = rest.iter().all(|it| self.holds(it, at));
        let any_fits = any.iter().any(|it| self.fits(it, at));
        if any.is_empty() { rest_fits } else { any_fits || (!rest.is_empty() && rest_fits) }
    }

    fn holds(&self, part: &Part, at: usize) -> bool {
        let it = &self.0[at];
        match part {
            Part::Number(by, of) => it.n.is_some_and(|n| compares(by, &n, of)),
            Part::Text(by, of) => it.s.is_some_and(|s| compares(by, &s, of)),
            Part::Words(by, words) => it.s.is_some_and(|s| has_words(s, by, words)),
            Part::TagWords(by, words) => has_words(&it.tags.join(" "), by, words),
            Part::Ngram(words) => it.s.is_some_and(|s| has_in_a_row(s, words)),
            Part::Is(is) => it.b == Some(*is),
            Part::Time(by, of) => it.d.is_some_and(|d| compares(by, &TIMES[d].1, &[TIMES[*of].1])),
            Part::Tags(of) => it.tags.iter().any(|it| of.contains(it)),
            Part::Items(list, said) => {
                let meets =
                    |(by, of): &(&str, Vec<i64>)| it.items[*list].iter().any(|it| compares(by, it, of));
                said.iter().all(meets)
            }
            Part::Ids(of) => of.contains(&at),
            Part::Lacks(field) => !self.has(at, field),
            Part::Has(fields) => fields.iter().all(|it| self.has(at, it)),
            Part::And(of) => of.iter().filter(|it| says(it)).all(|it| self.fits(it, at)),
            Part::Or(of) => of.iter().filter(|it| says(it)).any(|it| self.fits(it, at)),
            Part::Not(of) => !self.fits(of, at),
            Part::Boss(of) => self.boss(at).is_some_and(|boss| self.fits(of, boss)),
            Part::Staff(of) => self.staff(at).any(|it| self.fits(of, it)),
        }
    }

    /// The value that a term of an order sorts by.
    fn key(&self, term: &Term, at: usize) -> Option<Key> {
        let at = if term.through_boss { self.boss(at)? } else { at };
        let it = &self.0[at];
        match term.by {
            "n" => it.n.map(Key::Number),
            "d" => it.d.map(|d| Key::Number(TIMES[d].1)),
            _ => it.s.map(Key::Text),
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(i64),
    Text(&'static str),
}

fn compares<T: Ord>(by: &str, own: &T, of: &[T]) -> bool {
    match by {
        "eq" => *own == of[0],
        "le" => *own <= of[0],
        "lt" => *own < of[0],
        "ge" => *own >= of[0],
        "gt" => *own > of[0],
        "in" => of.contains(own),
        _ => of[0] <= *own && *own <= of[1],
    }
}

fn has_words(text: &str, by: &str, words: &str) -> bool {
    let own: Vec<String> = terms(text).collect();
    let mut asked = terms(words).peekable();
    match by {
        _ if asked.peek().is_none() => false,
        "allofterms" => asked.all(|it| own.contains(&it)),
        _ => asked.any(|it| own.contains(&it)),
    }
}

/// Words that say nothing do not count, and of the others the stems.
fn has_in_a_row(text: &str, words: &str) -> bool {
    let stems = |text: &str| {
        let said = terms(text).filter(|it| !["a", "an"].contains(&it.as_str()));
        let stem = |it: String| if it.starts_with("hous") { "hous".to_owned() } else { it };
        said.map(stem).collect::<Vec<_>>()
    };
    let own = stems(text);
    let asked = stems(words);
    !asked.is_empty() && own.windows(asked.len()).any(|it| it == asked)
}

fn terms(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase)
}

#[derive(Clone, Debug)]
struct Term {
    by: &'static str,
    descending: bool,
    through_boss: bool,
}

#[derive(Clone, Debug)]
struct Question {
    filter: Filter,
    order: Vec<Term>,
    first: Option<i64>,
    offset: Option<i64>,
}

fn question() -> impl Strategy<Value = Question> {
    let term = (select(vec!["n", "s", "d"]), any::<bool>(), prop::bool::weighted(0.3))
        .prop_map(|(by, descending, through_boss)| Term { by, descending, through_boss });
    let order = prop::collection::vec(term, 0..3);
    let page = (prop::option::of(-4..5_i64), prop::option::of(-1..5_i64));
    (filter(), order, page).prop_map(|(filter, order, (first, offset))| Question {
        filter,
        order,
        first,
        offset,
    })
}

impl Question {
    fn order(&self) -> Value {
        self.order.iter().rev().fold(Value::Null, |then, term| {
            let side = json!({ if term.descending { "desc" } else { "asc" }: term.by });
            let mut object = if term.through_boss { json!({ "boss": side }) } else { side };
            object["then"] = then;
            object
        })
    }

    /// The ids of what is asked for.
    fn answer(&self, world: &World) -> Vec<usize> {
        let mut found: Vec<usize> =
            (0..world.0.len()).filter(|at| world.fits_root(&self.filter, *at)).collect();
        found.sort_by(|a, b| {
            let terms = self.order.iter().map(|term| match (world.key(term, *a), world.key(term, *b)) {
                (Some(a), Some(b)) if term.descending => b.cmp(&a),
                (Some(a), Some(b)) => a.cmp(&b),
                // Missing values are last, in both directions.
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            terms.fold(Ordering::Equal, Ordering::then)
        });
        let offset = self.offset.unwrap_or(0).max(0) as usize;
        match self.first.unwrap_or(0) {
            0 => found.drain(..offset.min(found.len())),
            first @ 1.. => {
                found.drain(..offset.min(found.len()));
                found.truncate(first as usize);
                found.drain(..0)
            }
            last => found.drain(..found.len().saturating_sub(last.unsigned_abs() as usize)),
        };
        found
    }
}

/// Statements that make the objects.
fn inserts(world: &World) -> String {
    let text = |it: Option<&str>| it.map_or("NULL".to_owned(), |it| format!("'{it}'"));
    let mut out = String::from("BEGIN;");
    for (at, it) in world.0.iter().enumerate() {
        let id = at + 1;
        let micros = it.d.map_or("NULL".to_owned(), |it| MICROS[it].to_string());
        let number = it.n.map_or("NULL".to_owned(), |it| it.to_string());
        let flag = it.b.map_or("NULL".to_owned(), |it| it.to_string());
        let boss = world.boss(at).map_or("NULL".to_owned(), |it| (it + 1).to_string());
        let s = text(it.s);
        let d = text(it.d.map(|it| TIMES[it].0));
        out.push_str(&format!(
            r#"INSERT INTO "P"(id, n, s, b, d, d_at, boss_id) VALUES ({id}, {number}, {s}, {flag}, {d}, {micros}, {boss});"#
        ));
        for tag in &it.tags {
            out.push_str(&format!(r#"INSERT INTO "P_tags"(id, value) VALUES ({id}, '{tag}');"#));
        }
        for (list, number) in
            LISTS.iter().zip(&it.items).flat_map(|(list, of)| of.iter().map(move |it| (list, it)))
        {
            let value = item(list, *number);
            let value = value.as_str().map_or_else(|| value.to_string(), |it| format!("'{it}'"));
            let (more, micros) = match *list {
                "days" => (
                    ", value_at",
                    format!(", {}", instant::parse(value.trim_matches('\'')).expect("a moment")),
                ),
                _ => ("", String::new()),
            };
            out.push_str(&format!(
                r#"INSERT INTO "P_{list}"(id, value{more}) VALUES ({id}, {value}{micros});"#
            ));
        }
    }
    out + "COMMIT;"
}

const QUERY: &str = "query ($f: PFilter, $o: POrder, $first: Int, $offset: Int) {
  queryP(filter: $f, order: $o, first: $first, offset: $offset) { id }
  aggregateP(filter: $f) { count }
}";

fn check(
    ask: &dyn Fn(&str, &str) -> String,
    world: &World,
    question: &Question,
) -> Result<(), TestCaseError> {
    let variables = json!({
        "f": given(&question.filter), "o": question.order(), "first": question.first, "offset": question.offset,
    });
    let answer: Value = serde_json::from_str(&ask(QUERY, &variables.to_string())).expect("JSON");
    let ids: Vec<Value> =
        question.answer(world).iter().map(|at| json!({ "id": format!("{:#x}", at + 1) })).collect();
    let count = (0..world.0.len()).filter(|at| world.fits_root(&question.filter, *at)).count();
    let expected = json!({ "data": { "queryP": ids, "aggregateP": { "count": count } } });
    prop_assert_eq!(answer, expected, "{}\n{:?}", variables, world.0);
    Ok(())
}

const CHANGES: &str = "mutation ($f: PFilter!) {
  updateP(input: {filter: $f, set: {b: true}}) { numUids }
  deleteP(filter: $f) { numUids }
}";

/// An update and a delete hit what a query with their filter finds, and nothing else. The update may hide an object from the
/// delete, so its field is no part of the filter.
fn check_changes(
    ask: &dyn Fn(&str, &str) -> String,
    world: &World,
    filter: &Filter,
) -> Result<(), TestCaseError> {
    let given = given(filter);
    if given.to_string().contains("\"b\"") {
        return Ok(());
    }
    let (hit, left): (Vec<usize>, Vec<usize>) =
        (0..world.0.len()).partition(|at| world.fits_root(filter, *at));
    let count = json!({ "numUids": hit.len() });
    let answer: Value =
        serde_json::from_str(&ask(CHANGES, &json!({ "f": given }).to_string())).expect("JSON");
    let expected = json!({ "data": { "updateP": count, "deleteP": count } });
    prop_assert_eq!(answer, expected, "{}\n{:?}", given, world.0);
    let answer: Value = serde_json::from_str(&ask("{ queryP { id } }", "")).expect("JSON");
    let ids: Vec<Value> = left.iter().map(|at| json!({ "id": format!("{:#x}", at + 1) })).collect();
    prop_assert_eq!(answer, json!({ "data": { "queryP": ids } }), "{}\n{:?}", given, world.0);
    Ok(())
}

fn worlds() -> impl Strategy<Value = (World, Vec<Question>)> {
    let objects = prop::collection::vec(object(), 0..12).prop_map(World);
    (objects, prop::collection::vec(question(), 60))
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn questions_are_answered_as_by_hand((world, questions) in worlds()) {
        let served = kit::serve(TYPES, &inserts(&world));
        for question in &questions {
            check(&|query, variables| served.ask(query, variables), &world, question)?;
        }
        check_changes(&|query, variables| served.ask(query, variables), &world, &questions[0].filter)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn questions_to_postgresql_are_too((world, questions) in worlds()) {
        let served = in_postgres::serve(TYPES, &inserts(&world));
        served.database.run("ANALYZE");
        for question in &questions {
            check(&|query, variables| served.ask(query, variables), &world, question)?;
        }
        check_changes(&|query, variables| served.ask(query, variables), &world, &questions[0].filter)?;
    }
}
