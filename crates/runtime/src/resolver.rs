//! Resolvers: closures that give the values of a field for all parents of a step.
//!
//! [`batch`] is the basic form; all others are made of it. [`each`] and [`root`] are batches whose closure sees one parent, the
//! `async_` forms give a future that owns what it needs, [`load`] goes through a [`Loader`], [`crate::keyed`] sees keys instead of objects.
//!
//! **Invariant:** a resolver gives one value per parent, in order; anything else is an internal error of that field alone.
//!
//! **Cost:** one dynamic call and a few allocations per step, none per parent.

pub(crate) mod answers;
pub(crate) mod any_resolver;
pub(crate) mod leaf_resolver;
pub(crate) mod load_batch;
pub(crate) mod object_guard;
pub(crate) mod parent_keys;
pub(crate) mod parents;

use crate::context::Context;
use crate::context::batch_loader::{BoxFuture, LoadKey, Loader};
use crate::context::request_data::Event;
use crate::input::{InputBinder, InputFields, InputObject, InputScope, Shape};
use crate::resolve_error::{ResolveError, field_error, internal};
use crate::resolver::answers::{Answers, Failed, Held};
use futures_util::FutureExt;
use futures_util::future::join_all;
use futures_util::stream::BoxStream;
use smallvec::SmallVec;
use std::any::{Any, TypeId as RustType};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use weir_engine::memory::{Answer, AnswerError, Binder, RecordHost, Spot, Unbound};
use weir_engine::rows::Column;
use weir_engine::source::FieldError;
use weir_language::schema::Run;
use weir_language::value::Values as Tape;

/// Parents of a step.
#[derive(Clone, Copy)]
pub(crate) enum Parents<'p> {
    /// Only their number is known: they are the root, or the resolver needs no parents.
    Units(usize),
    /// Objects.
    Objects(&'p [&'p dyn Any]),
    /// Their keys, column by column, and their number.
    Keys(&'p [Column], usize),
}

impl<'p> Parents<'p> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Units(len) | Self::Keys(_, len) => len,
            Self::Objects(objects) => objects.len(),
        }
    }

    /// The parents as values of type `P`; `None` if they are others.
    pub(crate) fn downcast<P: 'static>(self) -> Option<SmallVec<[&'p P; 4]>> {
        const UNIT: &() = &();
        if let Some(unit) = (UNIT as &'p dyn Any).downcast_ref::<P>() {
            return Some(SmallVec::from_elem(unit, self.len()));
        }
        match self {
            Self::Objects(objects) => {
                // Collecting an iterator of options would lose the capacity.
                let mut parents = SmallVec::with_capacity(objects.len());
                for object in objects {
                    parents.push(object.downcast_ref()?);
                }
                Some(parents)
            }
            Self::Units(_) | Self::Keys(..) => None,
        }
    }
}

/// Arguments of a step, as they lie in the plan and the variables.
#[derive(Clone, Copy)]
pub(crate) struct StepArguments<'s> {
    pub(crate) scope: InputScope<'s>,
    pub(crate) shape: Shape,
    pub(crate) literals: &'s Tape,
    pub(crate) slots: &'s [Option<(u32, Option<u32>)>],
}

/// One call of a resolver.
#[derive(Clone, Copy)]
pub(crate) struct Step<'s> {
    pub(crate) parents: Parents<'s>,
    pub(crate) arguments: StepArguments<'s>,
    pub(crate) context: &'s Context,
    pub(crate) host: &'s dyn RecordHost,
}

/// Result of a call.
pub(crate) enum Called {
    /// Values.
    Ready(Box<dyn Answers>),
    /// Values, later.
    Later(BoxFuture<Box<dyn Answers>>),
    /// Values, later; the future is first polled once all steps of the level have said their keys.
    AfterLevel(BoxFuture<Box<dyn Answers>>),
}

/// Values of type `A` on their way.
pub(crate) enum Outcome<A> {
    Ready(Result<Vec<A>, ResolveError>),
    /// One value for all parents.
    Same(A),
    Later(BoxFuture<Result<Vec<A>, ResolveError>>),
    AfterLevel(BoxFuture<Result<Vec<A>, ResolveError>>),
}

/// The parents that a resolver takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentType {
    /// Any parents.
    Unit,
    /// Objects of a Rust type.
    Object(RustType, &'static str),
    /// Key columns; the number of columns.
    Keys(usize),
}

/// A resolver with its types forgotten.
pub(crate) trait Resolve: Send + Sync {
    fn parent(&self) -> ParentType;
    /// Loaders that it uses.
    fn loader(&self) -> Option<(RustType, &'static str)>;
    fn bind_arguments(&self, binder: &mut InputBinder<'_>, run: Run, owner: String) -> Result<Shape, String>;
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound>;
    fn call(&self, step: Step<'_>) -> Called;
    /// An event of a subscription, as the answer that `call` would give.
    fn event(&self, event: Box<dyn Any + Send>, rows: usize) -> Box<dyn Answers>;
}

/// Opens the stream of a subscription.
pub(crate) trait EventSource: Send + Sync {
    fn open(
        &self,
        arguments: StepArguments<'_>,
        context: &Context,
    ) -> Result<BoxStream<'static, Event>, FieldError>;
}

/// A resolver of one field, without its types. [`batch`] has an example.
#[derive(Clone)]
pub struct Resolver {
    pub(crate) resolve: Arc<dyn Resolve>,
    /// Key fields of the parent, if the resolver takes keys instead of objects.
    pub(crate) keys: Option<Vec<Box<str>>>,
    pub(crate) stream: Option<Arc<dyn EventSource>>,
}

/// A resolver with the types of its arguments and values, of which [`crate::SchemaBuilder::field`] makes the field's SDL.
/// [`batch`] has an example.
pub struct TypedResolver<I, A> {
    pub(crate) resolver: Resolver,
    types: std::marker::PhantomData<fn() -> (I, A)>,
}

impl<I, A> From<Resolver> for TypedResolver<I, A> {
    fn from(resolver: Resolver) -> Self {
        Self { resolver, types: std::marker::PhantomData }
    }
}

struct Typed<F, P, I, A> {
    call: F,
    parent: ParentType,
    loader: Option<(RustType, &'static str)>,
    types: Types<P, I, A>,
}

/// Types of parents, arguments and values.
type Types<P, I, A> = std::marker::PhantomData<fn() -> (P, I, A)>;

impl<F, P, I, A> Typed<F, P, I, A>
where
    A: Answer + Send + Sync + 'static,
{
    fn answers(reply: Result<Vec<A>, ResolveError>, rows: usize, host: &dyn RecordHost) -> Box<dyn Answers> {
        match reply {
            Ok(values) if values.len() == rows => Box::new(Held::new(values)),
            Ok(values) => {
                tracing::error!(
                    values = values.len(),
                    parents = rows,
                    "a resolver gave not one value per parent"
                );
                Box::new(Failed { error: internal(), rows })
            }
            Err(error) => Box::new(Failed { error: error.field_error(Some(host)), rows }),
        }
    }
}

impl<F, P, I, A> Resolve for Typed<F, P, I, A>
where
    F: Fn(Parents<'_>, I, &Context) -> Outcome<A> + Send + Sync,
    P: 'static,
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
{
    fn parent(&self) -> ParentType {
        self.parent
    }
    fn loader(&self) -> Option<(RustType, &'static str)> {
        self.loader
    }
    fn bind_arguments(&self, binder: &mut InputBinder<'_>, run: Run, owner: String) -> Result<Shape, String> {
        I::bind(binder, run, owner)
    }
    fn bind(&self, binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        A::bind(binder, spot)
    }
    fn call(&self, step: Step<'_>) -> Called {
        let rows = step.parents.len();
        let StepArguments { scope, shape, literals, slots } = step.arguments;
        let arguments = I::read_fields(&InputFields::of_arguments(scope, shape, literals, slots));
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return Called::Ready(Box::new(Failed { error: error.to_field_error(), rows })),
        };
        let called = AssertUnwindSafe(|| (self.call)(step.parents, arguments, step.context));
        let outcome = match std::panic::catch_unwind(called) {
            Ok(outcome) => outcome,
            Err(_) => return Called::Ready(Box::new(Failed { error: panic_error(), rows })),
        };
        let host = step.context.host();
        let later = |reply: BoxFuture<Result<Vec<A>, ResolveError>>| -> BoxFuture<Box<dyn Answers>> {
            Box::pin(async move {
                match AssertUnwindSafe(reply).catch_unwind().await {
                    Ok(reply) => Self::answers(reply, rows, &*host),
                    Err(_) => Box::new(Failed { error: panic_error(), rows }),
                }
            })
        };
        match outcome {
            Outcome::Ready(reply) => Called::Ready(Self::answers(reply, rows, step.host)),
            Outcome::Same(value) => Called::Ready(Box::new(Held::same(value, rows))),
            Outcome::Later(reply) => Called::Later(later(reply)),
            Outcome::AfterLevel(reply) => Called::AfterLevel(later(reply)),
        }
    }
    fn event(&self, event: Box<dyn Any + Send>, rows: usize) -> Box<dyn Answers> {
        match event.downcast::<A>() {
            Ok(value) => Box::new(Held::new(vec![*value])),
            Err(_) => Box::new(Failed {
                error: field_error(crate::resolve_error::INTERNAL, "Internal error."),
                rows,
            }),
        }
    }
}

/// Error of a panic. The panic hook has already logged its message.
fn panic_error() -> FieldError {
    tracing::error!("a resolver panicked");
    internal()
}

impl Resolver {
    pub(crate) fn from_call<F, P, I, A>(
        parent: ParentType,
        loader: Option<(RustType, &'static str)>,
        call: F,
    ) -> Self
    where
        F: Fn(Parents<'_>, I, &Context) -> Outcome<A> + Send + Sync + 'static,
        P: 'static,
        I: InputObject + 'static,
        A: Answer + Send + Sync + 'static,
    {
        let types = std::marker::PhantomData::<fn() -> (P, I, A)>;
        Self { resolve: Arc::new(Typed { call, parent, loader, types }), keys: None, stream: None }
    }

    /// A resolver whose parents are objects of type `P`.
    pub(crate) fn of_objects<F, P, I, A>(loader: Option<(RustType, &'static str)>, call: F) -> Self
    where
        F: Fn(&[&P], &I, &Context) -> Outcome<A> + Send + Sync + 'static,
        P: 'static,
        I: InputObject + 'static,
        A: Answer + Send + Sync + 'static,
    {
        let is_unit = RustType::of::<P>() == RustType::of::<()>();
        let object = ParentType::Object(RustType::of::<P>(), std::any::type_name::<P>());
        let parent = if is_unit { ParentType::Unit } else { object };
        Self::from_call::<_, P, I, A>(parent, loader, move |parents, arguments, context| {
            match parents.downcast::<P>() {
                Some(parents) => call(&parents, &arguments, context),
                None => {
                    let cause = format!("the parents are not of type `{}`", std::any::type_name::<P>());
                    Outcome::Ready(Err(std::io::Error::other(cause).into()))
                }
            }
        })
    }
}

/// Result of a batch: a value per parent, or one error for all. [`batch`] has an example.
pub trait BatchReply {
    /// The value of one parent.
    type Item: Answer + Send + Sync + 'static;
    /// The values.
    /// # Errors
    /// None of the parents has a value.
    fn values(self) -> Result<Vec<Self::Item>, ResolveError>;
}

impl<A: Answer + Send + Sync + 'static> BatchReply for Vec<A> {
    type Item = A;
    fn values(self) -> Result<Self, ResolveError> {
        Ok(self)
    }
}

impl<A: Answer + Send + Sync + 'static, E: Into<ResolveError>> BatchReply for Result<Vec<A>, E> {
    type Item = A;
    fn values(self) -> Result<Vec<A>, ResolveError> {
        self.map_err(Into::into)
    }
}

/// A resolver that is called once for all parents of a step: the basic form.
///
/// ```
/// use weir_runtime::{Context, batch};
/// struct User { id: i32 }
/// let posts = batch(|users: &[&User], _: &(), _: &Context| {
///     users.iter().map(|user| vec![format!("first of {}", user.id)]).collect::<Vec<_>>()
/// });
/// # let _ = posts;
/// ```
pub fn batch<P, I, R>(
    resolve: impl Fn(&[&P], &I, &Context) -> R + Send + Sync + 'static,
) -> TypedResolver<I, R::Item>
where
    P: 'static,
    I: InputObject + 'static,
    R: BatchReply,
{
    Resolver::of_objects(None, move |parents: &[&P], arguments: &I, context| {
        Outcome::Ready(resolve(parents, arguments, context).values())
    })
    .into()
}

/// Resolves like [`batch`], with a future: the closure takes what it needs from the parents, the future owns it.
///
/// ```
/// use weir_runtime::{Context, Request, Schema, async_batch, record, root};
/// struct User { id: i32 }
/// record!(User { id });
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { users: [User!]! } type User { posts: [Int!]! }")
///     .resolve("Query.users", root(|_: &(), _: &Context| vec![User { id: 1 }, User { id: 2 }]))
///     .resolve("User.posts", async_batch(|users: &[&User], _: &(), _: &Context| {
///         let ids: Vec<i32> = users.iter().map(|user| user.id).collect();
///         async move { ids.into_iter().map(|id| vec![id * 10]).collect::<Vec<_>>() }
///     }))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new("{ users { posts } }")));
/// assert_eq!(answer.text(), r#"{"data":{"users":[{"posts":[10]},{"posts":[20]}]}}"#);
/// # Ok(())
/// # }
/// ```
pub fn async_batch<P, I, R, T>(
    resolve: impl Fn(&[&P], &I, &Context) -> T + Send + Sync + 'static,
) -> TypedResolver<I, R::Item>
where
    P: 'static,
    I: InputObject + 'static,
    R: BatchReply,
    T: Future<Output = R> + Send + 'static,
{
    Resolver::of_objects(None, move |parents: &[&P], arguments: &I, context| {
        let reply = resolve(parents, arguments, context);
        Outcome::Later(Box::pin(async move { reply.await.values() }))
    })
    .into()
}

/// A resolver that is called for one parent after the other. For a field without arguments and context, [`leaf`](crate::leaf()) is
/// faster.
///
/// ```
/// use weir_runtime::{Context, async_each, each};
/// struct User { name: String }
/// let name = each(|user: &User, _: &(), _: &Context| user.name.clone());
/// let late = async_each(|user: &User, _: &(), _: &Context| std::future::ready(user.name.len() as i64));
/// # let _ = (name, late);
/// ```
pub fn each<P, I, A>(resolve: impl Fn(&P, &I, &Context) -> A + Send + Sync + 'static) -> TypedResolver<I, A>
where
    P: 'static,
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
{
    Resolver::of_objects(None, move |parents: &[&P], arguments: &I, context| {
        Outcome::Ready(Ok(parents.iter().map(|parent| resolve(parent, arguments, context)).collect()))
    })
    .into()
}

/// Resolves like [`each`], with a future per parent; they run concurrently. [`each`] has an example.
pub fn async_each<P, I, A, T>(
    resolve: impl Fn(&P, &I, &Context) -> T + Send + Sync + 'static,
) -> TypedResolver<I, A>
where
    P: 'static,
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
    T: Future<Output = A> + Send + 'static,
{
    Resolver::of_objects(None, move |parents: &[&P], arguments: &I, context| {
        let replies: Vec<T> = parents.iter().map(|parent| resolve(parent, arguments, context)).collect();
        Outcome::Later(Box::pin(async move { Ok(join_all(replies).await) }))
    })
    .into()
}

/// A field of a root type.
///
/// ```
/// use weir_runtime::{Context, async_root, constant, root};
/// let now = root(|_: &(), _: &Context| "noon");
/// let soon = async_root(|_: &(), _: &Context| async { "noon" });
/// let always = constant("noon");
/// # let _ = (now, soon, always);
/// ```
pub fn root<I, A>(resolve: impl Fn(&I, &Context) -> A + Send + Sync + 'static) -> TypedResolver<I, A>
where
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
{
    each(move |(): &(), arguments: &I, context: &Context| resolve(arguments, context))
}

/// Resolves like [`root`], with a future. [`root`] has an example.
pub fn async_root<I, A, T>(resolve: impl Fn(&I, &Context) -> T + Send + Sync + 'static) -> TypedResolver<I, A>
where
    I: InputObject + 'static,
    A: Answer + Send + Sync + 'static,
    T: Future<Output = A> + Send + 'static,
{
    async_each(move |(): &(), arguments: &I, context: &Context| resolve(arguments, context))
}

/// A constant value for all parents and requests, cloned once per step.
/// [`root`] has an example.
pub fn constant<A: Answer + Clone + Send + Sync + 'static>(value: A) -> TypedResolver<(), A> {
    let same = move |_: Parents<'_>, (): (), _: &Context| Outcome::Same(value.clone());
    Resolver::from_call::<_, (), (), A>(ParentType::Unit, None, same).into()
}

/// Keys of a parent for a [`load`]ed field: a key, perhaps none, or several. [`load`] has an example.
pub trait LoadKeys {
    /// The loader.
    type Loader: Loader;
    /// The field's value.
    type Value: Send + Sync + 'static;
    /// Appends its keys.
    fn keys(&self, keys: &mut Vec<LoadKey<Self::Loader>>);
    /// Takes the values of its keys.
    fn take(&self, values: &mut dyn Iterator<Item = Option<<Self::Loader as Loader>::Value>>) -> Self::Value;
}

impl<L: Loader> LoadKeys for LoadKey<L> {
    type Loader = L;
    type Value = Option<L::Value>;
    fn keys(&self, keys: &mut Vec<LoadKey<L>>) {
        keys.push(self.clone());
    }
    fn take(&self, values: &mut dyn Iterator<Item = Option<L::Value>>) -> Self::Value {
        values.next().flatten()
    }
}

impl<L: Loader> LoadKeys for Option<LoadKey<L>> {
    type Loader = L;
    type Value = Option<L::Value>;
    fn keys(&self, keys: &mut Vec<LoadKey<L>>) {
        keys.extend(self.clone());
    }
    fn take(&self, values: &mut dyn Iterator<Item = Option<L::Value>>) -> Self::Value {
        self.as_ref().and_then(|_| values.next().flatten())
    }
}

impl<L: Loader> LoadKeys for Vec<LoadKey<L>> {
    type Loader = L;
    type Value = Vec<L::Value>;
    fn keys(&self, keys: &mut Vec<LoadKey<L>>) {
        keys.extend_from_slice(self);
    }
    fn take(&self, values: &mut dyn Iterator<Item = Option<L::Value>>) -> Self::Value {
        values.take(self.len()).flatten().collect()
    }
}

/// Values by keys through a [`Loader`]: all fields of a level that use it make one call.
///
/// The closure gives [`Loader::key`]s: one, an `Option`, or a `Vec`, whose keys without a value are left out.
///
/// ```
/// use weir_runtime::{BoxFuture, Context, Loader, LoaderReply, Request, Schema, load, record, root};
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
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { post: Post } type Post { author: String readers: [String!]! }")
///     .loader(Name)
///     .resolve("Query.post", root(|_: &(), _: &Context| Post { author: 7 }))
///     .resolve("Post.author", load(|post: &Post, _: &()| Name::key(post.author)))
///     .resolve("Post.readers", load(|_: &Post, _: &()| vec![Name::key(1), Name::key(7)]))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new("{ post { author readers } }")));
/// assert_eq!(answer.text(), r#"{"data":{"post":{"author":"user 7","readers":["user 1","user 7"]}}}"#);
/// # Ok(())
/// # }
/// ```
pub fn load<P, I, K>(keys: impl Fn(&P, &I) -> K + Send + Sync + 'static) -> TypedResolver<I, K::Value>
where
    P: 'static,
    I: InputObject + 'static,
    K: LoadKeys + Send + 'static,
    K::Value: Answer,
{
    let loader = (RustType::of::<K::Loader>(), std::any::type_name::<K::Loader>());
    Resolver::of_objects(Some(loader), move |parents: &[&P], arguments: &I, context| {
        let said: Vec<K> = parents.iter().map(|parent| keys(parent, arguments)).collect();
        let mut all = Vec::with_capacity(said.len());
        said.iter().for_each(|it| it.keys(&mut all));
        let registered = context.memory().register(all);
        let context = context.clone();
        Outcome::AfterLevel(Box::pin(async move {
            let mut values = registered.load(&context).await?.into_iter();
            Ok(said.iter().map(|it| it.take(&mut values)).collect())
        }))
    })
    .into()
}
