//! Whatever types are accepted can be laid out and served: random texts, most of them sound, some not.

use proptest::prelude::*;
use proptest::sample::select;
use weir_native::layout::{Database, Layout, Storage};
use weir_native::model::FieldKind;
use weir_native::{api, sdl};

const NAMES: [&str; 14] =
    ["a", "b", "c", "d", "a_id", "b_at", "type", "A", "and", "has", "has_", "desc", "then", "null"];

/// A value with directives that suit it.
const VALUES: [&str; 15] = [
    "String",
    "String! @search(by: [hash, term])",
    "String! @id",
    "String @search(by: [exact, regexp, fulltext])",
    "Int @search",
    "Int64! @id",
    "Float @default(add: {value: \"1.5\"})",
    "Boolean! @search",
    "DateTime @default(add: {value: \"$now\"})",
    "[DateTime!] @search(by: [day])",
    "[String] @search(by: [ngram])",
    "Point @search",
    "Polygon! @search",
    "E @search(by: [exact, trigram])",
    "[E!]!",
];

/// Fields of different names.
fn fields(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let edge = (select(&["A", "B", "C", "D", "I", "J", "U"][..]), select(&["@", "[@]", "@!", "[@!]!"][..]));
    let edge = edge.prop_map(|(to, form)| form.replace('@', to));
    let ty = prop_oneof![3 => select(&VALUES[..]).prop_map(str::to_owned), 1 => edge];
    let field = (select(names), ty);
    prop::collection::vec(field, 1..5).prop_map(|mut fields| {
        fields.sort();
        fields.dedup_by_key(|it| it.0);
        fields.into_iter().map(|(name, ty)| format!("  {name}: {ty}\n")).collect()
    })
}

/// Two sides of an edge, each with the place of its type: they fit, but for those of an interface and its implementers.
fn pair() -> impl Strategy<Value = [(usize, String); 2]> {
    let side = || (0..6_usize, select(&["@", "[@]", "@!"][..]));
    (side(), side(), 0..20_u32).prop_map(|((one, one_form), (other, other_form), number)| {
        let names = ["A", "B", "C", "D", "I", "J"];
        let p = format!("p{number}");
        let q = format!("q{number}");
        let first = format!("  {p}: {} @hasInverse(field: {q})\n", one_form.replace('@', names[other]));
        [(one, first), (other, format!("  {q}: {}\n", other_form.replace('@', names[one])))]
    })
}

fn text() -> impl Strategy<Value = String> {
    let head = select(&["", "", "implements I", "implements J & I"][..]);
    let directive = select(&["", "", "@secret(field: \"pwd\")", "@generate(mutation: {add: false})"][..]);
    let id = select(&["", "  id: ID!\n"][..]);
    let object = (head, directive, id, fields(&NAMES));
    let only_id = Just("  id: ID!\n".to_owned());
    let interfaces = (fields(&["x", "not"]), prop_oneof![4 => fields(&["z", "z_id"]), 1 => only_id]);
    let pairs = prop::collection::vec(pair(), 0..4);
    (prop::collection::vec(object, 4), interfaces, pairs).prop_map(|(objects, (i, j), pairs)| {
        let mut bodies: Vec<(String, String)> = Vec::new();
        for (name, (head, directive, id, fields)) in ["A", "B", "C", "D"].iter().zip(objects) {
            bodies.push((format!("type {name} {head} {directive}"), format!("{id}{fields}")));
        }
        bodies.push(("interface I".to_owned(), i));
        bodies.push(("interface J implements I".to_owned(), j));
        for (at, field) in pairs.into_iter().flatten() {
            bodies[at].1.push_str(&field);
        }
        let types: String = bodies.iter().map(|(head, body)| format!("{head} {{\n{body}}}\n")).collect();
        format!("{types}union U = A | D\nenum E {{ X Y }}\n")
    })
}

/// Everything of `text` that should hold if it is accepted; whether it was.
fn check(text: &str) -> bool {
    let Ok(read) = sdl::read(text) else { return false };
    for database in [Database::Sqlite, Database::Postgres] {
        let layout = Layout::new(&read.model, database, "public");
        for table in &layout.relations.catalog.tables {
            let mut names: Vec<String> = table.columns.iter().map(|it| it.name.to_lowercase()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}\n{text}", table.name);
        }
        for (field, storage) in read.model.fields.iter().zip(&layout.fields) {
            let by = match *storage {
                Storage::Values { by, .. }
                | Storage::ToOne { by, .. }
                | Storage::ToOneBack { by, .. }
                | Storage::ToMany { by, .. }
                | Storage::Join { by, .. } => by,
                Storage::Id(_) | Storage::Column(_) | Storage::Instant { .. } => continue,
                Storage::Point { .. } | Storage::Shape { .. } => continue,
            };
            let way = layout.relations.relationship(by);
            assert_eq!(way.name, field.name, "{text}");
            if let FieldKind::Edge { inverse: Some(other), .. } = field.kind {
                let is_itself = read.model.field(other) == field;
                let fits = match (*storage, layout.fields[other.index()]) {
                    (Storage::ToOne { .. }, Storage::ToMany { .. } | Storage::ToOneBack { .. }) => true,
                    (Storage::ToMany { .. } | Storage::ToOneBack { .. }, Storage::ToOne { .. }) => true,
                    (Storage::ToOne { .. }, Storage::ToOne { .. }) => is_itself,
                    (Storage::Join { table: one, .. }, Storage::Join { table: two, .. }) => one == two,
                    _ => false,
                };
                assert!(fits, "{}\n{text}", field.name);
            }
        }
    }
    let made = api::generate(read.model);
    assert!(made.is_ok(), "{:?}\n{text}", made.err());
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_accepted_can_be_served(text in text()) {
        check(&text);
    }

    #[test]
    fn no_text_is_too_much(text in "[a-zA-Z@{}()\\[\\]:!|&=,\"#. \n]{0,200}") {
        let _ = sdl::read(&text);
        let _ = sdl::read(&format!("type T {{ a: Int {text} }}"));
    }
}

#[test]
fn enough_of_the_random_texts_are_sound() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = text();
    let mut sample = || strategy.new_tree(&mut runner).expect("a text").current();
    let sound = (0..400).filter(|_| check(&sample())).count();
    assert!(sound > 100, "{sound} of 400");
}
