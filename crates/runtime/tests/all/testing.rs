//! Helpers of tests: single fields, parts of responses, snapshots.

use crate::kit::{Log, Post, User, block_on, blog, built, noted, users};
use weir_runtime::{
    Check, Context, Request, Schema, Upload, Uploads, async_batch, batch, constant, input, root,
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
    let (schema, all) = (schema(), users());
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
    let (schema, all) = (schema(), users());
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
    let (schema, all) = (schema(), users());
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
