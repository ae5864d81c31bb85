//! A small blog for tests: objects, a log of calls, and requests that are run to their end.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "every test binary uses a part of it")]

use serde_json::Value as Json;
use std::sync::{Arc, Mutex};
use weir_runtime::{Context, Request, Schema, SchemaBuilder, batch, each, record, root};

#[derive(Clone, Debug)]
pub struct User {
    pub id: i32,
    pub name: String,
    pub boss: Option<i32>,
}
record!(User { id, name });

#[derive(Clone, Debug)]
pub struct Post {
    pub id: i32,
    pub title: String,
    pub author: i32,
}
record!(Post { id, title });

pub const BLOG: &str = "
type Query { users: [User!]!  user(id: Int!): User  me: User }
type User { id: Int!  name: String!  posts: [Post!]!  shout: String! }
type Post { id: Int!  title: String!  author: User!  comments: [String!]! }
";

/// Calls of resolvers, one line each.
pub type Log = Arc<Mutex<Vec<String>>>;

pub fn users() -> Vec<User> {
    let names = ["Ada", "Bob", "Cy"];
    let user = |(at, name): (usize, &&str)| User {
        id: at as i32 + 1,
        name: (*name).to_owned(),
        boss: (at > 0).then_some(at as i32),
    };
    names.iter().enumerate().map(user).collect()
}

pub fn posts_of(user: i32) -> Vec<Post> {
    let post = |at| Post { id: user * 10 + at, title: format!("post {at} of {user}"), author: user };
    (1..=2).map(post).collect()
}

pub fn note(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

pub fn noted(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

/// The blog, all of whose separate fields are batches that log their calls.
pub fn blog(log: &Log) -> SchemaBuilder {
    let logs: [Log; 5] = std::array::from_fn(|_| Arc::clone(log));
    let [users_log, posts_log, author_log, comments_log, shout_log] = logs;
    Schema::builder(BLOG)
        .resolve(
            "Query.users",
            root(move |_: &(), _: &Context| {
                note(&users_log, "users");
                users()
            }),
        )
        .resolve(
            "Query.user",
            root(|by: &ById, _: &Context| users().into_iter().find(|user| user.id == by.id)),
        )
        .resolve("Query.me", root(|_: &(), _: &Context| users().into_iter().next()))
        .resolve(
            "User.posts",
            batch(move |parents: &[&User], _: &(), _: &Context| {
                note(
                    &posts_log,
                    format!("posts of {:?}", parents.iter().map(|it| it.id).collect::<Vec<_>>()),
                );
                parents.iter().map(|user| posts_of(user.id)).collect::<Vec<_>>()
            }),
        )
        .resolve(
            "User.shout",
            each(move |user: &User, _: &(), _: &Context| {
                note(&shout_log, format!("shout of {}", user.id));
                user.name.to_uppercase()
            }),
        )
        .resolve(
            "Post.author",
            batch(move |parents: &[&Post], _: &(), _: &Context| {
                note(
                    &author_log,
                    format!("authors of {:?}", parents.iter().map(|it| it.id).collect::<Vec<_>>()),
                );
                let all = users();
                parents.iter().map(|post| all[post.author as usize - 1].clone()).collect::<Vec<_>>()
            }),
        )
        .resolve(
            "Post.comments",
            batch(move |parents: &[&Post], _: &(), _: &Context| {
                note(&comments_log, format!("comments of {}", parents.len()));
                parents.iter().map(|post| vec![format!("on {}", post.id)]).collect::<Vec<_>>()
            }),
        )
}

pub struct ById {
    pub id: i32,
}
weir_runtime::input!(ById { id });

pub fn built(builder: SchemaBuilder) -> Schema {
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(future)
}

/// The response's text.
pub fn run(schema: &Schema, query: &str) -> String {
    run_with(schema, query, "{}")
}

pub fn run_with(schema: &Schema, query: &str, variables: &str) -> String {
    block_on(schema.execute(Request::new(query).variables(variables))).text().to_owned()
}

/// The response's JSON.
pub fn json(schema: &Schema, query: &str) -> Json {
    serde_json::from_str(&run(schema, query)).expect("a response is JSON")
}
