//! Errors of resolvers: values with path and extensions, mapped causes, contained panics, and nulls that bubble.

use crate::kit::{built, json};
use serde_json::{Value as Json, json as value};
use std::time::{Duration, Instant};
use weir_runtime::{
    Context, Request, ResolveError, Schema, async_batch, async_root, batch, each, leaf, record, root,
};

struct Item(i32);
record!(Item {});

/// A schema over three items, whose fields are made by `resolve`.
fn items(field: &str, resolve: impl Into<weir_runtime::AnyResolver>) -> Schema {
    let sdl = format!("type Query {{ items: [Item]! ok: Int }} type Item {{ id: Int! {field} }}");
    built(
        Schema::builder(&sdl)
            .resolve("Query.items", root(|_: &(), _: &Context| vec![Item(1), Item(2), Item(3)]))
            .resolve("Query.ok", root(|_: &(), _: &Context| 1))
            .resolve("Item.id", leaf(|item: &Item| item.0))
            .resolve("Item.f", resolve),
    )
}

fn errors(found: &Json) -> Vec<(String, Json)> {
    let errors = found["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|it| (it["message"].as_str().unwrap().to_owned(), it["path"].clone())).collect()
}

#[test]
fn one_object_may_fail_alone_with_path_and_extensions() {
    let schema = items(
        "f: Int",
        each(|item: &Item, _: &(), _: &Context| match item.0 {
            2 => Err(ResolveError::new("two is sold out")
                .code("SOLD_OUT".to_owned())
                .with_text("item", "two")
                .with_json("left", "0")),
            other => Ok(other * 10),
        }),
    );
    let found = json(&schema, "{ items { id g: f } }");
    assert_eq!(
        found["data"],
        value!({"items": [{"id": 1, "g": 10}, {"id": 2, "g": null}, {"id": 3, "g": 30}]})
    );
    let error = &found["errors"][0];
    assert_eq!(error["message"], "two is sold out");
    assert_eq!(error["path"], value!(["items", 1, "g"]));
    assert_eq!(error["locations"], value!([{"line": 1, "column": 14}]));
    assert_eq!(error["extensions"], value!({"code": "SOLD_OUT", "item": "two", "left": 0}));
}

#[test]
fn a_null_in_a_non_null_place_takes_its_object_along() {
    let schema = items(
        "f: Int!",
        batch(|items: &[&Item], _: &(), _: &Context| {
            items
                .iter()
                .map(|it| if it.0 == 2 { Err(ResolveError::new("no")) } else { Ok(it.0) })
                .collect::<Vec<_>>()
        }),
    );
    let found = json(&schema, "{ items { f } }");
    assert_eq!(found["data"], value!({"items": [{"f": 1}, null, {"f": 3}]}));
    assert_eq!(errors(&found), [("no".to_owned(), value!(["items", 1, "f"]))]);
}

#[test]
fn a_batch_that_fails_as_a_whole_leaves_the_other_fields() {
    let schema = items(
        "f: Int",
        batch(|_: &[&Item], _: &(), _: &Context| -> Result<Vec<i32>, ResolveError> {
            Err(ResolveError::new("the shop is closed"))
        }),
    );
    let found = json(&schema, "{ items { id f } ok }");
    assert_eq!(found["data"]["items"][2], value!({"id": 3, "f": null}));
    assert_eq!(found["data"]["ok"], 1);
    assert_eq!(errors(&found).len(), 3);
    assert_eq!(errors(&found)[2], ("the shop is closed".to_owned(), value!(["items", 2, "f"])));
    assert_eq!(found["errors"][0]["extensions"]["code"], "RESOLVER_FAILED");
}

#[test]
fn a_panic_is_an_internal_error_of_that_field_alone() {
    fn panics() -> i32 {
        panic!("secret words")
    }
    let sync = items(
        "f: Int",
        batch(|items: &[&Item], _: &(), _: &Context| items.iter().map(|_| panics()).collect::<Vec<_>>()),
    );
    let later = items(
        "f: Int",
        async_batch(|items: &[&Item], _: &(), _: &Context| {
            let len = items.len();
            async move { (0..len).map(|_| panics()).collect::<Vec<_>>() }
        }),
    );
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = [json(&sync, "{ items { id f } ok }"), json(&later, "{ items { id f } ok }")];
    std::panic::set_hook(quiet);
    for found in found {
        assert_eq!(found["data"]["items"][0], value!({"id": 1, "f": null}));
        assert_eq!(found["data"]["ok"], 1);
        assert_eq!(errors(&found)[0], ("Internal error.".to_owned(), value!(["items", 0, "f"])));
        assert!(!found.to_string().contains("secret"));
    }
}

#[test]
fn a_wrong_number_of_values_is_an_internal_error() {
    let schema = items("f: Int", batch(|_: &[&Item], _: &(), _: &Context| vec![1]));
    let found = json(&schema, "{ items { f } }");
    assert_eq!(found["errors"][0]["extensions"]["code"], "INTERNAL");
}

#[test]
fn causes_are_told_by_their_mapping_and_else_not_at_all() {
    let sdl = "type Query { number: Int file: Int fine: Int }";
    let parse = |text: &'static str| {
        root(move |_: &(), _: &Context| -> Result<i32, ResolveError> { Ok(text.parse::<i32>()?) })
    };
    let schema = built(
        Schema::builder(sdl)
            .map_errors(|error: &std::num::ParseIntError| {
                ResolveError::new(format!("no number: {error}")).code("NO_NUMBER")
            })
            .resolve("Query.number", parse("x"))
            .resolve("Query.fine", parse("7"))
            .resolve(
                "Query.file",
                root(|_: &(), _: &Context| -> Result<i32, ResolveError> {
                    Err(std::io::Error::other("/etc/secret is missing").into())
                }),
            ),
    );
    let found = json(&schema, "{ number file fine }");
    assert_eq!(found["data"], value!({"number": null, "file": null, "fine": 7}));
    assert_eq!(found["errors"][0]["message"], "no number: invalid digit found in string");
    assert_eq!(found["errors"][0]["extensions"]["code"], "NO_NUMBER");
    assert_eq!(found["errors"][1]["message"], "Internal error.");
}

#[test]
fn a_step_beyond_the_deadline_is_ended() {
    let schema = built(
        Schema::builder("type Query { slow: Int fast: Int }")
            .resolve("Query.slow", async_root(|_: &(), _: &Context| std::future::pending::<i32>()))
            .resolve("Query.fast", root(|_: &(), _: &Context| 1)),
    );
    let request = Request::new("{ slow }").deadline(Instant::now() + Duration::from_millis(20));
    let response = crate::kit::block_on(schema.execute(request));
    assert!(response.text().contains("SOURCE_TIMEOUT"), "{}", response.text());
    assert!(!response.is_ok());
}

#[test]
fn refused_requests_have_no_data_and_a_status() {
    let schema = items("f: Int", each(|item: &Item, _: &(), _: &Context| item.0));
    let response = crate::kit::block_on(schema.execute(Request::new("{ nothing }")));
    assert_eq!(response.status(), 400);
    assert!(
        response.text().starts_with("{\"errors\":[{\"message\":\"Cannot query field"),
        "{}",
        response.text()
    );
    let response = crate::kit::block_on(schema.execute(Request::new("{ ok }").variables("[1]")));
    assert_eq!(
        response.text(),
        r#"{"errors":[{"message":"the variables are no JSON object","extensions":{"code":"BAD_USER_INPUT"}}]}"#
    );
}
