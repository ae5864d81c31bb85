//! Batch loading by key for embeddings: the keys of all parents are given at once, and the values are made of the loaded ones, with
//! the context at hand.
//!
//! **Cost:** that of [`crate::load`], without its clone per value and parent.

use super::{Outcome, Resolver, TypedResolver};
use crate::context::Context;
use crate::context::batch_loader::{LoadKey, Loader};
use crate::input::InputObject;
use crate::resolve_error::ResolveError;
use std::any::TypeId as RustType;
use std::sync::Arc;
use weir_engine::memory::Answer;

/// Keys of the parents of one step. [`load_batch`] has an example.
pub struct BatchKeys<L: Loader, M> {
    /// The keys of all parents, one after another.
    pub keys: Vec<LoadKey<L>>,
    /// How the value of each parent is made of the values of its keys.
    pub marks: Vec<M>,
}

/// A loader for embeddings, like [`crate::load`]: `say_keys` says the keys of all parents at once, `answer` makes a value per parent of what was
/// loaded, in the order of the keys.
///
/// ```
/// use weir_runtime::{BatchKeys, BoxFuture, Context, Loader, LoaderReply, Request, ResolveError, Schema, load_batch, record, root};
/// struct Name;
/// impl Loader for Name {
///     type Key = i32;
///     type Value = String;
///     fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
///         Box::pin(async move { Ok(keys.iter().map(|key| Some(format!("user {key}"))).collect()) })
///     }
/// }
/// struct Post { author: i32 }
/// record!(Post {});
/// fn author_keys(posts: &[&Post], _: &(), _: &Context) -> Result<BatchKeys<Name, ()>, ResolveError> {
///     let keys = posts.iter().map(|it| Name::key(it.author)).collect();
///     Ok(BatchKeys { keys, marks: vec![(); posts.len()] })
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let authors = load_batch(author_keys, |_: &[()], names: Vec<Option<String>>, _: &Context| Ok(names));
/// let schema = Schema::builder("type Query { post: Post } type Post { author: String }")
///     .loader(Name)
///     .resolve("Query.post", root(|_: &(), _: &Context| Post { author: 7 }))
///     .resolve("Post.author", authors)
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new("{ post { author } }")));
/// assert_eq!(answer.text(), r#"{"data":{"post":{"author":"user 7"}}}"#);
/// # Ok(())
/// # }
/// ```
pub fn load_batch<P, I, L, M, A>(
    say_keys: impl Fn(&[&P], &I, &Context) -> Result<BatchKeys<L, M>, ResolveError> + Send + Sync + 'static,
    answer: impl Fn(&[M], Vec<Option<L::Value>>, &Context) -> Result<Vec<A>, ResolveError> + Send + Sync + 'static,
) -> TypedResolver<I, A>
where
    P: 'static,
    I: InputObject + 'static,
    L: Loader,
    M: Send + Sync + 'static,
    A: Answer + Send + Sync + 'static,
{
    let loader = (RustType::of::<L>(), std::any::type_name::<L>());
    let answer = Arc::new(answer);
    Resolver::of_objects(Some(loader), move |parents: &[&P], arguments: &I, context| {
        let BatchKeys { keys, marks } = match say_keys(parents, arguments, context) {
            Ok(said) => said,
            Err(error) => return Outcome::Ready(Err(error)),
        };
        let registered = context.memory().register(keys);
        let context = context.clone();
        let answer = Arc::clone(&answer);
        Outcome::AfterLevel(Box::pin(async move {
            let values = registered.load(&context).await?;
            answer(&marks, values, &context)
        }))
    })
    .into()
}
