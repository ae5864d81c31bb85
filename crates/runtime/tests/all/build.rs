//! Errors of a schema: found when it is built, all at once, with places.

use crate::kit::{Log, blog, built};
use weir_runtime::{
    BoxFuture, BuildError, Check, Context, Loader, LoaderReply, Request, Schema, SchemaBuilder, batch,
    constant, each, enumeration, input, keyed, leaf, load, record, root, stream,
};

struct User {
    id: i32,
}
record!(User { id });
struct Post;
record!(Post {});

fn refused(builder: SchemaBuilder) -> Vec<String> {
    let error: BuildError = match builder.build() {
        Ok(_) => panic!("it is sound"),
        Err(error) => error,
    };
    error.errors.iter().map(|it| it.message.clone()).collect()
}

#[test]
fn all_errors_are_told_at_once_with_the_line_they_are_about() {
    let sdl = "type Query {\n  users: [User!]!\n  name: Int\n}\ntype User {\n  id: Int!\n  mail: String\n}";
    let builder = Schema::builder(sdl)
        .resolve("Query.users", root(|_: &(), _: &Context| vec![User { id: 1 }]))
        .resolve("Query.name", constant("text"));
    let Err(error) = builder.build() else { panic!("it is sound") };
    let text = error.to_string();
    assert_eq!(
        text,
        "error: `name` is `Int`, not text\n --> schema:3:3\n  |\n3 |   name: Int\n  |   ^^^^\n\n\
         error: `User` has no field `mail`\n --> schema:7:3\n  |\n7 |   mail: String\n  |   ^^^^"
    );
}

#[test]
fn coordinates_have_to_be_there() {
    let sdl = "type Query { a: Int b: Int } enum E { X } input I { a: Int }";
    assert_eq!(
        refused(
            Schema::builder(sdl)
                .resolve("Query.a", constant(1))
                .resolve("Query.a", constant(2))
                .resolve("Query.c", constant(1))
                .resolve("Nothing.a", constant(1))
                .resolve("E.X", constant(1))
                .validate("Query.a(first:)", Check::min_length(1))
                .validate("Query.a", Check::min_length(1))
                .visible_if("E.Y", |_| true)
        ),
        [
            "the schema has no `Query.a(first:)`",
            "`Query.a` is no argument and no input field",
            "`Query.a` is resolved twice",
            "`Query.c` is resolved, but `Query` has no field `c`",
            "`Nothing.a` is resolved, but `Nothing` is no object type",
            "`E.X` is resolved, but `E` is no object type",
            "`Query.b` has no resolver",
            "the schema has no `E.Y`",
        ]
    );
}

#[test]
fn types_of_arguments_have_to_fit() {
    struct Wrong {
        first: i32,
        name: String,
    }
    input!(Wrong { first, name });
    struct Lacks {
        second: Option<i32>,
    }
    input!(Lacks { second });
    struct Absent {
        first: i32,
    }
    input!(Absent { first });
    #[derive(Clone, Copy)]
    enum Order {
        Up,
    }
    enumeration!(Order { Up => "ASC" });
    struct Ordered {
        order: Option<Order>,
    }
    input!(Ordered { order });
    let sdl = "type Query { a(first: Int!, name: Int!): Int b(first: Int): Int c(first: Int): Int d(order: Order): Int }
        enum Order { ASC DESC }";
    assert_eq!(
        refused(
            Schema::builder(sdl)
                .resolve("Query.a", root(|it: &Wrong, _: &Context| it.first + it.name.len() as i32))
                .resolve("Query.b", root(|it: &Lacks, _: &Context| it.second))
                .resolve("Query.c", root(|it: &Absent, _: &Context| it.first))
                .resolve("Query.d", root(|it: &Ordered, _: &Context| it.order.map(|_| 1)))
        ),
        [
            "`Query.a.name`: `Int!` is no text",
            "`Lacks` reads `second`, which `Query.b` lacks",
            "`Query.c.first` may be absent: read it into an `Option`",
            "`Query.d.order`: `Order` has no variant for `DESC`",
        ]
    );
}

#[test]
fn parents_have_to_be_what_the_resolver_takes() {
    let sdl = "type Query { users: [User!]! } type User { id: Int! posts: [Int!]! name: String }";
    let found = refused(
        Schema::builder(sdl)
            .resolve("Query.users", root(|_: &(), _: &Context| vec![User { id: 1 }]))
            .resolve("User.posts", batch(|posts: &[&Post], _: &(), _: &Context| vec![vec![1]; posts.len()]))
            .resolve("User.name", leaf(|_: &Post| "x")),
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("the resolver of `User.posts` takes `")
            && found[0].contains("Post`, but the objects are")
    );
    assert_eq!(found[1], "`User` has no field `name`");
}

#[test]
fn roots_leaves_and_loaders_have_their_places() {
    struct Names;
    impl Loader for Names {
        type Key = i32;
        type Value = String;
        fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
            Box::pin(std::future::ready(Ok(keys.iter().map(|it| Some(it.to_string())).collect())))
        }
    }
    let sdl = "type Query { user: User a: Int } type User { id: Int! name(long: Boolean): String mail: String k: Int }";
    assert_eq!(
        refused(
            Schema::builder(sdl)
                .resolve("Query.user", root(|_: &(), _: &Context| User { id: 1 }))
                .resolve("Query.a", each(|user: &User, _: &(), _: &Context| user.id))
                .resolve("User.name", leaf(|_: &User| "x"))
                .resolve("User.mail", load(|user: &User, _: &()| Names::key(user.id)))
                .resolve(
                    "User.k",
                    keyed(["id", "name"], |keys: &[i64], _: &(), _: &Context| vec![1; keys.len()])
                )
        ),
        [
            "`Query.a`: a root field has no parent: resolve it by `root`, or take `&()`",
            "`User.name` has arguments, which a leaf does not see: use `each`",
            "`User.mail` loads by `runtime_tests::build::roots_leaves_and_loaders_have_their_places::Names`, which is not among the loaders",
            "`User.k`: the resolver reads 1 keys, but 2 are named",
        ]
    );
}

#[test]
fn streams_stand_at_subscriptions_only() {
    let sdl = "type Query { a: Int } type Subscription { b: Int }";
    let events = || stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2]));
    let found =
        refused(Schema::builder(sdl).resolve("Query.a", events()).resolve("Subscription.b", constant(1)));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|it| it.contains("`stream` resolves the fields of the subscription root")));
}

#[test]
fn errors_of_the_sdl_come_first() {
    assert_eq!(refused(Schema::builder("type Query { a: Missing }")), ["Unknown type \"Missing\"."]);
    assert_eq!(refused(Schema::builder("type Query {")).len(), 1);
    let sdl = "type Query { a(b: Int @validate(pattern: \"(\")): Int }";
    let found = refused(Schema::builder(sdl).resolve("Query.a", constant(1)));
    assert!(found[0].starts_with("@validate of `b`: regex parse error"), "{found:?}");
}

#[test]
fn a_schema_is_printed_as_it_was_written() {
    let schema = built(blog(&Log::default()));
    let sdl = schema.sdl();
    assert!(
        sdl.contains("type User {\n  id: Int!\n  name: String!\n  posts: [Post!]!\n  shout: String!\n}"),
        "{sdl}"
    );
    assert!(schema.sorted_sdl().find("type Post").unwrap() < schema.sorted_sdl().find("type User").unwrap());
}

#[test]
fn a_plan_shows_steps_and_their_resolvers() {
    let schema = built(blog(&Log::default()));
    let explanation = schema.explain(Request::new("{ users { posts { comments } } }"));
    let explanation = explanation.unwrap_or_else(|it| panic!("{}", it.text()));
    let calls = schema.steps(Request::new("{ users { posts { comments } } me { name } }"));
    let expected =
        ["resolver Query.users, resolver Query.me", "resolver User.posts", "resolver Post.comments"];
    assert_eq!(calls.unwrap_or_else(|it| panic!("{}", it.text())), expected);
    let steps: Vec<&str> =
        explanation.plan.lines().map(str::trim).filter(|it| it.starts_with("piece")).collect();
    assert_eq!(
        steps,
        [
            "piece 0 of library, as rows",
            "piece 1 of library, once for all User of piece 0 by object, as rows",
            "piece 2 of library, once for all Post of piece 1 by object, as rows",
        ]
    );
}
