//! The schema that the examples of servers serve: fields, files and events.

use std::sync::Arc;
use weir_runtime::http::{HttpOptions, UploadLimits};
use weir_runtime::{BuildError, Context, Input, Object, Schema, Upload, batch, record, root, stream};

/// Bounds of requests: a megabyte of JSON, few and small files.
pub(crate) const OPTIONS: HttpOptions = HttpOptions {
    uploads: Some(UploadLimits { files_max: 3, file_bytes_max: 1 << 10, bytes_max: 4 << 10 }),
    ..HttpOptions::STANDARD
};

#[derive(Clone)]
struct User {
    id: i32,
    name: String,
}
record!(User { id, name });

struct Post {
    title: String,
}
record!(Post { title });

/// A file that was taken.
#[derive(Object)]
struct Stored {
    name: Option<String>,
    bytes: i64,
}

#[derive(Input)]
struct File {
    file: Upload,
}

#[derive(Input)]
struct Album {
    title: String,
    images: Vec<Option<Upload>>,
}

#[derive(Input)]
struct AlbumArguments {
    album: Album,
}

const SDL: &str = "
type Query { users: [User!]! agent: String }
type User { id: Int! name: String! posts: [Post!]! }
type Post { title: String! }
";

fn stored(file: &Upload) -> Stored {
    Stored { name: file.file_name.clone(), bytes: file.content.len() as i64 }
}

/// Makes the schema.
pub(crate) fn schema() -> Result<Arc<Schema>, BuildError> {
    let user = |(at, name): (usize, &str)| User { id: at as i32, name: name.to_owned() };
    let post = |user: &&User| vec![Post { title: format!("post {} of {}", user.id, user.name) }];
    let builder =
        Schema::builder(&format!("{SDL} type Mutation {{ ping: Int }} type Subscription {{ ping: Int }}"))
            .header("user-agent")
            .resolve(
                "Query.users",
                root(move |_: &(), _: &Context| {
                    ["Ada", "Bob"].into_iter().enumerate().map(user).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Query.agent",
                root(|_: &(), context: &Context| context.header("user-agent").map(str::to_owned)),
            )
            .resolve(
                "User.posts",
                batch(move |users: &[&User], _: &(), _: &Context| users.iter().map(post).collect::<Vec<_>>()),
            )
            .resolve("Mutation.ping", root(|_: &(), _: &Context| 1))
            .resolve("Subscription.ping", stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2])))
            .field("Mutation.store", root(|it: &File, _: &Context| stored(&it.file)))
            .field(
                "Mutation.storeAlbum",
                root(|it: &AlbumArguments, _: &Context| {
                    let AlbumArguments { album: Album { title, images } } = it;
                    let mut all: Vec<Stored> = images.iter().flatten().map(stored).collect();
                    all.push(Stored { name: Some(title.clone()), bytes: 0 });
                    all
                }),
            );
    builder.build().map(Arc::new)
}
