//! Helpers of tests: single fields, parts of responses, snapshots.

use crate::kit::{Log, Post, User, block_on, blog, built, note, noted, users};
use futures_util::stream::{empty, iter, pending};
use std::sync::Arc;
use std::time::Instant;
use weir_runtime::{
    BoxFuture, Check, Context, Loader, LoaderReply, Request, Schema, Upload, Uploads, async_batch,
    async_keyed, async_root, batch, constant, input, keyed, load, record, root, stream, union,
};

struct PostsArguments {
    first: i32,
    after: Option<String>,
}
input!(PostsArguments { first, after });

fn schema() -> Schema {
    let sdl = "type Query { user: User  now: String! } type User { id: Int! name: String! posts(first: Int! = 2, after: String): [Post!]! shout: String! }
        type Post { id: Int! title: String! author: User }";
    built(
        Schema::builder(sdl)
            .resolve("Query.user", root(|_: &(), _: &Context| users().into_iter().next()))
            .resolve("Query.now", constant("noon"))
            .resolve(
                "User.posts",
                batch(|users: &[&User], it: &PostsArguments, _: &Context| {
                    let post = |user: &User, id| Post {
                        id,
                        title: format!("{} {:?}", user.name, it.after),
                        author: user.id,
                    };
                    users
                        .iter()
                        .map(|user| (1..=it.first).map(|id| post(user, id)).collect())
                        .collect::<Vec<Vec<_>>>()
                }),
            )
            .resolve(
                "User.shout",
                async_batch(|users: &[&User], _: &(), context: &Context| {
                    let suffix = context.find::<&str>().copied().unwrap_or_default();
                    let all: Vec<String> =
                        users.iter().map(|it| format!("{}{suffix}", it.name.to_uppercase())).collect();
                    async move { all }
                }),
            )
            .resolve("Post.author", constant(None::<User>))
            .validate("User.posts(first:)", Check::max("5").expect("a number"))
            .filter("User.posts", |posts: &[&Post], _| posts.iter().map(|it| it.id != 2).collect())
            .authorize("User.shout", |users: &[&User], _| users.iter().map(|it| it.id != 2).collect()),
    )
}

#[test]
fn a_field_runs_by_itself_with_arguments_defaults_and_checks() {
    let schema = schema();
    let all = users();
    let posts = |arguments| block_on(schema.field("User.posts").of(&all[0]).arguments(arguments).run());
    assert_eq!(posts("{}"), Ok(r#"[{"id":1,"title":"Ada None"}]"#.into()));
    assert_eq!(posts(r#"{"first": 1, "after": "x"}"#), Ok(r#"[{"id":1,"title":"Ada Some(\"x\")"}]"#.into()));
    assert_eq!(posts(r#"{"first": 6}"#), Err("`first`: it is above 5".into()));
    assert_eq!(posts(r#"{"last": 6}"#), Err("`posts` has no argument `last`".into()));
    assert!(posts(r#"{"first": "six"}"#).is_err_and(|it| it.contains("Int cannot represent")));
    assert_eq!(block_on(schema.field("Query.now").run()), Ok("\"noon\"".into()));
}

#[test]
fn all_parents_of_a_field_are_one_call_which_its_guard_allows() {
    let schema = schema();
    let all = users();
    let shouts = schema.field("User.shout").of(&all[0]).of(&all[1]).of(&all[2]).data("!").run_all();
    assert_eq!(
        block_on(shouts).expect("the field runs"),
        [Ok("\"ADA!\"".into()), Err("Access denied.".into()), Ok("\"CY!\"".into())]
    );
    let log = Log::default();
    let blog = built(blog(&log));
    let posts = block_on(blog.field("User.posts").of(&all[0]).of(&all[1]).run_all()).expect("the field runs");
    assert_eq!((posts.len(), noted(&log)), (2, vec!["posts of [1, 2]".to_owned()]));
}

#[test]
fn what_is_no_field_of_its_own_is_refused() {
    let schema = schema();
    let all = users();
    let run = |coordinate: &str| block_on(schema.field(coordinate).of(&all[0]).run());
    assert_eq!(run("User.mail"), Err("there is no field `User.mail`".into()));
    assert_eq!(
        run("User.name"),
        Err("`User.name` comes with its object, so it cannot be run by itself".into())
    );
    assert_eq!(block_on(schema.field("User.posts").of(&"a text").run()), Err("Internal error.".into()));
}

#[test]
fn files_are_arguments_of_a_single_field_too() {
    struct File {
        file: Upload,
    }
    input!(File { file });
    let schema = built(
        Schema::builder("scalar Upload type Query { size(file: Upload!): Int! }")
            .resolve("Query.size", root(|it: &File, _: &Context| it.file.content.len() as i64)),
    );
    let file = Upload { file_name: None, content_type: None, content: "abc".into() };
    let uploads =
        Uploads::new(r#"{"file": null}"#, vec![(file, vec!["variables.file".into()])]).expect("it fits");
    assert_eq!(block_on(schema.field("Query.size").uploads(&uploads).run()), Ok("3".into()));
    let request = Request::new("query ($file: Upload!) { size(file: $file) }").uploads(&uploads);
    assert_eq!(block_on(schema.execute(request)).at("data.size").as_deref(), Some("3"));
}

#[test]
fn a_snapshot_tells_what_changed() {
    let path = std::env::temp_dir().join(format!("weir-snapshot-{}.graphql", std::process::id()));
    let one = |sdl: &str| built(Schema::builder(sdl).resolve("Query.a", constant(1)));
    let old = one("type Query { a: Int }");
    assert_eq!(old.snapshot(&path), Ok(()));
    assert_eq!(old.snapshot(&path), Ok(()));
    let changed = one("type Query { a(x: Int!): Int }").snapshot(&path).expect_err("it changed");
    assert!(changed.contains("- breaking: ") && changed.contains("Query.a(x:)"), "{changed}");
    std::fs::remove_file(&path).expect("it was written");
}

struct Album {
    id: i32,
    artist: String,
}
record!(Album { id, artist });

struct Rating {
    stars: i32,
}
input!(Rating { stars });

/// Albums whose other fields are asked by keys.
fn albums(log: &Log) -> Schema {
    let rating = Arc::clone(log);
    let label = Arc::clone(log);
    let sdl = "type Query { album: Album }
        type Album { id: Int! artist: String! rating(stars: Int! = 1): Int! label: String! lengths: [Int!]! }";
    built(
        Schema::builder(sdl)
            .resolve("Query.album", root(|_: &(), _: &Context| Album { id: 1, artist: "Ada".into() }))
            .resolve(
                "Album.rating",
                keyed(["id"], move |ids: &[i32], it: &Rating, _: &Context| {
                    note(&rating, format!("rating of {ids:?}"));
                    ids.iter().map(|id| id * it.stars).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Album.label",
                keyed(["artist", "id"], move |keys: &[(String, i64)], _: &(), _: &Context| {
                    note(&label, format!("label of {keys:?}"));
                    keys.iter().map(|it| format!("{} {}", it.0, it.1)).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Album.lengths",
                async_keyed(["id"], |ids: Vec<i64>, _: &(), _: &Context| async move {
                    ids.into_iter().map(|it| vec![it, it + 1]).collect::<Vec<_>>()
                }),
            )
            .authorize("Album.rating", |units: &[&()], context| {
                vec![context.find::<&str>() != Some(&"nobody"); units.len()]
            }),
    )
}

#[test]
fn a_field_that_is_asked_by_keys_runs_with_keys() {
    let log = Log::default();
    let schema = albums(&log);
    let rating = || schema.field("Album.rating").of_keys(r#"{"id": 2}"#).of_keys(r#"{"id": 3}"#);
    let values = block_on(rating().arguments(r#"{"stars": 5}"#).run_all());
    assert_eq!(values, Ok(vec![Ok("10".into()), Ok("15".into())]));
    assert_eq!(noted(&log), ["rating of [2, 3]"]);
    let refused = Err("Access denied.".to_owned());
    assert_eq!(block_on(rating().data("nobody").run_all()), Ok(vec![refused.clone(), refused]));
    assert_eq!(noted(&log), Vec::<String>::new());
    let label = block_on(schema.field("Album.label").of_keys(r#"{"id": "7", "artist": "Ada"}"#).run());
    assert_eq!((label, noted(&log)), (Ok("\"Ada 7\"".into()), vec![r#"label of [("Ada", 7)]"#.to_owned()]));
    let lengths = block_on(schema.field("Album.lengths").of_keys(r#"{"id": 4}"#).run());
    assert_eq!(lengths, Ok("[4,5]".into()));
    let whole = block_on(schema.execute(Request::new("{ album { rating(stars: 3) label lengths } }")));
    assert_eq!(whole.text(), r#"{"data":{"album":{"rating":3,"label":"Ada 1","lengths":[1,2]}}}"#);
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    let schema = albums(&Log::default());
    let album = Album { id: 1, artist: "Ada".into() };
    let label = |keys: &str| block_on(schema.field("Album.label").of_keys(keys).run());
    assert_eq!(label(r#"{"id": 1, "name": "Ada"}"#), Err("`name` is no key: they are `artist`, `id`".into()));
    assert_eq!(label(r#"{"id": null, "artist": "Ada"}"#), Err("a parent has no key `id`".into()));
    assert_eq!(label("7"), Err("a parent has no key `artist`".into()));
    assert!(label("{").is_err_and(|it| it.starts_with("the keys: ")));
    assert_eq!(label(r#"{"id": "x", "artist": "Ada"}"#), Err("Internal error.".into()));
    let by_object = block_on(schema.field("Album.label").of(&album).run());
    let expected = "`Album.label` is asked by keys of its parents: give `artist`, `id` with `of_keys`";
    assert_eq!(by_object, Err(expected.into()));
    let by_keys = block_on(schema.field("Query.album").of_keys("{}").run());
    assert_eq!(by_keys, Err("`Query.album` is not asked by keys: give its parents with `of`".into()));
}

struct Names(Log);

impl Loader for Names {
    type Key = i32;
    type Value = String;
    fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
        note(&self.0, format!("load {keys:?}"));
        Box::pin(async move { Ok(keys.iter().map(|it| (*it > 1).then(|| format!("name {it}"))).collect()) })
    }
}

#[test]
fn a_loaded_field_makes_one_call_for_all_parents() {
    let log = Log::default();
    let all = users();
    let sdl = "type Query { user: User } type User { id: Int! alias: String }";
    let schema = built(
        Schema::builder(sdl)
            .loader(Names(Arc::clone(&log)))
            .resolve("Query.user", root(|_: &(), _: &Context| users().into_iter().next()))
            .resolve("User.alias", load(|user: &User, _: &()| Names::key(user.id))),
    );
    let values = block_on(schema.field("User.alias").of(&all[0]).of(&all[1]).run_all());
    assert_eq!(values, Ok(vec![Ok("null".into()), Ok("\"name 2\"".into())]));
    assert_eq!(noted(&log), ["load [1, 2]"]);
}

#[test]
fn a_field_of_the_subscription_type_runs_until_its_first_event() {
    let sdl = "type Query { a: Int } type User { id: Int! }
        type Subscription { users(stars: Int!): [User!]! none: Int! never: Int! }";
    let schema = built(
        Schema::builder(sdl)
            .resolve("Query.a", constant(1))
            .resolve(
                "Subscription.users",
                stream(|it: &Rating, _: &Context| {
                    iter([it.stars as usize, 0].map(|it| users().split_off(it)))
                }),
            )
            .resolve("Subscription.none", stream(|_: &(), _: &Context| empty::<i32>()))
            .resolve("Subscription.never", stream(|_: &(), _: &Context| pending::<i32>()))
            .authorize("Subscription.users", |_: &[&()], context| vec![context.find::<&str>().is_none()])
            .filter("Subscription.users", |users: &[&User], _| users.iter().map(|it| it.id != 2).collect()),
    );
    let stars = || schema.field("Subscription.users").arguments(r#"{"stars": 1}"#);
    assert_eq!(block_on(stars().run()), Ok(r#"[{"id":3}]"#.into()));
    assert_eq!(block_on(stars().data("nobody").run()), Err("Access denied.".into()));
    let none = block_on(schema.field("Subscription.none").run());
    assert_eq!(none, Err("the stream ended before its first event".into()));
    let never = block_on(schema.field("Subscription.never").deadline(Instant::now()).run());
    assert_eq!(never, Err("`Subscription.never` gave no value before its deadline".into()));
}

#[test]
fn a_future_that_never_ends_fails_at_the_deadline() {
    let schema = built(
        Schema::builder("type Query { never: Int soon: Int }")
            .resolve("Query.never", async_root(|_: &(), _: &Context| std::future::pending::<i32>()))
            .resolve(
                "Query.soon",
                async_root(|_: &(), context: &Context| {
                    let left = context.deadline().saturating_duration_since(Instant::now());
                    async move { left.is_zero().then_some(1) }
                }),
            ),
    );
    let run = |coordinate| block_on(schema.field(coordinate).deadline(Instant::now()).run());
    assert_eq!(run("Query.never"), Err("`Query.never` gave no value before its deadline".into()));
    assert_eq!(run("Query.soon"), Ok("1".into()));
}

#[test]
fn a_resolver_sees_the_headers_that_the_schema_declares() {
    let tenant = |_: &(), context: &Context| {
        format!("{:?} {:?}", context.header("x-tenant"), context.header("x-other"))
    };
    let schema = built(
        Schema::builder("type Query { tenant: String! }")
            .header("x-tenant")
            .resolve("Query.tenant", root(tenant)),
    );
    let run =
        schema.field("Query.tenant").header("X-Tenant", "a").header("x-tenant", "b").header("x-other", "c");
    assert_eq!(block_on(run.run()), Ok(r#""Some(\"a\") None""#.into()));
}

struct Tree {
    id: i32,
    below: Vec<Tree>,
}
record!(Tree { id, below });

struct Wood {
    name: &'static str,
}
record!(Wood { name });

enum Plant {
    Tree(Tree),
    Wood(Wood),
}
union!(Plant { Tree, Wood });

/// Trees with odd numbers are refused.
fn plants(log: &Log) -> Schema {
    let log = Arc::clone(log);
    let sdl = "type Query { a: Int } union Plant = Tree | Wood
        type Tree { id: Int! below: [Tree!]! copy: Int } type Wood { name: String! trees: [Tree] plants: [Plant!]! }";
    let chain = |id: &i32| Tree { id: *id, below: vec![Tree { id: id / 10, below: Vec::new() }] };
    built(
        Schema::builder(sdl)
            .resolve("Query.a", constant(1))
            .resolve("Tree.copy", constant(None::<i32>))
            .resolve(
                "Wood.trees",
                batch(move |woods: &[&Wood], _: &(), context: &Context| {
                    let ids = context.find::<Vec<i32>>().cloned().unwrap_or_default();
                    assert_eq!(ids.len(), woods.len());
                    ids.iter().map(|it| vec![None, Some(chain(it))]).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Wood.plants",
                batch(|woods: &[&Wood], _: &(), _: &Context| {
                    let tree = |id| Plant::Tree(Tree { id, below: Vec::new() });
                    let of = |at: usize| vec![Plant::Wood(Wood { name: "elm" }), tree(at as i32 + 4)];
                    (0..woods.len()).map(of).collect::<Vec<_>>()
                }),
            )
            .authorize_type("Tree", move |trees: &[&Tree], _| {
                note(&log, format!("asked of {:?}", trees.iter().map(|it| it.id).collect::<Vec<_>>()));
                trees.iter().map(|it| it.id % 2 == 0).collect()
            }),
    )
}

#[test]
fn the_guards_of_types_judge_the_objects_of_values() {
    let log = Log::default();
    let wood = Wood { name: "elm" };
    let schema = plants(&log);
    let trees = || schema.field("Wood.trees").of(&wood).of(&wood).of(&wood);
    let values = block_on(trees().data(vec![44, 41, 34]).run_all()).expect("the field runs");
    let allowed = r#"[null,{"id":44,"below":[{"id":4,"below":[]}]}]"#;
    let refused = || Err("Access denied.".to_owned());
    assert_eq!(values, [Ok(allowed.to_owned()), refused(), refused()]);
    assert_eq!(noted(&log), [44, 4, 41, 4, 34, 3].map(|it| format!("asked of [{it}]")));
    let values = block_on(schema.field("Wood.plants").of(&wood).of(&wood).run_all()).expect("the field runs");
    assert_eq!(values, [Ok(r#"[{"name":"elm"},{"id":4,"below":[]}]"#.to_owned()), refused()]);
}

#[test]
fn each_of_many_refused_values_is_an_error() {
    let schema = plants(&Log::default());
    let wood = Wood { name: "elm" };
    let run = (0..80).fold(schema.field("Wood.trees"), |run, _| run.of(&wood));
    let values = block_on(run.data(vec![1; 80]).run_all()).expect("the field runs");
    assert_eq!(values, vec![Err("Access denied.".to_owned()); 80]);
}
