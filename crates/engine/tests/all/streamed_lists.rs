//! Lists with `@stream`: what the first part waits for, and that all parts together are the answer.

use crate::increments::{Shop, flowing_shop, merged, read, shop, shop_with};
use crate::kit::{Settings, settings};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use weir_engine::engine::{Body, IncrementForm};
use weir_language::limits::Limits;

const FORMS: [IncrementForm; 2] = [IncrementForm::Paths, IncrementForm::Ids];

/// Each answer in parts is that of a source that gives a list whole, and that of one whose later items follow.
const SHOPS: [fn() -> Shop; 2] = [shop, flowing_shop];

/// `query` without directives.
fn plain(query: &str) -> String {
    let mut rest = query;
    let mut out = String::new();
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        let directive = &rest[at..];
        let name = directive.find(|it: char| it != '@' && !it.is_alphabetic()).unwrap();
        rest = &directive[name..];
        if rest.starts_with('(') {
            rest = &rest[rest.find(')').unwrap() + 1..];
        }
    }
    out + rest
}

#[tokio::test]
async fn the_first_items_do_not_wait_for_what_hangs_below_the_others() {
    let query = r#"{ many(count: 5) @stream(initialCount: 2, label: "m") { id rating { stars } } }"#;
    let item = |id: i64| json!({"id": id, "rating": {"stars": id % 5}});
    let late: Vec<Value> = (3..=5).map(item).collect();
    for form in FORMS {
        let shop = shop();
        shop.gate.add_permits(1);
        let Body::Increments { first, mut rest } = shop.ask(query, Some(form)).await else {
            panic!("it comes in parts")
        };
        let mut expected = json!({"data": {"many": [item(1), item(2)]}, "hasNext": true});
        if form == IncrementForm::Ids {
            expected["pending"] = json!([{"id": "0", "path": ["many"], "label": "m"}]);
        }
        assert_eq!(read(&first), expected);
        assert_eq!(shop.reviews.asked()[0], "2 keys");
        shop.gate.add_permits(1);
        let expected = match form {
            IncrementForm::Paths => {
                json!({"incremental": [{"path": ["many", 2], "label": "m", "items": late}], "hasNext": false})
            }
            IncrementForm::Ids => {
                json!({"incremental": [{"id": "0", "items": late}], "completed": [{"id": "0"}], "hasNext": false})
            }
        };
        assert_eq!(read(&rest.recv().await.unwrap().unwrap()), expected);
        assert!(rest.recv().await.is_none());
        assert_eq!(shop.reviews.asked()[0], "3 keys");
    }
}

#[tokio::test]
async fn all_parts_of_streamed_lists_together_are_the_answer() {
    let queries = [
        "{ books @stream { title reviews { text } } }",
        "{ many @stream(initialCount: 3) { id } }",
        "{ many @stream(initialCount: 2) { id reviews @stream(initialCount: 1) { text } } }",
        "{ many @stream { shelf { books @stream { id reviews { text } } } } }",
        "{ many(count: 1201) @stream(initialCount: 1) { id author { name } } books { id } }",
        "{ many(count: 1201) @stream(initialCount: 1) { shelf { books @stream { title rating { stars } } } } }",
        "{ many @stream(initialCount: 1) { title ... @defer { id reviews { text } } } }",
        "{ many(count: 2) @stream { ... @defer { author { name reviews { stars } ... @defer { id rating: reviews { text } } } } id } }",
        "{ book(id: 1) { id ... @defer { title reviews @stream(initialCount: 1) { text book { title } } } } }",
        "{ ... @defer { books @stream(initialCount: 1) { id reviews @stream { stars ... @defer { book { id reviews { text } } } } } } many { id } }",
        "{ a: many @stream { ...F } b: many @stream(initialCount: 2) { ...F } } fragment F on Book { id reviews @stream { text } }",
        "{ a: book(id: 1) { ...F } b: book(id: 2) { ...F } } fragment F on Book { shelf { books @stream { id author { name } reviews { text } } } }",
        "{ a: book(id: 1) { ...F } b: book(id: 1) { ...F } } fragment F on Book { reviews @stream(initialCount: 1) { text } }",
        "{ books @stream { id } ... @defer { books @stream { reviews { text } } } }",
        "{ items @stream(initialCount: 3) { __typename ... on Book { title reviews { text } } ... on Author { name reviews { stars } } } }",
        "{ items @stream { __typename ... on Book { shelf { books @stream { rating { stars } } } } ... on Author { ... @defer { reviews { stars } } } } }",
        "{ many @stream(initialCount: 1) { tags @stream(initialCount: 1) rating { stars } } }",
        "{ many @stream { tags } none @stream { id reviews { text } } nothing { books @stream { id } } }",
        "{ book(id: 1) { shelf { books @stream { reviews { text book { reviews @stream(initialCount: 1) { text } } } } } } }",
        "{ __typename __schema { types @stream { name fields @stream { name } } } many @stream(initialCount: 6) { id } }",
    ];
    for query in queries {
        let expected = shop().whole(&plain(query)).await;
        assert!(expected.get("errors").is_none(), "{query}: {expected}");
        assert_eq!(flowing_shop().whole(query).await, expected, "without parts: {query}");
        for (shop, form) in SHOPS.into_iter().flat_map(|shop| FORMS.map(|form| (shop, form))) {
            let parts = shop().parts(query, form).await;
            assert!(parts.len() > 1, "{query}");
            assert_eq!(merged(&parts), expected["data"], "{form:?} {query}: {parts:#?}");
        }
    }
}

#[tokio::test]
async fn long_lists_come_in_parts_of_a_bounded_size() {
    let names: String = (0..40).map(|it| format!("n{it}: author {{ name }} ")).collect();
    let query = format!("{{ many(count: 900) @stream(initialCount: 10) {{ {names} }} }}");
    for form in FORMS {
        let shop = shop();
        let Body::Increments { first, mut rest } = shop.ask(&query, Some(form)).await else {
            panic!("it comes in parts")
        };
        let mut parts = vec![read(&first)];
        let mut longest = first.len();
        while let Some(part) = rest.recv().await {
            let part = part.unwrap();
            longest = longest.max(part.len());
            parts.push(read(&part));
        }
        assert!(longest < 70_000 && parts.len() > 5, "{longest} {}", parts.len());
        assert_eq!(merged(&parts), shop.whole(&plain(&query)).await["data"]);
    }
}

#[tokio::test]
async fn a_list_without_later_items_is_one_answer() {
    let shop = shop();
    for query in [
        "{ many @stream(if: false) { id reviews { text } } }",
        "{ many @stream(initialCount: 7) { id reviews { text } } }",
        "{ many(count: 0) @stream { id reviews { text } } none @stream { id } nothing { books @stream { id } } }",
        "mutation { write(id: 1) { shelf { books @stream { id } } reviews @stream { text } } }",
    ] {
        let expected = shop.whole(&plain(query)).await;
        assert!(expected.get("errors").is_none(), "{expected}");
        assert_eq!(shop.parts(query, IncrementForm::Ids).await, [expected], "{query}");
    }
}

#[tokio::test]
async fn a_list_in_several_parts_of_the_answer_comes_whole() {
    let shop = shop();
    let query = "{ books { reviews @stream { stars } } ... @defer { books { reviews @stream { text } } many(count: 1) { id } } }";
    let parts = shop.parts(query, IncrementForm::Ids).await;
    let later = parts.iter().filter_map(|it| it["incremental"].as_array()).flatten();
    assert!(parts.len() > 1 && later.clone().all(|it| it.get("items").is_none()), "{parts:?}");
    assert_eq!(merged(&parts), shop.whole(&plain(query)).await["data"]);
}

#[tokio::test]
async fn counts_and_conditions_may_be_variables() {
    let shop = shop();
    let query = "query ($n: Int = 4, $s: Boolean = true) { many @stream(initialCount: $n, if: $s) { id } }";
    for (variables, first, parts) in [
        ("{}", 4, 2),
        (r#"{"n": 6}"#, 6, 2),
        (r#"{"n": 0}"#, 0, 2),
        (r#"{"n": 7}"#, 7, 1),
        (r#"{"n": 1, "s": false}"#, 7, 1),
    ] {
        let found = shop.parts_with(query, variables, IncrementForm::Paths).await;
        assert_eq!(found.len(), parts, "{variables}");
        assert_eq!(found[0]["data"]["many"].as_array().unwrap().len(), first, "{variables}");
    }
    let absent = "query ($n: Int) { many @stream(initialCount: $n) { id } }";
    assert_eq!(shop.parts(absent, IncrementForm::Ids).await[0]["data"], json!({"many": []}));
}

#[tokio::test]
async fn a_negative_count_is_an_error_of_the_list() {
    let shop = shop();
    let query =
        "query ($n: Int) { loose(count: 3) @stream(initialCount: $n) { id reviews { text } } books { id } }";
    for (query, variables) in [
        (query, r#"{"n": -1}"#),
        (query, r#"{"n": null}"#),
        (&query.replace("$n) {", "-2) {").replace("($n: Int) ", ""), "{}"),
    ] {
        let parts = shop.parts_with(query, variables, IncrementForm::Ids).await;
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0]["data"]["loose"], Value::Null);
        assert_eq!(parts[0]["data"]["books"][0], json!({"id": 1}));
        assert_eq!(parts[0]["errors"][0]["extensions"]["code"], "INITIAL_COUNT");
        assert_eq!(parts[0]["errors"][0]["path"], json!(["loose"]));
    }
}

#[tokio::test]
async fn a_null_that_bubbles_ends_the_list() {
    let query = r#"{ many(count: 12) @stream(initialCount: 6, label: "m") { id title rating { stars } } }"#;
    let item = |id: i64| json!({"id": id, "title": format!("Book {id}"), "rating": {"stars": id % 5}});
    let parts = shop().parts(query, IncrementForm::Paths).await;
    let entries = parts[1]["incremental"].as_array().unwrap();
    assert_eq!(entries[0], json!({"path": ["many", 6], "label": "m", "items": [item(7), item(8)]}));
    assert_eq!((&entries[1]["path"], &entries[1]["items"]), (&json!(["many", 8]), &Value::Null));
    assert_eq!(entries[1]["errors"][0]["path"], json!(["many", 8, "title"]));
    assert_eq!((parts.len(), entries.len(), &parts[1]["hasNext"]), (2, 2, &json!(false)));

    let parts = shop().parts(query, IncrementForm::Ids).await;
    assert_eq!(parts[1]["incremental"], json!([{"id": "0", "items": [item(7), item(8)]}]));
    let completed = &parts[1]["completed"][0];
    assert_eq!(
        (&completed["id"], &completed["errors"][0]["path"]),
        (&json!("0"), &json!(["many", 8, "title"]))
    );
    assert_eq!((parts.len(), &parts[1]["hasNext"]), (2, &json!(false)));
}

#[tokio::test]
async fn an_item_that_may_be_null_is_null_in_its_place() {
    let query = "{ loose(count: 11) @stream(initialCount: 4) { title } }";
    for form in FORMS {
        let parts = shop().parts(query, form).await;
        let whole = shop().whole(&plain(query)).await;
        assert_eq!(merged(&parts), whole["data"]);
        let error = &parts[1]["incremental"][0]["errors"][0];
        assert_eq!(error["message"], whole["errors"][0]["message"]);
        assert_eq!(error["path"], json!(["loose", 8, "title"]));
    }
}

#[tokio::test]
async fn a_source_that_fails_for_later_items_leaves_the_first_ones() {
    // Reviews of author 13 fail, whose book is the third.
    let query = "{ many(count: 5) @stream(initialCount: 2) { id author { reviews { text } } } }";
    for form in FORMS {
        let parts = shop().parts(query, form).await;
        assert!(parts[0].get("errors").is_none());
        assert_eq!(parts[0]["data"]["many"][1]["author"]["reviews"][0]["text"], "about 12");
        let entry = &parts[1]["incremental"][0];
        assert_eq!(entry["items"][0], json!({"id": 3, "author": {"reviews": null}}));
        let paths: Vec<&Value> = entry["errors"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
        let path = |index: usize| json!(["many", index, "author", "reviews"]);
        assert_eq!(paths, [&path(2), &path(3), &path(4)]);
    }
}

#[tokio::test]
async fn a_null_takes_the_lists_below_it_along() {
    let query =
        "{ a: book(id: 9) { title reviews @stream { text } } b: book(id: 1) { reviews @stream { text } } }";
    for form in FORMS {
        let parts = shop().parts(query, form).await;
        assert_eq!(parts[0]["data"], json!({"a": null, "b": {"reviews": []}}));
        assert_eq!(merged(&parts), shop().whole(&plain(query)).await["data"]);
        assert_eq!(parts[1]["incremental"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_fragment_in_an_item_leaves_when_it_is_there() {
    let shop = shop();
    let query = "{ many(count: 2) @stream(initialCount: 1) { id ... @defer { rating { stars } } } }";
    let Body::Increments { first, mut rest } = shop.ask(query, Some(IncrementForm::Paths)).await else {
        panic!("it comes in parts")
    };
    assert_eq!(read(&first)["data"], json!({"many": [{"id": 1}]}));
    // The second item waits for no source, while both fragments do.
    let second = read(&rest.recv().await.unwrap().unwrap());
    assert_eq!(second["incremental"], json!([{"path": ["many", 1], "items": [{"id": 2}]}]));
    shop.gate.add_permits(2);
    let mut paths = Vec::new();
    while let Some(part) = rest.recv().await {
        let part = read(&part.unwrap());
        paths.extend(part["incremental"].as_array().unwrap().iter().map(|it| it["path"].clone()));
    }
    paths.sort_by_key(Value::to_string);
    assert_eq!(paths, [json!(["many", 0]), json!(["many", 1])]);
}

#[tokio::test]
async fn a_client_that_goes_away_takes_the_items_along() {
    for shop in [shop(), flowing_shop()] {
        shop.ask_and_go("{ many(count: 2000) @stream { rating { stars } } }").await;
        assert!(shop.reviews.asked().is_empty(), "nothing was answered");
    }
}

#[tokio::test]
async fn a_slow_client_is_not_read_ahead_for() {
    let shop = shop();
    shop.gate.add_permits(10_000);
    let query = "{ many(count: 5000) @stream { rating { stars } } }";
    let Body::Increments { mut rest, .. } = shop.ask(query, Some(IncrementForm::Paths)).await else {
        panic!("it comes in parts")
    };
    let asked = || shop.gate.available_permits();
    let mut before = usize::MAX;
    // Each fetch takes a permit: they stop while nobody takes parts.
    while asked() < before {
        before = asked();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert!(10_000 - asked() <= 4, "{}", 10_000 - asked());
    while rest.recv().await.is_some() {}
    assert_eq!(10_000 - asked(), 10);
}

#[tokio::test]
async fn so_many_lists_are_streamed_and_the_others_come_whole() {
    let lists: String = (0..70).map(|it| format!("a{it}: many(count: 2) @stream {{ id }} ")).collect();
    let query = format!("{{ {lists} }}");
    for form in FORMS {
        let boundless = Settings { limits: Limits::NONE, ..settings() };
        let parts = shop_with(boundless).parts(&query, form).await;
        let lens = parts[0]["data"]
            .as_object()
            .unwrap_or_else(|| panic!("{parts:?}"))
            .values()
            .map(|it| it.as_array().unwrap().len());
        assert_eq!(lens.filter(|it| *it == 0).count(), 64);
        let boundless = Settings { limits: Limits::NONE, ..settings() };
        assert_eq!(merged(&parts), shop_with(boundless).whole(&plain(&query)).await["data"]);
    }
}

/// A random selection on books, from a stream of small numbers; used up, it gives the simplest.
struct Choices<'d>(std::slice::Iter<'d, u8>);

impl Choices<'_> {
    fn below(&mut self, sides: u8) -> u8 {
        self.0.next().map_or(0, |it| it % sides)
    }

    /// `@stream` with some count; mostly one.
    fn stream(&mut self, out: &mut String) {
        match self.below(5) {
            0 => {}
            count => write!(out, " @stream(initialCount: {})", count - 1).unwrap(),
        }
    }

    /// Selections on `on`. Lists have names of their own, so that all merge.
    fn selection(&mut self, on: &str, depth: u8, names: &mut u32, out: &mut String) {
        out.push_str(" { ");
        let len = 1 + self.below(3);
        for _ in 0..len {
            *names += 1;
            let name = *names;
            match self.below(if depth == 0 { 2 } else { 5 }) {
                0 => out.push_str("__typename "),
                1 => out.push_str(match on {
                    "Book" => "title ",
                    "Review" => "text ",
                    _ => "name ",
                }),
                2 => {
                    let keep = self.below(2) == 0;
                    out.push_str(if keep { "... @defer" } else { "..." });
                    self.selection(on, depth - 1, names, out);
                }
                3 if on == "Review" => {
                    write!(out, "f{name}: book").unwrap();
                    self.selection("Book", depth - 1, names, out);
                }
                3 if on == "Book" => {
                    out.push_str("author");
                    self.selection("Author", depth - 1, names, out);
                }
                3 if on == "Shelf" => {
                    write!(out, "l{name}: books").unwrap();
                    self.stream(out);
                    self.selection("Book", depth - 1, names, out);
                }
                _ if on == "Book" && self.below(2) == 0 => {
                    out.push_str("shelf");
                    self.selection("Shelf", depth - 1, names, out);
                }
                _ if on == "Book" => {
                    write!(out, "l{name}: reviews").unwrap();
                    self.stream(out);
                    self.selection("Review", depth - 1, names, out);
                }
                _ => out.push_str("__typename "),
            }
        }
        out.push_str("} ");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn parts_of_random_queries_are_the_answer(words in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut query = String::from("{ many(count: 4)");
        let mut dice = Choices(words.iter());
        let mut names = 0;
        dice.stream(&mut query);
        dice.selection("Book", 5, &mut names, &mut query);
        query.push('}');
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let expected = shop().whole(&plain(&query)).await;
            prop_assert!(expected.get("errors").is_none(), "{query}: {expected}");
            for (shop, form) in SHOPS.into_iter().flat_map(|shop| FORMS.map(|form| (shop, form))) {
                let parts = shop().parts(&query, form).await;
                prop_assert_eq!(&merged(&parts), &expected["data"], "{:?} {}: {:#?}", form, query, parts);
            }
            Ok(())
        })?;
    }
}
