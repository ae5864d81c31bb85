//! Control of execution: guards of fields in batch form, complexity and depth.

use crate::kit::{Log, block_on, blog, built, json, note, noted, users};
use serde_json::{Value as Json, json as value};
use std::sync::Arc;
use weir_runtime::{Context, Cost, Limits, Request, Schema, Settings, each, input, root};

struct Viewer(i32);

#[test]
fn a_guard_sees_all_parents_and_refuses_some() {
    let (log, guard_log) = (Log::default(), Log::default());
    let guarded = Arc::clone(&guard_log);
    let schema =
        built(blog(&log).authorize("User.posts", move |parents: &[&crate::kit::User], context: &Context| {
            let viewer = context.find::<Viewer>().map_or(0, |it| it.0);
            note(&guarded, format!("guard of {}", parents.len()));
            parents.iter().map(|user| user.id != 2 && viewer > 0).collect()
        }));
    let run = |viewer| -> Json {
        let request = Request::new("{ users { id posts { id author { name } } } }").data(Viewer(viewer));
        serde_json::from_str(block_on(schema.execute(request)).text()).unwrap()
    };
    let found = run(1);
    assert_eq!(noted(&guard_log), ["guard of 3"]);
    assert_eq!(noted(&log), ["users", "posts of [1, 3]", "authors of [11, 12, 31, 32]"]);
    // The field is non-null, so the null goes up to `data`.
    assert_eq!(found["data"], Json::Null);
    assert_eq!(found["errors"][0]["path"], value!(["users", 1, "posts"]));
    assert_eq!(found["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
    assert_eq!(run(0)["errors"][0]["message"], "Access denied.");
    assert_eq!(noted(&log), ["users"]);
}

#[test]
fn a_refused_object_leaves_the_others_and_a_root_is_guarded_too() {
    let sdl = "type Query { users: [User!]! secret: Int open: Int } type User { id: Int! name: String! mail: String boss: User }";
    let schema = built(
        Schema::builder(sdl)
            .resolve("Query.users", root(|_: &(), _: &Context| users()))
            .resolve("Query.secret", root(|_: &(), _: &Context| 1))
            .resolve("Query.open", root(|_: &(), _: &Context| 2))
            .resolve(
                "User.mail",
                each(|user: &crate::kit::User, _: &(), _: &Context| format!("{}@x", user.name)),
            )
            .resolve(
                "User.boss",
                each(|user: &crate::kit::User, _: &(), _: &Context| {
                    users().into_iter().find(|it| Some(it.id) == user.boss)
                }),
            )
            .authorize("User.mail", |users: &[&crate::kit::User], _| {
                users.iter().map(|it| it.id != 1).collect()
            })
            .authorize("Query.secret", |_: &[&()], _| vec![false]),
    );
    let found = json(&schema, "{ secret open users { boss { mail } mail } }");
    assert_eq!(
        found["data"],
        value!({"secret": null, "open": 2, "users": [
            {"boss": null, "mail": null},
            {"boss": {"mail": null}, "mail": "Bob@x"},
            {"boss": {"mail": "Bob@x"}, "mail": "Cy@x"},
        ]})
    );
    let paths: Vec<Json> = found["errors"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    assert_eq!(
        paths,
        [value!(["secret"]), value!(["users", 0, "mail"]), value!(["users", 1, "boss", "mail"])]
    );
}

#[test]
fn guards_and_costs_stand_where_they_can() {
    let refused = blog(&Log::default())
        .authorize("User.name", |users: &[&crate::kit::User], _: &Context| vec![true; users.len()])
        .cost("Query.users", Cost { own: 1, page_argument: Some("first"), page_default: 1 })
        .build();
    let Err(error) = refused else { panic!("it is sound") };
    let messages: Vec<&str> = error.errors.iter().map(|it| &*it.message).collect();
    assert_eq!(
        messages,
        [
            "`User.name` comes with its object: resolve it by `each` to authorize it",
            "`Query.users` has no argument `first`"
        ]
    );
}

struct Page {
    first: Option<i32>,
}
input!(Page { first });

#[test]
fn complexity_counts_lists_by_their_page() {
    let sdl = "type Query { users(first: Int = 2): [User!]! one: User } type User { id: Int! name: String! friends(first: Int): [User!]! }";
    let page = |own, page_default| Cost { own, page_argument: Some("first"), page_default };
    let schema = built(
        Schema::builder(sdl)
            .complexity_max(100)
            .cost("Query.users", page(5, 10))
            .cost("User.friends", page(1, 20))
            .resolve(
                "Query.users",
                root(|page: &Page, _: &Context| {
                    users().into_iter().take(page.first.unwrap_or(9) as usize).collect::<Vec<_>>()
                }),
            )
            .resolve("Query.one", root(|_: &(), _: &Context| users().pop()))
            .resolve(
                "User.friends",
                each(|_: &crate::kit::User, _: &Page, _: &Context| Vec::<crate::kit::User>::new()),
            ),
    );
    let cost = |query: &str, variables: &str| -> Option<String> {
        let found: Json = serde_json::from_str(&crate::kit::run_with(&schema, query, variables)).unwrap();
        let message = found["errors"][0]["message"].as_str()?;
        assert_eq!(found["errors"][0]["extensions"]["code"], "LIMIT_COMPLEXITY", "{found}");
        message.split([' ', ',']).nth(3).map(str::to_owned)
    };
    // 5 + 2 * 2: within.
    assert_eq!(cost("{ users { id name } }", "{}"), None);
    // 5 + 48 * 2 = 101.
    assert_eq!(cost("{ users(first: 48) { id name } }", "{}").as_deref(), Some("101"));
    assert_eq!(cost("query ($n: Int) { users(first: $n) { id name } }", r#"{"n": 47}"#), None);
    assert_eq!(
        cost("query ($n: Int) { users(first: $n) { id name } }", r#"{"n": 48}"#).as_deref(),
        Some("101")
    );
    // The friends' page has its default: 1 + (1 + 20 * (1 + 20 * 1)) = 422.
    assert_eq!(cost("{ one { friends { friends { id } } } }", "{}").as_deref(), Some("422"));
    assert_eq!(cost("{ one { friends(first: 0) { friends { id } } } }", "{}"), None);
}

#[test]
fn depth_is_limited_by_the_settings() {
    let limits = Limits { depth_max: 3, ..Limits::STANDARD };
    let schema = built(blog(&Log::default()).settings(Settings { limits, ..Settings::STANDARD }));
    assert!(json(&schema, "{ users { posts { id } } }")["errors"].is_null());
    let found = json(&schema, "{ users { posts { author { id } } } }");
    assert_eq!(found["errors"][0]["extensions"]["code"], "LIMIT_DEPTH");
}
