//! Batch loading by key: one call for all fields of a level, a memory for the whole request, and no timer.

use crate::kit::{Log, block_on, built, json, note, noted, run};
use futures_util::FutureExt;
use serde_json::json as value;
use std::sync::Arc;
use std::time::Duration;
use weir_runtime::{
    BoxFuture, Context, FetchOutcome, HookCall, LoadKey, Loader, LoaderReply, PlannedCall, Request,
    ResolveError, Schema, SchemaBuilder, StepHook, async_each, async_root, leaf, load, record, root,
};

#[derive(Clone)]
struct User {
    id: i32,
}
record!(User { id });

#[derive(Clone)]
struct Post {
    id: i32,
    author: i32,
    editor: Option<i32>,
    readers: Vec<i32>,
}
record!(Post { id });

/// Users by id; there is none with the id 0, and 13 fails.
struct Users(Log);

impl Loader for Users {
    type Key = i32;
    type Value = Arc<User>;
    fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
        note(&self.0, format!("load {keys:?}"));
        Box::pin(async move {
            tokio::task::yield_now().await;
            if keys.contains(&13) {
                return Err(ResolveError::new("thirteen"));
            }
            Ok(keys.iter().map(|&id| (id > 0).then(|| Arc::new(User { id }))).collect())
        })
    }
}

const SDL: &str = "
type Query { posts: [Post!]! post(id: Int): Post user(id: Int!): User load(id: Int!): Int }
type Mutation { rename(id: Int!): User }
type Post { id: Int! author: User editor: User readers: [User!]! }
type User { id: Int! boss: User friend: Int! }
";

struct ById {
    id: i32,
}
weir_runtime::input!(ById { id });

fn schema(log: &Log) -> SchemaBuilder {
    let posts = || {
        let post =
            |id| Post { id, author: id % 2 + 1, editor: (id > 1).then_some(id), readers: vec![id, 0, 1] };
        (1..=3).map(post).collect::<Vec<_>>()
    };
    Schema::builder(SDL)
        .loader(Users(Arc::clone(log)))
        .resolve("Query.posts", root(move |_: &(), _: &Context| posts()))
        .resolve("Query.post", root(move |_: &(), _: &Context| posts().pop()))
        .resolve("Query.user", load(|(): &(), by: &ById| Users::key(by.id)))
        .resolve(
            "Query.load",
            async_root(|by: &ById, context: &Context| {
                let id = by.id;
                let context = context.clone();
                async move {
                    Ok::<_, ResolveError>(
                        context.load::<Users>(vec![id, id]).await?.into_iter().flatten().count() as i32,
                    )
                }
            }),
        )
        .resolve("Mutation.rename", load(|(): &(), by: &ById| Users::key(by.id)))
        .resolve("Post.author", load(|post: &Post, _: &()| Users::key(post.author)))
        .resolve("Post.editor", load(|post: &Post, _: &()| post.editor.map(Users::key)))
        .resolve(
            "Post.readers",
            load(|post: &Post, _: &()| {
                post.readers.iter().map(|&it| Users::key(it)).collect::<Vec<LoadKey<Users>>>()
            }),
        )
        .resolve("User.boss", load(|user: &User, _: &()| Users::key(user.id - 1)))
        .resolve(
            "User.friend",
            async_each(|user: &User, _: &(), context: &Context| {
                let id = user.id;
                let context = context.clone();
                async move { Ok::<_, ResolveError>(context.load::<Users>(vec![id]).await?.len() as i32) }
            }),
        )
}

#[test]
fn fields_of_a_level_share_one_call_and_keys_are_loaded_once() {
    let log = Log::default();
    let schema = built(schema(&log));
    let found = json(&schema, "{ posts { id author { id } editor { id } readers { id } } }");
    assert_eq!(noted(&log), ["load [2, 1, 3, 0]"]);
    assert_eq!(
        found["data"]["posts"][1],
        value!({"id": 2, "author": {"id": 1}, "editor": {"id": 2}, "readers": [{"id": 2}, {"id": 1}]})
    );
    assert_eq!(found["data"]["posts"][0]["editor"], serde_json::Value::Null);
}

#[test]
fn what_a_level_above_has_loaded_is_not_loaded_again() {
    let log = Log::default();
    let schema = built(schema(&log));
    let found = json(&schema, "{ posts { author { id boss { id boss { id } } } } }");
    assert_eq!(noted(&log), ["load [2, 1]", "load [0]"]);
    let boss = &found["data"]["posts"][0]["author"]["boss"];
    assert_eq!(*boss, value!({"id": 1, "boss": null}));
}

#[test]
fn a_resolver_may_load_by_itself() {
    let log = Log::default();
    let schema = built(schema(&log));
    assert_eq!(run(&schema, "{ load(id: 5) }"), r#"{"data":{"load":2}}"#);
    assert_eq!(noted(&log), ["load [5]"]);
    assert_eq!(run(&schema, "{ user(id: 5) { friend } }"), r#"{"data":{"user":{"friend":1}}}"#);
    assert_eq!(noted(&log), ["load [5]"]);
}

#[test]
fn a_loader_that_fails_fails_the_fields_of_its_keys() {
    let log = Log::default();
    let schema = built(schema(&log));
    let found = json(&schema, "{ user(id: 13) { id } post { id } }");
    assert_eq!(found["data"], value!({"user": null, "post": {"id": 3}}));
    assert_eq!(found["errors"][0]["message"], "thirteen");
}

#[test]
fn requests_that_are_answered_together_load_together() {
    let log = Log::default();
    let schema = built(schema(&log));
    let requests = vec![
        Request::new("{ user(id: 1) { id } }"),
        Request::new("{ posts { author { id } } }"),
        Request::new("{ user(id: 7) { id } }"),
        Request::new("{ user(id: 1) { boss { id } } }"),
    ];
    let responses = block_on(schema.execute_all(requests));
    let texts: Vec<&str> = responses.iter().map(|it| it.text()).collect();
    assert_eq!(texts[2], r#"{"data":{"user":{"id":7}}}"#);
    assert_eq!(texts[3], r#"{"data":{"user":{"boss":null}}}"#);
    assert_eq!(noted(&log), ["load [1, 2, 7]", "load [0]"]);
}

/// Answers `queries` together. Their responses, and the calls of the loader by their keys.
fn together(queries: &[&str]) -> (Vec<String>, Vec<String>) {
    let log = Log::default();
    let schema = built(schema(&log));
    let requests = queries.iter().map(|it| Request::new(it)).collect();
    let responses = block_on(schema.execute_all(requests));
    let mut calls = noted(&log);
    calls.sort();
    (responses.iter().map(|it| it.text().to_owned()).collect(), calls)
}

#[test]
fn a_mutation_does_not_load_together_with_queries() {
    let query = "{ user(id: 2) { boss { id } } }";
    let other = "{ user(id: 3) { id } }";
    let mutation = "mutation { rename(id: 2) { boss { id } } }";
    let [of_query, of_other, of_mutation] = [
        r#"{"data":{"user":{"boss":{"id":1}}}}"#,
        r#"{"data":{"user":{"id":3}}}"#,
        r#"{"data":{"rename":{"boss":{"id":1}}}}"#,
    ];
    let calls = ["load [1]", "load [1]", "load [2, 3]", "load [2]"];
    let (found, made) = together(&[query, mutation, other]);
    assert_eq!(found, [of_query, of_mutation, of_other]);
    assert_eq!(made, calls);
    let (found, made) = together(&[mutation, query, other]);
    assert_eq!(found, [of_mutation, of_query, of_other]);
    assert_eq!(made, calls);
}

#[test]
fn mutations_that_are_answered_together_load_apart() {
    let mutation = "mutation { rename(id: 2) { boss { id } } }";
    let (found, made) = together(&[mutation, mutation]);
    assert_eq!(found, [r#"{"data":{"rename":{"boss":{"id":1}}}}"#; 2]);
    assert_eq!(made, ["load [1]", "load [1]", "load [2]", "load [2]"]);
}

#[test]
fn requests_that_are_dropped_while_they_load_are_freed() {
    struct Silent;
    impl Loader for Silent {
        type Key = i32;
        type Value = i32;
        fn load(&self, _: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
            Box::pin(std::future::pending())
        }
    }
    let schema = built(
        Schema::builder("type Query { a: Int } type Mutation { b: Int }")
            .loader(Silent)
            .resolve("Query.a", load(|(): &(), (): &()| Silent::key(1)))
            .resolve("Mutation.b", load(|(): &(), (): &()| Silent::key(1))),
    );
    let data = Arc::new(());
    let request = |query| Request::new(query).data(Arc::clone(&data));
    block_on(async {
        assert!(schema.execute(request("{ a }")).now_or_never().is_none());
        let mut all = Box::pin(schema.execute_all(["{ a }", "mutation { b }"].map(request).into()));
        // The query asks the loader in its second turn.
        assert!((&mut all).now_or_never().is_none());
        assert!((&mut all).now_or_never().is_none());
    });
    assert_eq!(Arc::strong_count(&data), 1);
}

/// Sees the calls of the loader.
struct Loads(Log);

impl StepHook for Loads {
    fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
        note(&self.0, format!("before {}", call.parents()));
        match call.find::<&str>() {
            Some(_) => Err(ResolveError::new("not now").code("NOT_NOW")),
            None => Ok(()),
        }
    }
    fn after(&self, call: &HookCall<'_>, outcome: FetchOutcome, _: Duration) {
        note(&self.0, format!("after {}: {outcome:?}", call.parents()));
    }
}

#[test]
fn the_call_for_a_whole_level_is_seen_once_and_can_be_refused() {
    let log = Log::default();
    let hooked = Arc::clone(&log);
    let schema = built(schema(&log).intercept_calls(move |call| match call {
        PlannedCall::Loader(name) => {
            assert!(name.ends_with("::Users"), "{name}");
            Some(Arc::new(Loads(Arc::clone(&hooked))) as Arc<dyn StepHook>)
        }
        PlannedCall::Resolver(_) => None,
    }));
    json(&schema, "{ posts { author { id } editor { id } } }");
    assert_eq!(noted(&log), ["before 3", "load [2, 1, 3]", "after 3: Answered"]);
    json(&schema, "{ user(id: 13) { id } }");
    assert_eq!(noted(&log), ["before 1", "load [13]", "after 1: Failed(\"RESOLVER_FAILED\")"]);
    let refused = block_on(schema.execute(Request::new("{ user(id: 1) { id } }").data("no")));
    assert_eq!(refused.at("errors.0.extensions.code").as_deref(), Some("\"NOT_NOW\""));
    assert_eq!(noted(&log), ["before 1"]);
}

#[test]
fn a_change_forgets_what_was_loaded_before() {
    let log = Log::default();
    let schema = built(schema(&log));
    run(&schema, "mutation { a: rename(id: 2) { boss { id } } b: rename(id: 2) { id } }");
    assert_eq!(noted(&log), ["load [2]", "load [1]", "load [2]"]);
}

#[test]
fn a_loader_that_breaks_its_contract_is_an_internal_error() {
    struct Broken;
    impl Loader for Broken {
        type Key = i32;
        type Value = i32;
        fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
            assert!(!keys.contains(&2), "two");
            Box::pin(std::future::ready(Ok(vec![])))
        }
    }
    struct Item(i32);
    record!(Item {});
    let schema = built(
        Schema::builder("type Query { items: [Item!]! panics: Item! } type Item { id: Int! value: Int }")
            .loader(Broken)
            .resolve("Query.items", root(|_: &(), _: &Context| vec![Item(1)]))
            .resolve("Query.panics", root(|_: &(), _: &Context| Item(2)))
            .resolve("Item.id", leaf(|item: &Item| item.0))
            .resolve("Item.value", load(|item: &Item, _: &()| Broken::key(item.0))),
    );
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = [json(&schema, "{ items { id value } }"), json(&schema, "{ panics { id value } }")];
    std::panic::set_hook(quiet);
    assert_eq!(found[0]["data"]["items"][0], value!({"id": 1, "value": null}));
    assert_eq!(found[1]["data"]["panics"], value!({"id": 2, "value": null}));
    assert!(found.iter().all(|it| it["errors"][0]["extensions"]["code"] == "INTERNAL"));
}
