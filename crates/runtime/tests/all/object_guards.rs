//! Guards of the objects of a type and filters of lists, in batch form.

use crate::kit::{Log, Post, User, block_on, blog, built, json, note, noted, posts_of, run, users};
use serde_json::json as value;
use std::sync::Arc;
use weir_runtime::{Context, Object, Request, Schema, Value, batch, each, record, root, union};

struct Viewer(i32);

/// Logs the users that it is asked of, and refuses Bob.
fn not_bob(log: &Log) -> impl Fn(&[&User], &Context) -> Vec<bool> + Send + Sync + 'static {
    let log = Arc::clone(log);
    move |users, _| {
        note(&log, format!("asked of {:?}", users.iter().map(|it| it.id).collect::<Vec<_>>()));
        users.iter().map(|it| it.id != 2).collect()
    }
}

const NULLABLE: &str = "
type Query { users: [User]!  user: User  found: [Found] }
type User { id: Int!  name: String!  posts: [Post!]!  boss: User }
type Post { id: Int!  author: User }
union Found = User | Post
";

struct Boxed {
    user: User,
    others: Vec<User>,
}
record!(Boxed { user, others });

enum Found {
    User(User),
    Post(Post),
}
union!(Found { User, Post });

fn nullable(log: &Log) -> weir_runtime::SchemaBuilder {
    let posts_log = Arc::clone(log);
    let author_log = Arc::clone(log);
    Schema::builder(NULLABLE)
        .resolve("Query.users", root(|_: &(), _: &Context| users()))
        .resolve("Query.user", root(|_: &(), _: &Context| users().into_iter().nth(1)))
        .resolve(
            "Query.found",
            root(|_: &(), _: &Context| {
                let mut all: Vec<Option<Found>> =
                    users().into_iter().map(|it| Some(Found::User(it))).collect();
                all.insert(1, Some(Found::Post(posts_of(2).remove(0))));
                all.insert(0, None);
                all
            }),
        )
        .resolve(
            "User.posts",
            batch(move |users: &[&User], _: &(), _: &Context| {
                note(&posts_log, format!("posts of {:?}", users.iter().map(|it| it.id).collect::<Vec<_>>()));
                users.iter().map(|it| posts_of(it.id)).collect::<Vec<_>>()
            }),
        )
        .resolve(
            "User.boss",
            each(|user: &User, _: &(), _: &Context| {
                user.boss.and_then(|id| users().into_iter().find(|it| it.id == id))
            }),
        )
        .resolve(
            "Post.author",
            batch(move |posts: &[&Post], _: &(), _: &Context| {
                note(
                    &author_log,
                    format!("authors of {:?}", posts.iter().map(|it| it.id).collect::<Vec<_>>()),
                );
                posts
                    .iter()
                    .map(|it| users().into_iter().find(|user| user.id == it.author))
                    .collect::<Vec<_>>()
            }),
        )
}

#[test]
fn a_guard_of_a_type_is_asked_once_per_step_and_nothing_below_a_refused_object_is() {
    let log = Log::default();
    let schema = built(nullable(&log).authorize_type("User", not_bob(&log)));
    let found = json(&schema, "{ users { id posts { id author { name } } } }");
    assert_eq!(
        noted(&log),
        ["asked of [1, 2, 3]", "posts of [1, 3]", "authors of [11, 12, 31, 32]", "asked of [1, 1, 3, 3]",]
    );
    let posts = |of: i32, name: &str| {
        value!({"id": of, "posts": [
            {"id": of * 10 + 1, "author": {"name": name}}, {"id": of * 10 + 2, "author": {"name": name}}]})
    };
    assert_eq!(found["data"]["users"], value!([posts(1, "Ada"), null, posts(3, "Cy")]));
    assert_eq!(found["errors"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["errors"][0]["path"], value!(["users", 1]));
    assert_eq!(found["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
    assert_eq!(
        json(&schema, "{ user { name } users { boss { name } } }")["data"],
        value!({"user": null, "users": [{"boss": null}, null, {"boss": null}]})
    );
}

#[test]
fn refused_objects_bubble_where_null_may_not_stand() {
    let log = Log::default();
    let schema = built(blog(&Log::default()).authorize_type("User", not_bob(&log)));
    let found = json(&schema, "{ users { id } }");
    assert_eq!(found["data"], value!(null));
    assert_eq!(found["errors"][0]["path"], value!(["users", 1]));
    assert_eq!(found["errors"].as_array().map(Vec::len), Some(1));
}

#[test]
fn objects_in_unions_and_within_other_objects_are_judged_too() {
    let log = Log::default();
    let schema = built(nullable(&log).authorize_type("User", not_bob(&log)));
    let found = json(&schema, "{ found { ... on User { id posts { id } } ... on Post { id } } }");
    let posts = |of: i32| value!({"id": of, "posts": [{"id": of * 10 + 1}, {"id": of * 10 + 2}]});
    assert_eq!(found["data"]["found"], value!([null, posts(1), {"id": 21}, null, posts(3)]));
    assert_eq!(found["errors"][0]["path"], value!(["found", 3]));
    assert_eq!(noted(&log), ["asked of [1, 2, 3]", "posts of [1, 3]"]);

    let sdl = "type Query { boxed: Boxed } type Boxed { user: User others: [User] } type User { id: Int! posts: [Post] } type Post { id: Int! }";
    let posts_log = Arc::clone(&log);
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.boxed",
                root(|_: &(), _: &Context| {
                    let mut all = users();
                    Boxed { user: all.remove(1), others: users() }
                }),
            )
            .resolve(
                "User.posts",
                batch(move |users: &[&User], _: &(), _: &Context| {
                    note(&posts_log, format!("posts of {}", users.len()));
                    users.iter().map(|it| posts_of(it.id)).collect::<Vec<_>>()
                }),
            )
            .authorize_type("User", not_bob(&log)),
    );
    let found = json(&schema, "{ boxed { user { id } others { id posts { id } } } }");
    assert_eq!(found["data"]["boxed"], value!({"user": null, "others": [posts(1), null, posts(3)]}));
    assert_eq!(noted(&log), ["asked of [1, 2, 3]", "asked of [2]", "posts of 2"]);
}

#[test]
fn nothing_within_a_refused_object_is_asked() {
    let log = Log::default();
    let sdl = "type Query { boxes: [Boxed] } type Boxed { user: User others: [User!] } type User { id: Int! posts: [Post] } type Post { id: Int! }";
    let posts_log = Arc::clone(&log);
    let boxes_log = Arc::clone(&log);
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.boxes",
                root(|_: &(), _: &Context| {
                    let boxed = |at: usize| Boxed { user: users().remove(at), others: users() };
                    vec![boxed(0), boxed(1)]
                }),
            )
            .resolve(
                "User.posts",
                batch(move |users: &[&User], _: &(), _: &Context| {
                    note(
                        &posts_log,
                        format!("posts of {:?}", users.iter().map(|it| it.id).collect::<Vec<_>>()),
                    );
                    users.iter().map(|it| posts_of(it.id)).collect::<Vec<_>>()
                }),
            )
            .authorize_type("Boxed", move |boxes: &[&Boxed], context| {
                note(&boxes_log, format!("boxes: {}", boxes.len()));
                boxes.iter().map(|it| Some(it.user.id) == context.find::<Viewer>().map(|it| it.0)).collect()
            }),
    );
    let ask = |viewer| {
        let query = "{ boxes { user { id posts { id } } others { posts { id } } } }";
        block_on(schema.execute(Request::new(query).data(Viewer(viewer)))).text().to_owned()
    };
    assert!(ask(2).contains("\"boxes\":[null,{\"user\":{\"id\":2,"), "{}", ask(2));
    noted(&log);
    ask(2);
    assert_eq!(noted(&log), ["boxes: 2", "posts of [1, 2, 3]", "posts of [2]"]);
    ask(0);
    assert_eq!(noted(&log), ["boxes: 2"]);
}

#[test]
fn a_guard_that_fails_refuses_all() {
    let log = Log::default();
    let panics =
        nullable(&log).authorize_type("User", |_: &[&User], _| -> Vec<bool> { panic!("on purpose") });
    let other = nullable(&log).authorize_type("User", |posts: &[&Post], _| vec![true; posts.len()]);
    let short = nullable(&log).authorize_type("User", |_: &[&User], _| vec![true]);
    for builder in [panics, other, short] {
        let found = json(&built(builder), "{ users { id } }");
        assert_eq!(found["data"]["users"], value!([null, null, null]));
        assert_eq!(found["errors"][2]["extensions"]["code"], "ACCESS_DENIED");
    }
}

#[test]
fn a_filter_leaves_items_out_before_anything_below_is_asked() {
    let log = Log::default();
    let schema = built(blog(&log).filter("Query.users", not_bob(&log)).filter("User.posts", {
        let log = Arc::clone(&log);
        move |posts: &[&Post], _: &Context| {
            note(&log, format!("asked of posts {:?}", posts.iter().map(|it| it.id).collect::<Vec<_>>()));
            posts.iter().map(|it| it.id % 10 == 2).collect()
        }
    }));
    assert_eq!(
        run(&schema, "{ users { id posts { id author { name } } } }"),
        r#"{"data":{"users":[{"id":1,"posts":[{"id":12,"author":{"name":"Ada"}}]},{"id":3,"posts":[{"id":32,"author":{"name":"Cy"}}]}]}}"#
    );
    assert_eq!(
        noted(&log),
        [
            "users",
            "asked of [1, 2, 3]",
            "posts of [1, 3]",
            "asked of posts [11, 12, 31, 32]",
            "authors of [12, 32]",
        ]
    );
}

#[test]
fn filters_see_unions_and_trees_and_leave_null_alone() {
    let tree = |name: &str| {
        Value::Object(Object { ty: "User".into(), fields: vec![("name".into(), Value::Text(name.into()))] })
    };
    let schema = built(
        Schema::builder("type Query { found: [Found] users: [User] } union Found = User | Post type User { id: Int name: String } type Post { id: Int! }")
            .resolve(
                "Query.found",
                root(|_: &(), _: &Context| {
                    vec![None, Some(Found::User(users().remove(0))), Some(Found::Post(posts_of(2).remove(0)))]
                }),
            )
            .resolve(
                "Query.users",
                root(move |_: &(), _: &Context| Value::List(vec![tree("Ada"), Value::Null, tree("Bob")])),
            )
            .filter("Query.found", |found: &[&Found], _| found.iter().map(|it| matches!(it, Found::Post(_))).collect())
            .filter("Query.users", |users: &[&Object], _| {
                users.iter().map(|it| matches!(it.get("name"), Value::Text(name) if **name == *"Bob")).collect()
            }),
    );
    assert_eq!(
        run(&schema, "{ found { ... on Post { id } } users { name } }"),
        r#"{"data":{"found":[null,{"id":21}],"users":[null,{"name":"Bob"}]}}"#
    );
}

#[test]
fn a_filter_that_fails_shows_nothing() {
    let log = Log::default();
    let other = nullable(&log).filter("Query.users", |posts: &[&Post], _| vec![true; posts.len()]);
    let shared = Schema::builder("type Query { users: [User!] } type User { id: Int! }")
        .resolve("Query.users", root(|_: &(), _: &Context| Arc::new(users())))
        .filter("Query.users", |users: &[&User], _| vec![true; users.len()]);
    for builder in [other, shared] {
        let found = json(&built(builder), "{ users { id } }");
        assert_eq!(found["errors"][0]["message"], "Internal error.");
        assert_eq!(found["errors"][0]["path"], value!(["users"]));
    }
}

#[test]
fn guards_of_nothing_are_errors_of_the_build() {
    let log = Log::default();
    let builder = nullable(&log)
        .authorize_type("Nobody", |_: &[&User], _| Vec::new())
        .authorize_type("Found", |_: &[&User], _| Vec::new())
        .authorize_type("User", |_: &[&User], _| Vec::new())
        .authorize_type("User", |_: &[&User], _| Vec::new())
        .filter("User.boss", |_: &[&User], _| Vec::new())
        .filter("User.id", |_: &[&User], _| Vec::new());
    let Err(errors) = builder.build() else { panic!("the guards are wrong") };
    let messages: Vec<&str> = errors.errors.iter().map(|it| &*it.message).collect();
    assert_eq!(
        messages,
        [
            "`Nobody` is authorized, but it is no object type",
            "`Found` is authorized, but it is no object type",
            "`User` is authorized twice",
            "`User.boss` is filtered, but it is no list of objects",
            "`User.id` comes with its object: resolve it by `each` to filter it",
        ]
    );
}
